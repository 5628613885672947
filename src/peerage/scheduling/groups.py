"""Grouping for games of more than two: neighbours on the cost-adjusted Elo who have seldom met sit together.

    >>> table = [Standing(name, name, 1500.0, rating) for name, rating in
    ...          [("Ada", 1610.0), ("Bo", 1590.0), ("Cy", 1500.0), ("Di", 1470.0), ("Eve", 1400.0)]]
    >>> group(table, History(), "seed", 3)
    (('Ada', 'Bo', 'Cy'), ('Di', 'Eve'))

From the top, the best player without a seat opens a table and takes the mates one by one that weigh least,
where a candidate weighs its rating distance from the opener plus `width` for each meeting with somebody at
the table. Equals stand in an order drawn by the seed: games that move no rating group at random, those who
have not met first.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import History, Standing


def group(
    standings: Sequence[Standing], history: History, seed: str, seats: int, width: float = 50.0
) -> tuple[tuple[str, ...], ...]:
    """One round in which everybody plays once: as few tables as `seats` allows, of sizes that differ by one
    at most, the higher seeded first. Equal for equal arguments; fewer than two players make no table.
    """
    if len(standings) < 2:
        return ()
    rng = Random(seed)
    lots = {standing.player: rng.random() for standing in sorted(standings)}
    order = sorted(standings, key=lambda standing: (-standing.cost, lots[standing.player]))
    count = -(-len(order) // seats)
    tables: list[tuple[str, ...]] = []
    for at in range(count):
        size = -(-len(order) // (count - at))
        opener = order.pop(0)
        table = [opener]
        while len(table) < size:
            weights = [
                opener.cost - one.cost + width * sum(history.met(one.player, mate.player) for mate in table)
                for one in order
            ]
            table.append(order.pop(weights.index(min(weights))))
        seated = sorted(table, key=lambda standing: (-standing.cost, standing.player))
        tables.append(tuple(standing.player for standing in seated))
    return tuple(tables)
