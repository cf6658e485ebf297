// The page of a model that rates: a text in, its rating with how sure it is, why, and corrections.

import { ask, bar, byId, counted, guarded, later, make, newKey, percent, terms, toast, undoing } from "./api.js";
import * as recent from "./recent.js";
import * as why from "./why.js";

const EVERY = 2000; // milliseconds
let model = null; // what the server says of it
let answer = null; // to what is typed now
let asked = null; // aborts the question on its way
let chosen = null; // the right rating, as the scale has it
let key = null; // of the example as it stands: a retry learns nothing twice
let learning = false;

// Rating

const text = () => byId("text").value;
const isEmpty = () => !text().trim();

function write(words) {
  byId("text").value = words;
  byId("text").focus();
}

const rate = guarded(async () => {
  remember();
  byId("clear").hidden = isEmpty();
  byId("text-size").textContent = isEmpty() ? "" : `${[...text()].length.toLocaleString()} characters`;
  asked?.abort();
  asked = new AbortController();
  answer = null;
  if (isEmpty()) return draw();
  const began = performance.now();
  const question = { text: text() };
  const found = (await ask("v1/rank", question, asked.signal).catch(unrated)).answers[0];
  byId("ranking-note").textContent = `in ${(performance.now() - began).toFixed(0)} ms`;
  answer = found;
  draw();
  const { answer: rating, score, votes } = await ask("v1/explain", question, asked.signal);
  why.draw(`Why ${rating}: ${score.toFixed(3)}`, { votes }, question.text);
});

function unrated(problem) { // what stands there is the rating of something else
  if (problem.name !== "AbortError") draw();
  throw problem;
}

function draw() {
  const focused = document.activeElement?.dataset?.place;
  byId("ranking").replaceChildren(...model.scale.map(step));
  if (focused !== undefined) byId("ranking").querySelector(`[data-place="${focused}"]`)?.focus();
  byId("decision").hidden = answer === null;
  byId("decision").className = "alone";
  byId("decision").textContent = answer === null ? "" : inWords(answer);
  byId("sureness").hidden = answer === null || model.calibrated;
  byId("sureness").textContent = "How sure it is, it does not know: it was not calibrated, or has learned since.";
  if (answer === null) {
    byId("ranking-note").textContent = "";
    why.hide();
  }
  drawChosen();
}

function inWords({ rating, interval, from_step_below: below, from_step_above: above }) {
  if (interval) return interval[0] === interval[1] ? `${rating}; nine times in ten that is right.` : `${rating}; nine times in ten it is ${interval[0]} to ${interval[1]}.`;
  const place = model.scale.indexOf(rating);
  const near = [[below, model.scale[place - 1]], [above, model.scale[place + 1]]].filter(([distance]) => distance !== null && distance !== undefined);
  return `${rating}${near.map(([distance, other], n) => `${n ? " and" : ";"} ${distance.toFixed(2)} from ${other}`).join("")}.`;
}

function step(rating, place) {
  const probability = answer?.probabilities?.[place];
  const given = answer !== null && answer.rating === rating;
  const sure = probability === undefined ? "" : `${(100 * probability).toFixed(0)} %`;
  const pick = make("button", { type: "button", className: given ? "pick alone" : "pick", ariaPressed: String(chosen === rating) },
    bar(probability ?? Number(given)), make("span", { className: "name", textContent: String(rating) }), make("span", { className: "score", textContent: sure }));
  pick.dataset.place = place;
  pick.addEventListener("click", () => choose(chosen === rating ? null : rating));
  const [low, high] = (answer?.interval ?? []).map((end) => model.scale.indexOf(end));
  return make("li", { className: low <= place && place <= high ? "within" : "" }, pick);
}

// Correcting

function choose(rating) {
  chosen = rating;
  key = null;
  byId("add").value = "";
  drawChosen();
}

function written() { // a rating that is typed, as the scale has ratings; undefined if it is none
  const words = byId("add").value.trim();
  if (!words) return null;
  if (typeof model.scale[0] !== "number") return words;
  return Number.isFinite(Number(words)) ? Number(words) : undefined;
}

const right = () => written() ?? chosen;

function drawChosen() {
  const typed = written();
  for (const pick of byId("ranking").querySelectorAll(".pick")) pick.ariaPressed = String(typed === null && model.scale[pick.dataset.place] === chosen);
  const none = typed === undefined ? "A rating of this scale is a number." : "Choose it above.";
  const known = typed !== undefined && right() !== null;
  byId("chosen-words").textContent = known ? `${right()}${model.scale.includes(right()) ? "" : ", which is new"}` : none;
  byId("learn").disabled = !known || isEmpty() || learning;
}

const learn = guarded(async () => {
  if (byId("learn").disabled || learning) return;
  learning = true;
  drawChosen();
  try {
    key ??= newKey();
    const { learned } = await ask("v1/learn", { examples: [{ text: text(), rating: right(), key }] });
    const { number, steps } = learned[0];
    const off = steps === null ? "" : steps === 0 ? " It was rated rightly." : ` It was off by ${counted(steps, "steps")}.`;
    toast(`Learned as example ${number}.${off}`, undoing((button) => recent.undo(number, button)));
    choose(null);
    write("");
    await refresh();
    await rate();
  } finally {
    learning = false;
    drawChosen();
  }
});

const onUndone = guarded(async ({ undone }) => {
  toast(`Example ${undone} is taken back.`, make("span"));
  await refresh();
  await rate();
});

// Beside

async function refresh() {
  await Promise.all([refreshModel(), recent.refresh()]);
}

async function refreshModel() {
  const scale = model?.scale;
  model = await ask("v1/model");
  byId("correct").hidden = model.read_only;
  byId("read-only").hidden = !model.read_only;
  byId("new-rating").hidden = model.parameters.scale !== null; // a scale that was given is closed
  const { rolling, numbers } = model;
  terms("live", {
    "Learned here": (model.journal - model.undone).toLocaleString(),
    "Examples in all": numbers.examples.toLocaleString(),
    "Rated rightly": percent(rolling.exact),
    "Off by one step at most": percent(rolling.within_1),
    "Steps off on average": rolling.MAE === null ? "–" : rolling.MAE.toFixed(2),
    "Size": `${(model.bytes / 1e6).toFixed(1)} MB`,
  });
  recent.drawSettings(model);
  if (scale && String(scale) !== String(model.scale)) await rate(); // somebody has taught a new rating
}

const remember = () => sessionStorage.setItem("rated", text());

function listen() {
  const soon = later(rate, 150);
  byId("text").addEventListener("input", () => { key = null; remember(); soon(); });
  recent.begin(onUndone);
  byId("correct").addEventListener("submit", (event) => { event.preventDefault(); learn(); });
  byId("add").addEventListener("input", () => { key = null; drawChosen(); });
  byId("clear").addEventListener("click", () => { write(""); choose(null); rate(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); learn(); }
  });
  setInterval(() => { if (!document.hidden) refreshModel().catch(() => {}); }, EVERY);
}

byId("problem-close").addEventListener("click", () => { byId("problem").hidden = true; });
guarded(async () => {
  await refresh();
  listen();
  byId("text").value = sessionStorage.getItem("rated") ?? "";
  byId("text").disabled = false; // what was typed before it could be rated would be lost
  await rate();
})();
