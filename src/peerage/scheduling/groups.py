"""Grouping for games of more than two: neighbours in skill who have seldom met sit together.

    >>> table = [Standing(name, name, 1500.0, 1500.0, mu) for name, mu in
    ...          [("Ada", 31.0), ("Bo", 30.0), ("Cy", 26.0), ("Di", 24.0), ("Eve", 19.0)]]
    >>> group(table, History(), "seed", 3)
    (('Ada', 'Bo', 'Cy'), ('Di', 'Eve'))

From the top, the best player without a seat opens a table and takes the mates one by one that weigh least,
where a candidate weighs how far its TrueSkill mean lies below the opener's, plus a width for each meeting
with somebody at the table. So neighbours meet first and, as meetings mount up, everybody meets everybody.
Equals stand in an order drawn by the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from peerage.scheduling.standing import History, Standing

MU_PER_ELO = 25 / 6 / 200
"""A TrueSkill gap of beta, 25/6, is won by the better one as often as a gap of 200 Elo: 76 times in 100."""
_DIGITS = 6  # of skills that are compared: another machine's last bits seat nobody elsewhere


def tables(players: int, seats: int, outside: int = 0, fewest: int = 2) -> int:
    """As few tables of `fewest` to `seats` as seat everybody, or all but a few, and leave `outside` players
    away from each."""
    return min(-(-players // _size(players, seats, outside)), players // fewest)


def _size(players: int, seats: int, outside: int) -> int:
    return max(2, min(seats, players - outside))


def group(
    standings: Sequence[Standing],
    history: History,
    seed: str,
    seats: int,
    width: float = 50.0,
    outside: int = 0,
    fewest: int = 2,
) -> tuple[tuple[str, ...], ...]:
    """One round in which everybody plays once: as few tables as `seats` allows, of sizes that differ by one
    at most, the more skilled first. `outside` players must be left over at each table, to officiate; where
    that leaves fewer than `fewest` at a table, those who played most sit out. `width` is in Elo. Equal for
    equal arguments; fewer than `fewest` players make no table.
    """
    if len(standings) < fewest:
        return ()
    rng = Random(seed)
    lots = {standing.player: rng.random() for standing in sorted(standings)}
    skill = {standing.player: round(standing.mu, _DIGITS) for standing in standings}
    penalty = width * MU_PER_ELO
    order = sorted(lots, key=lambda player: (-skill[player], lots[player]))
    count = tables(len(order), seats, outside, fewest)
    while len(order) > count * _size(len(standings), seats, outside):
        order.remove(max(order, key=lambda player: (history.played(player), lots[player])))
    seated: list[tuple[str, ...]] = []
    for at in range(count):
        size = -(-len(order) // (count - at))
        opener = order.pop(0)
        table = [opener]
        while len(table) < size:
            weights = [
                skill[opener] - skill[one] + penalty * sum(history.met(one, mate) for mate in table)
                for one in order
            ]
            table.append(order.pop(weights.index(min(weights))))
        seated.append(tuple(sorted(table, key=lambda player: (-skill[player], player))))
    return tuple(seated)
