"""Workers as actors of a Ray cluster: Ray places them, and says when one is gone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import ray
from ray._private.state import state
from ray.exceptions import RayActorError, RayTaskError

from peerage.cluster.connection import connect
from peerage.cluster.messages import Logged, News, Order, Posting
from peerage.cluster.places import Link, WorkerLost
from peerage.settings import ArenaError

NO_DEADLINE_S = 60.0
"""How long a worker has whose machine is to leave at no stated time."""
Found = TypeVar("Found")


class _Hands:
    """A worker within an actor."""

    def __init__(self) -> None:
        self._worker: Any = None

    async def begin(self, posting: Posting) -> tuple[int, str]:
        from peerage.cluster.worker import Worker

        self._worker = Worker(posting)
        logging.getLogger("peerage").addHandler(_Teller(self._worker.tell))
        return await self._worker.begin(), ray.get_runtime_context().get_node_id()

    async def order(self, orders: Sequence[Order]) -> None:
        self._worker.order(orders)

    async def news(self, patience_s: float) -> list[News]:
        found: list[News] = await self._worker.news(patience_s)
        return found

    async def close(self) -> None:
        await self._worker.close()


class _Teller(logging.Handler):
    """Tells the leader what is logged here."""

    def __init__(self, tell: Callable[[News], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        self._loop.call_soon_threadsafe(self._tell, Logged(record.levelno, record.getMessage()))


class RayLink:
    """The line to a worker that is an actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self.where = ""

    async def begin(self, posting: Posting) -> int:
        number, self.where = await _answered(lambda: self._actor.begin.remote(posting))
        return int(number)

    async def order(self, orders: Sequence[Order]) -> None:
        await _answered(lambda: self._actor.order.remote(orders))

    async def news(self, patience_s: float) -> Sequence[News]:
        found: Sequence[News] = await _answered(lambda: self._actor.news.remote(patience_s))
        return found

    def kill(self) -> None:
        ray.kill(self._actor)


class RayPlaces:
    """A Ray cluster: at `address`, or where that is empty the one that `$RAY_ADDRESS` names, or a new one on
    this machine. There is a worker for each of its CPUs, or so many as are `stated`."""

    def __init__(self, address: str, stated: int | None) -> None:
        """Raises ArenaError where the cluster cannot be reached."""
        self._stated = stated
        connect(address)
        self._actors = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=100)(_Hands)

    def wanted(self) -> int:
        return self._stated or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def place(self) -> Link:
        return RayLink(self._actors.remote())

    def leaving(self) -> Mapping[str, float]:
        nodes = state.get_draining_nodes()
        return {node: at / 1e3 - time.time() if at else NO_DEADLINE_S for node, at in nodes.items()}

    async def close(self) -> None:
        ray.shutdown()


async def _answered(call: Callable[[], Any]) -> Any:
    """What an actor answers. Raises WorkerLost, or what it raised."""
    try:
        return await call()
    except RayActorError as lost:
        raise WorkerLost(" ".join(str(lost).split())[:200]) from None
    except RayTaskError as failed:
        cause = failed.cause
        raise (cause if isinstance(cause, Exception) else ArenaError(str(failed)[-2000:])) from None
