"""Bradley-Terry ratings, with ties, weights, clusters and robust intervals.

    >>> from peerage.ratings.columns.history import duels
    >>> table = fit_duels(duels(3, [0, 0, 0, 1, 1, 2], [1, 1, 2, 2, 2, 0], [1, 0.5, 1, 1, 0, 1]))
    >>> [round(row.rating) for row in table.rows], table.connected
    ([1560, 1440, 1500], True)

P(a beats b) = 1 / (1 + 10^((R_b - R_a) / 400)); `tie_models.py` has two readings of a tie. The likelihood
is climbed by Newton's method. The mean rating is 1500: only differences mean anything, and an interval is
that of a player against the mean. Intervals are robust: the sandwich of Huber (1967) and White (1982), each
game's part enlarged by its leverage (HC2; MacKinnon and White, Journal of Econometrics 1985). Draws alone
leave no residual: `table.floored` says how much of that may be chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.connection import strong_components
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.tally import TIE, WIN, PairTally, tally
from peerage.ratings.fits.tie_models import MODELS, Likelihood, Ties, first_guess
from peerage.ratings.table import POINTS, Z95, RatingRow, floored, rows_of, t_quantile

PRIOR_GAMES = 1.0
"""Games that each player ties with a phantom of average strength where the data leave ratings open."""
_BLOCK = 256  # rows of a matrix worked on at a time


@dataclass(frozen=True)
class CovariateEffect:
    """Effect of one unit of a covariate on the first player's rating, in points, with its 95% interval."""

    name: str
    points: float
    lower: float
    upper: float


@dataclass(frozen=True)
class BradleyTerry:
    """Ratings (400 points a decade, mean 1500) with their joint distribution.

    `covariance` is in rating points, of each player against the mean; `lower` and `upper` are 95%
    intervals from it. `connected` says whether everybody could be compared: whether, for every way to
    divide the players into two groups, somebody of each beat or tied somebody of the other (Ford 1957).
    When not, no finite ratings fit; `components` are then the groups within which the data do compare, and
    `prior_games` is above 0: every player was given that many tied games against a phantom of average
    strength, and the intervals are the posterior's.

    `tie` is nu (Davidson), nan where ties are half wins. `clusters` counts the
    clusters that the intervals allow for, way by way; `freedom` has the degrees of freedom of Student's t for
    each difference of two ratings, and on the diagonal for each rating, None for the normal. Below 1 nothing
    is claimed: the bounds are nan.
    """

    rating: Floats
    covariance: Floats
    games: Floats
    connected: bool
    components: tuple[tuple[int, ...], ...]
    prior_games: float
    tie: float = float("nan")
    clusters: tuple[int, ...] = ()
    freedom: Floats | None = None
    effects: tuple[CovariateEffect, ...] = ()

    @cached_property
    def error(self) -> Floats:
        """Standard error of each rating, in points."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    @property
    def lower(self) -> Floats:
        return self.rating - self._half_width

    @property
    def upper(self) -> Floats:
        return self.rating + self._half_width

    @cached_property
    def rows(self) -> tuple[RatingRow, ...]:
        """A line for each player, in the order of their numbers."""
        return rows_of(self.rating, self.lower, self.upper, self.games)

    @property
    def _half_width(self) -> Floats:
        wide = Z95 if self.freedom is None else t_quantile(0.95, np.diag(self.freedom))
        return np.asarray(wide * self.error)


def fit_duels(history: Duels, *, ties: Ties = "half") -> BradleyTerry:
    """Ratings of players after a history: weights count in the ratings and, squared, in the intervals. Where
    no finite ratings fit the data there is a prior (see `BradleyTerry`); a player without games is then rated
    1500 or near it, with a wide interval. One player alone is 1500 exactly."""
    return fit_tally(tally(history), ties=ties)


@one_thread
def fit_tally(counted: PairTally, *, ties: Ties = "half") -> BradleyTerry:
    """As `fit_duels`, from a tally."""
    solved = solve(counted, ties)
    if solved.prior:
        covariance = solved.inverse
    else:
        covariance = _sandwich(solved.inverse, _meat(solved))
        covariance = floored(covariance[: counted.players, : counted.players], *model_variance(solved))
    return solved.table(covariance)


def model_variance(solved: Solution) -> tuple[Floats, Floats]:
    """Each strength's variance were every game as informative as in the model, and the games behind it."""
    counted = solved.counted
    n, sums = counted.players, [part.sum(axis=0) for part in (counted.weight, counted.square)]
    weight, square = (np.bincount(counted.a, part, n) + np.bincount(counted.b, part, n) for part in sums)
    weight, square = np.maximum(weight, 1e-300), np.maximum(square, 1e-300)
    return np.diag(solved.inverse)[:n] * square / weight, weight**2 / square


@dataclass(frozen=True, eq=False)
class Solution:
    """The top of a likelihood, in log-odds: `strength` of each player, tie parameter `e` (nan without one),
    and the `inverse` of the information there, of the strengths and then `e`."""

    counted: PairTally
    ties: Ties
    strength: Floats
    e: float
    inverse: Floats
    prior: float
    components: tuple[tuple[int, ...], ...]
    likelihood: Likelihood

    @property
    def information(self) -> Floats:
        """That of the data."""
        return self._information(0.0)

    @property
    def posterior(self) -> Floats:
        """The information with the prior, or with the mean held."""
        return held(self._information(self.prior), self.counted.players, self.prior)

    def _information(self, prior: float) -> Floats:
        place = np.append(self.strength, self.e)
        return _information(self.counted, self.likelihood, place, prior, not np.isnan(self.e))

    def scatter(self, weight: Floats) -> Floats:
        """Sum of weight * score scoreᵀ over outcomes, `weight` of shape (3, pairs)."""
        slope = self.likelihood
        return _matrix(
            self.counted,
            (weight * slope.d**2).sum(axis=0),
            (weight * slope.d * slope.e).sum(axis=0),
            float((weight * slope.e**2).sum()),
            not np.isnan(self.e),
        )

    def table(
        self, covariance: Floats, clusters: tuple[int, ...] = (), freedom: Floats | None = None
    ) -> BradleyTerry:
        """The table, from the covariance of strengths (and `e`) in log-odds."""
        n = self.counted.players
        around = covariance[:n, :n] * POINTS**2
        if n:
            around -= around.mean(axis=0)
            around -= around.mean(axis=1)[:, None]
        return BradleyTerry(
            rating=1500 + (self.strength - self.strength.mean() if n else self.strength) * POINTS,
            covariance=around,
            games=self.counted.games(),
            connected=len(self.components) <= 1,
            components=self.components,
            prior_games=self.prior,
            tie=float(np.exp(self.e)),
            clusters=clusters,
            freedom=None if freedom is None else freedom[:n, :n],
        )


def solve(counted: PairTally, ties: Ties) -> Solution:
    """Climb the likelihood by Newton's method, with the prior where no finite top exists."""
    if ties not in MODELS:
        raise ValueError(f"ties is {ties!r}: expected one of {', '.join(MODELS)}")
    components = strong_components(counted.beats(ties == "half"))
    prior = PRIOR_GAMES if len(components) > 1 else 0.0
    tied = float(counted.weight[TIE].sum() / max(counted.weight.sum(), 1e-300))
    # nothing or everything tied: the tie parameter has no finite estimate, and says nothing about strengths
    model: Ties = ties if 0 < tied < 1 else "half"
    n = counted.players
    free = model != "half"
    place = np.append(_guess(counted), 0.0)
    place[n] = first_guess(tied) if free else 0.0
    step = np.zeros(n + 1)
    value = -np.inf
    for _ in range(200):
        attempt = place + step
        slope = MODELS[model](attempt[counted.a] - attempt[counted.b], attempt[n])
        reached = float((counted.weight * slope.value).sum()) + log_prior(attempt[:n], prior)
        if not reached >= value - 1e-10 * abs(value):
            step = step / 2
            continue
        place, value = attempt, reached
        information = held(_information(counted, slope, place, prior, free), n, prior)
        gradient = _gradient(counted, slope, place, prior)
        step = np.zeros(n + 1)
        step[: n + free] = np.linalg.solve(information, gradient[: n + free])
        del information  # of thousands of players it is large
        if np.abs(step).max() < 1e-7:  # the next one would be its square
            place = place + step
            break
    e = float(place[n]) if free else np.nan
    return Solution(
        counted=counted,
        ties=model,
        strength=place[:n],
        e=e,
        inverse=inverse_of(_information(counted, slope, place, prior, free), n, prior),
        prior=prior,
        components=components,
        likelihood=slope,
    )


def _guess(counted: PairTally) -> Floats:
    """Strengths to start from: the log-odds of each player's points."""
    points = counted.weight[WIN] + counted.weight[TIE] / 2
    met = counted.weight.sum(axis=0)
    n, a, b = counted.players, counted.a, counted.b
    won = np.bincount(a, points, n) + np.bincount(b, met - points, n)
    lost = np.bincount(a, met - points, n) + np.bincount(b, points, n)
    guess = np.log((won + 0.5) / (lost + 0.5))
    return np.asarray(guess - guess.mean() if n else guess)


def _meat(solved: Solution) -> Floats:
    """The covariance of the likelihood's slope: each game's squared residual, and what its leverage hides. A
    fit draws towards each game by the part h of it, its leverage: a squared residual is short by h times the
    game's variance, which the model adds back. A lone game, whose residual says nothing, so keeps a
    variance."""
    counted = solved.counted
    n = counted.players
    variance = np.diag(solved.inverse)[:n]
    between = variance[counted.a] + variance[counted.b] - 2 * solved.inverse[counted.a, counted.b]
    squares = counted.square.sum(axis=0)
    each = squares / np.maximum(counted.weight.sum(axis=0), 1e-300)
    curve = -solved.likelihood.dd[0]
    hidden = curve * squares * np.minimum(curve * each * between, 1.0)
    none = np.zeros(len(hidden))
    free = not np.isnan(solved.e)
    return solved.scatter(counted.square) + _matrix(counted, hidden, none, 0.0, free)


def log_prior(strength: Floats, games: float) -> float:
    """Log-likelihood of `games` ties of each player against a phantom of strength 0."""
    if not games:
        return 0.0
    return -games / 2 * float((np.logaddexp(0, strength) + np.logaddexp(0, -strength)).sum())


def _gradient(counted: PairTally, slope: Likelihood, place: Floats, prior: float) -> Floats:
    n = counted.players
    pull = (counted.weight * slope.d).sum(axis=0)
    gradient = np.zeros(n + 1)
    gradient[:n] = np.bincount(counted.a, pull, n) - np.bincount(counted.b, pull, n)
    gradient[:n] += prior * (0.5 - 1 / (1 + np.exp(-place[:n])))
    gradient[n] = (counted.weight * slope.e).sum()
    return gradient


def _information(counted: PairTally, slope: Likelihood, place: Floats, prior: float, free: bool) -> Floats:
    weight = counted.weight
    information = _matrix(
        counted,
        -(weight * slope.dd).sum(axis=0),
        -(weight * slope.de).sum(axis=0),
        -float((weight * slope.ee).sum()),
        free,
    )
    if prior:
        alone = 1 / (1 + np.exp(-place[: counted.players]))
        information[range(len(alone)), range(len(alone))] += prior * alone * (1 - alone)
    return information


def _matrix(counted: PairTally, dd: Floats, de: Floats, ee: float, free: bool) -> Floats:
    """The matrix of a quadratic form in the strengths and, if `free`, the tie parameter."""
    n, a, b = counted.players, counted.a, counted.b
    matrix = np.zeros((n + free, n + free))
    matrix[a, b] = matrix[b, a] = -dd
    matrix[range(n), range(n)] = np.bincount(a, dd, n) + np.bincount(b, dd, n)
    if free:
        matrix[:n, n] = matrix[n, :n] = np.bincount(a, de, n) - np.bincount(b, de, n)
        matrix[n, n] = ee
    return matrix


def held(information: Floats, n: int, prior: float) -> Floats:
    """The information, changed in place, with the mean of strengths held, else free without a prior."""
    if not prior and n:
        information[:n, :n] += _hold(information, n)
    return information


def _hold(information: Floats, n: int) -> float:
    return max(float(np.trace(information[:n, :n])) / n, 1e-300) / n


def inverse_of(information: Floats, n: int, prior: float) -> Floats:
    """The inverse, in place, within the differences of the first `n` parameters when there is no prior."""
    hold = _hold(information, n) if n else 0.0
    inverse = _inverted(held(information, n, prior))
    if not prior and n:
        inverse[:n, :n] -= 1 / (n * n * hold)
    return inverse


def _inverted(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, of a large one block by block in its own place."""
    size = len(matrix)
    if size <= _BLOCK:
        return np.asarray(np.linalg.inv(matrix))
    for start in range(0, size, _BLOCK):
        own = slice(start, min(start + _BLOCK, size))
        pivot = np.linalg.inv(matrix[own, own])
        row, column = pivot @ matrix[own], matrix[:, own].copy()
        column[own] = 0.0
        for at in range(0, size, _BLOCK):
            matrix[at : at + _BLOCK] -= column[at : at + _BLOCK] @ row
        matrix[own] = row
        matrix[:, own] = -column @ pivot
        matrix[own, own] = pivot
    return matrix


def _sandwich(bread: Floats, meat: Floats) -> Floats:
    """bread · meat · bread, both symmetric, in little more room than it takes itself."""
    covariance = np.empty_like(bread)
    for start in range(0, len(bread), _BLOCK):
        part = slice(start, start + _BLOCK)
        covariance[:, part] = bread @ (meat @ bread[:, part])
    return covariance
