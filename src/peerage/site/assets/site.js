// Tables that sort and search, on pages that are complete without. The state stands in the address, so that
// it can be passed on: #sort=2&down&q=gpt
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

function searchable(table) {
  const box = document.createElement("div");
  box.className = "controls";
  const label = document.createElement("label");
  label.textContent = "Search players";
  const input = document.createElement("input");
  input.type = "search";
  input.value = params().get("q") || "";
  label.append(input);
  box.append(label);
  table.parentElement.before(box);
  const show = () => {
    const text = input.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) {
      row.hidden = text !== "" && !row.querySelector("th").textContent.toLowerCase().includes(text);
    }
  };
  input.addEventListener("input", () => {
    show();
    keep("q", input.value.trim());
  });
  always(show);
}

// Whom a player is statistically tied with, while it is pointed at or has the focus.
function ties(table) {
  const mark = (row, on) => {
    for (const id of (row.dataset.tied || "").split(" ").filter(Boolean)) {
      document.getElementById(id)?.classList.toggle("tied", on);
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

document.querySelectorAll("table[data-sortable]").forEach((table, place) => sortable(table, place === 0));
document.querySelectorAll("table[data-search]").forEach((table) => {
  if (table.tBodies[0].rows.length > 5) searchable(table);
  ties(table);
});
