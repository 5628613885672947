"""Elo's error in closed form, against histories that are played again and again."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.arrays import Floats
from peerage.ratings.sequential.elo import DuelResult, EloSettings, fold
from peerage.ratings.sequential.elo_error import elo_error
from peerage.ratings.table import POINTS

PLAIN = EloSettings(propagation_width=None)
TRUTH = np.array([1750.0, 1600.0, 1500.0, 1420.0, 1230.0])


def meetings(*, each: int, players: int = 5) -> Floats:
    """Everybody meets everybody `each` times."""
    return np.full((players, players), float(each)) - np.diag([float(each)] * players)


def replayed(each: int, settings: EloSettings, times: int) -> tuple[Floats, Floats]:
    """Ratings against their mean over many plays of the same duels in other orders; what our errors are on
    average."""
    rng = np.random.default_rng(7)
    first, second = np.nonzero(np.triu(meetings(each=1)))
    pairs = np.repeat(np.stack([first, second], axis=1), each, axis=0)
    ratings, errors = [], []
    for _ in range(times):
        a, b = rng.permutation(pairs).T
        wins = rng.random(len(a)) < 1 / (1 + 10 ** ((TRUTH[b] - TRUTH[a]) / 400))
        results = [
            DuelResult(x, y, float(win), 1.0, 1.0)
            for x, y, win in zip(a.tolist(), b.tolist(), wins.tolist(), strict=True)
        ]
        state = fold(5, results, settings)
        raw = np.array(state.raw)
        found = elo_error(raw, meetings(each=each), settings, np.array(state.cost))
        ratings.append(raw - raw.mean())
        errors.append(found.error)
    return np.array(ratings), np.mean(errors, axis=0)


@pytest.mark.parametrize("settings", [PLAIN, EloSettings(), EloSettings(k_factor=8, propagation_share=0.2)])
@pytest.mark.parametrize("each", [4, 20])
def test_ratings_of_duels_played_again_scatter_as_stated(settings: EloSettings, each: int) -> None:
    ratings, error = replayed(each, settings, 80)
    scatter = ratings.std(axis=0, ddof=1)
    assert (scatter < 1.2 * error).all(), "never much more than stated"
    assert scatter.mean() == pytest.approx(error.mean(), rel=0.3)


def test_without_propagation_it_is_the_exponential_of_the_laplacian() -> None:
    """The stationary covariance of a filter of gain K is K · 400 / (2 ln 10), reached as exp(-2 B)."""
    met = meetings(each=30)
    found = elo_error(TRUTH, met, PLAIN)
    chance = 1 / (1 + 10 ** ((TRUTH[None, :] - TRUTH[:, None]) / 400))
    weight = met * chance * (1 - chance)
    values, vectors = np.linalg.eigh(np.diag(weight.sum(axis=1)) - weight)
    fading = np.exp(-2 * 16 / POINTS * np.maximum(values, 0))
    assert found.covariance == pytest.approx((vectors * 16 * POINTS / 2 * (1 - fading)) @ vectors.T, abs=0.01)
    assert found.togo == pytest.approx((vectors * np.sqrt(fading)) @ vectors.T, abs=1e-5)


def test_long_histories_settle_at_a_known_error() -> None:
    found = elo_error(np.full(5, 1500.0), meetings(each=100_000), PLAIN)
    assert found.error == pytest.approx(np.sqrt(16 * POINTS / 2 * 0.8))  # ⅘: against the mean of five
    assert found.settled == pytest.approx(1)


def test_who_has_hardly_played_has_not_settled() -> None:
    met = meetings(each=200)
    met[4, :] = met[:, 4] = 0.0
    met[4, 0] = met[0, 4] = 1.0
    found = elo_error(np.array([1700.0, 1600.0, 1500.0, 1200.0, 1508.0]), met, PLAIN)
    assert found.settled[4] < 0.03
    assert found.settled[:4].min() > 0.9


@pytest.mark.parametrize("players", [0, 2, 3])
def test_without_duels_nothing_is_known_and_nothing_fails(players: int) -> None:
    found = elo_error(np.full(players, 1500.0), np.zeros((players, players)), EloSettings())
    assert found.error.tolist() == [0.0] * players
    assert found.settled == pytest.approx(np.zeros(players))


def test_ratings_may_lie_as_far_apart_as_they_like() -> None:
    met = meetings(each=3, players=2)
    found = elo_error(np.array([-1e6, 1e6]), met, EloSettings(k_factor=1000, propagation_width=0.001))
    assert np.isfinite(found.covariance).all()


def test_meetings_are_symmetric() -> None:
    with pytest.raises(ValueError, match="expected a symmetric matrix of 2 players"):
        elo_error(np.zeros(2), np.array([[0.0, 1.0], [2.0, 0.0]]), PLAIN)
