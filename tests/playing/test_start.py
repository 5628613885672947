"""A run from synchronous code: with a loop of the caller's around it or without, stopped, and with a bar."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.arenas import paced, write_arena

from peerage.arena import open_arena
from peerage.playing import start as running
from peerage.settings import SettingsError


def folder(at: Path, **sections: Any) -> Path:
    return write_arena(at, 4, **sections)


async def test_a_run_works_where_a_loop_runs_and_leaves_the_same_ledger(tmp_path: Path) -> None:
    with open_arena(folder(tmp_path / "loop")) as inside:
        report = inside.run(6)  # synchronous, on this loop's thread: as in a notebook's cell
        head = inside.verify().head
    assert (report.reason, report.settled) == ("limit", 6)

    def alone() -> str:
        with open_arena(folder(tmp_path / "alone")) as arena:
            arena.run(6)
            return arena.verify().head

    assert await asyncio.to_thread(alone) == head


async def test_what_watches_and_what_fails_reaches_the_caller(tmp_path: Path) -> None:
    seen: list[int] = []
    with open_arena(folder(tmp_path)) as arena:
        arena.run(3, observe=lambda record, summary: seen.append(summary.number))
    assert seen == [1, 2, 3]
    with (
        open_arena(write_arena(tmp_path / "few", 1)) as arena,
        pytest.raises(SettingsError, match="players"),
    ):
        arena.run(1)


async def test_an_interrupt_stops_a_run_on_its_own_thread_and_nothing_is_lost(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)

    def interrupt(record: object, summary: Any) -> None:
        if summary.number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with open_arena(folder(tmp_path)) as arena:
        report = arena.run(500, observe=interrupt, clients=paced(scale=0.001))
        assert report.reason == "interrupted"
        assert 2 <= report.settled < 500
        assert arena.verify().ok
        went_on = arena.run(report.settled + 3)
        assert went_on.settled == report.settled + 3
        assert went_on.possibly_paid_twice == 0
        assert arena.replay().ok
    assert signal.getsignal(signal.SIGINT) is before


class Bar:
    def __init__(self) -> None:
        self.drawn: list[int] = []
        self.ended: list[Any] = []

    def draw(self, progress: Any) -> None:
        self.drawn.append(progress.settled)

    def end(self, report: Any) -> None:
        self.ended.append(report)


@pytest.mark.parametrize("looping", [True, False])
async def test_a_bar_ends_with_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looping: bool
) -> None:
    shown = Bar()
    monkeypatch.setattr(running, "bar", lambda: shown)
    with open_arena(folder(tmp_path)) as arena:
        report = arena.run(2) if looping else await asyncio.to_thread(arena.run, 2)
        arena.run(3, progress=False)
    assert shown.ended == [report]


def test_there_is_no_bar_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert running.bar() is None


def test_the_bar_of_a_terminal_says_how_far_a_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with open_arena(folder(tmp_path)) as arena, caplog.at_level(logging.ERROR):
        arena.run(3)
    assert "3 matches · 3 in this run · nothing billed" in screen.getvalue()


def test_the_bar_of_a_notebook_is_one_output_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    def display(html: str, display_id: bool) -> Any:
        shown.append(html)
        return SimpleNamespace(update=shown.append)

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    place = SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython.display", place)
    with open_arena(folder(tmp_path)) as arena:
        arena.run(2)
    assert shown[0] == "<p>starting</p>"
    assert shown[-1].startswith("<p>2 matches · 2 in this run")


async def test_an_interrupt_before_anything_was_sent_ends_the_run_as_ctrl_c_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = running.awake.run

    def interrupted(main: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)  # the loop is not there yet
        handled.wait()
        return opened(main)

    handled = threading.Event()
    stop = running._Run.stop
    monkeypatch.setattr(running._Run, "stop", lambda self: (stop(self), handled.set()))
    monkeypatch.setattr(running.awake, "run", interrupted)
    with open_arena(folder(tmp_path)) as arena:
        with pytest.raises(KeyboardInterrupt):
            arena.run(3)
        assert arena.ledger.heads() == (0, 0)
        monkeypatch.undo()
        assert arena.run(3).settled == 3
