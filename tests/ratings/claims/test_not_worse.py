"""Bets that one player is not worse than another by more than a margin: fair, at every look, and worth it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.ratings.claims.not_worse import (
    ANSWERS,
    HOPELESS,
    PROVEN,
    Bets,
    Lead,
    bets,
    fewest,
    further,
    interval,
)

RUNS = 400
MOST_WRONG = 32
"""Of 400 runs in which 5% may be wrong more are so with a chance of 0.5%."""


def once(values: Sequence[float]) -> list[Lead]:
    """Differences on a task of their own each."""
    return [Lead(str(place), value) for place, value in enumerate(values)]


def in_blocks(values: Sequence[Sequence[float]]) -> list[Lead]:
    """Blocks of the same tasks, one after another."""
    return [Lead(str(task), value) for block in values for task, value in enumerate(block)]


def wrong(runs: Sequence[Bets]) -> tuple[int, int]:
    shown, worse = (sum(found[place] >= PROVEN for found in runs) for place in (0, 1))
    return shown, worse


def test_the_capital_is_the_mean_over_stakes_of_what_they_grow_to() -> None:
    found = bets(once([1.0]), 0.25, single=True)
    shares = np.geomspace(0.25, 0.98, 7)  # each at most 1.3 times the one before
    assert found.shown == pytest.approx(0.85 * (1 + shares * 3).mean() + 0.15 * (1 + 0.98 * 3))
    assert found.worse == 1.0, "a bet that lost is not taken back, and what it once was counts"


def test_parts_of_the_capital_make_one() -> None:
    assert sum(ANSWERS.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("ties", "bound"), [(0.0, 0.4), (0.3, 0.4), (0.6, 0.45), (0.04, 0.06)])
def test_at_the_margin_neither_claim_is_made_more_often_than_allowed(ties: float, bound: float) -> None:
    rng = np.random.default_rng(1)
    chances = [1 - bound - ties / 2, ties, bound - ties / 2]
    runs = rng.choice([0.0, 0.5, 1.0], (RUNS, 500), p=chances).tolist()
    shown, worse = wrong([bets(once(run), bound, single=True) for run in runs])
    assert shown <= MOST_WRONG
    assert worse <= MOST_WRONG
    assert shown + worse > 0, "the bets are worth something"


@pytest.mark.parametrize("alike", [0.0, 0.2, 1.0])
def test_answers_to_one_task_make_no_false_claims_about_tasks_like_it(alike: float) -> None:
    rng, tasks, answers = np.random.default_rng(2), 40, 12
    runs = []
    for _ in range(RUNS):
        share = rng.random(tasks) < 0.4 if alike == 1 else np.full(tasks, 0.4)
        if 0 < alike < 1:
            lent = 1 / alike - 1
            share = rng.beta(0.4 * lent, 0.6 * lent, tasks)
        blocks = (rng.random((answers, tasks)) < share).astype(float).tolist()
        runs.append(bets(in_blocks(blocks), 0.4))
    shown, worse = wrong(runs)
    assert shown <= MOST_WRONG
    assert worse <= MOST_WRONG


def test_answers_that_repeat_each_other_prove_no_more_than_one() -> None:
    few = [[1.0] * 4]
    assert bets(in_blocks(few * 16), 0.4).shown < PROVEN < bets(in_blocks(few * 16), 0.4, single=True).shown
    assert bets(in_blocks(few * 16), 0.4).shown == bets(in_blocks(few), 0.4).shown


def test_more_answers_to_a_task_tell_more_where_they_differ() -> None:
    blocks = [[float((task + block) % 2) for task in range(60)] for block in range(4)]
    assert bets(in_blocks(blocks[:1]), 0.4).shown < PROVEN < bets(in_blocks(blocks), 0.4).shown


def test_about_these_tasks_alone_claims_are_fair_whatever_tasks_differ_in() -> None:
    rng = np.random.default_rng(3)
    share = np.array([0.05] * 8 + [0.95] * 6 + [0.5] * 2)
    bound = float(share.mean())
    runs = []
    for _ in range(RUNS):
        order = [rng.permutation(len(share)) for _ in range(30)]
        values = [float(rng.random() < share[task]) for block in order for task in block]
        runs.append(bets(once(values), bound, single=True))
    shown, worse = wrong(runs)
    assert shown <= MOST_WRONG
    assert worse <= MOST_WRONG


def test_alike_players_are_soon_shown_to_be_no_worse() -> None:
    rng = np.random.default_rng(4)
    runs = rng.choice([0.0, 0.5, 1.0], (100, 500), p=[0.3, 0.4, 0.3]).tolist()
    shown = sum(bets(once(run), 0.4, single=True).shown >= PROVEN for run in runs)
    assert shown >= 95


def test_a_player_that_is_far_worse_is_soon_proven_to_be() -> None:
    rng = np.random.default_rng(5)
    runs = (rng.random((100, 200)) < 0.3).astype(float).tolist()
    found = wrong([bets(once(run), 0.47, single=True) for run in runs])
    assert found[0] == 0
    assert found[1] >= 90


def test_a_wider_margin_and_better_results_show_it_sooner() -> None:
    values = once([0.5, 1.0, 0.5, 0.0] * 10)
    assert bets(values, 0.4).shown > bets(values, 0.45).shown
    assert bets(once([0.5, 1.0, 0.5, 0.5] * 10), 0.45).shown > bets(values, 0.45).shown


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=40),
    st.floats(0.05, 0.95),
)
def test_what_was_shown_at_one_look_is_shown_at_every_later_one(
    played: list[tuple[int, float]], bound: float
) -> None:
    differences = [Lead(str(task), value) for task, value in played]
    looks = [bets(differences[:size], bound) for size in range(len(differences) + 1)]
    assert looks[0] == (1.0, 1.0)
    for earlier, later in itertools.pairwise(looks):
        assert later.shown >= earlier.shown
        assert later.worse >= earlier.worse


@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), max_size=30), st.floats(0.05, 0.95))
def test_the_opposite_of_a_claim_is_the_claim_of_the_other_player(values: list[float], bound: float) -> None:
    there = bets(once(values), bound)
    back = bets(once([1 - value for value in values]), 1 - bound)
    assert there == pytest.approx((back.worse, back.shown))


def test_a_task_of_small_weight_is_a_small_bet() -> None:
    light = [
        Lead("a", 1.0, 1.0),
        Lead("z", 1.0, 1.0),
        *[Lead(task, 0.4, 10.0) for task in "bcdefgh"],
    ]
    heavy = [
        Lead("a", 1.0, 10.0),
        Lead("z", 1.0, 10.0),
        *[Lead(task, 0.4, 1.0) for task in "bcdefgh"],
    ]
    assert bets(light, 0.4).shown < bets(heavy, 0.4).shown
    assert bets(light[:1], 0.4) == bets(heavy[:1], 0.4), "weights are relative"


def test_the_interval_holds_the_mean_at_every_look() -> None:
    rng, missed = np.random.default_rng(6), 0
    for _ in range(100):
        values = rng.choice([0.0, 0.5, 1.0], 120, p=[0.4, 0.3, 0.3]).tolist()
        ends = [interval(once(values[:size]), 0.47, single=True) for size in (10, 30, 60, 120)]
        missed += any(not low <= 0.45 <= high for low, high in ends)
    assert missed <= 10
    assert ends[-1][1] - ends[-1][0] < 0.5


def test_the_interval_and_the_claim_agree() -> None:
    values = once([0.5] * 200)
    low, high = interval(values, 0.45, single=True)
    assert bets(values, low - 0.01, single=True).shown >= PROVEN > bets(values, 0.5, single=True).shown
    assert low < 0.5 < high


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("bound", [0.45, 0.485, 0.4985])
def test_with_fewer_tasks_than_the_fewest_nothing_can_be_shown(bound: float, single: bool) -> None:
    least = fewest(bound, single=single)
    assert bets(once([0.5] * least), bound, single=single).shown >= PROVEN
    assert bets(once([0.5] * (least - 1)), bound, single=single).shown < PROVEN


@pytest.mark.slow
def test_a_forecast_holds_the_number_that_it_then_takes() -> None:
    rng, held = np.random.default_rng(7), 0
    for _ in range(40):
        values = rng.choice([0.0, 0.5, 1.0], 3000, p=[0.25, 0.5, 0.25]).tolist()
        whole = once(values)
        seen, low, high = whole[:30], 30, len(whole)
        while high - low > 1:
            middle = (low + high) // 2
            told = max(bets(whole[:middle], 0.4, single=True)) >= PROVEN
            low, high = (low, middle) if told else (middle, high)
        needed = high - 30
        more = further(seen, 0.4, single=True)
        held += needed == 1 or more.at_least <= needed <= (more.at_most or needed)
    assert held >= 28


def test_a_forecast_of_clear_results_is_short_and_one_at_the_margin_is_open() -> None:
    clear = further(once([0.5] * 20), 0.4, single=True)
    assert clear.about is not None
    assert clear.about < 40
    at_margin = further(once([0.0, 1.0, 0.0, 1.0, 0.0] * 60), 0.4, single=True)
    assert at_margin.at_most is None
    assert at_margin.at_least <= HOPELESS * 300


def test_it_takes_fewer_tasks_where_each_has_many_answers() -> None:
    rng = np.random.default_rng(2)
    blocks = rng.choice([0.0, 0.5, 1.0], (8, 40), p=[0.4, 0.2, 0.4]).tolist()
    few, many = further(in_blocks(blocks[:1]), 0.42), further(in_blocks(blocks), 0.42)
    assert few.about
    assert many.about
    assert many.about < few.about / 3


def test_a_forecast_follows_what_was_seen_where_players_differ_much() -> None:
    values = once([0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.5, 0.0] * 3)
    more = further(values, 0.45, needed=(PROVEN, 4000 * PROVEN), single=True)
    assert more.about is not None
    assert more.about < 60


def test_a_forecast_before_anything_was_played_says_little() -> None:
    more = further([], 0.47)
    assert more.at_least < 1000
    assert more.at_most is None or more.at_most > 1000


def test_more_evidence_is_needed_where_more_claims_are_made() -> None:
    values = once([0.5, 0.5, 1.0, 0.0] * 5)
    alone = further(values, 0.45, single=True)
    of_many = further(values, 0.45, needed=(10 * PROVEN, 10 * PROVEN), single=True)
    assert alone.about
    assert of_many.about
    assert of_many.about > alone.about
    assert fewest(0.45, 10 * PROVEN) > fewest(0.45)


def test_bets_do_not_overflow() -> None:
    found = bets(once([1.0] * 5000), 0.05, single=True)
    assert found.shown == pytest.approx(exp(700))
    assert log(found.shown) <= 700.1
