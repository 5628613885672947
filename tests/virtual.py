"""An event loop in virtual time: a task that sleeps wakes at once, and the clock jumps to that moment.

    report = virtual.run(arena.play(1_000, inline=True, clients=paced))

An hour of latency, backoff and rate limits takes as long as the work between, and the order of events is that
of real time. Nothing outside the loop may be waited for: no threads (`inline` journals without one), no
network.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.DefaultSelector):
    """A selector that never sleeps: `now` moves on by what it was asked to wait."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise RuntimeError("nothing is left to happen in virtual time, and something still waits")
        self.now += max(0.0, timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` begins at 0 and is in virtual seconds."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run` in virtual time. RuntimeError when nothing could ever wake what still waits."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
