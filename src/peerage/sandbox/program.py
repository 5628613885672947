"""Values that go into the sandbox and come out: plain, frozen values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal["ok", "error", "timeout", "fuel", "memory", "output", "sandbox_error"]
"""The end of a run.

ok: the program came to its end · error: an uncaught exception, a non-zero exit or a crash of the guest ·
timeout: it ran, or would have slept, past its deadline · fuel: it used up its instructions · memory: it ran
out of memory · output: it wrote more than it may · sandbox_error: the sandbox itself failed, which says
nothing about the program: it voids a match and is never a score.
"""


OUT_OF_MEMORY = 101
"""The exit code by which `guest/execute.py` says that the program ran out of memory."""


def verdict(exit_code: int) -> Status:
    """Return what an exit code of the guest means. A guest may choose it: only `ok` counts in its
    favour."""
    return "ok" if exit_code == 0 else "memory" if exit_code == OUT_OF_MEMORY else "error"


_MIB = 1024 * 1024
FUEL = 100_000_000_000
"""Fuel within which usual programs end: all that take CPython four seconds, as `python -m bench.sandbox
--usual` measures them."""
MEMORY = 256 * _MIB
SECONDS = 300.0
_FUEL_OF_CPYTHON_S = 20_000_000_000
_BOUNDS = {
    "fuel": (1, 10**18),
    "memory": (32 * _MIB, 2048 * _MIB),
    "output": (1, 64 * _MIB),
    "seconds": (0.001, 86_400.0),
}
_MOST_TEXT = 16 * _MIB


class SandboxUnavailable(Exception):
    """No sandbox can be had on this machine; the message says what is missing and how to fix it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run.

    `fuel` counts WebAssembly instructions (three to six billion a second on one core); the
    same program and input use the same fuel on every machine, so it is the limit a verdict should rest on.
    `memory` is the guest's whole memory in bytes, interpreter included (22 MiB before the program starts).
    `output` bounds stdout and stderr together, in bytes. `seconds` is the wall deadline, after which the
    worker is killed: generous, since it depends on the machine.
    """

    fuel: int = FUEL
    memory: int = MEMORY
    output: int = _MIB
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"Limits.{name} is {getattr(self, name)!r}; {least} to {most} was expected")


def environment(fuel: int = FUEL, memory: int = MEMORY, output: int = 64 * 1024) -> str:
    """Return what a program may use: a paragraph for prompts."""
    return (
        "Programs run in a sandbox: CPython 3.12 with its standard library, standard input, output and "
        "error, and nothing else. There are no files, no network, no other processes, no environment "
        "variables and no time zones but UTC: open, tempfile, sqlite3 files, subprocess, multiprocessing, "
        "sockets, ssl, ctypes, lzma and zoneinfo fail, and so do packages such as numpy. Threads and asyncio "
        "work on one core; a thread runs to its end inside start(), so it cannot wait for a later one. The "
        "clock starts at 2026-01-01, sleeping takes no time, and random numbers are the same in every run. "
        "One run may "
        f"use {fuel / 1e9:g} billion instructions, which is about {fuel / _FUEL_OF_CPYTHON_S:g} seconds of "
        f"CPython outside, {memory // _MIB} MiB of memory, and {output:,} bytes of output."
    )


@dataclass(frozen=True, slots=True)
class Program:
    """A Python program that is not to be trusted, with what it reads from stdin."""

    source: str
    stdin: str = ""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if len(self.source) + len(self.stdin) > _MOST_TEXT:
            raise ValueError(
                f"a program of {len(self.source)} characters with {len(self.stdin)} of input; "
                f"together at most {_MOST_TEXT} were expected"
            )


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    `stdout` and `stderr` are decoded as UTF-8 and storable: bytes that are not UTF-8, lone surrogates and NUL
    are U+FFFD. They are what was written until the run ended; a killed worker leaves none. `fuel` is None
    when the worker was killed. `milliseconds` is wall time, for information only.
    """

    status: Status
    stdout: str = ""
    stderr: str = ""
    fuel: int | None = None
    milliseconds: int = 0

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class SandboxTask(NamedTuple):
    """A program on its way to a worker."""

    source: bytes
    stdin: bytes
    limits: Limits


class RunEnded(NamedTuple):
    """The end of a run in a worker, with the raw bytes of its output and the fuel it used."""

    status: Status
    stdout: bytes = b""
    stderr: bytes = b""
    fuel: int | None = None


@dataclass(frozen=True, slots=True)
class Protections:
    """Protections of a worker. Empty texts, zeros and False mean that the kernel gave no such protection."""

    landlock: int = 0
    """The version of Landlock's interface in force."""
    seccomp: bool = False
    namespaces: tuple[str, ...] = ()
    unprivileged: bool = False
    """Without any capability of root."""
    limits: bool = False


class Welcome(NamedTuple):
    """A worker's first words: what protects it, or why it refuses; `stale`, that its snapshot is unfit."""

    protections: Protections = Protections()
    refused: str = ""
    stale: bool = False
