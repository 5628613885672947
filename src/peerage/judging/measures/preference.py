"""Favours of judges: their own work, their family's, what stands first, what is long.

A mark is compared with those of the other judges of the same answer, so that good work is not taken for
favour; a bias that all judges share is invisible in that comparison.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.judging.marks.ballots import Ballots
from peerage.judging.marks.marks import Marks, SameFamily
from peerage.judging.measures.agreement import Estimate, jackknife, ratio
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.merging import numbered

LONGER = math.log2(1.1)
"""Doublings by which answers must differ in length to say anything about it: a tenth."""


def deviations(marks: Marks, same_family: Flags | None = None) -> Floats:
    """By how much each mark exceeds the mean of the others for the same answer; nan where there is none.
    Judges of the author's family (`same_family`, a flag a mark) are no measure for others."""
    counted = np.ones(len(marks)) if same_family is None else (~same_family).astype(np.float64)
    total = np.bincount(marks.answer, counted * marks.value)[marks.answer] - counted * marks.value
    others = np.bincount(marks.answer, counted)[marks.answer] - counted
    return np.asarray(marks.value - total / np.where(others > 0, others, np.nan))


def kin_preferences(marks: Marks, same_family: SameFamily) -> dict[str, Estimate]:
    """Return how far each judge marks its family (`same_family`) above others, in the marks' unit; 0 is
    even-handed.

    The mean excess of its marks for them, less its mean excess overall: strictness cancels. Only contests
    with both family and others in them count, and judges who had such a contest appear. Self-preference with
    `same_family` the judge itself, family preference with its family. Others of the author's family are no
    measure here.
    """
    related = marks.same_family(same_family)
    if not related.any():
        return {}
    excess = deviations(marks, related)
    known = np.isfinite(excess)
    sheet, related, excess = marks.sheet[known], related[known], excess[known]
    sums = np.column_stack(
        [
            np.bincount(sheet, related * excess),
            np.bincount(sheet, related),
            np.bincount(sheet, excess),
            np.bincount(sheet),
        ]
    )
    mixed = np.flatnonzero((sums[:, 1] > 0) & (sums[:, 1] < sums[:, 3]))
    preferences: dict[str, Estimate] = {}
    for judge, rows in _by_judge(marks, mixed):
        preference = jackknife(
            sums[rows], lambda total: total[:, 0] / total[:, 1] - total[:, 2] / total[:, 3]
        )
        if preference is not None:
            preferences[judge] = preference
    return preferences


def _by_judge(marks: Marks, sheets: Ints) -> list[tuple[str, Ints]]:
    """These sheets (see `Marks.sheet`), in order, by the name of their judge."""
    first = np.searchsorted(marks.sheet, sheets)
    bounds = np.searchsorted(marks.judge[first], np.arange(len(marks.judges) + 1))
    return [(judge, sheets[bounds[at] : bounds[at + 1]]) for at, judge in enumerate(marks.judges)]


class _Slopes(NamedTuple):
    """Sheets (see `Marks.sheet`) that say something of length, each with its contest and the numerator and
    the denominator of the least-squares slope within it."""

    sheet: Ints
    contest: Ints
    sums: Floats


def _slopes(marks: Marks, value: Floats) -> _Slopes:
    """The slopes of `value`, one a mark, on log2 of the length. Where the longest answer that a judge marked
    in a contest is not a tenth longer than the shortest, its marks say nothing of length."""
    known = np.isfinite(marks.chars) & np.isfinite(value)
    names, sheet = numbered(marks.sheet[known])
    if not len(names):
        return _Slopes(names, names, np.empty((0, 2)))
    count = np.bincount(sheet)
    length, value = np.log2(np.maximum(marks.chars[known], 1)), value[known]
    first = np.cumsum(count) - count
    varied = np.maximum.reduceat(length, first) - np.minimum.reduceat(length, first) >= LONGER
    length = length - (np.bincount(sheet, length) / count)[sheet]
    parts = [np.bincount(sheet, length * value), np.bincount(sheet, length**2)]
    sums = np.column_stack(parts).astype(np.float64)
    return _Slopes(names[varied], marks.contest[known][first][varied], sums[varied])


def length_bias(marks: Marks) -> Estimate | None:
    """Return how much more judges give an answer twice as long, whether for its length or for what comes with
    it. The least-squares slope of the mark on log2 of the length with an intercept for every contest and
    judge; None where no judge marked answers of one contest that differ in length by a tenth."""
    _, contest, sums = _slopes(marks, marks.value)
    totals = np.column_stack([np.bincount(contest, sums[:, 0]), np.bincount(contest, sums[:, 1])])
    return ratio(totals[totals[:, 1] > 0])


def length_leans(marks: Marks) -> dict[str, Estimate]:
    """Return how much more than the other judges of the same answers each judge gives one twice as long."""
    sheet, _, sums = _slopes(marks, deviations(marks))
    slopes = {judge: ratio(sums[np.searchsorted(sheet, rows)]) for judge, rows in _by_judge(marks, sheet)}
    return {judge: slope for judge, slope in slopes.items() if slope is not None}


class Positions(NamedTuple):
    """Effect of the order of two answers on a judge: `flips`, the share of ballots seen in both orders whose
    verdicts differ, and `first`, the share of verdicts for one answer that chose the one shown first (½ is
    even-handed)."""

    flips: Estimate | None
    first: Estimate | None


def one_sided(ballots: Ballots, level: float) -> set[str]:
    """The judges that choose what stands first, or second, more often than even-handed ones ever would: the
    sign test over ballots, `level` being the chance of any false name (Bonferroni)."""
    return set(_leans(ballots.players, ballots.judge, np.sign(2 * ballots.first - ballots.decided), level))


ONE_SIDED = 0.8
"""The share of a judge's verdicts for one place from which on they say little else."""


def _leans(names: Sequence[str], judge: Ints, net: np.ndarray, level: float) -> dict[str, float]:
    """The judges that are not even-handed, with the share of the place that they prefer; `net` is 1 where a
    ballot is for what stood first, -1 for what stood second, and 0 where it says neither."""
    uneven = np.bincount(judge, net != 0, len(names)).astype(int).tolist()
    most = np.maximum(*[np.bincount(judge, net == sign, len(names)) for sign in (1, -1)]).astype(int).tolist()
    tested = max(sum([n > 0 for n in uneven]), 1)
    return {
        name: k / n
        for name, k, n in zip(names, most, uneven, strict=True)
        if n and _as_many(k, n) * tested <= level
    }


def _as_many(most: int, tosses: int) -> float:
    """The chance that a fair coin shows one of its sides so often, or more."""
    if tosses > _EXACT:
        return 2 * NormalDist().cdf(-(2 * most - 1 - tosses) / math.sqrt(tosses))
    ways = sum([math.comb(tosses, heads) for heads in range(most, tosses + 1)])
    return float(min(1.0, 2 * ways / 2**tosses))


_EXACT = 1_000  # tosses from which on the normal distribution is as good


def positions(ballots: Ballots) -> dict[str, Positions]:
    """Return how each judge took the order of answers, by name."""
    order = np.argsort(ballots.judge, kind="stable")
    bounds = np.searchsorted(ballots.judge[order], np.arange(len(ballots.players) + 1))
    by_judge: dict[str, Positions] = {}
    for at, judge in enumerate(ballots.players):
        rows = order[bounds[at] : bounds[at + 1]]
        both, decided = rows[ballots.both[rows]], rows[ballots.decided[rows] > 0]
        if len(rows):
            by_judge[judge] = Positions(
                ratio(np.column_stack([ballots.flipped[both], np.ones(len(both))]), 0, 1),
                ratio(np.column_stack([ballots.first[decided], ballots.decided[decided]]), 0, 1),
            )
    return by_judge
