"""Results that come again, from another file or in another form."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from peerage.ratings.read.answers import Answers
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.repeats import FEWEST, repeated
from peerage.ratings.read.results import read

DAY = 86_400


def battles(count: int, times: list[float] | None = None, turned: bool = False) -> Battles | PlayedGames:
    """So many battles of which x wins two thirds; `turned` names the loser first."""
    rows = []
    for number in range(count):
        first, other = ("x", "y") if number % 3 else ("y", "x")
        pair = {"model_a": other, "model_b": first, "winner": "model_b"}
        rows.append(pair if turned else {"model_a": first, "model_b": other, "winner": "model_a"})
        rows[-1] |= {} if times is None else {"timestamp": times[number]}
    return of(rows)


def games(count: int) -> Battles | PlayedGames:
    rows: list[Any] = [
        {"players": ["y", "x"], "scores": [0, 7] if number % 3 else [2, 1]} for number in range(count)
    ]
    return of(rows[::-1])


def of(rows: list[Any]) -> Battles | PlayedGames:
    found = read([("rows.jsonl", io.BytesIO("\n".join(map(json.dumps, rows)).encode()))])
    assert not isinstance(found, Answers)
    return found


def moments(first: int, count: int) -> list[float]:
    return [60.25 * number for number in range(first, first + count)]


def test_the_same_results_in_another_form_and_order_are_found() -> None:
    assert repeated([games(30)], [battles(30)]) == 30
    assert repeated([battles(30, turned=True)], [battles(30)]) == 30


def test_without_times_all_are_the_same_or_none() -> None:
    assert repeated([battles(31)], [battles(30)]) == 0
    assert repeated([battles(24)], [battles(12), battles(12)]) == 24, "of several parts together"


def test_with_times_each_that_comes_again_counts() -> None:
    before = battles(30, moments(0, 30))
    assert repeated([battles(30, moments(0, 30), turned=True)], [before]) == 30
    assert repeated([battles(60, moments(0, 60))], [before]) == 30, "a longer export of the same arena"
    assert repeated([battles(30, moments(100, 30))], [before]) == 0, "others of the same players"


def test_a_time_that_is_only_a_day_tells_nothing_apart() -> None:
    days = [float(DAY * number) for number in range(30)]
    assert repeated([battles(20, days[:20])], [battles(30, days)]) == 0
    assert repeated([battles(30, days)], [battles(30, days)]) == 30


@pytest.mark.parametrize("times", [None, moments(0, FEWEST)])
def test_a_few_may_be_the_same_by_chance(times: list[float] | None) -> None:
    for count, found in ((FEWEST, FEWEST), (FEWEST - 1, 0)):
        some = battles(count, times and times[:count])
        assert repeated([some], [some]) == found
