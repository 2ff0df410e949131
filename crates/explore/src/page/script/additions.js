// Editing, continued: colours and marks of CTG books, and moves that a book does not have yet.

import { byId, el, focusOn, staying } from "./dom.js";
import { editedValue, editOf, editor, rangeOf, unitOf, write } from "./edit.js";
/** @import { Book, BookMove, BookView, LegalMove, Looks } from "./state.js" */

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

/** The form that adds a move; it outlives new answers about the same position. @param {BookView} book @param {Book} known @param {LegalMove[]} legal */
export function adding(book, known, legal) {
  const missing = legal.filter((move) => !book.moves.some(({ uci }) => uci === move.uci));
  const fen = `${book.at.fen} ${missing.length}`;
  const kept = editor.forms.get(book.id);
  if (kept?.fen === fen) return staying(kept.node);
  if (missing.length === 0) return null;
  const range = rangeOf(known);
  const select = el("select", { "aria-label": "Move to add", "data-focus": `${book.id} add move` },
    ...missing.map((move) => el("option", { value: move.uci }, move.san)));
  const number = range && el("input", { type: "number", class: "value", min: range.min, max: range.max, value: known.edit?.priority ? 5 : 1, "data-focus": `${book.id} add value`,
    "aria-label": `${unitOf(known)} of the new move` });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const move = missing.find(({ uci }) => uci === select.value);
    if (!move || (number && !number.checkValidity())) return;
    editor.forms.delete(book.id);
    void write({ at: book.at, book: book.id, move: move.uci, san: move.san, op: "add", value: number ? number.valueAsNumber : "none", expect: null });
  };
  const node = el("details", { class: "adding" }, el("summary", { "data-focus": `${book.id} adding` }, "Add a move"),
    el("form", { onsubmit: submit }, select, number && unitOf(known), number, el("button", { type: "submit", class: "button", "data-focus": `${book.id} add` }, "Add")));
  if (kept?.node.hasAttribute("open")) node.open = true;
  editor.forms.set(book.id, { fen, node });
  return node;
}
