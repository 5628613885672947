"""Simulated arenas: what is drawn, what it is measured against, and that intervals hold where nothing is
planted."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from msgspec.structs import replace

from peerage.judging.planted import honest
from peerage.judging.simulation import KINDS, Found, Setup, drawn, power, simulated
from peerage.ratings.bradley_terry import fit_duels
from peerage.tables.simulate import paired_rounds

SMALL = Setup(8, 150)


def nothing(setup: Setup, arenas: int) -> list[Found]:
    found = [simulated(setup, [], number, paired_rounds)[0] for number in range(arenas)]
    return [one for one in found if one is not None]


def test_nobody_judges_a_match_that_it_plays() -> None:
    for setup in (SMALL, *[replace(SMALL, pairing=one) for one in ("swiss", "order", "round-robin")]):
        pool, luck = drawn(setup, 0, paired_rounds(setup) if setup is not SMALL else None)
        s = pool.schedule
        assert len(s.first) == 5 * 150
        assert len(luck.noise) == s.matches == 150
        assert not ((s.judge == s.first) | (s.judge == s.second) | (s.first == s.second)).any()
        judged = np.unique(np.stack([s.match, s.judge]), axis=1)
        assert judged.shape[1] == len(s.judge), "each judge votes once on a match"


def test_swiss_and_order_pair_those_who_are_close() -> None:
    def gaps(pairing: Literal["swiss", "order", "random"]) -> float:
        setup = Setup(12, 300, spread=300, pairing=pairing)
        pool, _ = drawn(setup, 1, paired_rounds(setup) if pairing != "random" else None)
        return float(np.abs(pool.skill[pool.schedule.first] - pool.skill[pool.schedule.second]).mean())

    assert gaps("swiss") < 0.8 * gaps("random")
    assert gaps("order") < 0.8 * gaps("random")


def test_the_truth_is_what_many_votes_come_to() -> None:
    pool, luck = drawn(Setup(6, 20_000), 2)
    found = fit_duels(pool.votes(luck, honest(pool.schedule)).history)
    assert np.abs(found.rating - pool.truth()).max() < 6
    assert np.argsort(pool.truth()).tolist() == np.argsort(pool.skill).tolist()
    everybody = np.ones(6, np.bool_)
    assert np.ptp(pool.truth(everybody)) > np.ptp(pool.truth()), "who discerns sees greater differences"


@pytest.mark.parametrize("setup", [SMALL, Setup(8, 150, pairing="swiss"), Setup(8, 100, seats=4)])
def test_intervals_hold_where_nothing_is_planted(setup: Setup) -> None:
    found = power("nothing", nothing(setup, 25))
    assert found.held is not None
    assert 0.9 <= found.held <= 0.99
    assert found.moved is None
    assert found.noticed is None
    assert found.false_alarms <= 0.1


def test_all_that_can_be_planted_moves_what_it_is_about() -> None:
    plants = [(kind, 0) for kind in KINDS]
    found = simulated(Setup(10, 400, seed=3), plants, 0)
    moved = {kind: one.moved for (kind, _), one in zip(plants, found[1:], strict=True) if one is not None}
    assert moved.keys() == KINDS.keys()
    assert {kind for kind, points in moved.items() if abs(points) > 10} >= moved.keys() - {
        "harsh",
        "position",
        "random",
        "half-friends",
        "lazy-once",
    }
    assert moved["ring"] < -100


def test_what_cannot_be_planted_is_left_out() -> None:
    alone, once = simulated(Setup(3, 10), [("ring", 0), ("friends", 0)], 0)[1:]
    assert alone is None, "one judge is no ring"
    assert once is None or once.noticed in (0.0, 1.0)


def test_equals_have_no_order_to_agree_with() -> None:
    found = power("nothing", nothing(Setup(6, 60, spread=0), 3))
    assert found.tau is None
    assert found.held is not None


def test_the_same_seed_gives_the_same() -> None:
    plants = [("lazy", 2), ("harsh", 0)]
    one, same, other = (repr(simulated(Setup(6, 60, seed=seed), plants, 1)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_few_arenas_have_no_standard_error() -> None:
    found = Found(1.0, 0.0, 10.0, 2.0, 0.95, 0.94, 40.0, 0.8, 0.9)
    assert power("one", [found]).corrected_error is None
    both = power("two", [found, found._replace(noticed=0.0, alarm=1.0, corrected=4.0)])
    assert (both.noticed, both.false_alarms, both.corrected, both.corrected_error) == (0.5, 0.5, 3.0, 1.0)


def test_lazy_judges_asked_once_are_noticed_by_the_place_that_they_pick() -> None:
    """By what they discern alone one pool in five noticed any after so few votes."""
    found = [simulated(Setup(8, 100, seed=7), [("lazy-once", 0), ("position", 0)], at) for at in range(8)]
    lazy = [one for _, one, _ in found if one is not None]
    assert power("lazy-once", lazy).noticed == 1.0
    assert max(one.alarm for one in lazy) == 0.0
    assert not any(one.alarm for _, _, one in found if one is not None), "all lean, nobody is innocent of it"
