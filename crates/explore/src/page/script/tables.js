// What all tables share: what is open or said in them, and their keys.

import { here, isSame } from "./state.js";
import { byId, focusOn } from "./dom.js";
/** @import { Place } from "./state.js" */
/** @import { Child } from "./dom.js" */

/** The number of the table of all books among those of books. */
export const ALL = -1;

/** What is open or said beside the tables, which a new answer of the server must not take away. */
export const tables = {
  /** @type {Set<string>} Rows whose other columns are shown, as "BOOK UCI". */
  unfolded: new Set(),
  /** @type {Map<number, {place: Place, lasts: boolean, parts: Child[]}>} What was last said of a book: saved, changed elsewhere, an error. */
  notes: new Map(),
  /** @type {Map<number, string>} The row of each book that Tab reaches. */
  rows: new Map(),
  /** @type {Map<number, {at: Place, asked: string, moves: string[]}>} The order of the rows of each table, and what was asked for when it was made. */
  orders: new Map(),
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

/**
 * Rows in the order in which they were first seen here, until something else is asked for: an edit moves none away from where it is aimed at.
 * @template {{uci: string}} Row @param {number} table @param {Place} at @param {string} asked @param {Row[]} rows @returns {Row[]}
 */
export function inOrder(table, at, asked, rows) {
  // The rows of a place that was left are still there until those of the next are.
  if (!isSame(at, here())) return rows;
  const known = tables.orders.get(table);
  const moves = known?.asked === asked ? known.moves : [];
  const all = [...moves, ...rows.map(({ uci }) => uci).filter((uci) => !moves.includes(uci))];
  tables.orders.set(table, { at, asked, moves: all });
  return [...rows].sort((a, b) => all.indexOf(a.uci) - all.indexOf(b.uci));
}

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

/** Forgets what was said in other places, and how rows were ordered there. */
export function forgetElsewhere() {
  const place = here();
  for (const [book, note] of tables.notes) if (!isSame(note.place, place)) tables.notes.delete(book);
  for (const [table, order] of tables.orders) if (!isSame(order.at, place)) tables.orders.delete(table);
}
