"""What is left of a judge's marks once the quality of the answers is taken away: two models of it.

A judge of good discernment gives strong authors more, and weak ones less, than others do. That is no favour,
so both models give every judge a slope of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from peerage.judging.preference import Mark
from peerage.ratings.history import duels
from peerage.ratings.judges import fit
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.table import POINTS

_ROUNDS = 100  # of each alternating fit


@dataclass(frozen=True, eq=False)
class Marks:
    """Marks as a table: `value[j, i]` is what judge j gave answer i, nan where it gave nothing.

    `author[i]` is the number of the answer's author, `contest[i]` that of its contest; names are in order.
    """

    judges: tuple[str, ...]
    authors: tuple[str, ...]
    value: Floats
    author: Ints
    contest: Ints


class Rest(NamedTuple):
    """Residuals in the shape of the marks, nan where a mark cannot be compared; and, for each judge and
    author, the variance of their mean that comes from not knowing the slopes exactly (`doubt`)."""

    residual: Floats
    doubt: Floats


Model: TypeAlias = Callable[[Marks, frozenset[tuple[int, int]]], Rest]
"""From the marks, and the (judge, author) pairs that must not enter the model, to what it leaves."""


def tabled(marks: Iterable[Mark]) -> Marks:
    """Marks as a table; where a judge marked an answer more than once, their mean."""
    cells: dict[tuple[str, tuple[str, str]], list[float]] = defaultdict(list)
    for mark in marks:
        cells[mark.judge, (mark.contest, mark.author)].append(mark.value)
    judges = sorted({judge for judge, _ in cells})
    answers = sorted({answer for _, answer in cells})
    authors = sorted({author for _, author in answers})
    contests = sorted({contest for contest, _ in answers})
    row, column = ({name: at for at, name in enumerate(names)} for names in (judges, answers))
    value = np.full((len(judges), len(answers)), np.nan)
    for (judge, answer), given in cells.items():
        value[row[judge], column[answer]] = math.fsum(given) / len(given)
    of_author, of_contest = ({name: at for at, name in enumerate(names)} for names in (authors, contests))
    return Marks(
        tuple(judges),
        tuple(authors),
        value,
        np.array([of_author[author] for _, author in answers], np.int64),
        np.array([of_contest[contest] for contest, _ in answers], np.int64),
    )


def of_ratings(marks: Marks, aside: frozenset[tuple[int, int]] = frozenset()) -> Rest:
    """For ratings of single answers, where every judge rates nearly everything:

        x_ji = m_j + b_j q_i + r_ji

    m_j is how generous a judge is, b_j its discernment, and q_i the answer's quality as the *other* judges
    see it, by Bartlett's score (British Journal of Psychology 1937), which is unbiased for every quality. b_j
    comes from the covariances between judges within each author's answers, so neither a judge's own noise nor
    a favour enters it. Its error is that of an instrumental variable, the other judges being the instrument:
    s² (1 + 1/w) / n, with s² the residual variance, w the others' precision and n the marks.
    """
    given = np.isfinite(marks.value)
    trusted = given.copy()
    for judge, author in aside:
        trusted[judge, marks.author == author] = False
    value = np.where(given, marks.value, 0.0)
    loading, noise = _factor(value, given, marks.author, len(marks.authors))
    pull, worth = (loading / noise)[:, None], trusted * (loading**2 / noise)[:, None]
    count = np.maximum(trusted.sum(axis=1), 1)
    mean = (value * trusted).sum(axis=1) / count
    for _ in range(_ROUNDS):
        quality = (trusted * pull * (value - mean[:, None])).sum(axis=0) / np.maximum(
            worth.sum(axis=0), 1e-12
        )
        fitted = (trusted * (value - loading[:, None] * quality)).sum(axis=1) / count
        if np.abs(fitted - mean).max(initial=0.0) < 1e-9:
            break
        mean = fitted
    pulled = trusted * pull * (value - mean[:, None])
    others, known = pulled.sum(axis=0) - pulled, worth.sum(axis=0) - worth
    quality = others / np.where(known > 0, known, np.nan)
    left = np.where(given, value - mean[:, None] - loading[:, None] * quality, np.nan)
    return Rest(np.asarray(left), _slope_doubt(marks, left, quality, loading, worth))


def _slope_doubt(marks: Marks, left: Floats, quality: Floats, loading: Floats, worth: Floats) -> Floats:
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
    belongs = np.eye(len(marks.authors))[marks.author]
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


def of_votes(marks: Marks, aside: frozenset[tuple[int, int]] = frozenset()) -> Rest:
    """For votes on two answers, which are marked 1, ½ or 0 and sum to 1: the vote less its expectation

        E = 1 / (1 + exp(-g_j (s_a - s_b)))

    under Bradley-Terry with a reliability g_j for each judge (`ratings.judges`). A pair set aside neither
    moves a rating nor the judge's reliability.
    """
    rest = np.full_like(marks.value, np.nan)
    certain = np.zeros((len(marks.judges), len(marks.authors)))
    order = np.argsort(marks.contest, kind="stable")
    firsts = [(one, two) for one, two in pairwise(order) if marks.contest[one] == marks.contest[two]]
    rows = [
        (judge, one, two) for one, two in firsts for judge in np.flatnonzero(np.isfinite(marks.value[:, one]))
    ]
    if not rows:
        return Rest(rest, certain)
    judge, one, two = np.array(rows, np.int64).T
    a, b, score = marks.author[one], marks.author[two], marks.value[judge, one]
    trusted = np.array(
        [(j, x) not in aside and (j, y) not in aside for j, x, y in zip(judge, a, b, strict=True)], np.float64
    )
    names = [f"{at:06}" for at in judge]
    model = fit(duels(len(marks.authors), a, b, score, trusted), names)
    reliability = dict(zip(model.judges, model.reliability.tolist(), strict=True))
    slope = np.array([reliability[name] for name in names])
    gap = slope * (model.rating[a] - model.rating[b]) / POINTS
    left = score - 1 / (1 + np.exp(-np.clip(gap, -700, 700)))
    rest[judge, one], rest[judge, two] = left, -left
    return Rest(rest, certain)
