// The beginning: builds what is always there, listens, and shows the first position.

import { booksHere, current, first, keep, kept, memory, startOf, state, usualVariant, variants } from "./state.js";
import { byId, dialogs, el, focusOn, listenToDialogs, listenToPresses, openDialog, renew } from "./dom.js";
import { connection, getJson, latest, postJson, session, words } from "./net.js";
import { board, piecesOf } from "./board.js";
import { announceAgain, followAddress, followHistory, goTo, goToPlace, goToStart, lastChoice, nextChoice, refresh, rememberDialog, showProblem, steps } from "./steps.js";
import { forgetElsewhere, tables } from "./tables.js";
import { closeField, editor, listenToLeaving } from "./edit.js";
import { closeLooks } from "./additions.js";
import { arrows } from "./arrows.js";
import { drawMarks, listenToMarks } from "./marks.js";
import { closeWays, forward, renewWays } from "./ways.js";
import { closePromotion, listenToBoard } from "./moves.js";
import { copyFen, copyPgn, drawLine, drawOpening } from "./line.js";
import { drawGames, drawPlayers, followGames, listenToGames } from "./games.js";
import { drawFilters, listenToFilters } from "./filters.js";
import { drawNotice } from "./facts.js";
import { engine, listenToEngine } from "./engine.js";
import { drawGrowth } from "./growth.js";
import { drawGapsForm, listenToGaps } from "./gaps.js";
import { listenToView } from "./view.js";
import { drawTables, listenToTables } from "./table.js";
import { buildPolicy, drawPolicy } from "./policy.js";
import { listenToSearch, openSearch } from "./search.js";
import { listenToSetup, openSetup } from "./setup.js";
import { keptTheme, listenToSettings, setTheme } from "./settings.js";
import { listenToKeys, listenToToolbar } from "./keys.js";
/** @import { Books } from "./state.js" */

/** The books at the top, each of which can be hidden. */
function drawChips() {
  const books = booksHere();
  renew(byId("books"), books.map((book) => {
    const text = el("span", {}, book.name);
    const kind = book.edit ? "chip editable" : "chip";
    const title = [book.path, ...(book.edit?.whole ? ["each edit writes the whole file"] : []), ...book.warnings, book.error].filter(Boolean).join("\n");
    if (books.length === 1) return el("span", { class: kind, title }, text);
    return el("button", { type: "button", class: kind, title, "aria-pressed": String(!state.hidden.has(book.id)), "data-focus": `chip ${book.id}`, onclick: () => {
      if (!state.hidden.delete(book.id)) state.hidden.add(book.id);
      keep("hidden", JSON.stringify(state.books?.books.filter(({ id }) => state.hidden.has(id)).map(({ path }) => path)));
      drawChips();
      focusOn(document.querySelector(`[data-focus="chip ${book.id}"]`));
      announceAgain();
      refresh();
    } }, text);
  }));
  const warnings = books.flatMap((book) => [...book.warnings, ...(book.error ? [book.error] : [])].map((text) => ({ book, text })));
  byId("warnings").replaceChildren(...warnings.map(({ text }) => el("li", {}, text)));
}

/** The choice of the variant, where some books are not of standard chess. */
function drawVariants() {
  byId("variants").hidden = !state.books?.variants;
  const choice = /** @type {HTMLSelectElement} */ (byId("variant"));
  choice.disabled = variants().length < 2;
  choice.replaceChildren(...variants().map(({ name, title }) => el("option", { value: name }, title)));
  choice.value = state.variant;
}

/** Hides the books that were hidden before, unless these are all. @param {Books} books */
function hideAgain({ books }) {
  let paths;
  try {
    paths = JSON.parse(kept("hidden") ?? "[]");
  } catch {
    return;
  }
  const hidden = Array.isArray(paths) ? books.filter(({ path }) => paths.includes(path)) : [];
  if (hidden.length < books.length) for (const { id } of hidden) state.hidden.add(id);
}

/** @param {Books} books */
function takeBooks(books) {
  const paths = (/** @type {Books | null} */ some) => some?.books.map(({ path }) => path).join("\n");
  if (paths(books) !== paths(state.books)) {
    // The numbers of the books mean other books now.
    for (const kept of [state.hidden, tables.notes, tables.orders, tables.rows, tables.unfolded, editor.forms]) kept.clear();
    hideAgain(books);
  }
  state.books = books;
  drawFilters();
  byId("open-settings").hidden = !books.settings;
  drawVariants();
  drawChips();
  drawPolicy();
  drawGrowth();
  drawGapsForm();
  listenToEngine();
}

/** After a book has changed or the server was away: the books may be others, or have other warnings. */
const comeBack = latest(
  (signal) => getJson("/api/books", { signal }),
  (/** @type {Books} */ books) => {
    if (JSON.stringify(books) !== JSON.stringify(state.books)) takeBooks(books);
    // An address that could not be read is read now.
    if (history.state?.line) refresh();
    else void followAddress();
  },
  (error) => {
    if (connection.away) return;
    showProblem(words(error));
  },
);

/** What a step does besides itself. */
function listenToSteps() {
  steps.onLeave = () => {
    closeField();
    closeLooks();
    closePromotion();
    closeWays();
    board.select(null);
  };
  steps.onVariant = () => {
    drawVariants();
    drawChips();
    drawGames();
    drawGapsForm();
  };
  steps.onFilters = () => {
    drawFilters();
    followGames();
  };
  steps.onPlace = () => {
    forgetElsewhere();
    board.foresee();
    byId("tables").setAttribute("aria-busy", String(current() === null));
    drawLine();
    drawPlayers();
    engine.redraw();
  };
  steps.onView = (view, fresh) => {
    board.show(view);
    drawOpening(view);
    drawNotice();
    arrows.pointed = null;
    renewWays(view, fresh);
    drawLine();
    tables.redraw();
    drawMarks();
    drawGrowth();
    byId("tables").setAttribute("aria-busy", "false");
    if (!fresh) return;
    engine.follow();
    followGames();
  };
  tables.redraw = () => {
    drawTables();
    arrows.draw();
  };
  board.onFlip = () => {
    arrows.draw();
    drawMarks();
    engine.drawBalance();
  };
}

async function main() {
  state.variant = usualVariant();
  state.start = startOf();
  setTheme(keptTheme());
  listenToSteps();
  listenToPresses();
  listenToLeaving();
  listenToDialogs();
  board.build();
  for (const [square, piece] of piecesOf(state.start)) board.put(square, piece);
  listenToBoard();
  listenToTables();
  listenToKeys();
  listenToSearch();
  listenToSettings();
  listenToView();
  listenToGames();
  listenToGaps();
  listenToFilters();
  listenToMarks();
  listenToSetup();
  listenToToolbar();
  const wide = matchMedia("(min-width: 56.25rem)");
  if (wide.matches) byId("policy").setAttribute("open", "");
  const clicks = /** @type {[string, () => void][]} */ ([
    ["first", () => goTo(0)], ["back", () => goTo(state.ply - 1)], ["forward", () => forward()], ["last", () => goTo(Infinity)],
    ["flip", () => board.flip()], ["to-start", goToStart], ["next-choice", () => void nextChoice()], ["last-choice", lastChoice],
    ["copy-fen", copyFen], ["copy-pgn", () => void copyPgn()], ["open-setup", openSetup], ["open-search", openSearch], ["open-keys", () => openDialog("keys")],
  ]);
  for (const [id, action] of clicks) byId(id).addEventListener("click", action);
  byId("variant").addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement) goToPlace({ variant: target.value, start: startOf(target.value), play: [] });
  });
  addEventListener("popstate", followHistory);
  dialogs.onOpen = rememberDialog;
  addEventListener("pagehide", () => {
    engine.close();
    connection.close();
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    connection.follow();
    comeBack();
  });
  document.addEventListener("visibilitychange", () => connection.follow());
  // Where it cannot be written, the browser alone remembers it.
  memory.onKeep = (name, value) => void postJson("/api/kept", { set: { [name]: value } }).catch(() => {});
  session.begin(first.key);
  connection.onChanged = comeBack;
  connection.onBack = () => {
    announceAgain();
    comeBack();
  };
  connection.changes = first.changes;
  connection.follow();
  hideAgain(first.books);
  state.books = first.books;
  buildPolicy();
  takeBooks(first.books);
  drawGames();
  await followAddress(first.view);
}

void main();
