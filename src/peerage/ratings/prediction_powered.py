"""A few votes of people correct many votes of judges: the prediction-powered Bradley-Terry estimate.

Model judges are cheap and biased, people dear and right. On the duels that both judged we see how the judges
err, and take that out of what they say on all duels:

    slope(s) = lambda * sum over all of x (judge - p) + sum over annotated of a x [(person - p) - lambda
    (judge - p)]

with p = P(first beats second) and a one over the share of duels annotated, stratum by stratum. Whatever
lambda, the ratings are right if people's votes are (Angelopoulos, Bates, Fannjiang, Jordan, Zrnic,
"Prediction-powered inference", Science 2023; by strata: Fisch and others, NeurIPS 2024); lambda is tuned to
the narrowest intervals (Angelopoulos, Duchi, Zrnic, "PPI++", 2023, section 6), so that useless judges are
left out by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.blas import one_thread
from peerage.ratings.bradley_terry import PRIOR_GAMES
from peerage.ratings.connection import strong_components
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.student import quantile
from peerage.ratings.table import POINTS, Row, rows_of, separated


@dataclass(frozen=True)
class PredictionPowered:
    """Ratings (mean 1500) with covariance in points; `trust` is lambda, 0 if the judges' votes say nothing.

    `effective` is how many annotated duels would give intervals as narrow without the judges. `freedom` are
    the degrees of Student's t for the intervals. Above 1 `groups` people's votes did not compare everybody.
    """

    rating: Floats
    covariance: Floats
    games: Floats
    trust: float
    effective: float
    freedom: int
    groups: int

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The ratings' 95% intervals; nan where fewer duels were annotated than there are players."""
        quantiles = quantile(0.95, self.freedom) if self.freedom else np.nan
        wide = quantiles * np.sqrt(np.maximum(np.diag(self.covariance), 0))
        return self.rating - wide, self.rating + wide

    @cached_property
    def above(self) -> np.ndarray:
        """Who is above whom at 95%, for all pairs together."""
        return separated(self.rating, self.covariance, np.full(self.covariance.shape, self.freedom))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A line for each player; `games` counts the annotated duels."""
        return rows_of(self.rating, *self.bounds, self.above, self.games)


class _Data(NamedTuple):
    """Duels for the fit: who met, `guess` of the judges, `said` by people (0 where nobody did), weight `v`
    in the whole, weight `a` among those annotated (0 where nobody did), and stratum."""

    history: Duels
    guess: Floats
    said: Floats
    v: Floats
    a: Floats
    stratum: Ints
    strata: int
    prior: float

    @property
    def each(self) -> float:
        """What an annotated duel weighs on average."""
        return float(self.a.sum() / max(np.count_nonzero(self.a), 1))


class _Pull(NamedTuple):
    """Each duel's part in the slope: c x - b D[stratum], x being +1 for the first player and -1 for the
    second, b = a - v, D the mean of what was annotated."""

    c: Floats
    mean: Floats


@one_thread
def fit(
    judged: Duels,
    people: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    trust: float | None = None,
    prior_games: float = PRIOR_GAMES,
) -> PredictionPowered:
    """Ratings from duels that judges scored (`judged.score`, 0 to 1) and `people` in part: their score of the
    first player, NaN where nobody said anything.

    Within each `stratum` the annotated are to be a random sample. Where people's votes alone cannot compare
    everybody each player is given `prior_games` tied games against an average one, as in `bradley_terry.fit`.
    Raises ValueError where a stratum has no vote of people.
    """
    said = np.asarray(people, np.float64)
    voted = ~np.isnan(said)
    if len(said) != len(judged) or not ((said[voted] >= 0) & (said[voted] <= 1)).all():
        raise ValueError(f"expected {len(judged)} scores of people from 0 to 1, NaN where there is none")
    if not voted.any():
        raise ValueError("nobody voted")
    if trust is not None and not 0 <= trust <= 1:
        raise ValueError(f"trust is {trust}: expected 0 to 1, or None to tune it")
    groups = components(judged, said)
    data = _data(judged, said, voted, stratum, prior_games if len(groups) > 1 else 0.0)
    n = judged.players
    strength = _top(data, 0.0)
    alone = _covariance(data, strength, 0.0)
    weight = _tuned(data, strength) if trust is None else trust
    found, covariance = strength, alone
    while weight > 0:
        found = _top(data, weight)
        covariance = _covariance(data, found, weight)
        if trust is not None or (np.trace(covariance) <= np.trace(alone) < np.inf and _finite(found)):
            break
        weight = weight / 2 if weight > 0.05 else 0.0
        found, covariance = strength, alone
    met = np.bincount(judged.first[voted], minlength=n) + np.bincount(judged.second[voted], minlength=n)
    return PredictionPowered(
        rating=1500 + (found - found.mean()) * POINTS,
        covariance=covariance * POINTS**2,
        games=met.astype(np.float64),
        trust=weight,
        effective=float(voted.sum() * np.trace(alone) / max(np.trace(covariance), 1e-300)),
        freedom=max(int(voted.sum()) - (n - 1) - (data.strata - 1), 0),
        groups=len(groups),
    )


def components(judged: Duels, people: Floats) -> list[tuple[int, ...]]:
    """The groups of players within which people's votes compare."""
    beats = np.zeros((judged.players, judged.players), bool)
    beats[judged.first[people > 0], judged.second[people > 0]] = True
    beats[judged.second[people < 1], judged.first[people < 1]] = True
    return [tuple(one) for one in strong_components(beats)]


def _data(judged: Duels, said: Floats, voted: np.ndarray, stratum: ArrayLike | None, prior: float) -> _Data:
    labels = np.zeros(len(judged)) if stratum is None else np.asarray(stratum)
    names, code = np.unique(labels, return_inverse=True)
    whole = np.bincount(code, judged.weight, len(names))
    known = np.bincount(code, judged.weight * voted, len(names))
    if ((whole > 0) & (known == 0)).any():
        missing = names[(whole > 0) & (known == 0)].tolist()
        raise ValueError(f"nobody voted on duels of the strata {missing}: join them with others")
    share = np.divide(whole, known, out=np.ones_like(whole), where=known > 0)
    a = np.where(voted, judged.weight * share[code], 0.0)
    scored = np.where(voted, said, 0.0)
    return _Data(judged, judged.score, scored, judged.weight, a, code, len(names), prior)


_FAR = 15.0  # log-odds from the mean: nobody is that much better


def _finite(strength: Floats) -> bool:
    return bool(np.abs(strength - strength.mean()).max() < _FAR)


def _top(data: _Data, trust: float) -> Floats:
    """Newton's method: information does not depend on votes, and is positive at any trust in [0, 1]."""
    strength = np.zeros(data.history.players)
    for _ in range(100):
        p = _chance(data.history, strength)
        pull = trust * data.v * (data.guess - p) + data.a * (data.said - p - trust * (data.guess - p))
        alone = 1 / (1 + np.exp(-strength))
        slope = _slope(data.history, pull) + data.prior * data.each * (0.5 - alone)
        step = _inverse(data, strength, trust) @ slope
        size = np.abs(step).max()
        strength = strength + step * min(1.0, 2.0 / max(size, 1e-300))
        if size < 1e-10 or not _finite(strength):
            break
    return strength


def _chance(history: Duels, strength: Floats) -> Floats:
    gap = strength[history.first] - strength[history.second]
    return np.asarray(1 / (1 + np.exp(-np.clip(gap, -700, 700))))


def _slope(history: Duels, residual: Floats) -> Floats:
    n = history.players
    return np.asarray(np.bincount(history.first, residual, n) - np.bincount(history.second, residual, n))


def _laplacian(history: Duels, weight: Floats) -> Floats:
    n = history.players
    pair = np.bincount(history.first * n + history.second, weight, n * n).reshape(n, n)
    pair = pair + pair.T
    return np.asarray(np.diag(pair.sum(axis=1)) - pair)


def _held(data: _Data, strength: Floats) -> Floats:
    """The information of the prior, player by player."""
    alone = 1 / (1 + np.exp(-strength))
    return np.asarray(data.prior * data.each * alone * (1 - alone))


def _inverse(data: _Data, strength: Floats, trust: float) -> Floats:
    p = _chance(data.history, strength)
    information = _laplacian(data.history, (trust * data.v + (1 - trust) * data.a) * p * (1 - p))
    n = data.history.players
    if data.prior:
        return np.asarray(np.linalg.inv(information + np.diag(_held(data, strength))), np.float64)
    hold = max(float(np.trace(information)) / n, 1e-300) / n
    return np.asarray(np.linalg.inv(information + hold)) - 1 / (n * n * hold)


def _pull(data: _Data, everywhere: Floats, annotated: Floats) -> _Pull:
    """From what each duel adds by judges, and what each annotated one adds."""
    history, n = data.history, data.history.players
    mean = np.zeros((data.strata, n))
    cell = data.stratum * n
    sums = np.bincount(cell + history.first, data.a * annotated, data.strata * n)
    sums -= np.bincount(cell + history.second, data.a * annotated, data.strata * n)
    whole = np.bincount(data.stratum, data.a, data.strata)
    mean = sums.reshape(data.strata, n) / np.maximum(whole, 1e-300)[:, None]
    return _Pull(data.v * everywhere + data.a * annotated, mean)


def _cross(data: _Data, one: _Pull, two: _Pull) -> Floats:
    """Sum over duels of the outer product of two pulls."""
    history, n, b = data.history, data.history.players, data.a - data.v
    total = _laplacian(history, one.c * two.c)
    squares = np.bincount(data.stratum, b * b, data.strata)
    total = total + one.mean.T @ (squares[:, None] * two.mean)
    for first, second, turned in ((one, two, False), (two, one, True)):
        cell = data.stratum * n
        sums = np.bincount(cell + history.first, first.c * b, data.strata * n)
        sums -= np.bincount(cell + history.second, first.c * b, data.strata * n)
        part = sums.reshape(data.strata, n).T @ second.mean
        total = total - (part.T if turned else part)
    return np.asarray(total)


def _covariance(data: _Data, strength: Floats, trust: float) -> Floats:
    p = _chance(data.history, strength)
    inverse = _inverse(data, strength, trust)
    own = np.diag(inverse)
    first, second = data.history.first, data.history.second
    between = own[first] + own[second] - 2 * inverse[first, second]
    # A fit draws towards what it rests on: residuals are short by that (HC2; MacKinnon and White 1985).
    heavy = (trust * data.v + (1 - trust) * data.a) * p * (1 - p) * between
    out = 1 / np.sqrt(np.maximum(1 - heavy, 0.1))
    everywhere = trust * (data.guess - p) * out
    annotated = (data.said - p - trust * (data.guess - p)) * out
    pull = _pull(data, everywhere, annotated)
    meat = _cross(data, pull, pull)
    if data.prior:
        # As much again as the prior would vary, were it data: for people alone the posterior's covariance.
        meat = meat + data.each * np.diag(_held(data, strength))
    covariance = inverse @ meat @ inverse
    centre = np.eye(len(covariance)) - 1 / len(covariance)
    return np.asarray(centre @ covariance @ centre)


def _tuned(data: _Data, strength: Floats) -> float:
    p = _chance(data.history, strength)
    inverse = _inverse(data, strength, 0.0)
    people = _pull(data, np.zeros_like(p), data.said - p)
    judges = _pull(data, data.guess - p, -(data.guess - p))
    cross = _cross(data, people, judges)
    top = -np.trace(inverse @ (cross + cross.T) @ inverse) / 2
    return float(np.clip(top / max(np.trace(inverse @ _cross(data, judges, judges) @ inverse), 1e-300), 0, 1))
