"""What every rating method returns to those who print a table: rows and ranks."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.student import quantile

POINTS = 400 / np.log(10)  # rating points in one unit of log-odds
Z95 = 1.959963984540054  # two-sided 95% of a normal
_DRAWS = 1000
_MANY = 500  # players from which on Bonferroni's bound is hardly wider than drawn quantiles
_OF_NONE = 3.0  # about -log(5%): where none of n games was decided, this many of n may be


@dataclass(frozen=True, slots=True)
class Row:
    """One player's line.

    `lower` and `upper` bound the rating at 95%. `rank` is 1 for the best, shared by equal ratings.
    `mu` and `sigma` are the method's own scale, where it has one.
    """

    player: int
    rating: float
    lower: float
    upper: float
    rank: int
    games: float
    mu: float | None = None
    sigma: float | None = None


def known(bounds: Floats) -> list[float | None]:
    """Bounds as plain numbers, None for nan, where nothing is claimed."""
    return [None if bound != bound else bound for bound in bounds.tolist()]


def ranks(ratings: Floats) -> list[int]:
    """1 for the highest; equal ratings share the best of their ranks."""
    ordered = np.sort(-ratings)
    return [int(rank) + 1 for rank in np.searchsorted(ordered, -ratings, side="left")]


def t_quantile(confidence: float, freedom: Floats) -> Floats:
    """`student.quantile` of each of many degrees of freedom, rounded; nan below 1, where nothing is known."""
    whole = np.floor(np.minimum(np.nan_to_num(freedom), 1e6) + 0.5).astype(np.int64)
    known, place = np.unique(whole, return_inverse=True)
    values = [quantile(confidence, one) if one >= 1 else np.nan for one in known.tolist()]
    return np.array(values, np.float64)[place].reshape(whole.shape)


def floored(covariance: Floats, model: Floats, games: Floats, n: int | None = None) -> Floats:
    """A robust covariance, of `n` strengths (all, if not said) against their mean and of further parameters,
    in which no variance is below what so many `games` leave open however alike they ended.

    A sandwich is made of residuals, and games that all end in a draw have none. Where none of n games was
    decided, up to 3/n of such games may be (the rule of three; Hanley and Lippman-Hand, JAMA 1983): a
    variance is at least that part of the `model`'s.
    """
    least = model * np.minimum(1.0, _OF_NONE / np.maximum(games, 1.0))
    short = np.maximum(least - np.diag(covariance), 0.0)
    if not short.any():
        return covariance
    n = len(short) if n is None else n
    short[:n] *= n / max(n - 1, 1)
    wider = covariance.copy()
    wider[range(len(short)), range(len(short))] += short
    against = short[:n] / max(n, 1)  # the mean, which moves too
    wider[:n, :n] -= against
    wider[:n, :n] -= against[:, None]
    wider[:n, :n] += against.mean() if n else 0.0
    return wider


def separated(
    ratings: Floats, covariance: Floats, freedom: Floats | None = None, *, confidence: float = 0.95
) -> np.ndarray:
    """Who is better than whom, beyond doubt: a boolean matrix, [i, j] when i is above j.

    Simultaneous over all pairs: the critical value is the quantile of the largest standardised difference,
    drawn from the joint normal distribution with a fixed seed (Mogstad, Romano, Shaikh, Wilhelm, "Inference
    for Ranks", Review of Economic Studies 2024, sections 3 and 4). With the degrees of `freedom` of each
    difference it is that of Student's t under Bonferroni's bound, which holds for few too; below 1 nobody is
    above anybody. Of more than 500 players the quantile is Bonferroni's too.
    """
    n = len(ratings)
    if n < 2:
        return np.zeros((n, n), bool)
    if n > _MANY and freedom is None:
        return _separated_many(ratings, covariance, confidence)
    spread = np.diag(covariance)
    variance = spread[:, None] + spread[None, :] - 2 * covariance
    known = variance > 1e-12 * max(float(spread.max()), 1e-300)
    error = np.sqrt(np.where(known, variance, np.inf))
    gap = ratings[:, None] - ratings[None, :]
    if freedom is not None:
        each = t_quantile(1 - (1 - confidence) / (n * (n - 1) / 2), freedom)
        return np.asarray(known & (gap > each * np.where(known, error, 0.0)))
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    draws = np.ascontiguousarray((np.random.default_rng(20240229).standard_normal((_DRAWS, n)) @ root.T).T)
    scale, largest = 1 / error, np.zeros(_DRAWS)
    for one in range(n - 1):
        apart = np.abs(draws[one + 1 :] - draws[one])
        apart *= scale[one, one + 1 :, None]
        np.maximum(largest, apart.max(axis=0), out=largest)
    critical = np.quantile(largest, confidence)
    return np.asarray(known & (gap > critical * np.where(known, error, 0.0)))


def _separated_many(ratings: Floats, covariance: Floats, confidence: float) -> np.ndarray:
    """As `separated`, by Bonferroni's bound, row by row: draws of thousands of players take a minute."""
    n, spread = len(ratings), np.diag(covariance)
    critical = NormalDist().inv_cdf(1 - (1 - confidence) / (n * (n - 1)))
    least, above = 1e-12 * max(float(spread.max()), 1e-300), np.empty((n, n), bool)
    for i in range(n):
        variance = spread[i] + spread - 2 * covariance[i]
        above[i] = (variance > least) & (ratings[i] - ratings > critical * np.sqrt(np.maximum(variance, 0.0)))
    return above


def rank_ranges(above: np.ndarray) -> list[tuple[int, int]]:
    """Best and worst rank left open to each player by `separated`'s matrix."""
    n = len(above)
    worse, better = above.sum(axis=1), above.sum(axis=0)
    return [(int(better[i]) + 1, n - int(worse[i])) for i in range(n)]


def rows_of(
    rating: Floats,
    lower: Floats,
    upper: Floats,
    games: np.ndarray,
    mu: Floats | None = None,
    sigma: Floats | None = None,
) -> tuple[Row, ...]:
    """A line for each player, by number."""
    return tuple(
        Row(
            player=i,
            rating=float(rating[i]),
            lower=float(lower[i]),
            upper=float(upper[i]),
            rank=rank,
            games=float(games[i]),
            mu=None if mu is None else float(mu[i]),
            sigma=None if sigma is None else float(sigma[i]),
        )
        for i, rank in enumerate(ranks(rating))
    )
