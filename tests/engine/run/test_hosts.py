"""Hosts: started when it is worth it, stopped after the last call, whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.arenas import house, play, play_stopping_at, write_arena
from tests.engine.run.test_waits import Clock, clock, sound

from peerage.arena import open_arena
from peerage.engine.run import hosts
from peerage.ledger.topics.uptimes import Uptime, uptimes
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient, PacedClient
from peerage.playing.requirements import notices
from peerage.playing.run import ArenaError
from peerage.settings import PlayerSettings

__all__ = ["clock"]
HANDS = (Path(__file__).parents[1] / "hands.py").read_text("utf-8")


def arena(folder: Path, lineup: list[dict[str, Any]], rig: dict[str, Any], **more: Any) -> Path:
    """An arena of a game of one call a seat, with the host `rig`."""
    write_arena(folder, lineup, game="./hands.py", rules={}, hosts={"rig": rig}, **more)
    (folder / "hands.py").write_text(HANDS, "utf-8")
    return folder


def hosted(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"name": f"h{at}", "model": f"house:0.{4 + at}", "host": "rig", **more} for at in range(count)]


class Served:
    """A model that notes when it is up; a call takes so many seconds, and loading it so many."""

    def __init__(
        self,
        settings: PlayerSettings,
        up: set[str],
        seen: list[set[str]],
        seconds: float,
        load_s: float = 0.0,
    ) -> None:
        self._name = settings.name
        self._house = HouseClient(settings)
        self._up = up
        self._seen = seen
        self._seconds = seconds
        self._load_s = load_s

    async def start(self) -> None:
        await asyncio.sleep(self._load_s)
        self._up.add(self._name)

    async def close(self) -> None:
        self._up.discard(self._name)

    async def answer(self, call: Call) -> Answer:
        self._seen.append(set(self._up))
        await asyncio.sleep(self._seconds)
        if self._name not in self._up:
            raise PlayerError("the server is gone", maybe_paid=True)
        return self._house.answer_now(call)


def served(up: set[str], seen: list[set[str]], seconds: float = 5.0) -> Callable[[PlayerSettings], Client]:
    """Players on hosts as `Served`; the others answer at once."""
    return lambda one: Served(one, up, seen, seconds) if one.host else HouseClient(one)


def uptimes_of(folder: Path) -> list[Uptime]:
    with open_arena(folder) as opened:
        return list(uptimes(opened.ledger))


def test_one_uptime_serves_all_matches_that_wait(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, [*house(4), *hosted(2)], {"usd_per_hour": 3.6, "matches": 100})
    up, seen = set[str](), list[set[str]]()
    report = play(tmp_path, 30, clients=served(up, seen))
    assert (report.reason, report.decided, report.waiting) == ("limit", 30, ())
    assert up == set()
    (uptime,) = uptimes_of(tmp_path)
    assert (uptime.host, uptime.why) == ("rig", "done")
    busy_s = sum(use.seconds for use in uptime.used.values())
    assert busy_s > 0.9 * 3600 * uptime.hours
    assert uptime.matches >= 15
    assert set(uptime.used) == {"h0", "h1"}
    assert (
        sum(uptime.unused.values()) + sum(one.billed_nano for one in uptime.used.values()) == uptime.held_nano
    )
    assert report.billed_nano == uptime.held_nano, "nothing else costs anything here"
    sound(tmp_path)
    with open_arena(tmp_path) as opened:
        spent = sum(opened.ledger.spent_by().values())
    assert spent == sum(one.billed_nano for one in uptime.used.values())


def test_it_is_started_while_others_play_when_enough_matches_wait(tmp_path: Path, clock: Clock) -> None:
    arena(tmp_path, [*house(6), *hosted(1)], {"matches": 4}, engine={"concurrency": 4})
    up, seen = set[str](), list[set[str]]()
    report = play(tmp_path, 60, clients=served(up, seen))
    assert report.reason == "limit"
    found = uptimes_of(tmp_path)
    assert len(found) >= 1
    assert found[0].matches >= 4
    sound(tmp_path)


def test_a_host_is_up_no_longer_than_its_longest_and_nothing_is_lost(tmp_path: Path, clock: Clock) -> None:
    """Calls that the end cuts off are asked again in the next uptime, and cost nothing more."""
    rig = {"usd_per_hour": 1.0, "matches": 100, "longest": 0.03}
    arena(tmp_path, [*house(4), *hosted(2)], rig, engine={"concurrency": 2})
    up, seen = set[str](), list[set[str]]()
    runs = 0
    while runs < 20:
        runs += 1
        report = play(tmp_path, 30, clients=served(up, seen, 12.0))
        assert up == set()
        if report.reason == "limit":
            break
        assert report.reason == "waiting"
        assert {one.player for one in report.waiting} <= {"h0", "h1"}
        clock.passes(0.1)
    assert 1 < runs < 20
    sound(tmp_path)
    found = uptimes_of(tmp_path)
    assert {one.why for one in found[:-1]} == {"longest"}
    assert all(one.stopped_ms - one.started_ms <= 0.03 * 3_600_000 + 1 for one in found)


@pytest.mark.parametrize("after", [3.0, 11.0, 17.5, 40.0])
def test_a_run_that_is_stopped_stops_its_hosts_and_the_next_goes_on(
    tmp_path: Path, clock: Clock, after: float
) -> None:
    arena(tmp_path, [*house(4), *hosted(2)], {"usd_per_hour": 1.0, "matches": 100})
    up, seen = set[str](), list[set[str]]()
    play_stopping_at(tmp_path, 20, after, served(up, seen), times=int(after) % 2 + 1)
    assert up == set()
    sound(tmp_path)
    assert play(tmp_path, 20, clients=served(up, seen)).reason == "limit"
    assert {one.why for one in uptimes_of(tmp_path)} <= {"stopped", "done"}
    sound(tmp_path)


def test_a_budget_is_kept_with_what_the_host_costs(tmp_path: Path, clock: Clock) -> None:
    rig = {"usd_per_hour": 18.0, "matches": 100, "longest": 1.0}
    arena(tmp_path, [*house(4), *hosted(2, timeout_s=20)], rig, budget=1.0)
    up, seen = set[str](), list[set[str]]()
    for _ in range(3):
        report = play(tmp_path, 60, clients=served(up, seen, 10.0))
        assert report.spent_nano <= 10**9
        assert up == set()
    held = sum(one.held_nano for one in uptimes_of(tmp_path))
    assert report.spent_nano == held
    assert held > 0.3 * 10**9
    sound(tmp_path)


def test_what_does_not_start_is_said_and_its_matches_wait(tmp_path: Path, clock: Clock) -> None:
    class Broken(Served):
        async def answer(self, call: Call) -> Answer:
            raise PlayerError("h0: no memory", kind="permanent")

    arena(tmp_path, [*house(4), *hosted(1)], {"matches": 100})

    def clients(one: PlayerSettings) -> Client:
        return Broken(one, set(), [], 1.0) if one.host else HouseClient(one)

    report = play(tmp_path, 20, clients=clients)
    assert report.reason == "waiting"
    assert {one.player for one in report.waiting} == {"h0"}
    (uptime,) = uptimes_of(tmp_path)
    assert uptime.why == "failed: h0: h0: no memory"
    sound(tmp_path)


def test_a_quiet_host_is_stopped(tmp_path: Path, clock: Clock) -> None:
    """A match under way that seats its players, but asks them nothing more, does not hold a host for long."""
    arena(tmp_path, [*house(3), *hosted(1)], {"matches": 1}, engine={"concurrency": 4})

    class Slow(Served):
        async def answer(self, call: Call) -> Answer:
            await asyncio.sleep(100)
            return self._house.answer_now(call)

    def clients(one: PlayerSettings) -> Client:
        return Slow(one, set(), [], 0.0) if not one.host else Served(one, set(), [], 1.0)

    def up(one: PlayerSettings) -> Client:
        return served(kept, [])(one) if one.host else clients(one)

    kept = set[str]()
    report = play(tmp_path, 6, clients=up)
    assert report.reason == "limit"
    assert all((one.stopped_ms - one.started_ms) / 1000 < 60 + hosts.IDLE_S for one in uptimes_of(tmp_path))


def test_a_host_waits_for_no_match_that_could_go_on(tmp_path: Path, clock: Clock) -> None:
    """One that had asked for its player before it was up, and waited for others until after."""
    arena(tmp_path, [*house(2), *hosted(2)], {"matches": 20})
    rng = Random(1)

    def clients(one: PlayerSettings) -> Client:
        if one.host:
            return Served(one, set(), [], 5.0, load_s=30.0)
        return PacedClient(HouseClient(one), lambda *_: rng.uniform(1.0, 90.0))

    report = play(tmp_path, 42, clients=clients)
    assert (report.reason, report.waiting) == ("limit", ())
    idle = [3600 * one.hours - sum(use.seconds for use in one.used.values()) for one in uptimes_of(tmp_path)]
    assert max(idle) < 300, "ten minutes when it waits until the players are asked again anyway"
    sound(tmp_path)


def test_a_model_that_does_not_come_up_holds_up_no_other(tmp_path: Path, clock: Clock) -> None:
    class Broken(Served):
        async def answer(self, call: Call) -> Answer:
            raise PlayerError("no memory", kind="permanent")

    arena(tmp_path, [*house(4), *hosted(2)], {"matches": 100})

    def clients(one: PlayerSettings) -> Client:
        if not one.host:
            return HouseClient(one)
        return (Broken if one.name == "h0" else Served)(one, set(), [], 1.0)

    report = play(tmp_path, 20, clients=clients)
    assert (report.reason, report.note) == ("waiting", "h0: no memory")
    assert {one.player for one in report.waiting} == {"h0"}
    (uptime,) = uptimes_of(tmp_path)
    assert (uptime.why, uptime.used["h1"].calls > 0) == ("done", True)
    sound(tmp_path)


async def test_a_missing_key_is_found_before_a_host_is_paid_for(tmp_path: Path) -> None:
    started = tmp_path / "started"
    rig = {"start": ["touch", str(started)], "stop": ["true"], "matches": 100}
    plain = {
        "name": "v",
        "model": "openai:m",
        "base_url": "http://127.0.0.1:1/v1",
        "key_env": "NO",
        "host": "rig",
    }
    arena(tmp_path, [*house(3), plain], rig, engine={"probe": False})
    with open_arena(tmp_path) as opened, pytest.raises((ArenaError, PlayerError), match="no key; set NO"):
        await opened.play(8)
    assert not started.exists()


def test_resources_are_for_a_cluster_and_a_run_without_one_says_so(tmp_path: Path) -> None:
    rig = {"start": ["true"], "resources": {"GPU": 1}}
    write_arena(tmp_path, house(3), hosts={"rig": rig})
    with open_arena(tmp_path) as arena:
        told = notices(arena.settings, arena.ledger)
    assert told == ["the resources of rig say nothing without `engine: ray`: it is started here"]
