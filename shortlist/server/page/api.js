// Asking the server, and building the page from its answers. Nothing the server or a user says is ever read as markup.

export class Problem extends Error {}

let token = sessionStorage.getItem("token") || "";

export async function ask(path, body, signal) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const request = { headers, signal };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(request, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Problem("The server cannot be reached. Is it running?");
  }
  if (answer.status === 401) {
    await askForToken();
    return ask(path, body, signal);
  }
  const said = await answer.json().catch(() => ({ error: `The server answered ${answer.status} and nothing to read.` }));
  if (!answer.ok) throw new Problem(sentence(said.error));
  return said;
}

function sentence(words) {
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.?!]$/.test(words) ? "" : ".");
}

let asking = null;

function askForToken() {
  asking ??= new Promise((done) => {
    const dialog = byId("token-dialog");
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

export function know(items) {
  for (const { label, name } of items) if (name) names.set(String(label), name);
  return items;
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

export function show(problem) {
  if (problem.name === "AbortError") return;
  byId("problem-words").textContent = problem instanceof Problem ? problem.message : `Something went wrong on this page: ${problem.message}`;
  byId("problem").hidden = false;
}

export function guarded(work) {
  return async (...given) => {
    try {
      const result = await work(...given);
      byId("problem").hidden = true;
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
