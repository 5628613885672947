"""TrueSkill: against the `trueskill` package, the published example, and its own rules at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest

from peerage.ratings.columns.compiled import installed
from peerage.ratings.columns.history import Game, as_games, duels, free_for_all, games, merge_seats
from peerage.ratings.sequential import trueskill as ours
from peerage.ratings.sequential import trueskill_kernels as kernels
from peerage.ratings.sequential.trueskill import TrueSkillSettings, TrueSkillTable, rate

SETTINGS = TrueSkillSettings()


def test_microsofts_eight_player_example() -> None:
    """The table of "TrueSkill ranking system: details", Microsoft Research."""
    table = rate(free_for_all(8, [range(8)], [range(8)]), SETTINGS)
    assert table.mu == pytest.approx(
        [36.771, 32.242, 29.074, 26.322, 23.678, 20.926, 17.758, 13.229], abs=5e-4
    )
    assert table.sigma == pytest.approx([5.749, 5.133, 4.943, 4.875, 4.875, 4.943, 5.133, 5.749], abs=5e-4)


def test_a_weight_is_a_power_of_the_message() -> None:
    """Half a win twice, with the first message kept fixed, is a whole one: check the precision directly."""
    still = TrueSkillSettings(tau=0.0)
    start = still.sigma**-2
    whole = rate(as_games(duels(2, [0], [1], [1.0])), still).sigma ** -2.0 - start
    half = rate(as_games(duels(2, [0], [1], [1.0], [0.5])), still).sigma ** -2.0 - start
    none = rate(as_games(duels(2, [0], [1], [1.0], [0.0])), still)
    assert half == pytest.approx(whole / 2)
    assert none.mu.tolist() == [25.0, 25.0]


def test_a_tie_at_draw_probability_zero_means_equal_performances() -> None:
    exact = TrueSkillSettings(draw_probability=0.0, tau=0.0)
    table = rate(as_games(duels(2, [0, 0], [1, 1], [1.0, 0.5])), exact)
    assert table.mu.sum() == pytest.approx(50)
    narrow = TrueSkillSettings(draw_probability=1e-7, tau=0.0)
    assert table.mu == pytest.approx(
        rate(as_games(duels(2, [0, 0], [1, 1], [1.0, 0.5])), narrow).mu, abs=1e-6
    )
    many = rate(games(4, [Game(((0,), (1,), (2,), (3,)), (0, 0, 0, 1))] * 3), exact)
    assert np.isfinite(many.mu).all()
    assert many.mu[3] < 20 < many.mu[:3].min()


@pytest.mark.parametrize("margin", [1e-9, 1e-3, 0.05, 0.7, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("gap", [-25.0, -7.0, -0.3, 0.0, 0.9, 3.0, 25.0])
def test_v_and_w_in_high_precision(margin: float, gap: float) -> None:
    import mpmath

    with mpmath.workdps(60 + int(gap * gap)):
        a, b = mpmath.mpf(margin) - abs(gap), -mpmath.mpf(margin) - abs(gap)
        mass = mpmath.ncdf(a) - mpmath.ncdf(b)
        v = (mpmath.npdf(b) - mpmath.npdf(a)) / mass
        w = v**2 + (a * mpmath.npdf(a) - b * mpmath.npdf(b)) / mass
        x = mpmath.mpf(gap) - margin
        win = mpmath.npdf(x) / mpmath.ncdf(x)
    tie_v, tie_w = kernels.tied(gap, margin)
    assert tie_v == pytest.approx(float(v) * (1 if gap >= 0 else -1), rel=1e-11, abs=1e-14)
    assert tie_w == pytest.approx(float(w), abs=1e-8 if abs(gap) > 6 else 1e-12)
    win_v, win_w = kernels.won(gap - margin)
    assert win_v == pytest.approx(float(win), rel=1e-11)
    assert win_w == pytest.approx(float(win * (win + x)), rel=1e-10, abs=1e-300)


def test_an_upset_beyond_all_measure_stays_finite() -> None:
    known = TrueSkillTable(SETTINGS, np.array([2500.0, -2500.0]), np.ones(2), np.ones(2))
    after = rate(as_games(duels(2, [1], [0], [1.0])), SETTINGS, known)
    assert np.isfinite([*after.mu, *after.sigma]).all()
    assert after.mu[0] < 2500


def test_two_seats_of_one_player_are_merged_or_kept() -> None:
    game = Game(((0,), (1,), (0,), (2,)), (1, 2, 2, 4))
    assert merge_seats(game, "mean") == Game(((0,), (1,), (2,)), (1.5, 2.0, 4.0))
    assert merge_seats(game, "best") == Game(((0,), (1,), (2,)), (1, 2, 4))
    assert merge_seats(game, "each") is game
    kept = rate(games(3, [game], seats="each"), SETTINGS)
    assert kept.games.tolist() == [2, 1, 1]
    assert kept.sigma[0] < kept.sigma[1]


def test_a_share_of_half_says_less_about_a_player() -> None:
    level = TrueSkillSettings(mu=0.0)
    full = rate(games(3, [Game(((0, 1), (2,)), (0, 1))]), level)
    part = rate(games(3, [Game(((0, 1), (2,)), (0, 1), ((1.0, 0.5), (1.0,)))]), level)
    assert 0 < part.mu[1] < full.mu[1]
    assert part.sigma[1] > full.sigma[1]


def test_rows_are_sorted_by_mu_less_k_sigma() -> None:
    history = duels(3, [0, 0, 0, 1], [1, 1, 1, 2], [1.0, 1.0, 1.0, 0.5])
    cautious, bold = rate(as_games(history), SETTINGS), rate(as_games(history), TrueSkillSettings(k=0.0))
    row = cautious.rows[0]
    assert row.rating == pytest.approx(row.mu - 3 * row.sigma)  # type: ignore[operator]
    assert bold.rows[0].rating == bold.mu[0]
    assert (row.rank, row.games) == (1, 3)
    assert row.lower < row.mu < row.upper  # type: ignore[operator]


def test_numbers_of_players_may_come_as_decimals_as_tables_have_them() -> None:
    played = free_for_all(3, np.array([[2.0, 0.0, 1.0]]), [[3, 1, 2]])
    assert played.seat.tolist() == [0, 1, 2]
    assert rate(played, SETTINGS).rows == rate(free_for_all(3, [[2, 0, 1]], [[3, 1, 2]]), SETTINGS).rows


def test_history_continues_where_it_stopped() -> None:
    rng = np.random.default_rng(9)
    seated = np.stack([rng.permutation(5)[:3] for _ in range(40)])
    ranks = rng.integers(0, 3, (40, 3))
    whole = rate(free_for_all(5, seated, ranks), SETTINGS)
    half = rate(free_for_all(5, seated[:20], ranks[:20]), SETTINGS)
    rest = rate(free_for_all(5, seated[20:], ranks[20:]), SETTINGS, half)
    assert rest.mu == pytest.approx(whole.mu, abs=1e-12)
    assert rest.games.tolist() == whole.games.tolist()


@pytest.mark.skipif(not installed(), reason="Numba is not installed")
def test_numba_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    seated = np.stack([rng.permutation(9)[:4] for _ in range(100)])
    played = free_for_all(9, seated, rng.integers(0, 4, (100, 4)))
    plain = rate(played, SETTINGS)
    monkeypatch.setattr(ours, "_LONG_GAMES", 1)
    assert rate(played, SETTINGS).mu == pytest.approx(plain.mu, abs=1e-10)


def test_nothing_played() -> None:
    assert rate(games(2, []), SETTINGS).mu.tolist() == [25.0, 25.0]
    assert rate(games(0, []), SETTINGS).rows == ()
    assert rate(games(1, []), SETTINGS).rows[0].rank == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: games(2, [Game(((0,),), (1,))]), "game 0 has 1 teams"),
        (lambda: games(2, [Game(((0,), (1,)), (1,))]), "2 teams and 1 ranks"),
        (lambda: games(2, [Game(((0,), (1,)), (1, math.nan))]), "rank that is not a number"),
        (lambda: games(2, [Game(((0,), (2,)), (1, 2))]), "names player 2: there are 2"),
        (lambda: games(2, [Game(((0,), ()), (1, 2))]), "a team without players"),
        (lambda: games(2, [Game(((0, 1), (0,)), (1, 2))]), "seats a player twice"),
        (lambda: games(2, [Game(((0,), (1,)), (1, 2), ((1.0,), (-1.0,)))]), "a share of -1.0"),
        (lambda: games(2, [Game(((0,), (1,)), (1, 2), None, -1.0)]), "weight -1.0"),
        (lambda: duels(2, [0], [0], [1.0]), "row 0: a player meets itself"),
        (lambda: duels(2, [0, 0], [1, 1], [1.0, math.nan]), "row 1: score"),
        (lambda: duels(2, [0], [1], [1.0], [-1.0]), "row 0: weight"),
        (lambda: duels(2, [0], [1, 0], [1.0]), "different lengths"),
        (lambda: free_for_all(3, [[0, 3]], [[0, 1]]), "row 0: a player is not from 0 to 2"),
        (lambda: TrueSkillSettings(beta=0), "beta is 0"),
        (lambda: TrueSkillSettings(draw_probability=1.0), "draw_probability is 1.0"),
    ],
)
def test_bad_input_is_named(make: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]
