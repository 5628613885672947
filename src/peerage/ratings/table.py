"""Rows and ranks that every rating method returns to those who print a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from peerage.ratings.arrays import Floats

_EXACT = 60  # degrees of freedom; beyond, the expansion is exact to nine digits


@cache
def quantile(confidence: float, freedom: int) -> float:
    """The two-sided quantile at `confidence`, between 0 and 1, of Student's t with `freedom` degrees from 1.
    Up to 60 degrees from the distribution itself (Abramowitz and Stegun 26.7.3 and 26.7.4), beyond by Cornish
    and Fisher's expansion (26.7.5)."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if freedom > _EXACT:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + math.fsum([term / math.pow(freedom, power) for power, term in enumerate(terms, 1)])
    low, high = 0.0, math.pi / 2  # of the angle whose tangent is t / sqrt(freedom)
    for _ in range(80):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """The chance of a t between -sqrt(freedom) tan(angle) and its opposite."""
    odd = freedom % 2
    term = math.sin(angle) * (math.cos(angle) if odd else 1.0)
    parts = [term] if freedom > 1 else []
    for power in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        parts.append(term)
    total = math.fsum(parts)
    return (angle + total) * 2 / math.pi if odd else total


POINTS = 400 / np.log(10)  # rating points in one unit of log-odds
Z95 = 1.959963984540054  # two-sided 95% of a normal
_OF_NONE = 3.0  # about -log(5%): where none of n games was decided, this many of n may be


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One player's line. `lower` and `upper` bound the rating at 95%. `rank` is 1 for the best, shared by
    equal ratings. `mu` and `sigma` are the method's own scale, where it has one."""

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
    values = [quantile(confidence, freedom) if freedom >= 1 else np.nan for freedom in known.tolist()]
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


def rows_of(
    rating: Floats,
    lower: Floats,
    upper: Floats,
    games: np.ndarray,
    mu: Floats | None = None,
    sigma: Floats | None = None,
) -> tuple[RatingRow, ...]:
    """A line for each player, by number."""
    return tuple(
        RatingRow(
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
