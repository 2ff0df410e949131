// The policy: how the chances come about. Each change acts at once.

/** @type {{key: keyof Policy, name: string, max: number, unit: string, help: string}[]} */
const SLIDERS = [
  { key: "variety", name: "Variety", max: 100, unit: "", help: "0: always the best move · 50: by weight · 100: every playable move alike" },
  { key: "threshold", name: "Threshold", max: 1000, unit: "‰", help: "The part of the position's weight that a move needs to be played" },
  { key: "reserve", name: "Reserve", max: 100, unit: "plies", help: "A line that goes on for fewer plies is not played" },
];

function buildPolicy() {
  byId("sliders").replaceChildren(...SLIDERS.map(({ key, name, max, unit, help }) => el("div", { class: "slider", title: help },
    el("label", { for: key }, name),
    el("input", { type: "range", id: key, min: 0, max: slots(max), "aria-describedby": `${key}-help`,
      oninput: (/** @type {Event} */ event) => setPolicy(key, valueAt(max, numberIn(event))) }),
    el("input", { type: "number", id: `${key}-number`, min: 0, max, "aria-label": unit ? `${name}, ${unit}` : name,
      oninput: (/** @type {Event} */ event) => setPolicy(key, numberIn(event)) }),
    el("span", { class: "unit", "aria-hidden": "true" }, unit),
    el("span", { class: "unseen", id: `${key}-help` }, help))),
  el("button", { type: "button", class: "link", id: "policy-reset", onclick: resetPolicy }, "Reset"));
  drawPolicy();
}

// Thresholds of interest are a few per mille of a thousand, so that slider's steps grow with the value.

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

/** @param {keyof Policy} key @param {number} value */
function setPolicy(key, value) {
  const max = SLIDERS.find((slider) => slider.key === key)?.max ?? 100;
  if (!Number.isInteger(value) || value < 0 || value > max || value === state.policy[key]) return;
  state.policy = { ...state.policy, [key]: value };
  drawPolicy();
  refresh();
}

function resetPolicy() {
  if (!state.books) return;
  state.policy = { ...state.books.policy };
  drawPolicy();
  refresh();
  focusOn(byId("variety"));
}

function drawPolicy() {
  for (const { key, max, unit } of SLIDERS) {
    const value = state.policy[key];
    const slider = byId(key);
    const number = byId(`${key}-number`);
    if (slider instanceof HTMLInputElement) {
      if (valueAt(max, slider.valueAsNumber) !== value) slider.value = String(positionOf(max, value));
      slider.setAttribute("aria-valuetext", `${value} ${unit}`.trim());
      slider.style.setProperty("--part", `${(100 * slider.valueAsNumber) / slots(max)}%`);
    }
    if (number instanceof HTMLInputElement && number.valueAsNumber !== value) number.value = String(value);
  }
  const preset = state.books?.policy;
  byId("policy-reset").hidden = !preset || SLIDERS.every(({ key }) => preset[key] === state.policy[key]);
}
