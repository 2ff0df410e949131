// What all tables share: what is open or said in them, and their keys.

import { here, isSame } from "./state.js";
import { byId, focusOn } from "./dom.js";
/** @import { Place } from "./state.js" */
/** @import { Child } from "./dom.js" */

/** What is open or said beside the tables, which a new answer of the server must not take away. */
export const tables = {
  /** @type {Set<string>} Rows whose other columns are shown, as "BOOK UCI". */
  unfolded: new Set(),
  /** @type {Map<number, {place: Place, lasts: boolean, parts: Child[]}>} What was last said of a book: saved, changed elsewhere, an error. */
  notes: new Map(),
  /** @type {Map<number, string>} The row of each book that Tab reaches. */
  rows: new Map(),
  /** Makes the tables anew, and what is drawn of them on the board. */
  redraw() {},
  /** While the tables are made anew, the focus leaves and comes back, which is no leaving. */
  drawing: false,
  /** Whether the pointer was last put down on a button or a field: the click is no click on their row, wherever it ends. */
  grasped: false,
  /** The width for which they were made. */
  width: 0,
  /** The width of the bars of results in the table that is being made, as if text had its usual size. */
  barWidth: 0,
};

/** Lets Tab reach this row of the book and no other. @param {number} book @param {string} uci */
export function reach(book, uci) {
  if (tables.rows.get(book) === uci) return;
  tables.rows.set(book, uci);
  for (const row of byId("tables").querySelectorAll(`[data-book="${book}"] tr.move`)) {
    const tab = row.getAttribute("data-move") === uci ? "0" : "-1";
    for (const control of row.querySelectorAll("button, input")) control.setAttribute("tabindex", tab);
  }
}

/** Up and down go from row to row. @param {KeyboardEvent} event */
export function onTableKey(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement) || target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = target.closest("tr.move");
  if (!step || !row) return;
  const rows = [...(row.parentElement?.querySelectorAll("tr.move") ?? [])];
  const next = rows[rows.indexOf(row) + step];
  const kind = target.getAttribute("data-focus")?.split(" ").at(-1) ?? "san";
  focusOn(next?.querySelector(`[data-focus$=" ${kind}"]`) ?? null);
  event.preventDefault();
  event.stopPropagation();
}

/** Forgets what was said in other places. */
export function forgetNotes() {
  const place = here();
  for (const [book, note] of tables.notes) if (!isSame(note.place, place)) tables.notes.delete(book);
}
