// The tables: one for each book, side by side where there is room.

/** What is open or said beside the tables, which a new answer of the server must not take away. */
const tables = {
  /** @type {Set<string>} Rows whose other columns are shown, as "BOOK UCI". */
  unfolded: new Set(),
  /** @type {Map<number, {place: Place, lasts: boolean, parts: Child[]}>} What was last said of a book: saved, changed elsewhere, an error. */
  notes: new Map(),
  /** @type {Map<number, string>} The row of each book that Tab reaches. */
  rows: new Map(),
  /** While the tables are made anew, the focus leaves and comes back, which is no leaving. */
  drawing: false,
  /** Whether the pointer was last put down on a button or a field: the click is no click on their row, wherever it ends. */
  grasped: false,
  /** The width for which they were made. */
  width: 0,
  /** The width of the bars of results in the table that is being made, as if text had its usual size. */
  barWidth: 0,
};

/** Makes the tables anew and leaves the focus where it was. */
function drawTables() {
  const { view } = state;
  if (!view) return;
  const root = byId("tables");
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  tables.width = root.clientWidth;
  drawView();
  const gap = 24;
  const columns = Math.max(1, Math.min(view.books.length, Math.floor((tables.width + gap) / (LEAST * scale + gap))));
  const width = (tables.width - gap * (columns - 1)) / columns / scale;
  const focus = document.activeElement?.getAttribute("data-focus") ?? null;
  const inside = root.contains(document.activeElement);
  tables.drawing = true;
  root.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const whole = isTogether() ? allBooks(view, tables.width / scale) : null;
  if (whole) root.style.gridTemplateColumns = "minmax(0, 1fr)";
  const sections = whole ? [whole] : view.books.map((book) => bookSection(book, view, width));
  root.replaceChildren(...sections.filter((section) => section !== null));
  if (inside && focus) focusOn(root.querySelector(`[data-focus="${CSS.escape(focus)}"]`) ?? root.querySelector("button.san"));
  tables.drawing = false;
}

/** @param {Element | null} node */
function focusOn(node) {
  if (node instanceof HTMLElement) node.focus({ preventScroll: true });
}

/** @param {BookView} book @param {View} view @param {number} width @returns {HTMLElement | null} */
function bookSection(book, view, width) {
  const known = bookOf(book.id);
  if (!known) return null;
  return el("section", { class: known.edit ? "book editable" : "book", "data-book": book.id, "aria-label": book.name },
    book.moves.length > 0 ? moveTable(book, known, width) : el("h2", { class: "book-name" }, bookName(known)),
    book.moves.length === 0 && el("p", { class: "quiet" }, unknown(book, view)),
    book.comment && el("p", { class: "comment" }, book.comment),
    sums(book),
    book.rule && el("p", { class: "quiet" }, book.rule),
    sampleGame(book),
    known.edit && !view.end && adding(book, known, view.legal),
    noteOf(book));
}

/** Why a book has no moves. @param {BookView} book @param {View} view */
function unknown(book, view) {
  return book.error ?? (view.end ? "The game is over." : "This book does not know the position.");
}

/** What was last said of a book; what was done in another place is said here only if it matters here too. @param {BookView} book @returns {Child} */
function noteOf({ id, at }) {
  const note = tables.notes.get(id);
  if (!note) return null;
  const { place, lasts, parts } = note;
  const elsewhere = !isSame(place, at);
  return (lasts || !elsewhere) && el("p", { class: "note", "data-note": id }, ...parts,
    elsewhere && " · ", elsewhere && linkButton("show where", `${id} where`, () => goToPlace(place)));
}

/** @param {Book} known */
function bookName(known) {
  return el("span", { class: "name", title: known.path }, known.name, known.edit && el("span", { class: "unseen" }, " (can be edited)"));
}

/** @param {BookView} book @param {Book} known @param {number} width */
function moveTable(book, known, width) {
  const { shown, folded, spare } = columnsOf(book, known, width);
  const tools = known.edit || folded.length > 0 ? 1 : 0;
  const stretched = shown.some((column) => column.key === "bar") ? "bar" : shown.some((column) => column.flexible) ? "opening" : "chance";
  const extra = Math.min(64, spare * 0.4);
  const flexible = shown.filter((column) => column.flexible).map((column) => column.width);
  tables.barWidth = (flexible.reduce((sum, one) => sum + one, 0) + spare - extra) / Math.max(1, flexible.length) - 12;
  const cols = shown.map((column) => {
    const col = el("col");
    const more = column.key === "chance" ? extra : 0;
    if (column.key !== stretched && !(column.flexible && stretched === "bar")) col.style.width = `${(column.width + more) / 16}rem`;
    return col;
  });
  if (tools > 0) {
    const col = el("col");
    col.style.width = `${TOOL / 16}rem`;
    cols.push(col);
  }
  const reach = book.moves.some((move) => move.uci === tables.rows.get(book.id)) ? tables.rows.get(book.id) : book.moves[0]?.uci;
  const body = el("tbody", {}, ...sorting.sorted(book).flatMap((move) => moveRows(move, book, known, shown, folded, move.uci === reach)));
  return el("table", { onkeydown: onTableKey },
    el("caption", {}, bookName(known), el("span", { class: "unseen" }, `, ${many(book.moves.length, "move")}`)),
    el("colgroup", {}, ...cols),
    el("thead", {}, el("tr", {},
      ...shown.map((column) => sorting.head(column.key, column.key === "weight" && known.edit ? unitOf(known) : column.head, column.name, `${book.id} head ${column.key}`)),
      tools > 0 && el("td", { colspan: tools }))),
    body);
}

/** @param {BookMove} move @param {BookView} book @param {Book} known @param {Column[]} shown @param {Column[]} folded @param {boolean} reached */
function moveRows(move, book, known, shown, folded, reached) {
  const key = `${book.id} ${move.uci}`;
  const open = folded.length > 0 && tables.unfolded.has(key);
  const toggle = () => {
    if (!tables.unfolded.delete(key)) tables.unfolded.add(key);
    drawTables();
  };
  const cells = shown.map((column, index) => {
    const content = column.cell(move, book, known);
    const attributes = { class: column.key, title: column.title?.(move, book) ?? null };
    const children = Array.isArray(content) ? content : [content];
    return index === 0 ? el("th", { scope: "row", ...attributes }, ...children) : el("td", attributes, ...children);
  });
  const remove = (/** @type {string} */ kind, /** @type {string} */ text) => el("button", { type: "button", class: kind, "data-focus": `${key} delete`,
    "aria-label": `Delete ${move.san} from ${book.name}`, title: "Delete", onclick: () => askToDelete(editOf(book, known, move, "delete")) }, text);
  if (folded.length > 0) {
    cells.push(el("td", { class: "tool" }, el("button", { type: "button", class: "icon", "data-focus": `${key} more`, "aria-expanded": String(open),
      "aria-label": `More of ${move.san}`, onclick: toggle }, open ? "▴" : "▾")));
  } else if (known.edit) {
    cells.push(el("td", { class: "tool" }, remove("icon", "×")));
  }
  const row = el("tr", {
    class: move.why ? "move idle" : "move", "data-move": move.uci,
    onclick: (/** @type {MouseEvent} */ event) => {
      if (isControl(event.target) || (tables.grasped && event.detail > 0)) return;
      if (folded.length > 0 && tables.width < 600) toggle();
      else playMove(book.at, move);
    },
    onpointerenter: () => arrows.point(move),
    onpointerleave: () => arrows.point(null),
    onfocusin: () => {
      arrows.point(move);
      reach(book.id, move.uci);
    },
    onfocusout: () => arrows.point(null),
  }, ...cells);
  for (const control of row.querySelectorAll("button, input")) control.setAttribute("tabindex", reached ? "0" : "-1");
  if (!open) return [row];
  return [row, el("tr", { class: "details" }, el("td", { colspan: cells.length }, el("dl", {},
    ...folded.flatMap((column) => detail(column, move, book, known)),
    move.why && el("div", {}, el("dt", {}, "Not played"), el("dd", {}, move.why)),
    known.edit && el("div", {}, remove("button", "Delete")))))];
}

/** @param {Column} column @param {BookMove} move @param {BookView} book @param {Book} known @returns {Node[]} */
function detail(column, move, book, known) {
  const content = column.cell(move, book, known);
  if (content === "" || content === null) return [];
  return [el("div", { class: column.key }, el("dt", {}, column.name), el("dd", { title: column.title?.(move, book) ?? null }, ...(Array.isArray(content) ? content : [content])))];
}

/** @param {EventTarget | null} target @returns {boolean} */
function isControl(target) {
  return target instanceof Element && target.closest("button, input") !== null;
}

function listenToTables() {
  const root = byId("tables");
  // Rows of a position that is not on the board any more do nothing.
  for (const kind of ["pointerdown", "click", "submit"]) {
    root.addEventListener(kind, (event) => {
      if (current() || !(event.target instanceof Element) || !event.target.closest("tbody, .adding, .sample")) return;
      event.preventDefault();
      event.stopPropagation();
    }, true);
  }
  root.addEventListener("pointerdown", (event) => (tables.grasped = isControl(event.target)), true);
  new ResizeObserver(() => {
    if (tables.width !== root.clientWidth) drawTables();
  }).observe(root);
}

/** Lets Tab reach this row of the book and no other. @param {number} book @param {string} uci */
function reach(book, uci) {
  if (tables.rows.get(book) === uci) return;
  tables.rows.set(book, uci);
  for (const row of byId("tables").querySelectorAll(`[data-book="${book}"] tr.move`)) {
    const tab = row.getAttribute("data-move") === uci ? "0" : "-1";
    for (const control of row.querySelectorAll("button, input")) control.setAttribute("tabindex", tab);
  }
}

/** Up and down go from row to row. @param {KeyboardEvent} event */
function onTableKey(event) {
  const target = event.target;
  if (!(target instanceof HTMLElement) || target instanceof HTMLInputElement || event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = target.closest("tr.move");
  if (!step || !row) return;
  const rows = [...(row.parentElement?.querySelectorAll("tr.move") ?? [])];
  const next = rows[rows.indexOf(row) + step];
  const kind = target.getAttribute("data-focus")?.split(" ").at(-1) ?? "san";
  focusOn(next?.querySelector(`[data-focus$=" ${kind}"]`) ?? null);
  event.preventDefault();
  event.stopPropagation();
}

/** @param {BookView} book @returns {Child} */
function sums(book) {
  const parts = [];
  if (book.games !== null && book.moves.length > 0) parts.push(el("span", { title: many(book.games, "game") }, `Σ ${brief(book.games)} games here`));
  if (book.elsewhere) parts.push(el("span", { title: many(book.elsewhere, "game") }, `reached by other orders ${brief(book.elsewhere)}`));
  if (book.reserve) parts.push(`the line goes on for ${many(Math.ceil(book.reserve / 2), "move")}`);
  return parts.length > 0 && el("p", { class: "sums" }, ...parts.flatMap((part, index) => index === 0 ? [part] : [" · ", part]));
}

/** @param {BookView} book @returns {Child} */
function sampleGame(book) {
  const { game } = book;
  if (!game) return null;
  const player = (/** @type {string | null | undefined} */ name, /** @type {number | null | undefined} */ elo) => `${name ?? "?"}${elo ? ` (${elo})` : ""}`;
  const text = `${player(game.white, game.white_elo)} – ${player(game.black, game.black_elo)}${game.result ? `, ${game.result}` : ""}`;
  return el("p", { class: "sample" }, "A game: ", game.gone
    ? el("span", { title: "The file of games no longer exists" }, text)
    : el("button", { type: "button", class: "link", "data-focus": `${book.id} game`, onclick: () => openGame(book) }, text));
}

/** What concerns all books: the end of the book, an unknown position, the end of the game. */
function drawNotice() {
  const { view } = state;
  const notice = byId("notice");
  if (!view) return;
  const parts = [];
  const none = shownBooks().length === 0;
  // A book that cannot be read says so in its own table.
  const found = none || view.books.some((book) => book.found || book.error);
  if (state.trouble) parts.push(`${state.trouble} `);
  if (view.end) parts.push({ checkmate: "Checkmate.", stalemate: "Stalemate." }[view.end] ?? "Drawn: insufficient material.");
  else if (none) parts.push("No book is chosen: choose one above.");
  else if (!found && view.book_end !== null) parts.push(`The book ends here after ${many(Math.ceil(view.book_end / 2), "move")}.`);
  else if (!found) parts.push("No book knows this position.");
  const ancestor = view.ancestor;
  if (!found && view.book_end === null && ancestor && !view.end) {
    const sans = state.line.slice(0, ancestor.ply).map((move) => move.san ?? move.uci);
    parts.push(" The last known position is ", el("button", { type: "button", class: "link", onclick: () => goTo(ancestor.ply) },
      sans.length > 0 ? `after ${written(sans.slice(-2), Math.max(0, ancestor.ply - 2))}` : "the start"), ".");
  }
  const choice = view.choice;
  if (!found && choice && !(ancestor && view.book_end === null && choice.ply === ancestor.ply)) {
    parts.push(" ", el("button", { type: "button", class: "link", onclick: () => goTo(choice.ply) }, "Back to the last choice"));
  }
  notice.hidden = parts.length === 0;
  notice.replaceChildren(...parts);
}
