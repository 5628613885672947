"""Matches that wait: they leave their rounds, hold nobody up, go on later, and the log tells the order."""

from __future__ import annotations

import asyncio
import math
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest
from tests.engine.arenas import (
    asked_again,
    house,
    ledger_of,
    patience,
    play,
    play_stopping_at,
    total_spent,
    write_arena,
)
from tests.engine.calls.test_budgets import PRICE
from tests.engine.record.test_benches import Failing

from peerage.arena import open_arena
from peerage.engine.again import replay
from peerage.engine.again.dropping import drop
from peerage.engine.again.recovery import recover
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.record.benches import Benches
from peerage.engine.record.probed import TOPIC as PROBES
from peerage.engine.record.probed import ProbeEntry, entries
from peerage.engine.run.probes import bench_by_probes, probe_players
from peerage.engine.run.runner import Runner
from peerage.engine.run.waiting import WaitingMatches, WaitingUntil
from peerage.game.match import Fixture
from peerage.ledger import Ledger, amend, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.forms.log import finished
from peerage.ledger.out.disclosure import write_redacted
from peerage.ledger.stores.contract import Row
from peerage.ledger.stores.sql import DatabaseConnection, Query
from peerage.ledger.stores.sqlite import SqliteStore
from peerage.ledger.topics.places import Bench
from peerage.ledger.topics.waits import TOPIC, read_wait, waits
from peerage.players.client import Answer, Call, Client, Later, PlayerError
from peerage.players.house import HouseClient, PacedClient
from peerage.players.prices import price_of
from peerage.playing import run as playing
from peerage.settings import PlayerSettings, Rating
from peerage.standings.fold import elo_settings
from peerage.standings.verify import verify

MATCHES = 30
HOUR = 3600.0


class Clock:
    """Unix milliseconds of virtual time; `passes` lets hours pass between two runs."""

    def __init__(self) -> None:
        self._began_ms = 1_700_000_000_000
        self._seen_s = 0.0

    def __call__(self) -> int:
        self._seen_s = asyncio.get_running_loop().time()
        return self._began_ms + round(self._seen_s * 1000)

    def passes(self, hours: float) -> None:
        self._began_ms += round((self._seen_s + hours * HOUR) * 1000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(playing, "now_ms", clock)
    return clock


class Sleeper:
    """A house player that asks for some calls to come later: `hours` after it was first asked."""

    def __init__(
        self, settings: PlayerSettings, hours: Callable[[str, Call], float], clock: Clock, said: bool
    ) -> None:
        self._name = settings.name
        self._paced = PacedClient(HouseClient(settings))
        self._hours = hours
        self._clock = clock
        self._said = said
        self._woken: dict[tuple[str, str], int] = {}
        self.put_off = 0

    async def start(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """Nothing to release."""

    async def answer(self, call: Call) -> Answer:
        now_ms, hours = self._clock(), self._hours(self._name, call)
        wakes_ms = self._woken.setdefault((call.seed, call.key), now_ms + round(hours * HOUR * 1000))
        if now_ms < wakes_ms:
            self.put_off += 1
            raise Later(f"asleep for {hours:.1f} h", wakes_ms if self._said else None)
        return await self._paced.answer(call)


def sleepers(
    hours: Callable[[str, Call], float], clock: Clock, said: bool = True
) -> Callable[[PlayerSettings], Client]:
    """One client for each player, the same in every run."""
    known: dict[str, Sleeper] = {}
    return lambda settings: known.setdefault(settings.name, Sleeper(settings, hours, clock, said))


def third(name: str, call: Call) -> float:
    """About a third of all matches wait for hours, all by the matches' own secrets."""
    draw = int.from_bytes(sha256(f"{call.seed}".encode()).digest()[:4], "big") / 2**32
    if draw > 1 / 3 or call.role != "contestant" or name not in ("p1", "p3", "p5", "p6"):
        return 0.0
    return 0.1 + 2.0 * draw


def sound(folder: Path) -> None:
    with open_arena(folder) as opened:
        report = verify(opened.ledger)
        assert report.ok, report.problems
        replayed = opened.replay()
        assert replayed.ok, replayed.differences
    assert asked_again(folder) == 0


def test_a_round_that_all_its_matches_left_ends_in_the_next_run_too(tmp_path: Path, clock: Clock) -> None:
    """Where an earlier round is still open when a run stops. Without that no further round was issued."""

    def asleep(name: str, call: Call) -> float:
        return 2.0 if call.seed < "b" else 0.0  # two matches in three

    folder = write_arena(tmp_path, 4, game="allocation", rules={"tasks": 3}, pairing={"window": 4})
    clients, left_behind = sleepers(asleep, clock), False
    for _ in range(12):
        play_stopping_at(folder, MATCHES, 1.5, clients)
        with closing(ledger_of(folder)) as ledger:
            found = recover(ledger, 2, elo_settings(Rating()))
        assert [*found.open] == [*range(len(found.round_ends) + 1, found.next_round)]
        left_behind |= 0 in found.open.values()
    assert left_behind, "such a round was met"
    for _ in range(2):  # those that the first of these runs issues sleep too
        clock.passes(3)
        report = play(folder, MATCHES, clients=clients)
    assert report.settled == MATCHES


def test_matches_wait_for_hours_and_nothing_else_is_held_up(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    report = play(tmp_path, MATCHES, clients=sleepers(third, clock))
    assert (report.reason, report.decided, report.waiting) == ("limit", MATCHES, ())
    ledger = ledger_of(tmp_path)
    order = [row.number for row in ledger.records()]
    entered = [read_wait(row.body) for row in ledger.amendments(TOPIC)]
    ledger.close()
    left = {one.match for one in entered}
    assert len(left) >= 4
    every = range(1, report.settled + 1)
    assert [number for number in order if number not in left] == sorted(set(every) - left)
    assert order.index(min(left)) > 20, "others are folded past it"
    assert sorted(order) == list(every)
    sound(tmp_path)


def order_of(folder: Path) -> list[int]:
    ledger = ledger_of(folder)
    try:
        return [row.number for row in ledger.records()]
    finally:
        ledger.close()


def scores_of(folder: Path) -> dict[int, tuple[float, ...]]:
    ledger = ledger_of(folder)
    try:
        return {row.number: row.scores for row in ledger.summaries()}
    finally:
        ledger.close()


def test_a_run_ends_while_matches_wait_and_the_next_takes_them_up_first(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    clients = sleepers(lambda name, call: 5.0 * third(name, call), clock)
    first = play(tmp_path, MATCHES, clients=clients)
    assert first.reason == "waiting"
    assert first.waiting
    played = first.settled + len(first.waiting)
    assert {one.match for one in first.waiting} == set(range(1, played + 1)) - set(order_of(tmp_path))
    assert all(one.player in ("p1", "p3", "p5", "p6") and "asleep" in one.why for one in first.waiting)
    sound(tmp_path)
    before = order_of(tmp_path)
    clock.passes(12)
    second = play(tmp_path, MATCHES + 6)
    assert (second.reason, second.decided) == ("limit", MATCHES + 6)
    after = order_of(tmp_path)
    assert after[: len(before)] == before
    assert set(after[len(before) : len(before) + len(first.waiting)]) & {one.match for one in first.waiting}
    sound(tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_killed_at_random_pays_nothing_twice_and_comes_to_the_same_outcomes(
    tmp_path: Path, clock: Clock, seed: int
) -> None:
    undisturbed = write_arena(tmp_path / "undisturbed", engine={"concurrency": 8})
    play(undisturbed, MATCHES, clients=sleepers(third, clock))
    rng = random.Random(seed)
    folder = tmp_path / "disturbed"
    clients = sleepers(third, clock, said=bool(seed % 2))
    for run in range(200):
        write_arena(folder, engine={"concurrency": rng.choice([1, 8, 64])})
        report = play_stopping_at(folder, MATCHES, rng.uniform(0, 60) if run < 30 else 1e6, clients)
        with open_arena(folder) as opened:
            assert verify(opened.ledger).ok
        clock.passes(0.1)
        if report.reason == "limit":
            break
    assert run > 2
    assert order_of(folder) != sorted(order_of(folder))
    sound(folder)
    mine, theirs = scores_of(folder), scores_of(undisturbed)
    same_pairing = [number for number in mine if seats_of(folder)[number] == seats_of(undisturbed)[number]]
    assert len(same_pairing) >= 12, "those issued before anything waited"
    assert all(mine[number] == theirs[number] for number in same_pairing)


def seats_of(folder: Path) -> dict[int, set[str]]:
    ledger = ledger_of(folder)
    try:
        return {row.number: set(row.players) for row in ledger.summaries()}
    finally:
        ledger.close()


def test_a_player_that_says_come_back_in_hours_holds_up_only_its_own_matches(
    tmp_path: Path, clock: Clock
) -> None:
    """A provider whose quota is spent: what it says is minded, and once it is back all its matches go on."""
    loop_time: list[float] = []

    def out_of_quota(call: Call) -> PlayerError | None:
        now = asyncio.get_running_loop().time()
        loop_time.append(now)
        return PlayerError("p3: quota (429)", retry_after_s=7_200 - now) if now < 7_200 else None

    write_arena(tmp_path, engine={"concurrency": 8}, pairing={"window": 12})
    first = play(tmp_path, 60, clients=Failing(out_of_quota, ("p3",)))
    assert first.reason == "waiting", "two hours are more than a run stays for"
    assert first.settled > 10
    assert len(first.waiting) + first.decided == 60
    assert {one.player for one in first.waiting} == {"p3"}
    assert all(one.why == "paused: p3: quota (429)" and one.until_ms for one in first.waiting)
    assert len(loop_time) <= 4, "nobody asks again before its time"
    sound(tmp_path)
    again = play(tmp_path, 60)
    assert again.reason == "waiting", "the time that it said has not come"
    sound(tmp_path)


@patience(PAUSE_MAX_S=400, BENCH_AFTER=50)
def test_a_player_that_fails_for_long_holds_up_only_its_own_matches(tmp_path: Path, clock: Clock) -> None:
    """Half an hour without a server: its matches leave, one at a time tries again, and all go on."""

    def down(call: Call) -> PlayerError | None:
        now = asyncio.get_running_loop().time()
        return PlayerError("p3: no connection") if 20 < now < 1_800 else None

    write_arena(tmp_path, engine={"concurrency": 8, "retries": 1000}, pairing={"window": 12})
    report = play(tmp_path, 60, clients=Failing(down, ("p3",)))
    assert (report.reason, report.decided, report.waiting) == ("limit", 60, ())
    order = order_of(tmp_path)
    assert order != sorted(order)
    sound(tmp_path)


@pytest.mark.parametrize("concurrency", [1, 64])
def test_where_everybody_is_away_the_run_ends_soon(tmp_path: Path, clock: Clock, concurrency: int) -> None:
    write_arena(tmp_path, engine={"concurrency": concurrency})
    report = play(tmp_path, None, clients=sleepers(lambda name, call: 100.0, clock))
    assert (report.reason, report.settled) == ("waiting", 0)
    assert len(report.waiting) <= 20 + 2 * concurrency
    sound(tmp_path)
    back = play(tmp_path, len(report.waiting) + 3)
    assert back.reason == "waiting", "nobody said that it would be back so soon"
    sound(tmp_path)


def test_replays_are_the_same_to_the_last_bit(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    play(tmp_path, MATCHES, clients=sleepers(third, clock))
    monkeypatch.setattr(replay, "TOLERANCE", 0.0)
    with open_arena(tmp_path) as opened:
        assert opened.replay().ok


def test_one_that_waited_may_end_before_others_of_an_earlier_round(tmp_path: Path, clock: Clock) -> None:
    """It was paired by later ratings than those, which a replay must still know then."""

    class Slow(Sleeper):
        async def answer(self, call: Call) -> Answer:
            draw = sha256(call.seed.encode()).digest()[0]
            await asyncio.sleep(100.0 if draw < 64 else 0.0)
            return await super().answer(call)

    def few(name: str, call: Call) -> float:
        return 0.002 * (name in ("p1", "p2") and sha256(call.seed.encode()).digest()[0] > 200)

    write_arena(tmp_path, seed=3, engine={"concurrency": 16}, pairing={"window": 8})
    known: dict[str, Sleeper] = {}
    report = play(
        tmp_path,
        MATCHES,
        clients=lambda settings: known.setdefault(settings.name, Slow(settings, few, clock, True)),
    )
    assert report.settled == MATCHES
    with closing(ledger_of(tmp_path)) as ledger:
        texts, left = by_hex(ledger.texts()), waits(ledger).left
        paired_by = {row.number: read_fixture(row.body, texts).snapshot for row in ledger.fixtures()}
    order = order_of(tmp_path)
    assert any(
        paired_by[order[before]] > paired_by[order[at]]
        for before in range(MATCHES)
        for at in range(before, MATCHES)
        if order[before] in left and paired_by[order[at]] not in {paired_by[number] for number in left}
    )
    sound(tmp_path)


@patience(GIVE_UP_AFTER=500)
@pytest.mark.parametrize("seed", range(2))
def test_no_more_matches_pile_up_for_a_player_that_is_away(tmp_path: Path, clock: Clock, seed: int) -> None:
    """It is left out of rounds while as many wait for it as the window holds, by what the log held when the
    round ended whose ratings a round is paired by: so runs that stop anywhere pair alike."""
    rng, window, players = random.Random(seed), 6, 8
    away = sleepers(lambda name, call: 50.0 * (name == "p1"), clock)
    for limit in (*range(5, 40, 3), 80):
        engine = {"concurrency": rng.choice([1, 8, 64])}
        write_arena(tmp_path, players, engine=engine, pairing={"window": window})
        play_stopping_at(tmp_path, limit, rng.choice([20, 1e6]) if limit < 80 else 1e6, away)
        clock.passes(0.1)
    clock.passes(51)
    assert play(tmp_path, 110).reason == "limit"
    sound(tmp_path)
    with open_arena(tmp_path) as arena:
        lag = int(arena.ledger.meta()["lag"])
        texts = by_hex(arena.ledger.texts())
        rounds: dict[int, list[Fixture]] = {}
        for row in arena.ledger.fixtures():
            rounds.setdefault(row.round, []).append(read_fixture(row.body, texts))
        said = iter([read_wait(row.body) for row in arena.ledger.amendments(TOPIC)])
        log = [finished(entry.about) or next(said) for entry in arena.ledger.log() if of_match(entry.about)]
    over: set[int] = set()
    left: set[int] = set()
    piled: list[int] = []  # at the end of each round
    for entry in log:
        if isinstance(entry, int):
            over.add(entry)
        elif entry.event == "waits":
            assert entry.player == "p1"
            left.add(entry.match)
        while len(piled) < len(rounds) and all(one.number in over | left for one in rounds[len(piled) + 1]):
            piled.append(len(left - over))
    seated = {
        number: any(seat.player == "p1" for one in fixtures for seat in one.seats)
        for number, fixtures in rounds.items()
    }
    known = {number: piled[number - lag - 1] for number in rounds if number > lag}
    assert max(piled) <= window + 3 * (lag + 1)
    assert all(seated[number] == (waiting < window) for number, waiting in known.items())
    assert sum(waiting >= window for waiting in known.values()) > 10
    assert any(seated[number] for number in list(known)[-3:]), "it plays again when its matches are done"


def of_match(about: str) -> bool:
    return bool(finished(about)) or about.partition(" ")[0] == TOPIC


def test_where_too_few_are_left_a_player_that_is_away_is_paired_all_the_same(
    tmp_path: Path, clock: Clock
) -> None:
    write_arena(tmp_path, house(3), game="color-obfuscation", rules={}, pairing={"window": 2})
    away = sleepers(lambda name, call: 50.0 * (name in ("p0", "p1")), clock)
    assert play(tmp_path, 30, clients=away).reason == "waiting"
    clock.passes(51)
    assert play(tmp_path, 40).reason == "limit"
    sound(tmp_path)


@pytest.mark.parametrize("until", ["4e12", "10**30", "float('nan')", "'tomorrow'", "4_000_000_000_000"])
def test_a_function_that_says_later_is_waited_for_whatever_time_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    name = f"asleep_{sha256(until.encode()).hexdigest()[:8]}"
    (tmp_path / f"{name}.py").write_text(
        f"from peerage.players import Later\ndef answer(request):\n    raise Later('out of hours', {until})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    agent = {"name": "owl", "model": f"python:{name}:answer"}
    write_arena(tmp_path, [*house(6), agent], engine={"concurrency": 4}, pairing={"window": 4})
    with open_arena(tmp_path) as arena:
        report = arena.run(12)
    assert (report.reason, report.benched) == ("waiting", {})
    known = 4_000_000_000_000 if "_" in until else None
    assert {(one.player, one.why, one.until_ms) for one in report.waiting} == {("owl", "out of hours", known)}
    sound(tmp_path)


async def test_a_probe_that_is_answered_later_is_no_failure_and_ends_a_bench(tmp_path: Path) -> None:
    class Asleep(HouseClient):
        async def answer(self, call: Call) -> Answer:
            raise Later("out of hours", 4_000_000_000_000)

    owl, other = (PlayerSettings(name=name, model="http://127.0.0.1:9/") for name in ("owl", "other"))
    lines = {
        one.name: PlayerRuntime(
            one, Asleep(PlayerSettings(model="house:0.5")), price_of(one, date(2026, 1, 1))
        )
        for one in (owl, other)
    }
    write_arena(tmp_path)
    with open_arena(tmp_path) as arena, arena.ledger.runner():

        async def record(entry: ProbeEntry) -> None:
            amend(arena.ledger, PROBES, [entry], 1)

        probed = await probe_players(lines, {}, affordable=lambda *_: True, record=record)
        on_record = [entry.found["owl"] for entry in entries(arena.ledger) if entry.found]
    assert [(one.status, one.reason, one.cost_nano) for one in on_record] == [("void", "out of hours", 0)]
    benches = Benches({"owl": Bench("owl", "benched", 1, 0, "no connection")})
    rows = await bench_by_probes(benches, (1, 0), lines, probed, {}, None, lambda: 1)
    assert [msgspec.json.decode(row.body, type=Bench).event for row in rows] == ["returned"]
    assert benches.out == {}


def test_no_money_is_reserved_for_a_match_that_waits(tmp_path: Path, clock: Clock) -> None:
    priced = house(7, price=PRICE)
    held: list[int] = []

    async def watch(runner: Runner) -> None:
        while True:
            await asyncio.sleep(1.0)
            if runner.progress().waiting and not runner.progress().calls_in_flight:
                held.append(runner._budget.held)

    write_arena(tmp_path, priced, engine={"concurrency": 8}, budget={"arena": 10_000.0, "match": 500.0})
    report = play(tmp_path, MATCHES, clients=sleepers(third, clock), beside=watch)
    assert report.reason == "limit"
    assert held
    assert set(held) == {0}
    assert total_spent(tmp_path) == report.spent_nano
    sound(tmp_path)


def test_a_record_that_the_log_does_not_know_is_told(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    play(tmp_path, MATCHES, clients=sleepers(third, clock))
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db, db:
        db.execute(
            "INSERT INTO records (number, chain, at_ms, body) "
            "SELECT 99, chain, at_ms, body FROM records WHERE number = 3"
        )
    with open_arena(tmp_path) as opened:
        report = verify(opened.ledger)
        assert any("the table records holds 1 row that the log" in one.what for one in report.problems)


@pytest.mark.usefixtures("plain_bodies")
def test_a_match_that_was_folded_out_of_order_without_an_entry_is_told(tmp_path: Path, clock: Clock) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    play(tmp_path, MATCHES, clients=sleepers(third, clock))
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db, db:
        first = db.execute("SELECT min(position) FROM entries WHERE topic = 'waits'").fetchone()[0]
        (body,) = db.execute("SELECT body FROM entries WHERE position = ?", [first]).fetchone()
        body = bytes(body).replace(b'"match":', b'"match":9')
        db.execute("UPDATE entries SET body = ? WHERE position = ?", [body, first])
    with open_arena(tmp_path) as opened:
        told = " ".join(one.what for one in verify(opened.ledger).problems)
        assert f"entry {first} of the log, about waits, is not as it was logged" in told
        assert "it entered the log in place of match" in told


def test_a_copy_without_what_waits_is_whole_and_a_removed_fixture_is_told(
    tmp_path: Path, clock: Clock
) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    waiting = play(tmp_path, MATCHES, clients=sleepers(lambda *asked: 5.0 * third(*asked), clock)).waiting
    away, folded = waiting[0].match, order_of(tmp_path)[2]
    with closing(ledger_of(tmp_path)) as ledger:
        write_redacted(ledger, tmp_path / "copy.db")

    def told(file: str) -> list[tuple[int | None, str]]:
        with closing(open_ledger(f"sqlite:///{file}", tmp_path, create=False)) as ledger:
            return [(one.match, one.what) for one in verify(ledger).problems]

    assert told("copy.db") == []
    with closing(open_ledger("sqlite:///copy.db", tmp_path, create=False)) as copy:
        entries = [row.body.decode() for row in copy.amendments(TOPIC)]
        assert not [one for one in entries if "asleep" in one or '"p' in one], "for whom a match waits"
        assert {wait.player for wait in waits(copy).now.values()} == {""}
    for file, number in (("copy.db", folded), ("arena.db", away)):
        with closing(sqlite3.connect(tmp_path / file)) as db, db:
            assert db.execute("DELETE FROM fixtures WHERE number = ?", [number]).rowcount == 1
        assert number in [match for match, _ in told(file)], file


def test_a_match_is_read_by_its_number_as_it_was_at_one_moment(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arena(tmp_path, engine={"concurrency": 8})
    clients = sleepers(lambda *asked: 5.0 * third(*asked), clock)
    (away, *_) = sorted(one.match for one in play(tmp_path, MATCHES, clients=clients).waiting)
    with closing(ledger_of(tmp_path)) as ledger:
        issued = ledger.heads()[0]
        for at, number in enumerate(ledger.numbers(1, issued), 1):
            fixture, record, asked = ledger.match(number) or (None, None, [])
            assert [fixture] == list(ledger.fixtures(at, at))
            assert [record] == (list(ledger.records(at, at)) or [None])
            assert asked == list(ledger.exchanges(at, at))
            assert {one.match for one in asked} <= {number}
        assert ledger.match(0) is ledger.match(issued + 1) is ledger.match(10**30) is None
        before = ledger.match(away)
        assert before is not None
        assert before.record is None
        file = cast(Ledger, ledger)._store
        found, reads = SqliteStore.read, count(1)

        def meanwhile(
            self: SqliteStore, connection: DatabaseConnection, wanted: Query
        ) -> Iterator[Sequence[Row]]:
            if self is file and next(reads) == 2:
                with closing(ledger_of(tmp_path)) as other:
                    drop(other, away, 1)
            yield from found(self, connection, wanted)

        monkeypatch.setattr(SqliteStore, "read", meanwhile)
        assert ledger.match(away) == before
        after = ledger.match(away)
        assert after is not None
        assert after.record is not None


async def test_a_timer_that_comes_a_little_early_finds_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks count in floats; where nothing were due then, nobody would look again."""
    loop, due = asyncio.get_running_loop(), 1496.102
    waiting = WaitingMatches({"ann"}, {}, lambda: None)
    match = cast("Fixture", SimpleNamespace(number=3, seed="s", seats=()))
    monkeypatch.setattr(loop, "time", lambda: due - 5)
    waiting.add(WaitingUntil(match, "", "ann", due, stated=True), saved=True)
    assert waiting.next() is None
    monkeypatch.setattr(loop, "time", lambda: math.nextafter(due, 0))
    found = waiting.next()
    assert found is not None
    assert found.fixture.number == 3
    waiting.stop()
