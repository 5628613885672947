"""Item response theory on simulated answers, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.fits.irt import fit


def simulated(
    players: int, challenges: int, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    theta, b = rng.normal(size=players), rng.normal(scale=1.2, size=challenges)
    a = np.exp(rng.normal(scale=0.4, size=challenges))
    chance = 1 / (1 + np.exp(-a * (theta[:, None] - b)))
    return (rng.random((players, challenges)) < chance).astype(float), theta, b, a


def test_it_finds_what_was_simulated() -> None:
    answers, theta, b, a = simulated(600, 60)
    fitted = fit(answers)
    assert fitted.settled
    assert np.corrcoef(fitted.ability, theta)[0, 1] > 0.93
    assert np.corrcoef(fitted.difficulty, b)[0, 1] > 0.98
    assert np.corrcoef(np.log(fitted.discrimination), np.log(a))[0, 1] > 0.85
    held = np.abs(fitted.ability - theta) < 1.96 * fitted.ability_error
    assert 0.92 < held.mean() < 0.98
    held = np.abs(fitted.difficulty - b) < 1.96 * fitted.difficulty_error
    assert held.mean() > 0.85


def test_abilities_of_few_players_allow_for_challenges_hardly_known() -> None:
    """Each challenge is told by five players: without its own error the intervals held 87%."""
    held = []
    for seed in range(40):
        answers, theta, *_ = simulated(5, 40, seed=seed)
        fitted = fit(answers)
        held.append((np.abs(fitted.ability - theta) < 1.96 * fitted.ability_error).mean())
    assert 0.91 < np.mean(held) < 0.99


def test_girth_agrees_where_there_is_much_data() -> None:
    import girth

    answers, *_ = simulated(800, 10, seed=3)
    theirs = girth.twopl_mml(answers.T.astype(int))
    ours = fit(answers, spread_difficulty=50.0, spread_discrimination=50.0)
    assert ours.discrimination == pytest.approx(theirs["Discrimination"], abs=0.02)
    assert ours.difficulty == pytest.approx(theirs["Difficulty"], abs=0.02)


def test_what_was_not_attempted_says_nothing() -> None:
    answers, *_ = simulated(60, 20)
    answers[3], answers[:, 7] = np.nan, np.nan
    answers[5, 2] = np.nan
    fitted = fit(answers)
    assert fitted.ability[3] == pytest.approx(0, abs=1e-9)
    assert fitted.ability_error[3] == pytest.approx(1, abs=1e-3)
    assert fitted.difficulty[7] == pytest.approx(0, abs=1e-6)
    assert fitted.discrimination[7] == pytest.approx(1, abs=1e-6)
    assert fitted.answers[5] == 18


def test_all_solved_and_none_solved_stay_finite() -> None:
    fitted = fit([[1, 0, 1], [1, 0, 0], [1, 0, 0.5]])
    assert np.isfinite([*fitted.ability, *fitted.difficulty, *fitted.discrimination]).all()
    assert fitted.difficulty[0] < fitted.difficulty[2] < fitted.difficulty[1]
    assert fitted.rows[0].rank == 1
    assert fit(np.empty((0, 0))).rows == ()


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="player 0, challenge 1: answer is 2"):
        fit([[1, 2]])
    with pytest.raises(ValueError, match="expected \\(players, challenges\\)"):
        fit([1, 0])
    with pytest.raises(ValueError, match="above 0"):
        fit([[1.0]], spread_difficulty=0)
