// Ask the server, and build the page from its answers. No text from the server or a user is ever read as markup.

export class Problem extends Error {
  constructor(words, status) {
    super(words);
    this.status = status;
  }
}

let token = sessionStorage.getItem("token") || "";

export async function ask(path, body, signal) {
  const request = { signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    Object.assign(request, { method: "POST", body: JSON.stringify(body) });
  }
  return (await answered(path, request)).json();
}

export async function send(path, file) {
  const headers = { Accept: "application/json", "Content-Type": "application/octet-stream" };
  return (await answered(path, { method: "POST", body: file, headers })).json();
}

export async function download(path, name) {
  const address = URL.createObjectURL(await (await answered(path, { headers: {} })).blob());
  make("a", { href: address, download: name }).click(); // a plain link could not carry the token
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

async function answered(path, request) {
  const used = token;
  if (used) request.headers.Authorization = `Bearer ${used}`;
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Problem("The server cannot be reached. Is it running?");
  }
  if (answer.status === 401) {
    if (used === token) await askForToken(used !== ""); // else another request has asked for it meanwhile
    return answered(path, request);
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({ error: `The server answered ${answer.status} and nothing to read.` }));
  throw new Problem(sentence(said.error), answer.status);
}

function sentence(words) {
  const first = /^\p{Ll}+[\s,:]/u.test(words) ? words.charAt(0).toUpperCase() : words.charAt(0); // names stay as they are
  return first + words.slice(1) + (/[.?!]$/.test(words) ? "" : ".");
}

let asking = null;

function askForToken(wrong) {
  asking ??= new Promise((done) => {
    const dialog = byId("token-dialog");
    byId("token-wrong").textContent = wrong ? "That token is not the right one. Try again." : "";
    byId("token").value = "";
    dialog.addEventListener("close", () => {
      token = byId("token").value.trim();
      sessionStorage.setItem("token", token);
      asking = null;
      done();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

export const byId = (id) => document.getElementById(id);

const names = new Map(); // label -> what people call it, where the model has a vocabulary

export const called = (label) => names.get(String(label)) ?? String(label);

export const counted = (n, things) => `${n.toLocaleString()} ${n === 1 ? things.replace(/s$/, "") : things}`;

export function know(items) {
  for (const { label, name } of items) if (name) names.set(String(label), name);
  return items;
}

export function nameAll(given) {
  for (const [label, name] of Object.entries(given)) names.set(label, name);
}

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const SHAPES = { yes: "M4 12.5l5.5 5.5L20 7", no: "M6 6l12 12M18 6L6 18" };

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[name]);
  svg.append(path);
  return svg;
}

export function bar(share) {
  const element = make("span", { className: "bar" });
  element.style.width = `${100 * Math.max(0, Math.min(1, share))}%`;
  return element;
}

export function terms(id, facts) {
  byId(id).replaceChildren(...Object.entries(facts).flatMap(([name, value]) =>
    [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}

let shown = 0; // number of problems so far

export function show(problem) {
  if (problem.name === "AbortError") return;
  shown += 1;
  byId("problem-words").textContent = problem instanceof Problem ? problem.message : `Something went wrong on this page: ${problem.message}`;
  byId("problem").hidden = false;
}

export function guarded(work) {
  return async (...given) => {
    const before = shown;
    try {
      const result = await work(...given);
      if (shown === before) byId("problem").hidden = true; // a problem shown meanwhile belongs to other work
      return result;
    } catch (problem) {
      show(problem);
    }
  };
}

export function later(work, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

// A message about what was just done, shown for a while, with a button that undoes it.

let fading;

export function toast(words, ...children) {
  clearTimeout(fading);
  byId("toast").replaceChildren(make("span", { textContent: words }), ...children);
  fading = setTimeout(() => byId("toast").replaceChildren(), 20_000);
}

export function undoing(work) {
  const button = make("button", { type: "button", textContent: "Undo" });
  button.addEventListener("click", () => work(button));
  return button;
}

export const percent = (share, digits = 0) => (share === null ? "–" : `${(100 * share).toFixed(digits)} %`);

// A key for an example, so that a retry learns nothing twice.
export const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
