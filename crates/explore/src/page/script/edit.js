// Editing: each change is saved at once, says what the page showed before, and can be undone.

import { bookOf, brief, exact, here, isSame, many, shownBooks, startOf, state, variantOf } from "./state.js";
import { announce, byId, el, staying, toast } from "./dom.js";
import { postJson, Refusal, words } from "./net.js";
import { refresh } from "./steps.js";
import { tables } from "./tables.js";
/** @import { At, Book, BookMove, BookView, Bounds, Counts, Looks, Made, Place, Value } from "./state.js" */
/** @import { Child } from "./dom.js" */

/** What an edit changes in a move of this book. @param {Book} book @param {BookMove} move @returns {Value} */
export function editedValue(book, move) {
  if (book.edit?.looks) {
    return { color: move.recommended === null ? null : move.recommended ? "green" : "red", mark: move.annotation };
  }
  return book.edit?.priority ? { priority: move.priority ?? move.weight } : { weight: move.weight };
}

/** @param {Value | null | undefined} value @returns {number} */
export function numberOf(value) {
  return value?.priority ?? value?.weight ?? 0;
}

/** What the numbers of a book that can be edited are called. @param {Book} book */
export function unitOf(book) {
  return book.edit?.unit ?? "weight";
}

/** @param {Book} book @returns {Bounds | null} */
export function rangeOf(book) {
  return book.edit?.weight ?? book.edit?.priority ?? null;
}

/**
 * @typedef {{at: At, book: number, move: string, san: string, op: "set" | "add" | "delete",
 *   value?: number | Looks | "none", expect: Value | null, lasts?: boolean}} Edit An edit goes where its row was, whatever is on the board by then;
 *   what came of it is said elsewhere too if it was asked for there.
 */
export const editor = {
  /** @type {{key: string, input: HTMLInputElement, leave: () => void, isChanged: () => boolean} | null} The field that is open. */
  open: null,
  /** @type {Map<string, Edit>} The values that are being saved, each with what it is to become. */
  saving: new Map(),
  /** How many edits are under way. */
  writing: 0,
  /** The book that was edited last. @type {number | null} */
  last: null,
  /** @type {Map<number, {key: string, node: HTMLElement}>} The forms that add a move. */
  forms: new Map(),
};

/** @param {BookView} book @param {Book} known @param {BookMove} move @param {"set" | "delete"} op @returns {Edit} */
export function editOf(book, known, move, op) {
  return { at: book.at, book: book.id, move: move.uci, san: move.san, op, expect: editedValue(known, move) };
}

/** What an edit changes: a move in a position of a book. @param {{at: At, book: number, move: string}} edit */
function keyOf({ at, book, move }) {
  return `${at.fen} ${book} ${move}`;
}

/**
 * A note under a book's table.
 * @param {number} book @param {Place} place @param {boolean} lasts Whether it matters in other places too. @param {...Child} parts
 */
export function say(book, place, lasts, ...parts) {
  // Nobody would see it, but it would take the place of what is said here.
  if (!lasts && !isSame(place, here())) return;
  const said = parts.filter((part) => part !== null && part !== undefined && part !== false);
  tables.notes.set(book, { place, lasts, parts: said });
  tables.redraw();
  announce(said.map((part) => part instanceof Node ? part.textContent : part).join(""));
}

/** @param {string} text @param {string} focus @param {() => void} action */
export function linkButton(text, focus, action) {
  return el("button", { type: "button", class: "link", "data-focus": focus, onclick: action }, text);
}

/** "60", or "green, !" in a CTG book. @param {Value | null | undefined} value */
function valueText(value) {
  if (!value) return "nothing";
  if (value.weight !== undefined && value.color === undefined) return exact(value.weight);
  if (value.priority !== undefined) return exact(value.priority);
  return [value.color, value.mark].filter(Boolean).join(", ") || "no color and no mark";
}

/** Puts what was written into the table at once; the chances follow with the server's next answer. @param {Edit} edit @param {Value | null} value */
function showWritten(edit, value) {
  const book = state.view?.books.find(({ id, at }) => id === edit.book && at.fen === edit.at.fen);
  const move = book?.moves.find(({ uci }) => uci === edit.move);
  if (!book || !move) return;
  if (edit.op === "delete") book.moves = book.moves.filter((other) => other !== move);
  else if (value?.color !== undefined) {
    move.recommended = value.color === null ? null : value.color === "green";
    move.annotation = value.mark ?? null;
  } else Object.assign(move, value);
}

/** The last change that was asked for. @type {Promise<unknown>} */
let asked = Promise.resolve();

/** Asks for a change of a book, as soon as those before it are answered: what takes one back comes after it. @param {string} path @param {unknown} body @returns {Promise<any>} */
export async function posted(path, body) {
  editor.writing += 1;
  const answer = asked.then(() => postJson(path, body));
  asked = answer.catch(() => {});
  try {
    return await answer;
  } finally {
    editor.writing -= 1;
  }
}

/** Writes an edit, and says what came of it. @param {Edit} edit @returns {Promise<Value | null | undefined>} What the book says now, if it was written. */
export async function write(edit) {
  const { at, book, move, san, op, value, expect, lasts = false } = edit;
  const problem = (/** @type {string} */ text) => el("span", { class: "problem" }, `${san}: ${text} `);
  editor.last = book;
  try {
    const start = at.start === startOf(at.variant) ? null : at.start;
    const made = await posted("/api/edit", { book, start, play: at.play, move, op, value, expect });
    const { before, after } = made;
    showWritten(edit, after);
    const what = op === "delete" ? `${san} deleted` : op === "add" ? `${san} added` : `${san} ${valueText(before)} → ${valueText(after)}`;
    say(book, at, lasts, `${what} · saved`, ...undoing(book, made));
    refresh();
    return after;
  } catch (error) {
    if (error instanceof Refusal && error.code === "conflict") {
      const now = /** @type {Value | null} */ (error.body.now ?? null);
      say(book, at, true, problem(`${error.message}.`), "Nothing was written. ",
        linkButton(`Keep ${valueText(now)}`, `${book} keep`, () => {
          tables.notes.delete(book);
          refresh();
        }), " · ",
        linkButton(op === "delete" ? "Delete it all the same" : `Write ${typeof value === "object" ? valueText(value) : value} all the same`,
          `${book} insist`, () => void write({ ...edit, expect: now })));
      refresh();
    } else {
      say(book, at, true, problem(words(error)), linkButton("Try again", `${book} again`, () => void write(edit)));
    }
    return undefined;
  }
}

/** The button that takes an edit back, and no other. @param {number} book @param {Made} made @returns {Child[]} */
export function undoing(book, made) {
  return bookOf(book)?.edit?.undo ? [" · ", linkButton("undo", `${book} undo`, () => void takeBack("undo", book, made))] : [];
}

/** How many moves come, change and go: "adds 14 moves, changes 2". @param {Counts} counts @param {[string, string, string]} verbs */
export function countsText({ adds, changes, deletes }, verbs) {
  const isDone = verbs[0].endsWith("ed");
  const parts = [adds, changes, deletes].map((count, index) => ({ count, verb: verbs[index] })).filter(({ count }) => count > 0);
  return parts.map(({ count, verb }, index) => {
    const number = index === 0 ? many(count, "move") : exact(count);
    return isDone ? `${number} ${verb}` : `${verb} ${number}`;
  }).join(", ");
}

/** What an edit did. @param {Made} made */
function whatWasDone({ san, move, before, after, note, counts }) {
  const name = san ?? move;
  if (!name) return `${countsText(counts, ["added", "changed", "deleted"])} ${note}`;
  const what = before === null ? "added" : after === null ? "deleted" : `${valueText(before)} → ${valueText(after)}`;
  return `${name} ${what}${note && ` ${note}`}`;
}

/** What names an edit in a request: `undefined` where only its book is known. @param {Made | undefined} made */
function namingOf(made) {
  if (!made?.play) return undefined;
  const { start, play, move, before, after, moves } = made;
  return move ? { start, play, move, before, after } : { start, play, moves };
}

/**
 * Takes back an edit of a book, or makes it again: the one that is named, if it is the last one; else the last one.
 * @param {"undo" | "redo"} way @param {number} [which] @param {Made} [named]
 */
export async function takeBack(way, which, named) {
  const editable = shownBooks().filter((book) => book.edit?.undo);
  const book = which ?? editable.find(({ id }) => id === editor.last)?.id ?? editable[0]?.id;
  if (book === undefined) {
    toast(state.books?.edit ? "Edits of this book cannot be undone" : "Start with --edit to change books");
    return;
  }
  try {
    /** @type {Made} */
    const answer = await posted(`/api/${way}`, { book, edit: namingOf(named) });
    editor.last = book;
    const variant = variantOf(bookOf(book));
    const place = Array.isArray(answer.play) ? { variant, start: answer.start ?? startOf(variant), play: answer.play } : here();
    const [other, text] = way === "undo" ? /** @type {const} */ (["redo", "undone"]) : /** @type {const} */ (["undo", "redone"]);
    say(book, place, true, `${whatWasDone(answer)}: ${text} · `, linkButton(other, `${book} ${other}`, () => void takeBack(other, book, answer)));
    refresh();
  } catch (error) {
    const next = error instanceof Refusal && error.code === "conflict" ? /** @type {Made | null} */ (error.body.now ?? null) : null;
    if (next?.note !== undefined) {
      say(book, here(), false, el("span", { class: "problem" }, `Nothing was changed: the last edit is another one, ${whatWasDone(next)}. `),
        linkButton(`${way} that one`, `${book} next`, () => void takeBack(way, book, next)));
      return;
    }
    say(book, here(), false, el("span", { class: "problem" }, words(error)));
  }
}

// Weights, priorities and half-points.

/** @param {BookMove} move @param {BookView} book @param {Book} known @returns {Element} */
export function valueButton(move, book, known) {
  const edit = settingOf(book, known, move);
  if (editor.open?.key === keyOf(edit)) return staying(editor.open.input);
  const number = wantedOf(edit);
  const unit = unitOf(known);
  return el("button", {
    type: "button", class: "value", "data-focus": focusOf(edit), "aria-label": `${unit} of ${move.san}: ${exact(number)}, change`, title: `${exact(number)}: change`,
    onclick: () => openField(edit, known),
  }, number < 100000 || (rangeOf(known)?.max ?? 0) < 100000 ? exact(number) : brief(number));
}

/** The edit of a value: that which is being saved, if one is. @param {BookView} book @param {Book} known @param {BookMove} move @returns {Edit} */
function settingOf(book, known, move) {
  const edit = editOf(book, known, move, "set");
  return editor.saving.get(keyOf(edit)) ?? edit;
}

/** What a value is, or will be as soon as it is saved. @param {Edit} edit @returns {number} */
function wantedOf({ value, expect }) {
  return typeof value === "number" ? value : numberOf(expect);
}

/** @param {Edit} edit */
function focusOf({ book, move }) {
  return `${book} ${move} value`;
}

/** Turns a value into a field; the wheel does not change it, and nothing is saved before it is left. @param {Edit} edit @param {Book} known */
function openField(edit, known) {
  const range = rangeOf(known);
  if (!range) return;
  const input = el("input", {
    type: "text", inputmode: "numeric", role: "spinbutton", autocomplete: "off", class: "value", value: wantedOf(edit), "data-focus": focusOf(edit),
    "aria-label": `${unitOf(known)} of ${edit.san}, ${range.min} to ${range.max}`, "aria-valuemin": range.min, "aria-valuemax": range.max, "aria-valuenow": wantedOf(edit),
  });
  let handled = input.value;
  const written = () => (/^\s*\d+\s*$/.test(input.value) ? Number(input.value) : NaN);
  const save = () => {
    if (input.value === handled) return;
    handled = input.value;
    const value = written();
    if (value >= range.min && value <= range.max) void saveValue(edit, value);
    else say(edit.book, edit.at, false, el("span", { class: "problem" }, `${edit.san}: write a whole number from ${range.min} to ${exact(range.max)}.`));
  };
  const close = () => {
    if (editor.open?.input !== input) return;
    editor.open = null;
    tables.redraw();
  };
  const leave = () => {
    if (tables.drawing || editor.open?.input !== input) return;
    save();
    close();
  };
  input.addEventListener("blur", leave);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (step) {
      input.value = String(Math.min(range.max, Math.max(range.min, (written() || 0) + step)));
      input.setAttribute("aria-valuenow", input.value);
    } else if (event.key === "Enter") {
      save();
      close();
    } else if (event.key === "Escape") {
      close();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  editor.open = { key: keyOf(edit), input, leave, isChanged: () => input.value !== handled };
  tables.redraw();
  input.focus();
  input.select();
}

/** Saves what was written into the open field, if one is open. */
export function closeField() {
  editor.open?.leave();
}

/**
 * Saves a value. While one is being written, only the last of those that follow is kept.
 * @param {Edit} edit Its `expect` is what was seen first, then what was written. @param {number} value
 */
async function saveValue(edit, value) {
  const key = keyOf(edit);
  edit.value = value;
  if (editor.saving.has(key) || value === numberOf(edit.expect)) return;
  editor.saving.set(key, edit);
  byId("tables").setAttribute("data-saving", String(editor.saving.size));
  /** @type {number | Looks | "none" | undefined} */
  let written;
  while (edit.value !== written) {
    written = edit.value;
    const after = await write({ ...edit });
    if (after === undefined) {
      // The note under the table says it, and the field shows the book's value when it is opened again.
      if (editor.open?.key === key) editor.open = null;
      break;
    }
    edit.expect = after;
  }
  editor.saving.delete(key);
  if (editor.saving.size === 0) byId("tables").removeAttribute("data-saving");
  tables.redraw();
}

/** Before the page is left: what was written into a field, or is being saved, would be lost. */
export function listenToLeaving() {
  addEventListener("beforeunload", (event) => {
    if (editor.writing > 0 || editor.open?.isChanged()) event.preventDefault();
  });
}
