// A match played back: space plays it, → and ← (or j and k) go one step, Home and End to the first and the last,
// Escape shows all of it again; searched (/), and copied as Markdown. The address keeps the step. The page is
// complete without.
"use strict";

const match = document.querySelector(".match");
const steps = [...match.querySelectorAll(".stage:not(.rest) .step[id]")];
const states = [...match.querySelectorAll(".state")]; // pictures of the game, each after the step before it
const parts = ordered(); // [element, the step with which it shows]
const bar = document.createElement("div");
let scrubber = null;
let playing = 0; // the timer
let at = -1;
let hits = [];
let hit = -1;
const SPEEDS = [1, 2, 4];
let speed = 1;

function show() {
  const last = steps.length - 1;
  for (const [part, when] of parts) part.classList.toggle("later", at >= 0 && when > at);
  for (const [part, when] of parts) part.inert = at >= 0 && when > at;
  steps.forEach((step, place) => step.classList.toggle("now", place === at));
  match.classList.toggle("unfinished", at >= 0 && at < last);
  say(at < 0 ? "" : `${at + 1} of ${steps.length}${state()}`);
  picture();
  if (scrubber) scrubber.value = at < 0 ? steps.length : at + 1;
  address(at < 0 ? "" : `#${steps[at].id}`);
  const choice = at >= 0 && steps[at].closest(".answers")?.querySelector(`#answer-${1 + [...steps[at].parentElement.children].indexOf(steps[at])}`);
  if (choice) choice.checked = true;
  for (let node = steps[at]; node && node !== match; node = node.parentElement) {
    if (node.matches("details.stage")) node.open = true;
  }
  const tall = at >= 0 && steps[at].offsetHeight > innerHeight / 2;
  if (at >= 0) steps[at].scrollIntoView({ block: tall ? "start" : "center" });
}

function go(to) {
  mark(null);
  at = Math.max(0, Math.min(steps.length - 1, to));
  show();
}

function stop() {
  pause();
  at = -1;
  show();
}

function pause() {
  clearTimeout(playing);
  playing = 0;
  const play = bar.querySelector(".play");
  if (play) play.textContent = "▶";
}

// Long words are shown for longer.
function play() {
  if (playing) return pause();
  if (at === steps.length - 1) at = -1;
  const next = () => {
    if (at === steps.length - 1) return pause();
    go(at + 1);
    playing = setTimeout(next, (1000 + 12 * Math.min(400, steps[at].textContent.length)) / speed);
  };
  next();
  bar.querySelector(".play").textContent = "⏸";
}

// Where the game is at: its stage, and whose step it is.
function state() {
  const stage = steps[at].closest(".stage")?.querySelector("h2")?.textContent;
  const who = steps[at].querySelector(".label, summary > b")?.textContent;
  return [stage, who].filter(Boolean).map((word) => ` · ${word}`).join("");
}

// The game as it is after the step; what one seat saw says nothing of it.
function picture() {
  const next = steps[at + 1];
  const past = (node) => !next || node.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING;
  const now = at < 0 || bar.querySelector(".tools select")?.value ? null : states.filter(past).pop();
  bar.querySelector(".picture")?.remove();
  if (!now) return;
  const shown = document.createElement("div");
  shown.className = "picture";
  shown.append(...[...now.children].map((part) => part.cloneNode(true)));
  bar.prepend(shown);
}

function address(hash) {
  try {
    history.replaceState(null, "", location.pathname + location.search + hash);
  } catch {
    // a browser that keeps the addresses of files as they are
  }
}

// From nothing shown, forward begins at the first step and back at the last.
function move(by) {
  pause();
  go(at < 0 && by < 0 ? steps.length - 1 : at + by);
}

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
  for (const stage of match.querySelectorAll(":scope > :is(section, .rest), :scope > .list > .stage")) {
    const own = steps.flatMap((step, place) => (stage.contains(step) ? [place] : []));
    const first = own.length ? own[0] : steps.length - 1;
    before = own.length ? own[own.length - 1] : steps.length - 1;
    if (stage.matches(".closed")) found.push([stage, first]);
    for (const part of stage.querySelectorAll(":scope > :not(.steps, .private), .private > :not(.steps)")) {
      found.push([part, part.matches("h2, .titled") ? first : before]);
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
  if (part.matches("h1, h2, h3")) return [`${"#".repeat(1 + Number(part.tagName[1]))} ${inert(line(part))}`];
  if (part.matches("pre")) return [fenced(part.textContent)];
  if (part.matches("table")) {
    const rows = [...part.rows].map((row) => `| ${[...row.cells].map((cell) => inert(line(cell))).join(" | ")} |`);
    const sides = [...part.rows[0].cells].map((cell) => (cell.classList.contains("n") ? "--:" : "---"));
    const name = part.caption ? [strong(line(part.caption))] : [];
    return [...name, [rows[0], `|${sides.join("|")}|`, ...rows.slice(1)].join("\n")];
  }
  if (part.matches(".worth")) return [inert(apart(part))];
  if (part.matches("p")) return [inert(line(part))];
  if (part.matches("details.step")) {
    const name = line(part.querySelector("summary > b"));
    return [...part.querySelectorAll(":scope > .who")].flatMap((one) => {
      const words = one.nextElementSibling?.matches(".said") ? [fenced(one.nextElementSibling.textContent)] : [];
      return [strong(`${name} · ${line(one.querySelector("b"))}`), ...words];
    });
  }
  if (part.matches(".step")) {
    const about = [...part.querySelectorAll(":scope > .who > :not(.about)")].map(line).join(" · ");
    const words = [...part.querySelectorAll(".said, .media [src]")]
      .map((one) => (one.src ? `\n[${one.alt ?? one.ariaLabel}]\n` : one.textContent)).join("");
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
    say(`your browser forbids it; \`peerage match ${match.ariaLabel.match(/\d+/)} --format markdown\` writes it`);
  }
}

// Long answers side by side scroll together.
function synced(answers) {
  const panes = [...answers.querySelectorAll(".step :is(.prose, .answered > .source > .said, .step > .said)")];
  const folds = [...answers.querySelectorAll(".tall")];
  for (const fold of folds) {
    fold.addEventListener("toggle", () => {
      for (const other of folds) other.open ||= fold.open;
      answers.classList.add("synced");
      for (const pane of panes) Object.assign(pane, { tabIndex: 0, role: "group", ariaLabel: "Answer" });
    });
  }
  let leader = null;
  for (const pane of panes) {
    pane.addEventListener("pointerenter", () => (leader = pane));
    pane.addEventListener("scroll", () => {
      if (leader && leader !== pane) return;
      const share = pane.scrollTop / Math.max(1, pane.scrollHeight - pane.clientHeight);
      for (const other of panes) if (other !== pane) other.scrollTop = share * (other.scrollHeight - other.clientHeight);
    });
  }
}

function begin() {
  bar.className = "replay";
  const where = document.createElement("span");
  where.setAttribute("role", "status");
  const tools = document.createElement("details");
  tools.className = "tools";
  tools.append(Object.assign(document.createElement("summary"), { textContent: steps.length > 1 ? "More" : "Search or copy" }));
  if (steps.length > 1) {
    scrubber = Object.assign(document.createElement("input"), { type: "range", min: 1, max: steps.length, value: steps.length });
    scrubber.setAttribute("aria-label", "Step");
    scrubber.addEventListener("input", () => go(Number(scrubber.value) - 1));
    const faster = button("1×", "Speed", () => {
      speed = SPEEDS[(SPEEDS.indexOf(speed) + 1) % SPEEDS.length];
      faster.textContent = `${speed}×`;
    });
    tools.append(faster);
    const start = button("▶", "Play it step by step (space)", play);
    start.className = "play";
    bar.append(
      start,
      button("←", "One step back (←)", () => move(-1)),
      button("→", "One step on (→)", () => move(1)),
      scrubber,
      where,
      button("All", "All of it (Escape)", stop),
    );
  } else bar.append(where);
  tools.append(searching(), button("Copy as Markdown", "Copy as Markdown", copy));
  const seen = [...match.querySelectorAll(".private")];
  if (seen.length) tools.append(seenBy(seen));
  bar.append(tools);
  match.append(bar);
  match.querySelectorAll(".answers").forEach(synced);
  const wanted = /step[-=](\d+)/.exec(location.search + location.hash);
  const place = wanted ? steps.findIndex((step) => step.id === `step-${wanted[1]}`) : -1;
  if (place >= 0) go(place);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "/") {
    bar.querySelector(".tools").open = true;
    bar.querySelector("input[type=search]").focus();
  }
  else if (!steps.length) return;
  else if (event.key === " " && !event.target.closest("button, summary, a")) play();
  else if (event.key === "ArrowRight" || event.key === "j") move(1);
  else if (event.key === "ArrowLeft" || event.key === "k") move(-1);
  else if (event.key === "Home" && at >= 0) go(0);
  else if (event.key === "End" && at >= 0) go(steps.length - 1);
  else if (event.key === "Escape") stop();
  else return;
  event.preventDefault();
});
begin();
