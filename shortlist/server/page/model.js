// The view that browses labels, features and their strongest connections.

import { ask, bar, byId, called, counted, guarded, know, later, make } from "./api.js";

const PART = 30;
let shown = 0;
let wanted = "";
let begun = false;

export function begin() {
  byId("find").addEventListener("input", later(guarded(find), 120));
  byId("more").addEventListener("click", guarded(more));
  byId("feature-form").addEventListener("submit", (event) => { event.preventDefault(); ofFeature(byId("feature").value); });
}

export function open() {
  if (!begun) guarded(find)();
  begun = true;
}

async function find() {
  wanted = byId("find").value;
  shown = 0;
  byId("labels").replaceChildren();
  await more();
}

async function more() {
  const asked = wanted;
  const { labels, found } = await ask(`v1/labels?limit=${PART}&offset=${shown}&q=${encodeURIComponent(asked)}`);
  if (asked !== wanted) return;
  shown += labels.length;
  byId("labels").append(...know(labels).map(({ label, examples }) =>
    entry(String(label), `${examples.toLocaleString()}`, null, () => ofLabel(String(label)))));
  byId("labels-found").textContent = counted(found, "labels");
  byId("more").hidden = shown >= found;
}

function press(button) {
  for (const other of button.closest("ol").querySelectorAll("button")) other.ariaPressed = String(other === button);
}

function entry(name, note, share, onClick) {
  const button = make("button", { type: "button" }, make("span", { textContent: called(name), title: name }), make("span", { className: "count", textContent: note }));
  if (share !== null) button.prepend(bar(share));
  button.addEventListener("click", () => { press(button); onClick(); });
  return make("li", {}, button);
}

const ofLabel = guarded(async (label) => {
  const { connections } = await ask(`v1/label?name=${encodeURIComponent(label)}&limit=25`);
  say(connections.length ? `The features that speak most for “${called(label)}”, and how much of their weight goes there:` : `No feature speaks for “${called(label)}”.`);
  draw(connections, (name) => { byId("feature").value = name; ofFeature(name); });
});

const ofFeature = guarded(async (feature) => {
  if (!feature.trim()) return;
  const { connections } = await ask(`v1/feature?name=${encodeURIComponent(feature)}&limit=25`);
  say(connections.length ? `The labels that “${feature}” alone speaks for:` : `The model does not know “${feature}”.`);
  draw(connections, ofLabel);
});

function say(words) {
  byId("connections-heading").scrollIntoView({ block: "nearest" }); // on a phone it is far below
  byId("connections-words").textContent = words;
}

function draw(connections, onClick) {
  const most = connections.length ? connections[0].weight : 1;
  byId("connections").replaceChildren(...connections.map(({ name, weight }) =>
    entry(String(name), weight.toFixed(3), weight / most, () => onClick(String(name)))));
}
