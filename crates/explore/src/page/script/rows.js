// The moves of all books together, and those that are seen first.

import { bookOf, isTogether } from "./state.js";
import { playMove, withView } from "./steps.js";
import { COLUMNS, sorting } from "./columns.js";
import { ALL, inOrder } from "./tables.js";
/** @import { BookMove, View } from "./state.js" */

/** @typedef {{uci: string, san: string, likeliest: BookMove, of: Map<number, BookMove>}} Row A move with what each book says of it. */

/** The rows, the likeliest first. @param {View} view @returns {Row[]} */
function rowsByChance(view) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const book of view.books) {
    for (const move of book.moves) {
      const row = rows.get(move.uci) ?? { uci: move.uci, san: move.san, likeliest: move, of: new Map() };
      if (move.chance > row.likeliest.chance) row.likeliest = move;
      row.of.set(book.id, move);
      rows.set(move.uci, row);
    }
  }
  const sum = (/** @type {Row} */ row, /** @type {(move: BookMove) => number} */ value) => [...row.of.values()].reduce((all, move) => all + value(move), 0);
  return [...rows.values()].sort((a, b) => sum(b, (move) => move.chance) - sum(a, (move) => move.chance) || sum(b, (move) => move.games ?? 0) - sum(a, (move) => move.games ?? 0));
}

/** The likeliest moves of all books together. @param {View} view @returns {BookMove[]} */
export function likeliest(view) {
  return rowsByChance(view).map((row) => row.likeliest);
}

/** The rows in the order in which they are seen. @param {View} view @returns {Row[]} */
export function rowsOfAll(view) {
  const found = rowsByChance(view);
  const [key = "", id] = sorting.key.split(" ");
  const order = COLUMNS.find((column) => column.key === key)?.order;
  const inPlace = (/** @type {Row[]} */ rows) => view.books.some(({ id }) => bookOf(id)?.edit) ? inOrder(ALL, view.at, sorting.asked(), rows) : rows;
  if (!order) return inPlace(found);
  const value = (/** @type {Row} */ row) => {
    const move = key === "move" ? row.likeliest : row.of.get(Number(id));
    return move ? order(move) : null;
  };
  return inPlace(found.sort((a, b) => sorting.compare(value(a), value(b))));
}

/** The moves of the first table, as they are seen: those of all books, or of the first that knows the position. @param {View | null} view @returns {BookMove[]} */
export function firstMoves(view) {
  if (!view) return [];
  if (isTogether()) return rowsOfAll(view).map((row) => row.likeliest);
  const book = view.books.find((book) => book.found);
  return book ? sorting.sorted(book) : [];
}

/** Plays the nth move of the first book. @param {number} number */
export function playNumber(number) {
  withView((view) => {
    const move = firstMoves(view)[number - 1];
    if (move) playMove(view.at, move);
  });
}
