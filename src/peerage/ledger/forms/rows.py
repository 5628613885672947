"""The interface every ledger offers, and the rows that pass through it.

A ledger is append-only. Rows of one `Batch` become durable together or not at all. Only the runner
that holds the lock writes; anybody may read at any time, also while a runner writes. Digests are
SHA-256 over the stored bytes of `body`, never over a re-encoding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Struct, field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MENDED = "mended"
"""The fact that says how often the narrow table was written again: what was made of it is no longer right."""

COPY = "copy"
"""The fact that says that a ledger is a copy for others: what is in play was left out."""

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
        """What an attempt without a reply may have cost: while nothing is known of it, its worst."""
        return self.worst_nano if self.failure is None else self.failure.cost_nano


class RecordRow(Struct, frozen=True, gc=False):
    """A finished match: `body` is the JSON of `match.MatchRecord`; `chain` links it to all before it."""

    number: int
    body: bytes
    chain: bytes
    at_ms: int


class MatchRows(NamedTuple):
    """What is stored of one match at one moment: `record` is None while it is under way."""

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
        """What the whole match is known to have cost; None where a contestant's cost is unknown and nothing
        else was billed."""
        return None if not self.spent_nano and None in self.costs else self.spent_nano / 1e9


class Amendment(Struct, frozen=True, gc=False):
    """A statement beside the matches: an entry of the log with a body of its own, which cites digests.

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
    failures. What is beyond was written later."""

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


def amend(ledger: Ledger, topic: str, said: Iterable[Any], at_ms: int) -> None:
    """Write statements down, plain data or structs, all or none; the caller holds the runner's lock."""
    rows = [Amendment(topic, msgspec.json.encode(one), at_ms) for one in said]
    ledger.write(Batch(amendments=rows))


def amended(ledger: Ledger, topic: str, kind: type[T]) -> Iterator[T]:
    """The statements of one topic in order. Raises LedgerError for one that is none of `kind`."""
    read = msgspec.json.Decoder(kind).decode
    for row in ledger.amendments(topic):
        try:
            yield read(row.body)
        except msgspec.MsgspecError as error:
            found = f"{ledger.address}: an entry about {topic} cannot be read ({error})"
            raise LedgerError(f"{found}; `peerage verify` says more") from error


class Texts(Protocol):
    """Where long texts are."""

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        """Long texts by digest; all of them when `digests` is None."""


class Writes(Protocol):
    """What a journal writes to."""

    def write(self, batch: Batch) -> None:
        """Make a batch durable in one transaction. Raises LedgerError."""


class Ledger(Protocol):
    """A store of records. Methods may block; a writer thread calls `write`, any thread may read.

    `address` opens the same ledger from any folder.
    """

    address: str

    def runner(self) -> AbstractContextManager[None]:
        """Hold the one runner's lock; raises LedgerBusy naming who holds it. Freed when the process dies."""

    def holder(self) -> str:
        """Who holds that lock now, as "process NUMBER on HOST"; empty: nobody does."""

    def write(self, batch: Batch) -> None:
        """Make a batch durable (full sync) in one transaction. Raises LedgerError (disk full, read-only)."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""

    def as_stored(self) -> Ledger:
        """The same ledger, read as it is, for what checks it or copies it: what is read of this one is held
        against the log, and raises LedgerError where it is not as it was written (`ledger.holding`)."""

    def at_one_moment(self, work: Callable[[Ledger], T]) -> T:
        """Do `work`, which is soon done, with the ledger as it is stored at one moment."""

    def meta(self) -> Mapping[str, str]:
        """Facts of the arena: its seed, pairing lag, schema version."""

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        """Long texts by digest; all of them when `digests` is None."""

    def place(self, number: int) -> int:
        """The place of a match in the line-up (`ledger.lineup`): the matches on record as they were folded,
        then the others as they were issued. Where no match ever waited it is its number.

        Ranges `first` to `last` are of places here, and rows come in the order of the line-up. The place of a
        match on record stays; of one under way it changes when another is folded past it, so what is stored
        of a match by its number is read with `match`.
        """

    def match(self, number: int, *, exchanges: bool = True) -> MatchRows | None:
        """The match of that number, all of it as it was at one moment; None where none was issued. Without
        `exchanges`, which may be thousands, none are read."""

    def numbers(self, first: int, last: int) -> Sequence[int]:
        """The numbers of the matches at these places."""

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        """Fixtures."""

    def exchanges(
        self, first: int, last: int | None = None, *, unanswered: bool = False
    ) -> Iterator[Exchange]:
        """Every attempt in matches first..last (`last` None: to the end), by match, then in order of writing;
        only those without a reply when asked for the `unanswered`."""

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        """Records."""

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        """The narrow table."""

    def narrow(self) -> Iterator[Summary]:
        """All of the narrow table, held against the log as far as that covers it.

        Raises LedgerError, on the way, where it is not as it was logged.
        """

    def columns(self) -> Columns:
        """The same in columns, which a million matches need. Raises LedgerError."""

    def replace_summaries(self, summaries: Iterable[Summary]) -> None:
        """Write the narrow table again from its first row, and drop all snapshots (derived data)."""

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        """The newest rating state, or the newest after at most so many matches, of those that are as they
        were logged: others are nothing to build on."""

    def snapshots(self) -> Iterator[tuple[int, bytes, bool]]:
        """Every rating state, logged or not: matches before it, bytes, whether these fit their checksum."""

    def log(self) -> Iterator[Entry]:
        """The log in order (`ledger.forms.log`)."""

    def pin(self) -> Pin:
        """The newest row of each kind, all at one moment."""

    def heads(self) -> tuple[int, int]:
        """(number of fixtures issued, number of records)."""

    def spent_by(self, last: int | None = None, replies_of: Collection[str] | None = None) -> dict[str, int]:
        """What each player cost in matches up to place `last` (None: in all), in 1e-9 dollars: replies (where
        `replies_of` is given those of these players alone, and no other reply is read), failures, and at
        their worst intents that neither followed."""

    def amendments(self, topic: str = "") -> Iterator[Amendment]:
        """All that was said on one topic, or on any, in order."""

    def topics(self) -> Mapping[str, int]:
        """How much was said on each topic: what stays the same while nothing is amended."""

    def integrity(self) -> Sequence[str]:
        """What the database itself finds wrong with its file, indexes included, what is foreign there, and
        rows that belong to no match or request: nobody reads them, and sums would count them."""

    def close(self) -> None:
        """Release the connection; safe to call twice."""
