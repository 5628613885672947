"""Which players give the most for their price."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from peerage.views.leaderboard.board import Row


class Offer(NamedTuple):
    """What a player gives for its price: `cost_per_match` in the arena's cost unit; `best` when nobody is
    rated as high for less, nor higher for as much."""

    player: str
    rating: float
    cost_per_match: float
    best: bool


def frontier(rows: Iterable[Row]) -> list[Offer]:
    """The cost-quality plane from a leaderboard, cheapest first; `best` marks its Pareto frontier. Players
    without a decided match or without a known cost are left out."""
    priced = [
        (row.cost_per_match, -row.rating, row.player)
        for row in rows
        if row.rank is not None and row.cost_per_match is not None
    ]
    return [
        Offer(player, -worse, cost, not _dominated(cost, worse, priced))
        for cost, worse, player in sorted(priced)
    ]


def _dominated(cost: float, worse: float, others: Sequence[tuple[float, float, str]]) -> bool:
    return any(
        their_cost <= cost and their_worse <= worse and (their_cost, their_worse) != (cost, worse)
        for their_cost, their_worse, _ in others
    )
