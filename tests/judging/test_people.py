"""Agreement with people: by hand, in simulation, and nothing said of too little."""

from __future__ import annotations

import numpy as np
import pytest

from peerage.judging.measures.agreement import FEWEST, ScoredPair, agreement, among


def pairs(one: np.ndarray, other: np.ndarray) -> list[ScoredPair]:
    return [
        ScoredPair(at, *both, 1.0) for at, both in enumerate(zip(one.tolist(), other.tolist(), strict=True))
    ]


def test_by_hand() -> None:
    """Eight of twenty verdicts are equal wins, four equal ties, and eight are apart; nobody else ties."""
    one = np.array([1.0] * 4 + [0.0] * 4 + [0.5] * 4 + [1.0] * 8)
    other = np.array([1.0] * 4 + [0.0] * 4 + [0.5] * 4 + [0.0] * 8)
    found = agreement(pairs(one, other))
    assert found.duels == 20
    assert found.share is not None
    assert found.kappa is not None
    assert found.share.value == pytest.approx(0.6)
    chance = 0.2 * 0.2 + 0.8 * 0.8 / 2
    assert found.kappa.value == pytest.approx((0.6 - chance) / (1 - chance))


def test_a_coin_agrees_as_chance_does_and_bounds_hold() -> None:
    rng = np.random.default_rng(1)
    held = []
    for _ in range(300):
        one, other = rng.choice([0.0, 0.5, 1.0], (2, 60), p=[0.4, 0.2, 0.4])
        found = agreement(pairs(one, other))
        assert found.kappa is not None
        assert found.kappa.lower is not None
        assert found.kappa.upper is not None
        held.append(found.kappa.lower < 0 < found.kappa.upper)
    assert 0.91 < np.mean(held) < 0.985


def test_a_duel_weighs_by_its_share_and_counts_once() -> None:
    """Ten people on one duel are one duel; and what was drawn half as often weighs twice."""
    rows = [ScoredPair(at, 1.0, 1.0, 2.0) for at in range(10)] + [
        ScoredPair(at, 1.0, 0.0, 1.0) for at in range(10, 30)
    ]
    rows += [ScoredPair(0, 1.0, 0.0, 2.0)] * 3
    found = agreement(rows)
    assert found.duels == 30
    assert found.share is not None
    assert found.share.value == pytest.approx((9 * 2 + 2 * 0.25) / 40)


def test_too_few_to_tell() -> None:
    few = agreement([ScoredPair(at, 1.0, 1.0, 1.0) for at in range(FEWEST - 1)])
    assert few == (FEWEST - 1, None, None)
    assert agreement([]) == (0, None, None)


def test_everybody_is_held_against_everybody_else() -> None:
    assert {(one.first, one.other) for one in among(1, [1.0, 0.5, 0.0], 1.0)} == {
        (1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.0), (0.0, 0.5)
    }  # fmt: skip
    assert among(1, [1.0], 1.0) == []
