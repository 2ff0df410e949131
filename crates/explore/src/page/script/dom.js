// Elements that scripts make and change, what is said of the whole page, dialogs, and the clipboard.

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** @typedef {Node | string | null | false | undefined} Child */

/**
 * An element with its attributes and children; functions are listeners of the event whose name follows "on".
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") hearOn(node, key.replace(/^on/, ""), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Changing in place: an element that is pressed or has the focus stays where what it shows is drawn anew.

/** @typedef {(event: any) => void} Listener */
/** What each element of a script listens with. @type {WeakMap<Element, Map<string, Listener>>} */
const listeners = new WeakMap();

/** The elements for which others keep the place. @type {WeakMap<Node, Element>} */
const placesOf = new WeakMap();

/** What is to be drawn as soon as nothing in there is pressed any more. @type {Map<Element, () => void>} */
const delayed = new Map();

/** What the pointer is pressed on. @type {Node | null} */
let pressed = null;

/** @param {Element} node @param {string} kind @param {Listener} listener */
function hearOn(node, kind, listener) {
  const own = listeners.get(node) ?? new Map();
  listeners.set(node, own);
  if (!own.has(kind)) node.addEventListener(kind, (event) => listeners.get(node)?.get(kind)?.(event));
  own.set(kind, listener);
}

/** An element that stays as it is, for a tree that is about to be drawn. @template {Element} T @param {T} node @returns {Element} */
export function staying(node) {
  if (!node.isConnected) return node;
  const place = el("template");
  placesOf.set(place, node);
  return place;
}

/** @param {Node} node */
function kindOf(node) {
  if (!(node instanceof Element)) return node.nodeName;
  return `${node.localName} ${node.getAttribute("data-focus") ?? node.getAttribute("data-move") ?? node.getAttribute("data-book") ?? ""}`;
}

/** Makes an element what another of its kind is. @param {Element} node @param {Element} other */
function become(node, other) {
  for (const name of node.getAttributeNames()) if (name !== "style" && !other.hasAttribute(name)) node.removeAttribute(name);
  for (const name of other.getAttributeNames()) {
    const value = other.getAttribute(name) ?? "";
    if (name !== "style" && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  // The policy of the page lets scripts set a style, but no attribute.
  if (node instanceof HTMLElement && other instanceof HTMLElement && node.style.cssText !== other.style.cssText) node.style.cssText = other.style.cssText;
  const now = listeners.get(other);
  for (const kind of listeners.get(node)?.keys() ?? []) if (!now?.has(kind)) hearOn(node, kind, () => {});
  for (const [kind, listener] of now ?? []) hearOn(node, kind, listener);
  renew(node, [...other.childNodes]);
}

/** A tree that is new here, with what stays and was elsewhere until now. @param {Node} node */
function settled(node) {
  if (node instanceof Element) for (const place of node.querySelectorAll("template")) place.replaceWith(placesOf.get(place) ?? place);
  return node;
}

/** Draws these in an element. What is there already, of the same kind and for the same thing, stays and is changed. @param {Element} parent @param {(Node | string)[]} nodes */
export function renew(parent, nodes) {
  /** @type {Map<string, Node[]>} */
  const old = new Map();
  for (const node of parent.childNodes) {
    const kind = kindOf(node);
    old.set(kind, [...old.get(kind) ?? [], node]);
  }
  const wanted = nodes.map((node) => (typeof node === "string" ? document.createTextNode(node) : node));
  const kept = new Set(wanted.flatMap((node) => placesOf.get(node) ?? []));
  const drawn = wanted.map((node) => {
    const place = placesOf.get(node);
    if (place) return place;
    const known = old.get(kindOf(node))?.shift();
    if (!known || known === node || (known instanceof Element && kept.has(known))) return settled(node);
    if (known instanceof Element && node instanceof Element) become(known, node);
    else if (known.nodeValue !== node.nodeValue) known.nodeValue = node.nodeValue;
    return known;
  });
  const stays = new Set(drawn);
  for (const node of [...parent.childNodes]) if (!stays.has(node)) node.remove();
  drawn.forEach((node, index) => {
    const now = parent.childNodes[index] ?? null;
    if (now !== node) parent.insertBefore(node, now);
  });
}

/** Draws now, or as soon as nothing in this element is pressed any more: what was pressed is what is clicked. @param {Element} root @param {() => void} draw */
export function unpressed(root, draw) {
  if (pressed && root.contains(pressed)) delayed.set(root, draw);
  else draw();
}

function letGo() {
  pressed = null;
  const draws = [...delayed.values()];
  delayed.clear();
  for (const draw of draws) draw();
}

export function listenToPresses() {
  addEventListener("pointerdown", ({ target, isPrimary, button }) => {
    if (isPrimary && button === 0 && target instanceof Node) pressed = target;
  }, true);
  // The click comes before the next task.
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => pressed && setTimeout(letGo), true);
  // What is clicked is known by now: what the click changes is drawn at once.
  addEventListener("click", () => (pressed = null), true);
  // Only that of the window: a press takes the focus from another element.
  addEventListener("blur", ({ target }) => target === window && pressed && setTimeout(letGo), true);
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {...Node} children @returns {SVGElement} */
export function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

/** @param {Element | null} node */
export function focusOn(node) {
  if (node instanceof HTMLElement) node.focus({ preventScroll: true });
}

/** @param {EventTarget | null} target @returns {boolean} */
export function isControl(target) {
  return target instanceof Element && target.closest("button, input") !== null;
}

/** What a screen reader says. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

/** What concerns the whole page, above everything. @param {string} text */
export function showBanner(text) {
  const banner = byId("banner");
  // What is set again would be said again.
  if (banner.textContent === text) return;
  banner.textContent = text;
  banner.hidden = text === "";
}

/** A word that goes away again, such as "FEN copied". @param {string} text */
export function toast(text) {
  const node = byId("toast");
  node.textContent = text;
  node.hidden = false;
  clearTimeout(toasted);
  toasted = setTimeout(() => (node.hidden = true), 2500);
}

/** @type {number} */
let toasted = 0;

// Copies, and texts to read.

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    showText(what, text);
  }
}

/** A text to read and to copy. @param {string} title @param {string} text @param {() => void} [play] Puts it on the board. */
export function showText(title, text, play) {
  byId("text-play").hidden = !play;
  byId("text-play").onclick = () => {
    closeDialog("text");
    play?.();
  };
  byId("text-title").textContent = title;
  byId("text-body").textContent = text;
  byId("text-copy").onclick = () => void copy(text, title);
  openDialog("text");
}

/** What opening a dialog does besides; the steps say. */
export const dialogs = {
  onOpen() {},
};

/** @param {string} id */
export function openDialog(id) {
  const dialog = byId(id);
  if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
  dialog.showModal();
  dialogs.onOpen();
}

/** Closes what is open, and returns whether anything was. */
export function closeDialogs() {
  const open = [...document.querySelectorAll("dialog")].filter((dialog) => dialog.open);
  for (const dialog of open) dialog.close();
  return open.length > 0;
}

/** @param {string} id */
export function closeDialog(id) {
  const dialog = byId(id);
  if (dialog instanceof HTMLDialogElement) dialog.close();
}

/** Every dialog is closed by its button, and by a click beside it. */
export function listenToDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => closeDialog(button.getAttribute("data-close") ?? ""));
  }
}
