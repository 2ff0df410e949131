// Gaps: what games reach from the position on the board on, and a book has no answer to.

import { booksHere, current, exact, here, many, narrow, percent, queryOf, state, variants, written } from "./state.js";
import { byId, el, renew } from "./dom.js";
import { getJson, latest, words } from "./net.js";
import { goToPlace } from "./steps.js";
/** @import { Place } from "./state.js" */

/**
 * @typedef {{play: string[], line: string, share: number, games: number | null, words: string, plays?: {san: string, chance: number}[], positions?: number}} ReachedRow
 * @typedef {{side: "white" | "black", answered: number | null, known: boolean, plies: {ply: number, reached: number, answered: number}[],
 *   gaps: ReachedRow[], more: number, smaller: {count: number, words: string}, choices: ReachedRow[], rare: ReachedRow[] | null}} FoundGaps
 */

/** What was asked last, and where. @type {{place: Place, name: string, query: URLSearchParams} | null} */
let wantedGaps = null;

/** @param {string} id @returns {HTMLSelectElement} */
function choiceOf(id) {
  return /** @type {HTMLSelectElement} */ (byId(id));
}

/** Offers these in a list, and keeps what was chosen. @param {string} id @param {[string, string][]} options */
function offer(id, options) {
  const choice = choiceOf(id);
  const chosen = choice.value;
  renew(choice, options.map(([value, text]) => el("option", { value }, text)));
  choice.value = options.some(([value]) => value === chosen) ? chosen : options[0]?.[0] ?? "";
}

/** Draws what can be asked: a book, against the games and the other books of its variant. */
export function drawGapsForm() {
  const books = booksHere().filter((book) => !book.error && !book.games);
  const games = variants().some(({ name, games }) => games && name === state.variant) && state.books?.games === true;
  byId("gaps").hidden = books.length === 0 || (!games && books.length < 2);
  offer("gaps-book", books.map(({ id, name }) => [String(id), name]));
  const others = books.filter(({ id }) => String(id) !== choiceOf("gaps-book").value);
  offer("gaps-against", [
    ...(games ? [/** @type {[string, string]} */ (["games", "the games"])] : []),
    ...others.map(({ id, name }) => /** @type {[string, string]} */ ([String(id), name])),
    ...(games ? others.map(({ id, name }) => /** @type {[string, string]} */ ([`games,${id}`, `the games, then ${name}`])) : []),
  ]);
}

/** A list of positions, each of which a click puts on the board. @param {string} title @param {ReachedRow[]} rows @param {(row: ReachedRow) => string} tail @param {string} more */
function listOf(title, rows, tail, more) {
  const place = wantedGaps?.place;
  const list = rows.map((row) => el("li", {},
    el("button", { type: "button", class: "link", onclick: () => place && goToPlace({ ...place, play: row.play }) }, `${row.words}: ${row.line || "this position"}`),
    el("span", { class: "quiet" }, ` ${tail(row)}`)));
  return [el("h2", {}, title), list.length > 0 ? el("ul", {}, ...list) : el("p", { class: "quiet" }, "none"), ...(more ? [el("p", { class: "quiet" }, more)] : [])];
}

/** @param {FoundGaps} found */
function drawGaps(found) {
  const side = found.side === "white" ? "White" : "Black";
  const answered = found.answered === null ? "" : `, ${percent(found.answered)} of the opponent's moves answered`;
  byId("gaps-words").textContent = found.known ? `${wantedGaps?.name} for ${side}${answered}.` : `Nothing is known of what the opponent of ${side} plays from here.`;
  const rest = [found.more > 0 && `${exact(found.more)} more`, found.smaller.count > 0 && `${many(found.smaller.count, "less probable position")}, together ${found.smaller.words}`];
  const games = (/** @type {ReachedRow} */ row) => (row.games ? many(row.games, "game") : "");
  const plays = (/** @type {ReachedRow} */ row) => (row.plays ?? []).map(({ san, chance }) => `${san} ${percent(chance)}`).join(", ");
  renew(byId("gaps-lists"), found.known ? [
    ...listOf("No answer", found.gaps, games, rest.filter(Boolean).join(", ")),
    ...listOf(`More than one move of ${side}`, found.choices, plays, ""),
    ...(found.rare ? listOf("Almost never reached", found.rare, (row) => many(row.positions ?? 0, "position"), "") : []),
    el("h2", {}, "Answered by plies"),
    el("p", {}, found.plies.map(({ ply, answered }) => `${ply}: ${percent(answered)}`).join(", ")),
  ] : []);
}

const findGaps = latest(
  (signal) => getJson(`/api/gaps?${wantedGaps?.query}`, { signal }),
  drawGaps,
  (error) => {
    byId("gaps-words").textContent = words(error);
    renew(byId("gaps-lists"), []);
  },
);

export function listenToGaps() {
  byId("gaps-book").addEventListener("change", drawGapsForm);
  byId("gaps-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const place = here();
    const query = queryOf(place);
    narrow(query);
    for (const name of ["book", "side", "against"]) query.set(name, choiceOf(`gaps-${name}`).value);
    if (/** @type {HTMLInputElement} */ (byId("gaps-rare")).checked) query.set("rare", "1");
    const book = booksHere().find(({ id }) => String(id) === query.get("book"));
    const line = current()?.line ?? [];
    const from = line.length > 0 ? ` from ${written(line.map(({ san }) => san), 0)} on` : "";
    wantedGaps = { place, name: `${book?.name ?? ""}${from}`, query };
    byId("gaps-words").textContent = "Looking …";
    findGaps();
  });
}
