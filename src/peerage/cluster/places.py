"""The cluster as a crew needs it: places for workers, and a line to each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from peerage.cluster.messages import News, Order, Posting


class WorkerLost(Exception):
    """A worker is gone: its process, its machine, or the line to it."""


class Link(Protocol):
    """The line to a worker. `where` names its machine, once it has begun."""

    where: str

    async def begin(self, posting: Posting) -> int:
        """Let it get ready; its number. Raises WorkerLost, or what it raised."""

    def order(self, orders: Sequence[Order]) -> None:
        """Tell it what to do; nothing where it is lost."""

    async def news(self) -> Sequence[News]:
        """Return what it has to tell, as soon as there is some. Raises WorkerLost."""

    def kill(self) -> None:
        """End it."""


class Places(Protocol):
    """The places of workers."""

    def wanted(self) -> int:
        """Return how many workers there should be now."""

    def place(self) -> Link:
        """Place one more; it begins when there is room."""

    def leaving(self) -> Mapping[str, float]:
        """The machines that are about to leave, and in how many seconds."""

    async def close(self) -> None:
        """End all workers; the run is over."""
