// The text that is typed or judged, or the fields of a document, each in a box.

import { ask, byId, make } from "./api.js";
import * as beside from "./beside.js";

const main = byId("text");
let known = []; // the fields that the model has learned words of, the longest first
let boxes = new Map(); // field -> its box; empty where there is one text
let typed = () => {};

export async function begin(onInput) {
  typed = onInput;
  main.addEventListener("input", () => typed());
  const { fields, values } = await ask("v1/model");
  known = fields ?? [];
  draw(known);
  beside.begin(values ?? [], () => typed());
}

const all = () => (boxes.size ? [...boxes.values()] : [main]);
export const isEmpty = () => all().every((one) => !one.value.trim()) && !Object.keys(beside.read()).length;
export const isValid = beside.isValid;
export const letters = () => all().reduce((sum, one) => sum + [...one.value].length, 0);
export const focus = () => all()[0].focus();

export function read() { // in the form that the server takes
  const others = beside.read();
  if (!boxes.size && !Object.keys(others).length) return main.value;
  const every = boxes.size ? [...boxes] : [["text", main]];
  const texts = every.map(([name, one]) => [name, one.value]).filter(([, value]) => value.trim());
  const document = { ...Object.fromEntries(texts), ...others };
  return Object.keys(document).length ? document : "";
}

export function write(given) {
  const values = typeof given === "string" ? (known.length ? { [known[0]]: given } : {}) : given;
  const texts = Object.keys(values).filter((name) => typeof values[name] === "string");
  draw([...new Set([...known, ...texts])]);
  if (!boxes.size) main.value = typeof given === "string" ? given : "";
  for (const [name, one] of boxes) one.value = values[name] ?? "";
  beside.write(Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value !== "string")));
}

export function lock(isSo) {
  for (const one of all()) one.readOnly = isSo;
  beside.lock(isSo);
}

function draw(names) { // the longest field uses the box of a text, the others stand above it
  const order = names.length ? [...names.slice(1), names[0]] : [];
  if (order.join("\n") === [...boxes.keys()].join("\n")) return;
  const before = new Map([...boxes].map(([name, one]) => [name, one.value]));
  boxes = new Map(order.map((name) => [name, name === names[0] ? main : box(name)]));
  for (const [name, one] of boxes) if (before.has(name)) one.value = before.get(name);
  byId("main-field").hidden = !names.length;
  byId("main-field").textContent = names[0] ?? "";
  main.setAttribute("aria-labelledby", names.length ? "main-field" : "text-heading");
  byId("fields").replaceChildren(...[...boxes].filter(([, one]) => one !== main).flatMap(([name, one]) =>
    [make("label", { className: "field", htmlFor: one.id, textContent: name }), one]));
}

function box(name) {
  const made = make("textarea", { id: `field-${name}`, rows: 2, spellcheck: false, className: "short" });
  made.addEventListener("input", () => typed());
  return made;
}
