// Filters: which games count in books that tell games apart, and which of the listed games are seen; a chip for each.

import { bandOf, filters, playerName, state, toldApart } from "./state.js";
import { byId, el, focusOn, openDialog } from "./dom.js";
import { refresh, rememberFilters } from "./steps.js";
import { followGames } from "./games.js";
/** @import { Book } from "./state.js" */

/** A change of the filters, which acts at once. @param {Partial<typeof filters>} change */
function filter(change) {
  Object.assign(filters, change);
  drawFilters();
  rememberFilters();
  refresh();
  followGames();
}

/** Without this one, or with it if it is not there. @template T @param {T[]} all @param {T} one @param {T[]} order */
function toggled(all, one, order) {
  return order.filter((other) => (other === one) !== all.includes(other));
}

/** The chips of what is set, each of which takes it away. */
export function drawFilters() {
  const [speeds, ratings] = [toldApart((book) => book.speeds), toldApart((book) => book.ratings)];
  const games = state.books?.games === true;
  Object.assign(filters, { speeds: filters.speeds.filter((one) => speeds.includes(one)), ratings: filters.ratings.filter((one) => ratings.includes(one)) });
  const root = byId("filters");
  root.hidden = speeds.length === 0 && ratings.length === 0 && !games;
  /** @type {[string, Partial<typeof filters>][]} */
  const set = [
    ...filters.speeds.map((one) => /** @type {[string, Partial<typeof filters>]} */ ([one, { speeds: toggled(filters.speeds, one, speeds) }])),
    ...filters.ratings.map((one) => /** @type {[string, Partial<typeof filters>]} */ ([bandOf(one), { ratings: toggled(filters.ratings, one, ratings) }])),
  ];
  if (filters.since) set.push([`since ${filters.since}`, { since: "" }]);
  if (filters.until) set.push([`until ${filters.until}`, { until: "" }]);
  if (filters.player) set.push([playerName(), { player: "", color: "" }]);
  const inside = root.contains(document.activeElement);
  root.replaceChildren(
    el("button", { type: "button", class: "button", id: "open-filter", "aria-haspopup": "dialog", onclick: openFilter }, "Filter"),
    ...set.map(([name, without]) => el("button", { type: "button", class: "chip filter", "aria-label": `Remove the filter ${name}`, title: "Remove", onclick: () => filter(without) },
      el("span", {}, name), el("span", { "aria-hidden": "true" }, "×"))));
  if (inside) focusOn(byId("open-filter"));
  byId("filter-color").addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement) filter({ color: target.value });
  });
  byId("filter-reset").hidden = set.length === 0;
}

function openFilter() {
  const [speeds, ratings] = [toldApart((book) => book.speeds), toldApart((book) => book.ratings)];
  const books = state.books?.books ?? [];
  const box = (/** @type {string} */ name, /** @type {boolean} */ on, /** @type {() => Partial<typeof filters>} */ turn) =>
    el("label", { class: "choice" }, el("input", { type: "checkbox", checked: on, onchange: () => filter(turn()) }), name);
  byId("filter-speeds").replaceChildren(...speeds.map((one) => box(one, filters.speeds.includes(one), () => ({ speeds: toggled(filters.speeds, one, speeds) }))));
  byId("filter-ratings").replaceChildren(...ratings.map((one) => box(bandOf(one), filters.ratings.includes(one), () => ({ ratings: toggled(filters.ratings, one, ratings) }))));
  for (const [id, has] of /** @type {[string, boolean][]} */ ([["filter-speeds", speeds.length > 0], ["filter-ratings", ratings.length > 0], ["filter-since", state.books?.games === true]])) {
    const group = byId(id).closest("fieldset");
    if (group) group.hidden = !has;
  }
  for (const name of /** @type {("since" | "until" | "player")[]} */ (["since", "until", "player"])) {
    const field = byId(`filter-${name}`);
    if (field instanceof HTMLInputElement) field.value = filters[name];
  }
  const color = byId("filter-color");
  if (color instanceof HTMLSelectElement) color.value = filters.color;
  const whole = books.filter((book) => book.speeds.length + book.ratings.length === 0);
  byId("filter-words").textContent = speeds.length + ratings.length > 0 && whole.length > 0 ? `Shown whole, because they do not tell games apart: ${whole.map(({ name }) => name).join(", ")}.` : "";
  openDialog("filter");
}

export function listenToFilters() {
  for (const name of ["since", "until", "player"]) {
    byId(`filter-${name}`).addEventListener("change", (event) => {
      const field = event.target;
      if (field instanceof HTMLInputElement && field.reportValidity()) filter({ [name]: field.value.trim() });
    });
  }
  byId("filter-reset").addEventListener("click", () => {
    filter({ speeds: [], ratings: [], since: "", until: "", player: "", color: "" });
    openFilter();
  });
}
