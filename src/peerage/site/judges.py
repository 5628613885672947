"""The judges: how they agree, flip and favour, and how many votes theirs are worth."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.site.reading import Site
from peerage.site.rendering import View

PAIRS = 20
"""Pairs of judge and author listed where nothing was found."""


def paths(site: Site) -> Iterator[str]:
    yield "judges.html"


def view(site: Site, path: str) -> View | None:
    if path != "judges.html":
        return None
    report = site.judges
    found = [pair for pair in report.favours if pair.found]
    return View(
        "judges.html",
        "Judges",
        "judges.html",
        {
            "report": report,
            "found": found,
            "pairs": found or report.favours[:PAIRS],
        },
    )
