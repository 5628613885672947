"""Pairing that plays for what a run is to find out: only the pairs that it needs, and those that are near."""

from __future__ import annotations

import numpy as np
import pytest
from bench.arenas import Cell, matches_of
from bench.goals import until

from peerage.ratings.kernels import Floats
from peerage.scheduling.aim import Aim
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal

STRENGTH = np.array([1.0, 0.8, 0.0, -0.9, -1.0])


def weights(aim: Aim, doubt: float = 0.2) -> Floats:
    """The loss among five players, each with the same doubt."""
    return aim.loss(STRENGTH, doubt * np.eye(5))


def needed(aim: Aim, doubt: float = 0.2) -> set[tuple[int, int]]:
    found = weights(aim, doubt)
    assert (found == found.T).all()
    return {(a, b) for a, b in np.argwhere(found > 0).tolist() if a < b}


def test_only_pairs_that_the_aim_needs_count_and_those_that_are_known_rest() -> None:
    assert needed(Aim("top")) == {(0, 1), (0, 2), (0, 3), (0, 4)}
    assert needed(Aim("top", 2)) == {(a, b) for a in (0, 1) for b in (2, 3, 4)}
    assert needed(Aim("placed", player=2)) == {(0, 2), (1, 2), (2, 3), (2, 4)}
    assert len(needed(Aim("order"))) == 10
    assert needed(Aim("top"), doubt=0.05) == {(0, 1), (0, 2)}
    assert needed(Aim("order", within=60.0), doubt=0.01) == {(0, 1), (3, 4)}
    assert len(needed(Aim("order", within=60.0), doubt=1e-4)) == 10, "nothing seems to lack, so all count"
    assert needed(Aim("top", 2), doubt=1e-4) == {(a, b) for a in (0, 1) for b in (2, 3, 4)}


def test_the_nearer_the_pair_the_more_it_counts() -> None:
    found = weights(Aim("order"))
    assert found[0, 1] > found[0, 2] > found[0, 3]
    assert weights(Aim("order", within=100.0))[0, 1] < found[0, 1]


@pytest.mark.parametrize("goal", [Goal("top"), Goal("placed", player="00", within=100.0)], ids=str)
def test_what_is_played_for_is_known_sooner(goal: Goal) -> None:
    cell = Cell(6, "even gaps", lag=12, spread=250.0)
    order, aimed = [
        [until(goal, matches, 6) for matches in matches_of(policy, cell, 5, 900)]
        for policy in (Policy("order"), Policy("order", goal=goal))
    ]
    assert np.mean(aimed) < 0.85 * np.mean(order)


def test_who_learns_plays_for_the_goal_and_nobody_else_does() -> None:
    goal = Goal("placed", player="b")
    for name in ("order", "top", "certify", "place"):
        loss = Policy(name, goal=goal).loss("abcde")  # type: ignore[arg-type]
        assert loss is not None
        assert (loss(STRENGTH, 0.2 * np.eye(5)) == weights(Aim("placed", player=1))).all()
    assert Policy("swiss", goal=goal).loss("abcde") is None
    gone = Policy("order", goal=goal).loss("acde")
    assert gone == Policy("order").loss("acde"), "one that left is not played for"
