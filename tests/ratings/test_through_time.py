"""Ratings through time: against the whole posterior climbed at once, and on a player who improves."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings import through_time as ours
from peerage.ratings.compiled import installed
from peerage.ratings.history import Duels, duels
from peerage.ratings.table import POINTS
from peerage.ratings.through_time import fit


def history() -> tuple[Duels, np.ndarray]:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 4, 120)
    second = (first + rng.integers(1, 4, 120)) % 4
    return duels(4, first, second, rng.choice([0, 0.5, 1], 120)), np.repeat(np.arange(12.0), 10)


def test_it_is_the_top_of_the_posterior() -> None:
    played, time = history()
    paths = fit(played, time, drift=40, spread=300)
    assert paths.settled
    place = {
        (p, t): i for i, (p, t) in enumerate(zip(paths.player.tolist(), paths.time.tolist(), strict=True))
    }
    strength = (paths.rating - 1500) / POINTS
    slope = np.zeros(len(strength))
    for a, b, s, t in zip(played.first.tolist(), played.second.tolist(), played.score, time, strict=True):
        x, y = place[a, t], place[b, t]
        left = s - 1 / (1 + np.exp(strength[y] - strength[x]))
        slope[x] += left
        slope[y] -= left
    for i in range(len(strength)):
        if i == 0 or paths.player[i] != paths.player[i - 1]:
            slope[i] -= strength[i] / (300 / POINTS) ** 2
        else:
            pull = (strength[i] - strength[i - 1]) / (
                (40 / POINTS) ** 2 * (paths.time[i] - paths.time[i - 1])
            )
            slope[i] -= pull
            slope[i - 1] += pull
    assert slope == pytest.approx(np.zeros(len(slope)), abs=1e-5)


def test_a_player_who_improves_is_seen_to() -> None:
    rng = np.random.default_rng(0)
    time = np.repeat(np.arange(20.0), 30)
    truth = np.linspace(-1, 1, 20)[time.astype(int)]
    score = (rng.random(600) < 1 / (1 + np.exp(-truth))).astype(float)
    times, rating, lower, upper = fit(duels(2, [0] * 600, [1] * 600, score), time).of(0)
    assert len(times) == 20
    assert rating[-1] - rating[0] > 100
    assert (lower < rating).all()
    assert (rating < upper).all()


def test_without_drift_it_is_one_strength() -> None:
    played, time = history()
    still = fit(played, time, drift=1e-3, spread=2000)
    assert np.ptp(still.of(1)[1]) < 0.1


def test_the_variance_is_the_diagonal_of_the_inverse() -> None:
    paths = fit(duels(2, [0, 0], [1, 1], [1, 0]), [0, 1], drift=100, spread=300)
    gap = (paths.rating[0] - paths.rating[2]) / POINTS
    curve = 1 / (2 + np.exp(gap) + np.exp(-gap))
    link = (POINTS / 100) ** 2
    matrix = np.array([[curve + link + (POINTS / 300) ** 2, -link], [-link, curve + link]])
    assert paths.error[0] == pytest.approx(np.sqrt(np.linalg.inv(matrix)[0, 0]) * POINTS, rel=1e-3)


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = fit(*history()).rating
    monkeypatch.setattr(ours, "_LONG", 1)
    assert fit(*history()).rating == pytest.approx(plain, abs=1e-6)


def test_nothing_and_nonsense() -> None:
    assert len(fit(duels(2, [], [], []), []).rating) == 0
    with pytest.raises(ValueError, match="1 finite times"):
        fit(duels(2, [0], [1], [1]), [np.nan])
    with pytest.raises(ValueError, match="drift is 0"):
        fit(duels(2, [0], [1], [1]), [0], drift=0)
