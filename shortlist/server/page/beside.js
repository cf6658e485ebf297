// The fields of a document that are not texts: a box with a category or a number for each.

import { byId, make } from "./api.js";

const BETWEEN = "; "; // several categories in one box
let known = new Map(); // field -> { kind, known }, as the model has met them
let boxes = new Map(); // field -> its box
let given = {}; // the original values of the document
let typed = () => {};

export function begin(values, onInput) {
  known = new Map(values.map((one) => [one.field, one]));
  typed = onInput;
  write({});
}

const shown = (value) => [value ?? []].flat().join(BETWEEN);

export function read() { // unchanged values stay as they were, even if a category contains a semicolon
  return Object.fromEntries([...boxes].map(([name, box]) =>
    [name, box.value === shown(given[name]) ? given[name] : parsed(box)]).filter(([, value]) => value !== undefined));
}

function parsed(box) {
  const words = box.value.trim();
  if (!words) return undefined;
  const isNumber = box.dataset.kind !== "category" && Number.isFinite(Number(words));
  return isNumber ? Number(words) : words.split(";").map((one) => one.trim()).filter(Boolean);
}

export function write(values) {
  given = values;
  const names = [...new Set([...known.keys(), ...Object.keys(values)])];
  if (names.join("\n") !== [...boxes.keys()].join("\n")) draw(names);
  for (const [name, box] of boxes) box.value = shown(values[name]);
  check();
}

export function lock(isSo) {
  for (const box of boxes.values()) box.readOnly = isSo;
}

export const isValid = () => [...boxes.values()].every((box) => box.validity.valid);

function check() {
  const wrong = [...boxes].filter(([, box]) => !box.validity.valid).map(([name]) => name);
  for (const box of boxes.values()) box.ariaInvalid = String(!box.validity.valid);
  byId("field-problem").hidden = !wrong.length;
  byId("field-problem").textContent = wrong.map((name) => `${name} must be a number.`).join(" ");
}

function draw(names) {
  boxes = new Map(names.map((name) => [name, make("input", { autocomplete: "off" })]));
  const parts = [...boxes].map(([name, box], n) => {
    box.id = `beside-${n}`;
    const { kind, known: choices } = known.get(name) ?? { kind: Array.isArray(given[name]) ? "category" : "number", known: [] };
    box.dataset.kind = kind;
    if (kind === "number") Object.assign(box, { type: "number", step: "any" });
    const list = make("datalist", { id: `choices-${n}` }, ...choices.map((value) => make("option", { value })));
    if (choices.length) box.setAttribute("list", list.id);
    if (kind !== "number") box.placeholder = "several with semicolons between them";
    box.addEventListener("input", () => { check(); typed(); });
    return make("div", {}, make("label", { className: "field", htmlFor: box.id, textContent: name }), box, list);
  });
  byId("other-fields").replaceChildren(...parts);
  byId("other-fields").hidden = !parts.length;
}
