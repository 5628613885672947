"""Shares of wins over several games: what they are of, and how often their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from bench.overall import Case, arena

from peerage.ratings.history import duels
from peerage.ratings.kernels import Floats
from peerage.ratings.overall import UNKNOWN, GameHistory, Shares, combined, shares


def everybody_meets(players: int, times: int, better: Floats) -> GameHistory:
    """Duels of every two players, of which the first wins the share `better` says of so many."""
    first, second = np.triu_indices(players, 1)
    won = np.round(times * better[first, second])
    score = np.concatenate([np.repeat([1.0, 0.0], [int(n), times - int(n)]) for n in won])
    return GameHistory(duels(players, first.repeat(times), second.repeat(times), score))


def test_in_a_game_where_all_meet_alike_the_share_is_that_of_wins() -> None:
    better = np.full((4, 4), 0.75)
    found = shares(everybody_meets(4, 8, better))
    assert found.share == pytest.approx([0.75, 7 / 12, 5 / 12, 0.25])


def test_whom_one_met_does_not_matter() -> None:
    """Both beat the same player as often, and the second one only ever met the weakest of all besides."""
    rng = np.random.default_rng(1)
    strength = np.array([1.0, 1.0, -1.0, -3.0])
    first = np.repeat([0, 0, 1, 1, 2], [900, 100, 100, 900, 1000])
    second = np.repeat([2, 3, 2, 3, 3], [900, 100, 100, 900, 1000])
    score = (rng.random(len(first)) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(float)
    won = [score[first == player].mean() for player in (0, 1)]
    assert won[1] - won[0] > 0.05  # what a count of wins says
    found = shares(GameHistory(duels(4, first, second, score)))
    assert abs(found.share[0] - found.share[1]) < 0.03


def test_no_game_moves_a_player_by_more_than_its_part() -> None:
    order = np.triu(np.ones((4, 4)), 1)
    certain = everybody_meets(4, 200, order)  # the better one always wins: ratings would have no bounds
    luck = everybody_meets(4, 200, np.full((4, 4), 0.5))
    both = combined([shares(certain, 2), shares(luck, 2)], [1, 1])
    assert both.share == pytest.approx([0.75, 7 / 12, 5 / 12, 0.25], abs=0.01)
    weighed = combined([shares(certain, 2), shares(luck, 2)], [3, 1])
    assert weighed.share == pytest.approx([7 / 8, 5 / 8, 3 / 8, 1 / 8], abs=0.01)


def test_errors_of_games_add_up_as_squares_and_one_that_compares_not_everybody_is_told() -> None:
    one = Shares(np.array([0.6, 0.4]), np.diag([0.04, 0.04]))
    other = Shares(np.array([0.5, 0.5]), np.diag([0.01, 0.01]), connected=False)
    assert combined([one, other], [3, 1]).error == pytest.approx((9 / 16 * 0.04 + 1 / 16 * 0.01) ** 0.5)
    assert [combined(some, [1] * len(some)).connected for some in ([one, other], [one, one])] == [False, True]


def test_of_a_game_that_somebody_has_not_played_nothing_is_known() -> None:
    first, second = np.repeat([0, 0, 1], 20), np.repeat([1, 2, 2], 20)
    score = np.tile([1.0, 1.0, 1.0, 0.0], 15)
    found = shares(GameHistory(duels(4, first, second, score)), games=5)
    assert found.share[3] == pytest.approx(0.5, abs=0.05)
    assert found.error[3] == pytest.approx(UNKNOWN)
    assert (found.error[:3] < 0.2).all()


@pytest.mark.parametrize("results", [6, 50])
def test_of_two_players_the_error_is_that_of_a_mean(results: int) -> None:
    """Of so many results with one degree of freedom less: what ties are lent for it makes it no narrower."""
    found = shares(GameHistory(duels(2, [0] * results, [1] * results, [1.0, 0.0] * (results // 2))))
    assert found.error == pytest.approx((0.25 / (results - 1)) ** 0.5)


def test_seven_wins_of_seven_leave_doubt() -> None:
    found = shares(GameHistory(duels(2, [0] * 7, [1] * 7, [1.0] * 7)), games=10)
    assert found.share[0] > 0.97
    assert 0.08 < found.error[0] < 0.2


@pytest.mark.parametrize(
    "case", [Case(3, 30, (2,), 2.5), Case(10, 7, (2,), 1.0), Case(10, 20, (2, 4, 8), 2.0)]
)
def test_intervals_of_the_overall_share_hold(case: Case) -> None:
    rng = np.random.default_rng(5)
    held = [arena(case, rng) for _ in range(60)]
    assert np.mean([one.overall for one in held]) > 0.91  # 95% but for chance, of 480 intervals
    assert np.mean([one.single for one in held]) > 0.9
    assert np.mean([one.wrong for one in held]) < 0.1  # at most 5% but for chance
