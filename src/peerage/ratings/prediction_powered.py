"""A few human votes correct many model votes: the prediction-powered Bradley-Terry estimate.

Model judges are cheap and biased, people dear and right. On the rows that both judged we see how the models
err, and take that out of the models' verdict on all rows:

    L(s) = lambda * mean over model rows of l(model vote) + mean over human rows of [l(human) - lambda *
    l(model)]

Whatever lambda, the ratings are right if the human votes are (Angelopoulos, Bates, Fannjiang, Jordan, Zrnic,
"Prediction-powered inference", Science 2023); lambda is tuned to the narrowest intervals (Angelopoulos,
Duchi, Zrnic, "PPI++", 2023, section 6), so that useless model votes are left out by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.blas import one_thread
from peerage.ratings.connection import strong_components
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS, Z95, Row, rows_of, separated


@dataclass(frozen=True)
class PredictionPowered:
    """Ratings (mean 1500) with covariance in points; `trust` is lambda, 0 if the model votes say nothing.

    `effective` is how many human votes would give intervals as narrow without the models.
    """

    rating: Floats
    covariance: Floats
    games: Floats
    trust: float
    effective: float

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A line for each player; `games` counts the human votes."""
        wide = Z95 * np.sqrt(np.maximum(np.diag(self.covariance), 0))
        above = separated(self.rating, self.covariance)
        return rows_of(self.rating, self.rating - wide, self.rating + wide, above, self.games)


@one_thread
def fit(
    human: Duels, model_scores: ArrayLike, model: Duels, *, trust: float | None = None
) -> PredictionPowered:
    """Ratings from `human` votes, the models' scores of the same rows (0 to 1), and `model` votes on other
    rows.

    Weights are left out of account. Raises ValueError where the human votes alone cannot compare everybody:
    they are what the estimate rests on.
    """
    beside = np.asarray(model_scores, np.float64)
    if len(beside) != len(human) or not ((beside >= 0) & (beside <= 1)).all():
        raise ValueError(f"expected {len(human)} model scores from 0 to 1, one for each human vote")
    if human.players != model.players:
        raise ValueError(f"human votes are of {human.players} players, model votes of {model.players}")
    if not len(human) or not len(model):
        raise ValueError("human and model votes are both needed")
    if trust is not None and not 0 <= trust <= 1:
        raise ValueError(f"trust is {trust}: expected 0 to 1, or None to tune it")
    n = human.players
    beats = np.zeros((n, n), bool)
    beats[human.first[human.score > 0], human.second[human.score > 0]] = True
    beats[human.second[human.score < 1], human.first[human.score < 1]] = True
    components = strong_components(beats)
    if len(components) > 1:
        raise ValueError(
            f"human votes compare the players only within {len(components)} groups: {components}"
        )
    strength = _top(human, beside, model, 0.0)
    alone = np.trace(_covariance(human, beside, model, strength, 0.0))
    if trust is None:
        trust = _tuned(human, beside, model, strength)
    strength = _top(human, beside, model, trust)
    covariance = _covariance(human, beside, model, strength, trust)
    met = np.bincount(human.first, minlength=n) + np.bincount(human.second, minlength=n)
    return PredictionPowered(
        rating=1500 + (strength - strength.mean()) * POINTS,
        covariance=covariance * POINTS**2,
        games=met.astype(np.float64),
        trust=trust,
        effective=float(len(human) * alone / max(np.trace(covariance), 1e-300)),
    )


def _top(human: Duels, beside: Floats, model: Duels, trust: float) -> Floats:
    """Newton's method: information does not depend on votes, and is positive at any trust in [0, 1]."""
    n = human.players
    strength = np.zeros(n)
    for _ in range(100):
        slope = _slope(human, human.score - trust * beside - (1 - trust) * _chance(human, strength)) / len(
            human
        )
        slope = slope + trust * _slope(model, model.score - _chance(model, strength)) / len(model)
        step = _inverse(human, model, strength, trust) @ slope
        size = np.abs(step).max()
        strength = strength + step * min(1.0, 2.0 / max(size, 1e-300))
        if size < 1e-10:
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


def _inverse(human: Duels, model: Duels, strength: Floats, trust: float) -> Floats:
    of_human, of_model = _chance(human, strength), _chance(model, strength)
    information = (1 - trust) * _laplacian(human, of_human * (1 - of_human)) / len(human)
    information += trust * _laplacian(model, of_model * (1 - of_model)) / len(model)
    n = human.players
    hold = max(float(np.trace(information)) / n, 1e-300) / n
    return np.asarray(np.linalg.inv(information + hold)) - 1 / (n * n * hold)


def _covariance(human: Duels, beside: Floats, model: Duels, strength: Floats, trust: float) -> Floats:
    inverse = _inverse(human, model, strength, trust)
    of_human, of_model = _chance(human, strength), _chance(model, strength)
    both = human.score - of_human - trust * (beside - of_human)
    meat = _centred(human, both) / len(human)
    meat = meat + trust**2 * _centred(model, model.score - of_model) / len(model)
    return inverse @ meat @ inverse


def _centred(history: Duels, residual: Floats) -> Floats:
    mean = _slope(history, residual) / len(history)
    return _laplacian(history, residual**2) / len(history) - np.outer(mean, mean)


def _tuned(human: Duels, beside: Floats, model: Duels, strength: Floats) -> float:
    inverse = _inverse(human, model, strength, 0.0)
    of_human, of_model = _chance(human, strength), _chance(model, strength)
    own, guess = human.score - of_human, beside - of_human
    cross = _laplacian(human, own * guess) / len(human)
    cross = cross - np.outer(_slope(human, own), _slope(human, guess)) / len(human) ** 2
    ratio = len(human) / len(model)
    pooled = _centred(human, guess) + ratio * _centred(model, model.score - of_model)
    top = np.trace(inverse @ (cross + cross.T) @ inverse) / 2
    return float(np.clip(top / max(np.trace(inverse @ pooled @ inverse), 1e-300), 0, 1))
