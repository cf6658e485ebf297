// Keep files that are dropped before the modules of the page are loaded; else the browser would open them.
"use strict";

window.dropped = [];
window.onDrop = (drop) => window.dropped.push(drop);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  window.onDrop({ files: [...event.dataTransfer.files], text: event.dataTransfer.getData("text"), target: event.target });
});
