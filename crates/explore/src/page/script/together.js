// One table of all books: rows are moves, columns what each book says of them, so that differences are seen at a glance.

import { bookOf, brief, many } from "./state.js";
import { el } from "./dom.js";
import { playMove } from "./steps.js";
import { ALL, onTableKey, tables } from "./tables.js";
import { MARKS, openAdding } from "./additions.js";
import { thoughtCell } from "./thoughts.js";
import { chanceCell, COLUMNS, GAUGE_WIDTH, headOf, looksButton, looksOf, sorting, widthsIn, widthsOf } from "./columns.js";
import { rowsOfAll } from "./rows.js";
import { onRow } from "./arrows.js";
import { besides, bookName, totals, unknown } from "./facts.js";
/** @import { Book, BookMove, BookView, View } from "./state.js" */
/** @import { Column } from "./columns.js" */
/** @import { Child } from "./dom.js" */
/** @import { Row } from "./rows.js" */

/**
 * Columns of a book in this table, by what is left out first where there is little room, and their widths. What stays does so in any room: the
 * table is moved sideways then.
 * @type {{keys: string[], width: number, least: number, stays?: boolean}[]}
 */
const SHARED = [
  { keys: ["chance"], width: 104, least: 58, stays: true },
  { keys: ["bar"], width: 110, least: 64, stays: true },
  { keys: ["games", "priority", "weight"], width: 64, least: 62 },
  { keys: ["eval"], width: 62, least: 58 },
];

/** The same of a book whose numbers can be edited. @type {typeof SHARED} */
const EDITED = [
  { keys: ["chance"], width: 104, least: 58, stays: true },
  { keys: ["weight", "priority"], width: 68, least: 62, stays: true },
  { keys: ["bar"], width: 110, least: 64, stays: true },
  { keys: ["games"], width: 64, least: 62 },
  { keys: ["eval"], width: 62, least: 58 },
];

/** The same of the games. @type {typeof SHARED} */
const OF_GAMES = [
  { keys: ["games"], width: 64, least: 62, stays: true },
  { keys: ["bar"], width: 110, least: 64, stays: true },
  { keys: ["average"], width: 60, least: 56 },
  { keys: ["last"], width: 56, least: 52 },
  { keys: ["performance"], width: 60, least: 56 },
];

/** The least width of the column of moves. */
const MOVE_WIDTH = 56;

/** The least width of a book, for its name. */
const NAME_WIDTH = 80;

/** The width of a mark and a colour beside a chance, and of the button that changes them. */
const MARK_WIDTH = 30;
const LOOKS_WIDTH = 40;

/** Chances that differ by so much from those of the other books stand out. */
const DIFFERS = 0.2;

/** The order in which a book's columns are seen. */
const ORDER = ["chance", "games", "priority", "weight", "bar", "eval", "average", "performance", "last"];

/** The columns of this table that are of no book: the move, and what the engine says of it. */
const OF_MOVES = ["move", "engine"];

/** What each book shows in this width, and how wide all is. @param {View} view @param {number} width */
function columnsOfAll(view, width) {
  /** @type {{column: Column, least: number, width: number}[]} */
  const ofMoves = [];
  const place = (/** @type {Column} */ column, /** @type {{width: number, least: number}} */ size, /** @type {number} */ needed) => {
    const least = Math.max(size.least, needed);
    return { column, least, width: Math.max(size.width, least) };
  };
  const wanted = view.books.map((book) => {
    const known = bookOf(book.id);
    if (!known) return [];
    const isMarked = book.moves.some((move) => move.annotation || move.recommended !== null);
    const more = known.edit?.looks ? LOOKS_WIDTH : isMarked ? MARK_WIDTH : 0;
    const needed = widthsOf("together", book, known, (column, move) => cellOf(column, move, book, known));
    for (const column of COLUMNS.filter(({ key }) => OF_MOVES.includes(key)).filter(({ has }) => has(book, known))) {
      const size = column.key === "move" ? { width: MOVE_WIDTH, least: MOVE_WIDTH } : { width: column.width, least: column.width };
      const other = ofMoves.find((place) => place.column === column);
      const own = place(column, size, needed.get(column.key) ?? 0);
      if (!other) ofMoves.push(own);
      else if (own.least > other.least) Object.assign(other, own);
    }
    const slots = known.games ? OF_GAMES : known.edit && !known.edit.looks ? EDITED : SHARED;
    return slots.map(({ keys, width, least, stays }) => {
      const size = keys[0] === "chance" ? { width: width + more, least: least + more } : { width, least };
      const column = keys.flatMap((key) => COLUMNS.find((column) => column.key === key) ?? []).find((column) => book.moves.length > 0 && column.has(book, known));
      return column ? { ...place(column, size, needed.get(column.key) ?? 0), stays } : null;
    });
  });
  const least = (/** @type {{least: number}[]} */ places) => places.reduce((all, place) => all + place.least, 0);
  const own = (/** @type {number} */ depth) => wanted.map((places) => places.flatMap((place, index) => place && (place.stays || index < depth) ? [place] : []));
  const taken = (/** @type {ReturnType<typeof own>} */ books) => least(ofMoves) + books.reduce((sum, places) => sum + Math.max(least(places), NAME_WIDTH), 0);
  let depth = OF_GAMES.length;
  while (depth > 0 && taken(own(depth)) > width) depth -= 1;
  const books = own(depth);
  for (const [first] of books.filter((places) => least(places) < NAME_WIDTH)) if (first) first.width = Math.max(first.width, first.least = NAME_WIDTH);
  const fixed = books.filter((places) => places.length === 0).length * NAME_WIDTH;
  // First every column gets what it would like to have, then the bars or the chances share the rest.
  const { widths, spare } = widthsIn([...ofMoves, ...books.flat()], width - fixed);
  const bars = books.flat().filter(({ column }) => column.key === "bar");
  const stretched = bars.length > 0 ? bars : books.flat().filter(({ column }) => column.key === "chance");
  const most = bars.length > 0 ? 150 : 90;
  for (const place of stretched) widths.set(place, (widths.get(place) ?? 0) + Math.min(most, spare / stretched.length));
  tables.barWidth = bars[0] ? (widths.get(bars[0]) ?? 0) - 14 : 0;
  const sized = (/** @type {typeof ofMoves} */ places) => places.map((place) => ({ column: place.column, width: widths.get(place) ?? place.least }));
  return { ofMoves: sized(ofMoves), columns: books.map((places) => sized(places.sort((a, b) => ORDER.indexOf(a.column.key) - ORDER.indexOf(b.column.key)))),
    width: Math.max(width, taken(books)) };
}

/** The table, and what else each book says. @param {View} view @param {number} room @returns {HTMLElement} */
export function allBooks(view, room) {
  const { ofMoves, columns, width } = columnsOfAll(view, room);
  const rows = rowsOfAll(view);
  const cols = [...ofMoves.map(({ width }) => width), ...columns.flatMap((places) => places.length > 0 ? places.map(({ width }) => width) : [NAME_WIDTH])].map((width) => {
    const col = el("col");
    col.style.width = `${width / 16}rem`;
    return col;
  });
  const reach = rows.some(({ uci }) => uci === tables.rows.get(ALL)) ? tables.rows.get(ALL) : rows[0]?.uci;
  const span = (/** @type {number} */ index) => Math.max(1, columns[index]?.length ?? 1);
  const isSlim = columns.flat().some(({ column, width }) => column.key === "chance" && width < GAUGE_WIDTH);
  const beside = ofMoves.slice(1).map(() => el("td", {}));
  const table = rows.length > 0 && el("table", { onkeydown: onTableKey, class: isSlim && "slim" },
    el("caption", { class: "unseen" }, `All books, ${many(rows.length, "move")}`),
    el("colgroup", {}, ...cols, el("col")),
    el("thead", {},
      el("tr", { class: "names" }, el("td", { colspan: ofMoves.length }), ...view.books.map((book, index) => nameIn(book, span(index))), el("td", {})),
      el("tr", {}, ...ofMoves.map(({ column }) => sorting.head(column, column.key, column.head, column.name, `all head ${column.key}`)),
        ...view.books.flatMap((book, index) => columns[index]?.length
          ? columns[index].map(({ column }, place) => headIn(column, book, place === 0))
          : [el("td", { class: "of" })]), el("td", {}))),
    el("tbody", {}, ...rows.map((row) => rowOfAll(row, view, ofMoves.length > 1, columns, row.uci === reach))),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, el("span", { class: "unseen" }, "All moves")), ...beside, ...view.books.map((book, index) => el("td", { class: "of", colspan: span(index) }, ...totals(book))), el("td", {}))));
  // Where the columns have no room, the table is moved sideways under its moves.
  if (table && width > room) table.style.width = `${width / 16}rem`;
  return el("section", { class: "together", "data-book": ALL, "aria-label": "All books" },
    table && el("div", { class: width > room ? "sideways wide" : "sideways" }, table),
    ...view.books.map((book) => aside(book, view)));
}

/** @param {BookView} book @param {number} colspan */
function nameIn(book, colspan) {
  const known = bookOf(book.id);
  return el("th", { scope: "colgroup", colspan, class: known?.edit ? "of editable" : "of", title: known?.path ?? book.name }, known?.edit ? bookName(known) : book.name);
}

/** The head of a book's column. @param {Column} column @param {BookView} book @param {boolean} isFirst */
function headIn(column, book, isFirst) {
  const known = bookOf(book.id);
  return sorting.head(column, `${column.key} ${book.id}`, known ? headOf(column, known) : column.head, `${column.name} in ${book.name}`, `all head ${column.key} ${book.id}`,
    { class: isFirst ? `${column.key} of` : column.key });
}

/** @param {Row} row @param {View} view @param {boolean} thinks @param {ReturnType<typeof columnsOfAll>["columns"]} columns @param {boolean} reached */
function rowOfAll(row, view, thinks, columns, reached) {
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
      const addable = known?.edit && view.legal.some(({ uci }) => uci === row.uci);
      return [el("td", { class: differs(book.id) ? "of absent differs" : "of absent", colspan: Math.max(1, places.length), title: says },
        addable ? el("button", { type: "button", class: "icon", "data-focus": `${book.id} ${row.uci} add`, "aria-label": `Add ${row.san} to ${book.name}`, title: `Add ${row.san} …`,
          onclick: () => openAdding(book.id, row.uci) }, "+")
          : el("span", { "aria-hidden": "true" }, book.moves.length > 0 ? "·" : ""), el("span", { class: "unseen" }, "not in the book"))];
    }
    return places.map(({ column }, place) => {
      const content = cellOf(column, move, book, known);
      const kinds = [column.key, place === 0 && "of", column.key === "chance" && differs(book.id) && "differs", move.why && "unplayed"].filter(Boolean).join(" ");
      return el("td", { class: kinds, title: column.title?.(move, book) ?? null }, ...(Array.isArray(content) ? content : [content]));
    });
  });
  const idle = [...row.of.values()].every((move) => move.why);
  const node = el("tr", { class: idle ? "move idle" : "move", "data-move": row.uci, ...onRow(ALL, row.likeliest, () => playMove(view.at, row)) },
    el("th", { scope: "row", class: "move" }, el("button", { type: "button", class: "san", "data-focus": `all ${row.uci} san`, onclick: () => playMove(view.at, row) }, row.san)),
    thinks && el("td", { class: "engine" }, thoughtCell(row.likeliest, { at: view.at })), ...cells, el("td", {}));
  for (const control of node.querySelectorAll("button, input")) control.setAttribute("tabindex", reached ? "0" : "-1");
  return node;
}

/** What a cell of the table shows. @param {Column} column @param {BookMove} move @param {BookView} book @param {Book} known @returns {Child | Child[]} */
function cellOf(column, move, book, known) {
  switch (column.key) {
    case "move": return el("span", { class: "san" }, move.san);
    case "chance": return sharedChance(move, book, known);
    case "weight": return known.edit?.weight ? column.cell(move, book, known) : brief(move.weight);
    default: return column.cell(move, book, known);
  }
}

/** A chance with the book's colour and mark beside it. @param {BookMove} move @param {BookView} book @param {Book} known @returns {Child[]} */
function sharedChance(move, book, known) {
  const parts = chanceCell(move, book);
  if (known.edit?.looks) return [...parts, looksButton(move, book, known)];
  const { verdict } = looksOf(move);
  // A reason that is the mark has said it: "marked ?!".
  const annotation = ["bad", "blunder", "dubious"].includes(move.why?.code ?? "") ? null : move.annotation;
  if (verdict === "" && !annotation) return parts;
  const { meaning } = looksOf({ ...move, annotation });
  return [...parts, el("span", { class: `mark ${verdict}`, title: meaning }, annotation && MARKS.slice(0, 6).includes(annotation) ? annotation : "", el("span", { class: "unseen" }, ` ${meaning}`))];
}

/** What a book says besides its moves, under its name. @param {BookView} book @param {View} view @returns {Child} */
function aside(book, view) {
  const parts = besides(book, bookOf(book.id), view, null);
  return parts.length > 0 && el("div", { class: "aside", "data-of": book.id }, el("b", { title: bookOf(book.id)?.path ?? null }, book.name), ...parts);
}
