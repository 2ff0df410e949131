// Steps: playing moves, going through the line and its branches, the address, and the question that each step asks the server.

import { addressOf, current, filters, here, isFiltered, isSame, many, nameVariant, placeOf, question, startOf, state, usualVariant, variants } from "./state.js";
import { announce, byId, closeDialogs, el, toast } from "./dom.js";
import { getJson, latest, Refusal, words } from "./net.js";
/** @import { Place, View } from "./state.js" */

/** What else a step does; the beginning says what. */
export const steps = {
  /** Before another place is on the board. */
  onLeave() {},
  /** Another variant is on the board. */
  onVariant() {},
  /** The line or the place in it has changed; what its books say may not be known yet. */
  onPlace() {},
  /** Another address has other filters. */
  onFilters() {},
  /** What they say is there; `fresh` is whether it is the first that is seen of this place. @type {(view: View, fresh: boolean) => void} */
  onView() {},
};

/** Asks for the position; an answer that comes late is dropped. */
export const refresh = latest(
  async (signal) => {
    const place = here();
    return { place, view: await getJson(`/api/view?${question(place)}`, { signal }) };
  },
  ({ place, view }) => take(place, view),
  (error) => {
    awaited = [];
    if (error instanceof Refusal && error.code === "unreachable") return;
    showProblem(words(error));
  },
);

/** The place that was announced last: a new policy or an edit says nothing of the place. */
let announced = "";

/** Lets the place be announced even if it was before. */
export function announceAgain() {
  announced = "";
}

/** @param {Place} place The place that was asked about. @param {View} view */
function take(place, view) {
  if (!isSame(place, here())) return;
  view.at = { ...place, fen: view.fen };
  // A server that is asked about no books answers about all.
  view.books = view.books.filter((book) => !state.hidden.has(book.id));
  for (const book of view.books) book.at = view.at;
  state.view = view;
  view.line.forEach((move, index) => (state.line[index] = { uci: move.uci, san: move.san, fen: move.fen }));
  if (history.state && state.trouble === "" && addressOf() !== location.hash) remember("replaceState");
  const seen = `${place.variant} ${view.fen} ${view.line.length}`;
  const fresh = announced !== seen;
  steps.onView(view, fresh);
  if (fresh) {
    announced = seen;
    announce(spoken(view));
  }
  catchUp();
}

/** "c5. White to move, Sicilian Defense, 4 moves in main.bin." @param {View} view */
function spoken(view) {
  const last = view.line.at(-1);
  const books = view.books.filter((book) => book.found);
  const unread = view.books.filter((book) => book.error).map((book) => `${book.name} cannot be read`);
  const held = view.books.length === 1 ? books.map((book) => `${many(book.moves.length, "move")} in the book`)
    : books.map((book) => `${many(book.moves.length, "move")} in ${book.name}`);
  const end = view.end && view.winner ? `${view.end}, ${view.winner} wins` : view.end;
  const facts = [end ?? `${view.turn === "white" ? "White" : "Black"} to move${view.check ? ", check" : ""}`, view.opening?.name,
    [...held, ...unread].join(", ") || (end ? null : "no book knows the position")];
  return `${last ? `${last.san}. ` : ""}${facts.filter(Boolean).join(", ")}.`;
}

/** A position that could not be shown, in words and with a way on. @param {string} text */
export function showProblem(text) {
  const notice = byId("notice");
  notice.hidden = false;
  notice.replaceChildren(`${text} `, el("button", { type: "button", class: "link", onclick: refresh }, "Try again"),
    " · ", el("button", { type: "button", class: "link", onclick: goToStart }, "Go to the start"));
  announce(text);
}

/** To the start of the variant on the board, if there are books of it. */
export function goToStart() {
  const variant = variants().some(({ name }) => name === state.variant) ? state.variant : usualVariant();
  goToPlace({ variant, start: startOf(variant), play: [] });
}

/** What waits for the view of the place on the board. @type {((view: View) => void)[]} */
let awaited = [];

/** Does something with the view of the place on the board, as soon as it is there. @param {(view: View) => void} act */
export function withView(act) {
  awaited.push(act);
  catchUp();
}

function catchUp() {
  for (let view = current(); view && awaited.length > 0; view = current()) {
    const [act, ...rest] = awaited;
    act?.(view);
    awaited = rest;
  }
}

/** Plays a move of a place, unless another is on the board by now. @param {Place} place @param {{uci: string, san: string}} move */
export function playMove(place, { uci, san }) {
  if (!isSame(place, here())) return;
  const { start, line, ply } = state;
  const next = [...line.slice(0, ply), { uci, san }];
  // A line that was played before goes on as it did.
  const known = [line, ...state.branches].find((other) => startsWith(other, next));
  keepBranch(line);
  goToLine(start, known ?? next, ply + 1);
}

/** Lines that are kept besides the one on the board. */
const BRANCHES = 50;

/** @param {typeof state.line} line @param {typeof state.line} start */
export function startsWith(line, start) {
  return line.length >= start.length && start.every(({ uci }, index) => line[index]?.uci === uci);
}

/** Keeps a line, unless a longer one has all of it. @param {typeof state.line} line */
export function keepBranch(line) {
  if (line.length === 0 || state.branches.some((other) => startsWith(other, line))) return;
  state.branches = [line, ...state.branches.filter((other) => !startsWith(line, other))].slice(0, BRANCHES);
}

export function forgetBranches() {
  state.branches = [];
  steps.onPlace();
}

/** The longest line that the one on the board begins: what it has more is ahead. */
export function wholeLine() {
  return state.branches.find((other) => startsWith(other, state.line)) ?? state.line;
}

/** @param {number} ply */
export function goTo(ply) {
  const whole = wholeLine();
  const there = Math.max(0, Math.min(whole.length, ply));
  if (there !== state.ply) goToLine(state.start, whole, there);
}

/** @param {{variant?: string, start: string, play: string[]}} place Without a variant, in that on the board. */
export function goToPlace({ variant = state.variant, start, play }) {
  state.branches = [];
  const known = start === state.start && variant === state.variant ? state.line : [];
  goToLine(start, play.map((uci, index) => known[index]?.uci === uci ? known[index] : { uci, san: null }), play.length, variant);
}

/** A step of the line, and of the browser's history. @param {string} start @param {typeof state.line} line @param {number} ply @param {string} [variant] */
export function goToLine(start, line, ply, variant = state.variant) {
  show(variant, start, line, ply, "");
  remember("pushState");
  refresh();
}

/** To a move of a line, which takes the place of the one on the board. @param {typeof state.line} line @param {number} ply */
export function goToBranch(line, ply) {
  if (line !== state.line) keepBranch(state.line);
  goToLine(state.start, line, ply);
}

/**
 * Puts a place on the board; what was open or said of the place before is closed.
 * @param {string} variant @param {string} start @param {typeof state.line} line @param {number} ply @param {string} trouble
 */
function show(variant, start, line, ply, trouble) {
  steps.onLeave();
  awaited = [];
  const isOther = variant !== state.variant;
  if (isOther || start !== state.start) state.branches = [];
  Object.assign(state, { variant, start, line, ply, trouble });
  if (isOther) steps.onVariant();
  steps.onPlace();
}

/** @param {"pushState" | "replaceState"} how @param {string} [address] */
function remember(how, address = addressOf() || location.pathname) {
  const { variant, start, line, ply, trouble } = state;
  // The entry of a dialog stands for the place below it: the next step takes its place.
  const isOfDialog = history.state?.dialog === true;
  isDialogs = isOfDialog && how === "replaceState";
  history[isOfDialog ? "replaceState" : how]({ variant, start, line, ply, trouble, dialog: isDialogs }, "", address);
}

/** Whether the entry of the history that is shown is that of a dialog. */
let isDialogs = false;

/** A dialog has an entry of its own, so that Back closes it. */
export function rememberDialog() {
  if (history.state?.dialog) return;
  history.pushState({ ...history.state, dialog: true }, "", location.href);
  isDialogs = true;
}

/** Back, forward, or an address that was typed. */
export function followHistory() {
  const wasDialogs = isDialogs;
  isDialogs = history.state?.dialog === true;
  if (closeDialogs()) {
    rememberFilters();
    return;
  }
  // The dialog was closed before: what Back means lies before the place below it.
  if (wasDialogs && !isDialogs && history.state?.line && isShown(history.state)) history.back();
  else void followAddress();
}

/** Whether an entry of the history is what is on the board. @param {{variant?: string, start: string, line: typeof state.line, ply: number}} entry */
function isShown({ variant = usualVariant(), start, line, ply }) {
  return isSame(here(), { variant, start, play: line.slice(0, ply).map(({ uci }) => uci) });
}

/** The filters are in the address; they are no step. */
export function rememberFilters() {
  if (history.state && state.trouble === "") remember("replaceState");
}

/** @param {typeof filters} wanted */
function takeFilters(wanted) {
  if (JSON.stringify(wanted) === JSON.stringify(filters)) return;
  Object.assign(filters, wanted);
  steps.onFilters();
}

/** Takes the place from the history, or from the address if it was typed or shared. @param {View} [known] The usual start, which need not be asked for. */
export async function followAddress(known) {
  const kept = history.state;
  // They hold in other positions: only a page that begins, and an address that was typed, change them.
  if (known || !kept?.line) takeFilters(placeOf(location.hash).filters);
  if (kept?.line) show(kept.variant ?? usualVariant(), kept.start, kept.line, kept.ply, kept.trouble);
  else if (!await readAddress(location.hash)) return;
  if (known && !isFiltered() && isSame(here(), { variant: usualVariant(), start: known.start, play: [] })) take(here(), known);
  else refresh();
}

/** @param {string} hash @returns {Promise<boolean>} Whether its place is on the board. */
async function readAddress(hash) {
  const { variant, start, moves } = placeOf(hash);
  const usual = startOf(variant);
  let place = { start: usual, play: /** @type {string[]} */ ([]) };
  let trouble = "";
  // If its moves cannot be read, its start may be.
  for (const text of [moves.replaceAll(",", " "), start === usual ? "" : start]) {
    if (text === "") continue;
    const query = new URLSearchParams({ text });
    nameVariant(query, variant);
    if (start !== usual && text !== start) query.set("start", start);
    try {
      place = await getJson(`/api/read?${query}`);
      break;
    } catch (error) {
      // As soon as the server is back, it is asked again.
      if (!(error instanceof Refusal) || error.code === "unreachable" || error.code === "unauthorized") return false;
      trouble ||= words(error);
    }
  }
  // Meanwhile a move may have been played, or another address typed.
  if (location.hash !== hash || history.state?.line) return false;
  if (trouble) trouble = `The address names no position: ${trouble}. This is ${place.start === usual ? "the start" : "where its line begins"}.`;
  show(variant, place.start, place.play.map((uci) => ({ uci, san: null })), place.play.length, trouble);
  state.branches = [];
  remember("replaceState", location.href);
  return true;
}

/** To the next position with a choice, along the likeliest moves. */
export async function nextChoice() {
  const place = here();
  try {
    const { play } = await getJson(`/api/next?${question(place)}`);
    if (!isSame(place, here())) return;
    if (play.length === 0) toast("No choice further on");
    else goToPlace({ start: place.start, play: [...place.play, ...play] });
  } catch (error) {
    toast(words(error));
  }
}

export function lastChoice() {
  withView(({ choice }) => {
    if (choice) goTo(choice.ply);
    else toast("No choice before this position");
  });
}
