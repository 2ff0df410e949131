// Arrows on the board: the likeliest moves faintly, that of the row under the pointer or the focus, and the engine's.

import { here, isSame, state } from "./state.js";
import { byId, isControl, svg } from "./dom.js";
import { centre } from "./board.js";
import { reach, tables } from "./tables.js";
import { firstMoves } from "./rows.js";
/** @import { BookMove, Place } from "./state.js" */

/** Arrows: the likeliest moves faintly, and that of the row under the pointer or the focus. */
export const arrows = {
  /** @type {{uci: string, chance: number} | null} */
  pointed: null,

  /** The engine's best move, and where it is that. @type {{at: Place, uci: string}} */
  engine: { at: here(), uci: "" },

  /** @param {{uci: string, chance: number} | null} move */
  point(move) {
    if (this.pointed === move) return;
    this.pointed = move;
    this.draw();
  },

  draw() {
    const { pointed } = this;
    const others = firstMoves(state.view).filter((move) => move.chance >= 0.05 && move.uci !== pointed?.uci).sort((a, b) => b.chance - a.chance).slice(0, 3);
    const best = isSame(this.engine.at, here()) ? this.engine.uci : "";
    byId("arrows").replaceChildren(...(best ? [arrow(best, 0.5, "engine")] : []), ...others.map((move) => arrow(move.uci, move.chance, "faint")),
      ...(pointed ? [arrow(pointed.uci, pointed.chance, "strong")] : []));
  },
};

/** What a row of a table listens to: it shows its arrow, and a click does what is to be done. @param {number} table @param {BookMove} move @param {() => void} act */
export function onRow(table, move, act) {
  return {
    onclick: (/** @type {MouseEvent} */ event) => {
      if (isControl(event.target) || (tables.grasped && event.detail > 0)) return;
      // Beside a value, the value is meant.
      const value = event.target instanceof Element ? event.target.closest("td")?.querySelector("button.value") : null;
      if (value instanceof HTMLElement) value.click();
      else act();
    },
    onpointerenter: () => arrows.point(move),
    onpointerleave: () => arrows.point(null),
    onfocusin: () => {
      arrows.point(move);
      reach(table, move.uci);
    },
    onfocusout: () => arrows.point(null),
  };
}

/** An arrow as wide as the move is likely. @param {string} uci @param {number} chance @param {string} kind */
export function arrow(uci, chance, kind) {
  if (uci[1] === "@") {
    const [cx, cy] = centre(uci.slice(2, 4));
    return svg("circle", { class: `arrow ${kind}`, "data-move": uci, cx, cy, r: 16 + 24 * chance });
  }
  const [x1, y1] = centre(uci.slice(0, 2));
  const [x2, y2] = centre(uci.slice(2, 4));
  const length = Math.hypot(x2 - x1, y2 - y1);
  const wide = 7 + 19 * chance;
  const head = 20 + 1.3 * wide;
  const along = (x2 - x1) / length;
  const down = (y2 - y1) / length;
  /** @type {(forward: number, aside: number) => string} */
  const at = (forward, aside) => `${(x1 + along * forward - down * aside).toFixed(1)},${(y1 + down * forward + along * aside).toFixed(1)}`;
  const neck = length - head;
  const points = [at(26, wide / 2), at(neck, wide / 2), at(neck, head * 0.6), at(length - 4, 0), at(neck, -head * 0.6),
    at(neck, -wide / 2), at(26, -wide / 2)];
  return svg("polygon", { class: `arrow ${kind}`, "data-move": uci, points: points.join(" ") });
}
