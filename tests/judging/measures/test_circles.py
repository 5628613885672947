"""Results that go round: found where they do, not by chance, and no judge is blamed for them."""

from itertools import combinations

import numpy as np
import pytest
from tests.judging.gathered import tabled

from peerage.judging.marks.marks import Mark, Marks
from peerage.judging.measures.favours import votes as vote_evidence
from peerage.judging.measures.favours.search import favours
from peerage.judging.measures.favours.votes import circles
from peerage.ratings.columns.history import Duels, duels


def history(*met: tuple[int, int, int, int], players: int = 5) -> Duels:
    """Of each (one, other, wins, losses)."""
    rows = [(a, b, 1.0) for a, b, won, _ in met for _ in range(won)]
    rows += [(a, b, 0.0) for a, b, _, lost in met for _ in range(lost)]
    return duels(players, *zip(*rows, strict=True))


def each(of: Duels) -> np.ndarray:
    return np.arange(len(of))


def test_a_circle_is_found_whichever_way_results_are_written() -> None:
    of = history((0, 3, 14, 2), (1, 3, 2, 15), (1, 0, 13, 1))  # 0 beats 3 beats 1 beats 0
    assert circles(of, each(of)) == [(0, 3, 1)]


def test_no_circle_where_one_of_the_three_may_be_chance() -> None:
    of = history((0, 3, 14, 2), (1, 3, 2, 15), (1, 0, 8, 6))
    assert circles(of, each(of)) == []


def test_pairs_that_met_too_seldom_to_be_found_cost_no_power() -> None:
    """Twenty others who met once each: all their threes would make the first circle unsure."""
    others = [(a, b, 1, 0) for a, b in combinations(range(3, 23), 2)]
    few = [(0, 1, 9, 0), (1, 2, 9, 0), (2, 0, 9, 0)]
    of = history(*few, *others, players=23)
    assert circles(of, each(of)) == [(0, 1, 2)]
    many = [(a, b, 9, 0) for a, b, _, _ in others]
    of = history(*few, *many, players=23)
    assert not circles(of, each(of)), "among as many threes as these nine wins of nine are chance"


def test_votes_of_one_match_count_once() -> None:
    of = history((0, 1, 12, 0), (1, 2, 12, 0), (2, 0, 12, 0), players=3)
    assert circles(of, each(of))
    assert not circles(of, each(of) // 4), "three matches a pair"


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
        false += bool(circles(of, each(of)))
    assert false <= 5


def test_nobody_met_anybody() -> None:
    of = duels(3, [], [], [])
    assert circles(of, each(of)) == []


def going_round(seed: int, players: int = 6, matches: int = 1200) -> Marks:
    """Honest votes of those who do not play, where 0 beats 1, 1 beats 2 and 2 beats 0."""
    rng = np.random.default_rng(seed)
    skill, beats = rng.normal(0, 1, players), {(0, 1), (1, 2), (2, 0)}
    marks = []
    for match in range(matches):
        a, b, *rest = rng.permutation(players).tolist()
        gap = 1.5 if (a, b) in beats else -1.5 if (b, a) in beats else skill[a] - skill[b]
        for judge in rest:
            won = float(rng.random() < 1 / (1 + np.exp(-gap)))
            marks.append(Mark(f"p{judge}", f"p{a}", str(match), won))
            marks.append(Mark(f"p{judge}", f"p{b}", str(match), 1 - won))
    return tabled(marks)


def test_no_honest_judge_is_accused_where_results_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """By all matches seven of twelve such arenas accused an honest judge of favour."""
    pools = [going_round(seed) for seed in (0, 1, 2, 4)]
    assert not any(pair.found for pool in pools for pair in favours(pool).favours)
    monkeypatch.setattr(vote_evidence, "circles", lambda *_: [])
    assert all(any(pair.found for pair in favours(pool).favours) for pool in pools)
