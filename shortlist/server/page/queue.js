// The queue: import texts, and judge them one by one, also by keyboard alone.

import { ask, byId, called, counted, download, guarded, icon, make, percent, send, toast as say } from "./api.js";
import { focus } from "./fields.js";
import * as label from "./label.js";
import { cancel as cancelAdding } from "./suggest.js";

const EVERY = 5000; // milliseconds between two updates of the progress
const TABLES = /\.(jsonl|ndjson|json|csv|tsv|xlsx|xls|ods|parquet|arff|xml|sgm)(\.(gz|bz2|xz|zst))?$|\.(gz|bz2|xz|zst)$/i;
let item = null; // what is being judged
let busy = false;
let crossing = false; // x was pressed: the next digit crosses out a label
let last = null; // the number of the last judgement, to take it back, and the id of its text
let seen = null; // the texts that the model would decide
let undoLast = () => {};
let decided = () => {};

// The person: a name of this tab, so that two tabs never get the same text.
const person = sessionStorage.getItem("person") || `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
sessionStorage.setItem("person", person);

export async function begin(onUndo, onDecision, ready) {
  undoLast = onUndo;
  decided = onDecision;
  byId("queue-start").addEventListener("click", start);
  byId("queue-stop").addEventListener("click", guarded(stop));
  for (const [id, to] of [["skip", "skipped"], ["later", "later"], ["flag", "flagged"]]) byId(id).addEventListener("click", () => pass(to));
  byId("help").addEventListener("click", showKeys);
  byId("import").addEventListener("change", async (event) => { await take([...event.target.files]); event.target.value = ""; });
  byId("file").addEventListener("change", async (event) => { await open([...event.target.files]); event.target.value = ""; });
  byId("order").value = sessionStorage.getItem("order") || "gain";
  byId("order").addEventListener("change", () => sessionStorage.setItem("order", byId("order").value));
  byId("flagged").addEventListener("click", guarded(openFlagged));
  byId("sure").addEventListener("click", () => { byId("sure-dialog").showModal(); lookAtSure(); drawDecisions(); });
  byId("precision").addEventListener("change", () => lookAtSure());
  byId("standing").addEventListener("change", () => setStanding());
  byId("sure-apply").addEventListener("click", () => decide());
  document.addEventListener("keydown", keys);
  beginDropping();
  await ready; // it finds out whether there is a queue
  await guarded(async () => {
    await refresh();
    byId("export").addEventListener("click", guarded(save));
  })();
  setInterval(() => { if (!document.hidden) refresh().catch(() => {}); }, EVERY);
}

export async function refresh() {
  if (byId("queue-card").dataset.off !== undefined) return;
  draw(await ask("v1/queue"));
  await drawPromise();
}

export function readOnly(isSo) {
  byId("queue-card").hidden = isSo;
  if (isSo) byId("queue-card").dataset.off = "";
}

function draw({ waiting, held, judged, skipped, flagged, total }) {
  const aside = [[skipped, "skipped"], [flagged, "flagged"]].filter(([n]) => n).map(([n, word]) => `, ${n.toLocaleString()} ${word}`).join("");
  byId("queue-words").textContent = total === 0 ? "No texts wait. Import a file of them, or drop one here."
    : `${waiting.toLocaleString()} of ${counted(total, "texts")} left, ${judged.toLocaleString()} judged${aside}`;
  byId("queue-progress").hidden = total === 0;
  byId("queue-progress").max = Math.max(total, 1);
  byId("queue-progress").value = total - waiting;
  drawKept();
  byId("queue-start").hidden = item !== null || waiting === 0;
  byId("sure").hidden = waiting === 0;
  byId("flagged").hidden = flagged === 0;
  byId("queue-stop").hidden = byId("passing").hidden = item === null;
  byId("order-choice").hidden = total === 0;
  byId("queue-held").textContent = held > (item === null ? 0 : 1) ? `${(held - (item === null ? 0 : 1)).toLocaleString()} open with colleagues` : "";
}

function drawKept() { // ids and other columns of the rows that the text came from
  const rows = item?.rows ?? [];
  byId("kept").hidden = rows.length === 0;
  byId("kept").textContent = rows.map((row) => Object.entries(row).map(([name, cell]) => `${name} ${cell}`).join(" · ")).join("  |  ");
}

// Importing

const take = guarded(async (files) => {
  let added = 0;
  let known = 0;
  for (const file of files) {
    const answer = await send(`v1/queue/file?name=${encodeURIComponent(file.name)}&keep=*`, file);
    added += answer.added;
    known += answer.known;
  }
  await refresh();
  say(`Added ${counted(added, "texts")}${known ? `; already there: ${known.toLocaleString()}` : ""}.`);
});

const open = guarded(async (files) => { // a table or several files are many texts; one plain-text file is one text
  if (!files.length) return;
  if (files.length > 1 || TABLES.test(files[0].name) || item !== null) return take(files);
  const content = await files[0].text();
  if (content.includes("\0")) throw new Error(`${files[0].name} is not a text file.`);
  await label.setText(content);
});

function beginDropping() {
  const cards = [byId("text-card"), byId("queue-card")];
  const over = (on) => { for (const card of cards) card.classList.toggle("dropping", on); };
  document.addEventListener("dragover", () => over(true));
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  window.onDrop = ({ files, text, target }) => {
    over(false);
    if (files.length) (target.closest?.("#queue-card") ? take : open)(files);
    else if (text && item === null) label.setText(text);
  };
  for (const early of window.dropped.splice(0)) window.onDrop(early); // dropped before this module was loaded
}

const save = () => {
  const format = byId("export-format").value;
  const ending = { jsonl: "jsonl", csv: "csv", xlsx: "xlsx", fasttext: "txt" }[format] ?? "json";
  return download(`v1/export?format=${format}`, `judged.${ending}`);
};

// Working

const start = guarded(async () => { if (!busy) await next(); });

async function stop() {
  if (item) await ask("v1/queue/move", { ids: [item.id], to: "waiting", person });
  item = null;
  await label.judgeItem(null);
  await refresh();
  byId("queue-start").focus();
}

async function next(id = null) {
  busy = true;
  try {
    const answer = await ask("v1/queue/next", { person, order: byId("order").value, id });
    const was = item;
    item = answer.item;
    draw(answer.progress);
    if (item !== null || was !== null) await label.judgeItem(item);
    if (item === null) say(answer.progress.waiting ? "All texts that are left are open with colleagues." : "Nothing is left.");
    byId("text").focus();
  } finally {
    busy = false;
  }
}

const pass = guarded(async (to) => {
  if (item === null || busy) return;
  busy = true;
  try {
    await ask("v1/queue/move", { ids: [item.id], to, person });
  } finally {
    busy = false;
  }
  await next();
});

export async function afterLearning(number) { // get the next text, or clear the box
  last = { number, id: item?.id };
  if (item !== null) return next();
  await label.setText("");
  focus();
}

export const goOn = () => next();

const judge = guarded(async (given) => { // judge a given text instead of the next one
  if (item) await ask("v1/queue/move", { ids: [item.id], to: "waiting", person });
  item = given;
  await refresh();
  await label.judgeItem(item);
  byId("text").focus();
});

// Keys

const showKeys = () => byId("keys-dialog").showModal();

function keys(event) {
  const { key, target } = event;
  if (item === null || busy || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.matches("input, select") || (target.matches("textarea") && !target.readOnly)) {
    if (key === "Escape" && target === byId("add")) {
      cancelAdding();
      byId("text").focus();
    }
    return;
  }
  const known = { s: () => pass("skipped"), l: () => pass("later"), f: () => pass("flagged"), n: () => label.learn(true), a: () => byId("add").focus(), u: takeBack, "?": showKeys };
  const wasCrossing = crossing;
  setCrossing(key === "x" && !crossing);
  if (/^[1-9]$/.test(key)) {
    label.judgeNumber(Number(key), !wasCrossing);
    if (!wasCrossing && document.body.classList.contains("one-label")) label.learn();
  } else if (key === "Enter" && !target.matches("button, a")) label.learn();
  else if (known[key]) known[key]();
  else if (key !== "x") return;
  event.preventDefault();
}

function setCrossing(on) {
  crossing = on;
  byId("key-hint").textContent = on ? "x: now the number of a label that is wrong" : "";
}

const takeBack = guarded(async () => { // and show its text again
  if (last === null) return;
  const { number, id } = last;
  last = null;
  await undoLast(number, make("button"));
  if (id === undefined || item === null) return;
  await ask("v1/queue/move", { ids: [item.id], to: "waiting", person });
  item = null;
  await next(id);
});

// Flagged texts, which can be judged after all

async function openFlagged() {
  const { items } = await ask("v1/queue/items?state=flagged&limit=200");
  byId("flagged-list").replaceChildren(...items.map((item) => {
    const button = make("button", { type: "button", className: "quiet judges", textContent: "Judge it" });
    button.addEventListener("click", () => { byId("flagged-dialog").close(); judge(item); });
    const words = typeof item.text === "string" ? item.text : Object.values(item.text).join(" · ");
    return make("li", {}, make("span", { textContent: words.slice(0, 200), title: words }),
      make("span", { className: "hint", textContent: [item.person.startsWith("page-") ? "" : item.person, item.note].filter(Boolean).join(": ") }), button);
  }));
  byId("flagged-dialog").showModal();
}

// What the model would decide alone: looked at first, decided then, taken back at once if need be

const precision = () => Number(byId("precision").value);

const lookAtSure = guarded(async () => {
  byId("sure-apply").disabled = true;
  byId("sure-words").textContent = "Looking…";
  const asked = precision();
  const answer = await ask("v1/queue/sure", { precision: asked, most: 100000 });
  if (asked !== precision()) return;
  seen = answer;
  byId("promise-words").textContent = wordsOf(seen.promise);
  byId("sure-words").textContent = seen.promise.paused ? `${seen.promise.paused}.` : seen.sure
    ? `It would decide ${seen.sure.toLocaleString()} of ${counted(seen.looked_at, "texts")} waiting. The least sure of them:`
    : `It would decide none of ${counted(seen.looked_at, "texts")} waiting.`;
  byId("sure-examples").replaceChildren(...seen.examples.map((one) => make("li", {},
    make("span", { className: "excerpt", textContent: one.text, title: one.text }),
    make("span", { className: "names", textContent: one.labels.map((label) => called(String(label))).join(", ") }),
    make("span", { className: "score", textContent: `${(100 * one.probability).toFixed(0)} %` }), leaveOut(one.id))));
  byId("sure-apply").disabled = seen.sure === 0;
});

function leaveOut(id) { // a person judges this one
  const button = make("button", { type: "button", className: "quiet", ariaLabel: "Leave this one to a person", title: "Leave this one to a person" }, icon("no"));
  button.addEventListener("click", () => {
    seen.ids = seen.ids.filter((other) => other !== id);
    button.closest("li").remove();
    byId("sure-apply").disabled = seen.ids.length === 0;
  });
  return button;
}

const setStanding = guarded(async () => {
  await ask("v1/queue/standing", { on: byId("standing").checked, precision: precision() });
});

const drawDecisions = guarded(async () => { // by day, each of which can be undone as a whole
  byId("standing").checked = (await ask("v1/queue/standing")).on;
  const { decisions } = await ask("v1/queue/decisions?limit=1000");
  const days = new Map();
  for (const one of decisions) {
    const day = new Date(1000 * one.time).setHours(0, 0, 0, 0);
    const sums = days.get(day) ?? { decided: 0, undone: 0 };
    days.set(day, { decided: sums.decided + one.decided, undone: sums.undone + one.undone });
  }
  byId("decisions").hidden = days.size === 0;
  byId("decisions-list").replaceChildren(...[...days].map(([day, { decided: n, undone }]) => {
    const left = n - undone;
    const line = make("li", {}, make("span", { textContent: `${new Date(day).toLocaleDateString()}: ${counted(n, "texts")} decided${undone ? `, ${undone.toLocaleString()} taken back` : ""}` }));
    if (left > 0) {
      const button = make("button", { type: "button", className: "quiet", textContent: `Take back ${left.toLocaleString()}` });
      button.addEventListener("click", guarded(async () => {
        button.disabled = true;
        const until = new Date(day).setDate(new Date(day).getDate() + 1) / 1000;
        const { undone: n_undone } = await ask("v1/queue/undo", { since: day / 1000, until });
        say(`Took back ${counted(n_undone, "decisions")}.`);
        await Promise.all([drawDecisions(), refresh(), lookAtSure()]);
      }));
      line.append(button);
    }
    return line;
  }));
});

const wordsOf = ({ checked, in_words }) => checked ? `Spot checks: ${in_words}.` : "No spot checks have been judged yet: a share of the texts is shown without suggestions, and shows how many decisions are right.";

const drawPromise = guarded(async () => {
  const promise = await ask(`v1/promise?precision=${precision()}`);
  byId("paused").hidden = promise.paused === null;
  if (promise.paused === null) return;
  const share = (value) => value === null ? "–" : percent(value);
  const { inputs, labels, words } = promise.changes;
  const known = inputs.known_words;
  byId("paused-words").textContent = `${promise.paused}.`;
  byId("changes").replaceChildren(...[
    known.now !== null && `Known words: ${share(known.now)} (${share(known.before)} before)`,
    labels.length > 0 && `Labels that people give more often: ${labels.map(({ name, now, before }) => `${called(name)} ${share(now)} (${share(before)})`).join(", ")}`,
    words.length > 0 && `Words that come more often: ${words.map(({ name, now, before }) => `${name} ${share(now)} (${share(before)})`).join(", ")}`,
  ].filter(Boolean).map((line) => make("li", { textContent: line })));
});

const decide = guarded(async () => {
  byId("sure-apply").disabled = true;
  const made = await ask("v1/queue/decide", { ids: seen.ids, precision: precision() });
  byId("sure-dialog").close();
  await decided(made);
});
