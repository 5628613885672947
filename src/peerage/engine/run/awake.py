"""An event loop whose clock stands still while the process does: suspended, stopped, or the machine asleep.

A call that was answered while nobody could look is not late, and a match is not past its deadline because a
laptop was closed. Every timer of the loop goes by its clock: timeouts of calls and of connections, waits,
deadlines of matches.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

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
