// Type-ahead for known and new labels: a combobox with a list. Enter takes the one chosen with an arrow key, or the label
// that is typed, or the first in the list; it asks before a label becomes new whose name is nearly that of another.

import { ask, byId, called, guarded, know, later, make } from "./api.js";

const input = byId("add");
const list = byId("suggestions");
let choose = () => {};
let typing = () => {};
let at = -1; // index of the entry chosen with an arrow key
let asking = false;

export function begin(onChoice, onTyping) {
  choose = onChoice;
  typing = onTyping;
  input.addEventListener("input", () => { close(); onTyping(); });
  input.addEventListener("input", later(guarded(look), 100));
  input.addEventListener("keydown", keys);
  input.addEventListener("blur", () => setTimeout(close, 150));
}

async function look() {
  const wanted = input.value.trim();
  if (!wanted) return close();
  const { labels, near } = await ask(`v1/labels?limit=8&q=${encodeURIComponent(wanted)}`);
  if (wanted !== input.value.trim()) return;
  const options = know(labels).map(({ label, examples }) => option(String(label), false, examples.toLocaleString()));
  options.push(...know(near).map(({ label }) => Object.assign(option(String(label), false, "did you mean this?"), { isNear: true })));
  if (!labels.some(({ label }) => String(label) === wanted || called(label) === wanted)) options.push(option(wanted, true, "new label"));
  list.replaceChildren(...options);
  list.hidden = false;
  input.ariaExpanded = "true";
}

export function clear() {
  input.value = "";
  close();
}

function option(name, isNew, note) {
  const element = make("li", { role: "option", id: `option-${list.childElementCount}-${name}` },
    make("span", { textContent: called(name), title: name }), make("span", { className: "count", textContent: note }));
  element.addEventListener("mousedown", (event) => { event.preventDefault(); take(name, isNew); });
  element.choice = [name, isNew];
  return element;
}

function select(n) {
  const options = [...list.children];
  at = Math.max(0, Math.min(n, options.length - 1));
  options.forEach((one, i) => { one.ariaSelected = String(i === at); one.id = `option-${i}`; });
  input.setAttribute("aria-activedescendant", `option-${at}`);
  options[at]?.scrollIntoView({ block: "nearest" });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowDown" && !list.hidden) select(at + 1);
  else if (event.key === "ArrowUp" && !list.hidden) select(at - 1);
  else if (event.key === "Escape" && !list.hidden) close();
  else if (event.key === "Enter" && list.children[at]) take(...list.children[at].choice);
  else if (event.key === "Enter") takeTyped();
  else return;
  event.preventDefault();
}

const takeTyped = guarded(async () => {
  const wanted = input.value.trim();
  if (!wanted) return;
  clear(); // at once: what is typed next is another label
  asking = true;
  try {
    typing();
    const { labels, near } = await ask(`v1/labels?limit=8&q=${encodeURIComponent(wanted)}`);
    const names = know(labels).map(({ label }) => String(label));
    const first = names.find((name) => name === wanted || called(name) === wanted) ?? names[0];
    if (first !== undefined) choose(first, false);
    else if (!near.length || input.value) choose(wanted, true);
    else {
      input.value = wanted;
      await look();
      select(0);
    }
  } finally {
    asking = false;
    typing();
  }
});

export const isAsking = () => asking; // whether a label is looked up, which is not chosen yet

export function cancel() { // leave out what was typed
  clear();
  typing();
}

function take(name, isNew) {
  clear();
  choose(name, isNew);
  input.focus();
}

function close() {
  at = -1;
  list.hidden = true;
  list.replaceChildren();
  input.ariaExpanded = "false";
  input.removeAttribute("aria-activedescendant");
}
