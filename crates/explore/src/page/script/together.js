// One table of all books: rows are moves, columns what each book says of them, so that differences are seen at a glance.

import { bookOf, brief, many } from "./state.js";
import { el, isControl } from "./dom.js";
import { playMove } from "./steps.js";
import { ALL, onTableKey, reach, tables } from "./tables.js";
import { MARKS } from "./additions.js";
import { chanceCell, COLUMNS, sorting, widthsOf } from "./columns.js";
import { rowsOfAll } from "./rows.js";
import { arrows } from "./arrows.js";
import { noteOf, sampleGame, totals, unknown } from "./facts.js";
/** @import { Book, BookMove, BookView, View } from "./state.js" */
/** @import { Column } from "./columns.js" */
/** @import { Child } from "./dom.js" */
/** @import { Row } from "./rows.js" */

/** Columns of a book in this table, by what is left out first where there is little room; and their widths. @type {{keys: string[], width: number, least: number}[]} */
const SHARED = [
  { keys: ["chance"], width: 104, least: 58 },
  { keys: ["games", "priority", "weight"], width: 64, least: 62 },
  { keys: ["eval"], width: 62, least: 58 },
  { keys: ["bar"], width: 110, least: 84 },
];

/** The same of the games. */
const OF_GAMES = [
  { keys: ["games"], width: 64, least: 62 },
  { keys: ["bar"], width: 110, least: 84 },
  { keys: ["average"], width: 60, least: 56 },
  { keys: ["last"], width: 56, least: 52 },
  { keys: ["performance"], width: 60, least: 56 },
];

/** The least width of the column of moves. */
const MOVE_WIDTH = 56;

/** The width of a book that has nothing to say but its name. */
const NAME_WIDTH = 58;

/** The width of a mark and a colour beside a chance. */
const MARK_WIDTH = 30;

/** The least width of a chance with its bar. */
const GAUGE_WIDTH = 96;

/** Chances that differ by so much from those of the other books stand out. */
const DIFFERS = 0.2;

/** The order in which a book's columns are seen. */
const ORDER = ["chance", "games", "priority", "weight", "bar", "eval", "average", "performance", "last"];

/** What each book shows in this width; null where there is no room for all of them. @param {View} view @param {number} width */
function columnsOfAll(view, width) {
  let moveWidth = MOVE_WIDTH;
  const wanted = view.books.map((book) => {
    const known = bookOf(book.id);
    const marked = book.moves.some((move) => move.annotation || move.recommended !== null);
    const needed = known ? widthsOf("together", book, known, (column, move) => cellOf(column, move, book, known)) : new Map();
    moveWidth = Math.max(moveWidth, needed.get("move") ?? 0);
    return (known?.games ? OF_GAMES : SHARED).map(({ keys, width, least }) => {
      const size = keys[0] === "chance" && marked ? { width: width + MARK_WIDTH, least: least + MARK_WIDTH } : { width, least };
      const column = COLUMNS.find((column) => keys.includes(column.key) && known !== undefined && book.moves.length > 0 && column.has(book, known));
      if (!column) return null;
      const narrowest = Math.max(size.least, needed.get(column.key) ?? 0);
      return { column, least: narrowest, width: Math.max(size.width, narrowest) };
    });
  });
  for (let depth = OF_GAMES.length; depth > 0; depth -= 1) {
    const books = wanted.map((columns) => columns.slice(0, depth).flatMap((column) => column ?? []));
    const taken = books.reduce((sum, columns) => sum + (columns.reduce((all, { least }) => all + least, 0) || NAME_WIDTH), moveWidth);
    if (taken > width) continue;
    const whole = books.flat();
    let spare = width - taken;
    const widths = new Map(whole.map((place) => [place, place.least]));
    // First every column gets what it would like to have, then the bars and the chances share the rest.
    const wish = whole.reduce((sum, { width, least }) => sum + width - least, 0);
    const part = wish > 0 ? Math.min(1, spare / wish) : 0;
    for (const place of whole) widths.set(place, place.least + (place.width - place.least) * part);
    spare -= wish * part;
    const wide = whole.filter(({ column }) => column.key === "bar");
    const stretched = wide.length > 0 ? wide : whole.filter(({ column }) => column.key === "chance");
    const most = wide.length > 0 ? 150 : 90;
    for (const place of stretched) widths.set(place, (widths.get(place) ?? 0) + Math.min(most, spare / stretched.length));
    const bar = wide[0];
    tables.barWidth = bar ? (widths.get(bar) ?? 0) - 14 : 0;
    return { columns: books.map((columns) => columns.sort((a, b) => ORDER.indexOf(a.column.key) - ORDER.indexOf(b.column.key))
      .map((place) => ({ column: place.column, width: widths.get(place) ?? place.least }))), moveWidth };
  }
  return null;
}

/** The table, and what else each book says; null where it has no room. @param {View} view @param {number} width @returns {HTMLElement | null} */
export function allBooks(view, width) {
  const room = columnsOfAll(view, width);
  if (!room) return null;
  const { columns, moveWidth } = room;
  const rows = rowsOfAll(view);
  const cols = [moveWidth, ...columns.flatMap((places) => places.length > 0 ? places.map(({ width }) => width) : [NAME_WIDTH])].map((width) => {
    const col = el("col");
    col.style.width = `${width / 16}rem`;
    return col;
  });
  const reach = rows.some(({ uci }) => uci === tables.rows.get(ALL)) ? tables.rows.get(ALL) : rows[0]?.uci;
  const span = (/** @type {number} */ index) => Math.max(1, columns[index]?.length ?? 1);
  return el("section", { class: "together", "data-book": ALL, "aria-label": "All books" },
    rows.length > 0 && el("table", { onkeydown: onTableKey, class: columns.flat().some(({ column, width }) => column.key === "chance" && width < GAUGE_WIDTH) ? "slim" : null },
      el("caption", { class: "unseen" }, `All books, ${many(rows.length, "move")}`),
      el("colgroup", {}, ...cols, el("col")),
      el("thead", {},
        el("tr", { class: "names" }, el("td", {}), ...view.books.map((book, index) => el("th", { scope: "colgroup", colspan: span(index), class: "of", title: bookOf(book.id)?.path ?? book.name }, book.name)), el("td", {})),
        el("tr", {}, sorting.head("move", "move", "Move", "all head move"),
          ...view.books.flatMap((book, index) => columns[index]?.length
            ? columns[index].map(({ column }, place) => sorting.head(`${column.key} ${book.id}`, column.head, `${column.name} in ${book.name}`, `all head ${column.key} ${book.id}`, { class: place === 0 ? `${column.key} of` : column.key }))
            : [el("td", { class: "of" })]), el("td", {}))),
      el("tbody", {}, ...rows.map((row) => rowOfAll(row, view, columns, row.uci === reach))),
      el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, el("span", { class: "unseen" }, "All moves")), ...view.books.map((book, index) => el("td", { class: "of", colspan: span(index) }, ...totals(book))), el("td", {})))),
    ...view.books.map((book) => aside(book, view)));
}

/** @param {Row} row @param {View} view @param {NonNullable<ReturnType<typeof columnsOfAll>>["columns"]} columns @param {boolean} reached */
function rowOfAll(row, view, columns, reached) {
  const found = view.books.filter((book) => book.moves.length > 0 && !bookOf(book.id)?.games);
  const chances = new Map(found.map((book) => [book.id, row.of.get(book.id)?.chance ?? 0]));
  const differs = (/** @type {number} */ id) => {
    const others = [...chances].filter(([other]) => other !== id).map(([, chance]) => chance);
    const mean = others.reduce((sum, chance) => sum + chance, 0) / Math.max(1, others.length);
    return others.length > 0 && Math.abs((chances.get(id) ?? 0) - mean) >= DIFFERS;
  };
  const cells = view.books.flatMap((book, index) => {
    const move = row.of.get(book.id);
    const places = columns[index] ?? [];
    const known = bookOf(book.id);
    if (!move || !known || places.length === 0) {
      const says = book.moves.length > 0 ? `${book.name} does not have ${row.san}` : unknown(book, view);
      return [el("td", { class: differs(book.id) ? "of absent differs" : "of absent", colspan: Math.max(1, places.length), title: says },
        el("span", { "aria-hidden": "true" }, book.moves.length > 0 ? "·" : ""), el("span", { class: "unseen" }, "not in the book"))];
    }
    return places.map(({ column }, place) => {
      const content = cellOf(column, move, book, known);
      const kinds = [column.key, place === 0 && "of", column.key === "chance" && differs(book.id) && "differs", move.why && "unplayed"].filter(Boolean).join(" ");
      return el("td", { class: kinds, title: column.title?.(move, book) ?? null }, ...(Array.isArray(content) ? content : [content]));
    });
  });
  const idle = [...row.of.values()].every((move) => move.why);
  const node = el("tr", {
    class: idle ? "move idle" : "move", "data-move": row.uci,
    onclick: (/** @type {MouseEvent} */ event) => {
      if (!isControl(event.target)) playMove(view.at, row);
    },
    onpointerenter: () => arrows.point(row.likeliest),
    onpointerleave: () => arrows.point(null),
    onfocusin: () => {
      arrows.point(row.likeliest);
      reach(ALL, row.uci);
    },
    onfocusout: () => arrows.point(null),
  }, el("th", { scope: "row", class: "move" }, el("button", { type: "button", class: "san", tabindex: reached ? 0 : -1, "data-focus": `all ${row.uci} san`, onclick: () => playMove(view.at, row) }, row.san)),
  ...cells, el("td", {}));
  return node;
}

/** What a cell of the table shows. @param {Column} column @param {BookMove} move @param {BookView} book @param {Book} known @returns {Child | Child[]} */
function cellOf(column, move, book, known) {
  switch (column.key) {
    case "move": return el("span", { class: "san" }, move.san);
    case "chance": return sharedChance(move, book);
    case "weight": return brief(move.weight);
    case "priority": return String(move.priority ?? "");
    default: return column.cell(move, book, known);
  }
}

/** A chance with the book's colour and mark beside it. @param {BookMove} move @param {BookView} book @returns {Child[]} */
function sharedChance(move, book) {
  const parts = chanceCell(move, book);
  const verdict = move.recommended === null ? "" : move.recommended ? "green" : "red";
  // A reason that is the mark has said it: "marked ?!".
  const annotation = ["bad", "blunder", "dubious"].includes(move.why?.code ?? "") ? null : move.annotation;
  if (verdict === "" && !annotation) return parts;
  const words = [move.recommended === null ? "" : move.recommended ? "recommended (green)" : "to be avoided (red)", annotation].filter(Boolean).join(", ");
  return [...parts, el("span", { class: `mark ${verdict}`, title: words }, annotation && MARKS.slice(0, 6).includes(annotation) ? annotation : "", el("span", { class: "unseen" }, ` ${words}`))];
}

/** What a book says besides its moves, under its name. @param {BookView} book @param {View} view @returns {Child} */
function aside(book, view) {
  const parts = [
    book.moves.length === 0 && el("p", { class: "quiet" }, unknown(book, view)),
    book.comment && el("p", { class: "comment" }, book.comment),
    book.rule && el("p", { class: "quiet" }, book.rule),
    sampleGame(book),
    noteOf(book),
  ].filter(Boolean);
  return parts.length > 0 && el("div", { class: "aside", "data-of": book.id }, el("b", { title: bookOf(book.id)?.path ?? null }, book.name), ...parts);
}
