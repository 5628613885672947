"""The process of a run: an event loop whose clock stands still while the process does, rare collection of
garbage, and signals that stop a run.

A call that was answered while nobody could look is not late, and a match is not past its deadline because a
laptop was closed, or the process suspended. Every timer of the loop goes by its clock: timeouts of calls and
of connections, waits, deadlines of matches.
"""

from __future__ import annotations

import asyncio
import gc
import os
import selectors
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from peerage.values.interrupts import leaving_terminal

if TYPE_CHECKING:
    from peerage.engine.run.runner import Runner

Result = TypeVar("Result")

TICK_S = 0.25
"""The loop looks at its clock at least so often when it has nothing to do."""
GAP_S = 1.0
"""A longer time between two looks is one in which the process did not run, and does not count."""


class _Ticking(selectors.DefaultSelector):
    """A selector that never sleeps for longer than a tick."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(TICK_S if timeout is None else min(timeout, TICK_S))


class AwakeLoop(asyncio.SelectorEventLoop):
    """`time()` is the monotonic clock without the gaps in which the process did not run."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._looked = monotonic()
        self._lost = 0.0
        selector = _Ticking()
        try:
            super().__init__(selector)
        except OSError:  # no more files may be opened; asyncio would close what it has not made
            self._closed = True
            selector.close()
            raise

    def time(self) -> float:
        now = self._monotonic()
        if now - self._looked > GAP_S:
            self._lost += now - self._looked
        self._looked = now
        return now - self._lost


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run` on such a loop; on the usual one where that could not run programs (Windows)."""
    try:
        with asyncio.Runner(loop_factory=None if os.name == "nt" else AwakeLoop) as runner:
            return runner.run(main)
    finally:
        main.close()  # where there was no loop to run it


@contextmanager
def tuned() -> Iterator[None]:
    """Collect garbage rarely: a run keeps thousands of matches alive, which every collection walks through.
    Hardly anything the engine makes is cyclic; measured, the default thresholds cost a fifth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def stopped_by_signals(runner: Runner) -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP stop a run where the event loop can catch them (not on Windows)."""
    loop = asyncio.get_running_loop()
    leave = leaving_terminal()

    def hung_up() -> None:
        """A shell may say so twice; that is no wish to give up calls in flight."""
        leave()
        if not runner.progress().stopping:
            runner.stop()

    stops: dict[int, Callable[[], None]] = {signal.SIGINT: runner.stop, signal.SIGTERM: runner.stop}
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # as under nohup
        stops[hangup] = hung_up
    before = {number: signal.getsignal(number) for number in stops}
    caught = []
    for number, stop in stops.items():
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, stop)
            caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
