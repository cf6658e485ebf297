// Files that are dropped before the page's modules are there: kept for them, so that the browser does not open them instead.
"use strict";

window.dropped = [];
window.onDrop = (drop) => window.dropped.push(drop);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  window.onDrop({ files: [...event.dataTransfer.files], text: event.dataTransfer.getData("text"), target: event.target });
});
