// The view that ranks a text, explains the ranking, and learns from corrections. A text of the queue is followed by the next.

import { ask, bar, byId, called, guarded, icon, know, later, make, newKey } from "./api.js";
import * as fields from "./fields.js";
import * as marks from "./marks.js";
import * as suggest from "./suggest.js";
import * as why from "./why.js";

const SHOWN = 10;
const ALPHABET = 200; // labels that are listed; more are searched for
const NOTHING = "Labels appear here, best first. Choose one to see which words voted for it.";
let ranking = [];
let decision = null; // the labels that the model would assign
let picked = null; // the label whose votes are shown
let ranked = null; // aborts the running request
const right = new Map(); // label -> whether it is new
const wrong = new Set();
let key = null; // of the example as it is now, so that a retry learns nothing twice
let item = null; // the text of the queue that is judged, if it is one
let learning = false;
let changed = () => {};

export async function begin(onChange) {
  changed = onChange;
  marks.begin(() => { key = null; });
  const soon = later(guarded(rank), 150);
  byId("clear").addEventListener("click", () => { setText(""); fields.focus(); });
  byId("correct").addEventListener("submit", (event) => { event.preventDefault(); learn(); });
  byId("none").addEventListener("click", () => learn(true));
  byId("ranking").addEventListener("keydown", move);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); learn(); }
  });
  await guarded(() => fields.begin(() => { forget(); soon(); }))();
  if (fields.isEmpty()) fields.write(remembered()); // unless the user has typed something already
  await guarded(rank)();
  drawChosen();
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem("document")) ?? "";
  } catch {
    return "";
  }
}

export const refresh = () => guarded(rank)();

export function setText(value) {
  suggest.clear(); // it was typed for the previous text
  fields.write(value);
  forget();
  return guarded(rank)();
}

export function judgeItem(given) { // a text of the queue, or null
  item = given;
  ranking = []; // the ranking of the previous text must not be accepted for this one
  decision = null;
  draw("");
  byId("ranking-heading").textContent = isCheck() ? "All labels" : "Best labels";
  byId("check-words").hidden = !isCheck();
  document.body.classList.toggle("working", item !== null);
  byId("complete").checked = true;
  byId("text").scrollTop = 0;
  const ready = setText(item === null ? "" : item.text);
  fields.lock(item !== null);
  return ready;
}

const isCheck = () => item?.check === true; // a spot check is judged without seeing what the model thinks

function forget() {
  right.clear();
  wrong.clear();
  picked = key = null;
  marks.clear();
  why.hide(); // its words may not be those of the text any more
  drawChosen();
}

// Ranking

async function rank() {
  if (item === null) sessionStorage.setItem("document", JSON.stringify(fields.read()));
  byId("clear").hidden = fields.isEmpty() || item !== null;
  byId("text-size").textContent = fields.letters() ? `${fields.letters().toLocaleString()} characters` : "";
  ranked?.abort();
  ranked = new AbortController();
  if (fields.isEmpty()) {
    ranking = [];
    decision = null;
    draw(NOTHING);
    return;
  }
  if (isCheck()) return drawAlphabet();
  const began = performance.now();
  const answer = await ask("v1/rank", { text: fields.read(), k: SHOWN }, ranked.signal);
  ranking = sharedOut(know(answer.rankings[0]));
  decision = answer.decisions[0];
  byId("ranking-note").textContent = ranking.length ? `in ${(performance.now() - began).toFixed(0)} ms` : "";
  draw("The model knows none of these words yet. Add the right labels and it will.");
}

function sharedOut(labels) { // where each text has one label, the others share what the best leaves
  if (!document.body.classList.contains("one-label") || !labels.length || labels[0].probability === null) return labels;
  const left = 1 - labels[0].probability;
  const sum = labels.slice(1).reduce((total, { probability }) => total + probability, 0);
  if (sum <= left) return labels;
  return labels.map((one, n) => (n === 0 ? one : { ...one, probability: (one.probability * left) / sum }));
}

async function drawAlphabet() {
  const { labels, found } = await ask(`v1/labels?limit=${ALPHABET}`, undefined, ranked.signal);
  const all = know(labels).map(({ label }) => ({ label, score: 0, probability: null }));
  all.sort((a, b) => called(String(a.label)).localeCompare(called(String(b.label))));
  ranking = found > ALPHABET ? [] : all;
  decision = { assigned: [], reason: null };
  byId("ranking-note").textContent = "in alphabetical order";
  draw("Look for the labels of this text in the box below.");
}

function draw(nothing) {
  const focused = document.activeElement?.dataset?.label;
  const most = ranking.length ? ranking[0].score : 1;
  byId("ranking").replaceChildren(...ranking.map((one, n) => row(one, one.score / most, n + 1)));
  drawDecision();
  byId("nothing").textContent = nothing;
  byId("nothing").hidden = ranking.length > 0;
  if (!ranking.length) byId("ranking-note").textContent = "";
  if (focused !== undefined) rows().find((button) => button.dataset.label === focused)?.focus();
  drawChosen();
  showWhy();
}

const showWhy = guarded(async () => {
  if (picked === null || fields.isEmpty()) why.hide();
  else await why.explain(fields.read(), picked);
});

function drawDecision() {
  const known = ranking.length > 0 && ranking[0].probability !== null; // else the model cannot decide yet
  const alone = known && decision.assigned.length > 0;
  byId("decision").hidden = !known;
  byId("decision").className = alone ? "alone" : "";
  byId("decision").textContent = !known ? "" : alone
    ? `Would assign automatically: ${decision.assigned.map((label) => called(String(label))).join(", ")}`
    : `Needs a person: ${decision.reason}`;
}

function row({ label, score, probability }, share, number) {
  const name = String(label);
  if (isCheck()) return rowOfCheck(name);
  const alone = decision.assigned.includes(label);
  const sure = probability === null ? "" : `${(100 * probability).toFixed(0)} %`;
  const pick = make("button", { className: alone ? "pick alone" : "pick", type: "button", ariaPressed: String(name === picked) },
    bar(probability ?? share), make("span", { className: "name", textContent: called(name), title: name }),
    make("span", { className: "score", textContent: sure, title: `score ${score.toFixed(3)}` }));
  pick.dataset.label = name;
  pick.addEventListener("click", () => { picked = picked === name ? null : name; press(); showWhy(); });
  const yes = make("button", { className: "mark yes", type: "button", ariaLabel: `${called(name)} is right`, title: "Right (+)" }, icon("yes"));
  yes.addEventListener("click", () => judge(name, true));
  const no = make("button", { className: "mark no", type: "button", ariaLabel: `${called(name)} is wrong`, title: "Wrong (−)" }, icon("no"));
  no.addEventListener("click", () => judge(name, false));
  const digit = make("kbd", { className: "digit", ariaHidden: "true", textContent: number < 10 ? String(number) : "" });
  return make("li", {}, digit, pick, yes, no);
}

function rowOfCheck(name) {
  const pick = make("button", { className: "pick", type: "button" }, make("span", { className: "name", textContent: called(name), title: name }));
  pick.dataset.label = name;
  pick.addEventListener("click", () => judge(name, true));
  const yes = make("button", { className: "mark yes", type: "button", ariaLabel: `${called(name)} is right`, title: "Right (+)" }, icon("yes"));
  yes.addEventListener("click", () => judge(name, true));
  return make("li", {}, pick, yes);
}

const rows = () => [...document.querySelectorAll("#ranking .pick")];

function move(event) {
  const all = rows();
  const at = all.indexOf(event.target.closest("li")?.querySelector(".pick"));
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowDown") all[Math.min(at + 1, all.length - 1)].focus();
  else if (event.key === "ArrowUp") all[Math.max(at - 1, 0)].focus();
  else if (event.key === "+") judge(all[at].dataset.label, true);
  else if (event.key === "-") judge(all[at].dataset.label, false);
  else return;
  event.preventDefault();
}

// Correcting

export function judgeNumber(number, isRight) { // by its place in the ranking, from 1
  const pick = rows()[number - 1];
  if (pick && !learning) judge(pick.dataset.label, isRight);
}

function judge(name, isRight) {
  key = null;
  if (isRight) {
    wrong.delete(name);
    if (!right.delete(name)) right.set(name, false);
  } else {
    right.delete(name);
    if (!wrong.delete(name)) wrong.add(name);
  }
  drawChosen();
}

export const redraw = () => drawChosen();

export function add(name, isNew) {
  key = null;
  if (!document.body.classList.contains("one-label")) for (const suggested of offered()) right.set(suggested, false);
  wrong.delete(name);
  right.set(name, isNew);
  drawChosen();
}

function offered() { // what the model suggests for a text of the queue, to be accepted with one key
  if (item === null || isCheck() || right.size || wrong.size || !ranking.length) return [];
  const own = decision.assigned.length ? decision.assigned : [ranking[0].label];
  return own.map(String);
}

function press() {
  const suggested = offered();
  for (const pick of rows()) {
    const name = pick.dataset.label;
    pick.ariaPressed = String(name === picked);
    pick.parentElement.classList.toggle("refused", wrong.has(name));
    pick.parentElement.classList.toggle("offered", suggested.includes(name));
    pick.parentElement.querySelector(".yes").ariaPressed = String(right.has(name));
    const no = pick.parentElement.querySelector(".no");
    if (no !== null) no.ariaPressed = String(wrong.has(name));
  }
}

function drawChosen() {
  byId("chosen").replaceChildren(...[...right].map(([name, isNew]) => {
    const remove = make("button", { type: "button", ariaLabel: `Take ${called(name)} out`, className: isNew ? "new" : "" }, called(name), icon("no"));
    remove.addEventListener("click", () => { key = null; right.delete(name); drawChosen(); byId("add").focus(); });
    return make("li", {}, remove);
  }));
  const suggested = offered();
  const judged = right.size > 0 || wrong.size > 0 || suggested.length > 0;
  const typed = byId("add").value.trim() || (suggest.isAsking() ? "it" : "");
  const ready = judged && !typed && !fields.isEmpty() && fields.isValid() && !learning;
  byId("learn").disabled = !ready;
  byId("none").disabled = right.size > 0 || wrong.size > 0 || typed || fields.isEmpty() || !fields.isValid() || learning;
  byId("learn-words").textContent = suggested.length ? `Accept ${suggested.map(called).join(", ")}` : "Learn";
  byId("learn-hint").textContent = typed ? `Press Enter to add ${typed}, or empty the box.` : judged ? "" : wrong.size ? "Now tick or add a label that is right." : "Tick what is right, or add what is missing.";
  press();
}

function example(none) { // none: no label fits
  key ??= newKey();
  const labels = none ? [] : right.size || wrong.size ? [...right.keys()] : offered();
  const made = { text: fields.read(), labels, key: item?.id ?? key };
  if (wrong.size && !isCheck()) made.wrong = [...wrong];
  if (!none && !isCheck()) made.because = marks.all().map(({ text }) => text);
  made.complete = none || isCheck() || (byId("complete").checked && labels.length > 0);
  return made;
}

export const learn = guarded(async (none = false) => {
  if (byId(none ? "none" : "learn").disabled || learning) return;
  learning = true;
  drawChosen();
  try {
    const { learned } = await ask("v1/learn", { examples: [example(none)] });
    await changed({ learned: learned[0].number, item });
  } catch (problem) {
    if (item === null || problem.status !== 409) throw problem;
    await changed({ taken: item });
  } finally {
    learning = false;
    drawChosen();
  }
});
