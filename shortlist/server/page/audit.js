// The audit view: learned examples whose labels may be wrong, confused labels, and equal texts with different labels.

import { ask, byId, called, counted, guarded, make, nameAll } from "./api.js";

const NAMED = 1000; // the server explains this many of the most doubtful examples
const SHOWN = 50;
const TRIES = 40; // of half a minute each, the time limit of a request
let found = null;
let changed = () => {};
const settled = new Map(); // number of an example -> what became of it here

export function begin(onChange) {
  changed = onChange;
  byId("audit-run").addEventListener("click", guarded(run));
  byId("audit-all").addEventListener("click", () => { choose(null); byId("doubts-heading").scrollIntoView({ block: "nearest" }); });
}

async function run() {
  const button = byId("audit-run");
  button.disabled = true;
  byId("audit-words").textContent = "Looking through what was learned…";
  try {
    found = await patiently(`v1/audit?limit=${NAMED}`);
    settled.clear();
  } catch (problem) {
    byId("audit-words").textContent = "";
    throw problem;
  } finally {
    button.disabled = false;
  }
  nameAll(found.names);
  button.textContent = "Look again";
  button.className = "quiet";
  drawMatrix();
  drawEqual();
  choose(null);
}

export async function patiently(path, signal) { // an audit may take longer than one request: ask again until it is done
  for (let n = 1; ; n++) {
    try {
      return await ask(path, undefined, signal);
    } catch (problem) {
      if (problem.status !== 503 || n === TRIES) throw problem;
    }
  }
}

// Doubts

function choose(pair) { // show the examples of a pair of labels, or all
  for (const cell of document.querySelectorAll("#matrix button")) cell.ariaPressed = String(pair !== null && cell.dataset.pair === key(pair));
  const wanted = found.doubts.filter((one) => pair === null || key(one) === key(pair)).slice(0, SHOWN);
  const n = pair === null ? found.contradicted : pair.count;
  const which = pair === null ? `${n.toLocaleString()} of ${counted(found.examples, "examples")}` : `${n.toLocaleString()} with ${called(pair.label)} found to be ${called(pair.found)}`;
  byId("audit-words").textContent = which + (n > wanted.length ? `, the first ${wanted.length}` : "");
  byId("audit-all").hidden = pair === null;
  byId("audit-nothing").hidden = wanted.length > 0;
  byId("audit-nothing").textContent = found.examples < 5 ? "There is too little to say anything yet." : "The model contradicts none of them.";
  const several = found.doubts.some((one) => one.labels.length > 1);
  byId("doubts").replaceChildren(...wanted.map((one) => doubt(one, several)));
}

const key = ({ label, found: other }) => JSON.stringify([label, other]);
const names = (labels) => labels.map(called).join(", ");

function doubt(one, several) {
  const item = make("li");
  const labels = make("p", { className: "verdict" }, ...one.labels.flatMap((label, n) => [n ? ", " : "", make(label === one.label ? "s" : "span", { textContent: called(label) })]),
    " → ", make("strong", { textContent: called(one.found) }));
  const words = make("ul", { className: "votes", ariaLabel: `Words that speak for ${called(one.found)}` },
    ...one.words.map(([word, vote]) => make("li", {}, make("span", { textContent: word }), make("span", { className: "weight", textContent: `+${vote.toFixed(3)}` }))));
  const tools = make("div", { className: "tools" });
  item.append(make("p", { className: "said" }, ...marked(one.text, one.words)), labels, ...(one.words.length ? [words] : []), tools);
  const instead = one.labels.map((label) => (label === one.label ? one.found : label));
  const choices = [[`It is ${called(one.found)}`, `Example ${one.number} is ${called(one.found)}, not ${called(one.label)}`, "choice", () => repair(one.number, instead, one.labels, tools)]];
  if (several) choices.push(["Both", `Example ${one.number} is ${called(one.label)} and ${called(one.found)}`, "", () => repair(one.number, [...one.labels, one.found], one.labels, tools)]);
  choices.push(["Leave it", `Leave example ${one.number} as it is`, "quiet", () => { settle(one.number, tools, [`${names(one.labels)} stays.`]); goOn(tools); }]);
  tools.append(...choices.map(([words_, name, className, work]) => button(words_, name, className, work)));
  if (settled.has(one.number)) settle(one.number, tools, settled.get(one.number));
  return item;
}

function button(words, name, className, work) {
  const made = make("button", { type: "button", className, textContent: words, ariaLabel: name });
  made.addEventListener("click", () => work(made));
  return made;
}

function marked(text, words) {
  const spoken = new Map(words);
  const most = Math.max(1e-12, ...spoken.values());
  return text.split(/(\s+)/).map((part) => {
    if (!spoken.has(part)) return part;
    const mark = make("mark", { textContent: part });
    mark.style.setProperty("--strength", `${15 + 45 * spoken.get(part) / most}%`);
    return mark;
  });
}

export const repair = guarded((number, labels, before, tools) => closed(tools, async () => {
  const done = await ask("v1/repair", { number, labels: labels.map(String) });
  const back = button("Undo", `Undo the repair of example ${number}`, "quiet", () => repair(done.number, before, labels, tools));
  settle(number, tools, [`Learned anew with ${names(labels)}.`, back]);
}));

async function closed(tools, work) { // disable the tools while it runs, then move the focus to the next example
  const focused = tools.contains(document.activeElement);
  for (const one of tools.querySelectorAll("button")) one.disabled = true;
  try {
    await work();
  } finally {
    for (const one of tools.querySelectorAll("button")) one.disabled = false;
  }
  if (focused) goOn(tools);
  await changed();
}

function goOn(tools) {
  const left = [...tools.closest(".view").querySelectorAll(".reports > li:not(.settled) button")];
  left.find((one) => tools.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)?.focus();
}

function settle(number, tools, children) {
  settled.set(number, children);
  tools.replaceChildren(...children.map((one) => (typeof one === "string" ? make("span", { className: "hint", textContent: one }) : one)));
  tools.closest("li")?.classList.add("settled");
}

// The matrix

function drawMatrix() {
  const { labels, counts } = found.matrix;
  byId("matrix-card").hidden = labels.length === 0;
  const most = Math.max(1, ...counts.flat());
  const head = make("tr", {}, make("td"), ...labels.map((label) => make("th", { scope: "col", title: called(label) }, make("span", { textContent: called(label) }))));
  const rows = labels.map((label, i) => make("tr", {}, make("th", { scope: "row", textContent: called(label), title: called(label) }),
    ...labels.map((other, j) => make("td", {}, ...(counts[i][j] ? [cell({ label, found: other, count: counts[i][j] }, most)] : [])))));
  byId("matrix").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

function cell(pair, most) {
  const made = button(pair.count.toLocaleString(), `${called(pair.label)} found to be ${called(pair.found)}: ${pair.count}`, "", () => {
    choose(made.ariaPressed === "true" ? null : pair);
    byId("doubts-heading").scrollIntoView({ block: "nearest" });
  });
  made.dataset.pair = key(pair);
  made.ariaPressed = "false";
  made.style.setProperty("--strength", `${12 + 48 * pair.count / most}%`);
  return made;
}

// Equal texts

function drawEqual() {
  byId("equal-card").hidden = found.duplicates.length === 0;
  byId("equal-words").textContent = found.duplicates.length > SHOWN ? `The first ${SHOWN} of ${found.duplicates.length.toLocaleString()}` : "";
  byId("equal").replaceChildren(...found.duplicates.slice(0, SHOWN).map((one) => {
    const groups = new Map();
    one.labels.forEach((labels) => {
      const own = JSON.stringify(labels.map(String).sort());
      groups.set(own, { labels, times: (groups.get(own)?.times ?? 0) + 1 });
    });
    const tools = make("div", { className: "tools" });
    tools.append(...[...groups.values()].map(({ labels, times }) =>
      button(`${names(labels)}${times > 1 ? ` (${times})` : ""}`, `All ${one.numbers.length} are ${names(labels)}`, "", () => agree(one, labels, tools))));
    return make("li", {}, make("p", { className: "said", textContent: one.text }), make("p", { className: "hint", textContent: "All of them are:" }), tools);
  }));
}

const agree = guarded(({ numbers, labels }, right, tools) => closed(tools, async () => {
  const own = (some) => JSON.stringify(some.map(String).sort());
  const others = numbers.filter((_, n) => own(labels[n]) !== own(right));
  for (const number of others) await ask("v1/repair", { number, labels: right.map(String) }); // safe to repeat: each repair is done once
  settle(numbers.join(), tools, [`${others.length} learned anew with ${names(right)}.`]);
}));
