"""Windows: when hosts are started, which of their models are up, when they are stopped.

A match that asks a player whose host is not up waits, as for a player out of hours, after all else that it
asks is done (*preload*). The host is started when as many matches wait as its settings say, or when a run
has nothing else to do; its players are warmed by one call each, and all their matches go on together
(*batch*). Models that do not fit its memory together are up in turn, in one window: one that is not needed
makes room while others go on. The host is stopped after the last call, when its longest time is over, when
the run ends or dies (*auto-shutdown*).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit

from peerage.engine.availability import Away
from peerage.ledger.windows import Use, Window, record_of
from peerage.players.checks import WARM_TOKENS, probe_call
from peerage.players.client import PlayerError
from peerage.players.hosted import NOT_UP, HostedClient, Meter, Power, Switch, reached
from peerage.players.sleep_mode import asked, let_sleep
from peerage.settings import HostSettings, PlayerSettings
from peerage.settings.host import HOUR_S

IDLE_S = 20.0
"""After how long without a call a host is stopped at the latest though matches under way might still ask its
players, and their models make room for others: sooner where starting, or turning, took less."""
LEAST_S = 1.0
"""Seconds in which a call that is due is on its way."""
LOOK_S = 0.2
"""Seconds between two looks whether a starting host is ready."""
LEAD = 0.1
"""Part of the longest time before whose end no more calls begin, unless calls are known to be quicker."""

State: TypeAlias = Literal["closed", "opening", "up", "turning", "draining", "closing", "over"]

_log = logging.getLogger("peerage")


class HostsRun(Protocol):
    """The run that the hosts serve."""

    def host_up(self, players: Collection[str]) -> None:
        """These players may be asked now."""

    def window_over(self, window: Window, record: Path) -> None:
        """A window has ended: write it down, then remove the record that says that it is open."""

    def look_soon(self) -> None:
        """Something has changed."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""


class Needed(NamedTuple):
    """What a run needs of hosts: matches that wait for each player; the players seated in matches under way;
    whether it has nothing else to do."""

    waiting: Mapping[str, int]
    seated: Set[str]
    idle: bool


Switches: TypeAlias = Callable[[HostSettings, Path], Switch]
"""What makes the switch of a host, given the file that says that its window is open."""


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
        served = {name: [one for one in players if one.host == name] for name in settings}
        self._hosts = {
            name: _Host(name, settings[name], mine, clients, folder, clock, switches if guarded else None)
            for name, mine in served.items()
            if mine
        }
        self._of = {one.name: self._hosts[one.host] for one in players if one.host}

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def serve(
        self, run: HostsRun, set_aside: Callable[[int], int], hours_over: Callable[[str], bool]
    ) -> None:
        """A run begins. `set_aside(nano)` reserves money for a window and returns how much of it there is;
        `hours_over(player)` says whether a player is out of its hours."""
        for host in self._hosts.values():
            host.serve(run, set_aside, hours_over)

    def away(self, player: str) -> Away | None:
        """Why a player's host does not serve it now."""
        host = self._of.get(player)
        if host is None or (host.state in ("up", "turning") and player in host.awake):
            return None
        return Away(host.out.get(player) or host.why or NOT_UP, None)

    @property
    def problems(self) -> str:
        """Why hosts, or models of theirs, are not started again in this run; empty where all may be."""
        hosts = self._hosts.values()
        found = [why for host in hosts for why in (host.why * (host.state == "over"), *host.out.values())]
        return "; ".join(filter(None, found))

    def look(self, needed: Needed) -> bool:
        """Start, turn and stop hosts as is needed now; whether the run is to stay for one."""
        stays = [host.look(needed) for host in self._hosts.values()]
        return True in stays

    async def close(self) -> None:
        """The run ends: stop what is up."""
        await asyncio.gather(*[host.close("stopped") for host in self._hosts.values()])


class _Host:
    """One host and its window."""

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
        self.settings = settings
        self.state: State = "closed"
        self.awake: list[str] = []
        self.why = ""
        self.out: dict[str, str] = {}
        """Players whose models did not come up, and why: they are not tried again in this run."""
        self._name = name
        self._players = {one.name: one for one in players}
        self._clients = {one.name: clients[one.name] for one in players}
        self._folder = folder
        self._clock = clock
        self._switches = switches
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._idle: asyncio.TimerHandle | None = None
        self._power: Switch | None = None
        self._meter = Meter(0, self._loop.time)
        self._opened_ms = 0
        self._ready_ms: int | None = None
        self._reserved = 0
        self._lasts_s = 0.0
        self._took_s = {"start": 0.0, "turn": 0.0}
        self._memory = {one.name: _gigabytes(one, folder) for one in players}

    def serve(
        self, run: HostsRun, set_aside: Callable[[int], int], hours_over: Callable[[str], bool]
    ) -> None:
        self._run, self._set_aside, self._hours_over = run, set_aside, hours_over

    @property
    def _at(self) -> str:
        return "" if self._power is None else self._power.at

    @property
    def _rate(self) -> int:
        return round((self.settings.usd_per_hour or 0.0) * 1e9)

    def look(self, needed: Needed) -> bool:
        """Whether the run is to stay for this host."""
        waiting = {
            name: needed.waiting[name]
            for name in self._players
            if needed.waiting.get(name) and name not in self.out and not self._hours_over(name)
        }
        if self.state == "closed":
            if waiting and (needed.idle or sum(waiting.values()) >= self.settings.matches):
                self._begin(self._open(waiting))
        elif self.state == "up":
            self._attend(waiting, needed.seated)
        return self.state not in ("closed", "over")

    def _attend(self, waiting: Mapping[str, int], seated: Set[str]) -> None:
        """Let models that nobody needs now make room for others; with none that is needed, stop the host."""
        asleep = {name: count for name, count in waiting.items() if name not in self.awake}
        patience = max(LEAST_S, min(IDLE_S, self._took_s["turn" if asleep else "start"]))
        now, last = self._loop.time(), self._meter.last
        kept = {name for name in self.awake if waiting.get(name) or self._meter.in_flight[name]}
        soon = {name: last[name] + patience - now for name in seated & set(self.awake) - kept}
        soon = {name: seconds for name, seconds in soon.items() if seconds > 0}
        kept |= soon.keys()
        if asleep and not asleep.keys().isdisjoint(self._chosen(asleep, kept)):
            self._begin(self._turn(asleep, kept))
        elif kept:
            self._look_again(min(soon.values(), default=IDLE_S))
        else:
            self.awake = []
            self._begin(self._close("done"))

    def _look_again(self, seconds: float) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(max(1.0, seconds), self._run.look_soon)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self.state = "opening" if self.state == "closed" else "turning" if self.state == "up" else self.state
        self._task = self._loop.create_task(self._done(work))

    async def _done(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as fault:
            self._run.broken(fault)

    # ------------------------------------------------------------------------------------ a window

    async def _open(self, waiting: Mapping[str, int]) -> None:
        longest = self.settings.longest * HOUR_S
        wanted = -(-round(longest * self._rate) // round(HOUR_S))
        self._reserved = self._set_aside(wanted)
        self._lasts_s = longest * self._reserved / wanted if wanted else longest
        if wanted and self._lasts_s < min(60.0, longest):
            self._give_up("the budget has no money left for a window")
            return
        self._opened_ms, self._ready_ms, began = self._clock(), None, self._loop.time()
        self._meter = Meter(self._rate, self._loop.time)
        ends = self._loop.time() + self._lasts_s
        self._timers = [self._loop.call_at(ends, self._cut)]
        _log.info("%s is started", self._name)
        record = record_of(self._folder, self._name)
        if self._switches is not None:
            self._power = self._switches(self.settings, record)
            await self._power.on(
                {
                    "host": self._name,
                    "opened_ms": self._opened_ms,
                    "players": [*self._players],
                    "nano_per_hour": self._rate if self.settings.usd_per_hour is not None else None,
                }
            )
        problem = await self._ready(waiting)
        if problem:
            await self._close(f"failed: {problem}")
            return
        self._took_s["start"] = self._loop.time() - began
        lead = min(LEAD * self._lasts_s, 600.0)
        self._timers.append(self._loop.call_at(ends - lead, self._drain))

    async def _ready(self, waiting: Mapping[str, int]) -> str:
        """Wait until the host is ready, and wake the first models; why that came to nothing."""
        try:
            async with asyncio.timeout(self.settings.ready_s):
                while self._power is not None and self.settings.start and not await self._answers():
                    if problem := await self._power.failed():
                        return problem
                    await asyncio.sleep(LOOK_S)
                return await self._wake(waiting)
        except TimeoutError:
            words = await self._power.last_words() if self._power is not None else ""
            return f"it was not ready after {self.settings.ready_s:g} s{words}"

    async def _answers(self) -> bool:
        base = next((one.base_url for one in self._players.values() if one.base_url), "")
        address = self.settings.ready or f"{base.rstrip('/')}/models"
        if address.startswith("/"):
            return True
        return (await asked("GET", reached(address, self._at)))[0] in range(200, 300)

    def _chosen(self, waiting: Mapping[str, int], kept: Set[str]) -> list[str]:
        """The players whose models are up next: those `kept`, then as many that matches wait for as fit, and
        others where there is room."""
        room = self.settings.memory
        chosen: list[str] = []
        for name in sorted(
            self._players.keys() - self.out.keys(),
            key=lambda one: (
                one not in kept,
                -waiting.get(one, 0),
                one not in self.awake,
                -self._players[one].priority,
                one,
            ),
        ):
            if room is None or self._memory[name] <= room or not chosen:
                chosen.append(name)
                room = None if room is None else room - self._memory[name]
        return chosen

    async def _wake(self, waiting: Mapping[str, int], kept: Set[str] = frozenset()) -> str:
        """Bring up those who are to be up next, and down who is not; why none is up."""
        began = self._loop.time()
        chosen = self._chosen(waiting, kept)
        for name in (gone := [one for one in self.awake if one not in chosen]):
            self.awake.remove(name)
        for name in gone:
            await self._clients[name].down()
        fresh = [one for one in chosen if one not in self.awake]
        if self.settings.sleeps:
            try:
                servers = {self._server(name) for name in self._players}
                await let_sleep(servers, {self._server(name) for name in chosen}, self.settings.ready_s)
            except PlayerError as error:
                return str(error)
        problems = dict(zip(fresh, await asyncio.gather(*map(self._up, fresh)), strict=True))
        self.out |= {name: problem for name, problem in problems.items() if problem}
        woken = [name for name in fresh if name not in self.out]
        self.awake += woken
        if not self.awake:
            return next(filter(None, reversed(problems.values())), "")
        now = self._loop.time()
        self._took_s["turn"] = now - began
        self._ready_ms = self._ready_ms or self._clock()
        self._meter.last.update(dict.fromkeys(woken, now))
        self.state, self.why = "up", ""
        self._run.host_up(woken)
        return ""

    async def _up(self, name: str) -> str:
        """Open a player's client and warm it; why that came to nothing."""
        try:
            await self._clients[name].up(probe_call(max_tokens=WARM_TOKENS), self._meter, self._at)
        except PlayerError as error:
            await self._clients[name].down()
            _log.warning("%s: %s", name, error)
            return f"{name}: {error}"
        return ""

    async def _turn(self, waiting: Mapping[str, int], kept: Set[str]) -> None:
        """Let other models have the memory that those do not need that are not `kept`."""
        if problem := await self._wake(waiting, kept):
            await self._close(f"failed: {problem}")

    def _drain(self) -> None:
        """The longest time is almost over: no more calls begin, unless they are known to be quicker."""
        left = self._lasts_s - (self._clock() - self._opened_ms) / 1000
        lead = 2 * self._meter.slowest_s
        if self.state == "up" and self._meter.calls and lead < left:
            self._timers.append(self._loop.call_later(left - lead, self._drain))
        elif self.state == "turning":
            self._timers.append(self._loop.call_later(LEAST_S, self._drain))
        elif self.state == "up":
            self.state, self.why = "draining", f"the longest window of {self._name} is over"
            self._begin(self._when_quiet())

    async def _when_quiet(self) -> None:
        while self._meter.in_flight.total():
            await asyncio.sleep(0.05)
        await self._close("longest")

    def _cut(self) -> None:
        """The longest time is over."""
        if self.state not in ("closed", "closing", "over"):
            if self._task is not None:
                self._task.cancel()
            self._task = self._loop.create_task(self._done(self._close("longest")))

    async def close(self, why: str) -> None:
        """The run ends."""
        if self.state in ("closed", "over"):
            return
        if self.state == "closing" and self._task is not None:
            await asyncio.wait([self._task])
            return
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._close(why)

    async def _close(self, why: str) -> None:
        if self.state == "closing":
            return
        self.state = "closing"
        for timer in filter(None, (*self._timers, self._idle)):
            timer.cancel()
        meter, stopping_ms = self._meter, self._clock()
        for client in self._clients.values():
            with suppress(Exception):
                await client.down()
        self.awake = []
        if self._power is not None:
            await self._power.off()
            self._power = None
        used = {
            name: Use(meter.calls[name], round(meter.seconds.get(name, 0.0), 3), meter.billed[name])
            for name in self._players
        }
        window = Window(
            self._name,
            self._opened_ms,
            self._clock(),
            why,
            self._rate if self.settings.usd_per_hour is not None else None,
            self._ready_ms,
            stopping_ms,
            round(meter.busy_s * 1000),
            len(meter.matches),
            used,
        )
        self._set_aside(-self._reserved)
        self._run.window_over(window, record_of(self._folder, self._name))
        if why == "done":
            self.state = "closed"
            self._run.look_soon()
        else:
            self._give_up(why.removeprefix("failed: "))

    def _give_up(self, why: str) -> None:
        """The host is not started again in this run."""
        self.state = "over"
        self.why = (
            f"the longest window of {self._name} is over" if why == "longest" else f"{self._name}: {why}"
        )
        _log.info("%s", self.why)
        self._run.look_soon()

    def _server(self, player: str) -> str:
        """The address of a player's server, next to whose models vLLM offers to sleep."""
        parts = urlsplit(reached(self._players[player].base_url, self._at))
        return f"{parts.scheme}://{parts.netloc}"


def _gigabytes(player: PlayerSettings, folder: Path) -> float:
    """What a player takes of its host's memory."""
    if player.memory is not None or player.provider != "gguf":
        return player.memory or 0.0
    from peerage.players.local import model_file

    try:
        return model_file(player.model, folder).stat().st_size / 1e9
    except (PlayerError, OSError):
        return 0.0
