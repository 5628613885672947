"""Connections of the server: how long each may take, how many there may be, and which requests are refused.

uvicorn waits without end for the rest of a request and accepts until the process has no descriptor left.
Here a request has `RECEIVE_S` seconds for its head and as many for its body, an answer that nobody reads is
given up after `READ_S`, and at most `limit` connections are open. When all are taken, a newcomer gets the
place of one whose client owes us bytes, from the address that holds most connections. So clients that send
half requests shut out nobody: a client that sends its request at once is answered. Of requests that do not
wait for the answer before (pipelining) one is begun at a time, between those of everybody else.

Answers that last, event streams and downloads, have places of their own, which addresses share:
`HeldResponse(places, stream, full)` is an ASGI response: sends `stream` while it holds a place, else `full`
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from http import HTTPStatus
from typing import Any, NamedTuple

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from peerage.site.http.guard import network

RECEIVE_S = 10.0
"""For the head of a request, and again for its body; also for the first byte of a connection."""
READ_S = 20.0
"""For a reader to take some 48 KB of an answer that is waiting for it, or the rest of it."""
MOST_HEAD = 16_384
"""Bytes of a request line and its headers together."""
CONNECTION = "connection"
"""The name of the connection in the state of its requests."""
RESERVED = 112
"""Files for all that is no connection: the ledger and the votes in each thread, the processes that make pages
and copies, and downloads."""
LEAST = 32
"""Connections without which there is no sense in serving."""
_FULL_S = 0.05
_AGAIN_S = 1.0

_log = logging.getLogger("peerage")
# Line ends that some servers read as ends of lines and others do not, and headers continued on the next line.
_ambiguous = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]").search


class StrictParser(h11.Connection):
    """h11 without the liberties in which it may differ from a proxy before it (request smuggling)."""

    def next_event(self) -> Any:
        """As h11. Raises RemoteProtocolError also where two servers may see different requests."""
        if self.their_state is h11.IDLE:
            received, _ = self.trailing_data
            end = received.find(b"\r\n\r\n")
            if _ambiguous(received if end < 0 else received[: end + 4]):
                raise h11.RemoteProtocolError("a line that does not end with CRLF, or a folded header")
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if event.http_version not in (b"1.0", b"1.1") or not event.target.startswith(b"/"):
                raise h11.RemoteProtocolError("HTTP/1.0 or 1.1 and a path were expected")
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version == b"1.0"):
                raise h11.RemoteProtocolError("a body of two lengths")
        return event


class Connections:
    """All open connections, at most `limit`. Belongs to the event loop."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.open: dict[ClientConnection, None] = {}
        self._pipelined: deque[ClientConnection] = deque()

    def sweep(self, now: float) -> None:
        """End those whose client took too long. `now` is the loop's time."""
        for connection in [each for each in self.open if each.late(now)]:
            connection.end()

    async def accept(self, listening: socket.socket, config: Config, state: ServerState, app: Any) -> None:
        """Open connections as clients come, until cancelled; `app` is the state that requests are given."""
        loop = asyncio.get_running_loop()
        listening.setblocking(False)
        while True:
            try:
                client, _ = await loop.sock_accept(listening)
            except OSError as error:
                _log.warning("a connection could not be accepted: %s", error)
                await asyncio.sleep(_AGAIN_S)
                continue
            while len(self.open) >= self.limit and not self._make_room():
                await asyncio.sleep(_FULL_S)
            try:
                await loop.connect_accepted_socket(lambda: ClientConnection(self, config, state, app), client)
            except OSError:
                client.close()

    def _make_room(self) -> bool:
        """Close some connections that wait for their clients; False when there is none."""
        held = Counter(each.address for each in self.open)
        # Some at once: finding them costs a look at all.
        closed = nsmallest(
            max(1, self.limit // 64),
            [each for each in self.open if each.owed_s],
            key=lambda each: (each.unread, -held[each.address], each.since),
        )
        _log.warning(
            "all %d connections are taken; those that wait longest for their client give way to new ones",
            self.limit,
        )
        for connection in closed:
            connection.abort()
        return bool(closed)

    def take_turns(self, connection: ClientConnection) -> None:
        """Have a connection go on when it is its turn: one in each round of the loop."""
        self._pipelined.append(connection)
        if len(self._pipelined) == 1:
            connection.loop.call_soon(self._next)

    def _next(self) -> None:
        connection = self._pipelined.popleft()
        if self._pipelined:
            connection.loop.call_soon(self._next)
        connection.go_on()


class ClientConnection(H11Protocol):
    """One connection. `since` (the loop's time) its client owes us what it owes now; `unread` says whether an
    answer waits for its reader."""

    def __init__(self, connections: Connections, config: Config, state: ServerState, app: Any) -> None:
        super().__init__(config, state, {**app, CONNECTION: self})
        self.conn = StrictParser(h11.SERVER, MOST_HEAD)
        self.address = ""
        self.since = self.loop.time()
        self.unread = False
        self._connections = connections
        self._state: Any = h11.IDLE
        self._begun = False
        self._waits = False

    @property
    def owed_s(self) -> float:
        """The seconds that the client has for what happens next: to read, or to send a request or the rest of
        one; none where it is up to us."""
        if self.unread:
            return READ_S
        return RECEIVE_S if self.conn.their_state in (h11.IDLE, h11.SEND_BODY) else 0.0

    def late(self, now: float) -> bool:
        """Return whether the client has had its time."""
        if not self.unread and self.transport.is_closing():
            self.unread, self.since = True, now
        return 0 < self.owed_s < now - self.since

    def end(self) -> None:
        """Close it, with a word to a client that has not sent its whole request."""
        if not self.unread and (self._begun or self.conn.their_state is h11.SEND_BODY):
            self._refuse(408, f"the request was not whole after {RECEIVE_S:.0f} s")
        else:
            self.abort()

    def abort(self) -> None:
        """Close it at once, whatever is under way."""
        self._connections.open.pop(self, None)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = network(self.client[0] if self.client else "")
        self._connections.open[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.open.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._state is h11.IDLE and not self._begun:
            self._begun, self.since = True, self.loop.time()
        super().data_received(data)
        self._note()

    def handle_events(self) -> None:
        if not self._waits:
            super().handle_events()

    def on_response_complete(self) -> None:
        self._waits = self.conn.their_state is h11.DONE and self.conn.trailing_data[0] != b""
        super().on_response_complete()
        self._note()
        if self._waits:
            self.flow.pause_reading()
            self._connections.take_turns(self)

    def go_on(self) -> None:
        """Begin the request that came before the last one was answered."""
        self._waits = False
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.handle_events()
            self._note()

    def _note(self) -> None:
        if self.conn.their_state is not self._state:
            self._state, self._begun, self.since = self.conn.their_state, False, self.loop.time()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread, self.since = True, self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unread, self.since = False, self.loop.time()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _refuse(self, status: int, why: str) -> None:
        # What is still being made for this client is made for nobody.
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = f"{why}\n".encode()
            self.transport.write(
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
                "content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
                f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
                + body
            )
        self.transport.close()


@dataclass(eq=False, slots=True)
class _Place:
    """A place taken by an address; `give_up` ends what it was taken for."""

    address: str
    give_up: Callable[[], None]


class ConnectionPlaces:
    """`count` places. When all are taken, the address that holds most gives one to an address that holds
    fewer, so that none can keep all others out. Belongs to the event loop."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._taken: dict[_Place, None] = {}

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, address: str, give_up: Callable[[], None]) -> _Place | None:
        """A place, to be left again; None when there is none for this address."""
        if len(self._taken) >= self._count:
            held = Counter(place.address for place in self._taken)
            most, number = held.most_common(1)[0]
            if number <= held[address] + 1:
                return None
            last = next(place for place in reversed(self._taken) if place.address == most)
            self.leave(last)
            last.give_up()
        place = _Place(address, give_up)
        self._taken[place] = None
        return place

    def leave(self, place: _Place) -> None:
        """Give a place back; one that was taken away is no longer there."""
        self._taken.pop(place, None)


class HeldResponse:
    """Sends `response` while it holds one of `places`, or `full` when there is none for its client."""

    def __init__(self, places: ConnectionPlaces, response: ASGIApp, full: ASGIApp) -> None:
        self._places = places
        self._response = response
        self._full = full

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        connection = scope.get("state", {}).get(CONNECTION)
        give_up: Callable[[], None] = connection.abort if connection is not None else lambda: None
        place = self._places.take(network(client[0]) if client else "", give_up)
        if place is None:
            await self._full(scope, receive, send)
            return
        try:
            await self._response(scope, receive, send)
        finally:
            self._places.leave(place)


class Capacity(NamedTuple):
    """The most connections, and among them the most event streams and downloads, that are open at once."""

    connections: int
    streams: int
    downloads: int


WHOLE = Capacity(connections=4_000, streams=2_000, downloads=16)


class NoRoom(Exception):
    """The process may open too few files."""


def room() -> Capacity:
    """Return what there is room for here; raises this process's limit of open files as far as that helps.
    Raises NoRoom."""
    wanted = WHOLE.connections + RESERVED
    files = _files(wanted)
    if files < RESERVED + LEAST:
        raise NoRoom(
            f"this process may open {files} files; `peerage serve` needs at least {RESERVED + LEAST}. "
            "Raise the limit with `ulimit -n`"
        )
    connections = min(files, wanted) - RESERVED
    # A quarter stays for those who ask for a page.
    return WHOLE._replace(connections=connections, streams=min(WHOLE.streams, connections * 3 // 4))


def _files(wanted: int) -> int:
    try:
        import resource
    except ModuleNotFoundError:  # Windows, which has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else max(soft, min(wanted, hard))
        with suppress(OSError, ValueError):  # a system that allows less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
