"""Bradley-Terry from single rows: covariates (length, style, cost), and intervals clustered by challenge or
judge.

A covariate is what differs between the two answers of a duel: how much longer the first one is, say. Fitted
together with the ratings it takes up what it explains, and the ratings are what is left: "style control" (Li,
Angelopoulos, Chiang, "Does style matter?", LMSYS 2024). A tie is half a win each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.blas import one_thread
from peerage.ratings.columns.history import Duels
from peerage.ratings.columns.merging import Merged, coded, merged
from peerage.ratings.columns.tally import PairTally, tally
from peerage.ratings.fits.bradley_terry import BradleyTerry, CovariateEffect, Solution, held, log_prior, solve
from peerage.ratings.fits.clusters import Curves, Sums, clustered, quadratic
from peerage.ratings.fits.tie_models import Ties
from peerage.ratings.table import POINTS, t_quantile


class Confounded(ValueError):
    """A covariate, by `name`, adds nothing to what the players and earlier covariates explain."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} cannot be told apart from the players and the other covariates: leave it out"
        )
        self.name = name


_FAR = 0.3  # log-odds; a shorter Newton step of a logistic likelihood always climbs


@one_thread
def fit_clustered(history: Duels, *clusters: ArrayLike, ties: Ties = "half") -> BradleyTerry:
    """Ratings as `fit_duels`, with intervals that allow results of one cluster to hang together. `clusters`
    are one or two columns of labels (challenges, judges); see `clusters`. With fewer than ten labels in a
    column nothing is claimed."""
    solved = solve(tally(history), ties)
    labels = _labels(history, clusters)
    short = merged(history, [2 * history.score], labels)
    estimate = clustered(
        short.history,
        _row_curves(solved, short.history),
        short.labels,
        solved.information,
        solved.posterior,
        solved.prior > 0,
    )
    return solved.table(estimate.covariance, estimate.counts, estimate.freedom)


def fit_covariates(
    history: Duels, covariates: ArrayLike, names: Sequence[str], *, clusters: Sequence[ArrayLike] = ()
) -> BradleyTerry:
    """Ratings with the covariates held equal. `covariates` has shape (rows, names), the first player's
    advantage. `effects` of the table say what one unit of each adds. Raises ValueError for a value that is
    not finite, and for covariates that the players, or each other, explain completely."""
    z = np.ascontiguousarray(covariates, np.float64)
    z = z if z.ndim == 2 else z.reshape(-1, 1)
    if z.shape[1] != len(names):
        raise ValueError(f"there are {z.shape[1]} covariates and {len(names)} names")
    if not np.isfinite(z).all():
        row, column = np.argwhere(~np.isfinite(z))[0]
        raise ValueError(f"row {row}: {names[column]} is {z[row, column]}, expected a finite number")
    labels = _labels(history, clusters) or [np.arange(len(history))]  # each row stands for itself
    table = fit_merged(tally(history), merged(history, list(z.T), labels), names)
    return table if len(clusters) else replace(table, clusters=())


@one_thread
def fit_merged(counted: PairTally, short: Merged, names: Sequence[str]) -> BradleyTerry:
    """As `fit_covariates`, from merged rows, which have labels of clusters, and the tally of all rows."""
    solved = solve(counted, "half")
    n, m = counted.players, len(names)
    few, columns = short.whatever_label()
    rows = (few.first, few.second, columns, few.score, few.weight)
    place = np.concatenate([solved.strength, np.zeros(m)])
    step: Floats = np.zeros(n + m)
    chance, gradient, sums = _climb(*rows, place[:n], place[n:])
    information = np.zeros((n + m, n + m))
    for _ in range(200):
        before = chance
        attempt = place + step
        if step.any():
            chance, gradient, sums = _climb(*rows, attempt[:n], attempt[n:])
        if np.abs(step).max(initial=0.0) > _FAR:
            value = _value(few, before) + log_prior(place[:n], solved.prior)
            reached = _value(few, chance) + log_prior(attempt[:n], solved.prior)
            if not reached >= value - 1e-10 * abs(value):
                step, chance = step / 2, before
                continue
        place = attempt
        information = quadratic(*sums)
        if solved.prior:
            alone = 1 / (1 + np.exp(-place[:n]))
            information[range(n), range(n)] += solved.prior * alone * (1 - alone)
            gradient[:n] += solved.prior * (0.5 - alone)
        step = np.asarray(
            np.linalg.solve(_checked(held(information.copy(), n, solved.prior), n, names), gradient)
        )
        if np.abs(step).max(initial=0.0) < 1e-7:
            place = place + step
            break
    few, fz = short.history, short.columns
    gap = place[few.first] - place[few.second] + fz @ place[n:]
    chance = 1 / (1 + np.exp(-np.clip(gap, -700.0, 700.0)))
    d, dd = few.weight * (few.score - chance), few.weight * chance * (1 - chance)
    curves = Curves(d, d[:, None] * fz, dd, dd[:, None] * fz, (dd[:, None] * fz, fz))
    posterior = held(information, n, solved.prior)
    covariance, freedom, counts = clustered(
        few, curves, short.labels, quadratic(*sums), posterior, solved.prior > 0
    )
    wide = t_quantile(0.95, np.diag(freedom)[n:])
    error = wide * np.sqrt(np.maximum(np.diag(covariance)[n:], 0))
    effects = tuple(
        CovariateEffect(name, at * POINTS, (at - by) * POINTS, (at + by) * POINTS)
        for name, at, by in zip(names, place[n:].tolist(), error.tolist(), strict=True)
    )
    table = replace(solved, strength=place[:n]).table(covariance, counts, freedom)
    return replace(table, effects=effects)


def _climb(
    first: Ints,
    second: Ints,
    covariates: Floats,
    score: Floats,
    weight: Floats,
    strength: Floats,
    effect: Floats,
) -> tuple[Floats, Floats, Sums]:
    """The first player's chance in each row, the slope of the log-likelihood, and the sums of its curvature.
    The slope is by strength, then by effect."""
    n = len(strength)
    gap = strength[first] - strength[second] + covariates @ effect
    chance = 1.0 / (1.0 + np.exp(-np.minimum(np.maximum(gap, -700.0), 700.0)))
    residual = weight * (score - chance)
    pull = np.bincount(first, residual, n) - np.bincount(second, residual, n)
    slope = np.concatenate((pull, covariates.T @ residual))
    curve, cross = weight * chance * (1.0 - chance), np.zeros((n, covariates.shape[1]))
    for k, column in enumerate(covariates.T):
        cross[:, k] = np.bincount(first, curve * column, n) - np.bincount(second, curve * column, n)
    pair = np.bincount(first * n + second, curve, n * n).reshape(n, n).astype(np.float64)
    return chance, slope, (pair, cross, covariates.T @ (covariates * curve.reshape(-1, 1)))


def _labels(history: Duels, clusters: Sequence[ArrayLike]) -> list[Ints]:
    """The columns of labels as numbers."""
    for labels in clusters:
        if len(np.asarray(labels)) != len(history):
            raise ValueError(f"there are {len(np.asarray(labels))} cluster labels and {len(history)} rows")
    return [coded(labels)[1] for labels in clusters]


def _value(history: Duels, chance: Floats) -> float:
    likely = history.score * np.log(np.maximum(chance, 1e-300))
    return float(history.weight @ (likely + (1 - history.score) * np.log(np.maximum(1 - chance, 1e-300))))


def _row_curves(solved: Solution, history: Duels) -> Curves:
    """Each row's part in the likelihood, by difference of strengths and by tie parameter."""
    counted = solved.counted
    pair = np.full((history.players, history.players), -1)
    pair[counted.a, counted.b] = np.arange(len(counted.a))
    turned = history.first > history.second
    at = pair[np.minimum(history.first, history.second), np.maximum(history.first, history.second)]
    score = np.where(turned, 1 - history.score, history.score)
    outcome = np.where(score == 1, 0, np.where(score == 0, 1, 2))
    sign, weight = np.where(turned, -1.0, 1.0), history.weight
    free = int(not np.isnan(solved.e))
    _, d, e, dd, de, ee = [part[outcome, at] * weight for part in solved.likelihood]
    columns = [column.reshape(-1, 1)[:, :free] for column in (e, -sign * de, -ee)]
    return Curves(sign * d, columns[0], -dd, columns[1], (columns[2], np.ones_like(columns[2])))


def contrast(a: Floats, b: Floats) -> Floats:
    """(a - b) / (a + b) of amounts, as in style control, else a - b; one standard deviation is 1."""
    if (a >= 0).all() and (b >= 0).all():
        gap = (a - b) / np.where(a + b > 0, a + b, 1.0)
    else:
        gap = a - b
    spread = float(gap.std())
    return np.asarray(gap / spread if spread > 0 else gap)


def distinct(short: Merged, least: float) -> np.ndarray:
    """Return which columns of merged rows keep at least that share of their information once the players, and
    the earlier of them, have taken theirs: where too little is left, a fit moves the ratings by chance."""
    history, columns = short.whatever_label()
    n, m = history.players, columns.shape[1]
    nobody = (np.zeros(n), np.zeros(m))
    rows = (history.first, history.second, columns, history.score, history.weight)
    information = quadratic(*_climb(*rows, *nobody)[2])
    information = held(information, n, 0.0)
    information[range(n), range(n)] += 1e-12 * max(float(np.trace(information)), 1e-300)  # groups apart
    kept = list(range(n))
    for k in range(n, n + m):
        if _adds(information, kept, k, least):
            kept.append(k)
    return np.isin(np.arange(n, n + m), kept)


def _adds(information: Floats, before: Sequence[int], k: int, least: float = 1e-9) -> bool:
    """Return whether parameter `k` keeps more than that share of its information next to those `before`."""
    row, own = information[before, k], information[k, k]
    left = own - row @ np.linalg.solve(information[np.ix_(before, before)], row) if before else own
    return bool(left > least * own)


def _checked(information: Floats, n: int, names: Sequence[str]) -> Floats:
    """The information, unless a covariate adds nothing that players and earlier covariates do not explain."""
    for k, name in enumerate(names):
        if not _adds(information, range(n + k), n + k):
            raise Confounded(name)
    return information
