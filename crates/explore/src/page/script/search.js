// Search: openings by name or code, moves, a FEN.

import { nameVariant, queryOf, startOf } from "./state.js";
import { byId, closeDialog, el, openDialog } from "./dom.js";
import { getJson, latest, words } from "./net.js";
import { goToPlace } from "./steps.js";
/** @import { Child } from "./dom.js" */

/** @typedef {{title: Child[], detail: string, go: () => void}} Hit */
const search = {
  /** @type {Hit[]} */
  hits: [],
  chosen: 0,
  /** The text that the hits are for. */
  text: "",
  /** Whether Enter was pressed before the hits of the text were there. */
  hurried: false,
};

/** @returns {HTMLInputElement} */
function searchField() {
  return /** @type {HTMLInputElement} */ (byId("search-text"));
}

/** As many as can be seen without scrolling. */
function roomForHits() {
  const line = 3 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.max(3, Math.min(12, Math.floor((innerHeight * 0.9 - 3.5 * line) / line)));
}

const lookUp = latest(
  async (signal) => {
    const text = searchField().value.trim();
    if (text === "") return { text, place: null, openings: [] };
    const query = queryOf();
    query.set("text", text);
    query.set("maybe", "1");
    const openings = new URLSearchParams({ q: text, limit: String(roomForHits()) });
    nameVariant(openings);
    const [read, named] = await Promise.allSettled([
      getJson(`/api/read?${query}`, { signal }),
      getJson(`/api/openings?${openings}`, { signal }),
    ]);
    if (named.status === "rejected") throw named.reason;
    return { text, place: read.status === "fulfilled" ? read.value : null, openings: named.value.openings };
  },
  ({ text, place: found, openings }) => {
    search.hits = [
      ...(found ? [{ title: [text], detail: found.play.length > 0 ? "these moves" : "this position", go: () => goToPlace(found) }] : []),
      ...openings.map((/** @type {{eco: string, name: string, play: string[], line: string}} */ { eco, name, play, line }) =>
        ({ title: [el("b", {}, eco), ` ${name}`], detail: line, go: () => goToPlace({ start: startOf(), play }) })),
    ].slice(0, roomForHits());
    search.chosen = 0;
    search.text = text;
    drawHits(text);
    if (!search.hurried) return;
    search.hurried = false;
    choose(0);
  },
  (error) => {
    byId("search-words").textContent = words(error);
  },
);

/** @param {string} text */
function drawHits(text) {
  byId("search-hits").replaceChildren(...search.hits.map((hit, index) => el("li", {
    role: "option", id: `hit-${index}`, "aria-selected": String(index === search.chosen), onclick: () => choose(index),
  }, el("span", { class: "title" }, ...hit.title), el("span", { class: "quiet" }, hit.detail))));
  byId("search-hits").hidden = search.hits.length === 0;
  byId("search-words").textContent = search.hits.length > 0 ? "" : text === "" ? "A name such as Najdorf, a code such as B90, moves such as e4 c5, or a FEN."
    : "No opening of that name, and no moves that can be played here or from the start.";
  const field = searchField();
  field.setAttribute("aria-expanded", String(search.hits.length > 0));
  if (search.hits.length > 0) field.setAttribute("aria-activedescendant", `hit-${search.chosen}`);
  else field.removeAttribute("aria-activedescendant");
  document.getElementById(`hit-${search.chosen}`)?.scrollIntoView({ block: "nearest" });
}

/** @param {number} index */
function choose(index) {
  const hit = search.hits[index];
  if (!hit) return;
  closeDialog("search");
  hit.go();
}

export function openSearch() {
  openDialog("search");
  searchField().select();
  search.hits = [];
  search.text = "";
  search.hurried = false;
  drawHits(searchField().value.trim());
  lookUp();
}

export function listenToSearch() {
  const field = searchField();
  field.addEventListener("input", lookUp);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && search.hits.length > 0) {
      search.chosen = (search.chosen + step + search.hits.length) % search.hits.length;
      drawHits(field.value.trim());
      event.preventDefault();
    } else if (event.key === "Enter") {
      search.hurried = field.value.trim() !== search.text;
      if (!search.hurried) choose(search.chosen);
      event.preventDefault();
    }
  });
}
