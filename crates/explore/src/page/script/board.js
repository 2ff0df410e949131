// The board: squares, pieces, and what is marked on them. It knows no rules: the moves come with the view.

import { current, state } from "./state.js";
import { announce, byId, el, renew, svg } from "./dom.js";
/** @import { LegalMove, View } from "./state.js" */

export const FILES = "abcdefgh";

/** @type {Record<string, string>} */
export const PIECES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

export const board = {
  /** @type {Map<string, HTMLElement>} */
  cells: new Map(),
  /** @type {Map<string, string>} The piece on each square, as in a FEN. */
  pieces: new Map(),
  /** The square that the keyboard is on. */
  cursor: "e2",
  /** @type {string | null} */
  selected: null,
  fen: "",
  /** After the board was turned. */
  onFlip() {},

  /** Makes the 64 squares in the order in which they are seen. */
  build() {
    const root = byId("squares");
    const holdsFocus = root.contains(document.activeElement);
    const ranks = state.flipped ? [1, 2, 3, 4, 5, 6, 7, 8] : [8, 7, 6, 5, 4, 3, 2, 1];
    const files = state.flipped ? [...FILES].reverse() : [...FILES];
    this.cells.clear();
    root.replaceChildren(...ranks.map((rank) => el("div", { role: "row" }, ...files.map((file) => {
      const square = `${file}${rank}`;
      const dark = (FILES.indexOf(file) + rank) % 2 === 1;
      const cell = el("div", { role: "gridcell", class: dark ? "square dark" : "square", tabindex: -1, "data-square": square });
      this.cells.set(square, cell);
      return cell;
    }))));
    // Letters and digits are above the squares, whose names a screen reader takes from elsewhere.
    const shade = (/** @type {number} */ file, /** @type {number} */ rank) => (file + rank) % 2 === 1 ? "on-dark" : "on-light";
    byId("coordinates").replaceChildren(
      ...ranks.map((rank) => el("span", { class: `rank ${shade(state.flipped ? 7 : 0, rank)}` }, String(rank))),
      ...files.map((file) => el("span", { class: `file ${shade(FILES.indexOf(file), state.flipped ? 8 : 1)}` }, file)));
    const pieces = this.pieces;
    this.pieces = new Map();
    for (const [square, piece] of pieces) this.put(square, piece);
    this.cell(this.cursor).tabIndex = 0;
    if (holdsFocus) this.cell(this.cursor).focus();
  },

  /** @param {string} square @returns {HTMLElement} */
  cell(square) {
    const cell = this.cells.get(square);
    if (!cell) throw new Error(`there is no square ${square}`);
    return cell;
  },

  /** @param {string} square @param {string | null} piece */
  put(square, piece) {
    const cell = this.cell(square);
    cell.querySelector(".piece")?.remove();
    this.pieces.delete(square);
    if (piece) {
      cell.append(pieceImage(piece));
      this.pieces.set(square, piece);
    }
    cell.setAttribute("aria-label", piece ? `${square}, ${pieceName(piece)}` : square);
  },

  /** Puts these pieces on the board. Those that have moved slide, unless they were dragged there. @param {Map<string, string>} next */
  place(next) {
    /** @type {[string, string][]} */
    const left = [];
    for (const [square, piece] of this.pieces) if (next.get(square) !== piece) left.push([square, piece]);
    for (const [square] of left) this.put(square, null);
    for (const [square, piece] of next) {
      if (this.pieces.get(square) === piece) continue;
      this.put(square, piece);
      const origin = left.findIndex(([, gone]) => gone === piece);
      if (origin >= 0) slide(this.cell(square), this.cell(/** @type {[string, string]} */ (left[origin])[0]));
      if (origin >= 0) left.splice(origin, 1);
    }
  },

  /** Shows a position. @param {View} view */
  show(view) {
    this.place(piecesOf(view.fen));
    this.fen = view.fen;
    drawHands(view);
    this.select(null);
    this.mark(view);
  },

  /**
   * Shows the place on the board as far as it is known before the server has answered: the positions that were seen, and what a move does to these.
   * The answer puts right whatever else it does.
   */
  foresee() {
    const { line, ply, start } = state;
    const [last, before] = [line[ply - 1], line[ply - 2]];
    const known = ply === 0 ? start : last?.fen;
    const from = ply === 1 ? start : before?.fen;
    if (known) this.place(piecesOf(known));
    else if (last && from) this.place(piecesAfter(piecesOf(from), last.uci, from.split(" ")[1] !== "b"));
    else return;
    this.markMove(last?.uci ?? "");
  },

  /** The last move and check. @param {View} view */
  mark(view) {
    const king = view.turn === "white" ? "K" : "k";
    this.markMove(view.line.at(-1)?.uci ?? "");
    for (const [square, cell] of this.cells) cell.classList.toggle("check", view.check && this.pieces.get(square) === king);
  },

  /** @param {string} last In UCI. */
  markMove(last) {
    for (const [square, cell] of this.cells) {
      cell.classList.toggle("last", last !== "" && (square === last.slice(0, 2) || square === last.slice(2, 4)));
      cell.classList.remove("check");
    }
  },

  /** @param {string | null} square The square whose moves are shown; P@ for a pawn in hand. */
  select(square) {
    this.selected = square;
    const targets = square ? legalFrom(square).flatMap(targetsOf) : [];
    for (const [name, cell] of this.cells) {
      const chosen = name === square;
      const target = targets.includes(name);
      cell.classList.toggle("selected", chosen);
      cell.classList.toggle("target", target);
      cell.classList.toggle("taken", target && this.pieces.has(name));
      if (chosen) cell.setAttribute("aria-selected", "true");
      else cell.removeAttribute("aria-selected");
    }
    for (const button of byId("hands").querySelectorAll("[data-drop]")) button.setAttribute("aria-pressed", String(button.getAttribute("data-drop") === square));
  },

  /** Moves the keyboard's square. @param {string} square @param {boolean} [focus] */
  moveCursor(square, focus = true) {
    this.cell(this.cursor).tabIndex = -1;
    this.cursor = square;
    this.cell(square).tabIndex = 0;
    if (focus) this.cell(square).focus();
  },

  flip() {
    state.flipped = !state.flipped;
    this.build();
    if (state.view) {
      this.mark(state.view);
      drawHands(state.view);
    }
    this.onFlip();
    announce(`${state.flipped ? "Black" : "White"} is at the bottom.`);
  },
};

/** @param {string} fen @returns {Map<string, string>} */
export function piecesOf(fen) {
  /** @type {Map<string, string>} */
  const pieces = new Map();
  // What is in hand comes after the board, and ~ after a piece that was a pawn.
  const rows = (fen.split(" ")[0] ?? "").replace(/\[.*/, "").split("/").slice(0, 8);
  rows.forEach((row, index) => {
    let file = 0;
    for (const [letter] of row.matchAll(/.~?/g)) {
      if (/\d/.test(letter)) {
        file += Number(letter);
      } else {
        pieces.set(`${FILES[file]}${8 - index}`, letter);
        file += 1;
      }
    }
  });
  return pieces;
}

/** The pieces after a move. @param {Map<string, string>} pieces @param {string} uci @param {boolean} isWhites @returns {Map<string, string>} */
function piecesAfter(pieces, uci, isWhites) {
  const next = new Map(pieces);
  const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
  const own = (/** @type {string} */ letter) => isWhites ? letter.toUpperCase() : letter.toLowerCase();
  if (uci[1] === "@") return next.set(to, own(uci[0] ?? "P"));
  const piece = pieces.get(from);
  if (!piece) return next;
  const files = FILES.indexOf(to[0] ?? "a") - FILES.indexOf(from[0] ?? "a");
  next.delete(from);
  if (piece === own("k") && (pieces.get(to) === own("r") || Math.abs(files) > 1)) {
    const rank = from[1];
    const outer = files > 0 ? [...FILES].reverse() : [...FILES];
    const rook = pieces.get(to) === own("r") ? to : `${outer.find((file) => pieces.get(`${file}${rank}`) === own("r"))}${rank}`;
    next.delete(rook);
    return next.set(`${files > 0 ? "g" : "c"}${rank}`, piece).set(`${files > 0 ? "f" : "d"}${rank}`, own("r"));
  }
  // En passant.
  if (piece === own("p") && files !== 0 && !pieces.has(to)) next.delete(`${to[0]}${from[1]}`);
  return next.set(to, uci[4] ? own(uci[4]) : piece);
}

/** @param {string} piece @returns {boolean} */
function isWhite(piece) {
  return piece === piece.toUpperCase();
}

/** Its letter in PIECES. @param {string} piece */
function kindOfPiece(piece) {
  return (piece[0] ?? "").toLowerCase();
}

/** @param {string} piece @returns {string} */
export function pieceName(piece) {
  return `${isWhite(piece) ? "white" : "black"} ${PIECES[kindOfPiece(piece)]}${piece.endsWith("~") ? ", once a pawn" : ""}`;
}

/** @param {string} piece @returns {SVGElement} */
export function pieceImage(piece) {
  const image = svg("svg", { class: `piece ${isWhite(piece) ? "white" : "black"}`, viewBox: "0 0 45 45", "aria-hidden": "true" });
  image.append(svg("use", { href: `#piece-${PIECES[kindOfPiece(piece)]}` }));
  if (piece.endsWith("~")) image.append(svg("circle", { class: "promoted", cx: 39, cy: 39, r: 3.5 }));
  return image;
}

/** What a side has besides the board: pieces in hand, or the checks that it has given. @param {View} view */
function drawHands(view) {
  const held = /\[(.*)\]/.exec(view.fen)?.[1];
  const checks = / (\d)\+(\d) /.exec(view.fen);
  const sides = /** @type {("white" | "black")[]} */ (state.flipped ? ["white", "black"] : ["black", "white"]);
  const nodes = sides.flatMap((side) => {
    const name = side === "white" ? "White" : "Black";
    if (checks) return [el("span", { "data-focus": `hand ${side}` }, `${name}: ${3 - Number(checks[side === "white" ? 1 : 2])} of 3 checks`)];
    return held === undefined ? [] : [el("div", { role: "group", "aria-label": `${name} in hand`, "data-focus": `hand ${side}` }, el("span", { class: "quiet" }, name), ...handOf(held, side, view))];
  });
  byId("hands").hidden = nodes.length === 0;
  renew(byId("hands"), nodes);
}

/** The pieces in hand of a side, as buttons. @param {string} held @param {"white" | "black"} side @param {View} view @returns {HTMLElement[]} */
function handOf(held, side, view) {
  return [..."PNBRQ"].flatMap((letter) => {
    const piece = side === "white" ? letter : letter.toLowerCase();
    const count = [...held].filter((other) => other === piece).length;
    const drop = `${letter}@`;
    const off = view.turn !== side || !view.legal.some(({ from }) => from === drop);
    return count === 0 ? [] : [el("button", {
      type: "button", class: "hand", "data-focus": `hand ${piece}`, "data-drop": view.turn === side ? drop : null, "aria-pressed": "false", disabled: off,
      "aria-label": `${pieceName(piece)}, ${count} in hand`, onclick: (/** @type {MouseEvent} */ event) => takeFromHand(drop, piece, event),
    }, pieceImage(piece), el("span", { "aria-hidden": "true" }, String(count)))];
  });
}

/** Chooses a piece in hand, or lets go of it. @param {string} drop @param {string} piece @param {MouseEvent} event */
function takeFromHand(drop, piece, event) {
  board.select(board.selected === drop ? null : drop);
  if (!board.selected) return;
  announce(`${pieceName(piece)}: choose a square.`);
  // By keyboard the square comes next.
  if (event.detail === 0) board.cell(board.cursor).focus();
}

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {HTMLElement} to @param {HTMLElement} from */
function slide(to, from) {
  const image = to.querySelector(".piece");
  if (!image || calm.matches) return;
  const a = from.getBoundingClientRect();
  const b = to.getBoundingClientRect();
  image.animate([{ transform: `translate(${a.left - b.left}px, ${a.top - b.top}px)` }, { transform: "none" }],
    { duration: 120, easing: "ease-out" });
}

/** Where a square's middle is on the board, in eighths of a hundred. @param {string} square @returns {[number, number]} */
export function centre(square) {
  const file = FILES.indexOf(square[0] ?? "a");
  const rank = Number(square[1]) - 1;
  return state.flipped ? [750 - 100 * file, 50 + 100 * rank] : [50 + 100 * file, 750 - 100 * rank];
}

/** Where a move may be dropped: castling also on the rook. @param {LegalMove} move @returns {string[]} */
function targetsOf(move) {
  const rank = move.from[1];
  const king = (board.pieces.get(move.from) ?? "").toLowerCase() === "k";
  if (king && move.san.startsWith("O-O")) {
    const long = move.san.startsWith("O-O-O");
    const rook = (long ? FILES : [...FILES].reverse().join("")).split("").find((file) => {
      const piece = board.pieces.get(`${file}${rank}`);
      return piece && piece.toLowerCase() === "r" && isWhite(piece) === (rank === "1");
    });
    return [...new Set([move.to, `${rook ?? move.to[0]}${rank}`])];
  }
  return [move.to];
}

/** The legal moves of the piece on this square. @param {string} square @returns {LegalMove[]} */
export function legalFrom(square) {
  return (current()?.legal ?? []).filter((move) => move.from === square);
}

/** The legal moves between two squares: several if a pawn becomes a piece. @param {string} from @param {string} to */
export function movesBetween(from, to) {
  return legalFrom(from).filter((move) => targetsOf(move).includes(to));
}

/** The square at a point of the window. @param {number} x @param {number} y @returns {string | null} */
export function squareAt(x, y) {
  const box = byId("squares").getBoundingClientRect();
  const column = Math.floor(((x - box.left) / box.width) * 8);
  const row = Math.floor(((y - box.top) / box.height) * 8);
  if (column < 0 || column > 7 || row < 0 || row > 7) return null;
  return state.flipped ? `${FILES[7 - column]}${row + 1}` : `${FILES[column]}${8 - row}`;
}
