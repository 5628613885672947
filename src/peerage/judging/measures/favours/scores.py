"""Evidence of a judge's scores about an author beyond what the other judges' scores of the same answers do.

    y_jiq = a_j + b_j (x_i + luck of the answer + ease of the question) + error

y is the place of a mark among all that its judge gave, as a normal deviate (van der Waerden 1952): harsh,
generous and clipped scales say the same. Each mark is held against the other judges' of the very answer, so
what is hard, easy or well done cancels. How steeply a judge's marks follow them, `b`, is shown by the answers
of one author to many questions, so that a favour, which moves all of an author's answers, does not hide in
it. Where a scale gives out among the best or the worst, slopes between authors differ from those within: a
second slope and a bend for each judge, drawn towards nothing, take that up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.judging.marks.comparisons import undecided
from peerage.judging.marks.marks import Marks
from peerage.judging.measures.favours.evidence import (
    DULL,
    JUDGES,
    FavourScores,
    Mute,
    matched,
    mean_of,
    median_of,
)
from peerage.ratings.arrays import Flags, Floats, Ints
from peerage.ratings.columns.merging import by_code, numbered

_SLOPE, _BEND = 0.07, 0.05  # standard deviations of what differs between authors, in parts of the slope
_SPREAD = 0.05  # standard deviation by which judges differ about authors at least
_POOLED = 20.0  # marks that the judge's other errors count as, in how much its errors on an author scatter
_LEAST = 0.1  # of the variance of a judge's marks: what is its own error at least
_AT_ONCE = 2_000_000  # judges times answers held at a time
_NORMAL = NormalDist()
_GRID = np.linspace(0, 1, 4097)
_DEVIATES = np.array([_NORMAL.inv_cdf(min(max(at, 1e-5), 1 - 1e-5)) for at in _GRID.tolist()])


class ScoreReading(NamedTuple):
    """Evidence of the marks of each author (rows) of the judges' effects on it, whatever its answers are
    worth: the information, shape (authors, judges, judges), and the score, shape (authors, judges)."""

    information: Floats
    score: Floats


class ScoreEvidence:
    """Scores of answers, one of a judge for an answer (`Marks.single`)."""

    worth = 1.0

    def __init__(self, marks: Marks) -> None:
        self.judges, self.authors = marks.judges, marks.authors
        shape = len(marks.judges), len(marks.authors)
        cell = marks.judge * shape[1] + marks.author
        self.marks = np.bincount(cell, minlength=math.prod(shape)).reshape(shape)
        self.undecided = undecided(marks)
        self.freedom = np.maximum(self.marks - 1.0, 0.0) + _POOLED
        place = _deviates(marks)
        within = _centred(place, cell)
        own = np.bincount(marks.judge, within**2, shape[0]) / np.maximum(self.marks.sum(axis=1), 1)
        both, products = np.zeros((2, shape[0], shape[0]))
        for _, mark, value in _dense(marks, within):
            both += mark @ mark.T
            products += value @ value.T
        self._slope = _slopes(products, both)
        self._error = np.maximum(own - self._slope**2, _LEAST * np.maximum(own, 0.01))
        self._doubt = self._slope_error(marks, within, both)
        self._read = self._collected(marks, place)
        self._scatter, self._skewness = self._scattered(marks, within, cell)
        self._mean = np.bincount(cell, place, math.prod(shape)).reshape(shape) / np.maximum(self.marks, 1)
        self._usual = 0.0
        nobody, everybody = np.zeros(shape, np.bool_), np.ones(shape[0], np.bool_)
        for _ in range(3):
            reading = self.scores(nobody, everybody, self.marks > 0)
            kept = (self.marks > 0) & (reading.information > 1e-9)
            self._usual = matched(reading, kept, np.median, median_of(1.0)) if kept.any() else 0.0

    def _slope_error(self, marks: Marks, within: Floats, both: Floats) -> Floats:
        """The standard error of each judge's slope."""
        part = self._slope[marks.judge] * within
        others = np.bincount(marks.answer, part)[marks.answer] - part
        squares = np.bincount(marks.judge, others**2, len(both))
        information = both @ self._slope**2 - np.diag(both) * self._slope**2
        return np.asarray(np.sqrt(self._error * squares) / np.maximum(information, 1e-9))

    def _collected(self, marks: Marks, place: Floats) -> ScoreReading:
        judges, authors = len(self.judges), len(self.authors)
        information, score = np.zeros((authors, judges, judges)), np.zeros((authors, judges))
        sure, steep = 1 / self._error, self._slope / self._error
        for author, mark, value in _dense(marks, place):
            worth = np.maximum((steep * self._slope) @ mark, 1e-9)
            seen = steep[:, None] * mark / np.sqrt(worth)
            information[author] += np.diag(sure * mark.sum(axis=1)) - seen @ seen.T
            score[author] += sure * value.sum(axis=1) - seen @ ((steep @ value) / np.sqrt(worth))
        return ScoreReading(information, score)

    def _scattered(self, marks: Marks, within: Floats, cell: Ints) -> tuple[Floats, Floats]:
        """Return how much more than its judge's errors do elsewhere those on each author scatter (variances),
        the answers' worth and what is common to a sheet taken away; and how skewed a judge's errors are."""
        weight, slope = (self._slope**2 / self._error)[marks.judge], self._slope[marks.judge]
        total = np.bincount(marks.answer, (self._slope / self._error)[marks.judge] * within)[marks.answer]
        worth = total / np.maximum(np.bincount(marks.answer, weight)[marks.answer], 1e-9)
        left = _centred(within - slope * worth, marks.sheet)
        squares = np.bincount(cell, left**2, self.marks.size).reshape(self.marks.shape)
        usual = squares.sum(axis=1, keepdims=True) / np.maximum(self.marks.sum(axis=1, keepdims=True), 1)
        drawn = (squares + _POOLED * usual) / (self.marks + _POOLED)
        many = np.maximum(self.marks.sum(axis=1), 1)
        cubes = np.bincount(marks.judge, left**3, len(many)) / many
        skewness = cubes[:, None] / np.maximum(usual, 1e-9) ** 1.5 / np.sqrt(np.maximum(self.marks, 1))
        return np.asarray(drawn / np.maximum(usual, 1e-9)), np.asarray(skewness)

    def _strength(self, trusted: Flags) -> Floats:
        """Return how good each author is, mean 0, as all judges see it: one factor of the mean marks."""
        weight = np.where(trusted, self.marks, 0) / self._error[:, None]
        level = np.zeros(len(self.judges))
        slope = self._slope[:, None]
        for _ in range(20):
            strength = (weight * slope * (self._mean - level[:, None])).sum(axis=0)
            strength = strength / np.maximum((weight * slope**2).sum(axis=0), 1e-9)
            level = (weight * (self._mean - slope * strength)).sum(axis=1) / np.maximum(
                weight.sum(axis=1), 1e-9
            )
        return np.asarray(strength - strength.mean())

    def _profiled(self, author: int, trusted: Flags) -> tuple[Floats, Floats]:
        """Return what is known of an author once the effects of judges that are not `trusted` are whatever
        fits them, and the others scatter by the usual spread."""
        information, score = self._read.information[author], self._read.score[author]
        out = np.flatnonzero(~trusted & (self.marks[:, author] > 0))
        if len(out):
            fit = information[:, out] @ np.linalg.pinv(information[np.ix_(out, out)])
            score = np.where(trusted, score - fit @ score[out], 0.0)
            information = (information - fit @ information[out]) * (trusted[:, None] & trusted)
        shrunk = np.linalg.inv(np.eye(len(score)) + self._usual * information)
        information = information @ shrunk
        return (information + information.T) / 2, score @ shrunk

    def scores(self, aside: Flags, heard: Flags, tested: Flags) -> FavourScores:
        trusted = ~aside & heard[:, None] & (self.marks > 0)
        judges, authors = trusted.shape
        each = [self._profiled(author, trusted[:, author]) for author in range(authors)]
        reading = ScoreReading(*map(np.stack, zip(*each, strict=True)))
        strength = self._strength(trusted)
        bend = strength**2 - (strength**2).mean()
        slope = np.abs(self._slope) + 1e-9
        # of each author: what the level, the further slope and the bend of each judge come to
        kinds = np.stack(
            [np.ones((authors, judges)), *[term[:, None] * slope for term in (strength, bend)]], axis=1
        )
        columns = (reading.information[:, :, None, :] * kinds[:, None]).reshape(authors, judges, 3 * judges)
        common = np.einsum("ick,ikdl->ckdl", kinds, columns.reshape(authors, judges, 3, judges))
        sure = np.minimum(self._doubt / slope, 1.0) ** 2
        prior = np.concatenate([np.full(judges, 1e-6), 1 / (_SLOPE**2 + sure), np.full(judges, _BEND**-2)])
        common = common.reshape(3 * judges, 3 * judges)
        common[range(3 * judges), range(3 * judges)] += prior
        inverse = np.linalg.inv(common)
        fit = inverse @ np.einsum("ick,ik->ck", kinds, reading.score).ravel()
        drawn = columns @ inverse
        squares = np.tensordot(columns, columns, axes=((0, 1), (0, 1)))
        score = reading.score - columns @ fit
        moved = np.einsum("ikk->ik", reading.information) - (drawn * columns).sum(axis=2)
        norm = (reading.information**2).sum(axis=2) - 2 * ((reading.information @ columns) * drawn).sum(
            axis=2
        )
        norm = norm + ((drawn @ squares) * drawn).sum(axis=2)
        variance = moved - self._usual * norm
        # a pair set aside: as if it alone were trusted again, the common effects known as well as they are
        for judge, author in np.argwhere(aside & heard[:, None] & (self.marks > 0)).tolist():
            again = trusted[:, author].copy()
            again[judge] = True
            information, alone = self._profiled(author, again)
            known = (information[judge] * kinds[author]).ravel()
            doubt = inverse @ known
            score[author, judge] = alone[judge] - known @ fit
            moved[author, judge] = information[judge, judge]
            norm[author, judge] = information[judge] @ information[judge] + doubt @ squares @ doubt
            variance[author, judge] = (
                information[judge, judge] + known @ doubt - self._usual * norm[author, judge]
            )
        moved, size = np.maximum(moved.T, 1e-9), np.sqrt(2 * (self._error + self._slope**2))[:, None]
        own = np.maximum(variance.T, 1e-3 * moved) * self._scatter + 1e-12
        return FavourScores(
            score.T,
            np.sqrt(np.maximum(norm.T, 0.0)),
            own,
            self._skewness * own**1.5,
            np.asarray(np.interp(score.T / moved / size, _DEVIATES, _GRID) - 0.5),
        )

    def spread(self, scores: FavourScores, kept: Flags, part: float) -> float:
        return max(matched(scores, kept, np.mean, mean_of(part)), _SPREAD**2)

    def mute(self, aside: Flags, heard: Flags) -> dict[int, Mute]:
        asked = heard & (self.marks.sum(axis=1) > 0)
        if asked.sum() < JUDGES:
            return {}
        trusted = ~aside & heard[:, None] & (self.marks > 0)
        between, scatter, square = np.zeros((3, len(asked)))
        count = trusted.sum(axis=1)
        for judge in np.flatnonzero(asked).tolist():
            without = trusted.copy()
            without[judge] = False
            seen = self._strength(without)[trusted[judge]]
            own = self._mean[judge][trusted[judge]]
            seen, own = seen - seen.mean(), own - own.mean()
            square[judge] = max(float(seen @ seen), 1e-9)
            between[judge] = seen @ own / square[judge]
            scatter[judge] = ((own - between[judge] * seen) ** 2).sum() / max(count[judge] - 2, 1)
        noise = (self._scatter * self._error[:, None] / np.maximum(self.marks, 1) * trusted).sum(
            axis=1
        ) / np.maximum(count, 1)
        noise = noise * (1 + 1 / np.maximum(asked.sum() - 2, 1))
        sure = 1 / np.maximum(self._doubt, 1e-6) ** 2
        other = np.where(count > 2, square / np.maximum(np.maximum(scatter, noise), 1e-9), 0.0)
        slope = (self._slope * sure + between * other) / (sure + other)
        highest = slope + 1.96 / np.sqrt(sure + other)
        ratio = scatter / np.maximum(noise, 1e-9)
        free = np.maximum(count - 2.0, 1.0)
        spread = 2 / (9 * free)
        most = (1 - spread + 2.33 * np.sqrt(spread)) ** 3
        partial = ratio > most * max(1.0, float(np.median(ratio[asked])))
        dull = asked & (highest < DULL * float(np.median(slope[asked]))) & ~partial
        return {at: "contrary" if highest[at] < 0 else "coin" for at in np.flatnonzero(dull).tolist()}


def _centred(values: Floats, of: Ints) -> Floats:
    return np.asarray(values - (np.bincount(of, values) / np.maximum(np.bincount(of), 1))[of])


def _deviates(marks: Marks) -> Floats:
    """The place of each mark among its judge's, those of equals in the middle, as a normal deviate."""
    values, value = np.unique(marks.value, return_inverse=True)
    key = marks.judge * len(values) + value
    held, place = numbered(key)
    count = np.bincount(place)
    judge = held // max(len(values), 1)
    total = np.bincount(judge, count, len(marks.judges))
    before = np.cumsum(count) - count
    first = np.cumsum(total) - total
    share = (before - first[judge] + count / 2) / total[judge]
    deviate = np.interp(share, _GRID, _DEVIATES)
    return np.asarray(_centred(deviate[place], marks.judge))


def _dense(marks: Marks, value: Floats) -> Iterator[tuple[int, Floats, Floats]]:
    """Author by author, some answers at a time: who marked them (1 or 0), and `value`; (judges, answers)."""
    judges, authors = len(marks.judges), len(marks.authors)
    order = by_code(marks.author, authors)
    bounds = np.searchsorted(marks.author[order], np.arange(authors + 1))
    step = max(1, _AT_ONCE // max(judges, 1))
    for author in range(authors):
        rows = order[bounds[author] : bounds[author + 1]]
        held, question = numbered(marks.contest[rows])
        for start in range(0, len(held), step):
            here = (question >= start) & (question < start + step)
            cell = marks.judge[rows[here]], question[here] - start
            dense = np.zeros((2, judges, min(step, len(held) - start)))
            dense[0][cell] = 1
            dense[1][cell] = value[rows[here]]
            yield author, dense[0], dense[1]


def _slopes(products: Floats, both: Floats) -> Floats:
    """One factor of judges' marks: `products` without their diagonal are as near as can be to slope times
    slope, `both` times (Harman and Jones, minres, 1966). Judges are drawn towards the usual slope."""
    apart = ~np.eye(len(both), dtype=np.bool_)
    many, products_apart = both * apart, products * apart
    usual = math.sqrt(max(float(products_apart.sum()) / max(float(many.sum()), 1.0), 1e-4))
    slope = np.full(len(both), usual)
    for _ in range(100):
        before = slope
        # the usual judge counts as four more answers
        new = (products_apart @ slope + 4 * usual**3) / np.maximum(many @ slope**2 + 4 * usual**2, 1e-9)
        slope = (slope + new) / 2
        if np.abs(slope - before).max(initial=0.0) < 1e-7:
            break
    return slope
