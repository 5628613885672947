"use strict";
// Which person this is: drawn when the page is opened, so that a file saved twice counts once.
const voter = crypto.getRandomValues(new Uint32Array(4)).join("-");
const chosen = () => [...document.querySelectorAll("input:checked")];
document.addEventListener("change", () => {
  document.getElementById("count").value = chosen().length;
  document.getElementById("save").disabled = chosen().length === 0;
});
document.getElementById("save").addEventListener("click", () => {
  const scores = Object.fromEntries(chosen().map((one) => [one.name, Number(one.value)]));
  const { match, record } = document.body.dataset;
  const text = JSON.stringify({ match: Number(match), record, voter, scores });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `points-${match}-${voter.slice(0, 8)}.json`;
  link.click();
  document.getElementById("saved").textContent = `Saved as ${link.download}. Thank you.`;
});
