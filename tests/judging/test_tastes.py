"""Honest judges who differ in taste favour nobody, and blocks that contradict each other are named as such;
the rates are measured by bench.tastes."""

from __future__ import annotations

import numpy as np
import pytest
from bench.collusion import votes
from bench.tastes import HONEST, Drawn, Pool, drawn, measured

from peerage.judging.measures.favours.search import Examined, favours


def made(pool: Pool, seed: int) -> Drawn:
    return drawn(pool, np.random.default_rng([11, seed]))


def examined(pool: Pool, seed: int) -> Examined:
    return favours(made(pool, seed).marks)


TASTES = [
    Pool(10, 10, 5000, 0.5),
    Pool(10, 10, 5000, 0.5, "style"),
    Pool(20, 20, 5000, 0.5, "style"),
    Pool(5, 20, 2000, 0.5, lopsided=True),
    Pool(8, 8, 1000, 0.5, once=True),
    Pool(6, 6, 300, 0.25, "school"),
]


def test_honest_tastes_are_no_favour() -> None:
    """72 pools, in 16 of which somebody was accused when tastes were normal noise alone."""
    accused = sum(measured(pool, 12, seed=2).accused * 12 for pool in TASTES)
    assert accused <= 7, "5% are 3.6"


@pytest.mark.slow
@pytest.mark.parametrize("pool", HONEST, ids=str)
def test_honest_pools_of_every_size_accuse_nobody(pool: Pool) -> None:
    assert measured(pool, 60, seed=3).accused <= 0.12, "5% at most, give or take twice the error of 60 pools"


def test_favour_beyond_tastes_is_still_found() -> None:
    assert measured(Pool(10, 10, 5000, members=2, favour=2.0), 8).named >= 0.85
    assert measured(Pool(10, 10, 5000, 0.25, members=2, favour=2.0), 8).noticed >= 0.6
    assert measured(Pool(8, 8, 1000, members=2, favour=2.0), 8).noticed >= 0.75


def test_what_taste_may_explain_is_said_to_be_out_of_step() -> None:
    pool = Pool(10, 10, 5000, 0.5)
    found = [pair for seed in range(3) for pair in examined(pool, seed).favours]
    assert sum(pair.out_of_step for pair in found) >= 15
    assert not any(pair.out_of_step and pair.found for pair in found)
    assert not any(pair.out_of_step for pair in examined(Pool(10, 10, 5000), 0).favours)


@pytest.mark.parametrize(("judges", "liars"), [(5, 3), (8, 5), (5, 2)])
def test_a_majority_that_lies_makes_no_coin_tossers_of_the_honest(judges: int, liars: int) -> None:
    pool = Pool(judges, 10, 3000, 0.25, liars=liars, lie="reversed")
    names = [f"j{at:02}" for at in range(judges)]
    for seed in range(5):
        found = examined(pool, seed)
        sides = sorted([tuple(names[:liars]), tuple(names[liars:])], key=lambda side: (-len(side), side))
        assert found.blocks == tuple(sides)
        assert found.faulty == frozenset()
        assert not found.favours


def test_judges_of_an_order_of_their_own_are_named_as_a_block_or_not_at_all() -> None:
    """Another order is not always a contradiction: it may be much like the first."""
    pool = Pool(8, 8, 5000, 0.25, liars=5, lie="another")
    found = [examined(pool, seed) for seed in range(20)]
    assert sum(one.blocks is not None for one in found) >= 4
    assert sum(bool(one.faulty) for one in found) <= 1


def test_judges_who_toss_coins_are_no_block() -> None:
    named = 0
    for seed in range(5):
        marks = made(Pool(8, 8, 2000), seed).marks
        coins = marks.judge >= 5
        value = marks.value.copy()
        heads = np.random.default_rng(seed).random(len(marks.contests) * 8) < 0.5
        first = np.arange(len(value)) == np.searchsorted(marks.sheet, marks.sheet)
        toss = heads[marks.contest * 8 + marks.judge] == first
        value[coins] = toss[coins]
        found = favours(type(marks)(*[*vars_of(marks)[:6], value, marks.chars]))
        assert found.blocks is None
        assert found.mute.keys() <= {"p05", "p06", "p07"}
        named += len(found.mute)
    assert named >= 5


def vars_of(marks: object) -> list[object]:
    return [getattr(marks, name) for name in type(marks).__dataclass_fields__]  # type: ignore[attr-defined]


def test_honest_judges_are_of_one_mind() -> None:
    blocks = [examined(pool, seed).blocks for pool in TASTES for seed in range(5)]
    assert blocks == [None] * len(blocks)


def test_judges_who_do_one_player_down_are_no_block() -> None:
    """About everybody else they are of one mind with all."""
    pools = [votes(np.random.default_rng([2, seed]), 10, 550, spread=0.2, ring=4) for seed in range(5)]
    found = [favours(pool.marks) for pool in pools]
    assert [one.blocks for one in found] == [None] * 5
    named = [{(pair.judge, pair.author) for pair in one.favours if pair.found} for one in found]
    assert sum(names == pool.planted for names, pool in zip(named, pools, strict=True)) >= 4
