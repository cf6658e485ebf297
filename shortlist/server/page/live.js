// The live panel, the examples learned last, each of which can be undone, and the settings of the model.

import { ask, byId, guarded, make, percent, show, terms } from "./api.js";

const EVERY = 2000; // milliseconds
const SMOOTH = 20; // examples in each point of the lines
const BY_MODEL = /\(decided (alone|by the model)\)$/; // follows the name of the person who let the model decide
let readOnly = () => {};
let changed = () => {};

export async function begin(onChange, onReadOnly) {
  changed = onChange;
  readOnly = onReadOnly;
  await guarded(refresh)();
  setInterval(() => { if (!document.hidden) refreshModel().catch(() => {}); }, EVERY);
}

export const refresh = () => Promise.all([refreshModel(), refreshRecent()]);

async function refreshModel() {
  const model = await ask("v1/model");
  byId("correct").hidden = model.read_only;
  byId("read-only").hidden = !model.read_only;
  readOnly(model.read_only);
  document.body.classList.toggle("one-label", model.one_label_each);
  const { rolling } = model;
  terms("live", {
    "Learned here": (model.journal - model.undone).toLocaleString(),
    "Examples in all": model.examples.toLocaleString(),
    "First label right (R1)": percent(rolling.R1),
    "One of five right (R5)": percent(rolling.R5),
    "Labels": model.labels.toLocaleString(),
    "Features": model.features.toLocaleString(),
    "Size": `${(model.bytes / 1e6).toFixed(1)} MB`,
  });
  drawLines(rolling.places);
  drawSettings(model);
}

function drawLines(places) {
  byId("progress").hidden = places.length < 2;
  if (places.length < 2) return;
  for (const k of [1, 5]) {
    const points = places.map((_, i) => {
      const window = places.slice(Math.max(0, i - SMOOTH + 1), i + 1);
      const share = window.filter((place) => place !== null && place <= k).length / window.length;
      return `${((200 * i) / (places.length - 1)).toFixed(1)},${(46 - 44 * share).toFixed(1)}`;
    });
    byId(`line${k}`).setAttribute("d", `M${points.join("L")}`);
  }
  byId("progress-words").textContent = `R1 (thick line) and R5 (thin) over the last ${places.length} examples, each before it was learned`;
}

async function refreshRecent() {
  const { examples } = await ask("v1/examples?limit=8");
  byId("no-recent").hidden = examples.length > 0;
  byId("recent").replaceChildren(...examples.map((one) => {
    const words = one.undone ? " undone" : "";
    const who = one.person.replace(BY_MODEL, "").trim();
    const by = [who && `by ${who}`, BY_MODEL.test(one.person) && "decided by the model"].filter(Boolean).map((part) => ` · ${part}`).join("");
    const item = make("li", {},
      make("span", { className: `excerpt${words}`, textContent: one.text.slice(0, 80), title: one.text }),
      make("span", { className: `names${words}`, textContent: (one.names ?? one.labels).join(", ") + by }));
    if (!one.undone) {
      const button = make("button", { type: "button", className: `quiet ${one.change ? "manages" : "judges"}`, textContent: "Undo", ariaLabel: `Undo example ${one.number}` });
      button.addEventListener("click", () => undo(one.number, button));
      item.append(button);
    }
    return item;
  }));
}

export async function undo(number, button) {
  button.disabled = true;
  button.textContent = "Undoing…";
  try {
    await ask("v1/undo", { number });
    await changed({ undone: number });
  } catch (problem) {
    button.disabled = false;
    button.textContent = "Undo";
    show(problem);
  }
}

function drawSettings({ learner, parameters, text, edges }) {
  const ofText = Object.entries(text).map(([name, value]) => [`text: ${name}`, value]);
  const settings = Object.entries({ learner, ...parameters, ...Object.fromEntries(ofText), ...(edges === null ? {} : { connections: edges.toLocaleString() }) });
  terms("settings", Object.fromEntries(settings.map(([name, value]) => [name, value === null ? "–" : String(value)])));
}
