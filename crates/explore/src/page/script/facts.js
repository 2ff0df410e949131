// What a book says besides its moves, and what is said of all books.

import { bookOf, brief, exact, isSame, many, onlyOf, shownBooks, state, written } from "./state.js";
import { byId, el } from "./dom.js";
import { goTo, goToPlace } from "./steps.js";
import { tables } from "./tables.js";
import { linkButton } from "./edit.js";
import { adding, addingLast } from "./additions.js";
import { lineForm } from "./lines.js";
import { openGame } from "./games.js";
/** @import { Book, BookView, View } from "./state.js" */
/** @import { Child } from "./dom.js" */

/** Why a book has no moves. @param {BookView} book @param {View} view */
export function unknown(book, view) {
  const known = bookOf(book.id);
  const only = onlyOf(known);
  if (book.error || view.end) return book.error ?? "The game is over.";
  if (known?.games) return only ? `No game passes the filters here: ${only}.` : "No game has a move here.";
  return only ? "No games of these speeds and ratings have this position." : "This book does not know the position.";
}

/** What a book says besides its moves, and the forms that change it. @param {BookView} book @param {Book | undefined} known @param {View} view @param {Child} sums @returns {Child[]} */
export function besides(book, known, view, sums) {
  const editable = known?.edit ? known : null;
  return [
    book.moves.length === 0 && el("p", { class: "quiet" }, unknown(book, view), editable && " ", editable && addingLast(book, editable, view)),
    book.comment && el("p", { class: "comment" }, book.comment),
    sums,
    book.rule && el("p", { class: "quiet" }, book.rule),
    sampleGame(book),
    editable && !view.end && adding(book, editable, view.legal),
    editable && lineForm(editable),
    noteOf(book),
  ].filter(Boolean);
}

/** What was last said of a book; what was done in another place is said here only if it matters here too. @param {BookView} book @returns {Child} */
function noteOf({ id, at }) {
  const note = tables.notes.get(id);
  if (!note) return null;
  const { place, lasts, parts } = note;
  const elsewhere = !isSame(place, at);
  return (lasts || !elsewhere) && el("p", { class: "note", "data-note": id }, ...parts,
    elsewhere && " · ", elsewhere && linkButton("show where", `${id} where`, () => goToPlace(place)));
}

/** @param {Book} known */
export function bookName(known) {
  return el("span", { class: "name", title: known.path }, known.name, known.edit && el("span", { class: "unseen" }, " (can be edited)"));
}

/** All games of a book here, and how its line goes on. @param {BookView} book @returns {Child[]} */
export function totals(book) {
  const parts = [];
  if (book.games !== null && book.moves.length > 0) parts.push(el("span", { title: many(book.games, "game") }, many(book.games, "game").replace(exact(book.games), brief(book.games))));
  if (book.elsewhere) parts.push(el("span", { title: many(book.elsewhere, "game") }, `reached by other orders ${brief(book.elsewhere)}`));
  if (book.reserve) parts.push(`the line goes on for ${many(Math.ceil(book.reserve / 2), "move")}`);
  const known = bookOf(book.id);
  const only = onlyOf(known);
  if (only) parts.push(only);
  if (state.books?.edit && known && !known.edit && !known.games && !book.error) parts.push("cannot be edited");
  return parts.flatMap((part, index) => index === 0 ? [part] : [" · ", part]);
}

/** @param {BookView} book @returns {Child} */
export function sums(book) {
  const parts = totals(book);
  return parts.length > 0 && el("p", { class: "sums" }, ...parts);
}

/** @param {BookView} book @returns {Child} */
function sampleGame(book) {
  const { game } = book;
  if (!game) return null;
  const player = (/** @type {string | null | undefined} */ name, /** @type {number | null | undefined} */ elo) => `${name ?? "?"}${elo ? ` (${elo})` : ""}`;
  const text = `${player(game.white, game.white_elo)} – ${player(game.black, game.black_elo)}${game.result ? `, ${game.result}` : ""}`;
  return el("p", { class: "sample" }, "A game: ", game.gone
    ? el("span", { title: "The file of games no longer exists" }, text)
    : el("button", { type: "button", class: "link", "data-focus": `${book.id} game`, onclick: () => openGame(book) }, text));
}

/** What concerns all books: the end of the book, an unknown position, the end of the game. */
export function drawNotice() {
  const { view } = state;
  const notice = byId("notice");
  if (!view) return;
  const parts = [];
  const none = shownBooks().length === 0;
  // A book that cannot be read says so in its own table.
  const books = view.books.filter(({ id }) => !bookOf(id)?.games);
  const found = books.length === 0 || books.some((book) => book.found || book.error);
  if (state.trouble) parts.push(`${state.trouble} `);
  if (view.end && view.winner !== undefined) parts.push(`${view.winner ? `${view.winner === "white" ? "White" : "Black"} wins` : "Drawn"}: ${view.end}.`);
  else if (view.end) parts.push({ checkmate: "Checkmate.", stalemate: "Stalemate." }[view.end] ?? "Drawn: insufficient material.");
  else if (none) parts.push("No book is chosen: choose one above.");
  else if (!found && view.book_end !== null) parts.push(`The book ends here after ${many(Math.ceil(view.book_end / 2), "move")}.`);
  else if (!found) parts.push("No book knows this position.");
  const ancestor = view.ancestor;
  if (!found && view.book_end === null && ancestor && !view.end) {
    const sans = state.line.slice(0, ancestor.ply).map((move) => move.san ?? move.uci);
    parts.push(" The last known position is ", el("button", { type: "button", class: "link", onclick: () => goTo(ancestor.ply) },
      sans.length > 0 ? `after ${written(sans.slice(-2), Math.max(0, ancestor.ply - 2))}` : "the start"), ".");
  }
  const choice = view.choice;
  if (!found && choice && !(ancestor && view.book_end === null && choice.ply === ancestor.ply)) {
    parts.push(" ", el("button", { type: "button", class: "link", onclick: () => goTo(choice.ply) }, "Back to the last choice"));
  }
  notice.hidden = parts.length === 0;
  notice.replaceChildren(...parts);
}
