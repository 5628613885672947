"""Four bins for players: the pick, those who may be as good, the unlikely, and those who are out."""

from __future__ import annotations

from typing import Literal

import numpy as np

from peerage.ratings.kernels import Floats

Bin = Literal["pick", "may be as good", "unlikely", "out"]
AS_GOOD = 0.05
"""The chance to be better than the pick from which on a player may be as good."""
OUT = 0.01
"""The chance to be better than the pick below which a player is out, if it is hardly the best either."""
NEVER_BEST = 0.02
"""Share of arenas in which the truly best is ever out, at most: its (1 - P)/P is a martingale that begins at
n - 1 and so ever reaches (n - 1)/share with that chance (Ville 1939)."""


def sort_out(best: Floats, better: Floats) -> tuple[Bin, ...]:
    """The bin of each player, from its chance to be `best` and, [i, j], that i is `better` than j.

    The pick has the highest chance to be best; between equal chances the first. A player is out whose chance
    to be better than the pick is below 1% and whose chance to be best is below 2%/(n - 1).
    """
    n = len(best)
    if not n:
        return ()
    pick = int(np.argmax(best))
    bins: list[Bin] = []
    for player in range(n):
        ahead = better[player, pick]
        if player == pick:
            bins.append("pick")
        elif ahead >= AS_GOOD:
            bins.append("may be as good")
        elif ahead < OUT and best[player] < NEVER_BEST / (n - 1):
            bins.append("out")
        else:
            bins.append("unlikely")
    return tuple(bins)
