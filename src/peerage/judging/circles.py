"""Results that go round: A beats B, B beats C and C beats A.

No strengths explain those, and judges who saw some of them look as if they favoured somebody: in a third of
simulated arenas of six players where three beat each other in a circle an honest judge was accused. So what
accuses judges leaves them out.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints


def circles(history: Duels, match: Ints, level: float = 0.05) -> list[tuple[int, int, int]]:
    """Return the circles of a history: three players by number, each of whom beats the next and the last the
    first. `match` numbers what each duel is of, from 0, and what was said of two players in one match counts
    once, by its majority. `level` is the chance that any is found where there is none.

    A circle is three claims, that each is more likely to win than to lose against the next. Where nothing
    goes round one of them is false, whatever the others are and however unequal judges and players: so three
    sign tests, and the largest of their p is the circle's (Berger, "Multiparameter hypothesis testing and
    acceptance sampling", Technometrics 1982). It is multiplied by the number of circles tested: those whose
    pairs met often enough to be found at all (Tarone, "A modified Bonferroni method for discrete data",
    Biometrics 1990).
    """
    n = history.players
    wins = _wins(history, match)
    met = wins + wins.T
    ahead = wins > met / 2
    for fewest in range(1, 64):
        often = (met >= fewest).astype(np.float64)
        tested = max(float(np.trace(often @ often @ often) / 3), 1.0)  # each way round
        if tested <= level * 2.0**fewest:
            break
    p = np.ones((n, n))
    testable = ahead & (met >= fewest)
    for many in np.unique(met[testable]).tolist():
        here = testable & (met == many)
        p[here] = _at_least(many)[wins[here]]
    sure = p * tested <= level
    found: list[tuple[int, int, int]] = []
    for one in np.flatnonzero(sure.any(axis=1)).tolist():
        # the lowest number comes first, so that each circle is seen once
        near = np.flatnonzero(sure[one] & (np.arange(n) > one))
        far = np.flatnonzero(sure[:, one] & (np.arange(n) > one))
        for two, three in np.argwhere(sure[np.ix_(near, far)]).tolist():
            found.append((one, int(near[two]), int(far[three])))
    return found


def _wins(history: Duels, match: Ints) -> Ints:
    """[i, j] counts matches that i won against j."""
    n = history.players
    low, high = np.minimum(history.first, history.second), np.maximum(history.first, history.second)
    side = np.where(history.first == low, 1.0, -1.0)
    cells, place = np.unique((match * n + low) * n + high, return_inverse=True)
    net = np.bincount(place, side * history.weight * (history.score - 0.5), len(cells))
    i, j = cells // n % n, cells % n
    wins = np.zeros((n, n), np.int64)
    even = 1e-9  # sums of weights that cancel
    np.add.at(wins, (i[net > even], j[net > even]), 1)
    np.add.at(wins, (j[net < -even], i[net < -even]), 1)
    return wins


def _at_least(many: int) -> Floats:
    """The chance of at least 0, 1, … `many` heads in so many tosses of a coin."""
    chances = [lgamma(many + 1) - lgamma(k + 1) - lgamma(many - k + 1) for k in range(many + 1)]
    return np.asarray(np.minimum(np.cumsum(np.exp(np.array(chances[::-1]) - many * log(2)))[::-1], 1.0))
