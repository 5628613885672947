"""The interface every ledger offers, and the rows that pass through it.

A ledger is append-only. Rows of one `Batch` become durable together or not at all. Only the runner
that holds the lock writes; anybody may read at any time, also while a runner writes. Digests are
SHA-256 over the stored bytes of `body`, never over a re-encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MENDED = "mended"
"""The fact that says how often the narrow table was written again: what was made of it is no longer right."""

COPY = "copy"
"""The fact that marks a ledger as a copy for others, without the matches in play."""

LEFT_OPEN = "left open when an earlier run ended"
NOT_SENT = "not sent: the run was stopped"
"""Failures of calls that say nothing of the player."""

UNLOGGED = ("schema", COPY)
"""The facts that say nothing of the arena, but of the file: no log holds them."""

SCHEMA = "1 0.2.0"
"""The fact `schema` of a ledger: the version of its form, and the first release that writes and reads it."""


T = TypeVar("T")


class LedgerError(Exception):
    """The ledger cannot be used as asked; the message says what was found and how to fix it."""


class LedgerMissing(LedgerError):
    """There is no ledger yet."""


class LedgerAway(LedgerError):
    """The ledger's server cannot be reached now."""


class LedgerBusy(LedgerError):
    """Another runner holds the ledger."""


class FixtureRow(Struct, frozen=True, gc=False):
    """A fixture as issued: `body` is the JSON of `match.Fixture`, its settings by reference to a text.

    `checksum` is the CRC-32 of the body as it was written, known once it is read back.
    """

    number: int
    round: int
    body: bytes
    checksum: int = 0


class IntentRow(Struct, frozen=True, gc=False):
    """A request about to be sent. `worst_nano` is what it may cost at most, in 1e-9 dollars, None unknown."""

    match: int
    key: str
    attempt: int
    player: str
    body: bytes
    worst_nano: int | None


class ReplyRow(Struct, frozen=True, gc=False):
    """The reply to an intent: `body` is JSON (status, text, tokens, cost, prices, snapshot).

    `cost_nano` is for summing: the cost, or where that is unknown the most it may be (the intent's worst,
    None without a price). `at_ms` is the wall clock, Unix milliseconds, and `latency_ms` how long the reply
    took. The three are outside the body's digest, so that the same replies give the same play head.
    """

    match: int
    key: str
    attempt: int
    body: bytes
    cost_nano: int | None
    at_ms: int
    latency_ms: int = 0


class FailureRow(Struct, frozen=True, gc=False):
    """An attempt that came to nothing and will be followed by another (429, timeout), or was never sent.

    `cost_nano` is what it may have cost: 0 when it cannot have been charged, else the intent's worst.
    Failures are accounts, not evidence: they are outside the digest.
    """

    match: int
    key: str
    attempt: int
    reason: str
    cost_nano: int | None
    at_ms: int


class Failure(NamedTuple):
    """A failure as it is read back; `id` says in which order they were written."""

    id: int
    reason: str
    cost_nano: int | None
    at_ms: int


class Exchange(Struct, frozen=True, gc=False):
    """An attempt as it is read back: an intent with its reply or its failure, every column there is.

    `reply` is None when unanswered (in flight, lost or failed), and so is then what belongs to it. The ids
    say in which order rows were written, the checksums are CRC-32 of the bodies.
    """

    match: int
    key: str
    attempt: int
    player: str
    request: bytes
    reply: bytes | None
    worst_nano: int | None
    cost_nano: int | None
    id: int = 0
    checksum: int = 0
    reply_id: int | None = None
    reply_checksum: int | None = None
    at_ms: int | None = None
    latency_ms: int | None = None
    failure: Failure | None = None

    @property
    def lost_nano(self) -> int | None:
        """Return what an attempt without a reply may have cost: while nothing is known of it, its worst."""
        return self.worst_nano if self.failure is None else self.failure.cost_nano


class Attempts(NamedTuple):
    """Attempts of whole matches in columns, those of `Exchange`: what is read by the million."""

    match: Sequence[int] = ()
    key: Sequence[str] = ()
    attempt: Sequence[int] = ()
    player: Sequence[str] = ()
    request: Sequence[bytes] = ()
    reply: Sequence[bytes | None] = ()
    worst_nano: Sequence[int | None] = ()
    cost_nano: Sequence[int | None] = ()
    id: Sequence[int] = ()
    checksum: Sequence[int] = ()
    reply_id: Sequence[int | None] = ()
    reply_checksum: Sequence[int | None] = ()
    at_ms: Sequence[int | None] = ()
    latency_ms: Sequence[int | None] = ()
    failure: Sequence[Failure | None] = ()

    @classmethod
    def of(cls, rows: Iterable[Exchange]) -> Attempts:
        """The columns of rows."""
        return cls(*zip(*map(msgspec.structs.astuple, rows), strict=True))

    def rows(self) -> Iterator[Exchange]:
        """The rows of these columns."""
        return map(Exchange, *self)

    def by_match(self) -> Iterator[tuple[int, Attempts]]:
        """Each match's own, those of a match being next to each other."""
        at = 0
        for match, same in groupby(self.match):
            stop = at + len([*same])
            columns: list[Any] = [column[at:stop] for column in self]
            yield match, Attempts(*columns)
            at = stop

    def answered(self) -> Attempts:
        """Those that have a reply."""
        if None not in self.reply:
            return self
        there = [reply is not None for reply in self.reply]
        columns: list[Any] = [[*compress(column, there)] for column in self]
        return Attempts(*columns)


class RecordRow(Struct, frozen=True, gc=False):
    """A finished match: `body` is the JSON of `match.MatchRecord`; `chain` links it to all before it."""

    number: int
    body: bytes
    chain: bytes
    at_ms: int


class MatchRows(NamedTuple):
    """The stored rows of one match at one moment: `record` is None while it is under way."""

    fixture: FixtureRow
    record: RecordRow | None
    exchanges: Sequence[Exchange]


class Summary(Struct, frozen=True, gc=False):
    """One row of the narrow table: what tables and pages read; rebuilt from the records at will.

    `players` are the contestants in seat order and `scores` theirs; `status` is "done" or the reason of
    the void; `costs` are in the arena's cost unit, None unknown; `spent_nano` is what the whole match
    cost, officials included; `raw` and `cost_elo` are ratings after the match, in seat order.
    """

    number: int
    round: int
    game: str
    topic: str
    players: tuple[str, ...]
    status: str
    scores: tuple[float, ...]
    costs: tuple[float | None, ...]
    spent_nano: int
    raw: tuple[float, ...]
    cost_elo: tuple[float, ...]
    at_ms: int

    @property
    def cost_usd(self) -> float | None:
        """Return what the whole match is known to have cost; None where a contestant's cost is unknown and
        nothing else was billed."""
        return None if not self.spent_nano and None in self.costs else self.spent_nano / 1e9


class Amendment(Struct, frozen=True, gc=False):
    """A statement outside the matches: an entry of the log with a body of its own, which cites digests.

    `topic` says what it is about, `position` where it stands in the log; 0 until it is written.
    """

    topic: str
    body: bytes
    at_ms: int
    position: int = 0


class Entry(Struct, frozen=True, gc=False):
    """One line of the log: see `ledger.forms.log`."""

    position: int
    about: str
    digest: bytes
    chain: bytes


class Pin(NamedTuple):
    """A moment of a ledger: the newest position of its log, match issued, and ids of intents, replies and
    failures. Later rows are beyond these."""

    log: int
    issued: int
    intents: int
    replies: int
    failures: int


class Columns(NamedTuple):
    """The narrow table in columns: of each match in order its `number`, and which of the `kinds` (game,
    topic, status), of the `tables` (players) and of the `results` (scores) it has."""

    number: NDArray[np.int64]
    kind: NDArray[np.int64]
    table: NDArray[np.int64]
    result: NDArray[np.int64]
    kinds: Sequence[tuple[str, str, str]]
    tables: Sequence[tuple[str, ...]]
    results: Sequence[tuple[float, ...]]


class Batch(Struct):
    """Rows to make durable together. `snapshots` are (number, bytes): rating states, derived data.

    The log says in which order things were written: amendments stand before the records of their batch, but
    for those added by `amend`. `votes` are how many the audience has given, and the chain value of the last.
    `log` is for copies: entries that come along with what they are about, as they are, which keeps the root.
    """

    texts: list[tuple[bytes, str]] = field(default_factory=list)
    media: list[tuple[bytes, bytes]] = field(default_factory=list)
    fixtures: list[FixtureRow] = field(default_factory=list)
    intents: list[IntentRow] = field(default_factory=list)
    replies: list[ReplyRow] = field(default_factory=list)
    failures: list[FailureRow] = field(default_factory=list)
    records: list[RecordRow] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    snapshots: list[tuple[int, bytes]] = field(default_factory=list)
    amendments: list[Amendment] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    votes: tuple[int, bytes] | None = None
    log: Sequence[Entry] | None = None
    attempts: list[Exchange] = field(default_factory=list)
    """For copies too: attempts as they are, ids included."""
    places: list[int] = field(default_factory=list)
    """For each amendment how many records of the batch stand before it; none where it is not said."""

    def amend(self, row: Amendment) -> None:
        """Add an amendment that rests on the records added so far, and stands after them in the log."""
        self.places += [0] * (len(self.amendments) - len(self.places))
        self.amendments.append(row)
        self.places.append(len(self.records))

    def __bool__(self) -> bool:
        return any(msgspec.structs.astuple(self))


class Texts(Protocol):
    """Where long texts are."""

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        """Long texts by digest; all of them when `digests` is None."""


class Writes(Protocol):
    """The target of a journal's writes."""

    def write(self, batch: Batch) -> None:
        """Make a batch durable in one transaction. Raises LedgerError."""
