"""Transcripts: twenty matches to a page, each with an address of its own, `matches/21.html#m37`.

With an address to one match the page shows that match alone (`:target` in the style sheet), so it reads like
a page of its own, without a script; an arena of 100,000 matches stays 5,000 files.
"""

from __future__ import annotations

from collections.abc import Iterator

from peerage.site.reading import BUNDLE, Site, bundle
from peerage.site.rendering import View


def paths(site: Site) -> Iterator[str]:
    yield "matches.html"
    yield from (f"matches/{first}.html" for first in range(1, site.number + 1, BUNDLE))


def view(site: Site, path: str) -> View | None:
    if path == "matches.html":
        newest = site.summaries[-100:][::-1]
        return View(
            "matches.html", "Matches", "matches.html", {"newest": newest, "bundle": bundle, "size": BUNDLE}
        )
    folder, _, name = path.rpartition("/")
    first = name.removesuffix(".html")
    if folder != "matches" or not first.isascii() or not first.isdecimal() or len(first) > 12:
        return None
    number = int(first)
    if number != bundle(number) or not 1 <= number <= site.number or first != str(number):
        return None
    last = min(number + BUNDLE - 1, site.number)
    return View(
        "match.html",
        f"Matches {number} to {last}",
        "matches.html",
        {
            "stories": site.reader.stories(number, last),
            "first": number,
            "last": last,
            "reader": site.reader,
            "size": BUNDLE,
        },
    )
