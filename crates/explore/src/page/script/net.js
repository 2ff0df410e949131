// Requests to the server and its streams of events.

import { keepHere, kept } from "./state.js";
import { showBanner } from "./dom.js";

/**
 * The key of the session, which goes with each request. The browser keeps it for the pages of this address: unlike the cookie,
 * no other port of this machine is sent it.
 */
export const session = {
  key: "",
  /** @param {string | null} key A new one, with which the page was opened. */
  begin(key) {
    if (!key) return;
    this.key = key;
    keepHere("key", key);
  },
  /** Another page may have begun a newer one. */
  headers() {
    return { "Tabiya-Key": kept("key") ?? this.key };
  },
};

/** An answer of the server that is no success, in words. */
export class Refusal extends Error {
  /** @param {string} message @param {string} code @param {Record<string, unknown>} body */
  constructor(message, code, body = {}) {
    super(message);
    this.code = code;
    this.body = body;
  }
}

/** The words of an error. @param {unknown} error @returns {string} */
export function words(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {Response} answer @returns {Promise<Refusal>} */
async function refusal(answer) {
  if (answer.status === 401) {
    return new Refusal("The server does not know this page any more: open the address in the last line that it printed.", "unauthorized");
  }
  const text = await answer.text();
  try {
    const body = JSON.parse(text);
    return new Refusal(String(body.error), String(body.code), body);
  } catch {
    return new Refusal(text.trim() || `the server answered ${answer.status}`, "unknown");
  }
}

/** @param {string} path @param {RequestInit} [init] @returns {Promise<Response>} */
export async function request(path, init) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...init, headers: { ...init?.headers, ...session.headers() } });
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
export async function getJson(path, init) {
  return (await request(path, init)).json();
}

/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export async function postJson(path, body) {
  const headers = { "Content-Type": "application/json" };
  return getJson(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/**
 * A question of which only the latest matters: an answer that is still under way when it is put again is dropped.
 * What happens at once asks once; a page that draws nothing asks too.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {(answer: T) => void} take
 * @param {(error: unknown) => void} fail
 * @returns {() => void}
 */
export function latest(ask, take, fail) {
  let timer = 0;
  let under = new AbortController();
  const run = async () => {
    const { signal } = under;
    timer = 0;
    try {
      const answer = await ask(signal);
      if (!signal.aborted) take(answer);
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
  };
  return () => {
    under.abort();
    under = new AbortController();
    timer ||= setTimeout(run);
  };
}

/** The events in a stream of them. @param {Response} answer @returns {AsyncGenerator<{event: string, data: any}>} */
export async function* serverEvents(answer) {
  if (!answer.body) return;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = /^event: ?(.*)$/m.exec(block)?.[1];
        const data = /^data: ?(.*)$/m.exec(block)?.[1];
        if (event && data) yield { event: event.trim(), data: JSON.parse(data) };
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/**
 * The server's events: it says when a book changes, and its silence says that it is gone. A browser has six connections to a
 * server, and a stream keeps one: the pages that are seen share one stream, which the page that has the lock hands on.
 */
export const connection = {
  channel: new BroadcastChannel("tabiya"),
  /** Ends this page's stream, or its waiting for the lock. */
  under: new AbortController(),
  /** Whether this page has the stream. */
  leads: false,
  /** The number of the last change that this page knows. */
  changes: 0,
  away: false,
  retry: 0,
  /** @type {() => void} Called when a book has changed. */
  onChanged: () => {},
  /** @type {() => void} Called when the server is back. */
  onBack: () => {},

  open() {
    this.close();
    this.under = new AbortController();
    const { signal } = this.under;
    this.channel.onmessage = ({ data }) => this.hear(data);
    const listen = () => this.listen(signal);
    // Browsers have locks only on this machine and over TLS; elsewhere each page has a stream of its own.
    if (navigator.locks) navigator.locks.request("tabiya events", { signal }, listen).catch(() => {});
    else void listen();
    this.channel.postMessage({ event: "asked" });
  },
  close() {
    this.under.abort();
    this.channel.onmessage = null;
    clearTimeout(this.retry);
  },
  /** A page that nobody sees holds no connection. */
  follow() {
    if (document.visibilityState === "hidden") this.close();
    else if (this.away) void this.probe();
    else this.open();
  },
  /** Listens for as long as there is something to hear. @param {AbortSignal} signal */
  async listen(signal) {
    try {
      const answer = await request("/api/events", { signal });
      this.leads = true;
      for await (const message of serverEvents(answer)) {
        this.hear(message);
        this.channel.postMessage(message);
      }
      this.lost();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Refusal)) return this.lost();
      showBanner(`${error.message}: what changes is not seen here.`);
      this.retry = setTimeout(() => this.open(), 10_000);
    } finally {
      this.leads = false;
    }
  },
  /** An event of the server, or of another page. @param {{event: string, data?: any}} message */
  hear({ event, data }) {
    if (event === "asked") {
      if (this.leads) this.channel.postMessage({ event: "hello", data: { changes: this.changes } });
      return;
    }
    const missed = this.changes !== data.changes;
    this.changes = data.changes;
    showBanner("");
    if (missed) this.onChanged();
  },
  /** Says why, and asks again until the server is back. */
  lost(why = "The server does not answer. The page goes on as soon as it is back.") {
    this.close();
    showBanner(why);
    this.away = true;
    this.retry = setTimeout(() => void this.probe(), 1000);
  },
  async probe() {
    try {
      const answer = await fetch("/api/books", { cache: "no-store", headers: session.headers() });
      if (!answer.ok) return this.refused(await refusal(answer));
    } catch {
      return this.lost();
    }
    this.away = false;
    showBanner("");
    this.open();
    this.onBack();
  },
  /** A server that was started anew knows no session; the browser gets one with the address that was printed. @param {Refusal} error */
  refused(error) {
    this.lost(error.message);
  },
};
