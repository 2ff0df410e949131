// The settings: the rows of tabiya.toml, and what its doctor says. And the look: dark or light.

import { keep, kept } from "./state.js";
import { byId, el, openDialog } from "./dom.js";
import { getJson, postJson, words } from "./net.js";

/**
 * @typedef {{key: string, name: string, kind: string, min?: number, max?: number, choices?: string[],
 *   default: string, value: string | null, help: string, fixed?: string}} Setting
 * @typedef {{level: string, text: string}} Verdict
 * @typedef {{file: string, exists: boolean, groups: {name: string, keys: string[]}[], rows: Setting[], doctor: Verdict[] | null}} Settings
 */
async function openSettings() {
  openDialog("settings");
  try {
    drawSettings(await getJson("/api/settings"));
  } catch (error) {
    byId("settings-words").textContent = words(error);
  }
}

/** @param {Settings} settings */
function drawSettings(settings) {
  byId("settings-file").textContent = settings.exists ? settings.file : `${settings.file} (is made when you save)`;
  byId("settings-rows").replaceChildren(...settings.groups.flatMap(({ name, keys }) => [
    el("h3", { class: "group" }, name),
    ...settings.rows.filter(({ key }) => keys.includes(key)).map((row) => el("div", { class: "setting" },
      el("label", { for: `set-${row.key}` }, row.name),
      settingField(row),
      el("span", { class: "quiet", id: `set-${row.key}-help` }, row.fixed ?? `${row.help}${row.default === "" ? "" : ` [default: ${row.default}]`}`))),
  ]));
  byId("settings-words").textContent = "";
  drawDoctor(settings.doctor);
}

/** @param {Setting} row @returns {HTMLElement} */
function settingField(row) {
  const value = row.value ?? row.default;
  const attributes = { id: `set-${row.key}`, name: row.key, "aria-describedby": `set-${row.key}-help`, "data-value": row.value ?? "", "data-set": row.value !== null, disabled: row.fixed !== undefined };
  if (row.kind === "check") return el("input", { type: "checkbox", ...attributes, checked: value === "true" });
  if (row.kind === "combo") return el("select", attributes, ...(row.choices ?? []).map((choice) => el("option", { selected: choice === value }, choice)));
  if (row.kind === "spin") return el("input", { type: "number", ...attributes, min: row.min, max: row.max, value: row.value, placeholder: row.default });
  return el("input", { type: "text", ...attributes, value: row.value, placeholder: row.default, spellcheck: "false" });
}

/** What was changed: null for a row that was emptied, so that its default holds again. */
function changedSettings() {
  /** @type {Record<string, string | null>} */
  const set = {};
  for (const field of byId("settings-rows").querySelectorAll("input, select")) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) continue;
    const check = field instanceof HTMLInputElement && field.type === "checkbox";
    const initial = field instanceof HTMLInputElement ? (check ? field.defaultChecked !== field.checked : field.defaultValue !== field.value)
      : [...field.options].some((option) => option.selected !== option.defaultSelected);
    if (initial) set[field.name] = check ? String(field.checked) : field.value || null;
  }
  return set;
}

/** @param {Event} event */
async function saveSettings(event) {
  event.preventDefault();
  const set = changedSettings();
  const note = byId("settings-words");
  if (Object.keys(set).length === 0) {
    note.textContent = "Nothing was changed.";
    return;
  }
  try {
    drawSettings(await postJson("/api/settings", { set }));
    note.textContent = "Saved.";
  } catch (error) {
    note.textContent = words(error);
  }
}

async function runDoctor() {
  byId("doctor").replaceChildren(el("li", {}, "Checking …"));
  try {
    drawDoctor((await postJson("/api/doctor", {})).doctor);
    byId("doctor").scrollIntoView({ block: "nearest" });
  } catch (error) {
    drawDoctor([{ level: "error", text: words(error) }]);
  }
}

/** @param {Verdict[] | null} verdicts */
function drawDoctor(verdicts) {
  const signs = /** @type {Record<string, string>} */ ({ ok: "✓", warning: "!", error: "✕" });
  byId("doctor").replaceChildren(...(verdicts ?? []).map(({ level, text }) => el("li", { class: level },
    el("span", { class: "sign", role: "img", "aria-label": level }, signs[level] ?? "·"), el("span", {}, text))));
}

// Dark and light.
const THEMES = ["auto", "light", "dark"];

/** @param {string} theme */
export function setTheme(theme) {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
  const button = byId("theme");
  const name = { auto: "as the system", light: "light", dark: "dark" }[theme] ?? theme;
  button.setAttribute("aria-label", `Colours: ${name}`);
  button.title = `Colours: ${name}`;
  button.querySelector("use")?.setAttribute("href", `#icon-${theme}`);
}

/** @returns {string} */
export function keptTheme() {
  const theme = kept("theme") ?? "auto";
  return THEMES.includes(theme) ? theme : "auto";
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.getAttribute("data-theme") ?? "auto") + 1) % THEMES.length] ?? "auto";
  setTheme(theme);
  keep("theme", theme);
}

export function listenToSettings() {
  byId("theme").addEventListener("click", nextTheme);
  byId("open-settings").addEventListener("click", () => void openSettings());
  byId("settings-form").addEventListener("submit", (event) => void saveSettings(event));
  byId("run-doctor").addEventListener("click", () => void runDoctor());
}
