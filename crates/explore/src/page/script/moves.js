// Moves made on the board: by drag, by two clicks, by keyboard; and the piece that a pawn becomes.

import { here, state } from "./state.js";
import { announce, byId, el } from "./dom.js";
import { board, centre, FILES, legalFrom, movesBetween, pieceImage, PIECES, squareAt } from "./board.js";
import { playMove, withView } from "./steps.js";
import { clearMarks } from "./marks.js";
/** @import { LegalMove } from "./state.js" */

/** A piece that is held. @type {{from: string, image: SVGElement, pointer: number, x: number, y: number, dragged: boolean, again: boolean} | null} */
let held = null;

/** Plays the move between two squares, if there is one; asks for the piece first. @param {string} from @param {string} to */
function tryMove(from, to) {
  const found = movesBetween(from, to);
  const [first] = found;
  if (!first) return false;
  if (first.promotion) choosePromotion(found);
  else playMove(here(), first);
  return true;
}

/** Takes up or puts down at a square, as a click does. @param {string} square */
function pick(square) {
  if (board.selected && board.selected !== square && tryMove(board.selected, square)) return;
  board.select(square !== board.selected && legalFrom(square).length > 0 ? square : null);
}

/** @param {PointerEvent} event */
function onPointerDown(event) {
  if (event.button !== 0 || held) return;
  const square = squareAt(event.clientX, event.clientY);
  if (!square) return;
  closePromotion();
  clearMarks();
  if (document.activeElement instanceof HTMLElement && document.activeElement !== document.body) document.activeElement.blur();
  board.moveCursor(square, false);
  const image = board.cell(square).querySelector(".piece");
  if (board.selected && board.selected !== square && tryMove(board.selected, square)) return;
  if (!(image instanceof SVGElement) || legalFrom(square).length === 0) {
    board.select(null);
    return;
  }
  const again = board.selected === square;
  board.select(square);
  held = { from: square, image, pointer: event.pointerId, x: event.clientX, y: event.clientY, dragged: false, again };
  byId("squares").setPointerCapture(event.pointerId);
}

/** Whether what is held is in hand: P@. */
function isInHand() {
  return held?.from.endsWith("@") ?? false;
}

/** A piece in hand: a click on it chooses it, and a drag puts it down. @param {PointerEvent} event */
function onHandDown(event) {
  const button = event.target instanceof Element ? event.target.closest("button[data-drop]:enabled") : null;
  const image = button?.querySelector(".piece");
  const from = button?.getAttribute("data-drop");
  if (event.button !== 0 || held || !from || !(image instanceof SVGElement)) return;
  held = { from, image, pointer: event.pointerId, x: event.clientX, y: event.clientY, dragged: false, again: false };
}

/** @param {PointerEvent} event */
function onPointerMove(event) {
  if (!held || event.pointerId !== held.pointer) return;
  if (!held.dragged && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 4) return;
  if (!held.dragged && isInHand()) {
    closePromotion();
    clearMarks();
    board.select(held.from);
    // From here on it is no click.
    byId("hands").setPointerCapture(held.pointer);
  }
  held.dragged = true;
  held.image.classList.add("held");
  const box = isInHand() ? { left: held.x, top: held.y, width: 0, height: 0 } : board.cell(held.from).getBoundingClientRect();
  const x = event.clientX - box.left - box.width / 2;
  const y = event.clientY - box.top - box.height / 2;
  held.image.style.transform = `translate(${x}px, ${y}px)`;
  hover(squareAt(event.clientX, event.clientY));
}

/** @param {PointerEvent} event */
function onPointerUp(event) {
  if (!held || event.pointerId !== held.pointer) return;
  const { from, image, dragged, again } = held;
  const wasInHand = isInHand();
  const to = squareAt(event.clientX, event.clientY);
  release();
  if (!dragged) {
    if (again) board.select(null);
    return;
  }
  const [move] = to && to !== from ? movesBetween(from, to) : [];
  if (!to || !move) {
    board.select(null);
    return;
  }
  if (move.promotion) {
    tryMove(from, to);
    return;
  }
  if (!wasInHand) {
    // It is put down where it was dropped, and does not slide there.
    image.remove();
    const piece = board.pieces.get(from);
    board.put(from, null);
    if (piece) board.put(move.to, piece);
  }
  board.select(null);
  playMove(here(), move);
}

function release() {
  if (!held) return;
  held.image.classList.remove("held");
  held.image.style.transform = "";
  held = null;
  hover(null);
}

/** The target under a held piece. @param {string | null} square */
function hover(square) {
  for (const [name, cell] of board.cells) cell.classList.toggle("over", name === square && cell.classList.contains("target"));
}

// Promotion.

/** @param {LegalMove[]} found The same move with each piece. */
function choosePromotion(found) {
  closePromotion();
  const [first] = found;
  if (!first) return;
  const place = here();
  const [x, y] = centre(first.to);
  const white = state.view?.turn === "white";
  const choices = ["q", "n", "r", "b", "k"].flatMap((letter) => found.filter((move) => move.promotion === letter));
  const buttons = choices.map((move) => {
    const letter = move.promotion ?? "q";
    const name = PIECES[letter] ?? "";
    return el("button", { type: "button", class: "square", "aria-label": name, title: name, onclick: () => {
      closePromotion();
      playMove(place, move);
    } }, pieceImage(white ? letter.toUpperCase() : letter));
  });
  const chooser = el("div", { id: "promotion", role: "dialog", "aria-modal": "true", "aria-label": "Promote to", onkeydown: onPromotionKey }, ...buttons);
  chooser.style.left = `${(x - 50) / 8}%`;
  chooser.style[y < 400 ? "top" : "bottom"] = "0";
  byId("board").append(chooser);
  buttons[0]?.focus();
}

/** @param {KeyboardEvent} event */
function onPromotionKey(event) {
  const buttons = [...byId("promotion").querySelectorAll("button")];
  const here = buttons.findIndex((button) => button === document.activeElement);
  // Tab stays within as long as the choice is not made.
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Tab: event.shiftKey ? -1 : 1 }[event.key];
  if (event.key === "Escape") {
    closePromotion();
    board.select(null);
    board.cell(board.cursor).focus();
  } else if (step) {
    buttons[(here + step + buttons.length) % buttons.length]?.focus();
  } else if (/^[qrbnk]$/i.test(event.key)) {
    buttons.find((button) => button.title === PIECES[event.key.toLowerCase()])?.click();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

export function closePromotion() {
  document.getElementById("promotion")?.remove();
}

// The keyboard on the board: arrows go from square to square, Enter or Space takes up and puts down.

/** @param {KeyboardEvent} event */
function onBoardKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const steps = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
  });
  const step = steps[event.key];
  if (step) {
    const turn = state.flipped ? -1 : 1;
    const file = FILES.indexOf(board.cursor[0] ?? "a") + turn * step[0];
    const rank = Number(board.cursor[1]) + turn * step[1];
    if (file >= 0 && file < 8 && rank >= 1 && rank <= 8) board.moveCursor(`${FILES[file]}${rank}`);
  } else if (event.key === "Enter" || event.key === " ") {
    const square = board.cursor;
    withView(() => {
      const before = board.selected;
      pick(square);
      if (board.selected && board.selected !== before) {
        const targets = legalFrom(board.selected).map((move) => move.to);
        announce(`${board.cell(board.selected).getAttribute("aria-label")}: ${[...new Set(targets)].join(", ")}`);
      }
    });
  } else if (event.key === "Escape" && board.selected) {
    board.select(null);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

export function listenToBoard() {
  const squares = byId("squares");
  squares.addEventListener("pointerdown", onPointerDown);
  byId("hands").addEventListener("pointerdown", onHandDown);
  // The first move of a drag may be far from where it began.
  document.addEventListener("pointermove", onPointerMove);
  document.addEventListener("pointerup", onPointerUp);
  document.addEventListener("pointercancel", (event) => {
    if (event.pointerId !== held?.pointer) return;
    release();
    board.select(null);
  });
  document.addEventListener("pointerdown", (event) => {
    // What happens on the board the board sees to.
    if (!document.getElementById("promotion") || (event.target instanceof Element && event.target.closest("#board"))) return;
    closePromotion();
    board.select(null);
  });
  // The focus does not follow the mouse onto the board, so that the arrow keys go on stepping through the line.
  squares.addEventListener("mousedown", (event) => event.preventDefault());
  squares.addEventListener("keydown", onBoardKey);
  // A screen reader presses what it reads without a pointer.
  squares.addEventListener("click", (event) => {
    if (event.detail !== 0 || !(event.target instanceof Element)) return;
    const square = event.target.closest("[data-square]")?.getAttribute("data-square");
    if (square) pick(square);
  });
}
