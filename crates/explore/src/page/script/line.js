// What is seen of the line: its moves with those of other lines as variations; and its copies.

import { moveNumber, queryOf, startOf, state } from "./state.js";
import { byId, copy, el, focusOn, toast } from "./dom.js";
import { request, words } from "./net.js";
import { forgetBranches, goToBranch, startsWith, wholeLine, withView } from "./steps.js";
import { goesOn, wayNodes } from "./ways.js";
/** @import { View } from "./state.js" */

/** The most letters of variations in a request. */
const ADDRESS_ROOM = 4000;

/** @param {View} view */
export function drawOpening(view) {
  const { opening } = view;
  byId("opening").replaceChildren(...(opening ? [el("b", {}, opening.eco), ` ${opening.name}`] : []));
  byId("opening").title = opening ? `${opening.eco} ${opening.name}` : "";
  document.title = opening ? `${opening.name} · tabiya` : "tabiya";
}

/**
 * What is seen of lines that are alike up to this ply: the first of them, each move followed by what the others have in its place.
 * @param {(typeof state.line)[]} lines @param {number} from @param {boolean} main Whether the first is the line on the board. @returns {Node[]}
 */
function branchNodes(lines, from, main) {
  /** @type {Node[]} */
  const nodes = [];
  const [line] = lines;
  if (!line) return nodes;
  let numbered = true;
  let alike = lines;
  for (let index = from; index < line.length; index += 1) {
    const move = line[index];
    if (!move) break;
    const { number, white } = moveNumber(index);
    const ply = index + 1;
    const on = main && ply === state.ply;
    const button = el("button", {
      type: "button", class: main && ply <= state.ply ? null : "ahead", tabindex: -1,
      "aria-current": on ? "step" : null, onclick: () => goToBranch(line, ply),
    }, move.san ?? move.uci);
    nodes.push(el("li", { class: main ? null : "branch" }, white || numbered ? el("span", { class: "number" }, white ? `${number}.` : `${number}…`) : null, button));
    numbered = false;
    if (on) nodes.push(...wayNodes());
    const others = new Map();
    for (const other of alike) {
      const way = other[index]?.uci;
      if (way && way !== move.uci) others.set(way, [...others.get(way) ?? [], other]);
    }
    for (const way of others.values()) {
      nodes.push(el("li", { class: "bracket", "aria-hidden": "true" }, "("), ...branchNodes(way, index, false), el("li", { class: "bracket", "aria-hidden": "true" }, ")"));
      numbered = true;
    }
    alike = alike.filter((other) => other[index]?.uci === move.uci);
  }
  return nodes;
}

export function drawLine() {
  byId("to-start").hidden = state.start === startOf();
  const root = byId("line");
  const inside = root.contains(document.activeElement);
  const whole = wholeLine();
  const nodes = branchNodes([whole, ...state.branches.filter((other) => other !== whole)], 0, true);
  if (state.ply === 0) nodes.unshift(...wayNodes());
  if (state.branches.some((other) => !startsWith(state.line, other) && !startsWith(other, state.line))) {
    nodes.push(el("li", {}, el("button", { type: "button", class: "forget", "aria-label": "Forget the other lines", title: "Forget the other lines", tabindex: -1, onclick: forgetBranches }, "×")));
  }
  root.replaceChildren(...nodes);
  root.hidden = nodes.length === 0;
  const current = root.querySelector("[aria-current]") ?? root.querySelector("button:not(.way)");
  if (current instanceof HTMLElement) {
    current.tabIndex = 0;
    if (inside) focusOn(current);
    if (root.scrollWidth > root.clientWidth) root.scrollLeft = current.offsetLeft - root.clientWidth / 2;
  }
  const atStart = state.ply === 0;
  const atEnd = state.ply === whole.length;
  const stuck = !goesOn();
  for (const [id, off] of /** @type {[string, boolean][]} */ ([["first", atStart], ["back", atStart], ["forward", stuck], ["last", atEnd]])) {
    byId(id).setAttribute("aria-disabled", String(off));
  }
}

export function copyFen() {
  withView((view) => void copy(view.fen, "FEN"));
}

export async function copyPgn() {
  try {
    const query = queryOf({ variant: state.variant, start: state.start, play: state.line.map(({ uci }) => uci) });
    const others = state.branches.filter((other) => !startsWith(state.line, other)).map((other) => other.map(({ uci }) => uci).join());
    // An address has its limits.
    while (others.join(";").length > ADDRESS_ROOM) others.pop();
    if (others.length > 0) query.set("variations", others.join(";"));
    await copy(await (await request(`/api/pgn?${query}`)).text(), "PGN");
  } catch (error) {
    toast(words(error));
  }
}
