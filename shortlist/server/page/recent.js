// The examples learned last, each of which can be taken back; and the settings of the model.

import { ask, byId, make, show, terms } from "./api.js";

const ALONE = "(decided alone)"; // behind the name of who had the model decide
let changed = () => {};

export function begin(onChange) {
  changed = onChange;
}

export async function refresh() {
  const { examples } = await ask("v1/examples?limit=8");
  byId("no-recent").hidden = examples.length > 0;
  byId("recent").replaceChildren(...examples.map((one) => {
    const words = one.undone ? " undone" : "";
    const who = one.person.replace(ALONE, "").trim();
    const by = [who && `by ${who}`, one.person.endsWith(ALONE) && "decided by the model"].filter(Boolean).map((part) => ` · ${part}`).join("");
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

export function drawSettings({ learner, parameters, text }, others = {}) {
  const ofText = Object.entries(text ?? {}).map(([name, value]) => [`text: ${name}`, value]);
  const settings = Object.entries({ learner, ...parameters, ...Object.fromEntries(ofText), ...others });
  terms("settings", Object.fromEntries(settings.map(([name, value]) => [name, value === null ? "–" : String(value)])));
}
