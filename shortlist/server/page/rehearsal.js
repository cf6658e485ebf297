// The rehearsal view: start one, compare candidate and present model, promote the candidate, and go back.

import { ask, byId, called, counted, guarded, know, make, percent as rounded, send, toast } from "./api.js";
import { lines } from "./chart.js";

const SOON = 1000; // milliseconds between updates while a rehearsal or promotion runs
let changed = () => {};
let looking; // timer of the next update
let wasRunning = false;

export function begin(onChange) {
  changed = onChange;
  byId("rehearse").addEventListener("submit", (event) => { event.preventDefault(); guarded(rehearse)(); });
  byId("promote").addEventListener("click", guarded(promote));
  byId("go-back").addEventListener("click", guarded(goBack));
  byId("force").addEventListener("change", () => { byId("promote").disabled = !byId("force").checked; });
}

export const open = guarded(refresh);

const percent = (share) => rounded(share, 1);
const points = (share) => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;

async function refresh() {
  clearTimeout(looking);
  const { candidate, can_go_back, current, running, problem, learners } = await ask("v1/rehearsal");
  drawProgress(running, problem, learners);
  byId("rehearsal-nothing").hidden = candidate !== null;
  byId("rehearsed").hidden = candidate === null;
  byId("rehearsal-details").hidden = candidate === null;
  byId("go-back").hidden = !can_go_back;
  byId("rehearsal-state").textContent = current ? "" : "The journal is being learned anew. The earlier model answers until that is done.";
  if (candidate !== null) draw(candidate);
  if (!current || running) looking = setTimeout(() => { if (!byId("view-rehearsal").hidden) open(); }, SOON);
}

function drawProgress(running, problem, learners) {
  const known = byId("candidate-learner");
  if (known.options.length === 1) known.append(...learners.map((name) => make("option", { value: name, textContent: name })));
  byId("start-rehearsal").disabled = running !== null;
  byId("rehearsal-progress").hidden = running === null;
  if (running) Object.assign(byId("rehearsal-progress"), { max: Math.max(1, running.of), value: running.done });
  byId("rehearsal-done").textContent = running ? `${running.done.toLocaleString()} of ${counted(running.of, "examples")}` : "";
  if (wasRunning && !running) toast(problem === null ? "The rehearsal is done." : `The rehearsal failed: ${problem}`);
  wasRunning = running !== null;
}

async function rehearse() {
  byId("start-rehearsal").disabled = true;
  const file = byId("candidate-data").files[0];
  const asked = new URLSearchParams(file ? { name: file.name } : {});
  if (byId("skip-bad").checked) asked.set("skip_bad", "true");
  if (byId("candidate-learner").value) asked.set("learner", byId("candidate-learner").value);
  for (const pair of byId("candidate-settings").value.split(/\s+/).filter(Boolean)) asked.append("set", pair);
  try {
    await send(`v1/rehearse?${asked}`, file ?? new Blob([]));
    wasRunning = true;
  } finally {
    byId("start-rehearsal").disabled = false;
  }
  await refresh();
}

function draw({ time, learner, fits, report }) {
  const { all, windows, groups, labels, falls, passed_over: passed = 0, left_out: leftOut = 0 } = report;
  const troubles = [
    ...(falls.length ? [`The candidate falls, by more than chance, for ${falls.join(", ")}.`] : []),
    ...(passed ? [`It cannot learn ${counted(passed, "examples")} of the journal: ${report.passed.slice(0, 5).map((one) => one.number).join(", ")}${passed > 5 ? "…" : ""} (${report.passed[0].problem}).`] : []),
  ];
  const when = time === null ? "" : `, ${new Date(1000 * time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}`;
  byId("rehearsal-words").textContent = `${learner ?? ""}${when}: ${percent(all.candidate)} right at first, ${percent(all.present)} as it is now${leftOut ? `; ${counted(leftOut, "bad rows")} left out` : ""}`;
  lines("rehearsal-chart", ["present", "candidate"].map((name) => ({
    name: name === "present" ? "As it is now" : "Candidate",
    points: windows.map((one) => ({ x: one.to, y: one[name], words: `${percent(one[name])} of examples ${one.from} to ${one.to}` })),
  })), [`example ${windows[0].from.toLocaleString()}`, windows.at(-1).to.toLocaleString()], `First label right over time: candidate ${percent(all.candidate)}, as it is now ${percent(all.present)}`);
  byId("falls").hidden = troubles.length === 0;
  byId("falls").textContent = troubles.join(" ");
  byId("unfit").hidden = fits;
  byId("force-switch").hidden = troubles.length === 0 || !fits;
  byId("force").checked = false;
  byId("promote").disabled = troubles.length > 0 || !fits;
  table("rehearsal-groups", "Labels with", groups.map((one) => [`${one.group} (${one.labels.toLocaleString()})`, one]));
  table("rehearsal-labels", "Label", know(labels).map((one) => [called(one.label), one]));
}

function table(id, what, rows) {
  byId(id).hidden = rows.length === 0;
  const head = [what, "Now", "Candidate", "Difference"].map((words, n) => make("th", { scope: "col", className: n ? "number" : "", textContent: words }));
  byId(id).replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows.map(([name, one]) => {
    const verdict = one.high < 0 ? "worse" : one.low > 0 ? "better" : "";
    const difference = make("td", { className: `number ${verdict}`, title: `${points(one.low)} to ${points(one.high)}, ${counted(one.examples, "examples")}` }, points(one.difference),
      make("span", { className: "hint", textContent: ` ${points(one.low)} to ${points(one.high)}` }));
    return make("tr", {}, make("th", { scope: "row", textContent: name }), make("td", { className: "number", textContent: percent(one.present) }),
      make("td", { className: "number", textContent: percent(one.candidate) }), difference);
  })));
}

async function promote() {
  byId("promote").disabled = true;
  byId("rehearsal-state").textContent = "The candidate learns the journal. The present model answers until that is done.";
  let passed;
  try {
    passed = (await ask("v1/promote", { force: byId("force").checked })).passed_over;
  } finally {
    await refresh();
  }
  toast(passed ? `The candidate is promoted, without ${counted(passed, "examples")} that it cannot learn.` : "The candidate is promoted.");
  changed();
}

async function goBack() {
  byId("go-back").disabled = true;
  try {
    await ask("v1/go-back", {});
  } finally {
    byId("go-back").disabled = false;
  }
  await refresh();
  toast("The earlier model is served again.");
  changed();
}
