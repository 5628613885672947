"""How far judges agree with people, next to how far people agree with each other, and with themselves.

Two verdicts agree when they are the same of A, B and tie. Which answer is called A is chance, so the
agreement that chance alone would bring follows from how often each side ties: with shares t and u of ties it
is t u + (1 - t)(1 - u)/2, and κ = (agreement - chance)/(1 - chance) (Cohen 1960, with A and B alike). Duels
are what is resampled, and each weighs by one over the share of its sort that people judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from peerage.judging.estimates import Estimate, jackknife, ratio
from peerage.ratings.kernels import Floats

FEWEST = 20
"""Duels judged by both from which on anything is said."""


class Pair(NamedTuple):
    """Two sides' scores of the first answer on one duel (1, ½, 0), and what the duel weighs."""

    duel: int
    one: float
    other: float
    weight: float


class Agreement(NamedTuple):
    """The share of equal verdicts, and κ; None where fewer than `FEWEST` duels tell. `duels` are those that
    both sides judged."""

    duels: int
    share: Estimate | None
    kappa: Estimate | None


def agreement(pairs: Iterable[Pair]) -> Agreement:
    """How far two sides agree; each duel counts once, as the mean of the pairs on it."""
    sums: dict[int, list[float]] = {}
    for duel, one, other, weight in pairs:
        row = sums.setdefault(duel, [weight, 0.0, 0.0, 0.0, 0.0])
        row[1] += one == other
        row[2] += one == 0.5
        row[3] += other == 0.5
        row[4] += 1
    if len(sums) < FEWEST:
        return Agreement(len(sums), None, None)
    table = np.array(list(sums.values()), np.float64)
    rows = np.column_stack([table[:, :1], table[:, 1:4] * (table[:, :1] / table[:, 4:])])
    return Agreement(len(sums), ratio(rows[:, [1, 0]], 0.0, 1.0), jackknife(rows, _kappa, highest=1.0))


def _kappa(total: Floats) -> Floats:
    whole, agreed, ties, tied = total.T
    chance = ties / whole * tied / whole + (1 - ties / whole) * (1 - tied / whole) / 2
    return np.asarray((agreed / whole - chance) / np.where(chance < 1 - 1e-12, 1 - chance, np.nan))


def among(duel: int, scores: Sequence[float], weight: float) -> list[Pair]:
    """Every two of several people's scores of a duel, both ways round."""
    return [
        Pair(duel, one, other, weight)
        for at, one in enumerate(scores)
        for place, other in enumerate(scores)
        if at != place
    ]
