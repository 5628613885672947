"""People among the players: a match that waits for one holds up no other, and no reply is lost."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.arenas import house, ledger_of, patience, write_arena
from tests.engine.run.test_waits import sound

from peerage.arena import open_arena
from peerage.engine.again.dropping import drop
from peerage.engine.run.report import RunReport
from peerage.engine.run.rounds import MOST_WAITING
from peerage.engine.run.runner import Runner
from peerage.engine.run.waiting import WaitingMatches, WaitingUntil
from peerage.game.match import Fixture
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.players.client import Client
from peerage.players.house import HouseClient
from peerage.players.people.person import PersonClient
from peerage.players.people.requests import People, PersonTurn, match_digest
from peerage.playing.requirements import notices
from peerage.settings import PlayerSettings, SettingsError
from peerage.values.clock import now_ms

ME = "human:me"
PERSON = PlayerSettings(model=ME)
PATIENCE_S = 60


def arena(folder: Path, players: Sequence[Any] = (ME,), of_house: int = 5, **sections: Any) -> Path:
    settings = {"seed": None, "pairing": {"window": 4}, **sections}
    return write_arena(folder, [*house(of_house), *players], **settings)


def clients(folder: Path) -> Callable[[PlayerSettings], Client]:
    def opened(settings: PlayerSettings) -> Client:
        if settings.is_person:
            return PersonClient(settings, folder, look_s=0.01)
        return HouseClient(settings)

    return opened


def run(folder: Path, matches: int, beside: Callable[[Runner], Any] | None = None) -> RunReport:
    with open_arena(folder) as opened:
        return opened.run(matches, clients=clients(folder), beside=beside)


def say(people: People, turn: PersonTurn) -> None:
    expects = turn.request.expects
    text = expects.write(expects.sample(Random(turn.request.id)))
    people.reply(turn.request.player, turn.request.id, text, now_ms())


@contextmanager
def somebody(folder: Path, name: str = "me") -> Iterator[list[str]]:
    """A person who replies to everything at once; the ids of what it replied to."""
    done, over = list[str](), threading.Event()

    def work() -> None:
        people = People(folder)
        while not over.wait(0.005):
            if (turn := people.turn(name, now_ms(), shown=True)) is not None:
                say(people, turn)
                done.append(turn.request.id)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join(PATIENCE_S)


def answered_by(folder: Path, player: str) -> list[Exchange]:
    ledger = ledger_of(folder)
    try:
        return [one for one in ledger.exchanges(1) if one.player == player and one.reply is not None]
    finally:
        ledger.close()


def statuses(folder: Path) -> set[str]:
    """How the finished matches ended."""
    ledger = ledger_of(folder)
    try:
        return {row.status for row in ledger.summaries()}
    finally:
        ledger.close()


def until(folder: Path, what: Callable[[Runner], bool], matches: int = 10_000) -> RunReport:
    """Play until something holds, then stop as Ctrl+C does. What the watching raises, the run would drop."""
    broken: list[BaseException] = []

    async def watch(runner: Runner) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not what(runner):
                    await asyncio.sleep(0.02)
        except Exception as error:
            broken.append(error)
        finally:
            runner.stop()

    report = run(folder, matches, beside=watch)
    for error in broken:
        raise error
    return report


def test_a_person_plays_in_any_role_and_is_recorded_like_any_other(tmp_path: Path) -> None:
    arena(tmp_path, rules={"committee": 2, "judges": 3, "topics": ["bridges", "tides"]})
    with somebody(tmp_path) as done:
        report = run(tmp_path, 12)
    assert (report.reason, report.waiting, report.spent_nano) == ("limit", (), 0)
    mine = answered_by(tmp_path, "me")
    assert len(mine) == len(done)
    assert {one.key.partition("/")[0] for one in mine} >= {"answer", "judge"}
    sound(tmp_path)
    assert People(tmp_path).matches("me") == set(), "what is over is not kept beside the ledger"


def test_an_absent_person_holds_up_nobody_and_matches_do_not_pile_up(tmp_path: Path) -> None:
    arena(tmp_path)
    report = until(tmp_path, lambda runner: runner.progress().settled >= 40)
    assert report.reason == "interrupted"
    most = MOST_WAITING + 4 + 8  # as many as may, those paired before that was seen, those under way
    assert 0 < len(report.waiting) <= most
    assert {one.player for one in report.waiting} == {"me"}
    sound(tmp_path)


def test_alone_with_a_person_rounds_wait_for_it(tmp_path: Path) -> None:
    """Nobody else is left to be paired: without that, each reply would bring more matches that wait."""
    arena(tmp_path, of_house=1, game="transform", rules={"tasks": 3})
    people, most = People(tmp_path), [0]

    def replied(runner: Runner) -> bool:
        waiting = runner.progress().waiting
        most[0] = max(most[0], len(waiting))
        if len(waiting) >= 6 and (turn := people.turn("me", now_ms())) is not None:
            say(people, turn)
        return runner.progress().settled >= 8

    report = until(tmp_path, replied)
    assert report.settled >= 8, "the run stays"
    assert most[0] <= MOST_WAITING - 1 + 4, "one fewer than may, and the rounds that were issued then"
    sound(tmp_path)


def test_two_people_meet(tmp_path: Path) -> None:
    arena(tmp_path, ["human:me", "human:you"], of_house=4)
    with somebody(tmp_path) as mine, somebody(tmp_path, "you") as yours:
        assert run(tmp_path, 3).reason == "limit"
    assert len(answered_by(tmp_path, "me")) == len(mine) > 0
    assert len(answered_by(tmp_path, "you")) == len(yours) > 0
    sound(tmp_path)


def test_what_is_replied_between_two_runs_is_taken_by_the_next(tmp_path: Path) -> None:
    arena(tmp_path)
    people = People(tmp_path)
    until(tmp_path, lambda runner: len(runner.progress().waiting) >= 3)
    said = 0
    while (turn := people.turn("me", now_ms())) is not None:
        say(people, turn)
        said += 1
    assert said >= 3
    before = {(one.match, one.key) for one in answered_by(tmp_path, "me")}
    until(tmp_path, lambda runner: len(answered_by(tmp_path, "me")) >= len(before) + said)
    sound(tmp_path)


def test_what_an_earlier_run_asked_is_replied_to_while_the_next_plays(tmp_path: Path) -> None:
    arena(tmp_path)
    people = People(tmp_path)
    until(tmp_path, lambda runner: len(runner.progress().waiting) >= 3)
    asked = people.turn("me", now_ms())
    assert asked is not None

    def taken(runner: Runner) -> bool:
        turn = people.turn("me", now_ms())
        if runner.progress().settled > settled and turn is not None and turn.request == asked.request:
            say(people, turn)
        return bool(answered_by(tmp_path, "me"))

    with open_arena(tmp_path) as opened:
        settled = opened.ledger.heads()[1]
    until(tmp_path, taken)
    assert answered_by(tmp_path, "me")


def test_a_killed_run_asks_for_nothing_twice(tmp_path: Path) -> None:
    arena(tmp_path)
    words = [sys.executable, "-m", "peerage.cli.main", "run", "--yes", "--dir", str(tmp_path)]
    with somebody(tmp_path) as done:
        for more in (2, 5):
            running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stop = time.monotonic() + PATIENCE_S
            while len(done) < more and time.monotonic() < stop:
                time.sleep(0.01)
            running.send_signal(signal.SIGKILL)
            running.wait()
        run(tmp_path, 6)
    assert len(set(done)) == len(done), "nothing was asked twice"
    sound(tmp_path)


@patience(BENCH_AFTER=1_000, BACKOFF_S=0.001, PAUSE_MAX_S=0.001)
def test_when_its_time_is_up_a_person_is_a_lost_player_and_no_loser(tmp_path: Path) -> None:
    # Neither benched nor paused longer and longer, so that it soon is a contestant whose time is up.
    arena(tmp_path, [{"model": ME, "timeout_s": 0.1}])
    report = until(tmp_path, lambda _: "no_answer" in statuses(tmp_path))
    mine = [read_reply(one) for one in answered_by(tmp_path, "me")]
    assert mine
    assert {one.status for one in mine} == {"void"}
    assert all("no reply within" in one.reason or "benched" in one.reason for one in mine)
    assert report.settled > report.decided
    sound(tmp_path)


def test_a_lost_file_is_made_again_from_the_ledger(tmp_path: Path) -> None:
    arena(tmp_path)
    people = People(tmp_path)
    until(tmp_path, lambda runner: len(runner.progress().waiting) >= 2)
    before = people.matches("me")
    people.path.unlink()
    until(tmp_path, lambda runner: before <= people.matches("me"))
    sound(tmp_path)


def test_a_request_of_a_dropped_match_is_no_longer_shown(tmp_path: Path) -> None:
    arena(tmp_path)
    people = People(tmp_path)
    report = until(tmp_path, lambda runner: len(runner.progress().waiting) >= 2)
    dropped = report.waiting[0].match
    with open_arena(tmp_path) as opened:
        at = opened.ledger.place(dropped)  # others may have been folded past it
        [row] = opened.ledger.fixtures(at, at)
        drop(opened.ledger, dropped, now_ms())
        texts = by_hex(opened.ledger.texts())
        match = match_digest(read_fixture(row.body, texts).seed)
    assert match in people.matches("me")
    until(tmp_path, lambda runner: match not in people.matches("me"))


def test_a_reply_of_a_benched_person_waits_for_the_next_run() -> None:
    async def work() -> None:
        benched: dict[str, str] = {}
        waiting = WaitingMatches({"me"}, benched, lambda: None, {"me": PersonClient(PERSON, Path())})
        fixture = Fixture(1, 1, "duel", 1, "seed", (), {}, {})
        waiting.add(WaitingUntil(fixture, "", "me", 0.0, stated=False), saved=False)
        waiting.saved(1)
        assert waiting.next() is None, "it has been asked, and has not replied"
        benched["me"] = "absent"
        waiting.wake("seed")
        assert waiting.next() is None
        assert not waiting.worth_staying(lambda number: False)
        benched.clear()
        assert waiting.worth_staying(lambda number: number > 1)
        assert not waiting.worth_staying(lambda number: number > 0), "it is beyond the limit"
        waiting.wake("another seed")
        waiting.saved(1)
        away = waiting.next()
        assert away is not None
        assert away.fixture is fixture
        waiting.stop()

    asyncio.run(work())


def test_a_reply_that_comes_before_its_match_is_taken_up_again_is_not_lost() -> None:
    async def work() -> None:
        waiting = WaitingMatches({"me"}, {}, lambda: None, {"me": PersonClient(PERSON, Path())})
        waiting.wake("seed")
        fixture = Fixture(1, 1, "duel", 1, "seed", (), {}, {})
        waiting.add(WaitingUntil(fixture, "", "me", 0.0, stated=False), saved=False)
        assert waiting.next() is None, "what it asked is not saved"
        waiting.saved(1)
        away = waiting.next()
        assert away is not None
        waiting.take(away)
        waiting.add(WaitingUntil(fixture, "", "me", 0.0, stated=False), saved=False)
        waiting.saved(1)
        assert waiting.next() is None, "each reply is taken once"
        waiting.stop()

    asyncio.run(work())


def test_the_owner_is_told_what_a_game_cannot_hide_from_people_with_files(tmp_path: Path) -> None:
    for game, hides in (("duel", False), ("bug-hunt", True)):
        arena(tmp_path / game, game=game, rules={})
        with open_arena(tmp_path / game) as opened:
            told = " ".join(notices(opened.settings, opened.ledger))
        assert ("bug-hunt hides things from players. People (me)" in told) is hides


def test_where_nothing_may_be_remembered_people_do_not_play(tmp_path: Path) -> None:
    arena(tmp_path, game="color-obfuscation", rules={"ally": "self"})
    with (
        open_arena(tmp_path) as opened,
        pytest.raises(SettingsError, match="me is a person and may remember"),
    ):
        opened.ready()


def test_a_person_takes_no_settings_of_a_model() -> None:
    for stated in ({"temperature": 0.5}, {"price": {"input": 1, "output": 1}}, {"system_prompt": "Be nice."}):
        with pytest.raises(ValueError, match=f"to whom `{next(iter(stated))}` says nothing"):
            PlayerSettings.model_validate({"model": ME, **stated})
    ada = PlayerSettings(model="human:ada")
    assert (ada.name, ada.family, ada.timeout_s) == ("ada", "human:ada", 86_400)


def test_a_run_stays_for_no_match_beyond_its_last_one(tmp_path: Path) -> None:
    arena(tmp_path)
    report = until(
        tmp_path, lambda runner: len(runner.progress().waiting) >= 3 and runner.progress().settled > 0
    )
    first = min(one.match for one in report.waiting)
    with somebody(tmp_path) as done:
        report = until(tmp_path, lambda _: False, matches=first)
    assert done
    assert report.reason != "interrupted", "it ends by itself"
    assert report.settled >= first
    assert report.waiting, "others had been issued and wait for the next run"


def test_a_person_who_was_not_there_for_an_hour_is_not_stayed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with nothing else to do ends then, and says for whom matches wait."""
    monkeypatch.setattr("peerage.engine.run.waiting.LOOK_AGAIN_S", 0.05)
    arena(tmp_path, of_house=5)
    ahead = [0]

    def opened(settings: PlayerSettings) -> Client:
        if settings.is_person:
            return PersonClient(settings, tmp_path, lambda: now_ms() + ahead[0], look_s=0.01)
        return HouseClient(settings)

    async def leave(runner: Runner) -> None:
        while not runner.progress().waiting:
            await asyncio.sleep(0.01)
        ahead[0] = 2 * 3_600_000

    with open_arena(tmp_path) as one:
        report = one.run(3, clients=opened, beside=leave)
    assert report.reason == "waiting"
    assert {one.player for one in report.waiting} == {"me"}
