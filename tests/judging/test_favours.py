"""Planted favours are found and honest pools left alone; the rates are measured by bench.collusion."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from bench.collusion import FRIENDS, HONEST, PLANTED, Case, Pool, measured, scores, votes

from peerage.judging.comparisons import errors, ordered
from peerage.judging.favours import favours
from peerage.judging.marks import Mark, tabled


def found(pool: Pool) -> set[tuple[str, str]]:
    return {(pair.judge, pair.author) for pair in favours(pool.marks).favours if pair.found}


def test_colluders_in_a_tournament_are_found_and_nobody_else() -> None:
    examined = favours(scores(np.random.default_rng(4), 8, 80, bribe=2.5).marks).favours
    assert {(pair.judge, pair.author) for pair in examined if pair.found} == FRIENDS
    assert [pair.found for pair in examined[:2]] == [True, True], "the most suspicious come first"
    assert all(0.1 < pair.excess < 0.8 for pair in examined[:2])
    assert len(examined) == 56, "each of eight judges, each of the seven others"
    assert all(pair.marks == 80 for pair in examined)


@pytest.mark.parametrize("players", [6, 10])
def test_colluders_in_duels_are_found_and_nobody_else(players: int) -> None:
    pools = [votes(np.random.default_rng([4, seed]), players, 60 * players, friends=1.0) for seed in range(4)]
    hits = [found(pool) for pool in pools]
    assert sum(len(hit & FRIENDS) for hit in hits) >= 7
    assert not any(hit - FRIENDS for hit in hits)


def test_who_votes_the_leader_down_is_found_and_not_its_honest_voters() -> None:
    for seed in range(3):
        pool = votes(np.random.default_rng([2, seed]), 10, 700, ring=4)
        assert found(pool) == pool.planted
        assert all(pair.excess < 0 for pair in favours(pool.marks).favours if pair.found)


@pytest.mark.parametrize("seed", [29, 34, 58, 59, 98])
def test_where_the_camps_about_a_leader_are_about_equal_its_honest_voters_are_not_accused(seed: int) -> None:
    pool = votes(np.random.default_rng([2, seed]), 10, 150, spread=0.5, ring=4)
    assert found(pool) <= pool.planted


@pytest.mark.parametrize("spread", [0.1, 1.0])
@pytest.mark.parametrize("once", [False, True])
def test_lazy_and_random_judges_are_named_and_accused_of_nothing(once: bool, spread: float) -> None:
    pool = votes(np.random.default_rng(7), 10, 900, spread=spread, lazy=2, random=1, once=once)
    examined = favours(pool.marks)
    assert not any(pair.found for pair in examined.favours)
    if spread == 1.0:
        assert {"p07", "p08"} <= examined.mute.keys() <= {"p07", "p08", "p09"}
        assert examined.mute["p08"] == ("coin" if once else "alike")
        assert not {pair.judge for pair in examined.favours} & examined.mute.keys()


@pytest.mark.parametrize("questions", [20, 150, 600])
def test_judges_who_love_eight_to_ten_are_accused_of_nothing(questions: int) -> None:
    """A scale that ends at 10 squeezes the best together: the more marks, the surer that looks."""
    for seed in range(3):
        assert not found(scores(np.random.default_rng([5, seed]), 8, questions, generous=3))


def test_a_harsh_judge_says_the_same_as_a_generous_one() -> None:
    marks = scores(np.random.default_rng(3), 6, 40, bribe=2).marks
    harsh = marks.value.copy()
    harsh[marks.judge == 2] = harsh[marks.judge == 2] ** 3 / 1000
    again = favours(type(marks)(*(harsh if part is marks.value else part for part in vars_of(marks))))
    assert again == favours(marks)


def vars_of(marks: object) -> list[object]:
    return [getattr(marks, name) for name in type(marks).__dataclass_fields__]  # type: ignore[attr-defined]


def test_discernment_and_generosity_are_no_favour() -> None:
    """A judge that sees twice the differences others see, and one that gives 3 more."""
    quality = {"a": 4.0, "b": 5.0, "c": 6.0, "d": 8.0}
    rng = Random(3)
    marks = []
    for contest in range(60):
        for author, mean in quality.items():
            good = mean + rng.gauss(0, 1)
            for judge, slope, more in (("x", 2.0, -5.0), ("y", 1.0, 3.0), ("z", 1.0, 0.0)):
                marks.append(Mark(judge, author, str(contest), slope * good + more + rng.gauss(0, 0.3)))
    assert not any(pair.found for pair in favours(tabled(marks)).favours)


def test_too_few_marks_are_not_tested() -> None:
    assert favours(scores(np.random.default_rng(6), 4, 4, bribe=5).marks).favours == []
    assert favours(tabled([])) == ([], {})
    with pytest.raises(ValueError, match="between 0 and 1"):
        favours(tabled([]), level=0)


def test_among_three_judges_nobody_is_out_of_step() -> None:
    pool = votes(np.random.default_rng(3), 6, 900, lazy=2, random=1)
    assert favours(pool.marks).favours == []


def test_judges_of_constant_marks_say_nothing() -> None:
    marks = tabled(Mark(j, a, str(c), 7.0) for j in "xyz" for a in "abc" for c in range(9))
    assert favours(marks) == ([], dict.fromkeys("xyz", "alike"))


def test_orders_are_counted_both_ways() -> None:
    marks = tabled([Mark("x", "a", "1", 9), Mark("x", "b", "1", 7), Mark("x", "c", "1", 7)])
    cells = ordered(marks).all
    assert cells.points[0].tolist() == [[0, 1, 1], [0, 0, 0.5], [0, 0.5, 0]]
    assert cells.games[0].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_errors_go_together_where_judges_copy() -> None:
    pool = votes(np.random.default_rng(1), 8, 400)
    alone = errors(pool.marks)
    copied = tabled(
        Mark(f"{pool.marks.judges[j]}{twin}", pool.marks.authors[a], pool.marks.contests[c], float(v))
        for j, a, c, v in zip(
            pool.marks.judge, pool.marks.author, pool.marks.contest, pool.marks.value, strict=True
        )
        for twin in "xy"
    )
    assert errors(copied).correlation > alone.correlation + 0.05
    assert np.median(alone.discernment) == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("case", HONEST + PLANTED, ids=lambda case: f"{case.about}, {case.plant}")
def test_both_rates(case: Case) -> None:
    rates = measured(case, 20, seed=9)
    assert rates.accused <= 0.2, "5% at most in the long run, give or take as much in twenty pools"
