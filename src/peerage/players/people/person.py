"""People as players: `human:NAME`. Their requests wait in `people` for replies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from peerage.players.client import Answer, Call, Later, PlayerError, duration
from peerage.players.media import held
from peerage.players.people.requests import People, PeopleError, Request, match_digest
from peerage.settings import PlayerSettings
from peerage.values.clock import now_ms
from peerage.values.outputs import Folder, OutputRefused
from peerage.values.system_errors import reason

Result = TypeVar("Result")

LOOK_S = 0.4
"""Seconds between two looks for replies."""

_log = logging.getLogger("peerage")


def keep_media(folder: Path, call: Call) -> None:
    """Put the pictures and sounds of a call where its person finds them: `media` in the arena's folder, by
    digest. Raises PeopleError."""
    for found in held(call.messages):
        if (body := call.media.get(found.sha256)) is not None:
            try:
                Folder(folder).write(found.place, body)
            except OSError as error:
                raise PeopleError(f"{folder / found.place} cannot be written: {reason(error)}") from None
            except OutputRefused as error:
                raise PeopleError(str(error)) from None


class PersonClient:
    """The client of one person; implements `Client` and `Awaited`."""

    def __init__(
        self,
        settings: PlayerSettings,
        folder: Path,
        clock: Callable[[], int] = now_ms,
        look_s: float = LOOK_S,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._people = People(folder)
        self._clock = clock
        self._look_s = look_s
        self._seeds: dict[str, str] = {}
        self._put_off: set[str] = set()
        self._seen_ms = clock()
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._done(self._people.seen_ms, self._settings.name)

    async def answer(self, call: Call) -> Answer:
        """Return what the person replied; Later while it has not. A request whose time is up has no reply."""
        own = self._settings
        request = Request.of(
            call.seed, call.key, own.name, call.role, call.messages, call.expects, round(own.timeout_s * 1000)
        )
        self._seeds[request.match] = call.seed
        await self._done(keep_media, self._folder, call)
        status = await self._done(self._people.ask, request, self._clock())
        if status.state == "open":
            self._put_off.add(request.id)
            raise Later(f"{own.name}: has not replied yet", status.until_ms)
        self._put_off.discard(request.id)
        if status.state == "late":
            raise PlayerError(f"{own.name}: no reply within {duration(own.timeout_s)}", kind="request")
        return Answer(status.text, status.seconds, refused=status.state == "declined")

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    def listen(self, seeds: Iterable[str], wake: Callable[[str], None]) -> Collection[str]:
        """Call `wake(seed)` when a match can go on; `seeds` are those of the unfinished matches. Return the
        seeds of those in which this person has been asked."""
        known = {match_digest(seed): seed for seed in seeds}
        there = self._people.matches(self._settings.name)
        self._people.forget(self._settings.name, there - known.keys())
        self._seeds = {match: known[match] for match in there & known.keys()}
        self._looking = asyncio.get_running_loop().create_task(self._look(wake))
        return set(self._seeds.values())

    def over(self, seed: str) -> None:
        """A match is over: what the person was asked in it, nobody waits for any more."""
        match = match_digest(seed)
        if self._seeds.pop(match, None) is not None:
            try:
                self._people.forget(self._settings.name, [match])
            except PeopleError as error:  # a request too many is shown; the match is on record
                _log.warning("%s: %s", self._settings.name, error)

    def away_s(self) -> float:
        """Return for how many seconds nobody has looked for this person's requests."""
        return max(0.0, (self._clock() - self._seen_ms) / 1000)

    async def _look(self, wake: Callable[[str], None]) -> None:
        """Wake a match again and again until it has taken the reply that it put off; one that an earlier run
        left waiting once, since nobody knows here which replies it took."""
        last, known = "", set[str]()
        while True:
            try:
                ended = await asyncio.to_thread(self._people.ended, self._settings.name, self._clock())
                seen = await asyncio.to_thread(self._people.seen_ms, self._settings.name)
            except PeopleError as error:
                if str(error) != last:
                    last = str(error)
                    _log.warning("%s: %s", self._settings.name, last)
            else:
                self._seen_ms = max(seen, self._seen_ms)
                for id, match in ended.items():
                    if (id in self._put_off or id not in known) and match in self._seeds:
                        wake(self._seeds[match])
                known = set(ended)
            await asyncio.sleep(self._look_s)

    async def _done(self, work: Callable[..., Result], *arguments: object) -> Result:
        try:
            return await asyncio.to_thread(work, *arguments)
        except PeopleError as error:
            raise PlayerError(f"{self._settings.name}: {error}", kind="permanent") from None
