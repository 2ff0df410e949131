// The games of the position: those with the highest ratings, or the latest; a click plays one on the board.

import { exact, here, isSame, keep, kept, many, nameVariant, narrow, onlyOf, queryOf, state, variants } from "./state.js";
import { byId, closeDialog, el, isControl, openDialog, renew, showText, toast } from "./dom.js";
import { getJson, latest, postJson, request, words } from "./net.js";
import { goToLine, goToPlace, keepBranch, startsWith } from "./steps.js";
import { say } from "./edit.js";
/** @import { At, BookView, ListedGame, Player, ReadGame } from "./state.js" */

/** Games that are seen before more are wanted, and games of an answer. */
const FEW = 5;
const PAGE = 30;

/** @typedef {{at: At, total: number, listed: number, games: ListedGame[]}} Listed All games of a position, those that pass the filters, and the first of these. */
const listed = {
  /** @type {Listed | null} */
  found: null,
  latest: kept("games") === "latest",
  whole: false,
};

/** Asks for games of a place from one on. @param {At} at @param {number} from @param {RequestInit} [init] @returns {Promise<Listed>} */
async function askForGames(at, from, init) {
  const query = queryOf(at);
  narrow(query);
  query.set("order", listed.latest ? "latest" : "strongest");
  query.set("from", String(from));
  query.set("limit", String(PAGE));
  return { at, ...await getJson(`/api/games?${query}`, init) };
}

/** Asks for the games of what is seen. */
export const followGames = latest(
  async (signal) => {
    const at = state.view?.at;
    return at && isOfGames() ? askForGames(at, 0, { signal }) : null;
  },
  (found) => {
    listed.found = found;
    drawGames();
  },
  (error) => {
    listed.found = null;
    drawGames(words(error));
  },
);

/** Whether the games are of the variant on the board. */
function isOfGames() {
  return variants().some(({ name, games }) => games && name === state.variant);
}

/** Shows the games that are known, or asks for more of them. */
async function showMore() {
  const { found } = listed;
  if (!found) return;
  if (listed.whole) {
    try {
      const more = await askForGames(found.at, found.games.length);
      // Meanwhile others may be listed.
      if (listed.found !== found) return;
      listed.found = { ...more, games: [...found.games, ...more.games] };
    } catch (error) {
      toast(words(error));
    }
  }
  listed.whole = true;
  drawGames();
}

/** @param {string} [trouble] */
export function drawGames(trouble = "") {
  byId("games").hidden = !state.books?.games;
  const { found } = listed;
  const games = found?.games ?? [];
  byId("games-best").setAttribute("aria-pressed", String(!listed.latest));
  byId("games-latest").setAttribute("aria-pressed", String(listed.latest));
  byId("games-count").textContent = !found ? "" : found.listed === found.total ? many(found.total, "game") : `${exact(found.listed)} of ${many(found.total, "game")}`;
  byId("games-only").textContent = onlyOf(state.books?.books.find((book) => book.games));
  const some = listed.whole ? games : games.slice(0, FEW);
  renew(byId("games-list"), some.map((game) => gameRow(game, found?.at)));
  const left = (found?.listed ?? 0) - some.length;
  const more = byId("games-more");
  more.hidden = left <= 0;
  more.textContent = listed.whole ? `Show ${exact(Math.min(PAGE, left))} more` : `Show ${exact(games.length)}`;
  const note = byId("games-note");
  const others = isOfGames() ? undefined : variants().find(({ games }) => games);
  note.textContent = trouble || (others ? `The games are of ${others.title} only.` : found?.total === 0 ? "No game has this position in its first 25 moves." : found?.listed === 0 ? "No game of this position passes the filters." : "");
  note.hidden = note.textContent === "";
  byId("games-order").hidden = games.length < 2;
}

/** @param {ListedGame} game @param {At | undefined} at */
function gameRow(game, at) {
  const player = (/** @type {Player} */ { name, rating }) => `${name || "?"}${rating ? ` ${rating}` : ""}`;
  const year = game.date.slice(0, 4).replace("????", "");
  const play = () => {
    if (at) void playGame(game, at);
  };
  const title = `${player(game.white)} – ${player(game.black)}, ${game.result}${year && `, ${game.date.replace(/\.\?\?/g, "")}`}${game.event && game.event !== "?" ? `, ${game.event}` : ""}`;
  return el("tr", { onclick: (/** @type {Event} */ event) => !isControl(event.target) && play(), title },
    el("td", { class: "player" }, el("button", { type: "button", class: "game", "data-focus": `game ${game.id}`, "aria-label": `Play ${title}`, onclick: play }, player(game.white))),
    el("td", { class: "player" }, player(game.black)),
    el("td", { class: "result" }, game.result === "1/2-1/2" ? "½–½" : game.result.replace("-", "–")),
    el("td", { class: "year" }, year),
    el("td", { class: "next", title: game.san ? null : "The game ended here" }, game.san ?? "–"));
}

/** Puts a game on the board, at the position where it was listed. @param {ListedGame} game @param {At} at */
async function playGame(game, at) {
  try {
    const text = await (await request(`/api/game?${new URLSearchParams({ id: game.id })}`)).text();
    await playText(text, at);
  } catch (error) {
    toast(words(error));
  }
}

/** @param {BookView} book */
export async function openGame(book) {
  const query = queryOf(book.at);
  query.set("book", String(book.id));
  try {
    const text = await (await request(`/api/game?${query}`)).text();
    if (isSame(book.at, here())) showText("A game", text, () => void playText(text, book.at));
  } catch (error) {
    say(book.id, book.at, false, words(error));
  }
}

/** Puts a game on the board, with its variations as branches. @param {ReadGame} game @param {number} ply */
function goToGame(game, ply) {
  const { start, play, san, variations } = game;
  if (start !== state.start) Object.assign(state, { start, branches: [] });
  const moves = (/** @type {string[]} */ play, /** @type {string[]} */ san) => play.map((uci, index) => ({ uci, san: san[index] ?? null }));
  const main = moves(play, san);
  /** @type {(typeof state.line)[]} */
  const lines = [];
  for (const { of, ply, play, san } of variations) lines.push([...((of === null ? main : lines[of]) ?? []).slice(0, ply), ...moves(play, san)]);
  // What is kept last comes first.
  for (const line of lines.reverse()) if (!startsWith(main, line)) keepBranch(line);
  state.game = { ...game };
  goToLine(start, main, ply);
}

/** Who played the game that is on the board, as long as a position of it is. */
export function drawPlayers() {
  const { game } = state;
  const { start, play } = here();
  const head = byId("players");
  head.hidden = !game || game.start !== start || play.some((uci, index) => game.play[index] !== uci) || (!game.white && !game.black);
  if (!game || head.hidden) return;
  const year = /^\d{4}/.exec(game.date)?.[0];
  const event = game.event && game.event !== "?" ? game.event : null;
  head.replaceChildren(el("b", {}, `${game.white || "?"} – ${game.black || "?"}`), ` ${[game.result === "*" ? null : game.result.replaceAll("1/2", "½").replace("-", "–"), year, event].filter(Boolean).join(" · ")}`);
  head.title = head.textContent ?? "";
}

/** Puts a game on the board, at a position that occurs in it. @param {string} text @param {At} at */
async function playText(text, at) {
  try {
    /** @type {{games: ReadGame[]}} */
    const { games: [read] } = await postJson("/api/read", { text, at: at.fen, ...variantOfText() });
    if (!isSame(at, here())) return;
    if (!read) throw new Error("The game cannot be read.");
    keepBranch(state.line);
    goToGame(read, read.ply ?? 0);
    toast(read.error ? `The rest cannot be read: ${read.error}` : `${read.white || "?"} – ${read.black || "?"}: → goes on`);
  } catch (error) {
    toast(words(error));
  }
}

/** The variant of a text of games, where requests name it. */
function variantOfText() {
  const query = new URLSearchParams();
  nameVariant(query);
  return Object.fromEntries(query);
}

// Games, lines and positions that are pasted or dropped.

/** The most letters of a text of games. */
const TEXT_MAX = 1_000_000;

/** Puts what a text says on the board: a line, a position, or one of its games. @param {string} text */
async function takeText(text) {
  const place = here();
  const typed = text.trim();
  try {
    if (typed.length > TEXT_MAX) throw new Error("The text is too long: 1 MB of games can be read.");
    // A link, or moves without remarks, or a FEN.
    if (/^https?:\S+$/.test(typed) || !/[\n[{(;]/.test(typed)) {
      const query = queryOf(place);
      query.set("text", typed);
      const found = await getJson(`/api/read?${query}`);
      if (isSame(place, here())) goToPlace(found);
      return;
    }
    /** @type {{games: ReadGame[], total: number, unread: number, why: string | null}} */
    const { games, total, unread, why } = await postJson("/api/read", { text: typed, ...variantOfText() });
    if (!isSame(place, here())) return;
    const lost = why ? `Not read: ${unread > 1 ? `${exact(unread)} games, the first in ` : ""}${why}` : "";
    const show = (/** @type {ReadGame} */ game) => {
      closeDialog("pasted");
      state.branches = [];
      goToGame(game, 0);
      const said = [game.error && `The rest cannot be read: ${game.error}`,
        game.cut && `A variation ends early: ${game.cut}`,
        game.left_out > 0 && `Too many or too long: ${many(game.left_out, "variation")}`,
        games.length === 1 && lost];
      toast(said.filter(Boolean).join(". ") || "→ plays it");
    };
    if (games.length === 0) throw new Error("There is no game in this text.");
    const [only] = games;
    if (only && games.length === 1) {
      show(only);
      return;
    }
    byId("pasted-title").textContent = total > games.length ? `The first ${exact(games.length)} of ${many(total, "game")}` : many(games.length, "game");
    byId("pasted-list").replaceChildren(...games.map((game) => el("li", {},
      el("button", { type: "button", class: "game", onclick: () => show(game) }, `${game.white || "?"} – ${game.black || "?"}, ${game.result}`))));
    openDialog("pasted");
    if (lost) toast(lost);
  } catch (error) {
    toast(words(error));
  }
}

function listenToPastes() {
  addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const field = event.target instanceof Element && event.target.closest("input, select, textarea");
    // A field takes what fits into it, and the search more than that.
    if (text.trim() === "" || (field && !(field.id === "search-text" && text.trim().includes("\n")))) return;
    event.preventDefault();
    closeDialog("search");
    void takeText(text);
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file && file.size > TEXT_MAX) toast("The file is too long: name it with --games.");
    else if (file) void file.text().then(takeText);
    else if (event.dataTransfer) void takeText(event.dataTransfer.getData("text/plain"));
  });
}

export function listenToGames() {
  listenToPastes();
  const turn = (/** @type {boolean} */ latest) => {
    listed.latest = latest;
    keep("games", latest ? "latest" : "best");
    drawGames();
    followGames();
  };
  byId("games-best").addEventListener("click", () => turn(false));
  byId("games-latest").addEventListener("click", () => turn(true));
  byId("games-more").addEventListener("click", () => void showMore());
}
