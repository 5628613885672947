"""Simulated arenas of `peerage simulate`: how narrow intervals are, how well the order is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench import pools
from msgspec.structs import replace

from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.simulation import Setup, simulated, tau

SMALL = Setup(8, 150)


def half_width(setup: Setup, arenas: int = 20) -> float:
    return float(np.mean([simulated(setup, number).half_width for number in range(arenas)]))


def test_intervals_are_those_of_arenas_of_judging_players() -> None:
    widths = []
    for number in range(20):
        pool, luck = pools.drawn(pools.Setup(8, 150), number)
        votes = pool.under(luck, None)
        table = fit_clustered(votes.history, votes.matches)
        widths.append((table.upper - table.lower).mean() / 2)
    assert half_width(SMALL) == pytest.approx(np.mean(widths), rel=0.06)


@pytest.mark.parametrize("setup", [SMALL, replace(SMALL, seats=4), replace(SMALL, once=True)])
def test_four_times_the_matches_halve_intervals_and_tell_the_order(setup: Setup) -> None:
    more = replace(setup, matches=600)
    assert half_width(more) == pytest.approx(half_width(setup) / 2, rel=0.2)
    few, many = (np.mean([simulated(each, number).tau for number in range(20)]) for each in (setup, more))
    assert 0.6 < few < many


def test_more_judges_and_both_orders_narrow_intervals() -> None:
    assert half_width(replace(SMALL, panel=1)) > 1.2 * half_width(SMALL)
    assert half_width(replace(SMALL, panel=1, once=True)) > 1.05 * half_width(replace(SMALL, panel=1))


def test_equals_have_no_order_to_agree_with() -> None:
    assert math.isnan(simulated(Setup(6, 60, spread=0), 0).tau)
    assert tau(np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0])) == -1


def test_skills_and_discernment_are_those_given() -> None:
    apart = replace(SMALL, skills=tuple(np.linspace(-3, 3, 8).tolist()))
    assert np.mean([simulated(apart, number).tau for number in range(5)]) > 0.95
    coins = replace(apart, discernment=(0.0,) * 8)
    assert abs(np.mean([simulated(coins, number).tau for number in range(20)])) < 0.25


def test_a_leader_far_ahead_is_first_and_proven_and_equals_are_not() -> None:
    ahead = replace(SMALL, matches=400, skills=(2.0, *[0.0] * 7))
    equal = replace(ahead, skills=(), spread=0)
    found = [simulated(replace(each, seats=seats), 0) for each in (ahead, equal) for seats in (0, 4)]
    assert [(one.first, one.proven) for one in found[:2]] == [(1.0, 1.0)] * 2
    assert all(math.isnan(one.first) and one.proven == 0 for one in found[2:])


def test_the_same_seed_gives_the_same() -> None:
    assert simulated(SMALL, 1) == simulated(SMALL, 1)
    assert simulated(SMALL, 1) != simulated(SMALL, 2)
    assert simulated(SMALL, 1) != simulated(replace(SMALL, seed=1), 1)
