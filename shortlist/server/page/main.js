// Puts the views together.

import { byId, guarded, make } from "./api.js";
import * as label from "./label.js";
import * as live from "./live.js";
import * as model from "./model.js";
import * as suggest from "./suggest.js";

const TABS = ["label", "model"];
let fading;

function open(name) {
  for (const one of TABS) {
    const chosen = one === name;
    byId(`view-${one}`).hidden = !chosen;
    byId(`tab-${one}`).ariaSelected = String(chosen);
    byId(`tab-${one}`).tabIndex = chosen ? 0 : -1;
  }
  history.replaceState(null, "", name === "label" ? location.pathname : `#${name}`);
  if (name === "model") model.open();
}

for (const name of TABS) {
  byId(`tab-${name}`).addEventListener("click", () => open(name));
  byId(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    const other = TABS[(TABS.indexOf(name) + 1) % TABS.length];
    open(other);
    byId(`tab-${other}`).focus();
  });
}

function toast(words, ...children) {
  clearTimeout(fading);
  byId("toast").replaceChildren(make("span", { textContent: words }), ...children);
  fading = setTimeout(() => byId("toast").replaceChildren(), 8000);
}

const onChange = guarded(async ({ learned, undone }) => {
  if (learned) {
    const undo = make("button", { type: "button", textContent: "Undo" });
    undo.addEventListener("click", () => live.undo(learned, undo));
    toast(`Learned as example ${learned}.`, undo);
  } else {
    toast(`Example ${undone} is taken back.`, make("span"));
    await label.refresh();
  }
  await live.refresh();
});

byId("problem-close").addEventListener("click", () => { byId("problem").hidden = true; });
suggest.begin(label.add);
model.begin();
label.begin(onChange);
live.begin(onChange);
if (location.hash === "#model") open("model");
