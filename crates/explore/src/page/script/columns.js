// The columns of a table of moves: which a book has data for, how wide each is, and what a cell shows.

import { asShown, bookOf, brief, evaluation, exact, filters, many, percent, state, whose, worthOf } from "./state.js";
import { byId, el } from "./dom.js";
import { playMove } from "./steps.js";
import { inOrder, tables } from "./tables.js";
import { rangeOf, unitOf, valueButton } from "./edit.js";
import { openLooks } from "./additions.js";
import { thoughtCell, thoughts, widestThought } from "./thoughts.js";
/** @import { Book, BookMove, BookView } from "./state.js" */
/** @import { Child } from "./dom.js" */

/**
 * @typedef {{
 *   key: string, head: string, name: string, width: number, least?: number, rank: number, flexible?: boolean,
 *   has: (book: BookView, known: Book) => boolean,
 *   cell: (move: BookMove, book: BookView, known: Book) => Child | Child[],
 *   title?: (move: BookMove, book: BookView) => string | null,
 *   order?: (move: BookMove) => number | string | null,
 *   widest?: (known: Book) => Child
 * }} Column Where room is short it is as narrow as `least`, and as what it shows; `order` is what rows are sorted by, and `widest` what it may
 *   come to show.
 */

/** @param {(move: BookMove) => unknown} value @returns {(book: BookView) => boolean} */
function some(value) {
  return (book) => book.moves.some((move) => value(move) !== null && value(move) !== undefined);
}

/** Which column the rows of tables are sorted by; without one they come as the server has them, the likeliest first. */
export const sorting = {
  /** The key of the column. */
  key: "",
  /** Whether the smallest comes first. */
  up: false,

  /** The next order that a click on a head means: great first, small first, none. @param {string} key */
  turn(key) {
    const first = key === "move" || key === "opening";
    if (this.key !== key) Object.assign(this, { key, up: first });
    else if (this.up === first) this.up = !first;
    else this.key = "";
    tables.redraw();
  },
  /** Compares what two rows have; what is not known comes last. @param {number | string | null} a @param {number | string | null} b */
  compare(a, b) {
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    const less = typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
    return this.up ? less : -less;
  },
  /** @param {BookView} book @returns {BookMove[]} */
  sorted(book) {
    const order = COLUMNS.find(({ key }) => key === this.key)?.order;
    const moves = order ? [...book.moves].sort((a, b) => this.compare(order(a), order(b))) : book.moves;
    return bookOf(book.id)?.edit ? inOrder(book.id, book.at, this.asked(), moves) : moves;
  },
  /** What the order of rows depends on besides what the books say. */
  asked() {
    return JSON.stringify([this.key, this.up, state.policy, filters]);
  },
  /** The head of a column, which sorts by it if it has an order. @param {Column} column @param {string} key @param {string} text @param {string} name @param {string} focus @param {Record<string, string | number>} [more] */
  head(column, key, text, name, focus, more = {}) {
    if (!column.order) return el("th", { scope: "col", class: key, title: name, ...more }, text);
    const on = this.key === key;
    return el("th", { scope: "col", class: key, "aria-sort": on ? (this.up ? "ascending" : "descending") : null, ...more },
      el("button", { type: "button", class: on ? (this.up ? "sort up" : "sort down") : "sort", "data-focus": focus,
        title: name === text ? `Sort by ${text}` : `${name}: sort by it`, onclick: () => this.turn(key) }, text));
  },
};

/** Columns in the order in which they are seen; a smaller rank stays longer where there is little room. @type {Column[]} */
export const COLUMNS = [
  {
    key: "move", head: "move", name: "Move", width: 84, least: 56, rank: 0,
    has: () => true,
    cell: moveCell,
    order: (move) => move.san,
  },
  {
    key: "games", head: "games", name: "Games", width: 62, rank: 4,
    has: some((move) => move.games),
    cell: (move) => move.games === null ? "" : brief(move.games),
    title: (move) => move.games === null ? null : many(move.games, "game"),
    order: (move) => move.games,
  },
  {
    key: "bar", head: "results", name: "White · drawn · Black", width: 100, least: 64, rank: 2, flexible: true,
    has: some((move) => move.white),
    cell: resultBar,
    order: (move) => move.white === null ? null : move.white / Math.max(1, (move.white ?? 0) + (move.draws ?? 0) + (move.black ?? 0)),
  },
  {
    key: "score", head: "score", name: "Score", width: 60, rank: 5,
    has: some((move) => move.score),
    cell: (move) => move.score === null ? "" : percent(move.score),
    title: (move) => move.score === null ? null : `${(move.score * 100).toFixed(2)} % for the side that moves`,
    order: (move) => move.score,
  },
  {
    key: "chance", head: "chance", name: "Chance", width: 104, least: 58, rank: 1,
    has: (_, known) => !known.games,
    cell: chanceCell,
    title: (move) => move.why ? `Not played: ${move.why.text}` : `${(move.chance * 100).toFixed(2)} % under the policy below`,
    order: (move) => move.chance,
  },
  {
    key: "priority", head: "priority", name: "Priority", width: 68, rank: 3,
    has: (book, known) => Boolean(known.edit?.priority) || some((move) => move.priority)(book),
    cell: (move, book, known) => known.edit?.priority ? valueButton(move, book, known) : String(move.priority ?? ""),
    order: (move) => move.priority ?? null,
    widest: (known) => known.edit?.priority ? widestValue(known) : "",
  },
  {
    key: "weight", head: "weight", name: "Weight", width: 72, rank: 3,
    has: (book, known) => Boolean(known.edit?.weight) || book.moves.some((move) => move.weight !== move.games && move.weight !== move.priority),
    cell: (move, book, known) => known.edit?.weight ? valueButton(move, book, known) : brief(move.weight),
    title: (move) => `weight ${exact(move.weight)}`,
    order: (move) => move.weight,
    widest: (known) => known.edit?.weight ? widestValue(known) : "",
  },
  {
    key: "factor", head: "factor", name: "Factor", width: 60, rank: 8,
    has: some((move) => move.factor),
    cell: (move) => move.factor === null ? "" : `${move.factor > 0 ? "+" : ""}${move.factor}`,
    title: (move) => move.factor === null ? null : "From -125 (never) to 125 (twice as often), with Book Factor; the meaning is inferred",
    order: (move) => move.factor,
  },
  {
    key: "learn", head: "learned", name: "Learned", width: 70, rank: 8,
    has: some((move) => move.learn),
    cell: (move) => move.learn ? `${move.learn.halfpoints / 2}/${move.learn.games}` : "",
    title: (move) => move.learn ? `${move.learn.halfpoints / 2} points in ${many(move.learn.games, "game")} learned` : null,
    order: (move) => move.learn?.games ?? null,
  },
  {
    key: "eval", head: "eval", name: "Evaluation", width: 62, rank: 6,
    has: some((move) => move.eval),
    cell: (move, book) => move.eval ? evaluation(asShown(move.eval, book.at.fen)) : "",
    title: (move, book) => move.eval ? `${evaluation(asShown(move.eval, book.at.fen))} ${whose()}` : null,
    order: (move) => worthOf(move.eval),
  },
  {
    // Rows do not move while the engine thinks.
    key: "engine", head: "engine", name: "What the engine on this page says, and at which depth", width: 72, rank: 2.5,
    has: () => thoughts.shown,
    cell: thoughtCell,
    widest: widestThought,
  },
  {
    key: "loss", head: "loss", name: "Loss", width: 52, rank: 7,
    has: some((move) => move.loss),
    cell: (move) => move.loss === null ? "" : exact(move.loss),
    title: (move) => move.loss === null ? null : `${exact(move.loss)} centipawns worse than the best move of the book`,
    order: (move) => move.loss === null ? null : -move.loss,
  },
  {
    key: "average", head: "rating", name: "Rating", width: 60, rank: 10,
    has: some((move) => move.average),
    cell: (move) => move.average === null ? "" : String(move.average),
    order: (move) => move.average,
  },
  {
    key: "performance", head: "perf.", name: "Performance", width: 60, rank: 9,
    has: some((move) => move.performance),
    cell: (move) => move.performance === null ? "" : String(move.performance),
    order: (move) => move.performance,
  },
  {
    key: "last", head: "last", name: "Last played", width: 52, rank: 10,
    has: some((move) => move.last),
    cell: (move) => move.last ? String(move.last) : "",
    order: (move) => move.last ?? null,
  },
  {
    key: "opening", head: "leads to", name: "Leads to", width: 150, rank: 11, flexible: true,
    has: some((move) => move.opening),
    cell: (move) => move.opening?.name ?? "",
    title: (move) => move.opening ? `${move.opening.eco} ${move.opening.name}` : null,
    order: (move) => move.opening?.name ?? null,
  },
];

/** The greatest number that has room. @param {Book} known */
function widestValue(known) {
  return el("span", { class: "value" }, exact(Math.min(rangeOf(known)?.max ?? 0, 99_999)));
}

/** The least width of a chance with its bar. */
export const GAUGE_WIDTH = 96;

/** The width of a column of small buttons: what is folded away, or what deletes the move. */
export const TOOL = matchMedia("(pointer: coarse)").matches ? 44 : 30;

/** The least width of a table. */
export const LEAST = 300;

/** The widths that were measured last for each kind of table and book, and of what. @type {Map<string, {of: string, widths: Map<string, number>}>} */
const measured = new Map();

/** What the head of a column says. @param {Column} column @param {Book} known */
export function headOf(column, known) {
  return column.key === "weight" && known.edit ? unitOf(known) : column.head;
}

/**
 * How wide the columns of a book have to be for their longest text, in the fonts that this machine has, as if text had its usual size.
 * @param {string} kind The class of the table's section. @param {BookView} book @param {Book} known @param {(column: Column, move: BookMove) => Child | Child[]} cell
 * @returns {Map<string, number>} By the keys of the columns.
 */
export function widthsOf(kind, book, known, cell) {
  const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const of = JSON.stringify([size, known.edit, thoughts.shown, book.moves.map((move) => ({ ...move, chance: move.chance > 0, opening: null }))]);
  const place = `${kind} ${book.id}`;
  const last = measured.get(place);
  if (last?.of === of) return last.widths;
  const columns = COLUMNS.filter((column) => !column.flexible && column.has(book, known));
  const rulers = columns.map((column) => el("table", {},
    el("thead", {}, el("tr", {}, el("td", {}), el("th", { class: column.key }, el("span", { class: "sort" }, headOf(column, known))))),
    el("tbody", {}, ...[...book.moves.map((move) => [cell(column, move)].flat()), [column.widest?.(known) ?? ""]]
      .map((content) => el("tr", { class: "move" }, el("td", {}), el(column.key === "move" ? "th" : "td", { class: column.key }, ...content))))));
  const ruler = el("div", { class: `${kind} ruler`, "aria-hidden": "true" }, ...rulers);
  byId("facts").append(ruler);
  const widths = new Map(columns.map(({ key }, index) => [key, Math.ceil((16 * (rulers[index]?.offsetWidth ?? 0)) / size) + 1]));
  ruler.remove();
  measured.set(place, { of, widths });
  return widths;
}

/**
 * Widths within a room: each column gets what it would like to have, or less where that is too much, but never less than its least.
 * @template {{width: number, least: number}} T @param {T[]} columns @param {number} room @returns {{widths: Map<T, number>, spare: number}}
 */
export function widthsIn(columns, room) {
  const sum = (/** @type {(column: T) => number} */ value) => columns.reduce((all, column) => all + value(column), 0);
  const wish = sum(({ width, least }) => width - least);
  const spare = room - sum(({ least }) => least);
  const part = wish > 0 ? Math.max(0, Math.min(1, spare / wish)) : 0;
  return { widths: new Map(columns.map((column) => [column, column.least + (column.width - column.least) * part])), spare: Math.max(0, spare - wish * part) };
}

/** Columns of a smaller rank are made narrow before one of them is folded away. */
const FOLDED_RANK = 3;

/**
 * The columns that this book has: those that fit into a width, with their widths, and those that do not.
 * @param {BookView} book @param {Book} known @param {number} width @returns {{shown: Column[], folded: Column[], spare: number}}
 */
export function columnsOf(book, known, width) {
  const needed = widthsOf("book", book, known, (column, move) => column.cell(move, book, known));
  const all = COLUMNS.filter((column) => column.has(book, known)).map((column) => {
    const content = needed.get(column.key) ?? 0;
    return { ...column, width: Math.max(column.width, content), least: Math.max(column.least ?? column.width, content) };
  });
  const taken = (/** @type {typeof all} */ columns, /** @type {"width" | "least"} */ what) => columns.reduce((sum, column) => sum + column[what], 0);
  // What can be edited is seen before results are.
  const rank = (/** @type {Column} */ column) => (column.key === "weight" && known.edit?.weight) || (column.key === "priority" && known.edit?.priority) ? 1.5 : column.rank;
  const byRank = [...all].sort((a, b) => rank(a) - rank(b));
  const first = byRank.filter((column) => rank(column) < FOLDED_RANK).length;
  const whole = width - (known.edit ? TOOL : 0);
  if (taken(all, first === all.length ? "least" : "width") > whole) {
    while (byRank.length > first && taken(byRank, "width") > width - TOOL) byRank.pop();
    while (byRank.length > 2 && taken(byRank, "least") > width - TOOL) byRank.pop();
  }
  const shown = all.filter((column) => byRank.includes(column));
  const folded = all.filter((column) => !byRank.includes(column));
  const { widths, spare } = widthsIn(shown, folded.length > 0 ? width - TOOL : whole);
  return { shown: shown.map((column) => ({ ...column, width: widths.get(column) ?? column.width })), folded, spare };
}

/** The colour and the mark that a book gives a move, and what they mean in words. @param {BookMove} move */
export function looksOf({ recommended, annotation }) {
  const mark = annotation === "zugzwang" ? "⊙" : annotation === "only" ? "□" : annotation ?? "";
  const meaning = [recommended === null ? "" : recommended ? "recommended (green)" : "to be avoided (red)", annotation].filter(Boolean).join(", ");
  return { verdict: recommended === null ? "" : recommended ? "green" : "red", mark, meaning };
}

/** Changes the colour and the mark of a move. @param {BookMove} move @param {BookView} book @param {Book} known */
export function looksButton(move, book, known) {
  const { verdict, mark, meaning } = looksOf(move);
  return el("button", { type: "button", class: `looks ${verdict}`, "data-focus": `${book.id} ${move.uci} looks`, "aria-haspopup": "menu",
    "aria-label": `Colour and mark of ${move.san}: ${meaning || "none"}`, title: "Colour and mark",
    onclick: (/** @type {MouseEvent} */ event) => openLooks(book, known, move, event.currentTarget) }, mark || "·");
}

/** @param {BookMove} move @param {BookView} book @param {Book} known @returns {Child[]} */
function moveCell(move, book, known) {
  const { verdict, mark, meaning } = looksOf(move);
  return [
    el("button", { type: "button", class: `san ${verdict}`, "data-focus": `${book.id} ${move.uci} san`, title: meaning || null,
      onclick: () => playMove(book.at, move) }, move.san),
    known.edit?.looks ? looksButton(move, book, known)
      : meaning && el("span", { class: `mark ${verdict}`, title: meaning }, mark, el("span", { class: "unseen" }, ` ${meaning}`)),
  ];
}

/** A percentage is in the bar from 12 % on, where it has room. @param {BookMove} move @returns {Child} */
function resultBar(move) {
  const { white, draws, black } = move;
  if (white === null || draws === null || black === null) return "";
  const total = white + draws + black;
  if (total === 0) return "";
  const parts = /** @type {[string, string, number][]} */ ([["white", "White", white], ["draw", "drawn", draws], ["black", "Black", black]]);
  const label = parts.map(([, name, count]) => `${name} ${percent(count / total)} (${exact(count)})`).join(", ");
  return el("div", { class: "results", role: "img", "aria-label": label, title: label }, ...parts.flatMap(([kind, , count]) => {
    if (count === 0) return [];
    const share = count / total;
    const part = el("span", { class: kind }, share >= 0.12 && share * tables.barWidth >= 17 && String(Math.round(100 * share)));
    part.style.flexGrow = String(share);
    return [part];
  }));
}

/** Reasons in a word or two, by their codes; the whole one is the title. @type {Record<string, string>} */
const BRIEF_REASONS = {
  weight: "weight 0", threshold: "too rare", games: "few games", late: "too late", red: "red", bad: "marked ?", blunder: "marked ??", dubious: "marked ?!",
  "not-recommended": "not green", loss: "loses", repeats: "repeats", "not-best": "not best", short: "too short",
};

/** The bar of the likeliest move fills its place. @param {BookMove} move @param {BookView} book @returns {Child[]} */
export function chanceCell(move, book) {
  if (move.why || move.chance === 0) {
    return [el("span", { class: "reason", "aria-hidden": "true" }, el("span", { class: "why" }, move.why ? BRIEF_REASONS[move.why.code] ?? move.why.text : ""), el("span", {}, "–")),
      el("span", { class: "unseen" }, `not played${move.why ? `: ${move.why.text}` : ""}`)];
  }
  const fill = el("span", { class: "fill" });
  fill.style.width = `${Math.max(2, (100 * move.chance) / Math.max(...book.moves.map(({ chance }) => chance)))}%`;
  return [el("span", { class: "gauge", "aria-hidden": "true" }, fill), el("span", { class: "share" }, percent(move.chance))];
}
