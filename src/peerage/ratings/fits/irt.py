"""Item response theory: how hard and how telling each challenge is, next to how able each player is.

    P(player solves challenge) = 1 / (1 + exp(-a (theta - b)))

theta is the player's ability, b the challenge's difficulty, a its discrimination: the two-parameter
logistic model (Birnbaum 1968). Abilities are standard normal; log a is normal (0, `spread_discrimination`),
b is normal (0, `spread_difficulty`): with few answers a challenge stays near the ordinary. Item parameters
are those of highest marginal posterior, by EM over a grid of abilities (Bock and Aitkin, Psychometrika
1981; Mislevy 1986 for the priors); abilities are posterior means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats
from peerage.ratings.table import POINTS, Z95, RatingRow, rows_of

_FEW = 200  # players; more of them tell the challenges so well that these add nothing
_GRID = np.linspace(-6, 6, 61)


@dataclass(frozen=True)
class ItemResponse:
    """Abilities of players, difficulty and discrimination of challenges, each with its standard error.
    `rounds` of EM were needed; `settled` is False if they ran out first."""

    ability: Floats
    ability_covariance: Floats
    difficulty: Floats
    difficulty_error: Floats
    discrimination: Floats
    discrimination_error: Floats
    answers: Floats
    rounds: int
    settled: bool

    @property
    def ability_error(self) -> Floats:
        """Standard error of each ability."""
        return np.asarray(np.sqrt(np.diag(self.ability_covariance)))

    @cached_property
    def rows(self) -> tuple[RatingRow, ...]:
        """A line for each player; 400 points are odds of ten to one on a challenge of discrimination 1."""
        rating, error = 1500 + self.ability * POINTS, self.ability_error * POINTS
        wide, sigma = Z95 * error, self.ability_error
        return rows_of(rating, rating - wide, rating + wide, self.answers, self.ability, sigma)


def fit(
    answers: ArrayLike,
    *,
    spread_difficulty: float = 2.0,
    spread_discrimination: float = 0.5,
    tolerance: float = 1e-4,
    rounds: int = 500,
) -> ItemResponse:
    """Fit a matrix of answers, shape (players, challenges): 1 solved, 0 not, a part between, nan not
    attempted. Players that attempted nothing, and what nobody attempted, stay at the prior."""
    given = _checked(answers)
    if not (spread_difficulty > 0 and spread_discrimination > 0):
        raise ValueError("spread_difficulty and spread_discrimination must be above 0")
    seen = ~np.isnan(given)
    right = np.where(seen, given, 0.0)
    wrong = np.where(seen, 1 - right, 0.0)
    met = seen.astype(np.float64)
    prior = np.exp(-0.5 * _GRID**2)
    prior /= prior.sum()
    share = (right.sum(axis=0) + 0.5) / (met.sum(axis=0) + 1)
    log_a, b = np.zeros(given.shape[1]), -1.2 * np.log(share / (1 - share))
    settled = False
    done = 0
    while done < rounds and not settled:
        done += 1
        weight = _posterior(right, wrong, log_a, b, prior)
        solved, attempted = right.T @ weight, met.T @ weight
        before_a, before_b = log_a, b
        for _ in range(3):
            step_a, step_b, _ = _item_steps(
                solved, attempted, log_a, b, spread_difficulty, spread_discrimination
            )
            log_a, b = log_a + np.clip(step_a, -0.5, 0.5), b + np.clip(step_b, -1, 1)
        moved = max(np.abs(log_a - before_a).max(initial=0.0), np.abs(b - before_b).max(initial=0.0))
        settled = bool(moved < tolerance)
    weight = _posterior(right, wrong, log_a, b, prior)
    ability = weight @ _GRID
    _, _, error = _item_steps(
        right.T @ weight, met.T @ weight, log_a, b, spread_difficulty, spread_discrimination
    )
    covariance = np.diag(np.maximum(weight @ _GRID**2 - ability**2, 0))
    if len(ability) <= _FEW:
        spreads = np.array([spread_difficulty, spread_discrimination])
        covariance = covariance + _from_items(met, ability, log_a, b, spreads)
    return ItemResponse(
        ability=ability,
        ability_covariance=covariance,
        difficulty=b,
        difficulty_error=error[1],
        discrimination=np.exp(log_a),
        discrimination_error=np.exp(log_a) * error[0],
        answers=met.sum(axis=1),
        rounds=done,
        settled=settled,
    )


def _checked(answers: ArrayLike) -> Floats:
    given = np.asarray(answers, np.float64)
    if given.ndim != 2:
        raise ValueError(f"answers have shape {given.shape}: expected (players, challenges)")
    for player, item in np.argwhere((given < 0) | (given > 1)):
        raise ValueError(
            f"player {player}, challenge {item}: answer is {given[player, item]}, expected 0 to 1"
        )
    return given


def _from_items(met: Floats, ability: Floats, log_a: Floats, b: Floats, spreads: Floats) -> Floats:
    """The covariance that abilities have from not knowing the challenges exactly, as with few players.
    Laplace's, of abilities and challenges together, less that of abilities alone."""
    a, gap = np.exp(log_a), ability[:, None] - b
    chance = 1 / (1 + np.exp(-np.clip(a * gap, -30, 30)))
    weight = met * chance * (1 - chance) * a**2
    own = np.diag(weight.sum(axis=1) + 1)
    cross = np.stack([-weight, weight * gap], axis=2)  # with difficulty and log discrimination
    items = np.empty((len(b), 2, 2))
    items[:, 0, 0] = weight.sum(axis=0) + spreads[0] ** -2.0
    items[:, 1, 1] = (weight * gap**2).sum(axis=0) + spreads[1] ** -2.0
    items[:, 0, 1] = items[:, 1, 0] = -(weight * gap).sum(axis=0)
    taken = np.einsum("ijk,jkl,mjl->im", cross, np.linalg.inv(items), cross, optimize=True)
    return np.asarray(np.linalg.inv(own - taken) - np.linalg.inv(own))


def _posterior(right: Floats, wrong: Floats, log_a: Floats, b: Floats, prior: Floats) -> Floats:
    """Each player's distribution over the grid, shape (players, grid)."""
    z = np.exp(log_a)[:, None] * (_GRID - b[:, None])
    log_right = -np.logaddexp(0, -z)
    log_odds = right @ log_right + wrong @ (log_right - z) + np.log(prior)
    weight = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _item_steps(
    solved: Floats, attempted: Floats, log_a: Floats, b: Floats, spread_b: float, spread_a: float
) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
    """One Fisher step of every challenge in log a and b, and the standard errors of the two."""
    a = np.exp(log_a)[:, None]
    z = a * (_GRID - b[:, None])
    chance = 1 / (1 + np.exp(-z))
    residual = solved - attempted * chance
    curve = attempted * chance * (1 - chance)
    slope_a = (residual * z).sum(axis=1) - log_a / spread_a**2
    slope_b = -(residual * a).sum(axis=1) - b / spread_b**2
    aa = (curve * z * z).sum(axis=1) + 1 / spread_a**2
    ab = -(curve * a * z).sum(axis=1)
    bb = (curve * a * a).sum(axis=1) + 1 / spread_b**2
    area = aa * bb - ab * ab
    step_a = (bb * slope_a - ab * slope_b) / area
    step_b = (aa * slope_b - ab * slope_a) / area
    return step_a, step_b, (np.sqrt(bb / area), np.sqrt(aa / area))
