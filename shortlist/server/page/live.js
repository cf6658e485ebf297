// The live panel, and the settings.

import { ask, byId, guarded, percent, terms } from "./api.js";
import * as recent from "./recent.js";

const EVERY = 2000; // milliseconds
const SMOOTH = 20; // examples in each point of the lines
let readOnly = () => {};

export const undo = recent.undo;

export async function begin(onChange, onReadOnly) {
  recent.begin(onChange);
  readOnly = onReadOnly;
  await guarded(refresh)();
  setInterval(() => { if (!document.hidden) refreshModel().catch(() => {}); }, EVERY);
}

export const refresh = () => Promise.all([refreshModel(), recent.refresh()]);

async function refreshModel() {
  const model = await ask("v1/model");
  byId("correct").hidden = model.read_only;
  byId("read-only").hidden = !model.read_only;
  readOnly(model.read_only);
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
  recent.drawSettings(model, model.edges === null ? {} : { connections: model.edges.toLocaleString() });
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
