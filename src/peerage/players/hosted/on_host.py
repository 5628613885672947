"""Players on a host: reached while it is up, each call billed its share of the hour.

power    starts and stops the host, by a process that outlives a crash of this one (`host_guard`)
meter    splits the hour: while n calls are on their way each costs a n-th of what the host does
client   asks the player's own client, which is made when the host is up and closed before it stops
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from peerage.players.client import Answer, Call, Client, Later, PlayerError
from peerage.players.hosted.host_guard import write
from peerage.settings import PlayerSettings
from peerage.settings.players.host import HOUR_S

NOT_UP = "its host is not up"


class Switch(Protocol):
    """Starts and stops one host. `at` is the address of the machine on which it was started, empty for this
    one."""

    at: str

    async def on(self, uptime: dict[str, Any]) -> None:
        """Write down that the host is up, then start it."""

    async def off(self) -> None:
        """Stop the host, and wait until it is stopped."""

    async def failed(self) -> str:
        """Return why the host cannot become ready any more; empty while it can."""

    async def last_words(self) -> str:
        """The end of the host's log, to follow a sentence."""


class Power:
    """Starts and stops one host on this machine. `record` is the file that says that it is up;
    `also` is one that says so elsewhere, and is to have the end too where it can be seen from here. Who kills
    the children of this process does not find one that is `apart`."""

    at = ""

    def __init__(
        self,
        start: Sequence[str],
        stop: Sequence[str],
        record: Path,
        also: Path | None = None,
        *,
        apart: bool = False,
    ) -> None:
        self._start = start
        self._stop = stop
        self._record = record
        self._also = also
        self._apart = apart
        self._log = record.with_suffix(".log")
        self._guard: asyncio.subprocess.Process | None = None
        self._heard = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self.exited: int | None = None

    async def on(self, uptime: dict[str, Any]) -> None:
        write(self._record, uptime | {"stop": [*self._stop]})
        self._log.unlink(missing_ok=True)
        self._guard = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "peerage.players.hosted.host_guard",
            *["apart"][: self._apart],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert self._guard.stdin is not None
        records = [str(path.resolve()) for path in (self._record, self._also) if path is not None]
        order = {"start": [*self._start], "stop": [*self._stop], "records": records}
        self._guard.stdin.write(json.dumps(order | {"log": str(self._log.resolve())}).encode() + b"\n")
        await self._guard.stdin.drain()
        write(self._record, uptime | {"stop": [*self._stop], "guard": self._guard.pid})
        self._reading = asyncio.create_task(self._read(self._guard))
        await self._heard.wait()

    async def off(self) -> None:
        if self._guard is None:
            return
        assert self._guard.stdin is not None
        with suppress(OSError):
            self._guard.stdin.close()
        await self._guard.wait()
        if self._reading is not None:
            await self._reading

    async def failed(self) -> str:
        if not self.exited:
            return ""
        return f"its start command ended with exit code {self.exited}{await self.last_words()}"

    async def last_words(self) -> str:
        with suppress(OSError):
            lines = self._log.read_bytes()[-2000:].decode("utf-8", "replace").split("\n")
            if printed := [line.strip() for line in lines if line.strip()]:
                return f": {printed[-1][:300]} (see {self._log.name})"
        return ""

    async def _read(self, guard: asyncio.subprocess.Process) -> None:
        assert guard.stdout is not None
        async for line in guard.stdout:
            if line.startswith(b"exited "):
                self.exited = int(line.split()[1])
            self._heard.set()
        self._heard.set()


class Meter:
    """Costs of the calls of one uptime: a share of the hour each. `clock` gives seconds."""

    def __init__(self, nano_per_hour: int, clock: Callable[[], float]) -> None:
        self._per_s = nano_per_hour / HOUR_S
        self._clock = clock
        self._at = clock()
        self._each = 0.0
        self.in_flight: Counter[str] = Counter()
        self.seconds: dict[str, float] = {}
        self.calls: Counter[str] = Counter()
        self.billed: Counter[str] = Counter()
        self.matches: set[str] = set()
        self.last: dict[str, float] = {}

    @contextmanager
    def call(self, player: str, seed: str) -> Iterator[Callable[[], int]]:
        """One call on its way; what it has cost is to be asked when its answer is there."""
        self._tick()
        began, before = self._at, self._each
        self.in_flight[player] += 1

        def bill() -> int:
            self._tick()
            nano = int(self._each - before)
            self.billed[player] += nano
            self.calls[player] += 1
            self.matches.add(seed)
            return nano

        try:
            yield bill
        finally:
            self._tick()
            self.in_flight[player] -= 1
            self.seconds[player] = self.seconds.get(player, 0.0) + self._at - began
            self.last[player] = self._at

    def _tick(self) -> None:
        now = self._clock()
        if flying := self.in_flight.total():
            self._each += (now - self._at) * self._per_s / flying
        self._at = now


class HostedClient:
    """A player on a host. `make` opens its own client, again each time that it is up."""

    def __init__(self, settings: PlayerSettings, make: Callable[[PlayerSettings], Client]) -> None:
        self._settings = settings
        self._player = settings.name
        self._own = settings.provider == "gguf"
        self._make = make
        self._inner: Client | None = None
        self._meter: Meter | None = None
        self._warnings: tuple[str, ...] = ()
        self._refused: tuple[str, ...] = ()

    @property
    def queues(self) -> bool:
        """Return whether calls wait in its own client until a slot is free."""
        return self._own

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return what its server was found not to take."""
        self._refused = tuple(dict.fromkeys((*self._refused, *getattr(self._inner, "left_out", ()))))
        return self._refused

    def leave_out(self, names: Sequence[str]) -> None:
        """Leave out from the start the parts that its server is recorded not to take."""
        self._refused = tuple(dict.fromkeys((*self._refused, *names)))

    @property
    def warnings(self) -> tuple[str, ...]:
        warnings: tuple[str, ...] = getattr(self._inner, "warnings", ())
        self._warnings = warnings or self._warnings
        return self._warnings

    async def start(self) -> None:
        """See that its server could be asked, so that a missing key or library is found, and what is slow to
        load is loaded, before an hour is paid for. Raises PlayerError. A model of our own is loaded
        with its host."""
        if not self._own:
            inner = self._make(self._settings)
            try:
                await inner.start()
            finally:
                await inner.close()

    async def up(self, warm: Call, meter: Meter, at: str = "") -> None:
        """Open the client and ask it one small question, so that the first match finds it warm; its server is
        on the machine `at`, see `Switch`. Raises PlayerError."""
        there = reached(self._settings.base_url, at)
        self._inner = self._make(self._settings.model_copy(update={"base_url": there}))
        await self._inner.start()
        if self._refused and hasattr(self._inner, "leave_out"):
            self._inner.leave_out(self._refused)
        await self._inner.answer(warm)
        self._meter = meter

    async def down(self) -> None:
        """Close the client; calls on their way come to nothing and are asked again another time."""
        _, inner = self.left_out, self._inner
        self._inner = self._meter = None
        if inner is not None:
            await inner.close()

    async def answer(self, call: Call) -> Answer:
        inner, meter = self._inner, self._meter
        if inner is None or meter is None:
            raise Later(NOT_UP)
        with meter.call(self._player, call.seed) as bill:
            try:
                answer = await inner.answer(call)
            except PlayerError as error:
                if self._inner is not inner:
                    raise Later(NOT_UP) from None
                error.maybe_paid = False  # the hour is paid as a whole
                raise
            return replace(answer, cost_usd=bill() / 1e9)

    async def close(self) -> None:
        await self.down()


def reached(address: str, at: str) -> str:
    """An address of the machine `at` itself, as `http://localhost:8000/v1`, as it is reached from here; any
    other is the same everywhere."""
    parts = urlsplit(address)
    if not at or parts.hostname not in ("localhost", "127.0.0.1", "::1", "0.0.0.0"):
        return address
    host, port = f"[{at}]" if ":" in at else at, f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl()


def running(pid: int) -> bool:
    """Return whether a process of this number runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
