"""Signals that stop a run: once so that calls in flight return, twice at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from peerage.engine.runner import Runner


@contextmanager
def stopped_by_signals(runner: Runner) -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP stop a run where the event loop can catch them (not on Windows)."""
    loop = asyncio.get_running_loop()
    terminals = [number for number in (1, 2) if os.isatty(number)]

    def hung_up() -> None:
        """The terminal is gone: nobody reads what is shown there, and writing to it would be an error. A
        shell may say so twice; that is no wish to give up calls in flight."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in terminals:
            os.dup2(nowhere, number)
        os.close(nowhere)
        if not runner.progress().stopping:
            runner.stop()

    stops: dict[int, Callable[[], None]] = {signal.SIGINT: runner.stop, signal.SIGTERM: runner.stop}
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # as under nohup
        stops[hangup] = hung_up
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
