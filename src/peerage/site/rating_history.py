"""How ratings came about: their course over the matches, and what changed of late."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from peerage.site.ledger_at import stops
from peerage.site.reading import Site
from peerage.tables.tracks import Track

COLOURED = 6


def course(site: Site, track: Track, names: Collection[str] = ()) -> list[dict[str, Any]]:
    """The rating of every rated player, or of those in `names`, after each stop, with its 95% interval; see
    `charts.trajectories`."""
    return [
        {"player": player, "match": stop, "rating": _short(rating), "low": _short(low), "high": _short(high)}
        for stop in stops(site.number)
        for after in (site.earlier(track, stop),)
        for player, rating, low, high in zip(
            after.players, after.rating, after.lower, after.upper, strict=True
        )
        if not names or player in names
    ]


def _short(value: float | None) -> float | None:
    """Two decimals: more than a chart can show."""
    return None if value is None else round(value, 2)


def before(number: int) -> int:
    """The match after which "last time" was: a round one, at least a tenth of all matches ago."""
    return max([stop for stop in stops(number) if stop <= number * 9 // 10], default=0)


def moves(site: Site, track: Track) -> Mapping[str, int]:
    """How many ranks each player rose since match `before`, below zero: fell; newcomers have none."""
    then = site.earlier(track, before(site.number))
    ranks = _ranks(then.players, then.rating)
    return {
        row.player: ranks[row.player] - row.rank
        for row in site.table(track)
        if row.rank is not None and row.player in ranks
    }


def _ranks(players: Sequence[str], ratings: Sequence[float]) -> dict[str, int]:
    ordered = sorted(ratings, reverse=True)
    return {player: 1 + ordered.index(rating) for player, rating in zip(players, ratings, strict=True)}
