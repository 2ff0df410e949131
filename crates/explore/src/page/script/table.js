// The tables: one for each book, side by side where there is room.

import { bookOf, current, isTogether, many, state } from "./state.js";
import { byId, el, focusOn, isControl, renew, unpressed } from "./dom.js";
import { playMove } from "./steps.js";
import { onTableKey, tables } from "./tables.js";
import { editor, editOf } from "./edit.js";
import { askToDelete } from "./lines.js";
import { columnsOf, GAUGE_WIDTH, headOf, LEAST, sorting, TOOL } from "./columns.js";
import { onRow } from "./arrows.js";
import { besides, bookName, sums } from "./facts.js";
import { allBooks } from "./together.js";
import { drawView } from "./view.js";
/** @import { Book, BookMove, BookView, View } from "./state.js" */
/** @import { Column } from "./columns.js" */

/** Draws the tables, unless something in them is being clicked: then as soon as it is. */
export function drawTables() {
  unpressed(byId("tables"), makeTables);
}

/** Makes the tables what they are to be, and leaves the focus where it was. */
function makeTables() {
  const { view } = state;
  if (!view) return;
  const root = byId("tables");
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  // In another width an open field may have no column: what is typed next would go to a button.
  if (!editor.open?.input.isConnected) tables.width = root.clientWidth;
  drawView();
  const gap = 24;
  const columns = Math.max(1, Math.min(view.books.length, Math.floor((tables.width + gap) / (LEAST * scale + gap))));
  const width = (tables.width - gap * (columns - 1)) / columns / scale;
  const focus = document.activeElement?.getAttribute("data-focus") ?? null;
  const inside = root.contains(document.activeElement);
  const field = document.activeElement === editor.open?.input;
  tables.drawing = true;
  root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  if (isTogether()) root.style.gridTemplateColumns = "minmax(0, 1fr)";
  const sections = isTogether() ? [allBooks(view, tables.width / scale)] : view.books.map((book) => bookSection(book, view, width));
  const drawn = sections.filter((section) => section !== null);
  const legend = drawn.some((section) => section.querySelector(".results")) && el("p", { class: "legend" },
    ...["White", "draw", "Black"].map((name) => el("span", {}, el("i", { class: name.toLowerCase() }), name)));
  renew(root, legend ? [...drawn, legend] : drawn);
  if (inside && focus && !root.contains(document.activeElement)) focusOn(root.querySelector(`[data-focus="${CSS.escape(focus)}"]`) ?? (field ? null : root.querySelector("button.san")));
  tables.drawing = false;
  // Its move was deleted elsewhere: what was written into it is refused, and that is said.
  if (editor.open && !editor.open.input.isConnected) editor.open.leave();
}

/** @param {BookView} book @param {View} view @param {number} width @returns {HTMLElement | null} */
function bookSection(book, view, width) {
  const known = bookOf(book.id);
  if (!known) return null;
  return el("section", { class: known.edit ? "book editable" : "book", "data-book": book.id, "aria-label": book.name },
    book.moves.length > 0 ? moveTable(book, known, width) : el("h2", { class: "book-name" }, bookName(known)),
    ...besides(book, known, view, sums(book)));
}

/** @param {BookView} book @param {Book} known @param {number} width */
function moveTable(book, known, width) {
  const { shown, folded, spare } = columnsOf(book, known, width);
  const isSlim = shown.some(({ key, width }) => key === "chance" && width < GAUGE_WIDTH);
  const tools = known.edit || folded.length > 0 ? 1 : 0;
  const stretched = shown.some((column) => column.key === "bar") ? "bar" : shown.some((column) => column.flexible) ? "opening" : "chance";
  const extra = Math.min(64, spare * 0.4);
  const flexible = shown.filter((column) => column.flexible).map((column) => column.width);
  tables.barWidth = (flexible.reduce((sum, one) => sum + one, 0) + spare - extra) / Math.max(1, flexible.length) - 12;
  const cols = shown.map((column) => {
    const col = el("col");
    const more = column.key === "chance" ? extra : 0;
    if (column.key !== stretched && !(column.flexible && stretched === "bar")) col.style.width = `${(column.width + more) / 16}rem`;
    return col;
  });
  if (tools > 0) {
    const col = el("col");
    col.style.width = `${TOOL / 16}rem`;
    cols.push(col);
  }
  const reach = book.moves.some((move) => move.uci === tables.rows.get(book.id)) ? tables.rows.get(book.id) : book.moves[0]?.uci;
  const body = el("tbody", {}, ...sorting.sorted(book).flatMap((move) => moveRows(move, book, known, shown, folded, move.uci === reach)));
  return el("table", { onkeydown: onTableKey, class: isSlim && "slim" },
    el("caption", {}, bookName(known), el("span", { class: "unseen" }, `, ${many(book.moves.length, "move")}`)),
    el("colgroup", {}, ...cols),
    el("thead", {}, el("tr", {},
      ...shown.map((column) => sorting.head(column, column.key, headOf(column, known), column.name, `${book.id} head ${column.key}`)),
      tools > 0 && el("td", { colspan: tools }))),
    body);
}

/** @param {BookMove} move @param {BookView} book @param {Book} known @param {Column[]} shown @param {Column[]} folded @param {boolean} reached */
function moveRows(move, book, known, shown, folded, reached) {
  const key = `${book.id} ${move.uci}`;
  const open = folded.length > 0 && tables.unfolded.has(key);
  const toggle = () => {
    if (!tables.unfolded.delete(key)) tables.unfolded.add(key);
    drawTables();
  };
  const cells = shown.map((column, index) => {
    const content = column.cell(move, book, known);
    const attributes = { class: column.key, title: column.title?.(move, book) ?? null };
    const children = Array.isArray(content) ? content : [content];
    return index === 0 ? el("th", { scope: "row", ...attributes }, ...children) : el("td", attributes, ...children);
  });
  const remove = (/** @type {string} */ kind, /** @type {string} */ text) => el("button", { type: "button", class: kind, "data-focus": `${key} delete`,
    "aria-label": `Delete ${move.san} from ${book.name}`, title: "Delete", onclick: () => askToDelete(editOf(book, known, move, "delete")) }, text);
  if (folded.length > 0) {
    cells.push(el("td", { class: "tool" }, el("button", { type: "button", class: "icon", "data-focus": `${key} more`, "aria-expanded": String(open),
      "aria-label": `More of ${move.san}`, title: "More", onclick: toggle }, open ? "▴" : "▾")));
  } else if (known.edit) {
    cells.push(el("td", { class: "tool" }, remove("icon", "×")));
  }
  const row = el("tr", {
    class: move.why ? "move idle" : "move", "data-move": move.uci,
    ...onRow(book.id, move, () => {
      if (folded.length > 0 && tables.width < 600) toggle();
      else playMove(book.at, move);
    }),
  }, ...cells);
  for (const control of row.querySelectorAll("button, input")) control.setAttribute("tabindex", reached ? "0" : "-1");
  if (!open) return [row];
  return [row, el("tr", { class: "details" }, el("td", { colspan: cells.length }, el("dl", {},
    ...folded.flatMap((column) => detail(column, move, book, known)),
    move.why && el("div", {}, el("dt", {}, "Not played"), el("dd", {}, move.why.text)),
    known.edit && el("div", {}, remove("button", "Delete")))))];
}

/** @param {Column} column @param {BookMove} move @param {BookView} book @param {Book} known @returns {Node[]} */
function detail(column, move, book, known) {
  const content = column.cell(move, book, known);
  if (content === "" || content === null) return [];
  return [el("div", { class: column.key }, el("dt", {}, column.name), el("dd", { title: column.title?.(move, book) ?? null }, ...(Array.isArray(content) ? content : [content])))];
}

export function listenToTables() {
  const root = byId("tables");
  // Rows of a position that is not on the board any more do nothing.
  for (const kind of ["pointerdown", "click", "submit"]) {
    root.addEventListener(kind, (event) => {
      if (current() || !(event.target instanceof Element) || !event.target.closest("tbody, .adding, .sample")) return;
      event.preventDefault();
      event.stopPropagation();
    }, true);
  }
  root.addEventListener("pointerdown", (event) => {
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    tables.grasped = isControl(event.target) || (row?.contains(editor.open?.input ?? null) ?? false);
  }, true);
  // A click beside a field that is open leaves it open: what is typed next is meant for it.
  root.addEventListener("mousedown", (event) => {
    if (!isControl(event.target) && event.target instanceof Element && event.target.closest("tr")?.contains(editor.open?.input ?? null)) event.preventDefault();
  });
  new ResizeObserver(() => {
    if (tables.width !== root.clientWidth) drawTables();
  }).observe(root);
}
