// How things are shown: one table or a table for each book, and whose evaluations.

import { isTogether, keep, shownBooks, state, taste, whose } from "./state.js";
import { announce, byId } from "./dom.js";
import { tables } from "./tables.js";
import { sorting } from "./columns.js";
import { engine } from "./engine.js";

/** Shows what can be switched, and which way it is. */
export function drawView() {
  const several = shownBooks().length > 1;
  byId("view").hidden = !several;
  byId("view-together").setAttribute("aria-pressed", String(isTogether()));
  byId("view-each").setAttribute("aria-pressed", String(!isTogether()));
  const side = byId("side");
  side.hidden = !state.books?.engine && !state.books?.books.some((book) => book.evals);
  side.setAttribute("aria-label", `Evaluations: ${whose()}`);
  side.title = `Evaluations: ${whose()}`;
  side.classList.toggle("mover", taste.mover);
}

export function listenToView() {
  const turn = (/** @type {boolean} */ together) => {
    taste.together = together;
    keep("tables", together ? "together" : "each");
    sorting.key = "";
    tables.redraw();
  };
  byId("view-together").addEventListener("click", () => turn(true));
  byId("view-each").addEventListener("click", () => turn(false));
  byId("side").addEventListener("click", () => {
    taste.mover = !taste.mover;
    keep("evaluations", taste.mover ? "mover" : "white");
    tables.redraw();
    engine.redraw();
    announce(`Evaluations ${whose()}.`);
  });
}
