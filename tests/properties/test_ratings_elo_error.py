"""Laws of Elo's error, whatever was played."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.ratings.sequential.elo import EloSettings
from peerage.ratings.sequential.elo_error import elo_error

PLAYERS = 4
ratings = st.lists(st.floats(500, 2500), min_size=PLAYERS, max_size=PLAYERS).map(np.array)
settings = st.builds(
    EloSettings,
    k_factor=st.floats(0.5, 64),
    propagation_width=st.none() | st.floats(1, 500),
    propagation_share=st.floats(0, 1),
)


@st.composite
def meetings(draw: st.DrawFn) -> np.ndarray:
    upper = np.zeros((PLAYERS, PLAYERS))
    for i in range(PLAYERS):
        for j in range(i + 1, PLAYERS):
            upper[i, j] = draw(st.integers(0, 2000))
    return upper + upper.T


@given(rating=ratings, met=meetings(), settings=settings)
def test_it_is_a_covariance_of_ratings_against_their_mean(
    rating: np.ndarray, met: np.ndarray, settings: EloSettings
) -> None:
    found = elo_error(rating, met, settings)
    scale = 1e-6 * max(1.0, float(np.abs(found.covariance).max()))
    assert np.isfinite(found.covariance).all()
    assert np.abs(found.covariance.sum(axis=0)).max() < scale
    assert np.linalg.eigvalsh(found.covariance).min() > -scale
    assert ((found.settled >= 0) & (found.settled <= 1)).all()


@given(rating=ratings, met=meetings(), settings=settings, order=st.permutations(range(PLAYERS)).map(np.array))
def test_whom_we_count_first_changes_nothing(
    rating: np.ndarray, met: np.ndarray, settings: EloSettings, order: np.ndarray
) -> None:
    one = elo_error(rating, met, settings)
    other = elo_error(rating[order], met[np.ix_(order, order)], settings)
    assert other.error == pytest.approx(one.error[order], rel=1e-6, abs=1e-6)


@given(rating=ratings, met=meetings(), shift=st.floats(-1000, 1000))
def test_only_differences_of_ratings_count(rating: np.ndarray, met: np.ndarray, shift: float) -> None:
    settings = EloSettings()
    moved = elo_error(rating + shift, met, settings)
    assert moved.error == pytest.approx(elo_error(rating, met, settings).error, rel=1e-6, abs=1e-6)
