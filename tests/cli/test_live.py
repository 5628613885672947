"""What a spectator sees."""

from __future__ import annotations

import asyncio
import io
import re
import time
from dataclasses import replace
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from peerage.arena import open_arena
from peerage.cli.live import Spectator, _drawing, hint, verdict
from peerage.cli.setup import demo_text
from peerage.cli.table_so_far import LOOK_S, Seldom, TableSoFar
from peerage.engine.runner import Runner
from peerage.figures import dollars, likely
from peerage.ledger.store import LedgerError, Summary
from peerage.players.client import Answer, Call
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.tables import outlook
from peerage.tables.leaderboard import Board


def summary(scores: tuple[float, ...], status: str = "done", topic: str = "") -> Summary:
    players = ("Ada", "Bo\x1b[2J")
    return Summary(7, 2, "duel", topic, players, status, scores, (None, None), 0, (), (), 0)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (summary((1.0, 0.0), topic="law"), "7: Ada beat Bo\ufffd[2J on law"),
        (summary((0.0, 1.0)), "7: Bo\ufffd[2J beat Ada"),
        (summary((0.5, 0.5)), "7: Ada and Bo\ufffd[2J tied"),
        (summary((), "no_challenge"), "7: Ada and Bo\ufffd[2J: no result, no_challenge"),
    ],
)
def test_a_match_in_one_line(found: Summary, told: str) -> None:
    assert verdict(found) == told


def test_before_the_first_result_each_part_of_the_view_has_lines_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=130, height=40, color_system=None)
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, console)
        arena.run(0, beside=spectator.watch)
        assert spectator._runner is not None
        progress = replace(spectator._runner.progress(), limit=8, decided=4)
        screen.truncate(0)
        console.print(_drawing(spectator._view(progress)))
    lines = screen.getvalue().splitlines()
    assert sum(line.startswith("Ctrl+C stops") for line in lines) == 1


@pytest.mark.parametrize("until", ["", "first 2 known"])
def test_a_terminal_shows_who_leads_how_sure_what_is_spent_and_nothing_else(
    tmp_path: Path, until: str
) -> None:
    (tmp_path / "arena.yaml").write_text(
        f"{demo_text(1)}\nbudget: 5\n" + f"until: {until}\n" * bool(until), "utf-8"
    )
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, console)
        arena.run(40, beside=spectator.watch)
        spectator.table._ahead = Seldom()
        spectator.table.found, _ = spectator.table.computed()
        assert spectator._runner is not None
        progress = spectator._runner.progress()
        lines = [line for _, line in spectator._view(progress)]
        final, outlook = arena.leaderboard(), arena.outlook()
        console.print(_drawing(spectator._view(progress)))
    pick = next(row for row in final if row.bin == "pick")
    sure = [f"pick {pick.player} ({likely(pick.best)})", outlook.in_short]
    if progress.until is not None:
        known, needed = progress.until.pairs
        sure.append(f"{until}: {known} of {needed} pairs")
    assert lines == [
        f"{progress.decided}/40 matches · {dollars(progress.billed_nano / 1e9)} billed · budget $5.00",
        " · ".join(sure),
        hint(progress),
    ]
    assert all(len(line) <= 100 for line in screen.getvalue().splitlines()[-3:])


def test_what_has_not_changed_is_not_drawn_again(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(tmp_path) as arena, pytest.MonkeyPatch.context() as patch:
        patch.setattr("peerage.cli.live.REFRESH_S", 0.0)
        spectator, seen = Spectator(arena, None, console), []
        view = [("", "first")]
        patch.setattr(spectator, "_view", lambda progress: seen.append(progress) or list(view))

        async def look() -> None:
            watching = asyncio.ensure_future(spectator._drawn(SimpleNamespace(progress=int)))  # type: ignore[arg-type]
            for line in ("second", "third", "third"):
                while len(seen) < 50:
                    await asyncio.sleep(0)
                seen.clear()
                view[:] = [("", line)]
            watching.cancel()
            await asyncio.wait([watching])

        asyncio.run(look())
    assert [screen.getvalue().count(line) for line in ("first", "second", "third")] == [1, 1, 1]


def test_a_computation_is_due_when_the_run_has_taken_a_hundred_times_as_long() -> None:
    seldom = Seldom()
    assert seldom.due(5.0, 1.0)
    seldom.took(0.1, 5.0, 1.0)
    assert not seldom.due(7.9, 100.0), "not twice within three seconds"
    assert not seldom.due(14.0, 10.9)
    assert seldom.due(14.0, 11.1)
    assert seldom.due(36.0, 1.1), "a run that waits for providers takes hardly any"


def test_what_takes_long_to_compute_is_computed_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    times: list[int] = []
    really = outlook.outlook

    def counting(*given: Any) -> Any:
        times.append(len(times))
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass
        return really(*given)

    monkeypatch.setattr(outlook, "outlook", counting)
    with open_arena(tmp_path) as arena:
        arena.run(8)
        so_far = TableSoFar(arena)
        so_far.computed()
        assert times == [], "not in the first moments of a run"
        so_far._ahead = Seldom()
        for _ in range(5):
            so_far.computed()
    assert len(times) == 1


def test_after_the_first_ctrl_c_it_says_what_it_waits_for(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()

    def slowly(player: PlayerSettings) -> PacedClient:
        return PacedClient(HouseClient(player), lambda call, answer: 1.2)

    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, Console(file=screen))

        async def stop_soon(runner: Runner) -> None:
            watching = asyncio.ensure_future(spectator.watch(runner))
            while not runner.progress().calls_in_flight:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.4)
            runner.stop()
            try:
                await watching
            finally:
                watching.cancel()

        assert arena.run(beside=stop_soon, clients=slowly).reason == "interrupted"
    told = re.findall(r"stopping: waiting for (\d+) calls? in flight", screen.getvalue())
    assert len(told) == 1
    assert int(told[0]) > 0


def test_nobody_leads_where_all_are_level(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, Console(file=screen))

        async def look(runner: Runner) -> None:
            spectator._say(spectator._line(runner.progress(), 0))

        arena.run(0, beside=look)
    assert "leads" not in screen.getvalue()


def test_one_call_is_not_calls(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    told: list[str] = []
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, Console(file=io.StringIO()))

        async def look(runner: Runner) -> None:
            found = [replace(runner.progress(), calls_in_flight=calls) for calls in (1, 2)]
            told.extend(spectator._line(progress, 0) for progress in found)

        arena.run(0, beside=look)
    assert "· 1 call in flight ·" in told[0]
    assert "· 2 calls in flight ·" in told[1]


def test_the_table_is_kept_while_matches_come_and_rests_when_none_does(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    with open_arena(tmp_path) as arena:
        arena.run(8)
        so_far, computed = TableSoFar(arena), []
        really, looks = so_far.computed, []

        def counting() -> tuple[Board, float]:
            computed.append(really())
            return computed[-1][0], 0.0

        async def resting(seconds: float) -> None:
            looks.append(seconds)
            so_far._table = Seldom() if len(looks) != 3 else Seldom(soonest=inf)
            if len(looks) == 5:
                raise asyncio.CancelledError

        so_far.computed = counting  # type: ignore[method-assign]
        so_far._table = Seldom()
        decided = iter([8, 8, 9, 10, 10])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("peerage.cli.table_so_far.asyncio.sleep", resting)
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(so_far.keep(lambda: next(decided)))
        assert so_far.found is not None
        assert list(so_far.found.rows) == list(arena.leaderboard())
    assert len(computed) == 3, "not while nothing came, nor while it is not due"
    assert looks == [LOOK_S] * 5


def test_a_ledger_that_cannot_be_read_now_ends_no_view(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    with open_arena(tmp_path) as arena:
        so_far = TableSoFar(arena)

        def away() -> tuple[Board, float]:
            raise LedgerError("the server is away")

        so_far.computed = away  # type: ignore[method-assign]

        async def a_moment() -> None:
            keeping = asyncio.ensure_future(so_far.keep(lambda: 1))
            done, _ = await asyncio.wait([keeping], timeout=0.1)
            assert not done
            keeping.cancel()

        asyncio.run(a_moment())
    assert so_far.leader() == ""


def test_what_a_player_learns_during_a_run_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A server says only when asked that it does not take a setting."""
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")

    class Learner(PacedClient):
        warnings: tuple[str, ...] = ("known at start",)

        async def answer(self, call: Call) -> Answer:
            if len(self.warnings) == 1:
                self.warnings += ("learnt",)
            return await super().answer(call)

    with open_arena(tmp_path) as arena:
        arena.run(2, clients=lambda player: Learner(HouseClient(player), lambda call, answer: 0.0))
    assert caplog.messages == ["known at start"] * 8 + ["learnt"] * 8
