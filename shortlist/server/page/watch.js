// How the model fares: quality over time, drift, and the labels that people correct most.

import { ask, bar, byId, called, counted, guarded, know, make, percent } from "./api.js";
import { lines } from "./chart.js";

const EVERY = 15_000; // milliseconds, while it is looked at

export function begin() {
  setInterval(() => { if (!document.hidden && !byId("view-watch").hidden) refresh().catch(() => {}); }, EVERY);
}

export const open = guarded(refresh);

async function refresh() {
  const { quality, drift, corrected } = await ask("v1/watch");
  drawQuality(quality);
  drawDrift(drift);
  drawCorrected(know(corrected));
}

const day = (time) => new Date(1000 * time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

function ends(first, last) { // short, for there is little room: the days, or the times of one day
  const [from, to] = [first, last].map((time) => new Date(1000 * time));
  const style = from.toDateString() === to.toDateString() ? { timeStyle: "short" } : { dateStyle: "short" };
  return [from, to].map((one) => one.toLocaleString([], style));
}

function drawQuality(windows) {
  byId("quality-nothing").hidden = windows.length > 0;
  byId("quality").hidden = windows.length === 0;
  if (!windows.length) return;
  const points = windows.map((one) => ({
    x: one.last, y: one["P@1"], low: one.low, high: one.high,
    words: `${percent(one["P@1"], 1)} (${percent(one.low)} to ${percent(one.high)}) of ${counted(one.examples, "examples")} up to number ${one.last}, ${day(one.time)}`,
  }));
  const now = windows.at(-1);
  byId("quality-words").textContent = `${percent(now["P@1"], 1)} of the last ${now.examples}`;
  lines("quality-chart", [{ name: "First label right", points }], windows.length > 1 ? ends(windows[0].time, now.time) : ["", day(now.time)],
    `First label right, from ${percent(points[0].y, 1)} to ${percent(now["P@1"], 1)} in ${counted(windows.length, "windows")} of examples`);
}

function drawDrift({ rankings, expected, right, calibration_error, decided_alone, unknown }) {
  const facts = [
    ["Unknown words", unknown.now, unknown.before === null ? "in the newest examples" : `in the newest examples, ${percent(unknown.before, 1)} before`, 1],
    ["Probabilities are off by", calibration_error, expected === null ? "not known yet" : `said ${percent(expected)} on average, and ${percent(right)} came true, in ${counted(rankings, "rankings")}`, 1],
    ["Decided alone", decided_alone, "the share of texts, so that 95 % of the labels are right", 0],
  ];
  byId("drift").replaceChildren(...facts.map(([name, share, words, digits]) => make("div", { className: "fact" },
    make("dt", { textContent: name }), make("dd", { textContent: percent(share, digits) }), make("dd", { className: "hint", textContent: words }))));
}

function drawCorrected(labels) {
  byId("corrected-nothing").hidden = labels.length > 0;
  const most = Math.max(1, ...labels.map(({ missed, crossed_out }) => missed + crossed_out));
  byId("corrected").replaceChildren(...labels.map(({ label, judged, missed, crossed_out }) => {
    const words = [judged ? `${missed.toLocaleString()} of ${judged.toLocaleString()} missed` : "", crossed_out ? `${crossed_out.toLocaleString()} crossed out` : ""];
    return make("li", {}, bar((0.75 * (missed + crossed_out)) / most), make("span", { textContent: called(label), title: label }),
      make("span", { className: "count", textContent: words.filter(Boolean).join(", ") }));
  }));
}
