"""Fixtures are complete, reproducible, and remembered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from peerage.game.match import Fixture, GameTable, Outcome
from peerage.game.protocol import Steps
from peerage.game.spec import GameSpec, RoleRequirement, Seating
from peerage.games.code_golf import GAME as CODE_GOLF
from peerage.games.werewolf import GAME as WEREWOLF
from peerage.scheduling import swiss
from peerage.scheduling.fixtures import (
    Scheduler,
    Unstaffed,
    next_round,
    remember,
    tables,
)
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import History, Standing
from peerage.values.sealing import match_key


class Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    topics: tuple[str, ...] = ("law", "physics")
    judges: int = 3
    style: Literal["plain"] = "plain"


def play(table: GameTable) -> Steps[Outcome]:
    yield []
    return Outcome(scores={seat.label: 0.5 for seat in table.seats})


def draw(rules: Rules, seed: str, number: int) -> Mapping[str, Any]:
    return {"topic": rules.topics[number % len(rules.topics)], "lot": seed}


COIN = GameSpec(
    name="coin",
    version=3,
    about="Nobody wins.",
    contestants=(2, 2),
    rules=Rules,
    play=play,
    officials=lambda rules: (
        RoleRequirement("author", 2, 1, "contestants"),
        RoleRequirement("judge", rules.judges, 2),
    ),
    draw=draw,
    asks=lambda rules, fixture: (),
)
STANDINGS = [Standing(f"p{at}", f"f{at}", 1500.0 + at, 1600.0 - at) for at in range(7)]


def a_round(secret: str = "7", number: int = 11, **rules: Any) -> tuple[Fixture, ...]:
    scheduler = Scheduler(COIN, Rules(**rules), secret)
    return next_round(scheduler, STANDINGS, History(), number=number, round=4, snapshot=9)


def test_a_fixture_is_complete() -> None:
    fixtures = a_round()
    assert [fixture.number for fixture in fixtures] == [11, 12, 13]
    for fixture in fixtures:
        assert (fixture.round, fixture.game, fixture.version, fixture.snapshot) == (4, "coin", 3, 9)
        assert fixture.seed == match_key("7", fixture.number)
        assert [seat.label for seat in fixture.seats] == ["A", "B"]
        assert [seat.label for seat in fixture.officials["author"]] == ["author/1", "author/2"]
        assert [seat.label for seat in fixture.officials["judge"]] == ["judge/1", "judge/2", "judge/3"]
        by_seed = sorted(fixture.seats, key=lambda seat: -seat.cost)
        assert [s.player for s in fixture.officials["author"]] == [s.player for s in by_seed], (
            "the higher first"
        )
        assert fixture.settings == {"topics": ["law", "physics"], "judges": 3, "style": "plain"}
        assert fixture.drawn["topic"] == ["law", "physics"][fixture.number % 2]
        for seat in fixture.all_seats():
            assert (seat.raw, seat.cost) == next(s[2:4] for s in STANDINGS if s.player == seat.player)
    assert len({fixture.seed for fixture in fixtures}) == 3
    assert len({fixture.drawn["lot"] for fixture in fixtures}) == 1, "draws follow from the arena's one seed"


def test_the_best_raw_elo_judges() -> None:
    top = a_round()[0]
    assert {seat.player for seat in top.seats} == {"p0", "p1"}
    assert [seat.player for seat in top.officials["judge"]] == ["p6", "p5", "p4"]


def test_the_same_arguments_give_the_same_round_and_another_seed_another() -> None:
    assert a_round() == a_round()
    assert a_round(secret="8")[0].seed != a_round()[0].seed


def test_a_match_key_is_64_hex_digits_and_known_for_good() -> None:
    # A changed derivation would re-seed every arena in the field.
    assert match_key("0", 1) == "4bda3cadda7f41817593e741d98db06296ffa5bac0a175e81eb4be1c77dce034"


def test_issued_fixtures_are_remembered_and_meet_others_next() -> None:
    history = History()
    first = a_round()
    remember(history, first)
    second = next_round(Scheduler(COIN, Rules(), "7"), STANDINGS, history, number=14, round=5, snapshot=9)
    met = {frozenset(seat.player for seat in fixture.seats) for fixture in first}
    again = {frozenset(seat.player for seat in fixture.seats) for fixture in second}
    assert not met & again
    rested = [{s.player for s in STANDINGS} - {s.player for f in r for s in f.seats} for r in (first, second)]
    assert rested[0] != rested[1], "the bye has gone on to somebody else"


def test_a_match_without_officials_is_refused_by_name() -> None:
    with pytest.raises(Unstaffed, match="needs at least 2 as judge"):
        next_round(Scheduler(COIN, Rules(), "7"), STANDINGS[:3], History(), number=1, round=1, snapshot=0)


def test_pairing_is_told_the_width_and_whether_kin_may_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[float, bool]] = []

    def pair(standings: Any, history: Any, seed: str, width: float, same_family: bool) -> Any:
        told.append((width, same_family))
        return swiss_pair(standings, history, seed, width, same_family)

    swiss_pair = swiss.pair
    monkeypatch.setattr(swiss, "pair", pair)
    apart = replace(COIN, seating=Seating(same_family=lambda rules: rules.judges == 3))
    for rules in (Rules(), Rules(judges=2)):
        scheduler = Scheduler(apart, rules, "7", Policy(width=12.5))
        next_round(scheduler, STANDINGS, History(), number=1, round=1, snapshot=0)
    assert told == [(12.5, True), (12.5, False)]


def test_groups_are_told_the_width_and_leave_the_officials_out() -> None:
    standings = [Standing(f"p{at}", "f", 1500.0, 1500.0, 30.0 - at / 4) for at in range(9)]
    history = History()
    history.remember([one.player for one in standings[:3]])

    def tables_of(width: float, **rules: Any) -> list[list[str]]:
        scheduler = Scheduler(CODE_GOLF, CODE_GOLF.rules(**rules), "7", Policy(width=width))
        played = next_round(scheduler, standings, history, number=1, round=1, snapshot=0)
        return [sorted(seat.player for seat in one.seats) for one in played]

    assert tables_of(0.001, seats=3) == [["p0", "p1", "p2"], ["p3", "p4", "p5"], ["p6", "p7", "p8"]]
    assert tables_of(1_000, seats=3)[0] != ["p0", "p1", "p2"], "who has met sits apart"


def test_labels_of_many_do_not_tell_who_is_better() -> None:
    standings = [Standing(f"p{at}", "f", 1500.0, 1500.0, 30.0 - at) for at in range(6)]

    def seated(number: int) -> tuple[str, ...]:
        scheduler = Scheduler(WEREWOLF, WEREWOLF.rules(seats=6), "7")
        (fixture,) = next_round(scheduler, standings, History(), number=number, round=number, snapshot=0)
        return tuple([seat.player for seat in fixture.seats])

    found = [seated(number) for number in range(1, 91)]
    assert found[0] == seated(1)
    assert {tuple(sorted(one)) for one in found} == {("p0", "p1", "p2", "p3", "p4", "p5")}
    assert {one[0] for one in found} == {"p0", "p1", "p2", "p3", "p4", "p5"}


def test_labels_of_two_do_not_tell_who_is_better() -> None:
    scheduler = Scheduler(COIN, Rules(), "7")
    found = [
        fixture.seats[0].cost > fixture.seats[1].cost
        for round in range(1, 61)
        for fixture in next_round(scheduler, STANDINGS, History(), number=1, round=round, snapshot=0)
    ]
    assert 0.4 < sum(found) / len(found) < 0.6, "one in two"


@pytest.mark.parametrize("secret", ["8", "9", "10", "11"])
def test_another_secret_draws_other_officials_among_equals(secret: str) -> None:
    equals = [Standing(f"p{at}", f"f{at}", 1500.0, 1600.0 - at) for at in range(40)]

    def judges(of: str) -> list[str]:
        scheduler = Scheduler(COIN, Rules(), of)
        made = next_round(scheduler, equals, History(), number=1, round=1, snapshot=0)
        assert len({fixture.drawn["lot"] for fixture in made}) == 1
        return [seat.player for fixture in made for seat in fixture.officials["judge"]]

    assert judges(secret) != judges("7")
    assert a_round(secret)[0].drawn["lot"] != a_round("7")[0].drawn["lot"]


@pytest.mark.parametrize(
    ("seats", "players", "expected"), [(2, 7, 3), (2, 1, 1), (3, 9, 3), (4, 9, 3), (4, 8, 2), (10, 4, 1)]
)
def test_a_round_has_as_many_matches_as_are_paired(seats: int, players: int, expected: int) -> None:
    rules = CODE_GOLF.rules(seats=seats)
    assert tables(CODE_GOLF, rules, players) == expected
    standings = [Standing(f"p{at}", "f", 1500.0, 1500.0) for at in range(players)]
    scheduler = Scheduler(CODE_GOLF, rules, "7")
    played = next_round(scheduler, standings, History(), number=1, round=1, snapshot=0)
    assert len(played) == (expected if players > 1 else 0)
