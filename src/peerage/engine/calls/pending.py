"""A request on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from peerage.engine.calls.call_limit import Load
from peerage.game.house import House
from peerage.game.media import MediaShelf, fetched
from peerage.game.protocol import Reply, Request, Speaker


@dataclass(slots=True, eq=False)
class PendingCall:
    """A request on its way. `tries` counts attempts of this process, `attempt` those of all, and `sent_at` is
    when the last one was sent, on the event loop's clock.

    `salt` seals its reply; empty: it is not sealed. `worst` is what it may cost at most, in 1e-9 dollars,
    `reserved` what of that the budget holds for it now, `of_day` what its player's daily budget does.
    `prompt` and `media` are what its player is shown, while it is under way.
    `reason` says in short why the last attempt failed, `load` what that attempt shows of its server.
    """

    match: int
    seed: str
    player: str
    ask: Request
    body: bytes
    house: House
    attempt: int
    salt: str = ""
    tries: int = 0
    reason: str = ""
    sent_at: float = 0.0
    load: Load | None = None
    worst: int | None = None
    reserved: int = 0
    of_day: int = 0
    prompt: Sequence[tuple[Speaker, str]] = ()
    media: Mapping[str, bytes] = field(default_factory=dict)

    def fetch(self, shelf: MediaShelf) -> str:
        """Fetch the pictures and sounds of its prompt; return which of them are nowhere, empty for none.
        Raises LedgerError."""
        self.media, lost = fetched([text for _, text in self.prompt], shelf)
        return lost


class CallOwners(Protocol):
    """The owner of calls, which decides what a run does next about them."""

    def replied(self, pending: PendingCall, raw: Reply, digest: bytes, model: str) -> None:
        """A reply is there; `digest` is its leaf."""

    def expired(self, match: int) -> bool:
        """Return whether a match is past its deadline: its calls are void from then on."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""

    def unaffordable(self, pending: PendingCall, worst: int) -> None:
        """The arena's limit has stopped a match at this call."""

    def tripped(self, player: str, match: int) -> None:
        """A call of a match got a player benched."""

    def look_soon(self) -> None:
        """Calls wait for a player to recover."""

    def put_off(self, pending: PendingCall, why: str, until_ms: int | None) -> None:
        """A player asks for a call at another time."""
