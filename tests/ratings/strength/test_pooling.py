"""Parts borrow from each other as far as they are alike."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.ratings.columns.history import Duels, duels
from peerage.ratings.strength.evidence import Evidence, joined, of_duels
from peerage.ratings.strength.pooling import pooled
from peerage.ratings.strength.posterior import strengths
from peerage.ratings.table import POINTS


def played(rng: np.random.Generator, skill: np.ndarray, matches: int) -> Duels:
    n = len(skill)
    a = rng.integers(0, n, matches)
    b = (a + rng.integers(1, n, matches)) % n
    return duels(n, a, b, 1.0 * (rng.random(matches) < 1 / (1 + np.exp(skill[b] - skill[a]))))


def topics(rng: np.random.Generator, differ: float, matches: list[int]) -> tuple[np.ndarray, list[Evidence]]:
    """Skills of each topic, shape (topics, players), and matches."""
    skill = rng.normal(0, 1, 8) + rng.normal(0, differ, (len(matches), 8))
    return skill, [of_duels(played(rng, row, count)) for row, count in zip(skill, matches, strict=True)]


def test_intervals_hold_the_truth_and_errors_are_less_than_apart() -> None:
    held, errors = [], {"pooled": [], "apart": [], "all": []}
    for seed in range(25):
        rng = np.random.default_rng([9, seed])
        differ = float(rng.choice([0.05, 0.3, 0.6]))
        skill, parts = topics(rng, differ, [200, 100, 20])
        truth = 1500 + POINTS * (skill - skill.mean(axis=1, keepdims=True))
        found = pooled(parts, seed=seed)
        for row, part in zip(truth, found, strict=True):
            held.append((part.lower <= row) & (row <= part.upper))
        errors["pooled"].append(np.abs(found[2].rating - truth[2]).mean())
        errors["apart"].append(np.abs(strengths(parts[2], seed=seed).rating - truth[2]).mean())
        errors["all"].append(np.abs(strengths(joined(parts), seed=seed).rating - truth[2]).mean())
    assert 0.92 < np.mean(held) < 0.98
    mean = {name: np.mean(values) for name, values in errors.items()}
    assert mean["pooled"] < 0.8 * mean["apart"]
    assert mean["pooled"] < 1.05 * mean["all"]


def test_parts_without_matches_and_without_players() -> None:
    rng = np.random.default_rng(1)
    nothing = of_duels(duels(8, [], [], []))
    some = of_duels(played(rng, rng.normal(0, 1, 8), 100))
    first, second = pooled([some, nothing], seed=1)
    assert np.corrcoef(first.rating, second.rating)[0, 1] > 0.95
    assert (second.upper - second.lower > first.upper - first.lower).all()
    assert pooled([], seed=1) == ()
    for players in (0, 1, 2):
        (alone,) = pooled([of_duels(duels(players, [], [], []))], seed=1)
        assert alone.best == pytest.approx(np.full(players, 1 / max(players, 1)))
        assert alone.better.shape == (players, players)
    with pytest.raises(ValueError, match=r"\[8, 2\] players"):
        pooled([some, of_duels(duels(2, [0], [1], [1]))], seed=1)


def test_one_part_is_as_by_itself() -> None:
    rng = np.random.default_rng(3)
    evidence = of_duels(played(rng, rng.normal(0, 1, 6), 150))
    (alone,) = pooled([evidence], seed=1)
    assert (alone.rating == strengths(evidence, seed=1).rating).all()


def test_names_leave_no_trace() -> None:
    rng = np.random.default_rng(4)
    parts = [played(rng, rng.normal(0, 1, 5), count) for count in (30, 10)]
    number = np.array([3, 0, 4, 1, 2])
    moved = [duels(5, number[part.first], number[part.second], part.score) for part in parts]
    before = pooled([of_duels(part) for part in parts], seed=2)
    after = pooled([of_duels(part) for part in moved], seed=2)
    for one, other in zip(before, after, strict=True):
        assert one.rating == pytest.approx(other.rating[number], rel=1e-9)
        assert one.best == pytest.approx(other.best[number], rel=1e-9)


def test_games_in_which_skills_have_nothing_in_common_do_not_borrow() -> None:
    held = []
    for seed in range(6):
        rng = np.random.default_rng([4, seed])
        skill = rng.normal(0, 2.5, (10, 8))
        truth = 1500 + POINTS * (skill - skill.mean(axis=1, keepdims=True))
        parts = [of_duels(played(rng, row, 80)) for row in skill]
        held += [
            (part.lower <= row) & (row <= part.upper)
            for row, part in zip(truth, pooled(parts, seed=seed), strict=True)
        ]
    assert np.mean(held) > 0.88
