"""Workers in the leader's own process, on its loop, whose line to it can be cut. What they tell passes
through pickle, as it does under Ray."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest

from peerage.cluster import on_ray
from peerage.cluster.messages import News, Order, Posting, WorkerLink, WorkerLost
from peerage.cluster.worker import Worker


class HereLink:
    def __init__(self) -> None:
        self.cut = False
        self.where = ""
        self.worker: Worker | None = None
        self._told: asyncio.Queue[bytes] = asyncio.Queue()

    @property
    def busy(self) -> int:
        """Matches that the worker drives."""
        return 0 if self.worker is None else len(self.worker._matches)

    async def begin(self, posting: Posting) -> int:
        self.worker = Worker(posting, lambda news: self._told.put_nowait(pickle.dumps(news)))
        return await self.worker.begin()

    def order(self, orders: Sequence[Order]) -> None:
        if not self.cut:
            assert self.worker is not None
            self.worker.order(pickle.loads(pickle.dumps(orders)))

    async def news(self) -> Sequence[News]:
        while not self.cut:
            with suppress(TimeoutError):
                found: Sequence[News] = pickle.loads(await asyncio.wait_for(self._told.get(), 0.05))
                return found
        raise WorkerLost("cut off")

    def kill(self) -> None:
        """A worker that was cut off goes on by itself, as one does beyond a broken line."""


class HerePlaces:
    """As many workers as are stated."""

    def __init__(self, address: str, stated: int | None) -> None:
        self.links: list[HereLink] = []
        self.departing: set[str] = set()
        self._stated = stated or 2

    def wanted(self) -> int:
        return self._stated

    def place(self) -> WorkerLink:
        self.links.append(HereLink())
        self.links[-1].where = f"machine {len(self.links)}"
        return self.links[-1]

    def leaving(self) -> Mapping[str, float]:
        return dict.fromkeys(self.departing, 10.0)

    async def close(self) -> None:
        for link in self.links:
            if link.worker is not None:
                await link.worker.close()


def here(monkeypatch: pytest.MonkeyPatch) -> list[HerePlaces]:
    """Let runs place their workers here; those of each run, in order."""
    made: list[HerePlaces] = []

    def places(address: str, stated: int | None) -> HerePlaces:
        made.append(HerePlaces(address, stated))
        return made[-1]

    monkeypatch.setattr(on_ray, "RayPlaces", places)
    return made
