// The view that ranks a text, says why, and learns from corrections.

import { ask, bar, byId, called, guarded, icon, know, later, make } from "./api.js";

const SHOWN = 10;
const text = byId("text");
let ranking = [];
let decision = null; // what the model would do alone
let picked = null; // the label whose votes are shown
let ranked = null; // aborts the ranking on its way
const right = new Map(); // label -> whether it is new
const wrong = new Set();
let key = null; // of the example as it stands: a retry learns nothing twice
let changed = () => {};

export function begin(onChange) {
  changed = onChange;
  text.value = sessionStorage.getItem("text") || "";
  const soon = later(guarded(rank), 150);
  text.addEventListener("input", () => { forget(); soon(); });
  byId("clear").addEventListener("click", () => { setText(""); text.focus(); });
  byId("file").addEventListener("change", (event) => open(event.target.files[0]));
  byId("correct").addEventListener("submit", (event) => { event.preventDefault(); learn(); });
  byId("ranking").addEventListener("keydown", move);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); learn(); }
  });
  beginDropping();
  return guarded(rank)();
}

export const refresh = () => guarded(rank)();

function setText(value) {
  text.value = value;
  forget();
  return guarded(rank)();
}

function forget() {
  right.clear();
  wrong.clear();
  picked = key = null;
  drawChosen();
}

// Dropping and opening files

const open = guarded(async (file) => {
  if (!file) return;
  const content = await file.text();
  if (content.includes("\0")) throw new Error(`${file.name} is not a text file.`);
  await setText(content);
});

function beginDropping() {
  const card = byId("text-card");
  document.addEventListener("dragover", (event) => { event.preventDefault(); card.classList.add("dropping"); });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) card.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    card.classList.remove("dropping");
    if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
    else if (event.dataTransfer.getData("text")) setText(event.dataTransfer.getData("text"));
  });
}

// Ranking

async function rank() {
  sessionStorage.setItem("text", text.value);
  byId("clear").hidden = !text.value;
  byId("text-size").textContent = text.value ? `${[...text.value].length.toLocaleString()} characters` : "";
  ranked?.abort();
  ranked = new AbortController();
  if (!text.value.trim()) {
    ranking = [];
    decision = null;
    draw("Labels appear here, best first. Choose one to see which words voted for it.");
    return;
  }
  const began = performance.now();
  const answer = await ask("v1/rank", { text: text.value, k: SHOWN }, ranked.signal);
  ranking = know(answer.rankings[0]);
  decision = answer.decisions[0];
  byId("ranking-note").textContent = ranking.length ? `in ${(performance.now() - began).toFixed(0)} ms` : "";
  draw("The model knows none of these words yet. Add the right labels and it will.");
}

function draw(nothing) {
  const focused = document.activeElement?.dataset?.label;
  const most = ranking.length ? ranking[0].score : 1;
  byId("ranking").replaceChildren(...ranking.map((one) => row(one, one.score / most)));
  drawDecision();
  byId("nothing").textContent = nothing;
  byId("nothing").hidden = ranking.length > 0;
  if (!ranking.length) byId("ranking-note").textContent = "";
  if (focused !== undefined) rows().find((button) => button.dataset.label === focused)?.focus();
  drawChosen();
  guarded(explain)();
}

function drawDecision() {
  const known = ranking.length > 0 && ranking[0].probability !== null; // or it knows too little of itself to decide
  const alone = known && decision.assigned.length > 0;
  byId("decision").hidden = !known;
  byId("decision").className = alone ? "alone" : "";
  byId("decision").textContent = !known ? "" : alone
    ? `Alone it would assign ${decision.assigned.map((label) => called(String(label))).join(", ")}.`
    : `It would ask a person: ${decision.reason}.`;
}

function row({ label, score, probability }, share) {
  const name = String(label);
  const alone = decision.assigned.includes(label);
  const sure = probability === null ? score.toFixed(3) : `${(100 * probability).toFixed(0)} %`;
  const pick = make("button", { className: alone ? "pick alone" : "pick", type: "button", ariaPressed: String(name === picked) },
    bar(probability ?? share), make("span", { className: "name", textContent: called(name), title: name }),
    make("span", { className: "score", textContent: sure, title: `score ${score.toFixed(3)}` }));
  pick.dataset.label = name;
  pick.addEventListener("click", () => { picked = picked === name ? null : name; marks(); guarded(explain)(); });
  const yes = make("button", { className: "mark yes", type: "button", ariaLabel: `${called(name)} is right`, title: "Right (+)" }, icon("yes"));
  yes.addEventListener("click", () => judge(name, true));
  const no = make("button", { className: "mark no", type: "button", ariaLabel: `${called(name)} is wrong`, title: "Wrong (−)" }, icon("no"));
  no.addEventListener("click", () => judge(name, false));
  return make("li", {}, pick, yes, no);
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

function marks() {
  for (const pick of rows()) {
    const name = pick.dataset.label;
    pick.ariaPressed = String(name === picked);
    pick.parentElement.classList.toggle("refused", wrong.has(name));
    pick.parentElement.querySelector(".yes").ariaPressed = String(right.has(name));
    pick.parentElement.querySelector(".no").ariaPressed = String(wrong.has(name));
  }
}

// Why

async function explain() {
  const panel = byId("why");
  if (picked === null || !text.value) { panel.hidden = true; return; }
  const asked = text.value;
  const why = await ask("v1/explain", { text: asked, label: picked });
  if (asked !== text.value || String(why.label) !== picked) return;
  panel.hidden = false;
  byId("why-heading").textContent = why.votes.length ? `Why ${called(picked)}: ${why.score.toFixed(3)}` : `No word here speaks for ${called(picked)}`;
  byId("why-text").replaceChildren(...marked(asked, why.votes));
  byId("why-votes").replaceChildren(...why.votes.slice(0, 30).map((vote) =>
    make("li", {}, make("span", { textContent: vote.feature }), make("span", { className: "weight", textContent: signed(vote.vote) }))));
}

const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

function marked(whole, votes) {
  // Each character gets the sum of the votes of all features that stand there; places count characters, not halves.
  const letters = Array.from(whole);
  const weight = new Float64Array(letters.length);
  for (const vote of votes) for (const [first, end] of vote.spans) for (let i = first; i < end; i++) weight[i] += vote.vote;
  const most = weight.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12);
  const pieces = [];
  for (let i = 0; i < letters.length;) {
    let end = i + 1;
    while (end < letters.length && weight[end] === weight[i]) end++;
    const piece = letters.slice(i, end).join("");
    if (weight[i] === 0) pieces.push(piece);
    else {
      const mark = make("mark", { textContent: piece, title: signed(weight[i]) });
      mark.style.setProperty("--strength", `${15 + 45 * Math.abs(weight[i]) / most}%`);
      pieces.push(mark);
    }
    i = end;
  }
  return pieces;
}

// Correcting

export function add(name, isNew) {
  key = null;
  wrong.delete(name);
  right.set(name, isNew);
  drawChosen();
}

function drawChosen() {
  byId("chosen").replaceChildren(...[...right].map(([name, isNew]) => {
    const remove = make("button", { type: "button", ariaLabel: `Take ${called(name)} out`, className: isNew ? "new" : "" }, called(name), icon("no"));
    remove.addEventListener("click", () => { key = null; right.delete(name); drawChosen(); byId("add").focus(); });
    return make("li", {}, remove);
  }));
  const ready = right.size > 0 && text.value.trim() !== "";
  byId("learn").disabled = !ready;
  byId("learn-hint").textContent = ready ? "" : wrong.size ? "Now tick or add a label that is right." : "Tick what is right, or add what is missing.";
  marks();
}

const learn = guarded(async () => {
  if (byId("learn").disabled) return;
  byId("learn").disabled = true;
  key ??= Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const { learned } = await ask("v1/learn", { examples: [{ text: text.value, labels: [...right.keys()], key }] });
    forget();
    await rank();
    changed({ learned: learned[0].number });
    text.focus();
  } finally {
    drawChosen();
  }
});
