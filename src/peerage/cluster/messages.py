"""Messages between leader and workers: a worker's news, a leader's orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from peerage.engine.calls.availability import Away
from peerage.engine.calls.budget import Affordable
from peerage.engine.calls.call_limit import Load
from peerage.engine.calls.troubles import Trouble
from peerage.engine.match.driving import CallsNow, Reason
from peerage.engine.record.records import MatchTally
from peerage.game.match import Outcome
from peerage.players.client import Answer, Call, PlayerError
from peerage.players.prices import Price
from peerage.settings import ArenaSettings


class Posting(NamedTuple):
    """All a worker needs to begin. `env` holds the keys of players and the password of the ledger at
    `address`; `run` is the leader's fence. `free`: no player has limits of its own, so a call needs but a
    place among all, and money. `left_out` are, by player, the settings that its server does not take.
    `programs` False: commands are run and no programs; None: neither. `games` are the files of games, each
    with its `release_of`. `clients` opens a player otherwise than by its settings."""

    release: str
    settings: ArenaSettings
    folder: str
    address: str
    run: int
    env: Mapping[str, str]
    prices: Mapping[str, Price]
    left_out: Mapping[str, Sequence[str]]
    bounded: bool
    free: bool
    programs: bool | None
    games: Mapping[str, str]
    clients: Callable[[Any], Any] | None


# ------------------------------------------------------------------------------------------ a worker's news


class CallAsks(NamedTuple):
    """A call that waits for money, at `worst` so much (None: unknown), and limits; `ticket` is its name."""

    ticket: int
    match: int
    key: str
    player: str
    worst: int | None
    tokens: int


class Paid(NamedTuple):
    """A call has returned, or will not be sent: what it has cost, or may have (`known` False). `ticket` is 0
    where it did not ask. `load` is what the call shows of its server."""

    ticket: int
    match: int
    key: str
    attempt: int
    player: str
    nano: int
    known: bool
    answered: bool
    load: Load | None = None


class AskLeader(NamedTuple):
    """A call that the leader itself sends: to a person, or to a player on a host, of which it knows
    whether it is up, and what part of its hour each call is billed."""

    ticket: int
    player: str
    call: Call


class Recalled(NamedTuple):
    """A reply on record was fed to its match."""

    match: int
    player: str
    nano: int


class MatchEnded(NamedTuple):
    """A match has come to its outcome; what was replied in it is durable."""

    match: int
    tally: MatchTally
    outcome: Outcome


class Left(NamedTuple):
    """A match can do nothing but wait for players, and was put down."""

    match: int
    reasons: Sequence[Reason]


class Replied(NamedTuple):
    """A reply is there, or it is certain that there will be none."""

    player: str
    void: bool


class Tripped(NamedTuple):
    """A call of a match got a player benched."""

    player: str
    why: str
    match: int


class WorkerLogged(NamedTuple):
    """A line for people, from a worker."""

    level: int
    text: str


class Broken(NamedTuple):
    """The run cannot go on."""

    kind: type[Exception]
    text: str


class WorkerState(NamedTuple):
    """Calls of a worker at this moment."""

    calls: CallsNow
    troubles: tuple[Trouble, ...]


class Stopped(NamedTuple):
    """A worker has stopped: nothing of it is in flight, and all it wrote is durable."""

    left_out: Mapping[str, Sequence[str]]


News: TypeAlias = (
    CallAsks
    | AskLeader
    | Paid
    | Recalled
    | MatchEnded
    | Left
    | Replied
    | Tripped
    | WorkerLogged
    | Broken
    | WorkerState
    | Stopped
)


# ----------------------------------------------------------------------------------------- a leader's orders


class MatchesToClaim(NamedTuple):
    """Matches may be there to claim; a worker drives so many at once. With `calls` it has so many in flight
    without asking for a place; at 0 each call asks."""

    places: int
    calls: int


class CallDecided(NamedTuple):
    """The fate of a call that asked, and what is reserved for it. A text says why there is no reply."""

    ticket: int
    verdict: Affordable | Away | str
    reserved: int


class LeaderSaid(NamedTuple):
    """The result of a call that the leader sent."""

    ticket: int
    came: Answer | PlayerError


class Benched(NamedTuple):
    """A player is asked no more, and matches after `match` (None: no others) end that cannot do without."""

    player: str
    why: str
    match: int | None


class Stop(NamedTuple):
    """Send nothing more, and wait so long for calls in flight."""

    grace_s: float


class Abandon(NamedTuple):
    """Give up on calls in flight."""


Order: TypeAlias = MatchesToClaim | CallDecided | LeaderSaid | Benched | Stop | Abandon


class WorkerLost(Exception):
    """A worker is gone: its process, its machine, or the line to it."""


class WorkerLink(Protocol):
    """The line to a worker. `where` names its machine, once it has begun."""

    where: str

    async def begin(self, posting: Posting) -> int:
        """Let it get ready; its number. Raises WorkerLost, or what it raised."""

    def order(self, orders: Sequence[Order]) -> None:
        """Send it orders; does nothing where it is lost."""

    async def news(self) -> Sequence[News]:
        """Return its messages, as soon as there are some. Raises WorkerLost."""

    def kill(self) -> None:
        """End it."""


class WorkerPlaces(Protocol):
    """The places of workers."""

    def wanted(self) -> int:
        """Return how many workers there should be now."""

    def place(self) -> WorkerLink:
        """Place one more; it begins when there is room."""

    def leaving(self) -> Mapping[str, float]:
        """The machines that are about to leave, and in how many seconds."""

    async def close(self) -> None:
        """End all workers; the run is over."""
