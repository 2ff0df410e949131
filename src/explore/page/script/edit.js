// Editing: each change is saved at once, says what the page showed before, and can be taken back.

/**
 * @typedef {{book: number, start: string | null, play: string[], move: string, san: string, op: "set" | "add" | "delete",
 *   value?: number | Looks | "none", expect: Value | null}} Edit
 */

const editor = {
  /** @type {{key: string, input: HTMLInputElement} | null} The field that is open. */
  open: null,
  /** @type {Map<string, number>} What each value that is being saved is to become. */
  wanted: new Map(),
  /** @type {Set<string>} Moves that are being saved. */
  busy: new Set(),
  /** The book that was edited last. @type {number | null} */
  last: null,
  /** @type {Map<number, {fen: string, node: HTMLElement}>} The forms that add a move. */
  forms: new Map(),
};

/** A note under a book's table. @param {number} book @param {...Child} parts */
function say(book, ...parts) {
  tables.notes.set(book, parts);
  drawTables();
  announce(parts.map((part) => part instanceof Node ? part.textContent : part || "").join(""));
}

/** @param {string} text @param {string} focus @param {() => void} action */
function linkButton(text, focus, action) {
  return el("button", { type: "button", class: "link", "data-focus": focus, onclick: action }, text);
}

/** "60", or "green, !" in a CTG book. @param {Value | null | undefined} value */
function valueText(value) {
  if (!value) return "nothing";
  if (value.weight !== undefined && value.color === undefined) return exact(value.weight);
  if (value.priority !== undefined) return exact(value.priority);
  return [value.color, value.mark].filter(Boolean).join(", ") || "no colour and no mark";
}

/** Puts what was written into the table at once; the chances follow with the server's next answer. @param {Edit} edit @param {Value | null} value */
function showWritten(edit, value) {
  const { view } = state;
  const place = here();
  if (!view || !isCurrent(view) || edit.start !== place.start || edit.play.join() !== place.play.join()) return;
  const book = view.books.find(({ id }) => id === edit.book);
  const move = book?.moves.find(({ uci }) => uci === edit.move);
  if (!book || !move) return;
  if (edit.op === "delete") book.moves = book.moves.filter((other) => other !== move);
  else if (value?.color !== undefined) {
    move.recommended = value.color === null ? null : value.color === "green";
    move.annotation = value.mark ?? null;
  } else Object.assign(move, value);
}

/** Writes an edit, and says what came of it. @param {Edit} edit @returns {Promise<Value | null>} What the book says now. */
async function write(edit) {
  const { book, san } = edit;
  editor.last = book;
  try {
    const answer = await postJson("/api/edit", { ...edit, san: undefined });
    showWritten(edit, answer.after);
    const what = edit.op === "delete" ? `${san} deleted` : edit.op === "add" ? `${san} added` : `${san} ${valueText(answer.before)} → ${valueText(answer.after)}`;
    say(book, `${what} · saved`, ...(bookOf(book)?.edit?.undo ? [" · ", linkButton("undo", `${book} undo`, () => void takeBack("undo", book))] : []));
    refresh();
    return answer.after;
  } catch (error) {
    if (error instanceof Refusal && error.code === "conflict") {
      const now = /** @type {Value | null} */ (error.body.now ?? null);
      say(book, el("span", { class: "problem" }, `${san}: ${error.message}. `), "Nothing was written. ",
        linkButton(`Keep ${valueText(now)}`, `${book} keep`, () => {
          tables.notes.delete(book);
          refresh();
        }), " · ",
        linkButton(edit.op === "delete" ? "Delete it all the same" : `Write ${typeof edit.value === "object" ? valueText(edit.value) : edit.value} all the same`,
          `${book} insist`, () => void write({ ...edit, expect: now })));
      refresh();
      throw error;
    }
    say(book, el("span", { class: "problem" }, `${san}: ${words(error)} `), linkButton("Try again", `${book} again`, () => void write(edit).catch(() => {})));
    throw error;
  }
}

/** Takes back the last edit of a book, or makes it again. @param {"undo" | "redo"} way @param {number} [which] */
async function takeBack(way, which) {
  const editable = shownBooks().filter((book) => book.edit?.undo);
  const book = which ?? editable.find(({ id }) => id === editor.last)?.id ?? editable[0]?.id;
  if (book === undefined) {
    toast(state.books?.edit ? "This book cannot take edits back" : "Start with --edit to change books");
    return;
  }
  try {
    const answer = await postJson(`/api/${way}`, { book });
    editor.last = book;
    const start = answer.start ?? START;
    const elsewhere = Array.isArray(answer.play) && (answer.play.join() !== played().join() || start !== state.start);
    const [other, text] = way === "undo" ? /** @type {const} */ (["redo", "taken back"]) : /** @type {const} */ (["undo", "made again"]);
    say(book, `${answer.note ? `${answer.note}: ` : ""}${text} · `, linkButton(other, `${book} ${other}`, () => void takeBack(other, book)),
      elsewhere && " · ", elsewhere && linkButton("show where", `${book} where`, () => goToPlace(start, answer.play)));
    refresh();
  } catch (error) {
    say(book, el("span", { class: "problem" }, words(error)));
  }
}

/** @param {Book} known @param {BookMove} move */
function removeMove(known, move) {
  void write({ book: known.id, ...here(), move: move.uci, san: move.san, op: "delete", expect: editedValue(known, move) }).catch(() => {});
}

/** The place of an edit. */
function here() {
  return { start: state.start === START ? null : state.start, play: played() };
}

// Weights, priorities and half-points.

/** @param {BookMove} move @param {BookView} book @param {Book} known @returns {HTMLElement} */
function valueButton(move, book, known) {
  const key = `${book.id} ${move.uci} value`;
  if (editor.open?.key === key) return editor.open.input;
  const number = editor.wanted.get(key) ?? numberOf(editedValue(known, move));
  const unit = unitOf(known);
  return el("button", {
    type: "button", class: "value", "data-focus": key, "aria-label": `${unit} of ${move.san}: ${number}, change`, title: `${exact(number)}: click, or drag to the side`,
    onclick: () => openField(key, move, known),
    onpointerdown: (/** @type {PointerEvent} */ event) => dragValue(event, move, known),
  }, known.format === "polyglot" || number < 100000 ? exact(number) : brief(number));
}

/** Turns a value into a field. @param {string} key @param {BookMove} move @param {Book} known */
function openField(key, move, known) {
  const range = rangeOf(known);
  if (!range || dragged) return;
  const shown = editedValue(known, move);
  /** @type {Edit} */
  const edit = { book: known.id, ...here(), move: move.uci, san: move.san, op: "set", expect: shown };
  const input = el("input", {
    type: "number", class: "value", min: range.min, max: range.max, value: numberOf(shown), "data-focus": key,
    "aria-label": `${unitOf(known)} of ${move.san}, ${range.min} to ${range.max}`,
  });
  let handled = input.value;
  // Moving the field to a new table makes the browser report a change that nobody made.
  const save = () => {
    if (tables.drawing || input.value === handled) return;
    handled = input.value;
    if (input.value !== "" && input.checkValidity()) void saveValue(key, input.valueAsNumber, edit);
    else say(known.id, el("span", { class: "problem" }, `${move.san}: write a whole number from ${range.min} to ${exact(range.max)}.`));
  };
  const close = () => {
    if (editor.open?.input !== input) return;
    editor.open = null;
    drawTables();
  };
  input.addEventListener("change", save);
  input.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.deltaY < 0) input.stepUp();
    else input.stepDown();
    save();
  }, { passive: false });
  input.addEventListener("blur", () => {
    save();
    if (!tables.drawing) close();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Enter") save();
    else input.value = handled = String(numberOf(edit.expect));
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  editor.open = { key, input };
  drawTables();
  input.focus();
  input.select();
}

/**
 * Saves a value. While one is being written, only the last of those that follow is kept.
 * @param {string} key @param {number} value @param {Edit} edit Its `expect` is what its field showed, then what was written.
 */
async function saveValue(key, value, edit) {
  editor.wanted.set(key, value);
  if (editor.busy.has(key)) return;
  editor.busy.add(key);
  try {
    for (;;) {
      const wanted = editor.wanted.get(key);
      if (wanted === undefined || wanted === numberOf(edit.expect)) break;
      edit.expect = await write({ ...edit, value: wanted });
    }
  } catch {
    // The note under the table says it, and the field shows the book's value when it is opened again.
    if (editor.open?.key === key) editor.open = null;
  }
  editor.wanted.delete(key);
  editor.busy.delete(key);
  drawTables();
}

/** Whether the pointer has just dragged a value, so that the click which follows opens no field. */
let dragged = false;

/** @param {PointerEvent} event @param {BookMove} move @param {Book} known */
function dragValue(event, move, known) {
  const range = rangeOf(known);
  const button = event.currentTarget;
  if (!range || event.button !== 0 || !(button instanceof HTMLElement)) return;
  const key = `${known.id} ${move.uci} value`;
  const shown = editedValue(known, move);
  const from = numberOf(shown);
  /** @type {Edit} */
  const edit = { book: known.id, ...here(), move: move.uci, san: move.san, op: "set", expect: shown };
  // A hand's breadth changes a small number by a hundred, and a great one by its own size.
  const pace = range.max <= 9 ? 0.05 : Math.max(1, from / 100);
  let value = from;
  dragged = false;
  const target = () => byId("tables").querySelector(`[data-focus="${CSS.escape(key)}"]`);
  const moved = (/** @type {PointerEvent} */ at) => {
    if (at.pointerId !== event.pointerId) return;
    const way = at.clientX - event.clientX;
    if (!dragged && Math.abs(way) < 4) return;
    dragged = true;
    value = Math.min(range.max, Math.max(range.min, Math.round(from + way * pace)));
    const node = target();
    if (node) node.textContent = exact(value);
    node?.classList.add("dragged");
  };
  const ended = (/** @type {PointerEvent} */ at) => {
    if (at.pointerId !== event.pointerId) return;
    removeEventListener("pointermove", moved);
    removeEventListener("pointerup", ended);
    removeEventListener("pointercancel", ended);
    target()?.classList.remove("dragged");
    if (dragged && at.type === "pointerup" && value !== from) void saveValue(key, value, edit);
    else if (dragged) drawTables();
    // The click comes before the next task.
    setTimeout(() => (dragged = false));
  };
  addEventListener("pointermove", moved);
  addEventListener("pointerup", ended);
  addEventListener("pointercancel", ended);
}
