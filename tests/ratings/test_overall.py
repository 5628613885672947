"""Shares of wins over several games: what they are of, and how often their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from bench.overall import Case, arena

from peerage.ratings.arrays import Floats
from peerage.ratings.columns.history import duels
from peerage.ratings.overall import combined, shares_of
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.pooling import pooled
from peerage.ratings.strength.posterior import strengths


def everybody_meets(players: int, times: int, better: Floats) -> Evidence:
    """Duels of every two players, of which the first wins the share `better` says of so many."""
    first, second = np.triu_indices(players, 1)
    won = np.round(times * better[first, second])
    score = np.concatenate([np.repeat([1.0, 0.0], [int(n), times - int(n)]) for n in won])
    return of_duels(duels(players, first.repeat(times), second.repeat(times), score))


def test_whom_one_met_does_not_matter() -> None:
    """Both beat the same player as often, and the second one only ever met the weakest of all besides."""
    rng = np.random.default_rng(1)
    strength = np.array([1.0, 1.0, -1.0, -3.0])
    first = np.repeat([0, 0, 1, 1, 2], [900, 100, 100, 900, 1000])
    second = np.repeat([2, 3, 2, 3, 3], [900, 100, 100, 900, 1000])
    score = (rng.random(len(first)) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(float)
    won = [score[first == player].mean() for player in (0, 1)]
    assert won[1] - won[0] > 0.05  # what a count of wins says
    found = shares_of(strengths(of_duels(duels(4, first, second, score)), seed=1).draws)
    assert abs(found.share[0] - found.share[1]) < 0.03


def test_no_game_moves_a_player_by_more_than_its_part() -> None:
    order = np.triu(np.ones((4, 4)), 1)
    certain = everybody_meets(4, 200, order)  # the better one always wins: ratings would have no bounds
    luck = everybody_meets(4, 200, np.full((4, 4), 0.5))
    each = [shares_of(strengths(one, seed=1).draws) for one in (certain, luck)]
    assert combined(each, [1, 1]).share == pytest.approx([0.75, 7 / 12, 5 / 12, 0.25], abs=0.01)
    assert combined(each, [3, 1]).share == pytest.approx([7 / 8, 5 / 8, 3 / 8, 1 / 8], abs=0.01)


def test_of_a_game_that_somebody_has_not_played_little_is_known() -> None:
    first, second = np.repeat([0, 0, 1], 20), np.repeat([1, 2, 2], 20)
    game = of_duels(duels(4, first, second, np.tile([1.0, 1.0, 1.0, 0.0], 15)))
    lower, upper = shares_of(pooled([game], seed=1)[0].draws).bounds
    wide = upper - lower
    assert wide[3] > 2 * wide[:3].max()


@pytest.mark.parametrize(
    "case", [Case(3, 30, (2,), 2.5), Case(10, 7, (2,), 1.0), Case(10, 20, (2, 4, 8), 2.0)]
)
def test_intervals_of_the_overall_share_hold(case: Case) -> None:
    rng = np.random.default_rng(5)
    held = [arena(case, rng) for _ in range(40)]
    assert np.mean([one.overall for one in held]) > 0.91  # 95% but for chance, of 320 intervals
    assert np.mean([one.single for one in held]) > 0.87  # games differ more here than the prior of pooling
