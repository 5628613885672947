"""Courses that an arena may take from here: when claims come, with matches spread as pairing will. Pure.

    >>> few = Table(np.array([60.0, -60.0]), np.diag([800.0, 800.0]))
    >>> spans = ranges(few, [], [(0, 1)])
    >>> [bool(span.least < span.about < span.most) for span in spans]
    [True]

The true strengths are drawn from what the ratings leave open (`scheduling.posterior`). From there each course
goes on in blocks of matches, each
a tenth of those since the start. Pairing that learns sees the strengths and doubts of its course and spreads
the block by its own loss (`scheduling.order`), a tenth by lot; other pairing spreads it as so far. n matches
of two players at a gap d bring the information n·p(1 - p), p = 1 / (1 + e^-d), and move the estimates as
normal results with that information would. A claim needs the gap that `ratings.claims` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.order import AT_RANDOM, FLOOR, Loss, between
from peerage.scheduling.posterior import Posterior, matches_of, posterior
from peerage.scheduling.posterior import told as told_by
from peerage.scheduling.strengths import laplacian, turned

HOPELESS = 50
"""So many times the matches played so far are no advice."""
INSIDE = 0.8
"""The share of courses that a range holds."""
COURSES = 100
"""Of up to sixteen players; of more fewer, `FEWEST` at least."""
FEWEST = 16
PARTS = 24
"""A block of matches is paired in so many parts at most."""
STEPS = np.geomspace(0.02, HOPELESS - 1, 72)


class Table(NamedTuple):
    """Ratings and their covariance, and the points in one unit of log-odds. `loss` is of pairing that learns;
    `may` says who can meet, by default everybody: shape (players, players). `often` says how
    often each two have met and `needed` how far apart a claim needs them now, where these are known."""

    rating: Floats
    covariance: Floats
    unit: float = POINTS
    loss: Loss | None = None
    may: np.ndarray | None = None
    often: Floats | None = None
    needed: Floats | None = None

    @property
    def met(self) -> Floats:
        """How many matches of each pair say as much as is known."""
        return matches_of(self.rating / self.unit, self.covariance / self.unit**2, self.often)

    @property
    def truth(self) -> Posterior:
        """What the strengths may be."""
        return posterior(self.rating / self.unit, self.met)


class Span(NamedTuple):
    """How many times the matches so far something takes: the median of courses, and the ends between which
    `INSIDE` of them lie; infinite beyond `HOPELESS`."""

    least: float
    about: float
    most: float


def ranges(
    table: Table, aims: Sequence[Aim], pairs: Sequence[tuple[int, int]], seed: int = 0
) -> tuple[Span, ...]:
    """When each aim is reached, and then when it is known who of each pair is better."""
    courses = int(np.clip(16 * COURSES // len(table.rating), FEWEST, COURSES))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    at = np.full((len(aims) + len(pairs), courses), np.inf)
    for many, rating, needed in _courses(table, np.random.default_rng(seed), courses):
        told = np.abs(rating[:, first] - rating[:, second]) > needed[:, first, second]
        now = np.vstack([*[aim.reached(rating, needed) for aim in aims], told.T])
        at = np.where(now & np.isinf(at), many, at)
        if (np.isfinite(at).mean(axis=1) > (1 + INSIDE) / 2).all():
            break
    ends = np.quantile(at, [(1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2], axis=1, method="inverted_cdf")
    return tuple([Span(*map(float, span)) for span in ends.T])


def expected(table: Table, aim: Aim = BEST) -> float:
    """How many times the matches so far an aim takes if the true strengths are those to be expected and luck
    plays no part: 1 if it is reached; infinite beyond `HOPELESS`."""
    for many, rating, needed in _courses(table):
        if aim.reached(rating, needed)[0]:
            return many
    return np.inf


def _courses(
    table: Table, rng: np.random.Generator | None = None, courses: int = 1
) -> Iterator[tuple[float, Floats, Floats]]:
    """At each step how many times the matches there are, the ratings, shape (courses, players), and how far
    apart a claim needs each two; both in points."""
    size = len(table.rating)
    own = np.eye(size, dtype=bool)
    may = np.triu(~own if table.may is None else table.may, 1)
    unsure, strength = table.truth, table.rating / table.unit
    truth = (unsure.weight @ unsure.mean)[None] if rng is None else unsure.draw(rng, courses)
    told = told_by(truth)
    met = np.triu(table.met)
    information = np.repeat(laplacian((met + met.T) * told_by(strength))[None], courses, axis=0)
    score = information @ strength[:, None]
    every = met.sum()
    lot = may / max(may.sum(), 1)
    usual = np.where(may, met, 0.0) + size / 2 * lot  # whoever has not met may meet
    as_so_far = usual / max(usual.sum(), 1e-300)
    played = np.repeat((met + met.T).sum(axis=0)[None], courses, axis=0)
    stricter = np.ones((size, size))  # than the information alone would have it
    if table.needed is not None:
        by_model = table.unit * gap_needed(_inverse(information[0]), unit=1.0)
        both = np.isfinite(by_model) & np.isfinite(table.needed)
        stricter[both] = np.clip(table.needed[both] / by_model[both], 0.25, 4.0)
    before = 0.0
    for step in STEPS:
        block, before = every * (step - before), step
        if table.loss is None:
            matches = np.broadcast_to(block * as_so_far, told.shape)
        else:
            inverse = np.asarray(np.linalg.inv(information + np.eye(size)))
            matches = AT_RANDOM * block * lot + spread(
                table.loss, (inverse @ score)[..., 0], inverse, may, played, (1 - AT_RANDOM) * block
            )
            played = played + matches.sum(axis=1) + matches.sum(axis=2)
        said = matches * told
        information = information + laplacian(said + turned(said))
        points = said * (truth[:, :, None] - truth[:, None, :])
        if rng is not None:
            points += np.sqrt(said) * rng.standard_normal(said.shape)
        score = score + (points.sum(axis=2) - points.sum(axis=1))[..., None]
        inverse, many = _inverse(information), 1 + step
        needed = table.unit * gap_needed(inverse, unit=1.0) * stricter ** (1 / many)
        yield many, table.unit * (inverse @ score)[..., 0], needed


def _inverse(information: Floats) -> Floats:
    """The covariance of strengths whose mean is none; who never met can hardly be told apart."""
    size = information.shape[-1]
    return np.asarray(np.linalg.inv(information + 1 / size + 1e-9 * np.eye(size)))


def spread(
    loss: Loss, mean: Floats, covariance: Floats, may: np.ndarray, played: Floats, block: float
) -> Floats:
    """So many matches of each pair of a block, as `scheduling.order` would pair them one by one, in parts."""
    courses, size = mean.shape
    every, parts = np.arange(courses), min(size, PARTS)
    part = block / parts
    first, second = np.nonzero(may)
    told = told_by(mean)[:, first, second]
    use = covariance @ laplacian(loss(mean, covariance)) @ covariance
    doubt, less = (between(matrix)[:, first, second] for matrix in (covariance, use))
    usual = np.maximum(FLOOR, played.sum(axis=1) / (4 * size))[:, None]
    played, found = played.copy(), np.zeros((courses, size, size))
    # After each part both matrices are less by an outer product, which is kept as its factors.
    ways, scaled, halves = np.zeros((3, parts, courses, size))
    for at in range(parts):
        value = told * less / (1 + told * doubt)
        fewer = np.minimum(played[:, first], played[:, second])
        fewest = fewer.min(axis=1)[:, None]
        if (fewest < usual).any():
            value[(fewer > fewest) & (fewest < usual)] = -1.0
        chosen = value.argmax(axis=1)
        a, b = first[chosen], second[chosen]
        found[every, a, b] += part
        played[every, a] += part
        played[every, b] += part
        known, most = part * told[every, chosen], less[every, chosen]
        scale = (known / (1 + known * doubt[every, chosen]))[:, None]
        earlier = ways[:at, every, a] - ways[:at, every, b]
        halved = halves[:at, every, a] - halves[:at, every, b]
        way = covariance[every, a] - covariance[every, b] - _sum(scaled[:at], earlier)
        pull = use[every, a] - use[every, b] - _sum(ways[:at], halved) - _sum(halves[:at], earlier)
        half = scale * pull - scale**2 * most[:, None] / 2 * way
        ways[at], scaled[at], halves[at] = way, scale * way, half
        apart = way[:, first] - way[:, second]
        less -= 2 * apart * (half[:, first] - half[:, second])
        doubt -= scale * apart * apart
    return found


def _sum(vectors: Floats, weights: Floats) -> Floats:
    return np.asarray(np.einsum("kcn,kc->cn", vectors, weights))
