"""What was spent, by whom, on what and when, and what came of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from peerage.engine.probes import probe_costs
from peerage.ratings.table import Z95
from peerage.site.charts import chart, spending
from peerage.site.reading import Site
from peerage.site.rendering import View
from peerage.tables.leaderboard import Row

EPOCH = date(1970, 1, 1)
PRIOR = 350.0
"""Standard deviation of a rating before any match, in points: Glicko's (Glickman 1999)."""


class Spent(NamedTuple):
    """Matches and dollars of one game or day."""

    what: str
    matches: int
    dollars: float

    @property
    def per_dollar(self) -> float | None:
        """Matches that a dollar buys."""
        return self.matches / self.dollars if self.dollars else None


def paths(site: Site) -> Iterator[str]:
    yield "costs.html"


def view(site: Site, path: str) -> View | None:
    if path != "costs.html":
        return None
    rows = by_day(site)
    days = len({row["day"] for row in rows})
    dollars = site.tally.spent_nano / 1e9
    gained = bits(site.board("bt").rows)
    charts = []
    if days > 1 and dollars:
        charts.append(
            chart(
                "Spend by day",
                "Dollars of all matches that ended on a day (UTC).",
                "spending",
                rows,
                spending(rows),
            )
        )
    return View(
        "costs.html",
        "Costs",
        "costs.html",
        {
            "dollars": dollars,
            "possibly": sum(row.possibly_usd for row in site.table()),
            "probes": sum(one.most_nano for one in probe_costs(site.moment).values()) / 1e9,
            "players": sorted(site.table(), key=lambda row: -(row.cost_usd or 0.0)),
            "most": max((row.cost_usd or 0.0 for row in site.table()), default=0.0),
            "games": by_game(site),
            "bits": gained,
            "bits_per_dollar": gained / dollars if dollars else None,
            "per_dollar": site.number / dollars if dollars else None,
            "unknown": any(row.cost_usd is None for row in site.table()),
            "prior": PRIOR,
            "charts": charts,
        },
    )


def bits(rows: Sequence[Row]) -> float:
    """Uncertainty about the ratings that the matches removed, in bits: for each player log2 of how many times
    narrower its Bradley-Terry interval is than the one before any match."""
    widths = [row.upper - row.lower for row in rows if row.lower is not None and row.upper is not None]
    return sum(max(0.0, math.log2(2 * Z95 * PRIOR / width)) for width in widths if width > 0)


def by_day(site: Site) -> list[dict[str, Any]]:
    """Dollars by day and game, in order of days."""
    return [
        {"day": (EPOCH + timedelta(days)).isoformat(), "game": game, "dollars": nano / 1e9}
        for days, games in sorted(site.tally.days.items())
        for game, nano in sorted(games.items())
    ]


def by_game(site: Site) -> list[Spent]:
    """Matches and dollars of each game."""
    nano: Counter[str] = Counter()
    for games in site.tally.days.values():
        nano.update(games)
    return [
        Spent(game, sum(statuses.values()), nano[game] / 1e9)
        for game, statuses in sorted(site.tally.games.items())
    ]
