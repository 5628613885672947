"""Levels: chances that fall by a stated law, and a staircase that keeps tasks telling."""

from __future__ import annotations

from math import log
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.game.levels import (
    LEVELS,
    SLOPE,
    USUAL_LEVEL,
    Abilities,
    chance,
    difficulty,
    fact,
    suited,
)
from peerage.game.match import Seat

WEAK_TO_STRONG = (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.2)
STRONG = (0.995, 0.99, 0.985, 0.98, 0.97, 0.96, 0.945, 0.93)


def played(skills: tuple[float, ...], tasks: int, matches: int, seed: int) -> tuple[Abilities, list[float]]:
    """Play matches by chances; return abilities, and the best player's share of each match."""
    rng, abilities, shares = Random(seed), Abilities(), []
    seats = [Seat(label, f"p{label}") for label in "ABCDEFGH"]
    for number in range(1, matches + 1):
        levels = suited(abilities.playing, tasks, f"secret {seed}", number)
        credits = {
            seat.label: [rng.random() < chance(skill, SLOPE * (level - USUAL_LEVEL)) for level in levels]
            for seat, skill in zip(seats, skills, strict=True)
        }
        abilities.learn([fact(seats, levels, credits)])
        shares.append(fmean(credits["A"]))
    return abilities, shares


@given(st.floats(0.01, 0.999), st.floats(-5, 8))
def test_chances_are_a_logistic_in_ability_less_difficulty(skill: float, hard: float) -> None:
    solved = chance(skill, hard)
    if 1e-9 < solved < 1 - 1e-9:
        assert log(solved / (1 - solved)) == pytest.approx(log(skill / (1 - skill)) - hard, abs=1e-5)
    assert chance(skill, hard + 1) < solved
    assert chance(skill, 0) == pytest.approx(skill)


def test_nobody_of_skill_1_fails_and_of_skill_0_succeeds() -> None:
    assert (chance(1, 9), chance(0, -9)) == (1, 0)


def test_twice_the_work_is_six_tenths_of_a_logit() -> None:
    assert difficulty(work=10, usual_work=5) == pytest.approx(0.6)
    assert difficulty(work=0, usual_work=1) == 0


@pytest.mark.parametrize("skills", [WEAK_TO_STRONG, STRONG])
@pytest.mark.parametrize("tasks", [1, 3, 5])
def test_the_best_solve_60_to_80_percent(skills: tuple[float, ...], tasks: int) -> None:
    shares = [fmean(played(skills, tasks, 150, seed)[1][50:]) for seed in range(8)]
    assert 0.6 < fmean(shares) < 0.83


def test_abilities_tell_who_is_better() -> None:
    abilities, _ = played(WEAK_TO_STRONG, 5, 60, seed=3)
    ordered = sorted(abilities.levels, key=lambda player: -abilities.levels[player])
    assert ordered[0] == "pA"
    assert ordered[-1] == "pH"


@given(st.lists(st.floats(-10, 30)), st.integers(1, 20), st.integers(1, 1000))
def test_levels_are_in_range_and_the_same_again(abilities: list[float], tasks: int, number: int) -> None:
    levels = suited(abilities, tasks, "secret", number)
    assert len(levels) == tasks
    assert all(1 <= level <= LEVELS for level in levels)
    assert levels == suited(abilities, tasks, "secret", number)


def test_facts_of_other_kinds_and_players_without_credits_teach_nothing() -> None:
    abilities = Abilities()
    abilities.learn([{"fact": "challenge"}, fact([Seat("A", "Ada")], [3], {})])
    assert abilities.levels == {}


def test_tasks_suit_those_who_still_play() -> None:
    left, here = [Seat(label, f"left {label}") for label in "ABCD"], [Seat(label, label) for label in "ABCD"]
    abilities = Abilities()
    for seats, credit in ((left, 1.0), (here, 0.0), (here[:2], 1.0), (here, 0.0)):
        for _ in range(25):
            abilities.learn([fact(seats, [5], {seat.label: [credit] for seat in seats})])
        assert len(abilities.playing) == len(seats)
    assert max(suited(abilities.playing, 7, "secret", 1)) < 5 < abilities.levels["left A"]
