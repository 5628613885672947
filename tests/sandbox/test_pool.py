"""The pool: every status, worlds apart, workers that die, and refusing rather than risking."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.conftest import QUICK, Sandboxes

from peerage.sandbox import image
from peerage.sandbox.pool import SandboxPool, check
from peerage.sandbox.program import Limits, Program, SandboxUnavailable

LINUX = sys.platform == "linux"


@pytest.mark.parametrize(
    ("source", "status", "stdout", "said"),
    [
        ("print('hello')", "ok", "hello\n", ""),
        ("import sys; sys.exit()", "ok", "", ""),
        ("import sys; sys.exit(256)", "ok", "", ""),
        ("import sys; print(1); sys.exit(3)", "error", "1\n", ""),
        ("import sys; sys.exit('bye')", "error", "", "bye\n"),
        ("print(1); 1/0", "error", "1\n", "ZeroDivisionError: division by zero\n"),
        ("def f(:", "error", "", "SyntaxError: invalid syntax\n"),
        ("x = '\0'", "error", "", "null bytes"),
        ("import time; time.sleep(100)", "timeout", "", ""),
        ("print(1, flush=True)\nwhile 1: pass", "fuel", "1\n", ""),
        ("x = bytes(10**9)", "memory", "", "MemoryError\n"),
        ("print('x' * 2_000_000)", "output", None, ""),
        ("def f(): f()\nf()", "error", "", "RecursionError: maximum recursion depth exceeded\n"),
    ],
)
def test_every_way_to_end(
    source: str, status: str, stdout: str | None, said: str, sandbox: Sandboxes
) -> None:
    result = sandbox.run(source)
    assert result.status == status, result.stderr
    assert result.stdout == stdout or stdout is None
    assert said in result.stderr
    assert result.fuel


@pytest.mark.parametrize(
    ("stated", "source", "usual", "then"),
    [
        ({"fuel": 10**8}, "for _ in range(300_000): pass", "ok", "fuel"),
        ({"memory": 64 * 2**20}, "x = bytes(60 * 2**20)", "ok", "memory"),
        ({"memory": 512 * 2**20}, "x = bytes(300 * 2**20)", "memory", "ok"),
        ({"output": 100}, "print('x' * 200)", "ok", "output"),
        ({"output": 4 * 2**20}, "print('x' * 2_000_000)", "output", "ok"),
        ({"seconds": 3.0}, "import time; time.sleep(9)", "ok", "timeout"),
        ({"seconds": 90.0}, "import time; time.sleep(60)", "timeout", "ok"),
    ],
)
def test_each_limit_is_the_one_stated(
    stated: dict[str, Any], source: str, usual: str, then: str, sandbox: Sandboxes
) -> None:
    assert (sandbox.run(source).status, sandbox.run(source, "", Limits(**stated)).status) == (usual, then)


def test_output_stops_exactly_at_the_limit(sandbox: Sandboxes) -> None:
    limits = Limits(output=1000)
    assert sandbox.run("print('x' * 999)", "", limits).ok
    result = sandbox.run("print('x' * 1000)", "", limits)
    assert (result.status, len(result.stdout)) == ("output", 1000)


def test_the_same_run_costs_the_same_fuel_in_any_worker(sandbox: Sandboxes) -> None:
    source = "import random, time; print(random.random(), {'a', 'b', 'c'}, time.time(), id([]), hash('x'))"
    first = sandbox.run(source)

    async def elsewhere() -> tuple[str, int | None]:
        async with SandboxPool(workers=1) as pool:
            await pool.run(Program("x = [0] * 1000"))
            result = await pool.run(Program(source, "", QUICK))
            return result.stdout, result.fuel

    assert (first.stdout, first.fuel) == sandbox.wait(elsewhere())


def test_a_guest_leaves_nothing_for_the_next(sandbox: Sandboxes) -> None:
    spoil = "import builtins, json, sys; builtins.print = None; json.dumps = None; sys.modules.clear()"
    for _ in range(4):
        sandbox.run(spoil)
        assert sandbox.run("import json; print(json.dumps([1]))").stdout == "[1]\n"


def test_output_is_storable(sandbox: Sandboxes) -> None:
    result = sandbox.run(r"import os; os.write(1, b'a\0b\xff\xed\xa0\x80' + '\x1b[2Jé'.encode())")
    assert result.stdout == "a\ufffdb\ufffd\ufffd\ufffd\ufffd\x1b[2Jé"
    result.stdout.encode()


def test_sleeping_costs_no_time_and_the_clock_goes_on(sandbox: Sandboxes) -> None:
    started = time.monotonic()
    result = sandbox.run(
        "import time; a = time.time(), time.monotonic(); time.sleep(900); "
        "print(round(time.time() - a[0]), round(time.monotonic() - a[1]))",
        "",
        Limits(seconds=1_000),
    )
    assert result.stdout == "900 900\n"
    assert time.monotonic() - started < 600


def test_a_worker_past_its_deadline_is_killed_and_replaced(sandbox: Sandboxes) -> None:
    slow = Limits(fuel=10**18, seconds=0.3)  # a lifetime of instructions: only the deadline can end it
    result = sandbox.run("while 1: pass", "", slow)
    assert (result.status, result.stdout, result.fuel) == ("timeout", "", None)
    assert 300 <= result.milliseconds < 20_000, "well before the usual deadline, however busy the machine"
    assert sandbox.run("print(1)").ok


@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_a_worker_that_dies_is_a_sandbox_error_and_tried_once_more() -> None:
    async def killed_twice() -> tuple[str, str]:
        known = _children()
        async with SandboxPool(workers=1) as pool:
            await pool.run(Program("x = 1"))
            running = asyncio.create_task(pool.run(Program("while 1: pass", "", Limits(fuel=10**15))))
            for _ in range(2):
                while not (young := {child for child in _children() - known if _jailed(child)}):
                    assert not running.done(), running.result()
                    await asyncio.sleep(0.02)
                await asyncio.sleep(0.5)
                known |= young
                for child in young:
                    os.kill(child, signal.SIGKILL)
            ended = await running
            return ended.status, (await pool.run(Program("print(1)"))).stdout

    assert asyncio.run(killed_twice()) == ("sandbox_error", "1\n")


def _children() -> set[int]:
    """The processes that this one has started and that have not ended."""
    lists = Path("/proc/self/task").glob("*/children")
    return {int(child) for one in lists for child in one.read_text().split()}


def _jailed(child: int) -> bool:
    """Whether a worker has put its filter on: all that it does then is serve."""
    try:
        return "Seccomp:\t2" in Path(f"/proc/{child}/status").read_text()
    except OSError:
        return False


def test_cancelling_a_run_ends_its_worker(sandbox: Sandboxes) -> None:
    async def cancelled() -> str:
        async with SandboxPool(workers=1) as pool:
            running = asyncio.create_task(pool.run(Program("while 1: pass", "", Limits(fuel=10**15))))
            await asyncio.sleep(0.5)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return (await pool.run(Program("print(1)"))).stdout

    assert sandbox.wait(cancelled()) == "1\n"


def test_a_snapshot_that_cannot_be_loaded_is_made_anew(
    sandbox: Sandboxes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sandbox.run("print(1)").ok
    good, bad = image.path(), tmp_path / "bad.cwasm"
    bad.write_bytes(good.read_bytes()[:100_000])
    bad.chmod(0o600)
    made: list[Path] = []

    async def build(file: Path) -> None:
        made.append(file)
        file.write_bytes(good.read_bytes())
        file.chmod(0o600)

    monkeypatch.setattr(image, "path", lambda: bad)
    monkeypatch.setattr("peerage.sandbox.pool._build", build)

    async def run() -> str:
        async with SandboxPool(workers=2) as pool:
            return (await pool.run(Program("print(1)"))).stdout

    assert sandbox.wait(run()) == "1\n"
    assert made == [bad]


def test_a_closed_pool_runs_nothing(sandbox: Sandboxes) -> None:
    async def after_close() -> None:
        pool = SandboxPool(workers=1)
        await pool.close()
        await pool.run(Program(""))

    with pytest.raises(RuntimeError, match="closed"):
        sandbox.wait(after_close())


def test_without_the_extra_it_refuses(monkeypatch: pytest.MonkeyPatch, sandbox: Sandboxes) -> None:
    monkeypatch.setattr(image, "installed", lambda: False)

    async def run() -> None:
        async with SandboxPool(workers=1) as pool:
            await pool.run(Program("print(1)"))

    with pytest.raises(SandboxUnavailable, match=r"pip install \"peerage\[sandbox\]\""):
        sandbox.wait(run())


@pytest.mark.skipif(not LINUX, reason="the jail is for Linux")
def test_what_holds_a_worker_here(sandbox: Sandboxes) -> None:
    found = sandbox.wait(check())
    assert found.refused == ""
    assert found.protections.seccomp
    assert found.protections.landlock
    assert found.protections.unprivileged


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="reads /proc")
def test_memory_stays_flat_over_2000_runs() -> None:
    async def resident() -> list[float]:
        known = _children()
        seen: list[float] = []
        async with SandboxPool(workers=1) as pool:
            for _ in range(10):
                for _ in range(200):
                    assert (await pool.run(Program("import re; x = [0] * 100_000; print(len(x))"))).ok
                (child,) = _children() - known
                status = Path(f"/proc/{child}/status").read_text()
                seen.append(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
        return seen

    seen = asyncio.run(resident())
    assert max(seen) < seen[0] * 1.1 + 2, seen


def test_a_program_must_have_a_sensible_size() -> None:
    with pytest.raises(ValueError, match="at most"):
        Program("", "x" * 20_000_000)


@pytest.mark.parametrize("wrong", [{"fuel": 0}, {"memory": 1000}, {"seconds": -1.0}, {"output": 0}])
def test_limits_must_make_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Limits"):
        Limits(**wrong)  # type: ignore[arg-type]
