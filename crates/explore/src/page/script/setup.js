// Setting up a position: pieces put on a board of its own, whose turn it is, castling and en passant.

import { current, nameVariant, startOf, state } from "./state.js";
import { byId, closeDialog, el, focusOn, openDialog, svg } from "./dom.js";
import { getJson, latest, words } from "./net.js";
import { FILES, pieceImage, pieceName, PIECES, piecesOf } from "./board.js";
import { goToPlace } from "./steps.js";
/** @import { Place } from "./state.js" */

/** The squares of rooks and kings that may castle, by the letter in a FEN. @type {Record<string, [string, string, string]>} */
const CASTLING = { K: ["e1", "h1", "White O-O"], Q: ["e1", "a1", "White O-O-O"], k: ["e8", "h8", "Black O-O"], q: ["e8", "a8", "Black O-O-O"] };

/** What a click may do, in two rows: move a piece, put one, or take one away. */
const BRUSHES = ["move", ..."KQRBNP", "none", ..."kqrbnp"];

const setup = {
  /** @type {Map<string, string>} */
  pieces: new Map(),
  turn: "w",
  /** The letters of a FEN; those of Chess960 are kept as they are. */
  castling: "-",
  passant: "-",
  /** The pieces in hand, with their brackets. */
  hand: "",
  /** The last fields of the FEN. */
  counters: "0 1",
  brush: "move",
  /** The square of the piece that moves. @type {string | null} */
  picked: null,
  cursor: "e1",
  /** Where the position is legal, how requests name it. @type {Place | null} */
  legal: null,
};

/** @param {string} fen @param {boolean} [typed] Whether it is being typed: then its field stays as it is. */
function takeFen(fen, typed) {
  const [, turn, castling, passant, ...counters] = fen.trim().split(/[ _]+/);
  const pieces = new Map([...piecesOf(fen)].filter(([square, piece]) => /^[a-h][1-8]$/.test(square) && (piece[0] ?? "").toLowerCase() in PIECES));
  Object.assign(setup, { pieces, turn: turn === "b" ? "b" : "w", castling: castling || "-", passant: passant || "-", hand: handText(fen), counters: counters.length >= 2 ? counters.join(" ") : "0 1", picked: null });
  drawSetup(typed);
}

/** The pieces in hand of a FEN, with their brackets. @param {string} fen */
function handText(fen) {
  return /\[[^\]]*\]/.exec(fen)?.[0] ?? "";
}

/** Whether king and rook are where they castle from. @param {string} letter */
function mayCastle(letter) {
  const [king, rook] = CASTLING[letter] ?? ["", ""];
  return setup.pieces.get(king) === (letter < "a" ? "K" : "k") && setup.pieces.get(rook) === (letter < "a" ? "R" : "r");
}

/** The squares that a pawn may have passed just now, so that another can take it there. @returns {string[]} */
function passantSquares() {
  const white = setup.turn === "w";
  const [from, over, to] = white ? [7, 6, 5] : [2, 3, 4];
  const [pawn, taker] = white ? ["p", "P"] : ["P", "p"];
  return [...FILES].filter((file, index) => setup.pieces.get(`${file}${to}`) === pawn && !setup.pieces.has(`${file}${over}`) && !setup.pieces.has(`${file}${from}`)
    && [FILES[index - 1], FILES[index + 1]].some((beside) => setup.pieces.get(`${beside}${to}`) === taker)).map((file) => `${file}${over}`);
}

/** @returns {string} */
function setupFen() {
  const rows = [8, 7, 6, 5, 4, 3, 2, 1].map((rank) => [...FILES].map((file) => setup.pieces.get(`${file}${rank}`) ?? "1").join("").replace(/1+/g, (empty) => String(empty.length)));
  const castling = [...setup.castling].filter((letter) => !CASTLING[letter] || mayCastle(letter)).join("") || "-";
  const passant = passantSquares().includes(setup.passant) ? setup.passant : "-";
  return `${rows.join("/")}${setup.hand} ${setup.turn} ${castling} ${passant} ${setup.counters}`;
}

/** @returns {HTMLInputElement} */
function fenField() {
  return /** @type {HTMLInputElement} */ (byId("setup-fen"));
}

/** Asks whether what the field says is a legal position. */
const judge = latest(
  (signal) => {
    const query = new URLSearchParams({ text: fenField().value });
    nameVariant(query);
    return getJson(`/api/read?${query}`, { signal });
  },
  (/** @type {Place} */ place) => place.play.length > 0 ? showVerdict(null, "these are moves and no FEN") : showVerdict(place, ""),
  (error) => showVerdict(null, words(error).replace(/^this is not a position: /, "")),
);

/** @param {Place | null} legal @param {string} text */
function showVerdict(legal, text) {
  setup.legal = legal;
  byId("setup-words").textContent = text && `${text[0]?.toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, ".");
  byId("setup-use").toggleAttribute("disabled", !legal);
}

/** Draws what is set up, and asks whether it is legal. @param {boolean} [typed] */
function drawSetup(typed) {
  const root = byId("setup-board");
  const inside = root.contains(document.activeElement);
  const ranks = state.flipped ? [1, 2, 3, 4, 5, 6, 7, 8] : [8, 7, 6, 5, 4, 3, 2, 1];
  const files = state.flipped ? [...FILES].reverse() : [...FILES];
  root.replaceChildren(...ranks.map((rank) => el("div", { role: "row" }, ...files.map((file) => {
    const square = `${file}${rank}`;
    const piece = setup.pieces.get(square);
    const kinds = ["square", (FILES.indexOf(file) + rank) % 2 === 1 && "dark", square === setup.picked && "selected"].filter(Boolean).join(" ");
    return el("div", { role: "gridcell", class: kinds, tabindex: square === setup.cursor ? 0 : -1, "data-square": square, "aria-label": piece ? `${square}, ${pieceName(piece)}` : square,
      "aria-selected": square === setup.picked ? "true" : null }, piece && pieceImage(piece));
  }))));
  if (inside) focusOn(root.querySelector("[tabindex='0']"));
  byId("setup-pieces").replaceChildren(...BRUSHES.map((brush) => {
    const name = brush === "move" ? "move pieces" : brush === "none" ? "take pieces away" : pieceName(brush);
    const image = brush === "move" || brush === "none" ? svg("svg", {}, svg("use", { href: brush === "move" ? "#icon-move" : "#icon-remove" })) : pieceImage(brush);
    const on = brush === setup.brush;
    return el("button", { type: "button", role: "radio", class: "brush", "aria-checked": String(on), "aria-label": name, title: name, tabindex: on ? 0 : -1, "data-brush": brush, onclick: () => takeBrush(brush) }, image);
  }));
  byId("setup-white").setAttribute("aria-pressed", String(setup.turn === "w"));
  byId("setup-black").setAttribute("aria-pressed", String(setup.turn === "b"));
  byId("setup-castling").replaceChildren(...Object.entries(CASTLING).map(([letter, [, , name]]) => el("label", { class: "choice" },
    el("input", { type: "checkbox", checked: setup.castling.includes(letter) && mayCastle(letter), disabled: !mayCastle(letter), onchange: () => {
      const others = [...setup.castling.replace("-", "")].filter((other) => other !== letter);
      setup.castling = (setup.castling.includes(letter) ? others : [...others, letter]).sort().join("") || "-";
      judgeAnew();
    } }), name)));
  const squares = passantSquares();
  byId("setup-passant").replaceChildren(el("option", { value: "-" }, "none"), ...squares.map((square) => el("option", { value: square, selected: square === setup.passant }, square)));
  byId("setup-passant").toggleAttribute("disabled", squares.length === 0);
  judgeAnew(typed);
}

/** Until the answer is there, the position cannot be used. @param {boolean} [typed] */
function judgeAnew(typed) {
  if (!typed) fenField().value = setupFen();
  showVerdict(null, "");
  judge();
}

/** @param {string} brush */
function takeBrush(brush) {
  Object.assign(setup, { brush, picked: null });
  drawSetup();
  focusOn(byId("setup-pieces").querySelector("[aria-checked='true']"));
}

/** @param {string} square @param {string | null} piece */
function putPiece(square, piece) {
  if (piece) setup.pieces.set(square, piece);
  else setup.pieces.delete(square);
}

/** What a click on a square does. @param {string} square */
function touch(square) {
  const { brush, picked, pieces } = setup;
  setup.cursor = square;
  if (brush !== "move") putPiece(square, brush === "none" || pieces.get(square) === brush ? null : brush);
  else if (picked && picked !== square) movePiece(picked, square);
  else setup.picked = picked === square || !pieces.has(square) ? null : square;
  drawSetup();
}

/** Moves a piece; beside the board it is gone. @param {string} from @param {string | null} to */
function movePiece(from, to) {
  const piece = setup.pieces.get(from) ?? null;
  putPiece(from, null);
  if (to) putPiece(to, piece);
  setup.picked = null;
}

/** The square under a point of the window. @param {PointerEvent} event @returns {string | null} */
function squareUnder(event) {
  const node = document.elementFromPoint(event.clientX, event.clientY);
  return node?.closest("#setup-board [data-square]")?.getAttribute("data-square") ?? null;
}

function listenToSquares() {
  const root = byId("setup-board");
  /** Where the pointer was put down, and whether that took a piece up. @type {{pointer: number, from: string} | null} */
  let down = null;
  root.addEventListener("pointerdown", (event) => {
    const square = squareUnder(event);
    if (!square || event.button === 1) return;
    event.preventDefault();
    if (event.button === 2) {
      putPiece(square, null);
      setup.picked = null;
      drawSetup();
      return;
    }
    touch(square);
    if (setup.picked === square) down = { pointer: event.pointerId, from: square };
  });
  addEventListener("pointerup", (event) => {
    if (down?.pointer !== event.pointerId) return;
    const { from } = down;
    const to = squareUnder(event);
    down = null;
    if (to === from || setup.picked !== from) return;
    movePiece(from, to);
    drawSetup();
  });
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = /** @type {Record<string, [number, number]>} */ ({ ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] })[event.key];
    const turn = state.flipped ? -1 : 1;
    if (step) {
      const file = FILES[FILES.indexOf(setup.cursor[0] ?? "a") + turn * step[0]];
      const rank = Number(setup.cursor[1]) + turn * step[1];
      if (file && rank >= 1 && rank <= 8) setup.cursor = `${file}${rank}`;
      for (const cell of root.querySelectorAll("[data-square]")) if (cell instanceof HTMLElement) cell.tabIndex = cell.dataset["square"] === setup.cursor ? 0 : -1;
      focusOn(root.querySelector("[tabindex='0']"));
    } else if (event.key === "Enter" || event.key === " ") touch(setup.cursor);
    else if (/^[kqrbnp]$/i.test(event.key)) {
      putPiece(setup.cursor, event.key);
      drawSetup();
    } else if (event.key === "Delete" || event.key === "Backspace") {
      putPiece(setup.cursor, null);
      drawSetup();
    } else return;
    event.preventDefault();
  });
}

/** Begins with the position on the board. */
export function openSetup() {
  setup.brush = "move";
  takeFen(current()?.fen ?? state.view?.fen ?? startOf());
  openDialog("setup");
  focusOn(byId("setup-board").querySelector("[tabindex='0']"));
}

export function listenToSetup() {
  listenToSquares();
  byId("setup-pieces").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    takeBrush(BRUSHES[(BRUSHES.indexOf(setup.brush) + step + BRUSHES.length) % BRUSHES.length] ?? "move");
    event.preventDefault();
  });
  for (const [id, turn] of [["setup-white", "w"], ["setup-black", "b"]]) {
    byId(id ?? "").addEventListener("click", () => {
      setup.turn = turn ?? "w";
      drawSetup();
    });
  }
  byId("setup-start").addEventListener("click", () => takeFen(startOf()));
  byId("setup-clear").addEventListener("click", () => takeFen(`8/8/8/8/8/8/8/8${handText(startOf())} w - - ${startOf().split(" ").slice(4).join(" ")}`));
  const passant = byId("setup-passant");
  passant.addEventListener("change", () => {
    if (passant instanceof HTMLSelectElement) setup.passant = passant.value;
    judgeAnew();
  });
  fenField().addEventListener("input", () => takeFen(fenField().value, true));
  byId("setup-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const { legal } = setup;
    if (!legal) return;
    closeDialog("setup");
    goToPlace(legal);
  });
}
