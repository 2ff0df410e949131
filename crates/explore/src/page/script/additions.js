// Editing, continued: colours and marks of CTG books, and moves that a book does not have yet.

import { byId, el, focusOn, staying } from "./dom.js";
import { editedValue, editOf, editor, linkButton, numberOf, rangeOf, say, unitOf, write } from "./edit.js";
import { getJson, words } from "./net.js";
import { isSame, question, state } from "./state.js";
import { wholeLine } from "./steps.js";
import { tables } from "./tables.js";
/** @import { Book, BookMove, BookView, LegalMove, Looks, View } from "./state.js" */

export const MARKS = ["!", "?", "!!", "??", "!?", "?!", "only", "zugzwang"];

/** @type {Record<string, string>} */
const MARK_NAMES = { "!": "good move", "?": "mistake", "!!": "excellent move", "??": "blunder", "!?": "interesting", "?!": "doubtful", only: "only move", zugzwang: "zugzwang" };

/** The menu of a move's colour and mark. @param {BookView} book @param {Book} known @param {BookMove} move @param {EventTarget | null} opener */
export function openLooks(book, known, move, opener) {
  closeLooks();
  if (!(opener instanceof HTMLElement)) return;
  const now = editedValue(known, move);
  const looks = { color: now.color ?? null, mark: now.mark ?? null };
  const edit = { ...editOf(book, known, move, "set"), expect: looks };
  const choose = (/** @type {Partial<Looks>} */ change) => {
    const value = { ...looks, ...change };
    closeLooks();
    focusOn(byId("tables").querySelector(`[data-focus="${known.id} ${move.uci} looks"]`));
    if (value.color === looks.color && value.mark === looks.mark) return;
    void write({ ...edit, value: value.color || value.mark ? value : "none" });
  };
  const item = (/** @type {string} */ text, /** @type {boolean} */ on, /** @type {string} */ kind, /** @type {string} */ name, /** @type {Partial<Looks>} */ change) =>
    el("button", { type: "button", role: "menuitemradio", class: kind, "aria-checked": String(on), "aria-label": name, title: name, onclick: () => choose(change) }, text);
  const menu = el("div", { id: "looks", role: "menu", "aria-label": `Colour and mark of ${move.san}`, onkeydown: onLooksKey },
    el("div", { role: "group", "aria-label": "Colour" },
      item("none", looks.color === null, "", "no color", { color: null }),
      item("green", looks.color === "green", "green", "green: recommended", { color: "green" }),
      item("red", looks.color === "red", "red", "red: to be avoided", { color: "red" })),
    el("div", { role: "group", "aria-label": "Mark" },
      item("none", looks.mark === null, "", "no mark", { mark: null }),
      ...MARKS.map((mark) => item(mark, looks.mark === mark, "", MARK_NAMES[mark] ?? mark, { mark }))));
  document.body.append(menu);
  const box = opener.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(box.left, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${box.bottom + menu.offsetHeight + 8 < innerHeight ? box.bottom + 4 : Math.max(8, box.top - menu.offsetHeight - 4)}px`;
  focusOn(menu.querySelector("[aria-checked=true]"));
  menu.addEventListener("focusout", (event) => {
    if (!(event.relatedTarget instanceof Node) || !menu.contains(event.relatedTarget)) closeLooks();
  });
}

/** @param {KeyboardEvent} event */
function onLooksKey(event) {
  const items = [...byId("looks").querySelectorAll("button")];
  const at = items.findIndex((button) => button === document.activeElement);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (event.key === "Escape") closeLooks();
  else if (step) items[(at + step + items.length) % items.length]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function closeLooks() {
  const menu = document.getElementById("looks");
  if (!menu) return;
  menu.id = "";
  menu.remove();
}

// Adding.

/** Adds the move that left the book, where it did. @param {BookView} book @param {Book} known @param {View} view @returns {Element | null} */
export function addingLast(book, known, view) {
  const last = view.line.at(-1);
  const at = { ...book.at, play: book.at.play.slice(0, -1), fen: view.line.at(-2)?.fen ?? view.start };
  const note = tables.notes.get(book.id);
  const isAdded = note !== undefined && isSame(note.place, at);
  if (!last || isAdded || book.error || view.ancestor?.ply !== at.play.length) return null;
  const add = async () => {
    try {
      /** @type {View} */
      const before = await getJson(`/api/view?${question(at)}`);
      const moves = before.books.find(({ id }) => id === book.id)?.moves ?? [];
      await write({ at, book: book.id, move: last.uci, san: last.san, op: "add", value: usualNumber(moves, known), expect: null, lasts: true });
    } catch (error) {
      say(book.id, at, true, el("span", { class: "problem" }, words(error)));
    }
  };
  return linkButton(`Add ${last.san}`, `${book.id} add last`, () => void add());
}

/** The number with which a new move is played about as often as the others: their median. @param {BookMove[]} moves @param {Book} known */
export function usualNumber(moves, known) {
  const range = rangeOf(known);
  if (!range) return "none";
  const numbers = moves.map((move) => numberOf(editedValue(known, move))).filter((number) => number > 0).sort((a, b) => a - b);
  const median = numbers[Math.floor(numbers.length / 2)] ?? (known.edit?.priority ? 5 : 1);
  return Math.min(range.max, Math.max(range.min, median));
}

/** Opens the form that adds a move, with this one chosen. @param {number} book @param {string} uci */
export function openAdding(book, uci) {
  const node = editor.forms.get(book)?.node;
  const select = node?.querySelector("select");
  if (!(node instanceof HTMLDetailsElement) || !select) return;
  node.open = true;
  select.value = uci;
  node.scrollIntoView({ block: "nearest" });
  focusOn(node.querySelector("input, button"));
}

/** How many forms that add a move were made. */
let forms = 0;

/** @param {LegalMove} move @param {boolean} [selected] */
function optionOf(move, selected = false) {
  return el("option", { value: move.uci, selected }, move.san);
}

/** Whether what is chosen in a form is still missing; then the form offers what else is, and what was written there stays. @param {HTMLElement} form @param {LegalMove[]} missing */
function offers(form, missing) {
  const select = form.querySelector("select");
  if (!select || !missing.some(({ uci }) => uci === select.value)) return false;
  for (const option of [...select.options]) if (!missing.some(({ uci }) => uci === option.value)) option.remove();
  missing.forEach((move, index) => {
    if (select.options[index]?.value !== move.uci) select.add(optionOf(move), index);
  });
  return true;
}

/** The form that adds a move; it outlives new answers about the same position. @param {BookView} book @param {Book} known @param {LegalMove[]} legal */
export function adding(book, known, legal) {
  const missing = legal.filter((move) => !book.moves.some(({ uci }) => uci === move.uci));
  // A move that was played from here is the likeliest.
  const played = wholeLine()[state.ply]?.uci;
  const key = `${book.at.fen} ${played}`;
  const kept = editor.forms.get(book.id);
  if (kept?.key === key && offers(kept.node, missing)) return staying(kept.node);
  if (missing.length === 0) return null;
  const range = rangeOf(known);
  const number = range && el("input", { type: "number", name: "value", class: "value", required: true, min: range.min, max: range.max, value: usualNumber(book.moves, known),
    "data-focus": `${book.id} add value`, "aria-label": `${unitOf(known)} of the new move` });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const wanted = new FormData(event.currentTarget);
    const move = legal.find(({ uci }) => uci === wanted.get("move"));
    if (!move) return;
    void write({ at: book.at, book: book.id, move: move.uci, san: move.san, op: "add", value: range ? Number(wanted.get("value")) : "none", expect: null });
  };
  const select = el("select", { name: "move", "aria-label": "Move to add", "data-focus": `${book.id} add move` },
    ...missing.map((move) => optionOf(move, move.uci === played)));
  // What was chosen in a form is chosen in no other, not even in the next one of this position.
  forms += 1;
  const node = el("details", { class: "adding", "data-book": `${book.id} form ${forms}` }, el("summary", { "data-focus": `${book.id} adding` }, "Add a move"),
    el("form", { onsubmit: submit }, select, number && unitOf(known), number, el("button", { type: "submit", class: "button", "data-focus": `${book.id} add` }, "Add")));
  if (kept?.node.hasAttribute("open")) node.open = true;
  editor.forms.set(book.id, { key, node });
  return node;
}
