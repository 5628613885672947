"""The inner loop of ratings through time, plain Python that Numba compiles for long histories."""

from __future__ import annotations

import math

import numpy as np

from peerage.ratings.kernels import Floats, Ints


def sweep(
    strength: Floats,
    variance: Floats,
    player: Ints,
    drift: Floats,
    game: Ints,
    opponent: Ints,
    score: Floats,
    weight: Floats,
    prior: float,
) -> float:
    """One Newton step for each player in turn, over all its moments together; returns the largest change.

    Moments m are sorted by player and time. `player` holds the bounds of each player's moments, `drift[m]`
    the precision between m and the moment before it (0 at a player's first), `game` the bounds of each
    moment's games in `opponent` (a moment), `score` and `weight`. `prior` is the precision of a first
    moment around 0. `variance` receives each strength's variance given the opponents'.
    """
    moved = 0.0
    longest = 0
    for p in range(len(player) - 1):
        longest = max(longest, int(player[p + 1]) - int(player[p]))
    diagonal, slope = np.empty(longest), np.empty(longest)
    forward, backward = np.empty(longest), np.empty(longest)
    for p in range(len(player) - 1):
        start = int(player[p])
        n = int(player[p + 1]) - start
        for i in range(n):
            m = start + i
            own = float(strength[m])
            pull = 0.0
            curve = 0.0
            for g in range(int(game[m]), int(game[m + 1])):
                chance = 1.0 / (1.0 + math.exp(float(strength[int(opponent[g])]) - own))
                pull += float(weight[g]) * (float(score[g]) - chance)
                curve += float(weight[g]) * chance * (1.0 - chance)
            if i == 0:
                pull -= prior * own
                curve += prior
            else:
                pull -= float(drift[m]) * (own - float(strength[m - 1]))
                curve += float(drift[m])
            if i < n - 1:
                pull -= float(drift[m + 1]) * (own - float(strength[m + 1]))
                curve += float(drift[m + 1])
            diagonal[i], slope[i] = curve, pull
        # the tridiagonal matrix factored from both ends: a step, and the diagonal of the inverse
        for i in range(n):
            forward[i] = diagonal[i] - (float(drift[start + i]) ** 2 / forward[i - 1] if i > 0 else 0.0)
        for i in range(n - 1, -1, -1):
            link = float(drift[start + i + 1]) if i < n - 1 else 0.0
            backward[i] = diagonal[i] - (link * link / backward[i + 1] if i < n - 1 else 0.0)
            variance[start + i] = 1.0 / (forward[i] + backward[i] - diagonal[i])
        for i in range(1, n):
            slope[i] += float(drift[start + i]) / forward[i - 1] * slope[i - 1]
        for i in range(n - 1, -1, -1):
            link = float(drift[start + i + 1]) * slope[i + 1] if i < n - 1 else 0.0
            slope[i] = (slope[i] + link) / forward[i]
        for i in range(n):
            step = min(max(float(slope[i]), -2.0), 2.0)
            strength[start + i] += step
            moved = max(moved, abs(step))
    return moved
