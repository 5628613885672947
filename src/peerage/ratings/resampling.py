"""Bootstrap intervals for Bradley-Terry: by rows, or by whole clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.bradley_terry import PRIOR_GAMES, BradleyTerry, Solution, solve
from peerage.ratings.history import Duels
from peerage.ratings.kernels import Floats
from peerage.ratings.table import POINTS
from peerage.ratings.tally import LOSS, TIE, WIN, Tally, tally
from peerage.ratings.tie_models import Ties


def bootstrap(
    history: Duels,
    *,
    draws: int = 200,
    seed: int = 0,
    ties: Ties = "half",
    cluster: ArrayLike | None = None,
    prior_games: float = PRIOR_GAMES,
) -> BradleyTerry:
    """Ratings with percentile intervals from `draws` resampled histories (Efron 1979).

    Rows are drawn independently, each a Poisson(1) number of times (Chamandy et al., "Estimating
    uncertainty for massive data streams", Google 2012); with `cluster`, whole clusters are drawn with
    replacement. A resampled history in which not everybody can be compared takes the prior, as `fit` does.
    """
    if draws < 2:
        raise ValueError(f"draws is {draws}: expected 2 or more")
    rng = np.random.default_rng(seed)
    counted = tally(history)
    solved = solve(counted, ties, prior_games)
    codes = None if cluster is None else np.unique(np.asarray(cluster), return_inverse=True)[1]
    if codes is not None and len(codes) != len(history):
        raise ValueError(f"there are {len(codes)} cluster labels and {len(history)} rows")
    clusters = 0 if codes is None or not len(codes) else int(codes.max()) + 1
    alike = codes is None and (counted.weight is counted.count or bool((history.weight == 1).all()))
    ratings = np.empty((draws, history.players))
    for draw in range(draws):
        if alike:
            count = rng.poisson(counted.count).astype(np.float64)
            again = Tally(counted.players, counted.a, counted.b, count, count, count)
        else:
            if codes is None:
                times = rng.poisson(1.0, len(history))
            else:
                times = rng.multinomial(clusters, np.full(clusters, 1 / max(clusters, 1)))[codes]
            again = tally(
                Duels(history.players, history.first, history.second, history.score, history.weight * times)
            )
        strength = _near(solved, again) if solved.ties == "half" and not solved.prior else None
        if strength is None:
            strength = solve(again, ties, prior_games).strength
        ratings[draw] = strength - strength.mean() if len(strength) else strength
    ratings = 1500 + ratings * POINTS
    spread = np.cov(ratings, rowvar=False).reshape(history.players, history.players) / POINTS**2
    return solved.table(spread, clusters, ratings)


def _near(solved: Solution, again: Tally) -> Floats | None:
    """The top of a resampled likelihood, by the original inverse; None if it is not near."""
    a, b, n = again.a, again.b, again.players
    points = again.weight[WIN] + again.weight[TIE] / 2
    met = points + again.weight[LOSS] + again.weight[TIE] / 2
    strength = solved.strength
    if len(a) != len(solved.counted.a):
        return None
    last = np.inf
    for _ in range(30):
        pull = points - met / (1 + np.exp(strength[b] - strength[a]))
        step = solved.inverse @ (np.bincount(a, pull, n) - np.bincount(b, pull, n))
        size = float(np.abs(step).max(initial=0.0))
        if not size < last:
            return None
        strength = strength + step
        if size < 1e-6:
            return strength
        last = size
    return None
