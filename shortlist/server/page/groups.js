// Groups of undecided texts that may need a new label: found on demand, named with one click, undone with another.

import { ask, byId, counted, guarded, make } from "./api.js";

const AT_A_TIME = 100; // texts of a request
let changed = () => {};

export function begin(onChange) {
  changed = onChange;
  byId("groups-run").addEventListener("click", guarded(run));
}

async function run() {
  const button = byId("groups-run");
  button.disabled = true;
  byId("groups-words").textContent = "Looking for groups…";
  try {
    const { waiting, none_of_these: none, groups } = await ask("v1/queue/groups");
    const looked = `${counted(waiting, "texts")} waiting` + (none ? `, ${none.toLocaleString()} with none of the labels` : "");
    byId("groups-words").textContent = `${counted(groups.length, "groups")} in ${looked}`;
    byId("groups-nothing").hidden = groups.length > 0;
    byId("groups-nothing").textContent = "No group of undecided texts shares new words.";
    byId("groups").replaceChildren(...groups.map(shown));
  } catch (problem) {
    byId("groups-words").textContent = "";
    throw problem;
  } finally {
    button.disabled = false;
  }
}

function shown(group, n) {
  const size = group.items.length + group.examples.length;
  const words = make("ul", { className: "votes", ariaLabel: `Words of group ${n + 1}` }, ...group.words.map((word) => make("li", { textContent: word })));
  const tools = make("form", { className: "tools judges" });
  const item = make("li", {}, make("p", { className: "hint", textContent: counted(size, "texts") }), words,
    ...group.typical.map((text) => make("p", { className: "said", textContent: text })), tools);
  offer(group, n, item, tools);
  return item;
}

function offer(group, n, item, tools) {
  const name = make("input", { type: "text", required: true, maxLength: 200, placeholder: "New label", ariaLabel: `Label of group ${n + 1}` });
  tools.replaceChildren(name, make("button", { type: "submit", className: "choice", textContent: "Name it", ariaLabel: `Name group ${n + 1}` }));
  tools.onsubmit = guarded(async (event) => {
    event.preventDefault();
    const label = name.value.trim();
    if (!label) return;
    await closed(tools, async () => {
      const numbers = await teach(group, label);
      tools.onsubmit = (event_) => event_.preventDefault();
      const back = make("button", { type: "button", className: "quiet", textContent: "Undo", ariaLabel: `Undo naming group ${n + 1}` });
      back.addEventListener("click", guarded(() => closed(tools, async () => {
        for (const number of numbers) await ask("v1/undo", { number });
        item.classList.remove("settled");
        offer(group, n, item, tools);
      })));
      item.classList.add("settled");
      tools.replaceChildren(make("span", { className: "hint", textContent: `${counted(numbers.length, "texts")} learned with ${label}.` }), back);
      back.focus();
    });
  });
}

async function teach({ items, examples }, label) { // the numbers of what was learned; safe to repeat: each text has a key
  const numbers = [];
  for (let first = 0; first < items.length; first += AT_A_TIME) {
    const { learned } = await ask("v1/learn", { examples: items.slice(first, first + AT_A_TIME).map(({ id, text }) => ({ text, labels: [label], key: id })) });
    numbers.push(...learned.map(({ number }) => number));
  }
  for (const number of examples) numbers.push((await ask("v1/repair", { number, labels: [label] })).number);
  return numbers;
}

async function closed(tools, work) { // disable the tools while it runs
  for (const one of tools.elements) one.disabled = true;
  try {
    await work();
  } finally {
    for (const one of tools.elements) one.disabled = false;
  }
  await changed();
}
