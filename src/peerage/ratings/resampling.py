"""Bootstrap intervals for Bradley-Terry: by rows, or by whole clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.blas import one_thread
from peerage.ratings.bradley_terry import PRIOR_GAMES, BradleyTerry, Solution, model_variance, solve
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.regression import fit_clustered
from peerage.ratings.table import POINTS, Z95, floored, t_quantile
from peerage.ratings.tally import LOSS, TIE, WIN, PairTally, tally
from peerage.ratings.tie_models import Ties

_NEAR = 1e-5  # log-odds: a five-hundredth of a rating point


@one_thread
def bootstrap(
    history: Duels,
    *,
    draws: int = 200,
    seed: int = 0,
    ties: Ties = "half",
    clusters: Sequence[ArrayLike] = (),
    prior_games: float = PRIOR_GAMES,
) -> BradleyTerry:
    """Ratings with percentile intervals from `draws` resampled histories.

    The Bayesian bootstrap (Rubin, Annals of Statistics 1981): each row, or each whole label of up to two
    columns of `clusters`, gets an exponential weight instead of a number of times that it is drawn (a row the
    product of its labels': Owen and Eckles, Annals of Applied Statistics 2012). A resampled history so never
    falls apart into players who cannot be compared. Few clusters, and players whom only the prior compares,
    vary too little in it: the draws are spread to the error of `fit_clustered`, and to no less than that of
    `fit_duels` under a prior. With fewer than ten clusters nothing is claimed.
    """
    if draws < 2:
        raise ValueError(f"draws is {draws}: expected 2 or more")
    rng = np.random.default_rng(seed)
    counted = tally(history)
    solved = solve(counted, ties, prior_games)
    base = fit_clustered(history, *clusters, ties=ties, prior_games=prior_games) if clusters else None
    codes = [np.unique(np.asarray(labels), return_inverse=True)[1] for labels in clusters]
    alike = not codes and (counted.weight is counted.count or bool((history.weight == 1).all()))
    ratings = np.empty((draws, history.players))
    for draw in range(draws):
        if alike:
            count = rng.standard_gamma(counted.count)  # the sum of so many exponential weights
            again = PairTally(counted.players, counted.a, counted.b, count, count, count)
        else:
            times = np.ones(len(history)) if codes else rng.standard_exponential(len(history))
            for code in codes:
                times = times * rng.standard_exponential(int(code.max(initial=-1)) + 1)[code]
            again = tally(
                Duels(history.players, history.first, history.second, history.score, history.weight * times)
            )
        strength = _near(solved, again) if solved.ties == "half" and not solved.prior else None
        if strength is None:
            strength = solve(again, ties, prior_games).strength
        ratings[draw] = strength - strength.mean() if len(strength) else strength
    ratings = 1500 + ratings * POINTS
    spread = np.cov(ratings, rowvar=False).reshape(history.players, history.players) / POINTS**2
    if base is None:
        covariance = solved.inverse if solved.prior else floored(spread, *model_variance(solved))
        base = solved.table(covariance)
    if np.abs(spread).max(initial=0.0) < 1e-12:  # whatever is drawn of games that all ended alike is alike
        return base
    if not clusters and not solved.prior:
        return replace(base, draws=ratings)
    wide = np.ones(1) if base.freedom is None else t_quantile(0.95, np.diag(base.freedom)) / Z95
    own = np.sqrt(np.diag(spread)) * POINTS
    scale = wide * base.error / np.where(own > 0, own, np.inf)
    return replace(base, draws=base.rating + (ratings - base.rating) * scale)


def _near(solved: Solution, again: PairTally) -> Floats | None:
    """The top of a resampled likelihood, by the original inverse; None if it is not near."""
    if len(again.a) != len(solved.counted.a):
        return None
    points = again.weight[WIN] + again.weight[TIE] / 2
    met = points + again.weight[LOSS] + again.weight[TIE] / 2
    strength = solved.strength
    last = np.inf
    for _ in range(30):
        step = solved.inverse @ _slope(again.a, again.b, points, met, strength)
        size = float(np.abs(step).max(initial=0.0))
        if not size < last:
            return None
        strength = strength + step
        if size < _NEAR:
            return strength
        last = size
    return None


def _slope(a: Ints, b: Ints, points: Floats, met: Floats, strength: Floats) -> Floats:
    """Slope of the likelihood in each strength: points of `a` in `met` games with `b`, less expected."""
    n = len(strength)
    pull = points - met / (1.0 + np.exp(strength[b] - strength[a]))
    return np.asarray(np.bincount(a, pull, n) - np.bincount(b, pull, n))
