"""Places for answers that last, event streams and downloads: only so many, which addresses share.

return Held(places, stream, full)      # an ASGI response: `stream` while it holds a place, else `full`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from peerage.site.server_clients import network
from peerage.site.server_connections import CONNECTION


class _Place:
    """A place taken by an address; `give_up` ends what it was taken for."""

    __slots__ = ("address", "give_up")

    def __init__(self, address: str, give_up: Callable[[], None]) -> None:
        self.address = address
        self.give_up = give_up


class Places:
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


class Held:
    """Sends `response` while it holds one of `places`, or `full` when there is none for its client."""

    def __init__(self, places: Places, response: ASGIApp, full: ASGIApp) -> None:
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
