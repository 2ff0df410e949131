// Editing, continued: lines that go into a book at once or leave it. What that does is said before it is done.

import { here, many, startOf } from "./state.js";
import { byId, el, focusOn, staying } from "./dom.js";
import { countsText, editor, linkButton, posted, rangeOf, say, undoing, unitOf, write } from "./edit.js";
import { Refusal, words } from "./net.js";
import { refresh } from "./steps.js";
import { tables } from "./tables.js";
/** @import { Edit } from "./edit.js" */
/** @import { Book, Counts, Made, Place } from "./state.js" */

/**
 * @typedef {{at: Place, book: number, op: "add" | "delete", text?: string, side?: string, value?: number}} LineEdit
 *   The line is that of the place, or what the text says from there; it may be for one side, and its moves may all get one value.
 */

/** The forms that take a line, which outlive the position. @type {Map<number, HTMLElement>} */
const lineForms = new Map();

/** Sends a line, with what it must do to the book if that is to be done. @param {LineEdit} edit @param {Counts} [expect] @returns {Promise<any>} */
function sent({ at, ...line }, expect) {
  const start = at.start === startOf(at.variant) ? null : at.start;
  return posted("/api/line", { ...line, start, play: at.play, expect });
}

/** Says what a line would do, and does it as soon as that is wanted. @param {LineEdit} edit @param {string} [before] What is said first. */
export async function askForLine(edit, before = "") {
  const { at, book, op } = edit;
  const forget = () => {
    tables.notes.delete(book);
    tables.redraw();
  };
  try {
    /** @type {Counts} */
    const counts = await sent(edit);
    const { adds, changes, deletes, stays } = counts;
    if (adds + changes + deletes === 0) {
      say(book, at, true, `${before}The book has ${stays === 1 ? "this move" : `these ${many(stays, "move")}`}: there is nothing to change.`);
      return;
    }
    const same = stays > 0 && `; ${many(stays, "move")} of it ${stays === 1 ? "is" : "are"} in the book`;
    say(book, at, true, `${before}The line ${countsText(counts, ["adds", "changes", "deletes"])}`, same, ". ",
      linkButton(op === "add" ? "Add it" : "Delete", `${book} line do`, () => {
        forget();
        void writeLine(edit, counts);
      }), " · ", linkButton(op === "add" ? "Leave it" : "Keep", `${book} keep`, forget));
    focusOn(byId("tables").querySelector(`[data-focus="${book} line do"]`));
  } catch (error) {
    say(book, at, true, el("span", { class: "problem" }, words(error)));
  }
}

/** Writes a line, if it does what was said. @param {LineEdit} edit @param {Counts} counts */
async function writeLine(edit, counts) {
  const { at, book } = edit;
  editor.last = book;
  try {
    /** @type {Made} */
    const made = await sent(edit, counts);
    say(book, at, true, `${countsText(made.counts, ["added", "changed", "deleted"])} · saved`, ...undoing(book, made));
    refresh();
  } catch (error) {
    if (error instanceof Refusal && error.code === "conflict") {
      await askForLine(edit, "The book has changed since, and nothing was written. ");
      refresh();
    } else {
      say(book, at, true, el("span", { class: "problem" }, `${words(error)} `), linkButton("Try again", `${book} again`, () => void writeLine(edit, counts)));
    }
  }
}

/** Deletes a move as soon as it is said once more; with all that only this move leads to, if that is wanted. @param {Edit} edit */
export function askToDelete(edit) {
  const { at, book, san, move } = edit;
  const forget = () => {
    tables.notes.delete(book);
    tables.redraw();
  };
  say(book, at, false, `Delete ${san} and what is known of it? `, linkButton("Delete", `${book} delete`, () => {
    forget();
    void write(edit);
  }), " · ", linkButton("With all that only it leads to", `${book} delete line`, () => {
    void askForLine({ at: { ...at, play: [...at.play, move] }, book, op: "delete" });
  }), " · ", linkButton("Keep", `${book} keep`, forget));
  focusOn(byId("tables").querySelector(`[data-focus="${book} delete"]`));
}

/** The form that adds a line, or deletes one. @param {Book} known @returns {Element} */
export function lineForm(known) {
  const kept = lineForms.get(known.id);
  if (kept) return staying(kept);
  const range = rangeOf(known);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const wanted = new FormData(event.currentTarget, event.submitter);
    const [text, side, value] = ["text", "side", "value"].map((name) => String(wanted.get(name) ?? "").trim());
    const op = wanted.get("op") === "delete" ? "delete" : "add";
    const more = op === "add" ? { ...(side && { side }), ...(value && { value: Number(value) }) } : {};
    void askForLine({ at: here(), book: known.id, op, ...(text && { text }), ...more });
  };
  const name = (/** @type {string} */ part) => `${known.id} line ${part}`;
  const node = el("details", { class: "adding", "data-book": name("form") }, el("summary", { "data-focus": name("open") }, "Add or delete a line"),
    el("form", { onsubmit: submit },
      el("textarea", { name: "text", rows: 2, "data-focus": name("text"), "aria-label": "Moves, a game or a study; empty: the moves on the board", placeholder: "The moves on the board, or paste moves, a game or a study" }),
      el("select", { name: "side", "aria-label": "Moves to add", "data-focus": name("side") }, el("option", { value: "" }, "all moves"), el("option", { value: "white" }, "White's"), el("option", { value: "black" }, "Black's")),
      range && unitOf(known),
      range && el("input", { type: "number", name: "value", class: "value", min: range.min, max: range.max, placeholder: "usual", "data-focus": name("value"), "aria-label": `${unitOf(known)} of all moves of the line; empty: the usual one for new moves` }),
      el("button", { type: "submit", name: "op", value: "add", class: "button", "data-focus": name("add") }, "Add the line"),
      el("button", { type: "submit", name: "op", value: "delete", class: "button", title: "Delete its last move, and all that only this move leads to", "data-focus": name("delete") }, "Delete its last move")));
  lineForms.set(known.id, node);
  return node;
}
