// What the model would decide alone: looked at first, decided then, taken back at once if need be.

import { ask, byId, called, counted, guarded, make } from "./api.js";

let seen = null;
let changed = () => {};

export function begin(onChange) {
  changed = onChange;
  byId("sure").addEventListener("click", () => { byId("sure-dialog").showModal(); look(); });
  byId("precision").addEventListener("change", () => look());
  byId("sure-apply").addEventListener("click", () => decide());
}

const precision = () => Number(byId("precision").value);

const look = guarded(async () => {
  byId("sure-apply").disabled = true;
  byId("sure-words").textContent = "Looking…";
  const asked = precision();
  const answer = await ask("v1/queue/sure", { precision: asked });
  if (asked !== precision()) return;
  seen = answer;
  byId("sure-words").textContent = seen.sure
    ? `It would decide ${seen.sure.toLocaleString()} of ${counted(seen.looked_at, "texts")} waiting. The least sure of them:`
    : `It would decide none of ${counted(seen.looked_at, "texts")} waiting.`;
  byId("sure-examples").replaceChildren(...seen.examples.map((one) => make("li", {},
    make("span", { className: "excerpt", textContent: one.text, title: one.text }),
    make("span", { className: "names", textContent: one.labels.map((label) => called(String(label))).join(", ") }),
    make("span", { className: "score", textContent: `${(100 * one.probability).toFixed(0)} %` }))));
  byId("sure-apply").disabled = seen.sure === 0;
});

const decide = guarded(async () => {
  byId("sure-apply").disabled = true;
  const made = await ask("v1/queue/decide", { ids: seen.ids, precision: precision() });
  byId("sure-dialog").close();
  await changed(made);
});
