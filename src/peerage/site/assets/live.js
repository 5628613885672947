// What a server adds to the pages: they follow the arena while it is played. Text goes in as text alone.
"use strict";
(() => {
  const at = new URL("..", document.currentScript.src);

  // ------------------------------------------------------------------ the pulse in the head of every page
  const pulse = document.createElement("span");
  pulse.className = "pulse";
  pulse.setAttribute("role", "status");
  document.querySelector(".top").append(pulse);
  let newest = null;
  const beat = (on) => {
    pulse.classList.toggle("on", on);
    pulse.textContent = on ? (newest ? `match ${newest}` : "live") : "not connected";
  };

  // ------------------------------------------------------------------ pages that are fetched again
  // A match in play is replaced as a whole; of a table its rows are, so that its order and search stay, with
  // the verdict and the charts beside it, but for charts of which a table is open.
  const follows = document.querySelector("[data-follow]");
  const parts = ["main > .lead", "main > .answer", "main > .worth", "main > .decision", "main > p.quiet", ".ranking p.quiet", "table.board .axis", "table.board tbody",
    ".ranking .charts", "table.heat tbody", ".matches", "main > .charts"];
  const live = document.querySelector("#live");
  const renewed = follows ? ["main"] : live ? ["#live"] : document.querySelector("main :is(.board, .heat) tbody") ? parts : [];
  const pause = follows || live ? 2000 : 5000;
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
      if (renewed.length && before !== null && before !== newest) later();
    });
    stream.addEventListener("playing", () => { if (follows || live) later(); });
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
