"""Pairing to place one player: every match is one of its own, against who says most about where it is. Pure.

As `order`, but only wrong orders with that player count, and only it plays. A round has a quarter of the
usual matches, so that few are under way when its place is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.scheduling import order
from peerage.scheduling.standing import History, Results, Standing


def draw_up(
    player: str,
    standings: Sequence[Standing],
    history: History,
    results: Results,
    lot: str,
    kin: bool = True,
    once: bool = False,
    seats: int = 2,
    price: Mapping[str, float] = {},
) -> tuple[tuple[str, ...], ...]:
    """The matches of `player` in this round: against one each, or one table of so many; none where it is not
    among the players."""
    names = sorted(one.player for one in standings)
    if player not in names:
        return ()
    count = max(1, len(standings) // 8) if seats == 2 else 1
    return order.draw_up(
        standings,
        history,
        results,
        lot,
        about(names.index(player)),
        kin=kin,
        once=once,
        seats=seats,
        count=count,
        only=player,
        price=price,
    )


def about(player: int) -> order.Loss:
    """The loss of wrong orders with one player, by index."""

    def of_one(mean: Floats, covariance: Floats) -> Floats:
        return only(order.of_order(mean, covariance), player)

    return of_one


def only(pairs: np.ndarray, player: int) -> np.ndarray:
    """Of a value for each pair those of one player, by index, and nothing for the others."""
    found = np.zeros_like(pairs)
    found[..., player, :], found[..., player] = pairs[..., player, :], pairs[..., player]
    return found
