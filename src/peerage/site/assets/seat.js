"use strict";
// A seat looks every two seconds whether something else is to be done, and tells how long there is left.
const shown = document.body.dataset.request;
const until = document.getElementById("until");
const typed = () => [...document.querySelectorAll("textarea, input:not([type=hidden]), select option")]
  .some((one) => ("defaultSelected" in one ? one.selected && !one.defaultSelected && one.value
    : one.type === "radio" ? one.checked !== one.defaultChecked : one.value !== one.defaultValue));

function left() {
  if (!until) return;
  const end = new Date(Number(until.dateTime)), minutes = Math.ceil((end - Date.now()) / 60_000);
  const hours = Math.round(minutes / 60);
  const time = minutes < 1 ? "no time" : minutes < 120 ? `${minutes} min` : hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
  until.textContent = `${end.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}, ${time} left`;
}

let sending = false;
document.querySelector("form")?.addEventListener("submit", () => { sending = true; });

async function look() {
  try {
    const found = await fetch(`${location.pathname}/now`, { cache: "no-store" });
    if (found.ok && !sending && (await found.json()).request !== shown) {
      // What is being written is not thrown away: the person goes on by a link.
      if (typed()) document.getElementById("closed").hidden = false;
      else location.replace(location.href.split("#")[0]);
      return;
    }
  } catch { /* the server is away for a moment */ }
  setTimeout(look, 2_000);
}

left();
setInterval(left, 10_000);
setTimeout(look, 2_000);
