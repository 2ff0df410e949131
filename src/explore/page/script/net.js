// Requests to the server, the events that it sends, and the elements that scripts make.

/** An answer of the server that is no success, in words. */
class Refusal extends Error {
  /** @param {string} message @param {string} code @param {Record<string, unknown>} body */
  constructor(message, code, body = {}) {
    super(message);
    this.code = code;
    this.body = body;
  }
}

/** The words of an error. @param {unknown} error @returns {string} */
function words(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {Response} answer @returns {Promise<Refusal>} */
async function refusal(answer) {
  const text = await answer.text();
  try {
    const body = JSON.parse(text);
    return new Refusal(String(body.error), String(body.code), body);
  } catch {
    if (answer.status === 401) {
      return new Refusal("The server does not know this page any more: open the address that it printed when it started.", "unauthorized");
    }
    return new Refusal(text.trim() || `the server answered ${answer.status}`, "unknown");
  }
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<Response>} */
async function request(path, init) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.lost();
    throw new Refusal("The server does not answer.", "unreachable");
  }
  if (!answer.ok) {
    const error = await refusal(answer);
    if (error.code === "unauthorized") connection.refused(error);
    throw error;
  }
  return answer;
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<any>} */
async function getJson(path, init) {
  return (await request(path, init)).json();
}

/** @param {string} path @param {unknown} body @returns {Promise<any>} */
async function postJson(path, body) {
  const headers = { "Content-Type": "application/json" };
  return getJson(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * A question of which only the latest matters: an earlier answer that is still under way is dropped.
 * Asked at most once a frame.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {(answer: T) => void} take
 * @param {(error: unknown) => void} fail
 * @returns {{(): void, drop: () => void}}
 */
function latest(ask, take, fail) {
  let number = 0;
  let frame = 0;
  let under = new AbortController();
  const drop = () => {
    number += 1;
    under.abort();
    cancelAnimationFrame(frame);
    frame = 0;
  };
  const run = async () => {
    frame = 0;
    number += 1;
    const mine = number;
    under.abort();
    under = new AbortController();
    try {
      const answer = await ask(under.signal);
      if (mine === number) take(answer);
    } catch (error) {
      if (mine === number) fail(error);
    }
  };
  return Object.assign(() => {
    if (frame === 0) frame = requestAnimationFrame(run);
  }, { drop });
}

/** The server's events: it says when a book changes, and its silence says that it is gone. */
const connection = {
  /** @type {EventSource | null} */
  source: null,
  away: false,
  retry: 0,
  /** @type {(book: number) => void} */
  onChanged: () => {},
  /** @type {() => void} Called when the server is back. */
  onBack: () => {},

  open() {
    this.source?.close();
    this.source = new EventSource("/api/events");
    this.source.addEventListener("hello", () => this.back());
    this.source.addEventListener("changed", (event) => this.onChanged(Number(JSON.parse(event.data).book)));
    this.source.addEventListener("error", () => this.lost());
  },
  close() {
    this.source?.close();
    clearTimeout(this.retry);
  },
  /** Asks again until the server is back: a browser gives up after an answer that is no stream of events. */
  lost() {
    this.source?.close();
    if (!this.away) showBanner("The server does not answer. The page goes on as soon as it is back.");
    this.away = true;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => void this.probe(), 1000);
  },
  async probe() {
    try {
      const answer = await fetch("/api/books", { cache: "no-store" });
      if (answer.ok) this.open();
      else this.refused(await refusal(answer));
    } catch {
      this.lost();
    }
  },
  /** A server that was started anew has another token; the browser gets it with the address that was printed. @param {Refusal} error */
  refused(error) {
    this.away = true;
    showBanner(error.message);
    this.lost();
  },
  back() {
    clearTimeout(this.retry);
    if (!this.away) return;
    this.away = false;
    showBanner("");
    this.onBack();
  },
};

/** What concerns the whole page, above everything. @param {string} text */
function showBanner(text) {
  const banner = byId("banner");
  banner.textContent = text;
  banner.hidden = text === "";
}

/** A word that goes away again, such as "FEN copied". @param {string} text */
function toast(text) {
  const node = byId("toast");
  node.textContent = text;
  node.hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => (node.hidden = true), 2500);
}
/** @type {number} */
toast.timer = 0;

// Elements.

/** @param {string} id @returns {HTMLElement} */
function byId(id) {
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
function el(name, attributes = {}, ...children) {
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
function svg(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}
