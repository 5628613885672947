"""Rows and ranks that every rating method returns to those who print a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from peerage.ratings.kernels import Floats
from peerage.ratings.student import quantile

POINTS = 400 / np.log(10)  # rating points in one unit of log-odds
Z95 = 1.959963984540054  # two-sided 95% of a normal
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
