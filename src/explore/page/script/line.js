// The line: playing moves, stepping through it, the address, and the question that each step asks the server.

/** Asks for the position; an answer that comes late is dropped. */
const refresh = latest(
  (signal) => getJson(`/api/view?${question()}`, { signal }),
  (/** @type {View} */ view) => take(view),
  (error) => {
    if (error instanceof Refusal && error.code === "unreachable") return;
    showProblem(words(error));
  },
);

/** The place that was announced last: a new policy or an edit says nothing of the place. */
let announced = "";

/** @param {View} view */
function take(view) {
  if (!isCurrent(view)) return;
  // A server that is asked about no books answers about all.
  view.books = view.books.filter((book) => !state.hidden.has(book.id));
  state.view = view;
  view.line.forEach((move, index) => (state.line[index] = { uci: move.uci, san: move.san }));
  if (history.state && addressOf() !== location.hash) remember("replaceState");
  board.show(view);
  drawOpening(view);
  drawNotice();
  drawLine();
  drawTables();
  arrows.pointed = null;
  arrows.draw();
  if (announced !== view.fen + view.line.length) {
    announced = view.fen + view.line.length;
    announce(spoken(view));
    engine.follow();
  }
  if (awaited !== null) playNumber(awaited);
}

/** "c5. White to move, Sicilian Defense, 4 moves in main.bin." @param {View} view */
function spoken(view) {
  const last = view.line.at(-1);
  const books = view.books.filter((book) => book.found);
  const held = view.books.length === 1 ? books.map((book) => `${many(book.moves.length, "move")} in the book`)
    : books.map((book) => `${many(book.moves.length, "move")} in ${book.name}`);
  const end = { checkmate: "checkmate", stalemate: "stalemate" }[view.end ?? ""] ?? view.end;
  const facts = [end ?? `${view.turn === "white" ? "White" : "Black"} to move${view.check ? ", check" : ""}`, view.opening?.name,
    held.join(", ") || (end ? null : "no book knows the position")];
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
    " · ", el("button", { type: "button", class: "link", onclick: () => goToPlace(START, []) }, "Go to the start"));
  announce(text);
}

// Steps.

/** The number of a table's move that was asked for while the table was still that of another position. @type {number | null} */
let awaited = null;

/** Plays the nth move of the first book, as soon as its table is there. @param {number} number @returns {boolean} */
function playNumber(number) {
  const fresh = state.view !== null && isCurrent(state.view);
  awaited = fresh ? null : number;
  const move = fresh ? firstMoves()[number - 1] : undefined;
  if (move) playMove(move.uci, move.san);
  return !fresh || move !== undefined;
}

/** @param {string} uci @param {string} san */
function playMove(uci, san) {
  // What is still seen of the position before has no moves any more.
  if (!state.view || !isCurrent(state.view)) return;
  if (state.line[state.ply]?.uci !== uci) state.line = [...state.line.slice(0, state.ply), { uci, san }];
  step(state.ply + 1);
}

/** @param {number} ply */
function goTo(ply) {
  const there = Math.max(0, Math.min(state.line.length, ply));
  if (there !== state.ply) step(there);
}

/** @param {number} ply */
function step(ply) {
  state.ply = ply;
  awaited = null;
  remember("pushState");
  drawLine();
  refresh();
}

/** @param {string} start @param {string[]} play @param {number} [ply] */
function goToPlace(start, play, ply = play.length) {
  const same = start === state.start;
  const known = state.line;
  state.start = start;
  state.line = play.map((uci, index) => {
    const before = known[index];
    return before && same && before.uci === uci ? before : { uci, san: null };
  });
  step(ply);
}

/** @param {"pushState" | "replaceState"} how */
function remember(how) {
  const { start, line, ply } = state;
  history[how]({ start, line, ply }, "", addressOf() || location.pathname);
}

/** Takes the place from the history, or from the address if it was typed or shared. @param {View} [known] A position that need not be asked for. */
async function followAddress(known) {
  const kept = history.state;
  if (kept?.line) {
    state.start = kept.start;
    state.line = kept.line;
    state.ply = kept.ply;
  } else {
    const { start, moves } = placeOf(location.hash);
    let place = { start, play: /** @type {string[]} */ ([]) };
    try {
      if (moves !== "" || start !== START) {
        const query = new URLSearchParams({ text: moves.replaceAll(",", " ") || start });
        if (start !== START) query.set("start", start);
        place = await getJson(`/api/read?${query}`);
      }
    } catch (error) {
      showProblem(`The address names no position: ${words(error)}`);
      if (state.view) return;
    }
    state.start = place.start;
    state.line = place.play.map((uci) => ({ uci, san: null }));
    state.ply = place.play.length;
    history.replaceState({ start: state.start, line: state.line, ply: state.ply }, "");
  }
  drawLine();
  if (known && known.start === state.start && isCurrent(known)) take(known);
  else refresh();
}

/** To the next position with a choice, along the likeliest moves. */
async function nextChoice() {
  try {
    const { play } = await getJson(`/api/next?${question()}`);
    if (play.length === 0) toast("No choice further on");
    else goToPlace(state.start, [...played(), ...play]);
  } catch (error) {
    toast(words(error));
  }
}

function lastChoice() {
  const choice = state.view?.choice;
  if (choice) goTo(choice.ply);
  else toast("No choice before this position");
}

// What is seen of it.

/** @param {View} view */
function drawOpening(view) {
  const { opening } = view;
  byId("opening").replaceChildren(...(opening ? [el("b", {}, opening.eco), ` ${opening.name}`] : []));
  document.title = opening ? `${opening.name} · tabiya` : "tabiya";
}

function drawLine() {
  const root = byId("line");
  const inside = root.contains(document.activeElement);
  /** @type {Node[]} */
  const nodes = [];
  state.line.forEach((move, index) => {
    const { number, white } = moveNumber(index);
    const ply = index + 1;
    const button = el("button", {
      type: "button", class: ply > state.ply ? "ahead" : null, tabindex: -1,
      "aria-current": ply === state.ply ? "step" : null, onclick: () => goTo(ply),
    }, move.san ?? move.uci);
    nodes.push(el("li", {}, white || index === 0 ? el("span", { class: "number" }, white ? `${number}.` : `${number}…`) : null, button));
  });
  root.replaceChildren(...nodes);
  root.hidden = nodes.length === 0;
  const buttons = root.querySelectorAll("button");
  const current = buttons[Math.max(0, state.ply - 1)];
  if (current) {
    current.tabIndex = 0;
    if (inside) focusOn(current);
    if (root.scrollWidth > root.clientWidth) root.scrollLeft = current.offsetLeft - root.clientWidth / 2;
  }
  const atStart = state.ply === 0;
  const atEnd = state.ply === state.line.length;
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
  if (state.view) void copy(state.view.fen, "FEN");
}

async function copyPgn() {
  try {
    await copy(await (await request(`/api/pgn?${place()}`)).text(), "PGN");
  } catch (error) {
    toast(words(error));
  }
}

/** @param {BookView} book */
async function openGame(book) {
  const query = place();
  query.set("book", String(book.id));
  try {
    showText("A game", await (await request(`/api/game?${query}`)).text());
  } catch (error) {
    tables.notes.set(book.id, [words(error)]);
    drawTables();
  }
}

/** A text to read and to copy. @param {string} title @param {string} text */
function showText(title, text) {
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
