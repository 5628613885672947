"""Errors where results hang together: little is claimed from few clusters, and none is dropped in silence."""

from __future__ import annotations

import numpy as np
import pytest
from bench.clusters import equals

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.regression import fit_clustered, fit_covariates


def repeated(score: list[float], times: int) -> tuple[Duels, np.ndarray]:
    """Three players meeting in turn, each result recorded `times` times over, and the label of each."""
    number = np.arange(len(score) * times) // times
    pair = number % 3
    return duels(3, pair, (pair + 1) % 3, np.repeat(score, times)), number


def test_below_ten_clusters_nothing_is_claimed() -> None:
    history, judge = equals(np.random.default_rng(1), "judges", 5, 9)
    table = fit_clustered(history, judge)
    assert np.isnan(table.lower).all()
    assert np.isnan(table.upper).all()


def test_clusters_count_where_a_player_never_loses() -> None:
    won = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0] * 6  # the first player never loses
    alone, numbers = repeated(won, 1)
    tenfold, labels = repeated(won, 10)
    plain, seen = fit_duels(tenfold), fit_clustered(tenfold, labels)
    assert not plain.connected
    assert seen.clusters == (36,)
    narrow, wide = plain.upper - plain.lower, seen.upper - seen.lower
    assert (wide[1:] > 1.2 * narrow[1:]).all()
    contrast = np.array([0, 1, -1])  # these two beat each other, in a dozen clusters
    assert contrast @ seen.covariance @ contrast > 6 * contrast @ plain.covariance @ contrast
    z = np.random.default_rng(2).normal(size=len(tenfold))
    assert fit_covariates(tenfold, z, ["z"], clusters=[labels]).clusters == (36,)
    assert (fit_clustered(alone, numbers).error >= 0.99 * fit_duels(alone).error).all()


def test_two_ways_of_clustering_add_up() -> None:
    rng = np.random.default_rng(5)
    judge, question = np.divmod(np.arange(20 * 40), 40)
    first = rng.integers(0, 4, 40)[question]
    second = (first + rng.integers(1, 4, 40)[question]) % 4
    lean = rng.normal(0, 1.5, (20, 4))[judge, first] + rng.normal(0, 1.5, (40, 4))[question, first]
    history = duels(4, first, second, (rng.random(800) < 1 / (1 + np.exp(-lean))).astype(float))
    one, two = fit_clustered(history, judge), fit_clustered(history, question)
    both = fit_clustered(history, judge, question)
    assert both.clusters == (20, 40)
    assert (both.error >= np.maximum(one.error, two.error) * 0.999).all()
    assert (both.error <= np.hypot(one.error, two.error) * 1.001).all()
    with pytest.raises(ValueError, match="3 ways of clustering"):
        fit_clustered(history, judge, question, first)
