// The policy: how the chances come about. Each change acts at once.

import { state } from "./state.js";
import { byId, el, focusOn } from "./dom.js";
import { refresh } from "./steps.js";
/** @import { Policy, Slider } from "./state.js" */

/** @returns {Slider[]} What the server has sliders for. */
function sliders() {
  return state.books?.sliders ?? [];
}

/** @param {string} name */
function short(name) {
  return name.replace("Book ", "");
}

export function buildPolicy() {
  byId("sliders").replaceChildren(...sliders().map(({ key, name, max, unit, part, help }) =>
    el("div", { class: "slider", title: help },
      el("label", { for: key }, short(name)),
      el("input", { type: "range", id: key, min: 0, max: slots(max), "aria-describedby": `${key}-help`,
        oninput: (/** @type {Event} */ event) => setPolicy(key, valueAt(max, numberIn(event))) }),
      el("input", { type: "number", id: `${key}-number`, min: 0, max: max / part, step: 1 / part, "aria-label": unit ? `${short(name)}, ${unit}` : short(name),
        oninput: (/** @type {Event} */ event) => setPolicy(key, Math.round(numberIn(event) * part)) }),
      el("span", { class: "unit", "aria-hidden": "true" }, unit),
      el("span", { class: "unseen", id: `${key}-help` }, help))),
  el("button", { type: "button", class: "link", id: "policy-reset", onclick: resetPolicy }, "Reset"));
  state.policy = preset();
  drawPolicy();
}

/** @returns {Policy} The policy of the server. */
function preset() {
  return Object.fromEntries(sliders().map(({ key, value }) => [key, value]));
}

// Thresholds of interest are less than a few percent, so that slider's steps grow with the value.

/** @param {number} max @returns {number} The slider's highest position. */
function slots(max) {
  return max === 1000 ? 100 : max;
}

/** @param {number} max @param {number} position @returns {number} */
function valueAt(max, position) {
  return max !== 1000 ? position : position <= 20 ? position : Math.round(20 + 980 * ((position - 20) / 80) ** 2);
}

/** @param {number} max @param {number} value @returns {number} */
function positionOf(max, value) {
  return max !== 1000 ? value : value <= 20 ? value : Math.round(20 + 80 * Math.sqrt((value - 20) / 980));
}

/** @param {Event} event @returns {number} */
function numberIn(event) {
  return event.target instanceof HTMLInputElement ? event.target.valueAsNumber : NaN;
}

/** @param {string} key @param {number} value */
function setPolicy(key, value) {
  const max = sliders().find((slider) => slider.key === key)?.max ?? 100;
  if (!Number.isInteger(value) || value < 0 || value > max || value === state.policy[key]) return;
  state.policy = { ...state.policy, [key]: value };
  drawPolicy();
  refresh();
}

function resetPolicy() {
  state.policy = preset();
  drawPolicy();
  refresh();
  focusOn(byId("variety"));
}

export function drawPolicy() {
  for (const { key, max, unit, part } of sliders()) {
    const value = state.policy[key] ?? 0;
    const range = byId(key);
    const number = byId(`${key}-number`);
    if (range instanceof HTMLInputElement) {
      if (valueAt(max, range.valueAsNumber) !== value) range.value = String(positionOf(max, value));
      range.setAttribute("aria-valuetext", `${value / part} ${unit}`.trim());
      range.style.setProperty("--part", `${(100 * range.valueAsNumber) / slots(max)}%`);
    }
    if (number instanceof HTMLInputElement && Math.round(number.valueAsNumber * part) !== value) number.value = String(value / part);
  }
  byId("policy-reset").hidden = sliders().every(({ key, value }) => value === state.policy[key]);
}
