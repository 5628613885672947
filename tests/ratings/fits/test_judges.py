"""Judges of different reliability."""

from __future__ import annotations

import numpy as np
import pytest
from bench import captured

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.fits import judges
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.table import POINTS

TRUTH = np.array([1.0, 0.3, -0.3, -1.0])


def voted(rows: int, seed: int, quality: np.ndarray | None = None, bias: np.ndarray | None = None) -> Duels:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, rows)
    second = (first + rng.integers(1, 4, rows)) % 4
    felt = TRUTH if bias is None else TRUTH + bias
    gap = (felt[first] - felt[second]) * (1.0 if quality is None else quality)
    return duels(4, first, second, (rng.random(rows) < 1 / (1 + np.exp(-gap))).astype(float))


def test_reliabilities_are_found_and_weigh() -> None:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, 6000)
    quality = np.array([1.6, 1.0, 0.0])
    history = voted(6000, 5, quality[code])
    fitted = judges.fit(history, [f"j{c}" for c in code])
    assert fitted.judges == ("j0", "j1", "j2")
    assert fitted.reliability[0] > fitted.reliability[1] + 0.2 > fitted.reliability[2] + 0.5
    ratio = fitted.reliability[0] / fitted.reliability[1]
    assert ratio == pytest.approx(1.6, abs=0.35)
    assert abs(fitted.reliability[2]) < 3 * fitted.reliability_error[2] + 0.1
    plain = fit_duels(history)
    shape = (fitted.rating - 1500) / np.ptp(fitted.rating)
    assert (
        np.abs(shape - TRUTH / 2).max()
        < np.abs((plain.rating - 1500) / np.ptp(plain.rating) - TRUTH / 2).max() + 0.02
    )
    assert [row.rank for row in fitted.rows] == [1, 2, 3, 4]


def test_one_judge_of_reliability_one_is_bradley_terry() -> None:
    history = voted(400, 3)
    fitted = judges.fit(history, ["same"] * 400)
    assert fitted.rating == pytest.approx(fit_duels(history).rating, abs=1e-3)


def test_a_contrary_judge_weighs_nothing() -> None:
    code = np.arange(4000) % 4
    history = voted(4000, 2, np.where(code == 3, -1.0, 1.0))
    fitted = judges.fit(history, [str(c) for c in code])
    assert fitted.reliability[3] < -0.3
    assert fitted.rating.argmax() == 0


def test_judges_need_names_and_comparisons() -> None:
    with pytest.raises(ValueError, match="1 judges and 2 rows"):
        judges.fit(duels(2, [0, 0], [1, 1], [1, 0]), ["j"])
    apart = judges.fit(duels(3, [0], [1], [1]), ["j"])
    assert not apart.connected
    assert np.isfinite(apart.rating).all()
    assert judges.fit(duels(0, [], [], []), []).rows == ()


def test_two_who_praise_each_other_do_not_capture_the_ratings() -> None:
    """Skills differ little, and two of ten judges vote for each other whenever they can."""
    for seed in range(3):
        found = captured.outcome(seed, spread=0.2, ring=False)
        assert abs(found.moved_corrected) < 10 < found.moved
        assert found.tau_corrected > found.tau


def test_the_votes_of_a_match_weigh_as_one_and_intervals_hold() -> None:
    """Panels of five: a fifth of the weight each changes no interval, nor what is known of a judge."""
    rng = np.random.default_rng(4)
    match = np.repeat(np.arange(300), 5)
    judge = [f"j{at}" for at in rng.permuted(np.tile(np.arange(8), (300, 1)), axis=1)[:, :5].ravel()]
    held = []
    for seed in range(20):
        drawn = voted(1500, seed)
        full = judges.fit(drawn, judge, cluster=match)
        fifth = Duels(4, drawn.first, drawn.second, drawn.score, np.full(1500, 0.2))
        light = judges.fit(fifth, judge, cluster=match)
        assert light.error == pytest.approx(full.error, rel=1e-6)
        assert light.reliability == pytest.approx(full.reliability)
        assert light.reliability_error == pytest.approx(full.reliability_error)
        truth = 1500 + TRUTH * POINTS
        held.append(((light.bounds[0] < truth) & (truth < light.bounds[1])).mean())
    assert 0.85 < np.mean(held) < 0.995
