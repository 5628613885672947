"""Series: rotated seats, and nobody who meets a task twice in one seat."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.hands import GAME, HandsRules

from peerage.game.match import Fixture
from peerage.scheduling.fixtures import Scheduler, Series, in_series, next_round, tables
from peerage.scheduling.standing import History, Standing


def a_round(series: Series | None, players: int, number: int = 5, **rules: Any) -> tuple[Fixture, ...]:
    scheduler = Scheduler(GAME, HandsRules(**rules), "secret", series=series)
    standings = [Standing(f"p{at}", f"f{at}", 1500.0, 1500.0, 25.0 - at) for at in range(players)]
    return next_round(scheduler, standings, History(), number=number, round=1, snapshot=0)


def seats(fixture: Fixture) -> list[str]:
    return [seat.player for seat in fixture.seats]


@pytest.mark.parametrize(("players", "size"), [(2, 2), (8, 2), (4, 4), (7, 4), (12, 3), (10, 10)])
def test_whoever_meets_sits_in_each_seat_once_on_one_task(players: int, size: int) -> None:
    played = a_round("seats", players, seats=size)
    assert len(played) == tables(GAME, HandsRules(seats=size), players, "seats") or players % size
    for first, group in groupby(played, attrgetter("series")):
        matches = list(group)
        assert [one.number for one in matches] == list(range(first, first + len(matches)))
        assert len(matches) == len(matches[0].seats)
        sat = Counter((seat.label, seat.player) for one in matches for seat in one.seats)
        assert set(sat.values()) == {1}
        assert len(sat) == len(matches) ** 2
        assert len({str(one.drawn) for one in matches}) == 1
        assert len({one.seed for one in matches}) == len(matches), "fences and ids are each match's own"


def test_a_game_whose_task_must_not_be_met_again_draws_a_fresh_one_for_each_rotation() -> None:
    played = a_round("seats", 8, shared=False)
    assert len({one.drawn["word"] for one in played}) == len(played) == 8
    assert {one.series for one in played} == {5, 7, 9, 11}


def test_without_series_matches_stand_by_themselves() -> None:
    assert {one.series for one in a_round(None, 8)} == {0}


@given(st.sampled_from(["seats", None]), st.lists(st.integers(2, 6), min_size=1, max_size=5), st.booleans())
def test_nobody_meets_a_task_twice_in_one_seat(
    series: Series | None, sizes: list[int], rotates: bool
) -> None:
    groups = [tuple(f"{at}/{seat}" for seat in range(size)) for at, size in enumerate(sizes)]
    planned = list(in_series(series, groups, 3, rotates))
    met = Counter((player, seat, one.task) for one in planned for seat, player in enumerate(one.contestants))
    assert set(met.values()) == {1}
    if not (series == "seats" and rotates):
        assert set(Counter((player, task) for player, _, task in met).values()) == {1}
    for at, one in enumerate(planned, 3):
        assert one.series == 0 or 3 <= one.series <= at
