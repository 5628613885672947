"""Helpers that are tasks of a Ray cluster: see `parallel`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

from peerage.ledger.databases import access
from peerage.parallel import Helpers, Lost
from peerage.settings import ArenaError
from peerage.version import __version__

Found = TypeVar("Found")
Given = ParamSpec("Given")


class Tasks(Helpers):
    """One task for each CPU that is free in the cluster at `address`, which is there already. What a node
    that is lost was at another one does. For work on the ledger at the address `ledger`."""

    def __init__(self, address: str, ledger: str) -> None:
        """Raises ArenaError where there is no such cluster, none of its CPUs is free, or its machines cannot
        see the ledger."""
        if ledger.startswith("sqlite"):
            raise ArenaError(
                f"--address wants a ledger on a server, which every machine of the cluster reaches; this one "
                f"is {ledger}. Leave --address out, or let `peerage copy` move the arena to PostgreSQL"
            )
        if find_spec("ray") is None:
            raise ArenaError("--address needs the extra `ray`: pip install 'peerage[ray]'")
        import ray

        from peerage.cluster.connection import connect

        connect(address)
        self.count = int(ray.available_resources().get("CPU", 0))
        if not self.count:
            ray.shutdown()
            raise ArenaError(
                f"no CPU of the Ray cluster at {address} is free: workers of a run hold them. "
                "Wait for its end, add a machine, or leave --address out; `ray status` says more"
            )
        self._futures: set[Future[Any]] = set()
        self._env = access(ledger)
        self._task = ray.remote(num_cpus=1, max_retries=3)(_done)

    def submit(
        self, work: Callable[Given, Found], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Found]:
        found: Future[Found] = Future()

        def answered(raw: Future[Any]) -> None:
            self._futures.discard(found)
            if found.done():
                return
            if (error := raw.exception()) is not None:
                found.set_exception(_cause(error))
            else:
                found.set_result(raw.result())

        self._futures.add(found)
        self._task.remote(__version__, self._env, work, args, kwargs).future().add_done_callback(answered)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        import ray

        ray.shutdown()
        for future in [*self._futures]:
            if not future.done():
                future.set_exception(Lost("the Ray cluster was left"))


def _cause(error: BaseException) -> BaseException:
    """Return what a task raised, as it was raised there."""
    from ray.exceptions import RayError, RayTaskError

    if isinstance(error, RayTaskError):
        cause: object = error.cause
        return cause if isinstance(cause, Exception) else ArenaError(str(error)[-2000:])
    if isinstance(error, RayError):
        return Lost(f"a task of the Ray cluster was lost: {' '.join(str(error).split())[:300]}")
    return error


def _done(release: str, env: Mapping[str, str], work: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    if release != __version__:
        raise ArenaError(
            f"a machine of the cluster has Peerage {__version__}, and this one {release}; install one "
            "release on all machines"
        )
    os.environ.update(env)
    return work(*args, **kwargs)
