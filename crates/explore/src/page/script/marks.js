// Arrows and circles of one's own, drawn with the right button; each position keeps its own while the page is open.

import { current } from "./state.js";
import { byId, svg } from "./dom.js";
import { centre, squareAt } from "./board.js";
import { arrow } from "./arrows.js";

/** @typedef {{from: string, to: string, colour: string}} Mark A circle where it ends where it begins. */

/** @type {Map<string, Mark[]>} */
const byPosition = new Map();

/** The one that is being drawn. @type {Mark & {pointer: number} | null} */
let drawing = null;

/** What marks belong to: the position without its counters. */
function keyOfMarks() {
  return (current()?.fen ?? "").split(" ").slice(0, 4).join(" ");
}

/** The colours that Lichess has for these keys. @param {MouseEvent} event */
function colourOf(event) {
  const [shift, alt] = [event.shiftKey || event.ctrlKey, event.altKey || event.metaKey];
  return shift && alt ? "yellow" : shift ? "red" : alt ? "blue" : "green";
}

export function drawMarks() {
  const marks = byPosition.get(keyOfMarks()) ?? [];
  byId("marks").replaceChildren(...[...marks, ...(drawing ? [drawing] : [])].map(({ from, to, colour }) => {
    if (from !== to) return arrow(from + to, 0.45, `own ${colour}`);
    const [cx, cy] = centre(from);
    return svg("circle", { class: `own ${colour}`, "data-move": from, cx, cy, r: 45 });
  }));
}

/** Takes the marks of the position away, as a click on the board does. */
export function clearMarks() {
  if (byPosition.delete(keyOfMarks())) drawMarks();
}

/** A mark is drawn again to take it away; in another colour it changes its colour. @param {Mark} mark */
function turnMark({ from, to, colour }) {
  const marks = byPosition.get(keyOfMarks()) ?? [];
  const others = marks.filter((mark) => mark.from !== from || mark.to !== to);
  const same = marks.some((mark) => mark.from === from && mark.to === to && mark.colour === colour);
  byPosition.set(keyOfMarks(), same ? others : [...others, { from, to, colour }]);
}

export function listenToMarks() {
  const squares = byId("squares");
  squares.addEventListener("pointerdown", (event) => {
    const square = squareAt(event.clientX, event.clientY);
    if (event.button !== 2 || !square || !current()) return;
    drawing = { from: square, to: square, colour: colourOf(event), pointer: event.pointerId };
    squares.setPointerCapture(event.pointerId);
    drawMarks();
  });
  squares.addEventListener("pointermove", (event) => {
    const square = squareAt(event.clientX, event.clientY);
    if (drawing?.pointer !== event.pointerId || !square || square === drawing.to) return;
    drawing.to = square;
    drawMarks();
  });
  const end = (/** @type {PointerEvent} */ event) => {
    if (drawing?.pointer !== event.pointerId) return;
    // A drag that ends outside the board draws nothing.
    if (event.type === "pointerup" && squareAt(event.clientX, event.clientY)) turnMark(drawing);
    drawing = null;
    drawMarks();
  };
  squares.addEventListener("pointerup", end);
  squares.addEventListener("pointercancel", end);
  squares.addEventListener("contextmenu", (event) => event.preventDefault());
}
