// What the page's engine has said of moves so far, in the rows of the tables.

import { asShown, evaluation, here, isSame, state, whose } from "./state.js";
import { byId, el } from "./dom.js";
import { tables } from "./tables.js";
/** @import { At, BookMove, Score } from "./state.js" */

/** @typedef {Score & {san: string[], depth?: number | null}} ThoughtLine A line of the engine. */

export const thoughts = {
  /** Whether the tables have a column for them. */
  shown: false,
  /** The place that they are about. @type {At | null} */
  at: null,
  /** By the moves that lines began with, in SAN, for engines write castling in two ways; the deepest of each. @type {Map<string, {score: Score, depth: number | null}>} */
  of: new Map(),

  /** Begins with another place, or, without one, takes the column away. @param {At | null} at */
  begin(at) {
    this.at = at;
    this.of.clear();
    const changed = this.shown !== (at !== null);
    this.shown = at !== null;
    if (changed) tables.redraw();
    else this.draw();
  },

  /** @param {ThoughtLine[]} lines The best first. */
  take(lines) {
    for (const { san: [first], cp, mate, depth = null } of lines) {
      if (!first || (cp === undefined && mate === undefined) || (depth ?? 0) < (this.of.get(first)?.depth ?? 0)) continue;
      this.of.set(first, { score: mate === undefined ? { cp } : { mate }, depth });
    }
    this.draw();
  },

  /** Changes the cells in place, as often as the engine says something. */
  draw() {
    for (const cell of byId("tables").querySelectorAll("[data-thought]")) fill(cell, cell.getAttribute("data-thought") ?? "", state.view?.at);
  },
};

/** What a row's cell of it shows. @param {BookMove} move @param {{at: At}} book */
export function thoughtCell(move, book) {
  return fill(el("span", { class: "thought", "data-thought": move.san }), move.san, book.at);
}

/** The widest that such a cell shows. */
export function widestThought() {
  return el("span", { class: "thought" }, ...parts({ cp: -8888 }, 88));
}

/** @param {Element} cell @param {string} san @param {At | undefined} place That of the row. */
function fill(cell, san, place) {
  const { at, of } = thoughts;
  // What is said of a place that is left is gone at once.
  const known = at && place && isSame(at, place) && isSame(at, here()) ? of.get(san) : undefined;
  const score = at && known && asShown(known.score, at.fen);
  cell.replaceChildren(...(score ? parts(score, known.depth) : []));
  if (score) cell.setAttribute("title", `${evaluation(score)} ${whose()}, by the engine${known.depth ? ` at depth ${known.depth}` : ""}`);
  else cell.removeAttribute("title");
  return cell;
}

/** "+0.31/24", as programs for matches write it. @param {Score} score @param {number | null} depth */
function parts(score, depth) {
  return [evaluation(score), ...(depth ? [el("small", {}, `/${depth}`)] : [])];
}
