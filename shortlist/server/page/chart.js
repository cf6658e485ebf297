// Draw shares over time as lines, in an SVG of the available width.

import { byId } from "./api.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const ROOM = { left: 44, right: 14, top: 12, bottom: 26 };

// series: [{ name, points: [{ x, y, words }] }]; ends: what stands below the first and the last x.
export function lines(id, series, ends, words) {
  const holder = byId(id);
  holder.watcher?.disconnect();
  holder.watcher = new ResizeObserver(() => draw(holder, series, ends, words));
  holder.watcher.observe(holder);
}

function draw(holder, series, ends, words) {
  const width = holder.clientWidth;
  if (!width) return;
  const every = series.flatMap(({ points }) => points);
  const lowest = Math.min(...every.map(({ y }) => y));
  const bottom = Math.min(0.8, Math.floor(lowest * 10) / 10);
  const first = Math.min(...every.map(({ x }) => x));
  const span = Math.max(...every.map(({ x }) => x)) - first || 1;
  const across = (x) => ROOM.left + ((width - ROOM.left - ROOM.right) * (every.length === series.length ? 0.5 : (x - first) / span));
  const up = (y) => ROOM.top + ((HEIGHT - ROOM.top - ROOM.bottom) * (1 - y)) / (1 - bottom);
  const at = (x, y) => `${across(x).toFixed(1)},${up(y).toFixed(1)}`;
  const svg = element("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, width: "100%", role: "img", "aria-label": words, class: "chart" });
  const step = 1 - bottom > 0.5 ? 0.2 : 0.1;
  for (let y = 1; y >= bottom - 1e-9; y -= step) {
    svg.append(element("line", { x1: ROOM.left, x2: width - ROOM.right, y1: up(y), y2: up(y), class: "rule" }),
      element("text", { x: ROOM.left - 8, y: up(y) + 4, "text-anchor": "end" }, `${Math.round(100 * y)} %`));
  }
  series.forEach(({ name, points }, n) => {
    svg.append(element("path", { d: `M${points.map(({ x, y }) => at(x, y)).join("L")}`, class: `line of-${n}` }));
    for (const { x, y, words: said } of points) {
      const dot = element("circle", { cx: across(x), cy: up(y), r: 4, class: `dot of-${n}` });
      dot.append(element("title", {}, `${name}: ${said}`));
      svg.append(dot);
    }
  });
  svg.append(element("text", { x: ROOM.left, y: HEIGHT - 6 }, ends[0]), element("text", { x: width - ROOM.right, y: HEIGHT - 6, "text-anchor": "end" }, ends[1]));
  holder.replaceChildren(svg);
}

function element(tag, attributes, text = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}
