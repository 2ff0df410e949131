// The ways on from the position on the board: the line's next move, those of other lines, and the book's moves.

import { current, percent, state } from "./state.js";
import { announce, byId, el } from "./dom.js";
import { goTo, playMove, startsWith, steps, wholeLine, withView } from "./steps.js";
import { likeliest } from "./rows.js";
import { arrows } from "./arrows.js";
/** @import { View } from "./state.js" */

/** @typedef {{uci: string, san: string, chance: number}} Way */

/** As many as a glance takes in. */
const GLANCE = 3;

/** As many as are offered. */
const MOST = 6;

/** Which of the ways is chosen; -1 where they are not offered. */
let chosenWay = -1;

/** @param {View} view @returns {Way[]} */
function waysFrom(view) {
  const past = state.line.slice(0, state.ply);
  const book = likeliest(view).filter(({ chance }) => chance > 0);
  /** @type {Map<string, Way>} */
  const ways = new Map();
  for (const line of [state.line, ...state.branches]) {
    const next = startsWith(line, past) ? line[past.length] : undefined;
    const known = book.find(({ uci }) => uci === next?.uci);
    if (next && !ways.has(next.uci)) ways.set(next.uci, { uci: next.uci, san: next.san ?? known?.san ?? next.uci, chance: known?.chance ?? 0 });
  }
  for (const { uci, san, chance } of book) if (!ways.has(uci)) ways.set(uci, { uci, san, chance });
  return [...ways.values()].slice(0, MOST);
}

/** The ways that are seen after the move on the board: at the end of a line, or where they are offered. @returns {Node[]} */
export function wayNodes() {
  const view = current();
  const offered = chosenWay >= 0;
  if (!view || !(offered || (state.ply > 0 && state.ply === wholeLine().length))) return [];
  return waysFrom(view).slice(0, offered ? MOST : GLANCE).map((way, index) => el("li", {}, el("button", {
    type: "button", class: index === chosenWay ? "way chosen" : "way", tabindex: -1, title: way.chance > 0 ? `${way.san}: ${percent(way.chance)}` : null,
    onclick: () => playMove(view.at, way),
  }, way.san)));
}

/** Whether there is a move after the one on the board. */
export function goesOn() {
  const view = current();
  return state.ply < wholeLine().length || (view !== null && waysFrom(view).length > 0);
}

/** Offers the ways on. */
function offerWays() {
  withView((view) => {
    if (waysFrom(view).length === 0) return;
    chooseWay(view, 0);
    announce(`${byId("live").textContent} Right plays it, down and up choose another one.`);
  });
}

/** Withdraws the offer. */
export function closeWays() {
  if (chosenWay < 0) return;
  chosenWay = -1;
  arrows.point(null);
}

/** What comes anew of the same position leaves the offer; in another one it is withdrawn. @param {View} view @param {boolean} fresh */
export function renewWays(view, fresh) {
  const ways = waysFrom(view);
  if (fresh || ways.length === 0) closeWays();
  if (chosenWay < 0) return;
  chosenWay = Math.min(chosenWay, ways.length - 1);
  arrows.point(ways[chosenWay] ?? null);
}

/** @param {View} view @param {number} number */
function chooseWay(view, number) {
  const ways = waysFrom(view);
  chosenWay = (number + ways.length) % ways.length;
  const way = ways[chosenWay];
  if (!way) return;
  steps.onPlace();
  arrows.point(way);
  announce(`${way.san}${way.chance > 0 ? `, ${percent(way.chance)}` : ""}, ${chosenWay + 1} of ${ways.length}.`);
}

/** A move forward: the line's next one, the one that is chosen, or at the end of the line an offer. @param {boolean} [held] Whether the key is held down, which does not run on past the end. */
export function forward(held = false) {
  const view = current();
  if (chosenWay >= 0 && view) playWay(view);
  else if (state.ply < wholeLine().length) goTo(state.ply + 1);
  else if (!held) offerWays();
}

/** @param {View} view */
function playWay(view) {
  const way = waysFrom(view)[chosenWay];
  if (way) playMove(view.at, way);
}

/** The keys of an offer. @param {KeyboardEvent} event @returns {boolean} Whether it is one of them. */
export function onWaysKey(event) {
  const view = current();
  if (event.key === "ArrowRight" && event.shiftKey) offerWays();
  else if (chosenWay < 0 || !view) return false;
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") chooseWay(view, chosenWay + (event.key === "ArrowDown" ? 1 : -1));
  else if (event.key === "Enter" && event.target instanceof Element && (event.target === document.body || event.target.closest("#line"))) playWay(view);
  else if (event.key === "Escape") {
    closeWays();
    steps.onPlace();
  } else return false;
  return true;
}
