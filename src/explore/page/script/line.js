// The line: playing moves, stepping through it, the address, and the question that each step asks the server.

/** Asks for the position; an answer that comes late is dropped. */
const refresh = latest(
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

/** @param {Place} place The place that was asked about. @param {View} view */
function take(place, view) {
  if (!isSame(place, here())) return;
  view.at = { ...place, fen: view.fen };
  // A server that is asked about no books answers about all.
  view.books = view.books.filter((book) => !state.hidden.has(book.id));
  for (const book of view.books) book.at = view.at;
  state.view = view;
  view.line.forEach((move, index) => (state.line[index] = { uci: move.uci, san: move.san }));
  if (history.state && state.trouble === "" && addressOf() !== location.hash) remember("replaceState");
  board.show(view);
  drawOpening(view);
  drawNotice();
  drawLine();
  drawTables();
  byId("tables").setAttribute("aria-busy", "false");
  arrows.pointed = null;
  arrows.draw();
  if (announced !== view.fen + view.line.length) {
    announced = view.fen + view.line.length;
    announce(spoken(view));
    engine.follow();
    followGames();
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
  const end = { checkmate: "checkmate", stalemate: "stalemate" }[view.end ?? ""] ?? view.end;
  const facts = [end ?? `${view.turn === "white" ? "White" : "Black"} to move${view.check ? ", check" : ""}`, view.opening?.name,
    [...held, ...unread].join(", ") || (end ? null : "no book knows the position")];
  return `${last ? `${last.san}. ` : ""}${facts.filter(Boolean).join(", ")}.`;
}

/** What a screen reader says. @param {string} text */
function announce(text) {
  byId("live").textContent = text;
}

/** A position that could not be shown, in words and with a way on. @param {string} text */
function showProblem(text) {
  const notice = byId("notice");
  notice.hidden = false;
  notice.replaceChildren(`${text} `, el("button", { type: "button", class: "link", onclick: refresh }, "Try again"),
    " · ", el("button", { type: "button", class: "link", onclick: () => goToPlace({ start: START, play: [] }) }, "Go to the start"));
  announce(text);
}

// Steps.

/** What waits for the view of the place on the board. @type {((view: View) => void)[]} */
let awaited = [];

/** Does something with the view of the place on the board, as soon as it is there. @param {(view: View) => void} act */
function withView(act) {
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

/** Plays the nth move of the first book. @param {number} number */
function playNumber(number) {
  withView((view) => {
    const move = firstMoves(view)[number - 1];
    if (move) playMove(view.at, move);
  });
}

/** Plays a move of a place, unless another is on the board by now. @param {Place} place @param {{uci: string, san: string}} move */
function playMove(place, { uci, san }) {
  if (!isSame(place, here())) return;
  const { start, line, ply } = state;
  const next = [...line.slice(0, ply), { uci, san }];
  // A line that was played before goes on as it did.
  const known = [line, ...state.branches].find((other) => startsWith(other, next));
  keepBranch(line);
  goToLine(start, known ?? next, ply + 1);
}

/** The most letters of variations in a request. */
const ADDRESS_ROOM = 4000;

/** Lines that are kept besides the one on the board. */
const BRANCHES = 50;

/** @param {typeof state.line} line @param {typeof state.line} start */
function startsWith(line, start) {
  return line.length >= start.length && start.every(({ uci }, index) => line[index]?.uci === uci);
}

/** Keeps a line, unless a longer one has all of it. @param {typeof state.line} line */
function keepBranch(line) {
  if (line.length === 0 || state.branches.some((other) => startsWith(other, line))) return;
  state.branches = [line, ...state.branches.filter((other) => !startsWith(line, other))].slice(0, BRANCHES);
}

function forgetBranches() {
  state.branches = [];
  drawLine();
}

/** @param {number} ply */
function goTo(ply) {
  const whole = state.branches.find((other) => startsWith(other, state.line)) ?? state.line;
  const there = Math.max(0, Math.min(whole.length, ply));
  if (there !== state.ply) goToLine(state.start, whole, there);
}

/** @param {Place} place */
function goToPlace({ start, play }) {
  state.branches = [];
  const known = start === state.start ? state.line : [];
  goToLine(start, play.map((uci, index) => known[index]?.uci === uci ? known[index] : { uci, san: null }), play.length);
}

/** A step of the line, and of the browser's history. @param {string} start @param {typeof state.line} line @param {number} ply */
function goToLine(start, line, ply) {
  show(start, line, ply, "");
  remember("pushState");
  refresh();
}

/**
 * Puts a place on the board; what was open or said of the place before is closed.
 * @param {string} start @param {typeof state.line} line @param {number} ply @param {string} trouble
 */
function show(start, line, ply, trouble) {
  closeField();
  closeLooks();
  closePromotion();
  board.select(null);
  awaited = [];
  if (start !== state.start) state.branches = [];
  Object.assign(state, { start, line, ply, trouble });
  const place = here();
  for (const [book, note] of tables.notes) if (!isSame(note.place, place)) tables.notes.delete(book);
  byId("tables").setAttribute("aria-busy", String(current() === null));
  drawLine();
}

/** @param {"pushState" | "replaceState"} how @param {string} [address] */
function remember(how, address = addressOf() || location.pathname) {
  const { start, line, ply, trouble } = state;
  history[how]({ start, line, ply, trouble }, "", address);
}

/** Takes the place from the history, or from the address if it was typed or shared. @param {View} [known] The usual start, which need not be asked for. */
async function followAddress(known) {
  const kept = history.state;
  if (kept?.line) show(kept.start, kept.line, kept.ply, kept.trouble);
  else if (!await readAddress(location.hash)) return;
  if (known && isSame(here(), { start: known.start, play: [] })) take(here(), known);
  else refresh();
}

/** @param {string} hash @returns {Promise<boolean>} Whether its place is on the board. */
async function readAddress(hash) {
  const { start, moves } = placeOf(hash);
  /** @type {Place} */
  let place = { start: START, play: [] };
  let trouble = "";
  // If its moves cannot be read, its start may be.
  for (const text of [moves.replaceAll(",", " "), start === START ? "" : start]) {
    if (text === "") continue;
    const query = new URLSearchParams({ text });
    if (start !== START && text !== start) query.set("start", start);
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
  if (trouble) trouble = `The address names no position: ${trouble}. This is ${place.start === START ? "the start" : "where its line begins"}.`;
  show(place.start, place.play.map((uci) => ({ uci, san: null })), place.play.length, trouble);
  state.branches = [];
  remember("replaceState", location.href);
  return true;
}

/** To the next position with a choice, along the likeliest moves. */
async function nextChoice() {
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

function lastChoice() {
  withView(({ choice }) => {
    if (choice) goTo(choice.ply);
    else toast("No choice before this position");
  });
}

// What is seen of it.

/** @param {View} view */
function drawOpening(view) {
  const { opening } = view;
  byId("opening").replaceChildren(...(opening ? [el("b", {}, opening.eco), ` ${opening.name}`] : []));
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

/** To a move of a line, which takes the place of the one on the board. @param {typeof state.line} line @param {number} ply */
function goToBranch(line, ply) {
  if (line !== state.line) keepBranch(state.line);
  goToLine(state.start, line, ply);
}

function drawLine() {
  const root = byId("line");
  const inside = root.contains(document.activeElement);
  // The longest line that the one on the board begins is what is ahead of it.
  const whole = state.branches.find((other) => startsWith(other, state.line)) ?? state.line;
  const nodes = branchNodes([whole, ...state.branches.filter((other) => other !== whole)], 0, true);
  if (state.branches.some((other) => !startsWith(state.line, other) && !startsWith(other, state.line))) {
    nodes.push(el("li", {}, el("button", { type: "button", class: "forget", "aria-label": "Forget the other lines", title: "Forget the other lines", tabindex: -1, onclick: forgetBranches }, "×")));
  }
  root.replaceChildren(...nodes);
  root.hidden = nodes.length === 0;
  const current = root.querySelector("[aria-current]") ?? root.querySelector("button");
  if (current instanceof HTMLElement) {
    current.tabIndex = 0;
    if (inside) focusOn(current);
    if (root.scrollWidth > root.clientWidth) root.scrollLeft = current.offsetLeft - root.clientWidth / 2;
  }
  const atStart = state.ply === 0;
  const atEnd = state.ply === whole.length;
  for (const [id, off] of /** @type {[string, boolean][]} */ ([["first", atStart], ["back", atStart], ["forward", atEnd], ["last", atEnd]])) {
    byId(id).setAttribute("aria-disabled", String(off));
  }
}

// Copies and sample games.

/** @param {string} text @param {string} what */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    showText(what, text);
  }
}

function copyFen() {
  withView((view) => void copy(view.fen, "FEN"));
}

async function copyPgn() {
  try {
    const query = queryOf({ start: state.start, play: state.line.map(({ uci }) => uci) });
    const others = state.branches.filter((other) => !startsWith(state.line, other)).map((other) => other.map(({ uci }) => uci).join());
    // An address has its limits.
    while (others.join(";").length > ADDRESS_ROOM) others.pop();
    if (others.length > 0) query.set("variations", others.join(";"));
    await copy(await (await request(`/api/pgn?${query}`)).text(), "PGN");
  } catch (error) {
    toast(words(error));
  }
}

/** @param {BookView} book */
async function openGame(book) {
  const query = queryOf(book.at);
  query.set("book", String(book.id));
  try {
    const text = await (await request(`/api/game?${query}`)).text();
    if (isSame(book.at, here())) showText("A game", text, () => void playText(text, book.at));
  } catch (error) {
    say(book.id, book.at, false, words(error));
  }
}

/** A text to read and to copy. @param {string} title @param {string} text @param {() => void} [play] Puts it on the board. */
function showText(title, text, play) {
  byId("text-play").hidden = !play;
  byId("text-play").onclick = () => {
    closeDialog("text");
    play?.();
  };
  byId("text-title").textContent = title;
  byId("text-body").textContent = text;
  byId("text-copy").onclick = () => void copy(text, title);
  openDialog("text");
}

/** @param {string} id */
function openDialog(id) {
  const dialog = byId(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}
