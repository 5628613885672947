"""What a database offers, over which `database_ledger.DatabaseLedger` keeps a ledger: `sql.SqlDatabase` on
SQLite and PostgreSQL, `mongo.Mongo`.

Matches are asked for by number: a `range` is read as one, in order; of other numbers rows come in the order
in which these are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from peerage.ledger.store import (
    COPY,
    SCHEMA,
    Amendment,
    Batch,
    Entry,
    Exchange,
    FixtureRow,
    LedgerError,
    Pin,
    RecordRow,
)
from peerage.version import __version__

BLOCK = 500
"""Rows that are read at once."""
IDS = 100_000
"""Requests that are looked through at once, to see whether any of them is open."""

END = 2**63 - 1
"""Beyond every number."""

Row = tuple[Any, ...]
Found = TypeVar("Found")


def still_open(rows: Rows, within: Callable[[range], Sequence[Found]]) -> Iterator[Found]:
    """The requests that neither a reply nor a failure followed, of those `within` ranges of ids; no further
    than there can be any.

    Ids count on without a gap, but for copies from which requests were left out.
    """
    pin = rows.pin()
    last = pin.intents
    most = last if COPY in rows.facts() else last - pin.replies - pin.failures
    while last > 0 and most > 0:
        found = within(range(max(last - IDS, 0) + 1, last + 1))
        yield from found
        most -= len(found)
        last -= IDS


class Rows(Protocol):
    """What is stored, read."""

    def facts(self) -> dict[str, str]:
        """The facts of the arena."""

    def texts(self, digests: Sequence[bytes] | None) -> Iterator[tuple[bytes, bytes]]:
        """Texts with their digests; all of them where `digests` is None."""

    def fixtures(self, matches: Sequence[int]) -> Iterator[FixtureRow]:
        """Fixtures."""

    def exchanges(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Exchange]:
        """Attempts by match, and in order of writing; without `bodies` those of what was answered may be
        empty."""

    def records(self, matches: Sequence[int]) -> Iterator[RecordRow]:
        """Records."""

    def links(self, matches: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """Number, time and chain value of records, in any order."""

    def summaries(self, matches: Sequence[int]) -> Iterator[Row]:
        """Rows of the narrow table, as `narrow.deep` takes them."""

    def newest(self) -> tuple[int, int]:
        """The highest number of a fixture and of a record, 0 where there is none."""

    def last_snapshot(self, at_most: int | None) -> tuple[int, bytes] | None:
        """The newest snapshot, or the newest after at most so many matches."""

    def snapshots(self) -> Iterator[tuple[int, bytes, int]]:
        """All snapshots, with their checksums."""

    def log(self, after: int = 0, last: int = END) -> Iterator[Entry]:
        """The log from behind a position on, up to the `last`."""

    def last_entry(self, about: str = "") -> Entry | None:
        """The newest entry about something, or, where `about` is empty or ends in a blank, about what begins
        so."""

    def pin(self) -> Pin:
        """The newest row of each kind."""

    def spent_by(
        self, last: int | None, but_for: Sequence[int], replies_of: Collection[str] | None
    ) -> dict[str, int]:
        """As `store.Ledger.spent_by` has it, by numbers of matches, some of which are left out."""

    def said(self, topic: str) -> Iterator[Amendment]:
        """What the log's entries on a topic, or any, say."""

    def any_said(self, topic: str) -> bool:
        """Whether there are any."""

    def topics(self) -> Mapping[str, int]:
        """How much was said on each topic."""


class Transaction(Rows, Protocol):
    """What the one runner writes: within `Database.commit` all of it or nothing. It reads what it has
    written."""

    def insert(self, batch: Batch) -> None:
        """Write the rows of a batch, but for amendments and what concerns the log."""

    def enter(
        self, rows: Sequence[tuple[int, str, bytes, bytes]], said: Sequence[tuple[int, Amendment]]
    ) -> None:
        """Write entries into the log, and what those about a topic say, by position."""

    def clear(self) -> None:
        """Remove the narrow table's rows, and all snapshots."""


class Database(Protocol):
    """One database. `address` opens it from any folder, `place` names it for people; neither holds a
    password. `rows` is what anybody may read, in any thread."""

    address: str
    place: str
    rows: Rows

    def prepare(self, *, create: bool) -> None:
        """Check that this is a ledger we can use; make one (`create`) where there is none.

        Raises LedgerError when there is none, when it is something else, or newer than this program.
        """

    def moment(self, work: Callable[[Rows], Found]) -> Found:
        """Do `work`, which is soon done, with all rows as they are at one moment: again at a later one where
        the server was away meanwhile."""

    def holding(self) -> AbstractContextManager[Transaction]:
        """Hold the one runner's lock. Raises LedgerBusy, naming who holds it, and LedgerError where nothing
        can be written."""

    def holder(self) -> str:
        """Who holds the lock now, as "process NUMBER on HOST"; empty: nobody does."""

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""

    def commit(self, work: Callable[[], None], *, again: bool) -> None:
        """Do `work` with the transaction from `holding`, and make it durable.

        Where the connection is lost it is waited for, and the work is done `again` unless it became durable.
        """

    def integrity(self) -> Sequence[str]:
        """What the database itself finds wrong, what is in it that is none of a ledger's or missing there,
        and rows that belong to no match or request."""

    def counts(self) -> Mapping[str, int]:
        """How many rows there are of records and of the narrow table, by name of the table."""

    def close(self) -> None:
        """Release what is held; safe to call twice."""


class VoteTable(Protocol):
    """The stored votes, while they are read or written."""

    def rows(self, after: int) -> Sequence[tuple[Any, ...]]:
        """Number, body, chain value and time of each in order, from behind that number on."""

    def filed(self) -> Sequence[tuple[int, str, int]]:
        """Of all rows the number, and under which voter and match it is filed."""

    def given(self, voter: str, match: int) -> int | None:
        """The number of a voter's vote on a match."""

    def judged_by(self, voter: str) -> set[int]:
        """The matches that a voter has judged."""

    def count(self) -> int:
        """How many there are."""

    def head(self) -> tuple[int, bytes] | None:
        """Number and chain value of the last."""

    def write(self, sequence: int, body: bytes, chain: bytes, at_ms: int, match: int, voter: str) -> None:
        """Write one down."""


class VoteStore(Protocol):
    """Where votes are kept."""

    place: str

    def reading(self) -> AbstractContextManager[VoteTable | None]:
        """What is there; None where nobody has voted yet."""

    def writing(self) -> AbstractContextManager[VoteTable]:
        """One transaction, durable at its end, beside which nobody else writes."""

    def integrity(self) -> list[str]:
        """What the database itself finds wrong."""


def check_schema(place: str, fact: object, tables: Iterable[str]) -> None:
    """Raise LedgerError unless what holds these tables, and that as the fact `schema`, is a ledger of a form
    that we read; `fact` is None where there is none."""
    if fact is None:
        raise LedgerError(
            f"{place} is a database, but not a ledger of Peerage: it holds {', '.join(sorted(tables)[:5])} "
            "and no schema version. Name another one in arena.yaml"
        )
    if fact == SCHEMA:
        return
    stated, ours = _SCHEMA.fullmatch(fact) if isinstance(fact, str) else None, SCHEMA.split()[0]
    if stated is None or int(stated[1]) <= int(ours):
        raise damaged(place, f"the schema version in its table meta is {fact!r}, expected {SCHEMA!r}")
    raise LedgerError(
        f"{place}: this ledger is of schema {stated[1]}, written by peerage {stated[2]} or a later one; this "
        f"is peerage {__version__}, which reads schema {ours}: pip install --upgrade 'peerage>={stated[2]}'"
    )


_SCHEMA = re.compile(r"([1-9][0-9]{0,8}) ([0-9]+(?:\.[0-9]+)*(?:[a-z]+[0-9]+)?)", re.ASCII)


def damaged(place: str, what: str) -> LedgerError:
    """The error that a ledger, at `place`, holds what nobody recorded."""
    return LedgerError(
        f"{place} is damaged: {what}. Restore it from a copy; `peerage verify` says what is whole"
    )
