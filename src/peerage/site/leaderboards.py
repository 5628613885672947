"""The leaderboard of each track: the first page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.tables.leaderboard import Row

TITLES = {
    "bt": (
        "Bradley-Terry",
        "The strengths under which all results together are the most likely; 95 % intervals.",
    ),
    "raw": ("Elo", "Sequential Elo: what every match moved, in order."),
    "cost": ("Cost Elo", "Sequential Elo that charges a contestant for what its answer cost."),
    "trueskill": (
        "TrueSkill",
        "μ − 3σ, what one can be sure of; the intervals are those of the mean skill μ.",
    ),
}

WIDTH = 160
"""Of the drawn interval, in pixels."""


class Line(NamedTuple):
    """A row with its interval drawn: pixels from the left of `WIDTH`; `low` and `high` None without one."""

    row: Row
    at: float
    low: float | None
    high: float | None
    tied: tuple[str, ...]


def address(site: Site, track: str) -> str:
    """Where the leaderboard of `track` stands."""
    return "index.html" if track == site.track else f"leaderboard/{track}.html"


def paths(site: Site) -> Iterator[str]:
    yield from (address(site, track) for track in site.tracks if track != site.track)


def view(site: Site, path: str) -> View | None:
    found = next((track for track in site.tracks if address(site, track) == path), None)
    if found is None:
        return None
    rows = site.table(found)
    title, about = TITLES[found]
    return View(
        "leaderboard.html",
        "Leaderboard" if found == site.track else f"Leaderboard: {title}",
        "index.html",
        {
            "track": found,
            "about": about,
            "tracks": [(track, TITLES[track][0], address(site, track)) for track in site.tracks],
            "lines": lines(rows),
            "width": WIDTH,
            "shown": "tenths" if found == "trueskill" else "whole",
            "spent": sum(row.cost_usd or 0.0 for row in rows),
            "notes": list(dict.fromkeys(note for row in rows for note in row.notes)),
        },
    )


def lines(rows: Sequence[Row]) -> list[Line]:
    """The rows with their intervals drawn to one scale."""
    ranked = [row for row in rows if row.rank is not None]
    ends = [end for row in ranked for end in (row.lower, row.rating, row.upper) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale = (WIDTH - 8) / ((high - low) or 1.0)

    def place(value: float | None) -> float | None:
        return None if value is None else round(4 + (value - low) * scale, 1)

    return [
        Line(row, place(row.rating) or 0.0, place(row.lower), place(row.upper), tied_with(row, ranked))
        for row in rows
    ]


def tied_with(row: Row, rows: Sequence[Row]) -> tuple[str, ...]:
    """The players whose interval overlaps that of `row`: who is better is not settled between them."""
    if row.lower is None or row.upper is None:
        return ()
    return tuple(
        other.player
        for other in rows
        if other.player != row.player
        and other.lower is not None
        and other.upper is not None
        and other.lower <= row.upper
        and row.lower <= other.upper
    )
