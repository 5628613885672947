// Tables that sort and search, on pages that are complete without. The state stands in the address, so that
// it can be passed on: #sort=2&order=down&q=gpt&weights=open&most=0.5
"use strict";

const params = () => new URLSearchParams(location.hash.slice(1));

function keep(name, value) {
  const found = params();
  if (value === null || value === "") found.delete(name);
  else found.set(name, value);
  history.replaceState(null, "", "#" + found.toString().replace(/=(?=&|$)/g, ""));
}

// Now, and whenever a server has put newer rows into the page.
function always(act) {
  act();
  document.addEventListener("peerage:renewed", act);
}

function valueOf(cell) {
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const text = cell.textContent.trim();
  const number = Number(text.replace(/[\s,$%]/g, "").replace("−", "-"));
  return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}

function sort(table, column, down) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
  rows.sort(([a], [b]) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // dashes last
    const order = a < b ? -1 : a > b ? 1 : 0;
    return down && typeof a === typeof b ? -order : order;
  });
  body.append(...rows.map(([, row]) => row));
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

function sortable(table, first) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.classList.contains("nosort")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = head.classList.contains("n") && column > 0;
      const was = head.getAttribute("aria-sort");
      const down = was ? was === "ascending" : numbers;
      sort(table, column, down);
      if (first) {
        keep("sort", String(column));
        keep("order", down ? "down" : "up");
      }
    });
  });
  const asWanted = () => {
    const wanted = params();
    const column = Number(wanted.get("sort"));
    if (wanted.has("sort") && column < table.tHead.rows[0].cells.length) {
      sort(table, column, wanted.get("order") === "down");
    }
  };
  if (first) always(asWanted);
}

const FITS = {
  q: (row, text) => row.querySelector("th").textContent.toLowerCase().includes(text.toLowerCase()),
  weights: (row, kind) => (row.dataset.weights || "unknown") === kind,
  most: (row, most) => priceOf(row) !== null && priceOf(row) <= Number(most),
};

// Which rows of a table show: those that every control lets pass, each with its own part of the address. A row
// that is hidden keeps its place in the ranking.
function filtered(form, table) {
  const controls = [...form.querySelectorAll("input, select")];
  const said = form.querySelector("output"), all = form.querySelector("button");
  const show = () => {
    const asked = controls.filter((control) => control.value.trim() !== "");
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !asked.every((control) => FITS[control.name](row, control.value.trim()));
    const shown = rows.filter((row) => !row.hidden).length;
    said.textContent = asked.length ? `${shown} of ${rows.length} players; ranks are those among all. The address keeps this choice.` : "";
    all.hidden = asked.length === 0;
  };
  const asAddressed = () => {
    for (const control of controls) control.value = params().get(control.name) || "";
    show();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    keep(event.target.name, event.target.value.trim());
    show();
  });
  all.addEventListener("click", () => {
    for (const control of controls) keep(control.name, "");
    asAddressed();
    controls[0].focus();
  });
  addEventListener("hashchange", asAddressed);
  always(asAddressed);
}

// As the cell shows it, so that "at most 0.72" keeps what reads $0.72.
function priceOf(row) {
  const cell = row.querySelector(".most");
  const price = Number(cell ? cell.textContent.replace(/[\s,$]|free/g, "") : NaN);
  return Number.isNaN(price) ? null : price;
}

// Whom a player is proven to be better than, while it is pointed at or has the focus.
function proven(table) {
  const mark = (row, on) => {
    for (const id of (row.dataset.above || "").split(" ").filter(Boolean)) {
      document.getElementById(id)?.classList.toggle("below", on);
    }
  };
  always(() => {
    for (const row of table.tBodies[0].rows) {
      row.addEventListener("mouseenter", () => mark(row, true));
      row.addEventListener("mouseleave", () => mark(row, false));
      row.addEventListener("focusin", () => mark(row, true));
      row.addEventListener("focusout", () => mark(row, false));
    }
  });
}

// Times of this day, which a page that was made earlier cannot know.
function today(inside) {
  const day = new Date().toISOString().slice(0, 10);
  for (const cell of inside.querySelectorAll("td.at_ms[title]")) {
    if (cell.title.startsWith(day)) cell.textContent = `today ${cell.title.slice(11, 16)}`;
  }
}
always(() => today(document));

// A chip or a list of a form that a server answers acts at once; a text waits for Enter.
document.querySelectorAll("form.controls[action]").forEach((form) => {
  form.addEventListener("change", (event) => { if (event.target.type !== "search") form.requestSubmit(); });
});

document.querySelectorAll("table[data-sortable]").forEach((table, place) => sortable(table, place === 0));
document.querySelectorAll("table.board").forEach((table) => {
  const form = table.parentElement.previousElementSibling;
  if (form?.matches("form.filters")) filtered(form, table);
  proven(table);
});

// Other ratings, topics and games of the leaderboard show the same choice.
document.querySelectorAll(":is(.tabs, .choice) a[href]").forEach((link) => {
  link.addEventListener("click", () => { link.hash = location.hash; });
});

// The rest of the menu closes when it is left.
const less = document.querySelector("details.less");
if (less) {
  document.addEventListener("click", (event) => { if (!less.contains(event.target)) less.open = false; });
  less.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !less.contains(event.relatedTarget)) less.open = false;
  });
  less.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !less.open) return;
    less.open = false;
    less.querySelector("summary").focus();
    event.stopPropagation();
  });
}
