"""Signals that stop a run: once so that calls in flight return, twice at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from peerage.engine.run.runner import Runner
from peerage.values.interrupts import leaving_terminal


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
