"""What a spectator sees."""

from __future__ import annotations

import asyncio
import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from peerage.arena import open_arena
from peerage.cli.begin.demo import demo_text
from peerage.cli.play.live import Spectator, _drawing
from peerage.engine.run.runner import Runner
from peerage.engine.run.words import hint, settled
from peerage.ledger import Summary
from peerage.players.client import Answer, Call
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings
from peerage.standings.leader import Leader
from peerage.values.figures import dollars


def summary(scores: tuple[float, ...], status: str = "done", topic: str = "") -> Summary:
    return of_players(("Ada", "Bo\x1b[2J"), scores, status, topic)


def of_players(
    players: tuple[str, ...], scores: tuple[float, ...], status: str = "done", topic: str = ""
) -> Summary:
    return Summary(7, 2, "duel", topic, players, status, scores, (None,) * len(players), 0, (), (), 0)


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
    assert settled(found) == told


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
        arena.run(15)
        spectator = Spectator(arena, None, console)
        arena.run(60, beside=spectator.watch, observe=spectator.observe)
        spectator.leader._due = 1e-9
        assert spectator._runner is not None
        progress = spectator._runner.progress()
        lines = [line for _, line in spectator._view(progress)]
        final = arena.leaderboard()
        console.print(_drawing(spectator._view(progress)))
    pick = next(row for row in final if row.bin == "pick")
    leads = re.fullmatch(r"pick (\S+) \((\d+)%\)", lines[1].split(" · ")[0])
    assert leads is not None
    assert leads[1] == pick.player
    assert pick.best is not None
    assert int(leads[2]) / 100 == pytest.approx(pick.best, abs=0.12)
    sure = [leads[0]]
    if progress.until is not None:
        known, needed = progress.until.pairs
        sure.append(f"{until}: {known} of {needed} pairs")
    assert lines == [
        f"{progress.decided}/60 matches · {dollars(progress.billed_nano / 1e9)} billed · budget $5",
        " · ".join(sure),
        hint(progress),
    ]
    assert all(len(line) <= 100 for line in screen.getvalue().splitlines()[-3:])


def test_what_has_not_changed_is_not_drawn_again(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, height=40, color_system=None)
    with open_arena(tmp_path) as arena, pytest.MonkeyPatch.context() as patch:
        patch.setattr("peerage.cli.play.live.REFRESH_S", 0.0)
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


def test_who_leads_is_computed_again_when_the_run_has_worked_forty_times_as_long() -> None:
    leader, now = Leader(), [0.39]
    fits: list[float] = []

    def fitted() -> str:
        fits.append(now[0])
        now[0] += 0.1
        return f"fit {len(fits)}"

    leader._fitted = fitted  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("peerage.standings.leader.time.process_time", lambda: now[0])
        leader.note(summary((1.0, 0.0)))
        assert leader.in_words() == "", "not before the process has worked 40 times as long as it may take"
        shown = []
        for now[0] in (0.5, 4.5, 4.7, 8.7):
            leader.note(summary((1.0, 0.0)))
            shown.append(leader.in_words())
        assert leader.in_words() == "fit 2", "nothing is new"
    assert shown == ["fit 1", "fit 1", "fit 2", "fit 2"]


def test_who_leads_at_tables_of_many_and_of_matches_without_a_result() -> None:
    leader = Leader()
    leader._due = 1e-9
    leader.note(summary((), "no_challenge"))
    assert leader.in_words() == ""
    for _ in range(30):
        leader.note(of_players(("C", "A", "B"), (0.5, 1.0, 0.0)))
    assert re.fullmatch(r"pick A \((9\d|over 99)%\)", leader.in_words())


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


def test_large_numbers_of_matches_have_their_thousands_apart(tmp_path: Path) -> None:
    (tmp_path / "arena.yaml").write_text(demo_text(1), "utf-8")
    told: list[str] = []
    with open_arena(tmp_path) as arena:
        spectator = Spectator(arena, None, Console(file=io.StringIO()))

        async def look(runner: Runner) -> None:
            many = replace(runner.progress(), settled=12345, decided=12340, limit=20000)
            told.extend([spectator._line(many, 12345), spectator._view(many)[0][1]])

        arena.run(0, beside=look)
    assert told[0].startswith("12,345 matches, 12,340/20,000 with a result · ")
    assert told[1].startswith("12,340/20,000 matches · ")


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
        arena.run(6, clients=lambda player: Learner(HouseClient(player), lambda call, answer: 0.0))
    assert caplog.messages == ["known at start"] * 8 + ["learnt"] * 8
