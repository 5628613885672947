"""Several seats for one player: filled, told apart, counted as one, as the best or each, and paid for."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.engine.arenas import asked_again, head, house, paced, play, play_stopping_at, write_arena
from tests.engine.hands import GAME, HandsRules
from tests.engine.run.test_series import HANDS, fixtures

from peerage.arena import open_arena
from peerage.game.match import Fixture, Rated, rated
from peerage.games.werewolf.rules import side
from peerage.ratings.columns.history import Game, merge_seats
from peerage.reading.matches import Matches
from peerage.reading.results.played import PlayedMatches, Scope, by_side
from peerage.render.terminal import on
from peerage.scheduling import groups
from peerage.scheduling.fixtures import Scheduler, next_round
from peerage.scheduling.standing import History, Standing
from peerage.settings import SettingsError
from peerage.views.match.transcript import MatchView, match_view, transcript

SEATS = [("A", "ann"), ("B", "bob"), ("C", "ann"), ("D", "cy")]
SCORES = {"A": 1.0, "B": 0.5, "C": 0.5, "D": 0.0}
COSTS = {"A": 1.0, "B": 2.0, "C": 0.5, "D": None}


@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ("mean", Rated(("ann", "bob", "cy"), (5 / 6, 2 / 3, 0.0), (1.5, 2.0, None))),
        ("best", Rated(("ann", "bob", "cy"), (1.0, 2 / 3, 0.0), (1.5, 2.0, None))),
        ("each", Rated(("ann", "bob", "ann", "cy"), (1.0, 0.5, 0.5, 0.0), (1.0, 2.0, 0.5, None))),
    ],
)
def test_seats_of_one_player_count_as_in_rate(slots: Any, expected: Rated) -> None:
    assert rated(SEATS, slots, "", SCORES, COSTS) == expected
    numbers = {name: at for at, (_, name) in enumerate(SEATS)}
    ranks = tuple([-score for score in SCORES.values()])
    game = merge_seats(Game(tuple([(numbers[name],) for _, name in SEATS]), ranks), slots)
    best_first = sorted(zip(game.ranks, game.teams, strict=True))
    mine = sorted(
        (-score, (numbers[name],)) for score, name in zip(expected.scores, expected.players, strict=True)
    )
    assert [team for _, team in mine] == [team for _, team in best_first]


def test_a_void_match_and_a_lost_seat_count_once() -> None:
    assert rated(SEATS, "mean", "no_answer", {}, COSTS) == Rated(("ann", "bob", "cy"), (), (1.5, 2.0, None))
    left = {"A": 1.0, "B": 0.0, "D": 0.5}
    assert rated(SEATS, "mean", "", left, COSTS).players == ("ann", "bob", "cy")


def seated(players: int, seats: int, slots: dict[str, int], fewest: int = 2) -> list[list[str]]:
    table = [Standing(f"p{at}", f"f{at}", 1500.0, 1500.0, 25.0 - at) for at in range(players)]
    found = groups.group(table, History(), "seed", seats, fewest=fewest, slots=slots)
    return [sorted(one) for one in found]


def test_seats_that_would_stay_empty_are_filled_evenly() -> None:
    assert seated(3, 6, {"p0": 3, "p1": 3, "p2": 3}, 5) == [["p0", "p0", "p1", "p1", "p2", "p2"]]
    assert seated(3, 6, {"p1": 3}) == [["p0", "p1", "p1", "p1", "p2"]]
    assert seated(4, 4, {"p0": 2}) == [["p0", "p1", "p2", "p3"]], "no seat is empty"
    assert seated(3, 6, {"p1": 2}, 5) == [], "four seats at most, and five are needed"
    assert [len(one) for one in seated(6, 5, {"p0": 3, "p5": 3}, 5)] == [5, 5]
    assert [len(one) for one in seated(6, 5, {"p0": 3}, 5)] == [5], "the other table would have three seats"


def arena(
    folder: Path, slots: str = "mean", concurrency: int = 8, series: str | None = None, **more: Any
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hands.py").write_text(HANDS, "utf-8")
    players = [one | {"slots": 2, "price": {"input": 1.0, "output": 10.0}} for one in house(3)]
    return write_arena(
        folder,
        players,
        game="./hands.py",
        rules={"seats": 5},
        pairing={"window": 6, "slots": slots, "series": series},
        engine={"concurrency": concurrency},
        **more,
    )


@pytest.mark.parametrize(("players", "slots"), [(5, ""), (4, "best")])
def test_a_match_says_how_seats_count_where_somebody_holds_several(players: int, slots: str) -> None:
    scheduler = Scheduler(GAME, HandsRules(seats=5), "secret", slots="best")
    table = [Standing(f"p{at}", f"f{at}", 1500.0, 1500.0, 25.0 - at, slots=2) for at in range(players)]
    (fixture,) = next_round(scheduler, table, History(), number=1, round=1, snapshot=0)
    assert (fixture.slots, len(fixture.seats)) == (slots, 5)


@pytest.mark.parametrize("slots", ["mean", "best", "each"])
def test_an_arena_of_several_seats_is_kept_verified_and_replayed(tmp_path: Path, slots: str) -> None:
    report = play(arena(tmp_path, slots), 12)
    assert report.settled == 12
    with open_arena(tmp_path) as opened:
        assert opened.verify().ok
        replayed = opened.replay()
        assert (replayed.ok, replayed.recomputed) == (True, 12)
        played = fixtures(opened.ledger)
        assert {one.slots for one in played} == {slots}
        assert {len(one.seats) for one in played} == {5}
        rows = {row.player: row for row in opened.leaderboard("bt")}
        assert set(rows) == {"p0", "p1", "p2"}
        seats = sum(len(one.seats) for one in played[:12])
        assert sum(row.matches for row in rows.values()) == (seats if slots == "each" else 36)
        assert sorted(rows, key=lambda name: -rows[name].rating) == ["p2", "p1", "p0"]
        summary = next(iter(opened.ledger.summaries()))
        view = match_view(opened.ledger, 1)
        assert sum(view.costs.values()) == pytest.approx(sum(summary.costs))  # type: ignore[arg-type]
        several = [seat.name for seat in view.seats if seat.slot]
        assert len(several) == 4
        assert all(name[-3:] in (" #1", " #2") for name in several)
        shown = Matches(opened.ledger).one(1).verdict
        best = max(view.scores, key=lambda label: view.scores[label])
        assert shown.startswith(view.player(best))


def test_the_budget_of_a_match_holds_for_all_seats_of_a_player(tmp_path: Path) -> None:
    play(arena(tmp_path / "free"), 4)
    with open_arena(tmp_path / "free") as opened:
        plan = opened.plan(10)
        assert sum(one.calls for one in plan.players) >= 50
        spent = sum(opened.ledger.spent_by().values()) / 1e9
    for limit in (spent / 2, spent):
        folder = tmp_path / f"{limit}"
        report = play(arena(folder, budget={"arena": limit}), 4)
        assert report.reason in ("budget", "limit")
        with open_arena(folder) as opened:
            assert sum(opened.ledger.spent_by().values()) / 1e9 <= limit


@pytest.mark.parametrize("series", [None, "seats"])
def test_interruptions_leave_no_trace_where_players_hold_several_seats(
    tmp_path: Path, series: str | None
) -> None:
    whole = arena(tmp_path / "whole", concurrency=1, series=series)
    play(whole, 10)
    for seed, (concurrency, seconds) in enumerate(((1, 12.0), (8, 3.0), (64, 2.0))):
        folder, rng, runs = tmp_path / f"{concurrency}", random.Random(seed), 0
        while True:
            runs += 1
            arena(folder, concurrency=concurrency, series=series)
            if play_stopping_at(folder, 10, rng.uniform(0, seconds), paced(runs)).reason == "limit":
                break
        assert head(folder) == head(whole)
        assert asked_again(folder) == 0


def test_only_games_that_allow_it_let_a_player_hold_several_seats(tmp_path: Path) -> None:
    players = [one | {"slots": 2} for one in house(7)]
    with pytest.raises(SettingsError, match=r"p0 has `slots: 2`, and nobody holds several seats .* duel"):
        play(write_arena(tmp_path, players), 4)
    with pytest.raises(SettingsError, match="found 2 for 4 seats, and a match of 'werewolf' has 5"):
        play(write_arena(tmp_path, players[:2], game="werewolf", rules={}), 4)
    report = play(write_arena(tmp_path / "three", players[:3], game="werewolf", rules={"seats": 6}), 2)
    assert report.settled == 2


@pytest.mark.parametrize("slots", ["mean", "each"])
def test_a_player_on_both_sides_of_a_match_is_rated_on_each(tmp_path: Path, slots: str) -> None:
    players = [one | {"slots": 3} for one in house(3)]
    folder = write_arena(
        tmp_path, players, game="werewolf", rules={"seats": 7}, pairing={"slots": slots, "series": "seats"}
    )
    play(folder, 14)
    with open_arena(folder) as opened:
        assert opened.verify().ok
        played = fixtures(opened.ledger)[:14]
        assert len({one.drawn["dealt"] == played[0].drawn["dealt"] for one in played[:7]}) == 1
        for on in ("wolves", "village"):
            alone = by_side(PlayedMatches(opened.ledger, Scope()), on)
            held = {one.number: on_side(one, on) for one in played}
            if on == "wolves":
                told = show_text(match_view(opened.ledger, 1)).partition("\nWhat it cost")[0]
                assert "p0 #1" in told
                assert "p0 #2" in told
                assert not re.search(r"p0 (?!#)", told), "each seat is told by its own name"
            for summary in alone.decided:
                mine = [name for name in summary.players if "\0" not in name]
                expected = held[summary.number]
                assert sorted(mine) == sorted(expected if slots == "each" else set(expected))


def show_text(view: MatchView) -> str:
    return on(Console(width=400, highlight=False), [transcript(view)])


def on_side(fixture: Fixture, on: str) -> list[str]:
    return [seat.player for seat in fixture.seats if side(fixture, seat.label) == on]
