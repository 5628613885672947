// Steps through the match that the address names: → and ←, or j and k; Escape shows all of it again.
"use strict";

let steps = [];
let at = -1;
let bar = null;

function show() {
  steps.forEach((step, place) => {
    step.classList.toggle("later", at >= 0 && place > at);
    step.classList.toggle("now", place === at);
  });
  bar.querySelector("span").textContent = at < 0 ? "" : `${at + 1} of ${steps.length}`;
  if (at >= 0) steps[at].scrollIntoView({ block: "nearest" });
}

function move(by) {
  at = at < 0 ? (by > 0 ? 0 : steps.length - 1) : Math.max(0, Math.min(steps.length - 1, at + by));
  show();
}

function stop() {
  at = -1;
  show();
}

function button(text, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", does);
  return made;
}

// What one seat could see: the rest is left out while its name is chosen.
function seenBy(parts) {
  const label = document.createElement("label");
  const choice = document.createElement("select");
  const seats = new Set(parts.flatMap((part) => part.dataset.seen.split(" ")));
  for (const seat of ["", ...[...seats].sort()]) choice.add(new Option(seat ? `what ${seat} saw` : "everything", seat));
  choice.addEventListener("change", () => {
    for (const part of parts) part.hidden = choice.value && !part.dataset.seen.split(" ").includes(choice.value);
  });
  label.append("Show ", choice);
  return label;
}

function begin() {
  if (bar) {
    stop();
    bar.remove();
  }
  bar = null;
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const match = target && target.closest(".match");
  if (!match) return;
  steps = [...match.querySelectorAll("section .step")];
  if (!steps.length) return;
  at = -1;
  bar = document.createElement("div");
  bar.className = "replay";
  const where = document.createElement("span");
  where.setAttribute("role", "status");
  bar.append(button("Replay step by step →", () => move(1)), button("←", () => move(-1)), button("All", stop), where);
  bar.children[1].setAttribute("aria-label", "One step back");
  const seen = [...match.querySelectorAll(".private")];
  if (seen.length) bar.append(seenBy(seen));
  match.querySelector("header").append(bar);
}

document.addEventListener("keydown", (event) => {
  if (!bar || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "ArrowRight" || event.key === "j") move(1);
  else if (event.key === "ArrowLeft" || event.key === "k") move(-1);
  else if (event.key === "Escape") stop();
  else return;
  event.preventDefault();
});
window.addEventListener("hashchange", begin);
begin();
