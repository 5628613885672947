"""Workers as actors of a Ray cluster: Ray places them, and says when one is gone."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing here reports to others

import ray
from ray._private.state import state
from ray.exceptions import RayError, RayTaskError

from peerage.cluster.line import Line, awaited, dialled
from peerage.cluster.messages import News, Order, Posting, WorkerLink, WorkerLogged, WorkerLost
from peerage.settings import ArenaError

REACHED_S = 10.0
TOLD_S = 2.0
"""Seconds that Ray may take to say why a worker is gone."""
NO_DEADLINE_S = 60.0
"""Seconds that a worker has whose machine is to leave at no stated time."""


class _Hands:
    """A worker within an actor."""

    def __init__(self) -> None:
        self._as_long_as_it_lives = ExitStack()

    async def begin(self, posting: Posting, key: bytes) -> tuple[int, str, str, int]:
        """Get ready: the worker's number, its node, and where its line is to be dialled."""
        from peerage.cluster.worker import Worker
        from peerage.engine.run.process import tuned

        line = Line(lambda orders: worker.order(orders), lambda _: worker.left_alone())
        worker = Worker(posting, line.send)
        log, teller = logging.getLogger("peerage"), _Teller(worker.tell)
        log.addHandler(teller)
        self._as_long_as_it_lives.callback(log.removeHandler, teller)
        number = await worker.begin()
        self._as_long_as_it_lives.enter_context(tuned())
        here = ray.util.get_node_ip_address()
        return number, ray.get_runtime_context().get_node_id(), here, await awaited(here, key, line)

    async def stay(self) -> None:
        """Never returns: Ray says to the caller when the actor is gone."""
        await asyncio.get_running_loop().create_future()


class _Teller(logging.Handler):
    """Sends the log of a worker to the leader."""

    def __init__(self, tell: Callable[[News], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        self._loop.call_soon_threadsafe(self._tell, WorkerLogged(record.levelno, record.getMessage()))


class RayLink:
    """The line to a worker that is an actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._news: list[News] = []
        self._lost = ""
        self._heard = asyncio.Event()
        self._line = Line(self._hear, self._over)
        self._stays: asyncio.Task[None] | None = None
        self.where = ""

    async def begin(self, posting: Posting) -> int:
        key = secrets.token_bytes(32)
        number, self.where, host, port = await _answered(lambda: self._actor.begin.remote(posting, key))
        self._stays = asyncio.create_task(self._stay())
        try:
            await dialled(host, port, key, self._line)
        except OSError as error:
            raise WorkerLost(f"port {port} of {host} cannot be reached from here: {error}") from None
        return int(number)

    def order(self, orders: Sequence[Order]) -> None:
        self._line.send(orders)

    async def news(self) -> Sequence[News]:
        while not self._news:
            if self._lost:
                if self._stays is not None:  # Ray knows better why
                    await asyncio.wait({self._stays}, timeout=TOLD_S)
                raise WorkerLost(self._lost)
            self._heard.clear()
            await self._heard.wait()
        news, self._news = self._news, []
        return news

    def kill(self) -> None:
        if self._stays is not None:
            self._stays.cancel()
        self._line.close()
        ray.kill(self._actor)

    def _hear(self, news: Sequence[News]) -> None:
        self._news += news
        self._heard.set()

    def _over(self, why: str) -> None:
        self._lost = self._lost or why
        self._heard.set()

    async def _stay(self) -> None:
        try:
            await _answered(lambda: self._actor.stay.remote())
        except Exception as lost:
            self._lost = str(lost)
            self._heard.set()


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

    def place(self) -> WorkerLink:
        return RayLink(self._actors.remote())

    def leaving(self) -> Mapping[str, float]:
        nodes = state.get_draining_nodes()
        return {node: at / 1e3 - time.time() if at else NO_DEADLINE_S for node, at in nodes.items()}

    async def close(self) -> None:
        ray.shutdown()


async def _answered(call: Callable[[], Any]) -> Any:
    """Return what an actor answers. Raises WorkerLost, or what it raised."""
    try:
        return await call()
    except RayTaskError as failed:
        cause = failed.cause
        raise (cause if isinstance(cause, Exception) else ArenaError(str(failed)[-2000:])) from None
    except RayError as lost:  # also where Ray ended it, for want of memory
        raise WorkerLost(" ".join(str(lost).split())[:200]) from None


def connect(address: str) -> None:
    """Connect this process with the cluster at `address`, or where that is empty with the one that
    `$RAY_ADDRESS` names, or a new one on this machine. Raises ArenaError where it cannot be reached."""
    here = not address and not os.environ.get("RAY_ADDRESS")
    # "local", or Ray would join any cluster that it finds on this machine.
    more: dict[str, Any] = (
        {"address": "local", "include_dashboard": False} if here else {"address": address or None}
    )
    try:
        host, _, port = address.rpartition(":")
        if port.isdigit() and "/" not in host:  # Ray itself tries for minutes
            socket.create_connection((host.strip("[]"), int(port)), REACHED_S).close()
        ray.init(
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
            namespace="peerage",
            **more,
        )
    except (OSError, RuntimeError, ValueError) as error:
        where = f"the Ray cluster at {address}" if address else "a Ray cluster"
        raise ArenaError(
            f"{where} cannot be reached: {' '.join(str(error).split())[:300]}. `ray status` says more; "
            "without `--address` this machine does all alone"
        ) from None
