// Striking out a word that must not count, from the votes under Why: with a preview of what that would change.

import { ask, byId, called, counted, guarded, icon, make, newKey, percent, toast, undoing } from "./api.js";

let struck = () => {}; // called after a strike, with what undoes it
let word = null;
let label = null;
let latest = 0; // the number of the last preview

export function begin(onStrike) {
  struck = onStrike;
  byId("strike-one").addEventListener("click", guarded(() => strike({ word, label })));
  byId("strike-any").addEventListener("click", guarded(() => strike({ word })));
}

const isWord = (feature) => /^[\p{L}\p{M}\p{N}_ ]+$/u.test(feature); // no part of a word, no field

export function button(feature, spans, ofLabel) { // beside a vote of a word of the text
  if (!spans?.length || !isWord(String(feature))) return [];
  const open = make("button", { type: "button", className: "strike manages", ariaLabel: `Strike out ${feature}`, title: "Strike out: it must not count" }, icon("no"));
  open.addEventListener("click", guarded(() => preview(feature, ofLabel)));
  return [open];
}

export function entry({ word: gone, person }) { // a struck word of the text
  const by = person ? `struck out by ${person}` : "struck out";
  return make("li", { className: "struck" }, make("s", { textContent: gone }), make("span", { className: "weight", textContent: by }));
}

async function preview(feature, ofLabel) {
  word = feature;
  label = ofLabel;
  latest += 1;
  const mine = latest;
  byId("strike-heading").textContent = `Strike out “${word}”`;
  byId("strike-one").textContent = `For ${called(label)}`;
  byId("strike-effect-one").textContent = byId("strike-effect-any").textContent = "Looking what would change…";
  byId("strike-dialog").showModal();
  const effects = await Promise.all([{ word, label }, { word }].map((asked) => ask("v1/strike/preview", asked)));
  if (mine !== latest) return;
  byId("strike-effect-one").textContent = `For ${called(label)}: ${inWords(effects[0])}`;
  byId("strike-effect-any").textContent = `For any label: ${inWords(effects[1])}`;
}

const inWords = ({ waiting, decided }) => `${part(waiting, "waiting texts")} and ${part(decided, "past decisions")} would change.`;

function part({ texts, change }, what) {
  return texts === 0 ? `no ${what}` : `${change.toLocaleString()} of ${counted(texts, what)} (${percent(change / texts)})`;
}

async function strike(asked) {
  byId("strike-dialog").close();
  const { number } = await ask("v1/strike", { ...asked, key: newKey() });
  toast(`Struck out “${asked.word}” for ${asked.label === undefined ? "any label" : called(asked.label)}.`, undoing((undo) => struck({ number, undo })));
  await struck({});
}
