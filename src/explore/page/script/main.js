// The beginning: builds what is always there, listens, and shows the first position.

/** The books at the top, each of which can be hidden. */
function drawChips() {
  const books = state.books?.books ?? [];
  byId("books").replaceChildren(...books.map((book) => {
    const text = el("span", {}, book.name);
    const kind = book.edit ? "chip editable" : "chip";
    const title = [book.path, ...(book.edit?.whole ? ["each edit writes the whole file"] : []), ...book.warnings, book.error].filter(Boolean).join("\n");
    if (books.length === 1) return el("span", { class: kind, title }, text);
    return el("button", { type: "button", class: kind, title, "aria-pressed": String(!state.hidden.has(book.id)), "data-focus": `chip ${book.id}`, onclick: () => {
      if (!state.hidden.delete(book.id)) state.hidden.add(book.id);
      drawChips();
      focusOn(document.querySelector(`[data-focus="chip ${book.id}"]`));
      announced = "";
      refresh();
    } }, text);
  }));
  const warnings = books.flatMap((book) => [...book.warnings, ...(book.error ? [book.error] : [])].map((text) => ({ book, text })));
  byId("warnings").replaceChildren(...warnings.map(({ text }) => el("li", {}, text)));
}

/** @param {Books} books */
function takeBooks(books) {
  state.books = books;
  byId("open-settings").hidden = !books.settings;
  drawChips();
  drawPolicy();
  listenToEngine();
}

/** After a pause of the server: its books may be others. */
async function comeBack() {
  try {
    takeBooks(await getJson("/api/books"));
    announced = "";
    if (state.view) refresh();
    else await followAddress();
  } catch (error) {
    showProblem(words(error));
  }
}

async function main() {
  setTheme(keptTheme());
  board.build();
  for (const [square, piece] of piecesOf(START)) board.put(square, piece);
  listenToBoard();
  listenToKeys();
  listenToSearch();
  listenToSettings();
  buildPolicy();
  const wide = matchMedia("(min-width: 56.25rem)");
  if (wide.matches) byId("policy").setAttribute("open", "");
  const clicks = /** @type {[string, () => void][]} */ ([
    ["first", () => goTo(0)], ["back", () => goTo(state.ply - 1)], ["forward", () => goTo(state.ply + 1)], ["last", () => goTo(state.line.length)],
    ["flip", () => board.flip()], ["next-choice", () => void nextChoice()], ["last-choice", lastChoice],
    ["copy-fen", copyFen], ["copy-pgn", () => void copyPgn()], ["open-search", openSearch], ["open-keys", () => openDialog("keys")],
  ]);
  for (const [id, action] of clicks) byId(id).addEventListener("click", action);
  addEventListener("popstate", () => void followAddress());
  addEventListener("pagehide", () => {
    engine.close();
    connection.close();
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    connection.open();
    void comeBack();
  });
  new ResizeObserver(() => {
    if (tables.width !== byId("tables").clientWidth) drawTables();
  }).observe(byId("tables"));
  connection.onChanged = () => refresh();
  connection.onBack = () => void comeBack();
  connection.open();
  /** @type {{books: Books, view: View}} What came with the page. */
  const first = JSON.parse(byId("known").textContent ?? "");
  state.policy = { ...first.books.policy };
  takeBooks(first.books);
  await followAddress(first.view);
}

void main();
