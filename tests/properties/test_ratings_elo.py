"""Laws of the arena's Elo, whatever the history."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerage.ratings.sequential.elo import DuelResult, EloSettings, extend, fold
from peerage.ratings.sequential.elo_kernels import expected

COST = st.one_of(st.none(), st.floats(0, 1e6))
DUEL = st.builds(
    lambda pair, score, x, y: DuelResult(*pair, score, x, y),
    st.permutations(range(5)).map(lambda order: order[:2]),
    st.sampled_from([0.0, 0.5, 1.0]),
    COST,
    COST,
)
SETTINGS = st.builds(
    EloSettings,
    propagation_width=st.sampled_from([None, 1.0, 50.0]),
    propagation_share=st.sampled_from([0.0, 0.5, 1.0]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(DUEL, max_size=30), SETTINGS, st.integers(0, 30))
def test_a_history_may_be_cut_anywhere(duels: list[DuelResult], constants: EloSettings, cut: int) -> None:
    whole = fold(5, duels, constants)
    assert fold(5, duels[cut:], constants, fold(5, duels[:cut], constants)) == whole


@settings(max_examples=60, deadline=None)
@given(st.lists(DUEL, max_size=30), SETTINGS)
def test_ratings_stay_finite_and_raw_ones_keep_their_mean_without_propagation(
    duels: list[DuelResult], constants: EloSettings
) -> None:
    state = fold(5, duels, constants)
    assert all(abs(rating) < 5000 for rating in state.raw + state.cost)
    if constants.propagation_width is None or constants.propagation_share == 0:
        assert sum(state.raw) == pytest.approx(7500)
        priced = sum(one.cost_a is not None and one.cost_b is not None for one in duels)
        sunk = priced * constants.k_factor * constants.cost_sensitivity
        assert sum(state.cost) == pytest.approx(7500 - sunk)


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_expected_scores_sum_to_one_and_rise(own: float, other: float) -> None:
    assert expected(own, other) + expected(other, own) == pytest.approx(1)
    assert expected(own + 1, other) >= expected(own, other)
    assert expected(own, other) == pytest.approx(1 / (1 + 10 ** ((other - own) / 400)), rel=1e-12, abs=1e-300)


def test_a_newcomer_changes_nobody_until_it_plays() -> None:
    constants = EloSettings(propagation_width=None)
    duels = [DuelResult(0, 1, 1.0, 0.1, 0.2)] * 5
    assert extend(fold(2, duels, constants), 3, constants) == fold(3, duels, constants)
    assert extend(fold(0, (), constants), 2, constants) == fold(2, (), constants)


def test_a_short_history_never_loads_numba() -> None:
    program = (
        "import sys\n"
        "from peerage.ratings import methods\n"
        "from peerage.ratings.sequential import elo, glicko2, trueskill\n"
        "settings = elo.EloSettings()\n"
        "elo.fold(3, [elo.DuelResult(0, 1, 1.0, 0.1, 0.2)] * 50, settings)\n"
        "trueskill.rate(trueskill.games(2, [trueskill.Game(((0,), (1,)), (0, 1))] * 50), "
        "trueskill.TrueSkillSettings())\n"
        "assert not {'numba', 'scipy', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
