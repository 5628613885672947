"""Hosts on nodes of a Ray cluster: an actor holds what a host needs there, and starts and stops it.

What it starts is guarded as on one machine (`players.hosted.host_guard`): whatever ends the actor, that the
run is done or has died or that Ray is gone, the host is stopped on its node.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from peerage.engine.run.hosts import here
from peerage.players.hosted.host_guard import write
from peerage.players.hosted.on_host import Power, Switch
from peerage.settings.players.host import HostSettings


class _OnNode:
    """The actor."""

    def __init__(self, start: Sequence[str], stop: Sequence[str], record: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="peerage-host-"))
        # Ray kills the children of an actor that ends, and the guard is to stop the host then.
        self._power = Power(start, stop, self._folder / "host.json", Path(record), apart=True)

    async def on(self) -> str:
        await self._power.on({})
        return str(ray.util.get_node_ip_address())

    async def off(self) -> None:
        await self._power.off()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def failed(self) -> str:
        return await self._power.failed()

    async def last_words(self) -> str:
        return await self._power.last_words()


class OnCluster:
    """Starts and stops a host on a node that has its resources; implements `Switch`."""

    def __init__(self, settings: HostSettings, record: Path) -> None:
        self.at = ""
        self._settings = settings
        self._record = record
        self._actor: Any = None
        self._why = ""

    async def on(self, uptime: dict[str, Any]) -> None:
        write(self._record, uptime)  # nothing for the next command to stop: the guard is there
        settings, record = self._settings, str(self._record.resolve())
        try:
            made = ray.remote(max_restarts=0, **_options(settings.resources))(_OnNode)
            self._actor = made.remote([*settings.start], [*settings.stop], record)
            async with asyncio.timeout(settings.ready_s):
                at = await self._actor.on.remote()
        except TimeoutError:
            needs = ", ".join(f"{name}: {count:g}" for name, count in settings.resources.items())
            self._why = (
                f"no node of the Ray cluster had {needs} free within {settings.ready_s:g} s; `ray status` "
                "says what there is, and who holds it"
            )
            ray.kill(self._actor)
        except RayError as lost:
            self._why = _in_words(lost)
        except ValueError as error:  # Ray knows what it may be asked for
            self._why = f"its resources: {error}"
        else:
            self.at = "" if at == ray.util.get_node_ip_address() else at

    async def off(self) -> None:
        if self._actor is not None:
            with suppress(RayError):
                await self._actor.off.remote()
            ray.kill(self._actor)
            self._actor = None

    async def failed(self) -> str:
        if self._why:
            return self._why
        try:
            return str(await self._actor.failed.remote())
        except RayError as lost:
            return _in_words(lost)

    async def last_words(self) -> str:
        with suppress(RayError):
            return str(await self._actor.last_words.remote())
        return ""


def switch(settings: HostSettings, record: Path) -> Switch:
    """Return what starts and stops a host of a run that is connected with a cluster."""
    return OnCluster(settings, record) if settings.resources else here(settings, record)


def _options(resources: Mapping[str, float]) -> dict[str, Any]:
    rest = dict(resources)
    cpus, gpus = rest.pop("CPU", 0), rest.pop("GPU", 0)
    return {"num_cpus": cpus, "num_gpus": gpus, "memory": rest.pop("memory", None), "resources": rest}


def _in_words(lost: RayError) -> str:
    return f"its node of the Ray cluster is lost: {' '.join(str(lost).split())[:200]}"
