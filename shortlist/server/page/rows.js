// What is rated: a text, or a row of numbers with a box for each column.

import { byId, make } from "./api.js";

const HINT = { text: "The rating follows as you type.", row: "The rating follows as you type. A row can be pasted into the first box." };
let boxes = []; // of the columns; none where texts are rated
let typed = () => {};

export function begin(columns, onInput) {
  typed = onInput;
  const ofRows = columns !== null;
  byId("text-heading").textContent = ofRows ? "Row" : "Text";
  byId("text-hint").textContent = ofRows ? HINT.row : HINT.text;
  byId("text").hidden = ofRows;
  byId("columns").hidden = !ofRows;
  boxes = (columns ?? []).map((name, n) => make("input", { id: `column-${n}`, inputMode: "decimal", autocomplete: "off", spellcheck: false }));
  byId("columns").replaceChildren(...boxes.map((box, n) =>
    make("div", {}, make("label", { className: "field", htmlFor: box.id, textContent: columns[n] }), box)));
  for (const box of [byId("text"), ...boxes]) box.addEventListener("input", () => typed());
  boxes.forEach((box, n) => box.addEventListener("paste", (event) => pasted(event, n)));
}

const number = (box) => (box.value.trim() === "" ? NaN : Number(box.value.trim().replace(/^[−–]/, "-")));
const all = () => (boxes.length ? boxes : [byId("text")]);

export const isEmpty = () => all().every((box) => !box.value.trim());
export const isWhole = () => !isEmpty() && boxes.every((box) => Number.isFinite(number(box)));
export const focus = () => all()[0].focus();
export const letters = () => (boxes.length ? 0 : [...byId("text").value].length);
export const read = () => (boxes.length ? boxes.map(number) : byId("text").value);
export const asExample = () => (boxes.length ? { row: read() } : { text: read() });
export const asQuestion = () => (boxes.length ? { rows: [read()] } : { text: read() });
export const kept = () => all().map((box) => box.value);

export function write(values) {
  all().forEach((box, n) => { box.value = values[n] ?? ""; });
  mark();
}

export function mark() { // what is no number
  for (const box of boxes) box.ariaInvalid = String(box.value.trim() !== "" && !Number.isFinite(number(box)));
}

function pasted(event, first) { // a row of a spreadsheet goes into as many boxes
  const values = event.clipboardData.getData("text").trim().split(/ *[\t;,] *|\s+/);
  if (values.length < 2) return;
  event.preventDefault();
  values.forEach((value, n) => { if (boxes[first + n]) boxes[first + n].value = value; });
  typed();
}
