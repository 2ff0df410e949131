// The keyboard, and the list of its keys.

import { isTogether, state } from "./state.js";
import { byId, el, openDialog } from "./dom.js";
import { board } from "./board.js";
import { goTo, lastChoice, nextChoice } from "./steps.js";
import { takeBack } from "./edit.js";
import { playNumber } from "./rows.js";
import { copyFen, copyPgn } from "./line.js";
import { openSearch } from "./search.js";

/** @type {[string, string][]} */
const KEYS = [
  ["← →", "a move back, a move forward"],
  ["Home End", "the start, the end of the line"],
  ["1 … 9", "plays that row of the table"],
  ["↑ ↓", "from row to row of a table; Enter plays the move"],
  ["f", "turns the board"],
  ["n b", "the next position with a choice; back to the last one"],
  ["/", "searches an opening, moves or a FEN"],
  ["c p", "copies the FEN; the PGN"],
  ["e", "opens and closes the engine"],
  ["t", "one table of all books, or a table for each"],
  ["u U", "takes back the last edit; makes it again"],
  ["?", "these keys"],
];

/** @type {Record<string, () => void>} */
const ACTIONS = {
  ArrowLeft: () => goTo(state.ply - 1),
  ArrowRight: () => goTo(state.ply + 1),
  Home: () => goTo(0),
  End: () => goTo(Infinity),
  f: () => board.flip(),
  n: () => void nextChoice(),
  b: () => lastChoice(),
  "/": () => openSearch(),
  c: () => copyFen(),
  p: () => void copyPgn(),
  e: () => {
    const section = byId("engine");
    if (section instanceof HTMLDetailsElement && !section.hidden) section.open = !section.open;
  },
  t: () => byId(isTogether() ? "view-each" : "view-together").click(),
  u: () => void takeBack("undo"),
  U: () => void takeBack("redo"),
  "?": () => openDialog("keys"),
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  const target = event.target;
  if (document.querySelector("dialog[open]")) return;
  // A dialog's field keeps the focus for a moment after the dialog is closed.
  if (target instanceof HTMLElement && !target.closest("dialog") && target.closest("input, select, textarea, [role=menu]")) return;
  const action = ACTIONS[event.key];
  if (action) action();
  else if (/^[1-9]$/.test(event.key)) playNumber(Number(event.key));
  else return;
  event.preventDefault();
}

export function listenToKeys() {
  byId("keys-list").replaceChildren(...KEYS.map(([keys, does]) => el("div", {},
    el("dt", {}, ...keys.split(" ").flatMap((key, index) => key === "…" ? [" … "] : [index > 0 && " ", el("kbd", {}, key)])), el("dd", {}, does))));
  document.addEventListener("keydown", onKey);
}
