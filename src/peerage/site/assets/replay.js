// The match that the address names: step by step (→ and ←, or j and k; Home and End; Escape shows all of it
// again), searched (/), and copied as Markdown. The page is complete without.
"use strict";

let match = null;
let steps = [];
let parts = []; // [element, the step with which it shows]
let at = -1;
let bar = null;
let hits = [];
let hit = -1;

function show() {
  const last = steps.length - 1;
  for (const [part, when] of parts) part.classList.toggle("later", at >= 0 && when > at);
  for (const [part, when] of parts) part.inert = at >= 0 && when > at;
  steps.forEach((step, place) => step.classList.toggle("now", place === at));
  match.classList.toggle("unfinished", at >= 0 && at < last);
  say(at < 0 ? "" : `${at + 1} of ${steps.length}`);
  const tall = at >= 0 && steps[at].offsetHeight > innerHeight / 2;
  if (at >= 0) steps[at].scrollIntoView({ block: tall ? "start" : "center" });
}

function go(to) {
  mark(null);
  at = Math.max(0, Math.min(steps.length - 1, to));
  show();
}

function stop() {
  at = -1;
  show();
}

// From nothing shown, forward begins at the first step and back at the last.
const move = (by) => go(at < 0 && by < 0 ? steps.length - 1 : at + by);

const say = (text) => (bar.querySelector("[role=status]").textContent = text);

function button(text, name, does) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.title = name;
  if (text !== name) made.setAttribute("aria-label", name);
  made.addEventListener("click", does);
  return made;
}

// What tells the result shows with the last reply before it, a heading with the first one under it.
function ordered() {
  const found = steps.map((step, place) => [step, place]);
  let before = 0;
  for (const stage of match.querySelectorAll(":scope > :is(section, .rest)")) {
    const own = steps.flatMap((step, place) => (stage.contains(step) ? [place] : []));
    const first = own.length ? own[0] : steps.length - 1;
    before = own.length ? own[own.length - 1] : steps.length - 1;
    for (const part of stage.querySelectorAll(":scope > :not(.steps, .private), .private > :not(.steps)")) {
      found.push([part, part.tagName === "H3" ? first : before]);
    }
  }
  return found;
}

// What one seat could see: the rest is left out while its name is chosen.
function seenBy(hidden) {
  const label = document.createElement("label");
  const choice = document.createElement("select");
  const seats = new Set(hidden.flatMap((part) => part.dataset.seen.split(" ")));
  for (const seat of ["", ...[...seats].sort()]) choice.add(new Option(seat ? `what ${seat} saw` : "everything", seat));
  choice.addEventListener("change", () => {
    for (const part of hidden) part.hidden = choice.value && !part.dataset.seen.split(" ").includes(choice.value);
  });
  label.append("Show ", choice);
  return label;
}

function search(text) {
  if (at >= 0) stop();
  const wanted = text.trim().toLowerCase();
  hits = [];
  hit = -1;
  const texts = document.createTreeWalker(match, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); wanted && node; node = texts.nextNode()) {
    if (bar.contains(node)) continue;
    const there = node.data.toLowerCase();
    for (let from = there.indexOf(wanted); from >= 0; from = there.indexOf(wanted, from + wanted.length)) {
      const range = new Range();
      range.setStart(node, Math.min(from, node.length));
      range.setEnd(node, Math.min(from + wanted.length, node.length));
      hits.push(range);
    }
  }
  mark(null);
  globalThis.CSS?.highlights?.set("found", new Highlight(...hits));
  if (hits.length) find(1);
  else say(wanted ? "not in this match" : "");
}

// Which of the places found one is at; null: at none, and none is marked.
function mark(range) {
  for (const one of match.querySelectorAll(".hit")) one.classList.remove("hit");
  range?.startContainer.parentElement.classList.add("hit");
  if (range) scrollBy(0, range.getBoundingClientRect().top - innerHeight / 2);
  else globalThis.CSS?.highlights?.delete("found");
}

function find(by) {
  if (!hits.length) return;
  hit = (hit + by + hits.length) % hits.length;
  for (let node = hits[hit].startContainer.parentElement; node !== match; node = node.parentElement) {
    if (node.tagName === "DETAILS") node.open = true;
  }
  mark(hits[hit]);
  say(`${hit + 1} of ${hits.length} found`);
}

function searching() {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  input.addEventListener("input", () => search(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") find(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") input.blur();
  });
  label.append("Find ", input);
  return label;
}

const line = (node) => node.textContent.replace(/\s+/g, " ").trim();
const apart = (node) => [...node.childNodes].map(line).filter(Boolean).join(" · ");
const inert = (text) => text.replace(/[\\`*<>|[\]]/g, "\\$&");
const strong = (text) => (text ? `**${inert(text)}**` : "");

// Words of others in a fence that they cannot close, where nothing of them is markup.
function fenced(text) {
  const ticks = Math.max(3, 1 + Math.max(0, ...(text.match(/`+/g) || []).map((run) => run.length)));
  return `${"`".repeat(ticks)}text\n${text}\n${"`".repeat(ticks)}`;
}

function inMarkdown(part) {
  if (part.matches(".replay, .rest, [hidden]")) return [];
  if (part.matches("h2, h3")) return [`${"#".repeat(Number(part.tagName[1]))} ${inert(apart(part))}`];
  if (part.matches(".score")) return [strong(line(part))];
  if (part.matches("pre")) return [fenced(part.textContent)];
  if (part.matches("table")) {
    const rows = [...part.rows].map((row) => `| ${[...row.cells].map((cell) => inert(line(cell))).join(" | ")} |`);
    const sides = [...part.rows[0].cells].map((cell) => (cell.classList.contains("n") ? "--:" : "---"));
    const name = part.caption ? [strong(line(part.caption))] : [];
    return [...name, [rows[0], `|${sides.join("|")}|`, ...rows.slice(1)].join("\n")];
  }
  if (part.matches(".worth")) return [inert(apart(part))];
  if (part.matches("p")) return [inert(line(part))];
  if (part.matches(".step")) {
    const about = [...part.querySelectorAll(":scope > :is(.who, .chip, .quiet)")].map(line).join(" · ");
    const words = [...part.querySelectorAll(".said")].map((one) => one.textContent).join("");
    return [strong(about), ...(words ? [fenced(words)] : [])];
  }
  return [...part.children].flatMap(inMarkdown);
}

async function copy() {
  const told = [...inMarkdown(match).filter(Boolean), `<${location.href}>`].join("\n\n");
  try {
    await navigator.clipboard.writeText(`${told}\n`);
    say("copied");
  } catch {
    say(`your browser forbids it; \`peerage match ${match.id.slice(1)} --format markdown\` writes it`);
  }
}

function begin() {
  if (bar) {
    stop();
    mark(null);
    bar.remove();
  }
  bar = null;
  const target = location.hash && document.getElementById(location.hash.slice(1));
  match = target && target.closest(".match");
  if (!match) return;
  steps = [...match.querySelectorAll("section .step")];
  parts = ordered();
  at = -1;
  bar = document.createElement("div");
  bar.className = "replay";
  const where = document.createElement("span");
  where.setAttribute("role", "status");
  if (steps.length) {
    bar.append(
      "Step by step",
      button("⇤", "First step (Home)", () => go(0)),
      button("←", "One step back (←)", () => move(-1)),
      button("→", "One step on (→)", () => move(1)),
      button("⇥", "Last step (End)", () => go(steps.length - 1)),
      button("All", "All of it (Escape)", stop),
    );
  }
  bar.append(where);
  bar.append(searching(), button("Copy as Markdown", "Copy as Markdown", copy));
  const seen = [...match.querySelectorAll(".private")];
  if (seen.length) bar.append(seenBy(seen));
  match.querySelector("header").after(bar);
}

document.addEventListener("keydown", (event) => {
  if (!bar || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "/") bar.querySelector("input").focus();
  else if (!steps.length) return;
  else if (event.key === "ArrowRight" || event.key === "j") move(1);
  else if (event.key === "ArrowLeft" || event.key === "k") move(-1);
  else if (event.key === "Home" && at >= 0) go(0);
  else if (event.key === "End" && at >= 0) go(steps.length - 1);
  else if (event.key === "Escape") stop();
  else return;
  event.preventDefault();
});
window.addEventListener("hashchange", begin);
begin();
