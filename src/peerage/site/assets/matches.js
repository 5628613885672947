// Searches all matches in the browser. Their index comes in pieces, as scripts, newest first, since a page in
// a plain folder may not fetch anything else; the search stands in the address: #player=…&topic=…
"use strict";

const SHOWN = 100;
let shown = SHOWN;
const catalogue = JSON.parse(document.getElementById("catalogue").textContent);
const form = document.getElementById("search");
const body = document.querySelector("#matches tbody");
const found = document.getElementById("found");
const more = document.getElementById("more");
const newest = [...body.rows];
const shards = new Map();
let run = 0;

window.peerageShard = (first, columns) => shards.set(first, columns);

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

function wantedOf() {
  const data = new FormData(form);
  // The places of those who are called so, or else of all whose name holds the text.
  const place = (name) => {
    const text = String(data.get(name)).trim();
    if (text === "") return null;
    const exact = catalogue.players.indexOf(text);
    if (exact >= 0) return new Set([exact]);
    const part = text.toLowerCase();
    return new Set(catalogue.players.flatMap((player, at) => (player.toLowerCase().includes(part) ? [at] : [])));
  };
  return {
    player: place("player"),
    against: place("against"),
    topic: data.get("topic") === "" ? null : Number(data.get("topic")),
    result: data.get("result"),
  };
}

function fits(wanted, players, scores, topic) {
  if (wanted.topic !== null && topic !== wanted.topic) return false;
  const meets = (seat) => players.some((player, other) => other !== seat && wanted.against.has(player));
  const seats = players.flatMap((player, seat) =>
    (wanted.player === null || wanted.player.has(player)) && (wanted.against === null || meets(seat)) ? [seat] : []);
  if (seats.length === 0 && (wanted.player !== null || wanted.against !== null)) return false;
  if (wanted.result === "") return true;
  if (wanted.result === "void") return scores.length === 0;
  if (scores.length === 0) return false;
  const best = Math.max(...scores);
  const tied = scores.filter((score) => score === best).length > 1;
  if (wanted.result === "tied") return tied && seats.some((seat) => scores[seat] === best);
  if (wanted.player === null) return !tied;
  return seats.some((seat) => (wanted.result === "won" ? scores[seat] === best && !tied : scores[seat] < best));
}

const points = (score) => (score === 0.5 ? "½" : String(Math.round(score * 100) / 100));

function line(place, columns, at, seconds) {
  const row = document.createElement("tr");
  const cell = (text, style) => {
    const made = row.insertCell();
    made.className = style;
    made.append(text);
    return made;
  };
  const link = document.createElement("a");
  const number = columns.n ? columns.n[at] : place;
  const first = place - ((place - 1) % catalogue.bundle);
  link.href = `matches/${first}.html#m${number}`;
  link.textContent = String(number);
  cell(link, "n");
  const scores = columns.s[at];
  const seats = columns.p[at].map((player, seat) => ({ name: catalogue.players[player], score: scores[seat] }));
  const many = seats.length > 2;
  if (scores.length) seats.sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1));
  const told = seats.map(({ name, score }) =>
    !scores.length ? name : many ? `${1 + scores.filter((other) => other > score).length}. ${name}` : `${name} ${points(score)}`);
  cell(told.join(" · ") + (scores.length ? "" : `: ${catalogue.statuses[columns.v[at]]}`), "player");
  cell(catalogue.topics[columns.t[at]], "spare");
  const dollars = columns.c[at] / 1e6;
  if (dollars < 0) cell("–", "n spare"); // unknown
  else {
    const least = 10 ** -catalogue.places;
    cell(dollars > 0 && dollars < least / 2 ? `<$${least.toFixed(catalogue.places)}` : `$${dollars.toFixed(catalogue.places)}`, "n spare");
  }
  cell(`${new Date(catalogue.epoch + seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`, "spare");
  return row;
}

async function search() {
  const mine = ++run;
  const wanted = wantedOf();
  const everything = wanted.player === null && wanted.against === null && wanted.topic === null && wanted.result === "";
  if (everything && shown === SHOWN) {
    body.replaceChildren(...newest);
    found.textContent = "";
    more.hidden = catalogue.matches <= newest.length;
    return;
  }
  found.textContent = "Searching …";
  const rows = [];
  let count = 0;
  let missing = false;
  const enough = () => everything && rows.length >= shown; // all are counted already
  for (let first = catalogue.matches - ((catalogue.matches - 1) % catalogue.shard); first >= 1 && !enough(); first -= catalogue.shard) {
    missing = !(await load(first)) || missing;
    if (mine !== run) return; // another search has begun
    const columns = shards.get(first);
    if (!columns) continue;
    let seconds = 0;
    const times = columns.d.map((step) => (seconds += step));
    for (let at = columns.t.length - 1; at >= 0 && !enough(); at--) {
      if (!fits(wanted, columns.p[at], columns.s[at], columns.t[at])) continue;
      count += 1;
      if (rows.length < shown) rows.push(line(first + at, columns, at, columns.e + times[at]));
    }
  }
  body.replaceChildren(...rows);
  if (everything) count = catalogue.matches;
  more.hidden = count <= rows.length;
  found.textContent = `${count.toLocaleString("en")} matches` +
    (count > rows.length ? `, the newest ${rows.length} of them shown` : "") +
    (missing ? "; a part of the index could not be loaded" : "");
}

function begin() {
  const names = document.getElementById("players");
  names.append(...catalogue.players.map((name) => new Option(name)));
  form.elements.topic.append(...catalogue.topics.map((topic, place) => new Option(topic || "none stated", String(place))));
  const stated = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of stated) {
    const field = form.elements.namedItem(name);
    if (field) field.value = name === "topic" ? String(catalogue.topics.indexOf(value)) : value;
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const state = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value !== "") state.set(name, name === "topic" ? catalogue.topics[Number(value)] : String(value));
    }
    history.replaceState(null, "", `#${state}`);
    shown = SHOWN;
    search();
  });
  more.addEventListener("click", () => {
    shown += SHOWN;
    search();
  });
  search();
}

begin();
