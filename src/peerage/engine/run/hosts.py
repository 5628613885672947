"""Hosts: started when enough matches wait for their players, stopped after the last call.

A match that asks a player whose host is not up waits, as for a player out of hours, after all else that it
asks is done (*preload*). The host is started when as many matches wait as its settings say, or when a run
has nothing else to do; its players are warmed by one call each, and all their matches go on together
(*batch*). It is stopped after the last call, when its longest time is over, when the run ends or dies
(*auto-shutdown*).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from peerage.engine.calls.availability import Away
from peerage.ledger.topics.uptimes import Uptime, Use, record_of
from peerage.players.checks import WARM_TOKENS, probe_call
from peerage.players.client import PlayerError
from peerage.players.hosted.host_guard import GRACE_S, STOP_S
from peerage.players.hosted.on_host import NOT_UP, HostedClient, Meter, Power, Switch, reached
from peerage.settings import HostSettings, PlayerSettings
from peerage.settings.players.host import HOUR_S

IDLE_S = 20.0
"""After how long without a call a host is stopped at the latest though matches under way might still ask its
players: sooner where starting took less."""
LEAST_S = 1.0
"""Seconds in which a call that is due is on its way."""
LOOK_S = 0.2
"""Seconds between two looks whether a starting host is ready."""
ANSWER_S = 10.0
"""Seconds that a starting host has to answer such a look."""
STOPPING_SHARE = 0.1
"""Part of the longest time that is kept for stopping, which is paid too, where that may take longer."""

State: TypeAlias = Literal["off", "starting", "up", "stopping", "over"]

_log = logging.getLogger("peerage")


class HostsRun(Protocol):
    """The run that the hosts serve."""

    def host_up(self, players: Collection[str]) -> None:
        """These players may be asked now."""

    def host_down(self, uptime: Uptime, record: Path) -> None:
        """A host was stopped: write that down, then remove the record that says that it is up."""

    def look_soon(self) -> None:
        """Something has changed."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""


class Needed(NamedTuple):
    """Needs of a run: matches that wait for each player, players in play, whether nothing else is to do."""

    waiting: Mapping[str, int]
    seated: Set[str]
    idle: bool


Switches: TypeAlias = Callable[[HostSettings, Path], Switch]
"""Makes the switch of a host, given the file that says that the host is up."""


def here(settings: HostSettings, record: Path) -> Switch:
    """Hosts are started by this machine."""
    return Power(settings.start, settings.stop, record)


class Hosts:
    """The hosts of a run. For the event loop's thread alone."""

    def __init__(
        self,
        settings: Mapping[str, HostSettings],
        players: Sequence[PlayerSettings],
        clients: Mapping[str, HostedClient],
        folder: Path,
        clock: Callable[[], int],
        *,
        guarded: bool = True,
        switches: Switches = here,
    ) -> None:
        served = {name: [player for player in players if player.host == name] for name in settings}
        self._hosts = {
            name: _Host(name, settings[name], own, clients, folder, clock, switches if guarded else None)
            for name, own in served.items()
            if own
        }
        self._of = {player.name: self._hosts[player.host] for player in players if player.host}

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def serve(
        self, run: HostsRun, set_aside: Callable[[int], int], hours_over: Callable[[str], bool]
    ) -> None:
        """A run begins. `set_aside(nano)` reserves money for a host and returns how much of it there is;
        `hours_over(player)` says whether a player is out of its hours."""
        for host in self._hosts.values():
            host.serve(run, set_aside, hours_over)

    def away(self, player: str) -> Away | None:
        """Return why a player's host does not serve it now; None where it does."""
        host = self._of.get(player)
        if host is None or (host.state == "up" and player in host.awake):
            return None
        return Away(host.out.get(player) or host.why or NOT_UP, None)

    @property
    def problems(self) -> str:
        """Return why hosts, or their models, are not started again in this run; empty where all may be."""
        hosts = self._hosts.values()
        reasons = [why for host in hosts for why in (host.why * (host.state == "over"), *host.out.values())]
        return "; ".join(filter(None, reasons))

    def look(self, needed: Needed) -> bool:
        """Start and stop hosts as is needed now; whether the run is to stay for one."""
        stays = [host.look(needed) for host in self._hosts.values()]
        return True in stays

    async def close(self) -> None:
        """Stop every host that is up, at the end of a run."""
        await asyncio.gather(*[host.close("stopped") for host in self._hosts.values()])


class _Host:
    """One host."""

    def __init__(
        self,
        name: str,
        settings: HostSettings,
        players: Sequence[PlayerSettings],
        clients: Mapping[str, HostedClient],
        folder: Path,
        clock: Callable[[], int],
        switches: Switches | None,
    ) -> None:
        self.state: State = "off"
        self.awake: set[str] = set()
        self.why = ""
        self.out: dict[str, str] = {}
        """Players whose models did not come up, and why: they are not tried again in this run."""
        self._name = name
        self._settings = settings
        self._address = settings.ready or next(
            (f"{player.base_url.rstrip('/')}/models" for player in players if player.base_url), ""
        )
        self._clients = {player.name: clients[player.name] for player in players}
        self._record = record_of(folder, name)
        self._clock = clock
        self._switches = switches
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._idle: asyncio.TimerHandle | None = None
        self._power: Switch | None = None
        self._meter = Meter(0, self._loop.time)
        self._started_ms = 0
        self._reserved = 0
        self._patience_s = IDLE_S

    def serve(
        self, run: HostsRun, set_aside: Callable[[int], int], hours_over: Callable[[str], bool]
    ) -> None:
        self._run, self._set_aside, self._hours_over = run, set_aside, hours_over

    @property
    def _nano_per_hour(self) -> int | None:
        usd = self._settings.usd_per_hour
        return None if usd is None else round(usd * 1e9)

    def look(self, needed: Needed) -> bool:
        """Start or stop the host as is needed now; whether the run is to stay for it."""
        able = {name for name in self._clients if name not in self.out and not self._hours_over(name)}
        if self.state == "off":
            waiting = sum(needed.waiting.get(name, 0) for name in able)
            if waiting and (needed.idle or waiting >= self._settings.matches):
                self._begin("starting", self._start(able))
        elif self.state == "up":
            self._attend(needed, able & self.awake)
        return self.state not in ("off", "over")

    def _attend(self, needed: Needed, able: Set[str]) -> None:
        """Stop the host when nobody needs it any more."""
        now, last = self._loop.time(), self._meter.last
        soon = max([last[name] + self._patience_s - now for name in needed.seated & able], default=0.0)
        if any(needed.waiting.get(name) for name in able) or self._meter.in_flight.total():
            soon = IDLE_S
        if soon > 0:
            if self._idle is not None:
                self._idle.cancel()
            self._idle = self._loop.call_later(max(LEAST_S, soon), self._run.look_soon)
        else:
            self._begin("stopping", self._stop("done"))

    def _begin(self, state: State, work: Coroutine[Any, Any, None]) -> None:
        self.state = state
        self._task = self._loop.create_task(self._done(work))

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as fault:
            self._run.broken(fault)

    async def _start(self, players: Set[str]) -> None:
        longest_s = self._settings.longest * HOUR_S
        wanted = -(-round(longest_s * (self._nano_per_hour or 0)) // round(HOUR_S))
        self._reserved = self._set_aside(wanted)
        lasts_s = longest_s * self._reserved / wanted if wanted else longest_s
        if lasts_s < min(60.0, longest_s):
            self._set_aside(-self._reserved)
            self._give_up(f"{self._name}: the budget has no money left for it")
            return
        self._started_ms, began = self._clock(), self._loop.time()
        self._meter = Meter(self._nano_per_hour or 0, self._loop.time)
        stopping_s = min(STOPPING_SHARE * lasts_s, STOP_S + GRACE_S)
        self._timers = [self._loop.call_at(began + lasts_s - stopping_s, self._cut)]
        _log.info("%s is started", self._name)
        if self._switches is not None:
            self._power = self._switches(self._settings, self._record)
            await self._power.on(
                {
                    "host": self._name,
                    "started_ms": self._started_ms,
                    "players": [*self._clients],
                    "nano_per_hour": self._nano_per_hour,
                }
            )
        if problem := await self._ready(players):
            await self._stop(f"failed: {problem}")
            return
        now = self._loop.time()
        self._patience_s = max(LEAST_S, min(IDLE_S, now - began))
        self._meter.last.update(dict.fromkeys(self.awake, now))
        self.state, self.why = "up", ""
        self._run.host_up(self.awake)

    async def _ready(self, players: Set[str]) -> str:
        """Wait until the host answers, and warm its players; why that came to nothing."""
        try:
            async with asyncio.timeout(self._settings.ready_s):
                while self._power is not None and self._settings.start and not await self._answers():
                    if problem := await self._power.failed():
                        return problem
                    await asyncio.sleep(LOOK_S)
                names = sorted(players)
                problems = dict(zip(names, await asyncio.gather(*map(self._warm, names)), strict=True))
        except TimeoutError:
            words = await self._power.last_words() if self._power is not None else ""
            return f"it was not ready after {self._settings.ready_s:g} s{words}"
        self.out |= {name: problem for name, problem in problems.items() if problem}
        self.awake = players - self.out.keys()
        return "" if self.awake else next(iter(problems.values()))

    async def _answers(self) -> bool:
        import aiohttp

        if not self._address:
            return True
        address = reached(self._address, "" if self._power is None else self._power.at)
        limit = aiohttp.ClientTimeout(total=ANSWER_S)
        try:
            async with aiohttp.ClientSession(timeout=limit) as session, session.get(address) as response:
                return response.ok
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False

    async def _warm(self, name: str) -> str:
        """Open a player's client and ask it one small question; why that came to nothing."""
        at = "" if self._power is None else self._power.at
        try:
            await self._clients[name].up(probe_call(max_tokens=WARM_TOKENS), self._meter, at)
        except PlayerError as error:
            await self._clients[name].down()
            _log.warning("%s: %s", name, error)
            return f"{name}: {error}"
        return ""

    def _cut(self) -> None:
        """End the longest time that the host may be up; calls on their way are asked again another time."""
        if self.state in ("starting", "up"):
            if self._task is not None:
                self._task.cancel()
            self._begin("stopping", self._stop("longest"))

    async def close(self, why: str) -> None:
        """Stop the host, as the run ends."""
        if self.state in ("off", "over"):
            return
        if self._task is not None and self.state == "stopping":
            await asyncio.wait([self._task])
            return
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._stop(why)

    async def _stop(self, why: str) -> None:
        self.state, self.awake = "stopping", set()
        for timer in filter(None, (*self._timers, self._idle)):
            timer.cancel()
        for client in self._clients.values():
            with suppress(Exception):
                await client.down()
        if self._power is not None:
            await self._power.off()
            self._power = None
        meter = self._meter
        uptime = Uptime(
            host=self._name,
            started_ms=self._started_ms,
            stopped_ms=self._clock(),
            why=why,
            nano_per_hour=self._nano_per_hour,
            matches=len(meter.matches),
            used={
                name: Use(meter.calls[name], round(meter.seconds.get(name, 0.0), 3), meter.billed[name])
                for name in self._clients
            },
        )
        self._set_aside(-self._reserved)
        self._run.host_down(uptime, self._record)
        if why == "done":
            self.state = "off"
            self._run.look_soon()
        elif why == "longest":
            self._give_up(f"{self._name} was up for its longest time")
        else:
            self._give_up(f"{self._name}: {why.removeprefix('failed: ')}")

    def _give_up(self, why: str) -> None:
        """Start the host no more in this run."""
        self.state, self.why = "over", why
        _log.info("%s", why)
        self._run.look_soon()
