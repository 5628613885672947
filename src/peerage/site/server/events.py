"""What happens in an arena while it is played, told to any number of spectators as server-sent events.

The ledger is looked at twice a second. What has changed becomes events, each encoded once and kept in a short
ring. A spectator is a place in that ring and nothing else: five hundred of them cost five hundred writes, and
one that reads slowly misses what has left the ring and holds nobody up.

    event: settled    {"newest": 412, "matches": [...]}     finished matches; id is the newest number
    event: playing    [...]                                 all matches in flight, whenever they change
    event: votes      {"votes": 17}                         the audience has voted
    event: amended    ["challenges"]                        a withdrawal, an import: topics of new entries

The shapes are those of `api.rows`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from peerage.games import hides_turns
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import read_issued
from peerage.ledger.topics.series import shown
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ledger.topics.waits import TOPIC as WAITS
from peerage.ledger.topics.waits import waits
from peerage.site.api.rows import MatchRow, Playing, match_row

LOOK_S = 0.5
"""Seconds between two looks at the ledger."""
HEARTBEAT_S = 15.0
"""Seconds after which a silent stream says that it still lives."""
RING = 64
"""Events kept for spectators who are behind."""
TOLD = 20
"""Finished matches told at once; one who missed more reads the list of matches."""
TOGETHER = 8
"""Events that are sent at once to those who keep up."""
IN_FLIGHT = 64
"""Matches in flight that are told, the oldest first."""

_log = logging.getLogger("peerage")

ALIVE = b": alive\n\n"


class Version(NamedTuple):
    """What pages are made from: two looks with the same version show the same pages. `amended` counts
    what was said by topic, which a withdrawal, a retirement or an import moves on."""

    records: int
    votes: int
    amended: Mapping[str, int]


class LedgerGone(LedgerError):
    """The ledger was deleted, or replaced by another."""


class LedgerFile:
    """The file at a ledger's `address`, as it is when this is made. SQLite goes on reading one that was
    deleted or replaced, and a server would show an arena that is no longer there. A database on a server has
    none, and tells by itself that it is gone."""

    def __init__(self, address: str) -> None:
        file = address.startswith("sqlite:///")
        self._path = Path(address.removeprefix("sqlite:///")) if file else None
        self._opened = self._identity()

    def check(self) -> None:
        """Raises LedgerGone when another file, or none, has its place."""
        if self._identity() != self._opened:
            raise LedgerGone(
                f"{self._path} was deleted or replaced while it was served; put it back, or start "
                "`peerage serve` again"
            )

    def _identity(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def playing(ledger: Ledger) -> tuple[Playing, ...]:
    """The matches in flight, at most `IN_FLIGHT`, the oldest first, and after them as many that wait. Matches
    start in number order, so all are in flight from the first that is not settled to the last that has asked
    for something. One of a game that hides who is asked when is among them also while it waits for
    somebody. Raises LedgerError when the ledger cannot be read."""
    first, away = ledger.heads()[1] + 1, waits(ledger).now
    asked: dict[int, set[str]] = {}
    for one in ledger.exchanges(first, unanswered=True):
        if one.failure is None and one.match not in away:
            asked.setdefault(one.match, set()).add(one.key)
    newest, flight, waiting = max(asked, default=0), list[Playing](), list[Playing]()
    for row in ledger.fixtures(first, first + len(away) + IN_FLIGHT - 1):
        said = read_issued(row.body)
        match = said.number, said.round, said.game
        wait = away.get(said.number)
        if hides_turns(said.game):
            if wait or said.number <= newest:
                flight.append(Playing(*match, None))
        elif wait:
            waiting.append(Playing(*match, 0, wait.since_ms, wait.until_ms))
        elif said.number <= newest:
            flight.append(Playing(*match, len(asked.get(said.number, ()))))
    return *flight[:IN_FLIGHT], *waiting[:IN_FLIGHT]


def settled(ledger: Ledger, after: int, newest: int) -> tuple[MatchRow, ...]:
    """Finished matches after the first `after` up to `newest`, the last `TOLD` of them, in order."""
    return tuple(map(match_row, ledger.summaries(max(after + 1, newest - TOLD + 1), newest)))


def event(name: str, data: object, number: int | None = None) -> bytes:
    """One event of the stream. JSON has no line breaks of its own, so no text in it can begin another."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


class Feed:
    """The events of one arena. `look` reads the ledger and may block; all else belongs to the event loop."""

    def __init__(self, ledger: Ledger, votes: PeopleVotes) -> None:
        self._ledger = ledger
        self._votes = votes
        self._file = LedgerFile(ledger.address)
        self._ring: deque[bytes] = deque(maxlen=RING)
        self._told = 0
        self._wake = asyncio.Event()
        self._closed = False
        self._playing: tuple[Playing, ...] = ()
        self._seen = False
        self.version = Version(0, 0, {})
        self.gone = False
        """Whether the ledger was deleted or replaced."""
        self.spectators = 0

    async def run(self) -> None:
        """Look at the ledger again and again, until cancelled or closed."""
        while not self._closed:
            try:
                await self.look()
                self.gone = False
            except LedgerGone as error:
                self.gone = True
                _log.error("%s", error)
            except (LedgerError, msgspec.MsgspecError) as error:
                # A disk that fails, a file that is just being copied: the next look may see it whole.
                _log.warning("the ledger could not be read: %s", error)
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Look once, and tell what is new."""
        now = await asyncio.to_thread(self._version)
        before, self.version = self.version, now
        if not self.spectators:
            self._seen = False
            return
        events: list[bytes] = []
        if now.records != before.records:
            matches = await asyncio.to_thread(settled, self._ledger, before.records, now.records)
            events.append(_settled(matches, now.records))
        flight = await asyncio.to_thread(playing, self._ledger)
        self._seen = True
        if flight != self._playing:
            self._playing = flight
            events.append(event("playing", flight))
        amended = {topic: said for topic, said in now.amended.items() if topic != WAITS}
        changed = [topic for topic, said in amended.items() if before.amended.get(topic) != said]
        if changed:
            events.append(event("amended", sorted(changed)))
        if now.votes != before.votes:
            events.append(event("votes", {"votes": now.votes}))
        self._tell(events)

    def _version(self) -> Version:
        self._file.check()
        return Version(shown(self._ledger), self._votes.count(), self._ledger.topics())

    def _tell(self, events: list[bytes]) -> None:
        if events:
            self._ring.extend(events)
            self._told += len(events)
            self._wake.set()
            self._wake = asyncio.Event()

    async def follow(self, after: int | None = None) -> AsyncIterator[bytes]:
        """The stream for one spectator, who has seen everything up to match `after` (None: is new here)."""
        self.spectators += 1
        try:
            # Before anything is awaited: what is told meanwhile comes after it.
            newest, at = self.version.records, self._told
            missed: tuple[MatchRow, ...] = ()
            if after is not None and after < newest:
                missed = await asyncio.to_thread(settled, self._ledger, after, newest)
            if not self._seen:
                # While nobody watches nobody looks; from then on each may see what the last look saw.
                flight = await asyncio.to_thread(playing, self._ledger)
                if not self._seen:
                    self._playing, self._seen = flight, True
            yield _settled(missed, newest) + event("playing", self._playing)
            while not self._closed:
                wake = self._wake
                if at == self._told:
                    try:
                        async with asyncio.timeout(HEARTBEAT_S):
                            await wake.wait()
                    except TimeoutError:
                        yield ALIVE
                        continue
                # One after the other where there is much: only what a spectator reads makes room for more.
                behind = self._told - at > TOGETHER
                fresh = list(self._since(at))
                at = self._told
                for piece in fresh if behind else filter(None, [b"".join(fresh)]):
                    yield piece
        finally:
            self.spectators -= 1

    def _since(self, at: int) -> Iterator[bytes]:
        missed = min(self._told - at, len(self._ring))
        return (self._ring[place] for place in range(len(self._ring) - missed, len(self._ring)))

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._wake.set()


def _settled(matches: tuple[MatchRow, ...], newest: int) -> bytes:
    return event("settled", {"newest": newest, "matches": matches}, newest)
