"""The audience's table as a page: in every site where somebody has voted or may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from peerage.site.reading import Menu, Site
from peerage.site.rendering import View
from peerage.site.votes import Audience, audience

PATH = "audience.html"
WIDTH = 150
"""Of a drawn interval, in pixels."""
_MARGIN = 4


class Scale(NamedTuple):
    """From ratings to pixels, for all intervals of a table alike."""

    width: int
    low: float
    high: float

    def at(self, rating: float) -> float:
        share = (rating - self.low) / ((self.high - self.low) or 1.0)
        return round(_MARGIN + share * (self.width - 2 * _MARGIN), 1)


def menu(site: Site) -> Menu:
    """The entry of this page, where there is something to show."""
    return ((PATH, "Audience"),) if site.menu or site.votes.count() else ()


def paths(site: Site) -> Iterator[str]:
    yield from (path for path, _ in menu(site))


def view(site: Site, path: str) -> View | None:
    if path not in paths(site):
        return None
    found = audience(site.ledger, site.votes.votes())
    peers = {row.player: row.rank_range for row in site.board().rows}
    values = {"audience": found, "scale": _scale(found), "peers": peers}
    return View("audience.html", "What the audience says", PATH, values)


def _scale(found: Audience) -> Scale:
    ends = [end for row in found.rows for end in (row.lower, row.rating, row.upper) if end is not None]
    return Scale(WIDTH, min(ends, default=0.0), max(ends, default=1.0))
