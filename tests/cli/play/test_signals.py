"""A run whose window is closed, and one that is stopped and continued: real processes, real signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.cli.play.test_play import peerage, recorded
from tests.engine.arenas import write_arena

from peerage.arena import open_arena
from peerage.engine.record.probed import entries
from peerage.ledger import Exchange, open_ledger

pytestmark = pytest.mark.skipif(os.name == "nt", reason="these signals are unknown there")
PATIENCE_S = 60


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def killed_at_the_end(running: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever happens, nothing is left behind that still runs."""
    try:
        yield
    finally:
        running.kill()
        running.wait()


def unanswered(folder: Path) -> list[Exchange]:
    """Attempts that came to nothing."""
    with closing(open_ledger("sqlite:///arena.db", folder, create=False)) as ledger:
        return [*ledger.exchanges(1, unanswered=True)]


def test_a_closed_window_ends_a_run_in_good_order(tmp_path: Path) -> None:
    import pty

    words = [sys.executable, "-m", "peerage.cli.main", "demo", "--matches", "20000", "--dir", str(tmp_path)]
    child, window = pty.fork()
    if child == 0:
        os.execv(sys.executable, words)
    closed, ended = threading.Event(), list[int]()

    def has_ended() -> bool:
        found, status = os.waitpid(child, os.WNOHANG)
        ended.extend([os.waitstatus_to_exitcode(status)] * (found == child))
        return bool(ended)

    threading.Thread(target=_watch, args=(window, closed), daemon=True).start()
    try:
        wait_for(lambda: recorded(tmp_path / "arena.db") >= 3)
        closed.set()
        os.kill(child, signal.SIGHUP)  # the shell says so, and then the kernel once more
        wait_for(has_ended)
    finally:
        closed.set()
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert ended == [130]
    assert [one for one in unanswered(tmp_path) if one.failure is None] == []
    played = recorded(tmp_path / "arena.db")
    assert 0 < played < 20_000
    assert f"whole: {played} matches" in peerage("verify", "--dir", str(tmp_path))


def _watch(window: int, closed: threading.Event) -> None:
    """What a terminal does: take whatever is written, or the writer would wait; until it is closed."""
    while not closed.is_set():
        if select.select([window], [], [], 0.05)[0]:
            os.read(window, 65_536)
    os.close(window)


def test_under_nohup_a_run_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "peerage.cli.main", "demo", "--matches", "60", "--dir", str(tmp_path)]
    running = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    with killed_at_the_end(running):
        wait_for(lambda: recorded(tmp_path / "arena.db") >= 1 or running.poll() is not None)
        running.send_signal(signal.SIGHUP)
        out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, (out, err)
    assert "60 matches" in out


@contextmanager
def agent(seconds: float) -> Iterator[tuple[str, Callable[[], int]]]:
    """An agent behind an address that takes its time; its address, and how many requests it has begun."""
    begun, port = [0], [0]
    ready, over = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def answer(_: web.Request) -> web.Response:
        begun[0] += 1
        await asyncio.sleep(seconds)
        return web.json_response({"text": "An answer.", "input_tokens": 3, "output_tokens": 3})

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/", answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port[0] = runner.addresses[0][1]
        ready.set()
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait(PATIENCE_S)
    try:
        yield f"http://127.0.0.1:{port[0]}/", lambda: begun[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE_S)
        loop.close()


def test_what_is_answered_while_a_run_is_stopped_is_in_time(tmp_path: Path) -> None:
    timeout, stopped = 2.0, 5.0
    with agent(0.5) as (address, begun):
        (tmp_path / "arena.yaml").write_text(
            f"players:\n  - {{model: '{address}', name: slow, timeout_s: {timeout}}}\n"
            + "".join(f"  - house:0.{at}\n" for at in range(3, 9))
        )
        words = ["run", "--yes", "--no-probe", "--max-matches", "2", "--dir", str(tmp_path)]
        running = subprocess.Popen(
            [sys.executable, "-m", "peerage.cli.main", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with killed_at_the_end(running):
            wait_for(lambda: begun() > 0 or running.poll() is not None)
            running.send_signal(signal.SIGSTOP)
            time.sleep(stopped)
            running.send_signal(signal.SIGCONT)
            out, err = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, (out, err)
    assert unanswered(tmp_path) == []
    assert "2 matches" in out


def test_a_reader_who_leaves_ends_a_run_in_good_order(tmp_path: Path) -> None:
    with agent(0.3) as (address, _):
        (tmp_path / "arena.yaml").write_text(
            f"players:\n  - {{model: '{address}', name: slow}}\n"
            + "".join(f"  - house:0.{at}\n" for at in range(3, 9))
        )
        words = ["run", "--yes", "--no-probe", "--batch-size", "1", "--max-matches", "20000"]
        running = subprocess.Popen(
            [sys.executable, "-m", "peerage.cli.main", *words, "--dir", str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with killed_at_the_end(running):
            assert running.stdout is not None
            assert running.stderr is not None
            while " a second " not in (line := running.stdout.readline()):  # until a match has been shown
                assert line, running.communicate(timeout=PATIENCE_S)
            running.stdout.close()
            with running.stderr:
                err = running.stderr.read()
            running.wait(PATIENCE_S)
    assert running.returncode == 141, err
    assert "Traceback" not in err
    assert "stopped: " in err
    assert "the same command goes on from here" in err
    assert [one for one in unanswered(tmp_path) if one.lost_nano != 0] == [], "a call in flight was given up"
    assert f"whole: {recorded(tmp_path / 'arena.db')} matches" in peerage("verify", "--dir", str(tmp_path))


def test_a_reader_who_never_came_is_told_by_the_exit_code(tmp_path: Path) -> None:
    words = ["demo", "--matches", "3", "--dir", str(tmp_path)]
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "peerage.cli.main", *words],
        stdout=writes,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("while_", ["it probes", "it asks", "it probes behind a script's &"])
def test_a_signal_before_the_first_match_ends_a_run_as_later_ones_do(
    tmp_path: Path, number: signal.Signals, while_: str
) -> None:
    """A server that accepts and never answers holds the probe up; a terminal holds the plan's question up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        players: list[Any] = [{"name": f"h{n}", "model": f"house:0.{n + 3}"} for n in range(6)]
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        players.append({"name": "silent", "model": "openai:tiny", "base_url": address, "key_env": ""})
        write_arena(tmp_path, players, engine={"probe": True})
        words = [sys.executable, "-m", "peerage", "run", "--max-matches", "4", "--dir", str(tmp_path)]
        probes, in_background = while_ != "it asks", while_.endswith("&")
        if in_background and number == signal.SIGINT:
            pytest.skip("nobody hears a signal that is ignored")
        if probes:
            words.append("--yes")
        child, terminal = pty.fork()
        if not child:
            signal.signal(signal.SIGINT, signal.SIG_IGN if in_background else signal.default_int_handler)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            os.execv(words[0], words)
        shown = b""
        if probes:
            silent.settimeout(60)
            accepted, _ = silent.accept()
            while not accepted.recv(4_096).startswith(b"POST"):  # it is asked for its slots first
                accepted.close()
                accepted, _ = silent.accept()
        while not probes and b"Play?" not in shown:
            shown += os.read(terminal, 65_536)
        time.sleep(0.3)
        os.kill(child, number)
        with contextlib.suppress(OSError):
            while more := os.read(terminal, 65_536):
                shown += more
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == 130, shown
        assert b"Traceback" not in shown
        assert (b"interrupted" in shown) == (number != signal.SIGHUP)
        if probes:
            accepted.close()
    with open_arena(tmp_path) as arena:
        sent = [entry for entry in entries(arena.ledger) if entry.sent]
        assert len(sent) == probes, "what was asked counts at its worst"
        assert arena.ledger.heads() == (0, 0)
