// What the page knows: the books, the line, the policy and the last answer of the server. Nothing here changes the document.

/**
 * @typedef {{variant: string, start: string, play: string[]}} Place A position as requests name it: the variant, where the line begins, and its moves.
 * @typedef {Place & {fen: string}} At What an answer is about; whatever is made of it carries it along.
 * @typedef {{eco: string, name: string}} Opening
 * @typedef {{uci: string, san: string, fen: string, opening: Opening | null}} LineMove
 * @typedef {{name: string, rating: number | null}} Player
 * @typedef {{id: string, uci: string | null, san: string | null, white: Player, black: Player, result: string, date: string, event: string}} ListedGame
 * @typedef {{of: number | null, ply: number, play: string[], san: string[]}} Variation
 * @typedef {{white: string, black: string, event: string, date: string, result: string, start: string, play: string[], san: string[], variations: Variation[], ply: number | null, error: string | null, cut: string | null, left_out: number}} ReadGame
 * @typedef {{uci: string, san: string, from: string, to: string, promotion: string | null}} LegalMove
 * @typedef {{cp?: number, mate?: number}} Score
 * @typedef {{color: string | null, mark: string | null}} Looks
 * @typedef {{weight?: number, priority?: number, color?: string | null, mark?: string | null}} Value
 * @typedef {{adds: number, changes: number, deletes: number, stays: number}} Counts How many moves a line adds, changes, deletes and leaves as they are.
 * @typedef {{start: string | null, play: string[] | null, move: string | null, san: string | null, before: Value | null, after: Value | null, note: string,
 *   counts: Counts, moves: string}} Made
 *   An edit as the server names it; without a move it is one of several, for which `moves` stands; without a line its place is known in words alone.
 * @typedef {{code: string, text: string}} Reason Why a move is not played.
 * @typedef {{
 *   uci: string, san: string, weight: number, priority?: number | null, playable: boolean,
 *   games: number | null, white: number | null, draws: number | null, black: number | null,
 *   annotation: string | null, recommended: boolean | null, learn: {games: number, halfpoints: number} | null,
 *   score: number | null, average: number | null, performance: number | null, factor: number | null, last?: number | null, chance: number, why: Reason | null,
 *   eval: Score | null, loss: number | null, opening: Opening | null
 * }} BookMove
 * @typedef {{white?: string | null, black?: string | null, white_elo?: number | null, black_elo?: number | null,
 *   result?: string | null, source?: string | null, gone?: boolean | null}} SampleGame
 * @typedef {{
 *   at: At, id: number, name: string, found: boolean, error?: string, games: number | null, here: number | null, elsewhere: number | null,
 *   reserve: number | null, comment: string | null, game: SampleGame | null, rule: string | null, moves: BookMove[],
 *   growth?: {side: "white" | "black", value: number, reach: number}[] | null
 * }} BookView
 * @typedef {{
 *   at: At, start: string, fen: string, turn: "white" | "black", check: boolean, end: string | null, line: LineMove[],
 *   opening: Opening | null, legal: LegalMove[], books: BookView[], ancestor: {ply: number} | null,
 *   choice: {ply: number} | null, book_end: number | null, variant?: string, winner?: "white" | "black" | null
 * }} View `winner` is there where a rule of the variant has ended the game.
 * @typedef {{min: number, max: number}} Bounds
 * @typedef {{weight: Bounds | null, priority: Bounds | null, unit: string | null, looks: boolean, undo: boolean, whole: boolean}} Editing
 * @typedef {{searches: number, sides: {side: "white" | "black", value: number | null, plies: number, covered: number, positions: number}[],
 *   next: {play: string[], line: string}[], errors: {play: string[], line: string, chance: number, loss: number, games: [number, number] | null}[]}} Growth
 * @typedef {{id: number, name: string, path: string, format: string | null, edit: Editing | null, evals: boolean, speeds: string[], ratings: number[],
 *   growth: Growth | null, warnings: string[], error: string | null, games?: boolean, variant?: string}} Book Without a variant it is of standard chess; with `games` it is what these tell.
 * @typedef {{name: string, title: string, start: string, games: boolean}} Variant Its names for requests and for people, where games start, and whether the listed games are of it.
 * @typedef {Record<string, number>} Policy
 * @typedef {{key: string, name: string, max: number, unit: string, part: number, help: string, value: number}} Slider
 * @typedef {{version: string, edit: boolean, engine: string | null, threads: number, settings: boolean, games: boolean, sliders: Slider[], books: Book[],
 *   variant?: string, variants?: Variant[]}} Books Where some are not of standard chess: the variant of requests that name none, and all.
 */
/** Standard chess, as requests name it, and its start. */
const CHESS = "chess";
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

export const state = {
  /** @type {Books | null} */
  books: null,
  /** @type {Set<number>} The books that are not shown. */
  hidden: new Set(),
  /** The variant on the board. */
  variant: CHESS,
  /** The position where the line begins. */
  start: START,
  /** @type {{uci: string, san: string | null, fen?: string}[]} The line with the moves that were taken back; SAN and FEN where they are known. */
  line: [],
  /** Other lines from the same start, which were played before. @type {{uci: string, san: string | null, fen?: string}[][]} */
  branches: [],
  /** The game that is played again. @type {ReadGame | null} */
  game: null,
  /** How many moves of the line are on the board. */
  ply: 0,
  /** @type {Policy} */
  policy: {},
  /** @type {View | null} What is seen, until the answer about the place on the board is there. */
  view: null,
  /** What is wrong with the address. */
  trouble: "",
  flipped: false,
};

/** Which games are meant: their speeds, the lowest ratings of their bands, when and by whom they were played; none: any. */
export const filters = {
  /** @type {string[]} */
  speeds: [],
  /** @type {number[]} */
  ratings: [],
  /** A year or a month. */
  since: "",
  until: "",
  /** A part of a player's name. */
  player: "",
  /** The player's color. */
  color: "",
};

/** Whether some games only are meant. */
export function isFiltered() {
  return Object.values(filters).some((value) => value.length > 0);
}

/** Says in a request which games are meant. @param {URLSearchParams} query */
export function narrow(query) {
  for (const [name, value] of Object.entries(filters)) if (value.length > 0 && !isAll(name, value)) query.set(name, String(value));
}

/** The values that at least one open book counts separately. @template {string | number} T @param {(book: Book) => T[]} of @returns {T[]} */
export function toldApart(of) {
  return [...new Set(state.books?.books.flatMap(of))];
}

/** Whether all speeds or ratings that are offered are chosen: then games of unknown ones are meant, too. @param {string} name @param {unknown} chosen */
function isAll(name, chosen) {
  const offered = name === "speeds" ? toldApart((book) => book.speeds) : name === "ratings" ? toldApart((book) => book.ratings) : null;
  return offered !== null && Array.isArray(chosen) && offered.every((/** @type {string | number} */ one) => chosen.includes(one));
}

/** What the filters leave of a book, in words; empty where it shows all its games. @param {Book | undefined} book */
export function onlyOf(book) {
  if (!isNarrowed(book)) return "";
  const ofAll = [...filters.speeds, ...filters.ratings.map(bandOf)];
  const ofGames = [filters.since && `since ${filters.since}`, filters.until && `until ${filters.until}`, filters.player && playerName()];
  return `only ${[...ofAll, ...(book?.games ? ofGames : [])].filter(Boolean).join(", ")}`;
}

/** The player of the filters, with the color. */
export function playerName() {
  return filters.color ? `${filters.player} as ${filters.color === "white" ? "White" : "Black"}` : filters.player;
}

/** The name of the band of ratings that begins here. @param {number} lowest */
export function bandOf(lowest) {
  const all = toldApart((book) => book.ratings).sort((a, b) => a - b);
  const next = all[all.indexOf(lowest) + 1];
  return next === undefined ? `${lowest}+` : lowest === 0 ? `below ${next}` : `${lowest}–${next - 1}`;
}

/** Whether a book shows a part of its games only. @param {Book | undefined} book */
function isNarrowed(book) {
  if (book?.games) return [filters.since, filters.until, filters.player].some(Boolean) || ["speeds", "ratings"].some((name) => isNarrowedBy(name));
  return book !== undefined && filters.speeds.length + filters.ratings.length > 0
    && (filters.speeds.length === 0 || book.speeds.length > 0) && (filters.ratings.length === 0 || book.ratings.length > 0);
}

/** Whether some of the speeds or ratings that are offered are chosen. @param {string} name */
function isNarrowedBy(name) {
  const chosen = name === "speeds" ? filters.speeds : filters.ratings;
  return chosen.length > 0 && !isAll(name, chosen);
}

/**
 * What came with the page.
 * @type {{key: string | null, changes: number, books: Books, view: View, kept: Record<string, string>}}
 */
export const first = JSON.parse(document.getElementById("known")?.textContent ?? "");

// What the server and the browser remember: the one for all its ports, the other for one.

export const memory = {
  /** Lets the server remember something. @type {(name: string, value: string) => void} */
  onKeep: () => {},
};

/** @param {string} name @returns {string | null} */
export function kept(name) {
  const known = first.kept[name];
  if (known !== undefined) return known;
  try {
    return localStorage.getItem(`tabiya-${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function keep(name, value) {
  first.kept[name] = value;
  memory.onKeep(name, value);
  keepHere(name, value);
}

/** Lets the browser remember something for this address alone. @param {string} name @param {string} value */
export function keepHere(name, value) {
  try {
    localStorage.setItem(`tabiya-${name}`, value);
  } catch {
    // It holds until the page is closed.
  }
}

/** How things are shown. */
export const taste = {
  /** Whether several books have one table; null where nobody has said. @type {boolean | null} */
  together: { together: true, each: false }[kept("tables") ?? ""] ?? null,
  /** Whether evaluations are those of the side to move, and not White's. */
  mover: kept("evaluations") === "mover",
};

/** Whether several books have one table now. Where books can be edited, each has its own at first. */
export function isTogether() {
  return shownBooks().length > 1 && (taste.together ?? !state.books?.edit);
}

/** A score of the side to move in this position, as it is shown. @param {Score} score @param {string} fen @returns {Score} */
export function asShown(score, fen) {
  if (taste.mover || fen.split(" ")[1] !== "b") return score;
  return score.mate !== undefined ? { mate: -score.mate } : { cp: -(score.cp ?? 0) };
}

/** Whose score it is, in words. */
export function whose() {
  return taste.mover ? "for the side to move" : "for White";
}

/** The variant of requests that name none. */
export function usualVariant() {
  return (state.books ?? first.books).variant ?? CHESS;
}

/** The variants of the books. @returns {Variant[]} */
export function variants() {
  const { variants, games } = state.books ?? first.books;
  return variants ?? [{ name: CHESS, title: "Standard", start: START, games }];
}

/** The variant of the books that a name stands for, in any spelling; else the name. @param {string} name */
function variantNamed(name) {
  const folded = (/** @type {string} */ text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return variants().find((variant) => [variant.name, variant.title].some((known) => folded(known) === folded(name)))?.name ?? name;
}

/** Where the games of a variant start. @param {string} [variant] */
export function startOf(variant = state.variant) {
  return variants().find(({ name }) => name === variant)?.start ?? START;
}

/** Whether requests and the address name a variant. @param {string} variant */
function isNamed(variant) {
  return variant !== CHESS || usualVariant() !== CHESS;
}

/** Says in a request which variant is meant. @param {URLSearchParams} query @param {string} [variant] */
export function nameVariant(query, variant = state.variant) {
  if (isNamed(variant)) query.set("variant", variant);
}

/** The moves on the board. */
function played() {
  return state.line.slice(0, state.ply).map((move) => move.uci);
}

/** @returns {Book[]} The books of the variant on the board. */
export function booksHere() {
  return (state.books?.books ?? []).filter((book) => variantOf(book) === state.variant);
}

/** @param {Book | undefined} book */
export function variantOf(book) {
  return book?.variant ?? CHESS;
}

/** @returns {Book[]} The books that are shown. */
export function shownBooks() {
  return booksHere().filter((book) => !state.hidden.has(book.id));
}

/** @param {number} id @returns {Book | undefined} */
export function bookOf(id) {
  return state.books?.books.find((book) => book.id === id);
}

/** The place on the board. @returns {Place} */
export function here() {
  return { variant: state.variant, start: state.start, play: played() };
}

/** @param {Place} one @param {Place} other */
export function isSame(one, other) {
  return one.variant === other.variant && one.start === other.start && one.play.join() === other.play.join();
}

/** What is seen, if it is about the place on the board. @returns {View | null} */
export function current() {
  return state.view && isSame(state.view.at, here()) ? state.view : null;
}

/** A place in a request. @param {Place} [place] */
export function queryOf({ variant, start, play } = here()) {
  const query = new URLSearchParams();
  nameVariant(query, variant);
  if (start !== startOf(variant)) query.set("start", start);
  if (play.length > 0) query.set("play", play.join());
  return query;
}

/** A place with the books and the policy. @param {Place} place */
export function question(place) {
  const query = queryOf(place);
  query.set("books", shownBooks().map((book) => book.id).join());
  for (const [name, value] of Object.entries(state.policy)) query.set(name, String(value));
  narrow(query);
  return query;
}

// The address: #e4,c5,Nf3 or #fen=FEN with _ for each space, and &moves=Nf3,d5 after it; of a variant #variant=atomic, with &fen= and &moves= after it.
// The filters are at its end: #e4,c5&speeds=blitz,rapid&since=2021.

/** @returns {string} */
export function addressOf() {
  const moves = state.line.slice(0, state.ply).map((move) => move.san ?? move.uci).join();
  const isUsual = state.start === startOf();
  const isPlain = isUsual && !isNamed(state.variant);
  const set = Object.entries(filters).filter(([, value]) => value.length > 0).map(([name, value]) => `${name}=${[value].flat().map(encodeURIComponent).join()}`);
  const parts = [isNamed(state.variant) && `variant=${state.variant}`, !isUsual && `fen=${state.start.replaceAll(" ", "_")}`, moves && (isPlain ? moves : `moves=${moves}`), ...set];
  const text = parts.filter(Boolean).join("&");
  return text && `#${text}`;
}

/** What is written with % as it is meant; the server says what it thinks of a stray one. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} hash @returns {{variant: string, start: string, moves: string, filters: typeof filters}} */
export function placeOf(hash) {
  const text = hash.replace(/^#/, "");
  /** @type {Map<string, string>} */
  const named = new Map();
  const moves = [];
  for (const part of (/[&=]/.test(text) ? text : decoded(text)).split("&")) {
    const [, name = "", value = ""] = /^([a-z]+)=(.*)$/.exec(part) ?? [];
    if (["variant", "fen", "moves", ...Object.keys(filters)].includes(name)) named.set(name, decoded(value));
    else if (part) moves.push(decoded(part));
  }
  const variant = named.has("variant") ? variantNamed(named.get("variant") ?? "") : usualVariant();
  const fen = named.get("fen");
  return { variant, start: fen === undefined ? startOf(variant) : fen.replaceAll("_", " "), moves: [named.get("moves"), ...moves].filter(Boolean).join(), filters: filtersOf(named) };
}

/** The filters that an address names; what is none is left out. @param {Map<string, string>} named @returns {typeof filters} */
function filtersOf(named) {
  const list = (/** @type {string} */ name) => (named.get(name) ?? "").split(",").filter(Boolean);
  const like = (/** @type {string} */ name, /** @type {RegExp} */ form) => form.exec(named.get(name) ?? "")?.[0] ?? "";
  return {
    speeds: list("speeds"), ratings: list("ratings").map(Number).filter(Number.isInteger),
    since: like("since", DATE), until: like("until", DATE), player: (named.get("player") ?? "").slice(0, 80), color: like("color", /^(white|black)$/),
  };
}

/** A year or a month. */
const DATE = /^\d{4}(-(0[1-9]|1[0-2]))?$/;

// Numbers as people read them.

/** 12.4k for 12,400; whole below a thousand. @param {number} count @returns {string} */
export function brief(count) {
  for (const [unit, letter] of /** @type {[number, string][]} */ ([[1e9, "G"], [1e6, "M"], [1e3, "k"]])) {
    if (count >= unit) {
      const digits = count < 99.95 * unit ? 1 : 0;
      return (count / unit).toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }) + letter;
    }
  }
  return exact(count);
}

/** @param {number} count @returns {string} */
export function exact(count) {
  return count.toLocaleString();
}

/** 41 %, and 0.4 % where the share is small. @param {number} share @returns {string} */
export function percent(share) {
  const value = share * 100;
  if (value > 0 && value < 0.05) return "< 0.1 %";
  const digits = value < 9.95 && value !== 0 ? 1 : 0;
  return value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " %";
}

/** +0.31, −1.20, #3. @param {Score} score @returns {string} */
export function evaluation(score) {
  if (score.mate !== undefined) return `${score.mate < 0 ? "−" : ""}#${Math.abs(score.mate)}`;
  const pawns = Math.abs(score.cp ?? 0) / 100;
  const sign = (score.cp ?? 0) < 0 ? "−" : "+";
  return sign + pawns.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** What a score is worth to the side to move. @param {Score | null} score @returns {number | null} */
export function worthOf(score) {
  if (!score) return null;
  return score.mate === undefined ? score.cp ?? 0 : score.mate > 0 ? 1e6 - score.mate : -1e6 - score.mate;
}

/** "1 move", "4 moves". @param {number} count @param {string} word @param {string} [plural] @returns {string} */
export function many(count, word, plural = `${word}s`) {
  return `${exact(count)} ${count === 1 ? word : plural}`;
}

// The number of a move, as it is written: "6." or "6...".

/** @param {number} ply Plies after the line's start. @returns {{number: number, white: boolean}} */
export function moveNumber(ply) {
  const fields = state.start.split(" ");
  const [turn, full] = [fields[1], fields.at(-1)];
  const plies = (turn === "b" ? 1 : 0) + ply;
  return { number: (Number(full) || 1) + Math.floor(plies / 2), white: plies % 2 === 0 };
}

/** "1. e4 c5 2. Nf3" of moves that begin at this ply. @param {string[]} sans @param {number} ply */
export function written(sans, ply) {
  return sans.map((san, index) => {
    const { number, white } = moveNumber(ply + index);
    return white ? `${number}. ${san}` : index === 0 ? `${number}... ${san}` : san;
  }).join(" ");
}
