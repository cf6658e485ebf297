// Why a label is ranked where it is: the words that voted for it, marked in the text.

import { ask, byId, called, make } from "./api.js";

// A word is marked as a whole if any of its parts voted; in scripts without spaces, each letter is a word.
const ALONE = ["Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar"].map((name) => `\\p{Script=${name}}`).join("");
const WORD = new RegExp(`[${ALONE}]|(?:(?![${ALONE}])[\\p{L}\\p{M}\\p{N}_])+`, "gu");

let wanted = null; // text and label of the last question

export function hide() {
  wanted = null;
  byId("why").hidden = true;
}

export async function explain(text, label) {
  const asked = wanted = { text, label };
  const why = await ask("v1/explain", asked);
  if (asked !== wanted) return;
  draw(why.votes.length ? `Why ${called(label)}: ${why.score.toFixed(3)}` : `No word here speaks for ${called(label)}`, why, text);
}

export function draw(heading, why, text = "") {
  byId("why").hidden = false;
  byId("why-heading").textContent = heading;
  byId("why-text").replaceChildren(...byField(text, why.votes));
  byId("why-votes").replaceChildren(...why.votes.slice(0, 30).map((vote) =>
    make("li", {}, make("span", { textContent: vote.feature }), make("span", { className: "weight", textContent: signed(vote.vote) }))));
  drawNearest(why.nearest ?? []);
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

function byField(document, votes) { // the letters of all fields are counted as if they were lines of one text
  let begin = 0;
  return parts(document).flatMap(([name, text]) => {
    const own = votes.map(({ vote, spans = [] }) => ({ vote, spans: spans.map((span) => span.map((place) => place - begin)) }));
    begin += [...text].length + 1;
    const shown = marked(text, own);
    return name ? [make("span", { className: "field", textContent: name }), make("span", {}, ...shown)] : shown;
  });
}

function marked(whole, votes) {
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
  const pieces = [];
  let done = 0;
  for (const { text, from, weight } of words) {
    if (weight === 0) continue;
    const mark = make("mark", { textContent: text, title: signed(weight) });
    mark.style.setProperty("--strength", `${15 + 45 * Math.abs(weight) / most}%`);
    pieces.push(whole.slice(done, from), mark);
    done = from + text.length;
  }
  return [...pieces, whole.slice(done)];
}
