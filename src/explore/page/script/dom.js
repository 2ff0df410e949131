// Elements that scripts make, what is said of the whole page, dialogs, and the clipboard.

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
    if (typeof value === "function") node.addEventListener(key.replace(/^on/, ""), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
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

/** @param {string} id */
export function openDialog(id) {
  const dialog = byId(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
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
