// Connect the views.

import { ask, byId, counted, guarded, make, toast, undoing } from "./api.js";
import * as audit from "./audit.js";
import * as groups from "./groups.js";
import * as label from "./label.js";
import * as live from "./live.js";
import * as model from "./model.js";
import * as queue from "./queue.js";
import * as rehearsal from "./rehearsal.js";
import * as strike from "./strike.js";
import * as suggest from "./suggest.js";

const TABS = ["label", "audit", "rehearsal", "model"];
const OPENED = { model: model.open, rehearsal: rehearsal.open };

function open(name) {
  for (const one of TABS) {
    const chosen = one === name;
    byId(`view-${one}`).hidden = !chosen;
    byId(`tab-${one}`).ariaSelected = String(chosen);
    byId(`tab-${one}`).tabIndex = chosen ? 0 : -1;
  }
  history.replaceState(null, "", name === "label" ? location.pathname : `#${name}`);
  OPENED[name]?.();
}

for (const name of TABS) {
  byId(`tab-${name}`).addEventListener("click", () => open(name));
  byId(`tab-${name}`).addEventListener("keydown", (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    const step = event.key === "ArrowRight" ? 1 : TABS.length - 1;
    const other = TABS[(TABS.indexOf(name) + step) % TABS.length];
    open(other);
    byId(`tab-${other}`).focus();
  });
}

const onChange = guarded(async ({ learned, undone, taken }) => {
  if (learned) toast(`Learned as example ${learned}.`, undoing((button) => live.undo(learned, button)));
  else if (taken) toast("Somebody else has judged that one.");
  else toast(`Example ${undone} is taken back.`, make("span"));
  if (learned) await queue.afterLearning(learned);
  else if (taken) await queue.goOn();
  else await label.refresh();
  guarded(() => Promise.all([live.refresh(), queue.refresh()]))(); // in the background: the next text does not wait for it
});

const onDecision = guarded(async ({ decision, decided }) => {
  const takeBack = guarded(async (button) => {
    button.disabled = true;
    const { undone } = await ask("v1/queue/undo", { decision });
    toast(`Took back ${counted(undone, "decisions")}.`);
    await everything();
  });
  toast(`Decided ${counted(decided, "texts")}.`, ...(decided ? [undoing(takeBack)] : []));
  await everything();
});

const everything = () => Promise.all([label.refresh(), live.refresh(), queue.refresh()]);

async function signedIn() {
  const { name, role } = await ask("v1/me");
  byId("me").textContent = name && `${name} (${role})`;
  document.body.classList.toggle("only-reads", role === "read");
  document.body.classList.toggle("only-judges", role === "judge");
}

byId("problem-close").addEventListener("click", () => { byId("problem").hidden = true; });
for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());
suggest.begin(label.add, label.redraw);
model.begin();
rehearsal.begin(() => guarded(everything)());
strike.begin(guarded(({ number, undo }) => (number ? live.undo(number, undo) : everything())));
audit.begin(() => guarded(everything)());
groups.begin(() => guarded(everything)());
guarded(signedIn)();
label.begin(onChange);
queue.begin(live.undo, onDecision, live.begin(onChange, queue.readOnly));
if (TABS.includes(location.hash.slice(1))) open(location.hash.slice(1));
