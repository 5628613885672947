// Charts stand in the page as drawings. When the library has arrived they are drawn anew, with tooltips;
// without it, or when it fails, the drawings stay.
"use strict";

function enliven(drawing) {
  const spec = JSON.parse(drawing.querySelector("script").textContent);
  const still = drawing.querySelector("svg");
  const place = document.createElement("div");
  drawing.append(place);
  // `ast`: expressions are interpreted, since our pages forbid eval.
  vegaEmbed(place, spec, {
    mode: "vega-lite",
    ast: true,
    renderer: "svg",
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  }).then(({ view }) => {
    const svg = view.container().querySelector("svg");
    // The size of the drawing it replaces.
    svg.setAttribute("viewBox", still.getAttribute("viewBox"));
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", still.getAttribute("aria-label"));
    still.remove();
    drawing.dataset.live = "";
  }).catch(() => place.remove());
}

const drawings = [...document.querySelectorAll(".drawing")];
if (drawings.length) {
  const library = document.createElement("script");
  library.src = drawings[0].dataset.library;
  library.addEventListener("load", () => {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) {
          seen.unobserve(entry.target);
          enliven(entry.target);
        }
      }
    });
    drawings.forEach((drawing) => seen.observe(drawing));
  });
  // After everything that a reader waits for.
  window.addEventListener("load", () => document.head.append(library));
}
