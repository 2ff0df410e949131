// How a book grows while `tabiya grow` makes it: how far games go in it, what is known of the position on the board, what is searched next.

import { current, evaluation, exact, many, percent, shownBooks, startOf, state } from "./state.js";
import { byId, el, renew } from "./dom.js";
import { goToPlace } from "./steps.js";

/** A mate in n moves is this many centipawns less n. */
const MATE = 32767;

/** Values above are mates. */
const CENTIPAWNS = 32000;

/** @param {number} value */
function worth(value) {
  if (Math.abs(value) <= CENTIPAWNS) return evaluation({ cp: value });
  const moves = MATE - Math.abs(value);
  return evaluation({ mate: value < 0 ? -moves : moves });
}

/** @param {"white" | "black"} side */
function nameOf(side) {
  return side === "white" ? "White" : "Black";
}

/**
 * A button that goes to the position after some moves.
 * @param {string[]} play
 * @param {string} line
 * @param {string} focus What it is called while its list is made anew.
 */
function placeLink(play, line, focus) {
  return el("button", { type: "button", class: "link", "data-focus": `growth ${focus}`, onclick: () => goToPlace({ start: startOf(), play }) }, line || "the starting position");
}

/** Draws it for the first shown book that grows. */
export function drawGrowth() {
  const book = shownBooks().find((book) => book.growth);
  byId("growth").hidden = !book?.growth;
  if (!book?.growth) return;
  const { searches, sides, next, errors } = book.growth;
  byId("growth-name").textContent = state.books?.books.length === 1 ? many(searches, "search", "searches") : `${book.name}, ${many(searches, "search", "searches")}`;
  const known = current()?.books.find(({ id }) => id === book.id)?.growth ?? [];
  renew(byId("growth-sides"), sides.map((side) => {
    const here = known.find((place) => place.side === side.side);
    return el("tr", {}, el("th", { scope: "row" }, nameOf(side.side)), el("td", {}, side.value === null ? "" : worth(side.value)), el("td", {}, side.plies.toFixed(1)),
      el("td", {}, percent(side.covered)), el("td", {}, exact(side.positions)), el("td", {}, here ? worth(here.value) : ""), el("td", {}, here ? percent(here.reach) : ""));
  }));
  byId("growth-errors-title").hidden = errors.length === 0;
  renew(byId("growth-errors"), errors.map(({ play, line, chance, loss, games }, index) =>
    el("li", {}, placeLink(play, line, `error ${index}`), ` ${percent(chance)}, loses ${(loss / 100).toFixed(2)}${games ? `, ${exact(games[0])} of ${many(games[1], "game")}` : ""}`)));
  byId("growth-next-title").hidden = next.length === 0;
  renew(byId("growth-next"), next.map(({ play, line }, index) => el("li", {}, placeLink(play, line, `next ${index}`))));
}
