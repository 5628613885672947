// Filters the list of matches on a site without a server. Its rows come in pieces, as scripts, newest first, since
// a page in a plain folder may not fetch anything else; the search stands in the address: #q=…&topic=…
"use strict";

const SHOWN = 50;
const { matches, shard } = document.currentScript.dataset;
const form = document.querySelector("form.scripted");
const body = document.querySelector(".matches tbody");
const said = document.createElement("p");
const more = document.createElement("button");
const shards = new Map();
let shown = SHOWN;
let run = 0;

window.peerageShard = (first, rows) => {
  const made = document.createElement("template");
  made.innerHTML = `<table><tbody>${rows}</tbody></table>`;
  shards.set(first, [...made.content.querySelectorAll("tr")]);
};

function load(first) {
  if (shards.has(first)) return Promise.resolve(true);
  return new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = `data/matches-${first}.js`;
    script.addEventListener("load", () => resolve(true));
    script.addEventListener("error", () => resolve(false));
    document.head.append(script);
  });
}

// The words of a search, what stands in quotes together, as a server reads them.
const wordsOf = (text) => [...text.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase || word);

function fits(row, wanted) {
  if (wanted.game && row.dataset.game !== wanted.game) return false;
  if (wanted.topic && row.dataset.topic !== wanted.topic) return false;
  if (wanted.only && !(row.dataset.only || "").split(" ").includes(wanted.only)) return false;
  const text = `${row.textContent} ${Object.values(row.dataset).join(" ")}`.toLowerCase();
  return wordsOf(wanted.q).every((word) => text.includes(word));
}

async function search() {
  const mine = ++run;
  const wanted = Object.fromEntries(new FormData(form));
  const asked = Object.values(wanted).some(Boolean);
  const rows = [];
  let missing = false;
  let first = matches - ((matches - 1) % shard);
  for (; first >= 1 && rows.length <= shown; first -= shard) {
    missing = !(await load(first)) || missing;
    if (mine !== run) return; // another search has begun
    rows.push(...(shards.get(first) || []).filter((row) => fits(row, wanted)));
  }
  more.hidden = rows.length <= shown;
  body.replaceChildren(...rows.slice(0, shown));
  today(body);
  said.textContent = missing ? "A part of the list could not be loaded." :
    !rows.length ? "No match fits. Try fewer words or another topic, or clear a filter." :
    !asked ? "" : more.hidden ? `${rows.length} of ${matches} matches` : `The newest ${shown} that fit`;
}

function begin() {
  for (const [name, value] of [...new URLSearchParams(location.search), ...params()]) {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
  }
  said.setAttribute("role", "status");
  said.className = "quiet";
  said.id = "found";
  form.after(said);
  more.textContent = "Show more";
  more.className = "more";
  document.querySelector(".matches").append(more);
  more.hidden = body.rows.length >= matches;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    for (const [name, value] of new FormData(form)) keep(name, value);
    shown = SHOWN;
    search();
  });
  more.addEventListener("click", () => {
    shown += SHOWN;
    search();
  });
  if (location.search || [...params()].length) search();
}

if (form && body) begin();
