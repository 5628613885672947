"""What is left of a judge's marks once the quality of the answers is taken away: two models of it.

A judge of good discernment gives strong authors more, and weak ones less, than others do. That is no favour,
so both models give every judge a slope of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from peerage.judging.marks import Flags, Marks
from peerage.ratings.history import duels
from peerage.ratings.judges import fit_coded
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS

_ROUNDS = 100  # of each alternating fit


class Rest(NamedTuple):
    """The residual of each mark, nan where it cannot be compared; and, for each judge (rows) and author
    (columns), the variance of their mean that comes from not knowing the slopes exactly (`doubt`)."""

    residual: Floats
    doubt: Floats


Model: TypeAlias = Callable[[Marks], Callable[[Flags], Rest]]
"""From marks, one of a judge for an answer, to a function that tells what the model leaves of them, given
which judges (rows) and authors (columns) must not enter it."""


def of_ratings(marks: Marks) -> Callable[[Flags], Rest]:
    """For ratings of single answers, where every judge rates nearly everything:

        x_ji = m_j + b_j q_i + r_ji

    m_j is how generous a judge is, b_j its discernment, and q_i the answer's quality as the *other* judges
    see it, by Bartlett's score (British Journal of Psychology 1937), which is unbiased for every quality. b_j
    comes from the covariances between judges within each author's answers, so neither a judge's own noise nor
    a favour enters it. Its error is that of an instrumental variable, the other judges being the instrument:
    s² (1 + 1/w) / n, with s² the residual variance, w the others' precision and n the marks.
    """
    author = np.zeros(int(marks.answer.max(initial=-1)) + 1, np.int64)
    author[marks.answer] = marks.author
    value = np.full((len(marks.judges), len(author)), np.nan)
    value[marks.judge, marks.answer] = marks.value
    given = np.isfinite(value)
    value = np.where(given, value, 0.0)
    loading, noise = _factor(value, given, author, len(marks.authors))
    pull = (loading / noise)[:, None]

    def rest(aside: Flags) -> Rest:
        trusted = given & ~aside[:, author]
        worth = trusted * (loading**2 / noise)[:, None]
        count = np.maximum(trusted.sum(axis=1), 1)
        mean = (value * trusted).sum(axis=1) / count
        for _ in range(_ROUNDS):
            pulled = (trusted * pull * (value - mean[:, None])).sum(axis=0)
            quality = pulled / np.maximum(worth.sum(axis=0), 1e-12)
            fitted = (trusted * (value - loading[:, None] * quality)).sum(axis=1) / count
            if np.abs(fitted - mean).max(initial=0.0) < 1e-9:
                break
            mean = fitted
        pulled = trusted * pull * (value - mean[:, None])
        others, known = pulled.sum(axis=0) - pulled, worth.sum(axis=0) - worth
        quality = others / np.where(known > 0, known, np.nan)
        left = np.where(given, value - mean[:, None] - loading[:, None] * quality, np.nan)
        doubt = _slope_doubt(np.eye(len(marks.authors))[author], left, quality, loading, worth)
        return Rest(left[marks.judge, marks.answer], doubt)

    return rest


def _slope_doubt(belongs: Floats, left: Floats, quality: Floats, loading: Floats, worth: Floats) -> Floats:
    """What errors of a judge's own loading, and of those by which the others' marks are weighed, add to the
    variance of its mean residual for each author: the further the author is from average, the more."""
    usable = np.isfinite(left)
    count = np.maximum(usable.sum(axis=1), 1)
    precision = np.maximum(np.where(usable, worth.sum(axis=0) - worth, 0.0).sum(axis=1) / count, 1e-9)
    variance = (np.where(usable, left, 0.0) ** 2).sum(axis=1) / count
    error = variance * (1 + 1 / precision) / count
    share = worth.sum(axis=1) / max(float(worth.sum()), 1e-12)
    scale = float((share**2 * error / np.maximum(loading, 1e-9) ** 2).sum())
    seen = np.where(usable, quality, 0.0)
    size = usable @ belongs
    typical = seen.sum(axis=1, keepdims=True) / count[:, None]
    distance = (seen @ belongs) / np.maximum(size, 1) - typical
    return np.asarray(distance**2 * (error + loading**2 * scale)[:, None])


def _factor(value: Floats, given: np.ndarray, author: Ints, authors: int) -> tuple[Floats, Floats]:
    """Each judge's loading on the one quality behind all marks, and the variance of its noise.

    Least squares to the covariances between judges (minimum residuals: Harman and Jones, Psychometrika
    1966), each weighed by the answers that the two have in common. Every mark is taken relative to the
    judge's mean for the author.
    """
    belongs = np.eye(authors)[author]
    count = given @ belongs
    means = (value @ belongs) / np.maximum(count, 1)
    centred = np.where(given, value - means[:, author], 0.0)
    freedom = np.maximum(given.sum(axis=1) - (count > 0).sum(axis=1), 1)
    variance = np.maximum((centred**2).sum(axis=1) / freedom, 1e-9)
    common = given.astype(np.float64) @ given.T.astype(np.float64)
    shrunk = freedom / np.maximum(given.sum(axis=1), 1)  # the means took degrees of freedom away
    covariance = (centred @ centred.T) / np.maximum(common * np.sqrt(np.outer(shrunk, shrunk)), 1e-12)
    weight = np.where(common > 1, common, 0.0)
    np.fill_diagonal(weight, 0.0)
    loading = np.sqrt(variance / 2)
    for _ in range(_ROUNDS):
        # half a step: full ones swing between two scales when there are two judges
        fitted = (weight * covariance) @ loading / np.maximum(weight @ loading**2, 1e-12)
        loading = np.clip((loading + fitted) / 2, 0.0, np.sqrt(variance))
    loading = np.maximum(loading, 0.05 * np.sqrt(variance))
    return loading, np.maximum(variance - loading**2, 0.05 * variance)


def of_votes(marks: Marks) -> Callable[[Flags], Rest]:
    """For votes on two answers, which are marked 1, ½ or 0 and sum to 1: the vote less its expectation

        E = 1 / (1 + exp(-g_j (s_a - s_b)))

    under Bradley-Terry with a reliability g_j for each judge (`ratings.judges`). A pair set aside neither
    moves a rating nor the judge's reliability.
    """
    one, two = marks.pairs
    authors = len(marks.authors)
    # what a judge's votes on two authors say of all three is how many there were, and their mean
    same = (marks.judge[one] * authors + marks.author[one]) * authors + marks.author[two]
    _, of, count = np.unique(same, return_inverse=True, return_counts=True)
    first = np.zeros(len(count), np.int64)
    first[of] = one
    judge, a, b = marks.judge[first], marks.author[first], marks.author[first + 1]
    score = np.bincount(of, marks.value[one]) / count

    def rest(aside: Flags) -> Rest:
        residual = np.full(len(marks), np.nan)
        if len(one):
            trusted = ~(aside[judge, a] | aside[judge, b])
            model = fit_coded(duels(authors, a, b, score, count * trusted), marks.judges, judge)
            gap = model.reliability[judge] * (model.rating[a] - model.rating[b]) / POINTS
            expected = 1 / (1 + np.exp(-np.clip(gap, -700, 700)))
            residual[one] = marks.value[one] - expected[of]
            residual[two] = -residual[one]
        return Rest(residual, np.zeros(aside.shape))

    return rest
