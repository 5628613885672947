"""Planted colluders are found and honest pools left alone; the rates are measured by bench.collusion."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from bench.collusion import CASES, PLANTED, Case, measured, scores, votes
from hypothesis import given
from hypothesis import strategies as st

from peerage.judging.collusion import benjamini_hochberg, favours, without_replacement
from peerage.judging.marks import Mark, tabled
from peerage.judging.residuals import of_ratings, of_votes


def test_benjamini_hochberg_as_published() -> None:
    """The example of the paper's section 3.2: 15 p-values, of which 4 are rejected at 0.05."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p += [0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    adjusted = benjamini_hochberg(p)
    assert sum(q <= 0.05 for q in adjusted) == 4
    assert adjusted[0] == pytest.approx(0.0015)
    assert adjusted[3] == pytest.approx(0.0095 * 15 / 4)
    assert adjusted[-1] == 1
    assert benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_adjusting_keeps_the_order_and_lowers_nothing(p: list[float]) -> None:
    adjusted = benjamini_hochberg(p)
    assert all(mine <= q + 1e-12 <= 1 + 1e-9 for mine, q in zip(p, adjusted, strict=True))
    ranked = [q for _, q in sorted(zip(p, adjusted, strict=True))]
    assert ranked == sorted(ranked)


def test_colluders_in_a_tournament_are_found_and_nobody_else() -> None:
    pairs = favours(scores(np.random.default_rng(4), 6, 40, 2.5), permutations=300)
    assert {(pair.judge, pair.author) for pair in pairs if pair.found} == PLANTED
    assert [pair.found for pair in pairs[:2]] == [True, True], "the most suspicious come first"
    assert all(1.5 < pair.excess < 3.5 for pair in pairs[:2])
    assert len(pairs) == 30, "each of six judges, each of the five others"
    assert all(pair.marks == 40 for pair in pairs)


def test_colluders_in_duels_are_found_and_nobody_else() -> None:
    pairs = favours(votes(np.random.default_rng(4), 8, 300, 0.9), of_votes, permutations=300)
    assert {(pair.judge, pair.author) for pair in pairs if pair.found} == PLANTED


def test_every_choice_without_replacement_is_as_likely_as_any_other() -> None:
    drawn = without_replacement(5, (60_000, 3), np.random.default_rng(1))
    counts = np.bincount(drawn @ [25, 5, 1], minlength=125)
    assert (counts > 0).sum() == 60, "the orders of three of five"
    assert ((counts[counts > 0] - 1000) ** 2 / 1000).sum() < 77.9, "5 % of χ² with 59 degrees"
    everything = without_replacement(40, (7, 40), np.random.default_rng(1))
    assert (np.sort(everything, axis=1) == np.arange(40)).all()


def test_where_parts_of_many_marks_are_drawn_chance_is_even() -> None:
    """Each of twelve judges gave some two thousand marks, of which an author got a tenth or less."""
    pairs = favours(votes(np.random.default_rng(4), 12, 2500, 0.5), of_votes)
    assert {(pair.judge, pair.author) for pair in pairs if pair.found} == PLANTED
    honest = sorted(pair.p for pair in pairs if not pair.found)
    even = [(at + 0.5) / len(honest) for at in range(len(honest))]
    assert max(abs(p - at) for p, at in zip(honest, even, strict=True)) < 1.36 / len(honest) ** 0.5, "5 %"


def test_honest_pools_are_left_alone() -> None:
    assert not any(pair.found for pair in favours(scores(np.random.default_rng(5), 6, 40, 0)))
    pairs = favours(votes(np.random.default_rng(5), 8, 300, 0), of_votes, permutations=300)
    assert not any(pair.found for pair in pairs)


def test_discernment_and_generosity_are_no_favour() -> None:
    """A judge that sees twice the differences others see, and one that gives 3 more, are modelled exactly."""
    quality = {"a": 4.0, "b": 5.0, "c": 6.0, "d": 8.0}
    rng = Random(3)
    marks = []
    for contest in range(60):
        for author, mean in quality.items():
            good = mean + rng.gauss(0, 1)
            for judge, slope, more in (("x", 2.0, -5.0), ("y", 1.0, 3.0), ("z", 1.0, 0.0)):
                given = slope * good + more + rng.gauss(0, 0.3)
                marks.append(Mark(judge, author, str(contest), given))
    table = tabled(marks)
    left, _ = of_ratings(table)(np.zeros((3, 4), np.bool_))
    for cell in range(12):
        own = left[table.judge * 4 + table.author == cell]
        assert abs(own.mean()) < 0.35, "0.3 is what a slope's error makes"
    assert not any(pair.found for pair in favours(table, permutations=300))


def test_too_few_marks_are_not_tested_and_the_seed_decides() -> None:
    marks = scores(np.random.default_rng(6), 4, 4, 5)
    assert favours(marks) == []
    assert favours(tabled([])) == []
    assert favours(tabled([]), of_votes) == []
    more = scores(np.random.default_rng(6), 4, 12, 1)
    assert favours(more, seed=1) == favours(more, seed=1) != favours(more, seed=2)
    with pytest.raises(ValueError, match="between 0 and 1"):
        favours(more, level=0)


def test_judges_of_constant_marks_accuse_nobody() -> None:
    marks = tabled(Mark(j, a, str(c), 7.0) for j in "xyz" for a in "abc" for c in range(9))
    assert not any(pair.found for pair in favours(marks))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.about}, {case.bribe}")
def test_both_rates(case: Case) -> None:
    rates = measured(case.pool, case.model, 20, case.planted, seed=9)
    assert rates.false_share < 0.25, "some 5 % in the long run, give or take as much in twenty pools"
    if case.bribe in ("+2 points", "100% of votes"):
        assert rates.found > 0.6
