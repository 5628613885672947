"""The information that matches brought on who is how strong, in bits. Pure.

    >>> from peerage.ratings.columns.history import duels
    >>> even = duels(2, [0] * 8, [1] * 8, [1, 0, 1, 0, 1, 0, 1, 1])
    >>> round(float(information(even).sum()), 2)
    0.62

One bit halves the error of one strength. Lindley (Annals of Mathematical Statistics 1956) measures an
experiment by how much it is expected to lower the entropy of what it is about. Where strengths are normal
with variance τ² before, and the results bring the Fisher information J on them, that is half the logarithm of
the ratio of both determinants (Chaloner and Verdinelli, Statistical Science 1995, on D-optimality):

    bits = ½ log₂ det(I + τ²J)

J is that of the fit which pairing uses (`strengths`). τ² is what these results say of how far players are
apart: expectation and maximization over the strengths (Dempster, Laird and Rubin, JRSS B 1977), with `PART`
of one more player, so that equals, too, have something to be known. It makes the number one of signal against
noise: where judges vote at random, players seem alike, and as many matches say less. In simulated arenas of
ten players, 60 to 210 Elo apart (SD), it is within 12% of what the true strengths give.

The whole is shared among the matches by their leverages w·v, w being what a match tells of its players' gap
and v how unsure that gap is still (their sum is MacKay's number of well determined parameters, Neural
Computation 1992). So matches between players that are far apart, or known well, have little of it. Matches of
a series count as if nothing bound them together.
"""

from __future__ import annotations

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.history import Duels
from peerage.scheduling.adaptive import between
from peerage.scheduling.strengths import fit, laplacian

PART = 0.25
"""The part of one more player, at one log-odds from the mean, that keeps τ² above nothing."""
_STEPS = 200


def variance_of_strengths(told: Floats, pull: Floats) -> float:
    """τ², in squared log-odds, from the eigenvalues of the results' information, that of the mean left out,
    and where the results alone draw the strengths along each eigenvector, times these."""
    spread = 1.0
    for _ in range(_STEPS):
        variance = spread / (1 + spread * told)
        before, spread = (
            spread,
            float((PART + ((variance * pull) ** 2 + variance).sum()) / (PART + len(told))),
        )
        if abs(spread - before) < 1e-6 * before:
            break
    return spread


@one_thread
def information(history: Duels) -> Floats:
    """The bits that each row of a history brought, shape (rows,); their sum is that of all of them."""
    if not len(history):
        return np.zeros(0)
    there, places = np.unique([history.first, history.second], return_inverse=True)
    first, second = places.reshape(2, -1)
    size = len(there)
    points = np.zeros((3, size, size))  # lost, tied, won by the first
    np.add.at(points, (np.rint(2 * history.score).astype(np.int64), first, second), history.weight)
    lost, tied, won = points
    found = fit(won + lost.T, tied + tied.T, np.zeros((size, size)))
    met = points.sum(axis=0)
    told, turn = np.linalg.eigh(laplacian((met + met.T) * found.information))
    told, turn = np.maximum(told[1:], 0.0), turn[:, 1:]  # the first is the mean of all, which is free
    variance = variance_of_strengths(told, (told + 1) * (turn.T @ found.mean))  # the fit has a prior of one
    bits = float(np.log2(1 + variance * told).sum()) / 2
    unsure = between((turn * (variance / (1 + variance * told))) @ turn.T)
    leverage = history.weight * (found.information * unsure)[first, second]
    return np.asarray(bits * leverage / leverage.sum())
