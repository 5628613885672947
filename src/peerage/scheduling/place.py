"""Pairing to place one player: every match is one of its own, against who says most about where it is. Pure.

As `order`, but only wrong orders with that player count, and only it plays. A round has a quarter of the
usual matches, so that few are under way when its place is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.scheduling import order
from peerage.scheduling.standing import History, Results, Standing


def pair(
    player: str,
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    kin: bool,
    once: bool,
) -> tuple[tuple[str, str], ...]:
    """The opponents of `player` in this round, each with it; none where it is not among the players."""
    count = max(1, len(standings) // 8)
    return _met(player, standings, history, results, lot, kin, once, count)


def table(
    player: str, standings: Sequence[Standing], history: History, results: Results, lot: str, seats: int
) -> tuple[tuple[str, ...], ...]:
    """One table of so many seats at which `player` sits with those who say most about it."""
    met = _met(player, standings, history, results, lot, True, False, seats - 1, again=False)
    others = [a if b == player else b for a, b in met]
    return ((player, *others),) if others else ()


def _met(
    player: str,
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    kin: bool,
    once: bool,
    count: int,
    again: bool = True,
) -> tuple[tuple[str, str], ...]:
    names = sorted(one.player for one in standings)
    if player not in names:
        return ()
    at = names.index(player)

    def of_one(mean: Floats, covariance: Floats) -> Floats:
        every = order.of_order(mean, covariance)
        found = np.zeros_like(every)
        found[at], found[:, at] = every[at], every[:, at]
        return found

    return order.pair(standings, history, results, lot, kin, once, of_one, player, count, again)
