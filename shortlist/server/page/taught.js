// Who taught a vote: the examples that gave a word its weight for a label, each of which can be repaired.

import { ask, byId, called, counted, guarded, know, make } from "./api.js";
import { patiently, repair } from "./audit.js";

const OFFERED = 200; // labels for a repair, those first that rank best
const SHOWN = 10; // examples

let running = null; // aborts the last question
let shown = null; // word and label of the last question

const isWord = (feature) => /^[\p{L}\p{M}\p{N}_ ]+$/u.test(feature); // no part of a word, no field

export function vote(feature, spans, label, inWords) { // of a word of the text: a button that asks who taught it
  const parts = [make("span", { textContent: feature }), make("span", { className: "weight", textContent: inWords })];
  if (label === null || !spans?.length || !isWord(String(feature))) return parts;
  const button = make("button", { type: "button", className: "taught", title: "Who taught this vote?" }, ...parts);
  button.addEventListener("click", guarded(() => open(feature, label)));
  return [button];
}

export function hide() {
  running?.abort();
  shown = null;
  byId("taught").hidden = true;
}

export function keepFor(label) { // a list for another label goes
  if (shown !== null && shown.label !== label) hide();
}

async function open(word, label) {
  hide();
  shown = { word, label };
  running = new AbortController();
  byId("taught").hidden = false;
  byId("taught-heading").textContent = `Who taught “${word}” for ${called(label)}`;
  byId("taught-words").textContent = "Replaying what was learned…";
  byId("taught-list").replaceChildren();
  const question = new URLSearchParams({ word, label, limit: SHOWN });
  try {
    draw(await patiently(`v1/taught?${question}`, running.signal), label);
  } catch (problem) {
    if (problem.name !== "AbortError") hide();
    throw problem;
  }
}

function draw({ taught, others, weight, correction }, label) {
  byId("taught-words").textContent = `counted weight ${number(weight)}, correction ${number(correction)}`;
  const lines = taught.map((line) => entry(line, label));
  if (others.examples) lines.push(make("li", {}, make("p", { className: "verdict" }, `${counted(others.examples, "other lines")} · ${parts(others)}`)));
  byId("taught-list").replaceChildren(...lines);
}

const number = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);
const parts = ({ counted: weight, corrected }) => `counted ${number(weight)}, corrected ${number(corrected)}`;

function entry(line, label) {
  const added = make("span", { className: "weight", textContent: number(line.vote), title: parts(line) });
  if (line.number === 0) return make("li", {}, make("p", { className: "verdict" }, "before the journal ", added));
  const labels = line.labels?.map((name) => called(String(name))).join(", ");
  const about = [labels, line.person && `by ${line.person}`, `example ${line.number}`].filter(Boolean).join(" · ");
  const item = make("li", {}, make("p", { className: "said", textContent: line.text }), make("p", { className: "verdict" }, `${about} `, added));
  const isReadOnly = byId("correct").hidden;
  if (line.labels && !isReadOnly) item.append(tools(line, String(label)));
  return item;
}

function tools(line, label) {
  const box = make("div", { className: "tools judges" });
  const button = make("button", { type: "button", textContent: "Repair", ariaLabel: `Repair example ${line.number}` });
  button.addEventListener("click", guarded(async () => {
    button.disabled = true;
    try {
      await offer(line, label, box);
    } finally {
      button.disabled = false;
    }
  }));
  box.append(button);
  return box;
}

async function offer(line, label, box) { // labels to put in the place of the one that was taught
  const before = line.labels.map(String);
  const [{ rankings }, { labels }] = await Promise.all([ask("v1/rank", { text: line.text, k: 5 }), ask(`v1/labels?limit=${OFFERED}`)]);
  const names = new Set([...know(rankings[0]), ...know(labels)].map((one) => String(one.label)));
  for (const own of before) names.delete(own);
  const choice = make("select", { ariaLabel: `The right label of example ${line.number}` }, ...[...names].map((name) => make("option", { value: name, textContent: called(name) })));
  const wrong = before.includes(label) ? label : before[0];
  const right = () => [...before.filter((own) => own !== wrong), choice.value];
  const learn = make("button", { type: "button", className: "choice", textContent: "Learn anew", disabled: names.size === 0 });
  learn.addEventListener("click", () => repair(line.number, right(), before, box));
  box.replaceChildren(make("span", { className: "hint", textContent: wrong === undefined ? "It is" : `Not ${called(wrong)}, but` }), choice, learn);
  choice.focus();
}
