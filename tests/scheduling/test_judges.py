"""Judges that the arena names, in turn."""

from collections import Counter

import pytest

from peerage.scheduling.roles import rotated


@pytest.mark.parametrize(("count", "wanted"), [(4, 3), (5, 2), (6, 4), (3, 1), (7, 3)])
def test_judges_come_equally_often(count: int, wanted: int) -> None:
    judges = [f"j{at}" for at in range(count)]
    seen: Counter[str] = Counter()
    for number in range(1, 10 * count + 1):
        drawn = rotated(judges, wanted, number, "secret")
        assert len(set(drawn)) == len(drawn) == wanted
        seen.update(drawn)
    assert set(seen.values()) == {10 * wanted}


def test_nobody_always_judges_the_same_task() -> None:
    drawn = {rotated(["a", "b", "c"], 1, number, "secret") for number in range(1, 90, 3)}
    assert drawn == {("a",), ("b",), ("c",)}


def test_fewer_than_wanted_all_judge() -> None:
    assert {rotated(["a", "b"], 3, number, "secret") for number in (7, 8)} == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize(("count", "wanted"), [(3, 3), (4, 3), (5, 3), (6, 3), (6, 4), (7, 1)])
def test_every_judge_is_in_every_place_equally_often(count: int, wanted: int) -> None:
    judges = [f"j{at}" for at in range(count)]
    for block in range(3):
        drawn = [rotated(judges, wanted, block * count + at, "secret") for at in range(1, count + 1)]
        for place in range(wanted):
            assert sorted([seated[place] for seated in drawn]) == judges
