"""Courses that an arena may take from here: when claims come, with matches spread as pairing will. Pure.

    >>> few = RatingEstimates(np.array([60.0, -60.0]), np.diag([800.0, 800.0]))
    >>> spans = ranges(few, [], [(0, 1)])
    >>> [bool(span.least < span.about < span.most) for span in spans]
    [True]

The true strengths are drawn from what the ratings leave open (`scheduling.posterior`). From there each course
goes on in blocks of matches, each a quarter of those since the start. Pairing that learns sees the strengths
and doubts of its course and spreads the block by its own loss (`scheduling.order`), a tenth by lot; other
pairing spreads it as so far. n matches of two players at a gap d bring the information n·p(1 - p),
p = 1 / (1 + e^-d), and move the estimates as normal results with that information would. A claim needs the
gap that `ratings.claims` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from peerage.ratings.claims import gap_at_least, gap_needed
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.order import AT_RANDOM, FLOOR, Loss, between
from peerage.scheduling.posterior import Posterior, matches_of, posterior
from peerage.scheduling.posterior import match_information as told_by
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
STEPS = np.geomspace(0.02, HOPELESS - 1, 36)


@dataclass(frozen=True)
class RatingEstimates:
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

    @cached_property
    def met(self) -> Floats:
        """How many matches of each pair say as much as is known."""
        return matches_of(self.rating / self.unit, self.covariance / self.unit**2, self.often)

    @cached_property
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
    table: RatingEstimates, aims: Sequence[Aim], pairs: Sequence[tuple[int, int]], seed: int = 0
) -> tuple[Span, ...]:
    """When each aim is reached, and then when it is known who of each pair is better."""
    courses = int(np.clip(16 * COURSES // len(table.rating), FEWEST, COURSES))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    at = np.full((len(aims) + len(pairs), courses), np.inf)

    def reached(rating: Floats, needed: Floats) -> np.ndarray:
        told = np.abs(rating[:, first] - rating[:, second]) > needed[:, first, second]
        return np.vstack([*[aim.reached(rating, needed) for aim in aims], told.T])

    before = 1.0
    for look in _courses(table, np.random.default_rng(seed), courses):
        now = np.isinf(at) & reached(look.rating, look.needed(gap_at_least))
        some = now.any(axis=0)
        if some.any():
            there = look.of(some)
            now[:, some] &= reached(there.rating, there.needed())
        at[now] = np.sqrt(before * look.many)  # it was reached since the look before
        before = look.many
        if (np.isfinite(at).mean(axis=1) > (1 + INSIDE) / 2).all():
            break
    ends = np.quantile(at, [(1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2], axis=1, method="inverted_cdf")
    return tuple([Span(*map(float, span)) for span in ends.T])


def expected(table: RatingEstimates, aim: Aim = BEST) -> float:
    """How many times the matches so far an aim takes if the true strengths are those to be expected and luck
    plays no part: 1 if it is reached; infinite beyond `HOPELESS`."""
    before = 1.0
    for look in _courses(table):
        if all(aim.reached(look.rating, look.needed(by))[0] for by in (gap_at_least, gap_needed)):
            return float(np.sqrt(before * look.many))
        before = look.many
    return np.inf


class _Look(NamedTuple):
    """What courses see when there are `many` times the matches: ratings, shape (courses, players), in points;
    the covariance of strengths, in log-odds; how much stricter claims are than that alone would have them."""

    many: float
    rating: Floats
    covariance: Floats
    stricter: Floats
    unit: float

    def of(self, courses: np.ndarray) -> _Look:
        """Some of the courses."""
        return self._replace(rating=self.rating[courses], covariance=self.covariance[courses])

    def needed(self, by: Callable[..., Floats] = gap_needed) -> Floats:
        """How far apart a claim needs each two, in points; see `ratings.claims`."""
        return self.unit * by(self.covariance, unit=1.0) * self.stricter


def _courses(
    table: RatingEstimates, rng: np.random.Generator | None = None, courses: int = 1
) -> Iterator[_Look]:
    """What there is to see at each step."""
    size = len(table.rating)
    own = np.eye(size, dtype=bool)
    may = np.triu(~own if table.may is None else table.may, 1)
    unsure, strength = table.truth, table.rating / table.unit
    truth = (unsure.weight @ unsure.mean)[None] if rng is None else unsure.draw(rng, courses)
    met = np.triu(table.met)
    information = laplacian((met + met.T) * told_by(strength))
    lot = may / max(may.sum(), 1)
    stricter = np.ones((size, size))  # than the information alone would have it
    if table.needed is not None:
        by_model = table.unit * gap_needed(_inverse(information), unit=1.0)
        both = np.isfinite(by_model) & np.isfinite(table.needed)
        stricter[both] = np.clip(table.needed[both] / by_model[both], 0.25, 4.0)
    if table.loss is None:
        usual = np.where(may, met, 0.0) + size / 2 * lot  # whoever has not met may meet
        matches = met.sum() / max(usual.sum(), 1e-300) * (usual + usual.T)
        seen = _alike(information, strength, matches, truth, rng)
    else:
        seen = _learning(
            loss=table.loss,
            information=information,
            strength=strength,
            met=met,
            may=may,
            lot=lot,
            truth=truth,
            rng=rng,
        )
    for step, (rating, covariance) in zip(STEPS, seen, strict=True):
        many = 1 + step
        yield _Look(many, table.unit * rating, covariance, stricter ** (1 / many), table.unit)


_Seen: TypeAlias = Iterator[tuple[Floats, Floats]]
"""The strengths that each course sees after each step, and their covariance, in log-odds."""


def _alike(
    information: Floats, strength: Floats, matches: Floats, truth: Floats, rng: np.random.Generator | None
) -> _Seen:
    """Courses in which each pair plays so many `matches` with every doubling of all.

    Along the directions in which what such matches tell is to what is known as one number, the rate, nothing
    that one says bears on another: a block of matches is as many normals as there are players.
    """
    told = laplacian(matches * told_by(truth))
    root = np.linalg.inv(np.linalg.cholesky(_held(information)))
    rate, ways = np.linalg.eigh(root @ told @ root.T)
    rate, ways = np.maximum(rate, 0.0), root.T @ ways
    back = turned(ways)
    points, drift = back @ (information @ strength), (back @ told @ truth[..., None])[..., 0]
    before = 0.0
    for step in STEPS:
        block, before = step - before, step
        points = points + block * drift
        if rng is not None:
            points += np.sqrt(block * rate) * rng.standard_normal(rate.shape)
        left = 1 / (1 + step * rate)
        yield (ways @ (left * points)[..., None])[..., 0], (ways * left[:, None, :]) @ back


def _learning(
    loss: Loss,
    information: Floats,
    strength: Floats,
    met: Floats,
    may: np.ndarray,
    lot: Floats,
    truth: Floats,
    rng: np.random.Generator | None,
) -> _Seen:
    """Courses whose pairing learns from what each has seen."""
    told, gap = told_by(truth), truth[:, :, None] - truth[:, None, :]
    information = np.repeat(information[None], len(truth), axis=0)
    score = information @ strength[:, None]
    played = np.repeat((met + met.T).sum(axis=0)[None], len(truth), axis=0)
    before = 0.0
    for step in STEPS:
        block, before = met.sum() * (step - before), step
        inverse = np.asarray(np.linalg.inv(information + np.eye(len(strength))))
        matches = AT_RANDOM * block * lot + spread(
            loss, (inverse @ score)[..., 0], inverse, may, played, (1 - AT_RANDOM) * block
        )
        played = played + matches.sum(axis=1) + matches.sum(axis=2)
        said = matches * told
        information += laplacian(said + turned(said))
        points = said * gap
        if rng is not None:
            points += np.sqrt(said) * rng.standard_normal(said.shape)
        score = score + (points.sum(axis=2) - points.sum(axis=1))[..., None]
        inverse = _inverse(information)
        yield (inverse @ score)[..., 0], inverse


def _held(information: Floats) -> Floats:
    """What is known of strengths whose mean is none; who never met can hardly be told apart."""
    size = information.shape[-1]
    hardly = 1e-9 + 1e-12 * information.max(axis=(-2, -1), keepdims=True)  # more than rounding takes
    return np.asarray(information + 1 / size + hardly * np.eye(size))


def _inverse(information: Floats) -> Floats:
    return np.asarray(np.linalg.inv(_held(information)))


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
