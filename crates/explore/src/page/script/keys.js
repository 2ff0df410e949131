// The keyboard, and the list of its keys.

import { isTogether, state } from "./state.js";
import { byId, el, openDialog } from "./dom.js";
import { board } from "./board.js";
import { goTo, lastChoice, nextChoice } from "./steps.js";
import { takeBack } from "./edit.js";
import { playNumber } from "./rows.js";
import { forward, onWaysKey } from "./ways.js";
import { copyFen, copyPgn } from "./line.js";
import { openSearch } from "./search.js";
import { openSetup } from "./setup.js";

/** @type {[string, string][]} */
const KEYS = [
  ["← →", "a move back, a move forward"],
  ["Shift+→", "offers moves, as → does at the end; ↓ ↑ choose, → plays"],
  ["Home End", "the start, the end of the line"],
  ["1 … 9", "plays that row of the table"],
  ["↑ ↓", "from row to row of a table; Enter plays"],
  ["f", "turns the board"],
  ["n b", "the next choice; back to the last one"],
  ["s", "sets up a position"],
  ["/", "searches an opening, moves or a FEN"],
  ["c p", "copies the FEN; the PGN"],
  ["e", "opens and closes the engine"],
  ["t", "one table of all books, or a table for each"],
  ["u U", "takes back the last edit; makes it again"],
  ["?", "these keys"],
];

/** @type {Record<string, (event: KeyboardEvent) => void>} */
const ACTIONS = {
  ArrowLeft: () => goTo(state.ply - 1),
  ArrowRight: (event) => forward(event.repeat),
  Home: () => goTo(0),
  End: () => goTo(Infinity),
  f: () => board.flip(),
  n: () => void nextChoice(),
  b: () => lastChoice(),
  s: () => openSetup(),
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
  if (onWaysKey(event)) event.preventDefault();
  else if (action) action(event);
  else if (/^[1-9]$/.test(event.key)) playNumber(Number(event.key));
  else return;
  event.preventDefault();
}

export function listenToKeys() {
  byId("keys-list").replaceChildren(...KEYS.map(([keys, does]) => el("div", {},
    el("dt", {}, ...keys.split(" ").flatMap((key, index) => key === "…" ? [" … "] : [index > 0 && " ", el("kbd", {}, key)])), el("dd", {}, does))));
  // What a pointer reads when it rests on them, a finger reads here.
  byId("icons-list").replaceChildren(...[...document.querySelectorAll("#controls .icon")].flatMap((button) => {
    const image = button.querySelector("svg")?.cloneNode(true);
    return image ? [el("div", {}, el("dt", {}, image), el("dd", {}, button.getAttribute("aria-label")))] : [];
  }));
  document.addEventListener("keydown", onKey);
}

/** Arrows go from button to button of a toolbar, of which Tab reaches one. */
export function listenToToolbar() {
  const bar = byId("controls");
  const buttons = [...bar.querySelectorAll("button")];
  const reach = (/** @type {HTMLElement | undefined} */ reached) => {
    for (const button of buttons) button.tabIndex = button === reached ? 0 : -1;
  };
  reach(buttons[0]);
  bar.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const at = buttons.findIndex((button) => button === event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    buttons[next % buttons.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  bar.addEventListener("focusin", (event) => reach(buttons.find((button) => button === event.target)));
  // The focus does not follow the mouse, so that the arrow keys go on stepping through the line.
  bar.addEventListener("mousedown", (event) => event.preventDefault());
}
