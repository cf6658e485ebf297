// Why a label is ranked where it is: the words that voted for it, marked in the text.

import { ask, byId, called, make } from "./api.js";
import * as marks from "./marks.js";
import * as strike from "./strike.js";
import * as taught from "./taught.js";

// A word is marked as a whole if any of its parts voted; in scripts without spaces, each letter is a word.
const ALONE = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"].map((name) => `\\p{Script=${name}}`).join("");
const MOST_PASSAGES = 3; // that are marked
const IS_ALONE = new RegExp(`^[${ALONE}]$`, "u");
const WORD = new RegExp(`[${ALONE}]|(?:(?![${ALONE}])[\\p{L}\\p{M}\\p{N}_])+`, "gu");

let wanted = null; // text and label of the last question

export function hide() {
  wanted = null;
  taught.hide();
  byId("why").hidden = true;
}

export async function explain(text, label) {
  const asked = wanted = { text, label };
  taught.keepFor(label);
  const why = await ask("v1/explain", asked);
  if (asked !== wanted) return;
  draw(why.votes.length || why.struck?.length ? `Why ${called(label)}: ${why.score.toFixed(3)}` : `No word here speaks for ${called(label)}`, why, text, label);
}

export function draw(heading, why, text = "", label = null) {
  byId("why").hidden = false;
  byId("why-heading").textContent = heading;
  byId("why-text").replaceChildren(...byField(text, why.votes, carrying(why.passages ?? [])));
  marks.draw();
  openAt(byId("why-text"), document.querySelector("#why-text .passage"));
  byId("why-votes").replaceChildren(...(why.struck ?? []).map(strike.entry), ...why.votes.slice(0, 30).map((vote) =>
    make("li", {}, ...taught.vote(vote.feature, vote.spans, label, signed(vote.vote)), ...(label === null ? [] : strike.button(vote.feature, vote.spans, label)))));
  drawNearest(why.nearest ?? []);
}

function openAt(box, passage) { // a long text opens at the first sentence that carries the label
  box.scrollTop = 0;
  if (passage) box.scrollTop = passage.getBoundingClientRect().top - box.getBoundingClientRect().top - 24;
}

function carrying(passages) { // the few sentences that carry the label, in order; none of a single one
  if (passages.length < 2) return [];
  const best = passages.filter(({ vote }) => vote > 0).sort((a, b) => b.vote - a.vote);
  return best.filter(({ vote }, n) => n < MOST_PASSAGES && vote >= best[0].vote / 2).sort((a, b) => a.start - b.start);
}

function drawNearest(nearest) {
  byId("near").hidden = !nearest.length;
  byId("nearest").replaceChildren(...nearest.map(({ text, labels, similarity }) => {
    const whole = parts(text).map(([, own]) => own).join(" · ");
    return make("li", {},
      make("span", { className: "excerpt", textContent: whole.slice(0, 80), title: whole }),
      make("span", { className: "names", textContent: `${labels.map(called).join(", ")} · ${similarity.toFixed(2)}` }));
  }));
}

const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

function parts(document) { // [field, text] of what explanations count the letters of, in order
  return typeof document === "string" ? [["", document]] : Object.entries(document).filter(([, value]) => typeof value === "string");
}

function byField(document, votes, passages) { // the letters of all fields are counted as if they were lines of one text
  let begin = 0;
  return parts(document).flatMap(([name, text]) => {
    const own = votes.map(({ vote, spans = [] }) => ({ vote, spans: spans.map((span) => span.map((place) => place - begin)) }));
    const ours = passages.map(({ start, end }) => [start - begin, end - begin]).filter(([start]) => start >= 0 && start < [...text].length);
    begin += [...text].length + 1;
    const shown = marked(text, own, ours);
    return name ? [make("span", { className: "field", textContent: name }), make("span", { className: "part" }, ...shown)] : shown;
  });
}

function marked(whole, votes, passages) {
  // Places count characters; JavaScript counts UTF-16 units: map one to the other.
  const place = new Map();
  let count = 0;
  for (let half = 0; half <= whole.length; half += (whole.codePointAt(half) > 0xffff ? 2 : 1)) place.set(half, count++);
  const words = [...whole.matchAll(WORD)].map((found) => ({ text: found[0], from: found.index, first: place.get(found.index), end: place.get(found.index + found[0].length), weight: 0 }));
  const at = new Int32Array(count).fill(-1); // which word each character belongs to
  words.forEach((word, n) => at.fill(n, word.first, word.end));
  for (const vote of votes) for (const [first, end] of vote.spans) {
    if (first < 0) continue; // in a field before
    for (const n of new Set(at.subarray(first, end))) if (n >= 0) words[n].weight += vote.vote;
  }
  const most = words.reduce((a, word) => Math.max(a, Math.abs(word.weight)), 1e-12);
  const halves = [...place.keys()]; // where each character begins in UTF-16
  const nodes = (from, to) => {
    const pieces = [];
    let done = from;
    for (const word of words) {
      const end = word.from + word.text.length;
      if (word.from < from || end > to) continue;
      pieces.push(whole.slice(done, word.from), marks.word(voted(word, most), IS_ALONE.test(word.text)));
      done = end;
    }
    return [...pieces, whole.slice(done, to)];
  };
  const shown = [];
  let done = 0;
  for (const [start, end] of passages) {
    shown.push(...nodes(done, halves[start]), make("span", { className: "passage" }, ...nodes(halves[start], halves[end])));
    done = halves[end];
  }
  return [...shown, ...nodes(done, whole.length)];
}

function voted({ text, weight }, most) {
  if (weight === 0) return text;
  const mark = make("mark", { textContent: text, title: signed(weight) });
  mark.style.setProperty("--strength", `${15 + 45 * Math.abs(weight) / most}%`);
  return mark;
}
