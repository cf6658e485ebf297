// Words and phrases that decide, marked by a person in the text under Why. They go with the judgement as `because`.

import { byId, icon, make, toast } from "./api.js";

const MOST_MARKS = 100; // that an example takes
const LONGEST_MARK = 1000; // characters
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

let marks = []; // phrases, as they stand in the text
let everyWord = []; // of the text, as elements
let whole = ""; // its letters
const places = new Map(); // word -> where it stands in them; ranges of the browser take seconds in long texts
let changed = () => {};
let isPressed = false; // the mouse button, since it was over the text
let isDragged = false; // a phrase was marked by the drag that ends in the next click
let stop = null; // the word that Tab leads to
let anchor = null; // the word where a phrase begins that is chosen by keyboard

export function begin(onChange) {
  changed = onChange;
  const box = byId("why-text");
  box.addEventListener("mousedown", ({ button }) => { isPressed = button === 0; isDragged = false; });
  document.addEventListener("mouseup", () => {
    if (isPressed) markSelection();
    isPressed = false;
  });
  box.addEventListener("click", ({ target }) => {
    const word = target.closest(".word");
    if (word && canMark() && !isDragged) toggle(word);
    isDragged = false;
  });
  box.addEventListener("keydown", keys);
  box.addEventListener("focusin", ({ target }) => { if (target.matches(".word")) stopAt(target); });
}

export const all = () => [...marks];

export function clear() {
  marks = [];
  anchor = null;
  drawChips();
}

const canMark = () => !byId("correct").hidden && !document.body.classList.contains("only-reads");
const part = (word) => word.closest(".part") ?? byId("why-text");
const inOneSpace = (text) => text.trim().split(/\s+/).join(" ");
const asCompared = (text) => inOneSpace(text).toLowerCase();

export function word(shown, isAlone) { // a word of the text; isAlone: it is a letter of a script without spaces
  const made = make("span", { className: isAlone ? "word alone" : "word" }, shown);
  if (canMark()) {
    made.setAttribute("role", "button");
    made.ariaPressed = "false";
    made.tabIndex = -1;
  }
  return made;
}

function read() {
  everyWord = [];
  whole = "";
  places.clear();
  const texts = document.createTreeWalker(byId("why-text"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    const own = parentElement.closest(".word");
    if (own) {
      everyWord.push(own);
      places.set(own, { from: whole.length, to: whole.length + data.length });
    }
    whole += data;
  }
}

const letters = (first, last) => whole.slice(places.get(first).from, places.get(last).to);

function occurrences(phrase) { // the words of each
  const compared = asCompared(phrase.text);
  const found = [];
  everyWord.forEach((first, n) => {
    const last = everyWord[n + phrase.length - 1];
    if (!last || !compared.startsWith(first.textContent.toLowerCase())) return;
    if (asCompared(letters(first, last)) === compared) found.push(everyWord.slice(n, n + phrase.length));
  });
  return found;
}

export function draw() { // after the text was drawn anew
  read();
  show();
}

function show() {
  const marked = new Set(marks.flatMap((phrase) => occurrences(phrase).flat()));
  for (const one of everyWord) {
    one.classList.toggle("because", marked.has(one));
    if (one.hasAttribute("role")) one.ariaPressed = String(marked.has(one));
  }
  if (canMark() && everyWord.length && !everyWord.includes(stop)) stopAt(everyWord[0]);
  byId("why-hint").hidden = !canMark() || !everyWord.length;
  drawChips();
}

function stopAt(word) {
  if (stop !== null) stop.tabIndex = -1;
  stop = word;
  stop.tabIndex = 0;
}

function drawChips() {
  byId("because-words").hidden = marks.length === 0;
  byId("because").replaceChildren(...marks.map((phrase) => {
    const remove = make("button", { type: "button", ariaLabel: `Take the mark of ${phrase.text} back` }, phrase.text, icon("no"));
    remove.addEventListener("click", () => {
      const place = marks.indexOf(phrase);
      set(marks.filter((one) => one !== phrase));
      const left = byId("because").querySelectorAll("button");
      (left[Math.min(place, left.length - 1)] ?? byId("add")).focus();
    });
    return make("li", {}, remove);
  }));
}

function set(phrases) {
  marks = phrases;
  show();
  changed();
}

function toggle(word) {
  const left = marks.filter((phrase) => !occurrences(phrase).flat().includes(word));
  if (left.length < marks.length) set(left);
  else mark(word, word);
}

function mark(from, to) { // from a word to one behind it, in one field
  const ofPart = everyWord.filter((one) => part(one) === part(from));
  let first = ofPart.indexOf(from);
  let last = ofPart.includes(to) ? ofPart.indexOf(to) : ofPart.length - 1;
  // The server finds whole words. Where a word touches a letter of a script without spaces, that is marked with it.
  const touches = (n) => letters(ofPart[n], ofPart[n + 1]) === ofPart[n].textContent + ofPart[n + 1].textContent;
  while (first > 0 && !ofPart[first].classList.contains("alone") && touches(first - 1)) first -= 1;
  while (last < ofPart.length - 1 && !ofPart[last].classList.contains("alone") && touches(last)) last += 1;
  const text = inOneSpace(letters(ofPart[first], ofPart[last]));
  if (text.length > LONGEST_MARK || marks.length === MOST_MARKS) {
    toast(`At most ${MOST_MARKS} words or phrases of ${LONGEST_MARK.toLocaleString()} characters can be marked.`);
    return;
  }
  const chosen = new Set(ofPart.slice(first, last + 1));
  const outside = marks.filter((phrase) => !occurrences(phrase).flat().every((one) => chosen.has(one)));
  set([...outside, { text, length: last - first + 1 }]);
}

function markSelection() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount || !canMark()) return;
  const range = selection.getRangeAt(0);
  const from = lettersBefore(range.startContainer, range.startOffset, 0);
  const to = lettersBefore(range.endContainer, range.endOffset, whole.length);
  const chosen = everyWord.filter((one) => places.get(one).from < to && places.get(one).to > from);
  if (!chosen.length) return;
  isDragged = true;
  selection.removeAllRanges();
  mark(chosen[0], chosen.at(-1));
}

function lettersBefore(node, offset, outside) { // of a border of the selection; outside: where the text does not hold it
  const box = byId("why-text");
  if (!box.contains(node)) return outside;
  const before = document.createRange();
  before.setStart(box, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

// By keyboard: arrows go from word to word, with Shift they choose a phrase, and Enter marks.

function keys(event) {
  const at = event.target;
  if (!at.matches(".word") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") {
    if (anchor === null || anchor === at) toggle(at);
    else if (anchor.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING) mark(anchor, at);
    else mark(at, anchor);
    choose(null, at);
  } else if (STEPS[event.key]) {
    const place = Math.max(0, Math.min(everyWord.indexOf(at) + STEPS[event.key], everyWord.length - 1));
    choose(event.shiftKey ? anchor ?? at : null, everyWord[place]);
    everyWord[place].focus();
  } else return;
  event.preventDefault();
  event.stopPropagation(); // Enter would judge a text of the queue
}

function choose(start, end) {
  anchor = start;
  const bounds = [start, end].map((one) => everyWord.indexOf(one)).sort((a, b) => a - b);
  everyWord.forEach((one, n) => one.classList.toggle("choosing", start !== null && n >= bounds[0] && n <= bounds[1]));
}
