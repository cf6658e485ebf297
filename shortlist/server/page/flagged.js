// Texts that somebody has flagged: who did, and to be judged after all.

import { ask, byId, guarded, make } from "./api.js";

let judge = () => {};

export function begin(onJudge) {
  judge = onJudge;
  byId("flagged").addEventListener("click", guarded(open));
}

async function open() {
  const { items } = await ask("v1/queue/items?state=flagged&limit=200");
  byId("flagged-list").replaceChildren(...items.map((item) => {
    const button = make("button", { type: "button", className: "quiet judges", textContent: "Judge it" });
    button.addEventListener("click", () => { byId("flagged-dialog").close(); judge(item); });
    const words = typeof item.text === "string" ? item.text : Object.values(item.text).join(" · ");
    return make("li", {}, make("span", { textContent: words.slice(0, 200), title: words }),
      make("span", { className: "hint", textContent: [item.person.startsWith("page-") ? "" : item.person, item.note].filter(Boolean).join(": ") }), button);
  }));
  byId("flagged-dialog").showModal();
}
