// The engine's section. A search lasts as long as its position is on the board and the section is open.

import { asShown, brief, evaluation, here, isSame, keep, kept, queryOf, state, whose, worthOf, written } from "./state.js";
import { byId, el, focusOn, isControl, renew, unpressed } from "./dom.js";
import { Refusal, request, serverEvents, words } from "./net.js";
import { goToLine, keepBranch } from "./steps.js";
import { arrows } from "./arrows.js";
import { thoughts } from "./thoughts.js";
/** @import { At, Place, Score } from "./state.js" */

/**
 * @typedef {Score & {san: string[], uci: string[], depth?: number | null}} EngineLine
 * @typedef {{depth?: number | null, seldepth?: number | null, nodes?: number | null, nps?: number | null, time?: number | null, lines: EngineLine[]}} EngineInfo
 *   What the engine does not say is missing or null.
 */
const pageName = Math.random().toString(36).slice(2);

/** How often this page has asked for a search. */
let searches = 0;

export const engine = {
  /** @type {AbortController | null} */
  search: null,
  /** @type {EngineInfo | null} */
  info: null,
  /** The place that is searched. @type {At} */
  at: { ...here(), fen: here().start },
  stopped: false,
  /** Whether a line had the focus when the lines were taken away. */
  focused: false,
  /** The frame in which the lines are drawn. */
  frame: 0,

  /** Searches the position on the board, if the section is open. */
  follow() {
    this.close();
    this.info = null;
    this.draw("");
    const { view } = state;
    const section = byId("engine");
    if (!state.books?.engine || !(section instanceof HTMLDetailsElement) || !view) return;
    const found = view.books.some((book) => book.found);
    if (!found && !view.end && view.books.length > 0 && view.book_end !== null) section.open = true;
    const thinks = section.open && !this.stopped && !view.end;
    thoughts.begin(thinks ? view.at : null);
    if (section.open && !this.stopped && view.end) this.draw("The game is over.");
    if (!thinks) return;
    this.at = view.at;
    void this.run();
  },

  async run() {
    const search = new AbortController();
    this.search = search;
    this.draw("Thinking …");
    const query = queryOf(this.at);
    query.set("lines", kept("lines") ?? "3");
    const threads = Number(kept("threads"));
    if (threads > 0) query.set("threads", String(Math.min(threads, state.books?.threads ?? 1)));
    // A new search of this page ends the one before, also where the server hears of them in another order.
    query.set("page", pageName);
    query.set("search", String(++searches));
    try {
      const answer = await request(`/api/engine?${query}`, { signal: search.signal });
      for await (const { event, data } of serverEvents(answer)) {
        if (this.search !== search) return;
        if (event === "info") {
          this.info = data;
          thoughts.take(data.lines);
          // A fast engine says more than a slow machine can draw, and keys would wait for all of it.
          this.frame ||= requestAnimationFrame(() => this.draw(""));
        } else if (event === "error") {
          throw new Refusal(String(data.error), String(data.code));
        } else if (event === "done") {
          this.search = null;
          this.draw("");
          return;
        }
      }
      if (this.search === search) throw new Refusal("The engine has stopped.", "gone");
    } catch (error) {
      if (this.search !== search) return;
      this.search = null;
      this.draw(words(error));
    }
  },

  close() {
    const { search } = this;
    this.search = null;
    search?.abort();
  },

  /** The best line of the position on the board, if one is known. @returns {EngineLine | undefined} */
  best() {
    return isSame(this.at, here()) ? this.info?.lines[0] : undefined;
  },

  /** The bar beside the board: White's part of it is what White scores on average. */
  drawBalance() {
    const best = this.best();
    const bar = byId("balance");
    bar.hidden = !best || !isKnown(best);
    if (!best || !isKnown(best)) return;
    const score = this.at.fen.split(" ")[1] === "b" ? -(worthOf(best) ?? 0) : worthOf(best) ?? 0;
    const part = 100 / (1 + Math.exp(-score / 330));
    bar.style.setProperty("--part", `${part.toFixed(1)}%`);
    bar.classList.toggle("turned", state.flipped);
  },

  /** Draws again what is said of the place on the board. */
  redraw() {
    thoughts.draw();
    this.draw(byId("engine-text").textContent ?? "");
  },

  /** Draws what the engine says, unless one of its moves is being clicked. @param {string} text What is said instead of lines. */
  draw(text) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    byId("engine-stop").textContent = this.search ? "Stop" : "Start";
    byId("engine").classList.toggle("running", this.search !== null);
    unpressed(byId("engine-lines"), () => this.drawLines(text));
  },

  /** @param {string} text */
  drawLines(text) {
    const { at } = this;
    // Lines of a place that is left are gone at once: a click on them would do nothing.
    const info = isSame(at, here()) ? this.info : null;
    if (this.search && !info) text ||= "Thinking …";
    const best = info?.lines[0];
    const shown = (/** @type {Score} */ score) => isKnown(score) ? evaluation(asShown(score, at.fen)) : "";
    byId("engine-score").textContent = best ? shown(best) : "";
    byId("engine-score").title = best && isKnown(best) ? whose() : "";
    const depth = byId("engine-depth");
    depth.textContent = depth.title = info ? progressOf(info) : "";
    const ply = at.play.length;
    const root = byId("engine-lines");
    const inside = root.contains(document.activeElement);
    // What is beside the moves of a short line plays its first one.
    renew(root, (info?.lines ?? []).map((line) => el("li", { onclick: (/** @type {Event} */ { target }) => isControl(target) || playLine(at, line, 1) },
      el("span", { class: "score", title: whose() }, shown(line)),
      el("span", { class: "moves" }, ...line.uci.flatMap((_, index) => [
        el("button", { type: "button", class: index === 0 ? "link" : "step", title: index === 0 ? "Play this move" : "Play up to this move", tabindex: index === 0 ? 0 : -1,
          onclick: () => playLine(at, line, index + 1) }, stepText(line.san, index, ply)), " "])))));
    // A line that was played by keyboard is followed by those of the next position.
    this.focused ||= inside && !root.contains(document.activeElement);
    if (this.focused && info) {
      if (document.activeElement === document.body) focusOn(root.querySelector("button"));
      this.focused = false;
    }
    byId("engine-text").textContent = text;
    byId("engine-text").hidden = text === "";
    this.drawBalance();
    arrows.engine = { at, uci: best?.uci[0] ?? "" };
    arrows.draw();
  },

  toggle() {
    this.stopped = this.search !== null;
    if (this.stopped) {
      this.close();
      this.draw("");
    } else {
      this.follow();
    }
  },
};

/** @param {Score} score */
function isKnown({ cp, mate }) {
  return cp !== undefined || mate !== undefined;
}

/** "depth 24 · 1.2M/s", as far as the engine says it. @param {EngineInfo} info */
function progressOf({ depth, nodes, nps, time }) {
  const pace = nps || (nodes && time ? (1000 * nodes) / time : null);
  return [depth && `depth ${depth}`, pace ? `${brief(Math.round(pace))}/s` : nodes && `${brief(nodes)} nodes`].filter(Boolean).join(" · ");
}

/** A move of a line as it is written there. @param {string[]} san @param {number} index @param {number} ply */
function stepText(san, index, ply) {
  const text = written(san.slice(index, index + 1), ply + index);
  return index === 0 ? text : text.replace(/^\d+\.\.\. /, "");
}

/** Plays the first moves of a line. @param {Place} at @param {EngineLine} line @param {number} count */
function playLine(at, line, count) {
  if (!isSame(at, here())) return;
  const { start, line: moves, ply } = state;
  keepBranch(moves);
  goToLine(start, [...moves.slice(0, ply), ...line.uci.slice(0, count).map((uci, index) => ({ uci, san: line.san[index] ?? null }))], ply + count);
}

export function listenToEngine() {
  const section = byId("engine");
  section.hidden = !state.books?.engine;
  byId("engine-name").textContent = state.books?.engine ?? "";
  section.ontoggle = () => {
    engine.stopped = false;
    if (!(section instanceof HTMLDetailsElement)) return;
    if (!section.open) {
      engine.close();
      engine.info = null;
      thoughts.begin(null);
      engine.draw("");
    } else if (!engine.search) {
      engine.follow();
    }
  };
  byId("engine-stop").onclick = () => engine.toggle();
  // As many as the machine has, and half of that, and so on; or as the engine is set up.
  const counts = [];
  for (let count = state.books?.threads ?? 1; count >= 1; count = Math.floor(count / 2)) counts.unshift(count);
  byId("engine-threads").replaceChildren(el("option", { value: 0 }, "–"), ...counts.map((count) => el("option", { value: count }, String(count))));
  for (const [id, name, usual] of [["engine-count", "lines", "3"], ["engine-threads", "threads", "0"]]) {
    const choice = byId(id ?? "");
    if (!(choice instanceof HTMLSelectElement) || !name) continue;
    choice.value = kept(name) ?? usual ?? "";
    if (choice.selectedIndex < 0) choice.value = usual ?? "";
    choice.onchange = () => {
      keep(name, choice.value);
      if (engine.search) engine.follow();
    };
  }
}
