"""What a spectator sees."""

from __future__ import annotations

import asyncio
import io
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from peerage.arena import open_arena
from peerage.cli.live import Spectator, verdict
from peerage.cli.setup import demo_text
from peerage.cli.table_so_far import AT_MOST, LOOK_S, TableSoFar
from peerage.engine.runner import Runner
from peerage.figures import chance, counted, dollars, likely
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
        console.print(spectator._view(progress))
    lines = screen.getvalue().splitlines()
    assert sum(line.startswith("Ctrl+C stops") for line in lines) == 1


def test_a_terminal_shows_progress_table_and_verdicts(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, console)
        arena.run(8, observe=spectator.observe, beside=spectator.watch)
        runner = spectator._runner
        assert runner is not None
        screen.truncate(0)
        spectator.table.found, _ = spectator.table.computed()
        console.print(spectator._view(runner.progress()))
        final, kinds = arena.leaderboard(), arena.stats().kinds
    shown = screen.getvalue()
    assert "8/8 matches" in shown
    assert f"{dollars(sum(row.cost_usd or 0 for row in final))} billed" in shown
    assert f"strength with 95% intervals, after {counted(8, 'match')}" in shown
    for row in final:
        interval = f"{row.lower:,.0f}–{row.upper:,.0f}"
        rating = " +".join(map(re.escape, (str(row.rank), row.player, f"{row.rating:,.0f}", interval)))
        rating += f" +{re.escape(chance(row.best))} +{row.bin}"
        assert re.search(rf"{rating} +(?:\S+ +)*?{row.matches} ", shown), row.player
    pick = next(row for row in final if row.bin == "pick")
    assert f"pick {pick.player} ({likely(pick.best)})" in " ".join(shown.split())
    assert " beat " in shown
    assert "Ctrl+C" in shown
    assert f"{sum(one.bits for one in kinds):,.1f} bits of information" in shown


@pytest.mark.parametrize(("until", "policy"), [("", "swiss"), ("", "adaptive"), ("first 2 known", "swiss")])
def test_it_shows_what_it_takes_to_be_sure_and_what_a_dollar_brought(
    tmp_path: Path, until: str, policy: str
) -> None:
    """As `plan` and `stats --of costs` say it, in lines that no terminal breaks."""
    more = f"\npairing: {{policy: {policy}}}\n" + f"until: {until}\n" * bool(until)
    (tmp_path / "arena.yaml").write_text(demo_text(1) + more, "utf-8")
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, Console(file=io.StringIO()))
        table = spectator.table
        arena.run(40, observe=spectator.observe, beside=spectator.watch)
        table._ahead_at = 0.0
        table.computed()
        assert spectator._runner is not None
        progress = spectator._runner.progress()
        found, stats = arena.outlook(), arena.stats()
        console = Console(file=(screen := io.StringIO()), force_terminal=True, width=120, color_system=None)
        spectator._console = console
        console.print(spectator._view(progress))
    assert table.ahead() == found.in_short
    assert table.ahead().startswith(until or "best known")
    best = max(stats.costs, key=lambda row: row.bits_per_usd or 0.0)
    assert best.bits_per_usd
    assert next(iter(table.bought(60))).startswith(
        f"a dollar buys: {best.player} {best.matches_per_usd:,.0f} matches"
    )
    assert all(len(line) <= width for width in (90, 120) for line in table.bought(width))
    assert table.ahead() in screen.getvalue()
    assert "a dollar buys" in screen.getvalue()
    assert progress.so_far == (progress.until.pairs if progress.until else (40, 40))


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
        so_far._ahead_at = 0.0
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
        really, rests = so_far.computed, []

        def counting() -> tuple[Board, float]:
            computed.append(really())
            return computed[-1][0], 3.0

        async def resting(seconds: float) -> None:
            rests.append(seconds)
            if len(rests) == 4:
                raise asyncio.CancelledError

        so_far.computed = counting  # type: ignore[method-assign]
        decided = iter([8, 8, 9, 9])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("peerage.cli.table_so_far.asyncio.sleep", resting)
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(so_far.keep(lambda: next(decided)))
        assert so_far.found is not None
        assert list(so_far.found.rows) == list(arena.leaderboard())
    assert len(computed) == 2
    assert rests == [3.0 / AT_MOST, LOOK_S, 3.0 / AT_MOST, LOOK_S]


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
    assert so_far.shown(80, 20) is None


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
