"""Priorities: who is a contestant how often."""

from __future__ import annotations

from collections import Counter

import pytest

from peerage.scheduling.roles import in_turn
from peerage.scheduling.standing import Standing


def pool(*priorities: int) -> list[Standing]:
    return [
        Standing(f"p{at}", f"p{at}", 1500.0, 1500.0, priority=priority)
        for at, priority in enumerate(priorities)
    ]


@pytest.mark.parametrize("priorities", [(3, 1, 1, 1, 1, 1, 1), (2, 1, 1, 1), (4, 2, 1, 1, 1, 1)])
def test_each_takes_part_as_often_as_its_priority_says(priorities: tuple[int, ...]) -> None:
    players, rounds = pool(*priorities), 3000
    counts: Counter[str] = Counter()
    for round in range(rounds):
        playing = in_turn(players, f"{round}", 2, pairs=True)
        assert len(playing) % 2 == 0
        assert playing == in_turn(players, f"{round}", 2, pairs=True)
        counts.update(one.player for one in playing)
    for one in players:
        share = one.priority / max(priorities)
        assert abs(counts[one.player] / rounds - share) < 0.08, one


def test_equals_all_take_part_and_tables_are_filled() -> None:
    assert in_turn(pool(2, 2, 2), "", 2, pairs=True) == pool(2, 2, 2)
    assert all(len(in_turn(pool(9, 1, 1, 1, 1), f"{seed}", 4, pairs=False)) >= 4 for seed in range(50))
