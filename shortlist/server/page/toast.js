// What was just done, in words, for a while; and a way back from it.

import { byId, make } from "./api.js";

let fading;

export function toast(words, ...children) {
  clearTimeout(fading);
  byId("toast").replaceChildren(make("span", { textContent: words }), ...children);
  fading = setTimeout(() => byId("toast").replaceChildren(), 20_000);
}

export function undoing(work) {
  const button = make("button", { type: "button", textContent: "Undo" });
  button.addEventListener("click", () => work(button));
  return button;
}
