"""Results that go round: found where they do, counted as they are, and not where chance makes them."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from peerage.ratings.circles import circles
from peerage.ratings.history import Duels, duels


def history(*met: tuple[int, int, int, int], players: int = 5) -> Duels:
    """Of each (one, other, wins, losses)."""
    rows = [(a, b, 1.0) for a, b, won, _ in met for _ in range(won)]
    rows += [(a, b, 0.0) for a, b, _, lost in met for _ in range(lost)]
    return duels(players, *zip(*rows, strict=True))


def each(of: Duels) -> np.ndarray:
    return np.arange(len(of))


def test_a_circle_is_found_with_its_chance_whichever_way_results_are_written() -> None:
    of = history((0, 3, 14, 2), (1, 3, 2, 15), (1, 0, 13, 1))  # 0 beats 3 beats 1 beats 0
    result = circles(of, each(of))
    (circle,) = result.found
    assert circle.players == (0, 3, 1)
    weakest = max(binom.sf(13, 16, 0.5), binom.sf(14, 17, 0.5), binom.sf(12, 14, 0.5))
    assert circle.p == pytest.approx(2 * weakest), "one three can go round in two ways"
    assert (result.round, result.threes) == (1, 1)


def test_no_circle_where_one_of_the_three_may_be_chance() -> None:
    of = history((0, 3, 14, 2), (1, 3, 2, 15), (1, 0, 8, 6))
    result = circles(of, each(of))
    assert (result.round, result.threes, result.found) == (1, 1, ())


def test_pairs_that_met_too_seldom_to_be_found_cost_no_power() -> None:
    """Twenty others who met once each: all their threes would make the first circle unsure."""
    others = [(a, b, 1, 0) for a, b in combinations(range(3, 23), 2)]
    few = [(0, 1, 9, 0), (1, 2, 9, 0), (2, 0, 9, 0)]
    of = history(*few, *others, players=23)
    assert [one.players for one in circles(of, each(of)).found] == [(0, 1, 2)]
    many = [(a, b, 9, 0) for a, b, _, _ in others]
    of = history(*few, *many, players=23)
    assert not circles(of, each(of)).found, "among as many threes as these nine wins of nine are chance"


def test_votes_of_one_match_count_once() -> None:
    of = history((0, 1, 12, 0), (1, 2, 12, 0), (2, 0, 12, 0), players=3)
    assert circles(of, each(of)).found
    assert not circles(of, each(of) // 4).found, "three matches a pair"


def test_a_match_without_majority_is_not_counted() -> None:
    of = history((0, 1, 1, 1), (1, 2, 1, 0), (2, 0, 1, 0), players=3)
    assert circles(of, np.array([0, 1, 2, 0])).threes == 0


def test_every_circle_is_counted_as_by_hand() -> None:
    rng = np.random.default_rng(2)
    n = 9
    pairs = list(combinations(range(n), 2))
    won = rng.integers(8, size=len(pairs)).tolist()
    met = [(a, b, wins, 7 - wins) for (a, b), wins in zip(pairs, won, strict=True)]
    of = history(*met, players=n)
    ahead = {(a, b) if won > lost else (b, a) for a, b, won, lost in met}
    threes = list(combinations(range(n), 3))
    by_hand = sum(
        {(a, b), (b, c), (c, a)} <= ahead or {(b, a), (c, b), (a, c)} <= ahead for a, b, c in threes
    )
    result = circles(of, each(of))
    assert (result.round, result.threes) == (by_hand, len(threes))
    assert 0 < by_hand < len(threes)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_in_orders_none_is_found_more_often_than_said(spread: float) -> None:
    """Judges of any discernment, pairs met as often as you like: a better player wins more often, no more."""
    false = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        skill = rng.normal(0, spread, 6)
        pairs = [pair for pair in combinations(range(6), 2) for _ in range(30)]
        steep = rng.uniform(0.2, 5, (6, 6))
        chance = np.array([1 / (1 + np.exp(-(skill[a] - skill[b]) * steep[a, b])) for a, b in pairs])
        first, second = np.array(pairs).T
        of = duels(6, first, second, 1.0 * (rng.random(len(pairs)) < chance))
        false += bool(circles(of, each(of)).found)
    assert false <= 5


def test_nobody_met_anybody() -> None:
    of = duels(3, [], [], [])
    assert circles(of, each(of)) == (0, 0, ())
