"""Players that nothing gets through to: benched, on record, not paired, and tried again at the next start."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine.arenas import (
    asked_again,
    head,
    house,
    ledger_of,
    patience,
    play,
    play_stopping_at,
    statuses,
    write_arena,
)
from tests.engine.clients import Cast, says
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.engine.record.benches import TOPIC, Benches, benched
from peerage.engine.run.report import RunReport
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.topics.places import Bench
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.standings.verify import verify

DEAD = "p3"


def arena(folder: Path, concurrency: int = 8, players: int = 7, **more: Any) -> Path:
    engine = {"concurrency": concurrency, **more}
    return write_arena(folder, players, engine=engine, pairing={"window": 12})


class Failing:
    """House players of which some fail, with the error that `error(call)` gives for one of them."""

    def __init__(self, error: Callable[[Call], PlayerError | None], names: tuple[str, ...] = (DEAD,)) -> None:
        self.asked: list[tuple[float, str]] = []
        self._error = error
        self._names = names

    def __call__(self, settings: PlayerSettings) -> Client:
        if settings.name not in self._names:
            return PacedClient(HouseClient(settings))
        cast = Cast(lambda call, _: self._seen(settings.name, call), lambda: 0.5)
        return cast(settings)

    def _seen(self, name: str, call: Call) -> PlayerError | None:
        self.asked.append((asyncio.get_running_loop().time(), name))
        return self._error(call)


def dead() -> Failing:
    return Failing(lambda _: PlayerError("p3: access denied (401); check the key", kind="permanent"))


def issued(folder: Path) -> list[tuple[int, int, set[str], set[str]]]:
    """(number, round, contestants, everybody) of every fixture."""
    ledger = ledger_of(folder)
    try:
        texts = by_hex(ledger.texts())
        fixtures = [read_fixture(row.body, texts) for row in ledger.fixtures()]
        return [
            (
                one.number,
                one.round,
                {seat.player for seat in one.seats},
                {seat.player for seat in one.all_seats()},
            )
            for one in fixtures
        ]
    finally:
        ledger.close()


def entries(folder: Path) -> list[Bench]:
    ledger = ledger_of(folder)
    try:
        return [Bench(**json.loads(row.body)) for row in ledger.amendments(TOPIC)]
    finally:
        ledger.close()


def results(folder: Path) -> list[Any]:
    """What was paired and what came of it, without what a match that came to nothing had asked by then."""
    ledger = ledger_of(folder)
    try:
        return [
            (row.number, row.round, row.players, row.scores, row.raw, row.cost_elo)
            for row in ledger.summaries()
        ]
    finally:
        ledger.close()


def sound(folder: Path) -> None:
    with open_arena(folder) as opened:
        assert verify(opened.ledger).ok
        assert opened.replay().ok
    assert asked_again(folder) == 0


@pytest.mark.parametrize("concurrency", [1, 16, 64])
def test_a_permanent_failure_benches_a_player_and_pairing_goes_on_without_it(
    tmp_path: Path, concurrency: int
) -> None:
    clients = dead()
    report = play(arena(tmp_path, concurrency), 40, clients=clients)
    assert (report.reason, report.decided) == ("limit", 40)
    assert report.settled - report.decided <= 12, "no more than the window holds"
    assert len(clients.asked) <= concurrency
    (entry,) = entries(tmp_path)
    assert (entry.player, entry.event) == (DEAD, "benched")
    assert "check the key" in entry.why
    assert report.benched == {DEAD: entry.why}
    later = [all_seats for _, round, _, all_seats in issued(tmp_path) if round >= entry.from_round]
    assert len(later) > 20
    assert not any(DEAD in all_seats for all_seats in later), "neither as a contestant nor in a role"
    found = Counter(statuses(tmp_path))
    assert found["done"] == 40
    assert set(found) <= {"done", f"benched: {DEAD}", "no_answer", "no_challenge", "inconclusive"}
    sound(tmp_path)
    with open_arena(tmp_path) as opened:
        rows = {row.player: row for row in opened.leaderboard()}
        assert entry.in_words in rows[DEAD].notes
        assert not any("benched" in note for note in rows["p0"].notes)
    listed = CliRunner().invoke(app, ["players", "--dir", str(tmp_path)]).output
    assert f"{DEAD} is benched since match {entry.after_match}: " in listed


def test_a_bench_is_told_in_words() -> None:
    late = Bench("p1", "benched", 4, 12, "p1: 401 Unauthorized; check the key")
    assert late.in_words == "benched since match 12: 401 Unauthorized; check the key"
    early = Bench("p1", "benched", 1, 0, "no answer")
    assert early.in_words == "benched since before the first match: no answer"


def test_matches_already_issued_end_without_asking_anybody(tmp_path: Path) -> None:
    play(arena(tmp_path, 1), 20, clients=dead())
    ledger = ledger_of(tmp_path)
    lost = [row.number for row in ledger.summaries() if row.status == f"benched: {DEAD}"]
    asked = {row.match for row in ledger.exchanges(1)}
    ledger.close()
    assert lost
    assert not asked & set(lost)


def test_a_match_under_way_asks_nobody_else_once_it_has_lost_a_contestant(tmp_path: Path) -> None:
    """The first call fails after 30 s, when eight matches have been asking others for long."""
    clients = dead()

    def slow(settings: PlayerSettings) -> Client:
        if settings.name == DEAD:
            return Cast(lambda *_: PlayerError("p3: gone", kind="permanent"), lambda: 1.0)(settings)
        return PacedClient(HouseClient(settings), lambda *_: 5.0)

    del clients
    play(arena(tmp_path, 8), 12, clients=slow)
    ledger = ledger_of(tmp_path)
    given_up = [row.number for row in ledger.summaries() if row.status == f"benched: {DEAD}"]
    asked = Counter(row.match for row in ledger.exchanges(1) if row.reply is not None)
    whole = [asked[row.number] for row in ledger.summaries() if row.status == "done"]
    ledger.close()
    assert given_up
    assert max(asked[number] for number in given_up) < min(whole)
    sound(tmp_path)


def test_pairing_results_and_ratings_are_the_same_at_any_concurrency(tmp_path: Path) -> None:
    found = []
    for concurrency in (1, 16, 64):
        folder = arena(tmp_path / str(concurrency), concurrency)
        play(folder, 40, clients=dead())
        found.append((results(folder), issued(folder)[:60], entries(folder)))
    assert found[0] == found[1] == found[2]


def test_once_a_bench_is_on_record_ledgers_are_equal_at_any_concurrency_and_after_any_interruption(
    tmp_path: Path,
) -> None:
    begun = arena(tmp_path / "begun", 8)
    play(begun, 10, clients=dead())
    assert entries(begun)
    heads = []
    for concurrency in (1, 16, 64):
        folder = Path(shutil.copytree(begun, tmp_path / str(concurrency)))
        play(arena(folder, concurrency), 50, clients=dead())
        heads.append(head(folder))
    folder = Path(shutil.copytree(begun, tmp_path / "interrupted"))
    for seconds, concurrency in ((3.0, 16), (11.0, 1), (40.0, 64)):
        play_stopping_at(arena(folder, concurrency), 50, seconds, dead())
    play(arena(folder, 4), 50, clients=dead())
    heads.append(head(folder))
    assert len(set(heads)) == 1, heads
    assert len(entries(folder)) == 1, "tried at each start, and benched once"
    sound(folder)


@pytest.mark.parametrize("seconds", [2.0, 9.0, 25.0, 60.0])
def test_interrupted_before_or_after_the_bench_the_results_are_the_same(
    tmp_path: Path, seconds: float
) -> None:
    play(arena(tmp_path / "calm"), 40, clients=dead())
    folder = arena(tmp_path / "rough")
    play_stopping_at(folder, 40, seconds, dead())
    play_stopping_at(folder, 40, seconds / 2, dead(), times=1)
    play(folder, 40, clients=dead())
    assert results(folder) == results(tmp_path / "calm")
    assert entries(folder) == entries(tmp_path / "calm")
    sound(folder)


def test_a_benched_player_is_tried_at_the_next_start_and_paired_again_when_it_answers(tmp_path: Path) -> None:
    play(arena(tmp_path), 15, clients=dead())
    before = len(issued(tmp_path))
    again = dead()
    play(tmp_path, 20, clients=again)
    assert len(again.asked) == 1, "one small question; no match waits for it"
    report = play(tmp_path, 60, clients=Failing(lambda _: None))
    assert [one.event for one in entries(tmp_path)] == ["benched", "returned"]
    assert report.benched == {}
    back = entries(tmp_path)[1].from_round
    assert any(DEAD in players for _, round, players, _ in issued(tmp_path)[before:] if round >= back)
    sound(tmp_path)


def test_with_too_few_players_left_the_run_ends_and_says_so(tmp_path: Path) -> None:
    names = tuple(f"p{n}" for n in range(7))
    clients = Failing(lambda _: PlayerError("access denied (401)", kind="permanent"), names)
    report = play(arena(tmp_path), None, clients=clients)
    assert report.reason == "players"
    assert "players are left for a match" in report.note
    assert len(report.benched) > 3
    assert report.settled <= 12 + 3
    assert len(clients.asked) <= 3 * len(names)
    assert report.decided == 0
    again = play(tmp_path, None, clients=clients)
    assert (again.reason, again.calls) == ("players", 0)
    sound(tmp_path)


@patience(BENCH_AFTER=8)
def test_a_player_that_is_down_pauses_ever_longer_and_is_benched_in_the_end(tmp_path: Path) -> None:
    clients = Failing(lambda _: PlayerError("p3: the provider failed (503)"))
    report = play(arena(tmp_path, 4, retries=50), 30, clients=clients)
    assert report.decided == 30
    assert report.benched[DEAD].endswith("; the last: p3: the provider failed (503)")
    times = sorted({when for when, _ in clients.asked})
    gaps = [later - sooner for sooner, later in zip(times[-6:], times[-5:], strict=False)]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 32
    assert len(clients.asked) <= 8 + 4


def test_the_providers_own_wait_goes_before_ours_and_it_comes_back(tmp_path: Path) -> None:
    """Limited until the hundredth second: asked once, and again when it said."""

    def error(_: Call) -> PlayerError | None:
        now = asyncio.get_running_loop().time()
        return PlayerError("p3: 429", retry_after_s=100.0 - now) if now < 99.9 else None

    clients = Failing(error)
    report = play(arena(tmp_path, 2), 30, clients=clients)
    assert (report.decided, report.benched) == (30, {})
    early = [when for when, _ in clients.asked if when < 99]
    assert len(early) <= 4
    sound(tmp_path)


@patience(BENCH_AFTER=20)
def test_a_server_that_dies_midway_and_comes_back_costs_no_match(tmp_path: Path) -> None:
    """Down for two minutes: its calls wait, none of its matches is lost, and nobody is benched."""

    def error(_: Call) -> PlayerError | None:
        down = 20 < asyncio.get_running_loop().time() < 140
        return PlayerError("p3: the connection broke off") if down else None

    report = play(arena(tmp_path, 8, retries=20), 60, clients=Failing(error))
    assert (report.decided, report.benched) == (60, {})
    calm = arena(tmp_path / "calm", 8)
    play(calm, 60, clients=Failing(lambda _: None))
    assert head(calm) == head(tmp_path)


@patience(BENCH_AFTER=50)
def test_matches_that_only_wait_for_a_player_give_their_places_to_others(tmp_path: Path) -> None:
    most = [0]

    async def watch(runner: Any) -> None:
        while True:
            await asyncio.sleep(1)
            most[0] = max(most[0], runner.progress().matches_in_flight)

    def error(_: Call) -> PlayerError | None:
        return PlayerError("p3: 503") if asyncio.get_running_loop().time() < 60 else None

    play(arena(tmp_path, 2, retries=50), 30, clients=Failing(error), beside=watch)
    assert 2 < most[0] <= 12


def test_a_house_player_that_fails_is_not_waited_for(tmp_path: Path) -> None:
    """In this process its reply would be the same after any wait: one call in twenty cost 81 s, not 3."""
    players = [{"name": f"p{n}", "model": f"house:0.{n + 2}"} for n in range(6)]
    players[2]["faults"] = {"failing": 0.05}  # type: ignore[assignment]
    write_arena(tmp_path, players)

    async def timed() -> float:
        with open_arena(tmp_path) as opened:
            await asyncio.wait_for(opened.play(60), 60)
        return 0.0

    asyncio.run(timed())
    ledger = ledger_of(tmp_path)
    assert any(one.failure for one in ledger.exchanges(1, unanswered=True)), "the fault did not strike"
    ledger.close()


def test_so_many_decided_matches_are_played_as_were_asked_for(tmp_path: Path) -> None:
    def error(call: Call) -> PlayerError | None:
        return PlayerError("too long", kind="request") if call.key == "answer/A" else None

    for concurrency in (1, 16):
        folder = arena(tmp_path / str(concurrency), concurrency)
        report = play(folder, 30, clients=Failing(error))
        assert (report.reason, report.decided) == ("limit", 30)
        assert statuses(folder).count("done") == 30
        assert statuses(folder)[-1] == "done"
        assert report.settled > 30
        assert play(folder, 30, clients=Failing(error)).played == 0
    assert head(tmp_path / "1") == head(tmp_path / "16")


@patience(GIVE_UP_AFTER=9)
def test_an_arena_in_which_nothing_works_ends(tmp_path: Path) -> None:
    everybody = tuple(f"p{n}" for n in range(7))

    def error(call: Call) -> PlayerError | None:
        return PlayerError("too long", kind="request") if call.key == "answer/A" else None

    report = play(arena(tmp_path), None, clients=Failing(error, everybody))
    assert report.reason == "no_result"
    assert report.note == "the last 9 matches came to no result"
    assert (report.settled, report.decided) == (9, 0)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_panel_whose_first_matches_come_to_nothing_stops(tmp_path: Path, concurrency: int) -> None:
    """Judges whose replies nobody can use: three matches are paid for, and one more in the next run. An arena
    that has had a result goes on."""
    mute = [True]

    def act(call: Call, _: int) -> Answer | None:
        return says("…") if mute[0] and call.key.partition("~")[0].endswith(("/A-B", "/B-A")) else None

    folder = arena(tmp_path, concurrency)
    report = play(folder, 30, clients=Cast(act))
    assert (report.reason, report.settled, report.decided) == ("no_result", 3, 0)
    assert report.note == "the first 3 matches came to no result"
    report = play(folder, 30, clients=Cast(act))
    assert (report.reason, report.decided) == ("no_result", 0)
    assert 1 <= report.played <= 2 * concurrency
    mute[0] = False
    assert play(folder, 3, clients=Cast(act)).decided == 3
    mute[0] = True
    report = play(folder, 30, clients=Cast(act))
    assert report.note == "the first 3 matches that judges were to decide came to no result"
    assert 3 <= report.played <= 3 + 2 * concurrency


def test_a_panel_that_a_check_relieves_now_and_then_stops_too(tmp_path: Path) -> None:
    """Where checks decide some matches there are results, and yet nothing comes of the judges."""
    players = [{"model": f"house:0.{skill}", "name": f"p{skill}"} for skill in (5, 3)]
    tasks = [{"prompt": f"{n} + {n}?", "expected": str(2 * n)} for n in range(1, 30)]
    more = {"tasks": {"file": tasks, "then": "judges"}, "judges": [{"model": "house:0.8", "name": "judge"}]}
    (tmp_path / "arena.yaml").write_text(yaml.safe_dump({"seed": 1, "players": players, **more}))

    def act(call: Call, _: int) -> Answer | None:
        return says("…") if call.key.partition("~")[0].endswith(("/A-B", "/B-A")) else None

    report = play(tmp_path, 200, clients=Cast(act))
    assert (report.reason, report.settled - report.decided) == ("no_result", 3)
    assert report.note == "the first 3 matches that judges were to decide came to no result"
    assert report.decided


@patience(GIVE_UP_AFTER=9)
def test_matches_without_a_result_are_counted_over_runs(tmp_path: Path) -> None:
    everybody = tuple(f"p{n}" for n in range(7))
    works = [False]

    def error(call: Call) -> PlayerError | None:
        failing = call.key == "answer/A" and not works[0]
        return PlayerError("too long", kind="request") if failing else None

    folder = arena(tmp_path, 1)
    with patience(GIVE_UP_AFTER=5):
        play(folder, 30, clients=Failing(error, everybody))
    report = play(folder, 30, clients=Failing(error, everybody))
    assert (report.reason, report.played, len(statuses(folder))) == ("no_result", 4, 9)
    report = play(folder, 30, clients=Failing(error, everybody))
    assert (report.reason, report.decided) == ("no_result", 0)
    assert report.played <= 9
    works[0] = True
    assert play(folder, 3, clients=Failing(error, everybody)).decided == 3


def test_entries_carry_on_where_they_stopped() -> None:
    first = Benches()
    rows = [
        first.enter(Bench("a", "benched", 4, 3, "401"), 1),
        first.enter(Bench("b", "benched", 5, 4, "404"), 2),
    ]
    again = Benches.of(rows)
    assert again == first
    rows.append(again.enter(Bench("a", "returned", 9, 20, "it answers again"), 3))
    assert set(Benches.of(rows).out) == {"b"}


def test_nobody_is_benched_in_an_arena_that_works(tmp_path: Path) -> None:
    report: RunReport = play(arena(tmp_path), 10)
    assert report.benched == {}
    ledger = ledger_of(tmp_path)
    assert benched(ledger) == {}
    assert TOPIC not in ledger.topics()
    ledger.close()


def test_a_house_player_that_always_fails_is_benched(tmp_path: Path) -> None:
    for name, concurrency in (("a", 1), ("b", 16)):
        players = house(7)
        players[3]["faults"] = {"failing": 1.0}
        engine = {"concurrency": concurrency}
        folder = write_arena(tmp_path / name, players, engine=engine, pairing={"window": 12})
        play(folder, 100, clients=HouseClient)
        (entry,) = entries(folder)
        assert (entry.player, entry.event) == ("p3", "benched")
        assert entry.why.startswith("as a contestant no reply in 5 of 5 matches; the last: ")
        assert sum(status != "done" for status in statuses(folder)) <= 5 + 12
        sound(folder)
    assert head(tmp_path / "a") == head(tmp_path / "b")


def test_replies_as_a_judge_do_not_hide_failures_as_a_contestant(tmp_path: Path) -> None:
    """A player that fails in most of its own matches, and in the others where it judges replies at once."""
    contests = Counter[str]()

    def error(call: Call) -> PlayerError | None:
        if call.role != "contestant":
            return None
        contests[call.seed] += 1
        return None if len(contests) % 6 == 0 else PlayerError("p3: gone", kind="request")

    folder = arena(tmp_path)
    play(folder, 100, clients=Failing(error))
    (entry,) = entries(folder)
    assert re.match("as a contestant no reply in 5 of [56] matches; the last: p3: gone", entry.why)
    sound(folder)


def test_a_share_of_failures_that_any_provider_may_have_benches_nobody(tmp_path: Path) -> None:
    contests: dict[str, int] = {}

    def error(call: Call) -> PlayerError | None:
        turn = contests.setdefault(call.seed, len(contests)) if call.role == "contestant" else 1
        return PlayerError("p3: gone", kind="request") if turn % 5 == 0 else None

    folder = arena(tmp_path)
    play(folder, 150, clients=Failing(error))
    assert entries(folder) == []


def test_failures_are_counted_anew_after_a_return_and_over_interruptions(tmp_path: Path) -> None:
    def error(call: Call) -> PlayerError | None:
        fails = call.role == "contestant" and call.key != "probe"
        return PlayerError("p3: gone", kind="request") if fails else None

    failing = Failing(error)
    whole, cut = arena(tmp_path / "whole", 1), arena(tmp_path / "cut", 1)
    play(whole, 40, clients=failing)
    for _ in range(12):
        play_stopping_at(cut, 40, 25.0, clients=failing)
    play(cut, 40, clients=failing)
    benched_at = [(one.after_match, one.from_round) for one in entries(whole) if one.event == "benched"]
    assert benched_at[0] == next((one.after_match, one.from_round) for one in entries(cut))
    play(whole, 80, clients=failing)
    found = entries(whole)
    assert [one.event for one in found] == ["benched", "returned", "benched"]
    assert found[1].failed >= 5
    assert found[2].why.startswith("as a contestant no reply in 5 of 5 matches")
