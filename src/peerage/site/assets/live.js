// What a server adds to the pages: they follow the arena while it is played. Text goes in as text alone.
"use strict";
(() => {
  const at = new URL("..", document.currentScript.src);

  const made = (name, text, kind) => {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const linked = (number) => {
    const link = made("a", number);
    link.href = new URL(`live/${number}.html`, at);
    return link;
  };
  // A name may hold what steers a terminal or the direction of text; the server makes that visible in pages.
  const visible = (text) => String(text).replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, (c) => c === "\u200d" ? c : `\\u{${c.codePointAt(0).toString(16)}}`);
  const points = (score) => score === 0.5 ? "½" : String(Math.round(score * 100) / 100);

  // ------------------------------------------------------------------ the pulse in the head of every page
  const pulse = made("span", "", "pulse");
  pulse.setAttribute("role", "status");
  document.querySelector(".top").append(pulse);
  let newest = null;
  const beat = (on) => {
    pulse.classList.toggle("on", on);
    pulse.textContent = on ? (newest ? `match ${newest}` : "live") : "not connected";
  };

  // ------------------------------------------------------------------ running matches
  const board = document.querySelector("#playing tbody"), ended = document.querySelector("#settled");
  const asOf = document.querySelector("main > .lead time");
  if (board && asOf) asOf.replaceWith("now");
  const nothing = () => {
    const row = made("tr"), cell = made("td", "No match is running.", "quiet");
    cell.colSpan = 4;
    row.append(cell);
    return row;
  };
  const showPlaying = (matches) => board.replaceChildren(...(matches.length ? matches.map(playingRow) : [nothing()]));
  const playingRow = (match) => {
    const row = made("tr"), number = made("td", undefined, "n"), waiting = made("td", undefined, "quiet");
    number.append(linked(match.number));
    const minute = (ms) => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    waiting.textContent = match.since_ms
      ? `a player, since ${minute(match.since_ms)}${match.until_ms ? `; it goes on after ${minute(match.until_ms)}` : ""}`
      : match.waiting === null ? "not shown" : match.waiting ? `${match.waiting} ${match.waiting === 1 ? "reply" : "replies"}` : "its turn";
    row.append(number, made("td", visible(match.game)), made("td", match.round, "n"), waiting);
    return row;
  };
  const showSettled = (matches) => {
    const known = new Set([...ended.children].map((line) => Number(line.dataset.number)));
    for (const match of matches.filter((match) => !known.has(match.number))) {
      const line = made("li");
      line.dataset.number = match.number;
      line.append(linked(match.number), " ");
      const scores = match.scores, many = scores.length > 2;
      const seats = match.players.map((player, seat) => ({ name: visible(player), score: scores[seat] }));
      if (scores.length) seats.sort((one, other) => other.score - one.score || (one.name < other.name ? -1 : 1));
      line.append(seats.map(({ name, score }) =>
        !scores.length ? name : many ? `${1 + scores.filter((other) => other > score).length}. ${name}` : `${name} ${points(score)}`).join(" · "));
      if (match.status !== "done") line.append(`: ${visible(match.status)}`);
      if (match.topic) line.append(" ", made("span", visible(match.topic), "quiet"));
      ended.prepend(line);
    }
    while (ended.children.length > 12) ended.lastChild.remove();
  };

  // ------------------------------------------------------------------ pages that are fetched again
  // A match in play is replaced as a whole; of a table its rows are, so that its order and search stay, with
  // the verdict and the charts beside it, but for charts of which a table is open.
  const follows = document.querySelector("[data-follow]");
  const parts = ["main > .lead", "main > .answer", "main > .decision", "main > p.quiet", "main table.board tbody", "main > .narrower ul", "main > .charts"];
  const renewed = follows ? ["main"] : document.querySelector("main table.board tbody") ? parts : [];
  const pause = follows ? 2000 : 5000;
  let due = 0, timer = null;
  const busy = () => document.hidden || !getSelection().isCollapsed ||
    renewed.some((part) => document.activeElement.closest(part) && document.activeElement.closest(part) !== document.activeElement);
  const renew = async () => {
    timer = null;
    due = Date.now() + pause;
    if (busy()) return later();
    const answer = await fetch(location.pathname + location.search).catch(() => null);
    if (!answer || !answer.ok) return;
    if (answer.headers.get("peerage-behind") === "yes") later(); // it is being made again
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of renewed) {
      const from = fresh.querySelector(part), to = document.querySelector(part);
      const open = !follows && to?.querySelector("details[open]");
      if (from && to && !open && from.innerHTML !== to.innerHTML) to.replaceChildren(...from.childNodes);
    }
    document.dispatchEvent(new Event("peerage:renewed"));
  };
  const later = () => { timer ??= setTimeout(renew, Math.max(250, due - Date.now())); };

  // ------------------------------------------------------------------ the stream
  let stream = null;
  const connect = () => {
    if (stream || document.hidden) return;
    stream = new EventSource(new URL("events", at));
    stream.addEventListener("open", () => beat(true));
    stream.addEventListener("error", () => beat(false));
    stream.addEventListener("settled", (event) => {
      const told = JSON.parse(event.data), before = newest;
      newest = told.newest;
      beat(true);
      if (ended) showSettled(told.matches);
      if (renewed.length && before !== null && before !== newest) later();
    });
    stream.addEventListener("playing", (event) => {
      const matches = JSON.parse(event.data);
      if (board) showPlaying(matches);
      if (follows) later();
    });
    for (const name of ["votes", "amended"])
      stream.addEventListener(name, () => { if (renewed.length && !follows) later(); });
  };
  // Browsers allow few connections to one server: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return connect();
    if (stream) stream.close();
    stream = null;
  });
  connect();

  // ------------------------------------------------------------------ keys of the voting page
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.matches("input:not([type=hidden]), textarea, select")) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    target?.click();
  });
})();
