"""Programs find what they are told that they may use, and the default fuel is enough for usual ones."""

from __future__ import annotations

import pytest
from bench.usual_programs import PROGRAMS
from tests.sandbox.conftest import Sandboxes

from peerage.sandbox.program import FUEL, Limits, environment

ABSENT = {
    "open": "open('out.txt', 'w')",
    "tempfile": "import tempfile; tempfile.TemporaryFile()",
    "sqlite3 files": "import sqlite3; sqlite3.connect('data.db')",
    "subprocess": "import subprocess; subprocess.run(['echo'])",
    "multiprocessing": "import multiprocessing",
    "sockets": "import socket; socket.socket()",
    "ssl": "import ssl",
    "ctypes": "import ctypes",
    "lzma": "import lzma",
    "zoneinfo": "import zoneinfo; zoneinfo.ZoneInfo('Europe/Paris')",
    "numpy": "import numpy",
}
HELD = {
    "standard input, output and error": (
        "import sys; print(sys.stdin.read(), end='', file=sys.stderr); print(open(0).read())"
    ),
    "no environment variables": "import os; assert not os.environ; print()",
    "no time zones but UTC": "import time; assert time.tzname == ('UTC', 'UTC'); print()",
    "sleeping takes no time": "import time; time.sleep(250); print()",
    "The clock starts at 2026-01-01": (
        "import datetime; assert str(datetime.date.today()) == '2026-01-01'; print()"
    ),
    "random numbers are the same in every run": (
        "import random, secrets\n"
        "assert (random.random(), secrets.randbits(8)) == (0.8444218515250481, 175); print()"
    ),
}
TOO_LONG = {"permutations of ten", "sums of two abundant numbers"}


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_named_as_absent_fails(name: str, sandbox: Sandboxes) -> None:
    assert name in environment()
    result = sandbox.run(ABSENT[name])
    assert result.status == "error", result


@pytest.mark.parametrize("name", HELD)
def test_what_is_told_holds(name: str, sandbox: Sandboxes) -> None:
    assert name in environment()
    result = sandbox.run(HELD[name], "in", Limits(fuel=2 * 10**9))
    assert (result.status, result.stdout) == ("ok", "\n"), result


def test_the_limits_of_a_run_are_told() -> None:
    told = environment(3_000_000_000, 64 * 2**20, 4_000)
    assert "3 billion instructions, which is about 0.15 seconds" in told
    assert "64 MiB of memory, and 4,000 bytes of output" in told


@pytest.mark.parametrize(
    "source",
    [
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
        "import asyncio; asyncio.run(asyncio.Event().wait())",
    ],
)
def test_what_waits_for_ever_ends_at_once_and_says_so(source: str, sandbox: Sandboxes) -> None:
    result = sandbox.run(source)
    assert result.status == "error"
    assert "waits for ever: in this sandbox a thread runs to its end when it is started" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_usual_programs_end_within_the_default_fuel(name: str, sandbox: Sandboxes) -> None:
    result = sandbox.run(PROGRAMS[name], "", Limits(seconds=3600))
    assert result.status == ("fuel" if name in TOO_LONG else "ok"), result
    assert result.fuel is not None
    assert result.fuel <= FUEL
