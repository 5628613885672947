"""The ledger of an arena, over any store.

A ledger is append-only. Rows of one `Batch` become durable together or not at all. Only the runner that holds
the lock writes; anybody may read at any time, also while a runner writes. Digests are SHA-256 over the stored
bytes of `body`, never over a re-encoding.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from typing import Any, TypeVar

import msgspec

from peerage.ledger.forms import narrow
from peerage.ledger.forms.bodies import Bodies
from peerage.ledger.forms.log import Rolling
from peerage.ledger.forms.merkle import checksum
from peerage.ledger.forms.rows import (
    Amendment,
    Attempts,
    Batch,
    Columns,
    Entry,
    Exchange,
    FixtureRow,
    LedgerError,
    MatchRows,
    RecordRow,
    Summary,
)
from peerage.ledger.forms.schema import (
    FAILURES,
    FIXTURES,
    INTENTS,
    RECORDS,
    REPLIES,
    SUMMARIES,
    TABLES,
    StoredTable,
)
from peerage.ledger.holding import Holding
from peerage.ledger.lineup import LineUp
from peerage.ledger.stores.contract import BLOCK, END, Reads, Row, Store, damaged
from peerage.ledger.tables import StoredRows
from peerage.ledger.writer import Writer
from peerage.values.figures import counted

T = TypeVar("T")
COSTS_HELD = 5_000
"""Of how many of the newest matches every sum of costs holds what it adds up against the log."""
_MOST = 10**15  # matches; what is beyond was not counted by us, and numbers after it do not fit a column


def _of_no_match(rows: StoredRows) -> dict[StoredTable, int]:
    """Return how many rows there are that are not of a match that was issued."""
    issued, _ = rows.newest()
    below, beyond = range(-END, 1), range(issued + 1, END)
    asked = [rows.number_of(INTENTS, {"match": numbers}) for numbers in (below, beyond)]
    others = {table: rows.number_of(table, {"number": below}) for table in (FIXTURES, RECORDS)}
    return {**others, INTENTS: sum(asked)}


def _holds(table: StoredTable, number: int) -> str:
    return f"the table {table.name} holds {counted(number, 'row')}"


class _AllTexts(dict[bytes, str]):
    """All texts at one moment; what a run has written `since` is read when it is asked for."""

    def __init__(
        self, texts: Mapping[bytes, str], since: Callable[[Iterable[bytes]], Mapping[bytes, str]]
    ) -> None:
        super().__init__(texts)
        self._since = since

    def __missing__(self, digest: bytes) -> str:
        self.update(self._since([digest]))
        if digest not in self:
            raise KeyError(digest)
        return self[digest]


class Ledger:
    """One ledger, in a store that holds one. Methods may block; a writer thread calls `write`, any thread may
    read. `address` opens the same ledger from any folder."""

    def __init__(self, store: Store) -> None:
        self.address = store.address
        self._store = store
        self._bodies = Bodies(store.place)
        self._rows = StoredRows(store, self._bodies)
        self._writer: Writer | None = None
        self._writing = threading.RLock()
        self._lineup = LineUp(self._rows)
        self._holding: Holding | None = Holding(self._rows, self.moment, store.place, self._lineup)

    def as_stored(self) -> Ledger:
        """The same ledger, read as it is, for what checks it or copies it: what is read of this one is held
        against the log, and raises LedgerError where it is not as it was written (`ledger.holding`)."""
        stored = copy(self)
        stored._holding = None
        return stored

    def at_one_moment(self, work: Callable[[Ledger], T]) -> T:
        """Do `work`, which is soon done, with the ledger as it is stored at one moment."""

        def at(rows: StoredRows) -> T:
            then = self.as_stored()
            then._rows, then._lineup = rows, LineUp(rows)
            return work(then)

        return self.moment(at)

    def moment(self, work: Callable[[StoredRows], T]) -> T:
        """Do `work`, which is soon done, with all rows as they are at one moment."""

        def at(reads: Reads) -> T:
            return work(StoredRows(reads, self._bodies))

        return self._store.moment(at)

    # ------------------------------------------------------------------------------------------ writing

    @contextmanager
    def runner(self) -> Iterator[None]:
        """Hold the one runner's lock; raises LedgerBusy naming who holds it. Freed when the process dies."""
        with self._store.lock() as transaction:
            self._writer = Writer(transaction, self._store.place)
            try:
                yield
            finally:
                with self._writing:  # what another thread still has to write does not come after the end
                    # A full disk must not hide why the run ended; the log then ends as after a crash.
                    if self._writer.written:
                        with suppress(LedgerError):
                            self._commit(Writer.end, last=True)
                    self._writer = None

    def holder(self) -> str:
        """Return who holds that lock now, as "process NUMBER on HOST"; empty: nobody does."""
        return self._store.holder()

    def stop_waiting(self, *, writes: bool = True) -> None:
        """Wait no more for a server that is away: what waits now fails, but for what is to be written where
        `writes` is false. Callable from any thread."""
        self._store.stop_waiting(writes=writes)

    def write(self, batch: Batch) -> None:
        """Make a batch durable (full sync) in one transaction. Raises LedgerError (disk full, read-only)."""
        if "schema" in batch.meta:
            raise LedgerError("the schema version is not for a runner to write")
        self._commit(lambda writer: writer.write(batch))

    def replace_summaries(self, summaries: Iterable[Summary]) -> None:
        """Write the narrow table again from its first row, and drop all snapshots (derived data)."""
        self._commit(lambda writer: writer.rewrite(summaries), again=False)

    def _commit(self, work: Callable[[Writer], None], *, again: bool = True, last: bool = False) -> None:
        """One transaction: what is written and its entries in the log become durable together. What cannot be
        done `again` is not, where the connection is lost; after the `last` nobody writes in this run."""
        with self._writing:
            if self._writer is None:
                raise LedgerError(f"{self.address} is written only inside `with ledger.runner():`")
            transaction, writers = self._writer.transaction, [self._writer]

            def done() -> None:
                # What a writer knows of a transaction that failed is of no use for the next.
                writer = writers.pop() if writers else Writer(transaction, self._store.place)
                self._writer = Writer(transaction, self._store.place)
                work(writer)
                known.append(writer)

            known: list[Writer] = []
            self._store.commit(done, again=again, last=last)
            self._writer = known[-1]

    # ------------------------------------------------------------------------------------------ reading

    def meta(self) -> Mapping[str, str]:
        """Facts of the arena: its seed, pairing lag, schema version."""
        return self._rows.facts() if self._holding is None else self._holding.facts()

    def texts(self, digests: Iterable[bytes] | None = None) -> dict[bytes, str]:
        """Long texts by digest; all of them when `digests` is None, and those that come in later are read as
        they are asked for."""
        rows = self._rows.texts(None if digests is None else list(digests))
        # Damage stays visible: bytes that are no text become marks, which no longer fit the digest.
        texts = {bytes(digest): bytes(body).decode(errors="replace") for digest, body in rows}
        if self._holding is not None:
            self._holding.texts(texts)
        return texts if digests is not None else _AllTexts(texts, self.texts)

    def media(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of pictures and sounds by digest (hex), of those that are there."""
        rows = self._rows.media(map(bytes.fromhex, digests))
        media = {bytes(digest).hex(): bytes(body) for digest, body in rows}
        if self._holding is not None:
            self._holding.media(media)
        return media

    def media_digests(self) -> list[str]:
        """Return the digests (hex) of all pictures and sounds."""
        return [digest.hex() for digest in self._rows.media_digests()]

    def match(self, number: int, *, exchanges: bool = True) -> MatchRows | None:
        """The match of that number, all of it as it was at one moment; None where none was issued. Without
        `exchanges`, which may be thousands, none are read."""
        if not 0 < number <= _MOST:
            return None

        def read(rows: StoredRows) -> MatchRows | None:
            fixture = next(rows.fixtures([number]), None)
            if fixture is None:
                return None
            record = next(rows.records([number]), None)
            attempts = next(rows.attempts([number]), Attempts()) if exchanges else None
            if self._holding is not None:
                if record is None:
                    self._holding.in_play(rows)
                else:
                    self._holding.match(rows, fixture, record, attempts)
            return MatchRows(fixture, record, [*attempts.rows()] if attempts else [])

        return self.moment(read)

    def fixtures(self, first: int = 1, last: int | None = None) -> Iterator[FixtureRow]:
        """Fixtures."""
        if self._holding is None:
            return self._rows.fixtures(self._lineup.numbers(first, last))
        return self._held(first, last, self._holding.fixtures, self._rows.fixtures)

    def exchanges(
        self, first: int, last: int | None = None, *, unanswered: bool = False
    ) -> Iterator[Exchange]:
        """Every attempt in matches first..last (`last` None: to the end), by match, then in order of writing;
        only those without a reply when asked for the `unanswered`."""
        if unanswered:
            return self._rows.exchanges(self._lineup.numbers(first, last), unanswered=True)
        return chain.from_iterable(part.rows() for part in self.attempts(first, last))

    def attempts(self, first: int, last: int | None = None) -> Iterator[Attempts]:
        """The same in columns, some whole matches at a time."""
        if self._holding is None:
            return self._rows.attempts(self._lineup.numbers(first, last))
        return self._held(first, last, self._holding.attempts, self._rows.attempts)

    def records(self, first: int = 1, last: int | None = None) -> Iterator[RecordRow]:
        """Records."""
        if self._holding is None:
            return self._rows.records(self._lineup.numbers(first, last))
        return self._held(first, last, self._holding.records, None)

    def _held(
        self,
        first: int,
        last: int | None,
        finished: Callable[[Sequence[int]], Iterator[T]],
        in_play: Callable[[Sequence[int]], Iterator[T]] | None,
    ) -> Iterator[T]:
        """Rows of finished matches, then of those in play, held against the log."""
        _, recorded = self.heads()
        newest = self._rows.last_entry()
        if recorded > (newest.position if newest else 0):
            raise damaged(self._store.place, f"its log knows no match {recorded}")
        end = recorded if last is None else min(last, recorded)
        if first <= end:
            yield from finished(self._lineup.numbers(first, end))
        if self._holding is not None and (last is None or last > recorded):
            self.moment(self._holding.in_play)
        if in_play is not None and (last is None or last > recorded):
            yield from in_play(self._lineup.numbers(max(first, recorded + 1), last))

    def summaries(self, first: int = 1, last: int | None = None) -> Iterator[Summary]:
        """The narrow table. All of it is held against the log as far as that covers it: raises LedgerError,
        on the way, where it is not as it was logged."""
        if self._holding is not None:
            _, recorded = self.heads()
            last = recorded if last is None else min(last, recorded)
            if first <= 1 and last == recorded:
                yield from islice(self._deep(self._narrow()), last)  # a run may have gone on since
                return
        yield from self._deep(self._in_parts(self._lineup.numbers(first, last)))

    def columns(self) -> Columns:
        """All of the narrow table in columns, which a million matches need. Raises LedgerError."""
        from peerage.ledger.forms.columns import of_rows  # reads with NumPy, which few commands need

        return of_rows(self._narrow())

    def _deep(self, parts: Iterable[Sequence[Row]]) -> Iterator[Summary]:
        for part in parts:
            yield from narrow.deep(part)

    def _in_parts(self, numbers: Sequence[int]) -> Iterator[Sequence[Row]]:
        rows = self._rows.summaries(numbers)
        while part := list(islice(rows, BLOCK)):
            yield part

    def _narrow(self) -> Iterator[Sequence[Row]]:
        """The rows of the narrow table in parts, held against the log."""
        entry = self._rows.last_entry("narrow ")
        about, logged = ("narrow 0", b"") if entry is None else (entry.about, entry.digest)
        number = about.removeprefix("narrow ")
        if not number.isdecimal():
            raise damaged(self._store.place, f"its log is about {about!r}")
        due, seen = int(number), Rolling()
        # No fewer than when the table was logged.
        last = self.heads()[1] if self._holding is not None else None
        for part in self._in_parts(self._lineup.numbers(1, last)):
            if seen.rows < due:
                seen.add([tuple(row) for row in part[: due - seen.rows]])
                if seen.rows == due and seen.digest() != logged:
                    break
            yield part
        else:
            if seen.rows == due:
                return
        raise LedgerError(
            f"{self._store.place} is damaged: its narrow table is not what was logged of it after match "
            f"{due}. `peerage verify` names the match, `peerage replay --repair` writes the table again"
        )

    def log(self) -> Iterator[Entry]:
        """The log in order (`ledger.forms.log`)."""
        return self._rows.log()

    def snapshot(self, at_most: int | None = None) -> tuple[int, bytes] | None:
        """The newest rating state, or the newest after at most so many matches, that is as it was logged."""
        while newest := self._rows.last_snapshot(at_most):
            number, body = newest
            logged = self._rows.last_entry(f"snapshot {number}")
            if logged is not None and logged.digest == sha256(body).digest():
                return number, body
            at_most = number - 1
        return None

    def snapshots(self) -> Iterator[tuple[int, bytes, bool]]:
        """Every rating state, logged or not: matches before it, bytes, whether these fit their checksum."""
        for number, body, stored in self._rows.snapshots():
            yield number, body, checksum(body) == stored

    def heads(self) -> tuple[int, int]:
        """(number of fixtures issued, number of records)."""
        newest = self._lineup.heads()
        for table, number in zip(("fixtures", "records"), newest, strict=True):
            if number > _MOST:
                raise damaged(self._store.place, f"{table} holds a match {number}")
        return newest

    def place(self, number: int) -> int:
        """The place of a match in the line-up (`ledger.lineup`): the matches on record as they were folded,
        then the others as they were issued. Where no match has waited it is its number.

        Ranges `first` to `last` are of places here, and rows come in the order of the line-up. The place of a
        match on record stays; of one under way it changes when another is folded past it, so what is stored
        of a match by its number is read with `match`.
        """
        return self._lineup.place(number)

    def numbers(self, first: int, last: int) -> Sequence[int]:
        """The numbers of the matches at these places."""
        return self._lineup.numbers(first, last)

    def spent_by(self, last: int | None = None, replies_of: Collection[str] | None = None) -> dict[str, int]:
        """Return what each player cost in matches up to place `last` (None: in all), in 1e-9 dollars: replies
        (where `replies_of` is given those of these players alone, and no other reply is read), failures, and
        at their worst intents that neither followed."""
        _, recorded = self.heads()
        if self._holding is not None and recorded:
            self._holding.costs(self._lineup.numbers(max(recorded - COSTS_HELD, 0) + 1, recorded))
        left_out = list[int]()
        if last is not None and (order := self._lineup.order()) is not None:
            last, left_out = len(order.numbers), [*order.numbers[last:]]
        return self.moment(lambda rows: rows.spent_by(last, left_out, replies_of))

    def amendments(self, topic: str = "") -> Iterator[Amendment]:
        """Yield the amendments of one topic, or of all, in order."""
        return self._rows.amendments(topic) if self._holding is None else self._holding.amendments(topic)

    def topics(self) -> Mapping[str, int]:
        """Return the number of amendments by topic: it stays the same while nothing is amended."""
        return self._rows.topics()

    def integrity(self) -> Sequence[str]:
        """Return what the database itself finds wrong with its file, indexes included, what is foreign there,
        and rows that belong to no match or request: nobody reads them, and sums would count them."""
        problems = self._store.integrity(TABLES)
        strays = self.moment(_of_no_match)
        problems += [f"{_holds(table, number)} of no match" for table, number in strays.items() if number]
        for table in (SUMMARIES, REPLIES, FAILURES):
            number, first = self.moment(partial(StoredRows.strays, table=table))
            if number and table.of:
                problems.append(
                    f"{_holds(table, number)} of no match or request, the first with {table.of[0]} {first}"
                )
        # Where matches wait, rows are found by the log: one that it does not know is never read.
        counts = {table: self._rows.number_of(table) for table in (RECORDS, SUMMARIES)}
        # There are no more than the log knows a moment later.
        if (order := self._lineup.order()) is not None:
            problems += [
                f"{_holds(table, count - order.folded)} that the log does not know"
                for table, count in counts.items()
                if count > order.folded
            ]
        return problems

    def close(self) -> None:
        """Release the connection; safe to call twice."""
        self._store.close()


def amend(ledger: Ledger, topic: str, statements: Iterable[Any], at_ms: int) -> None:
    """Write statements down, plain data or structs, all or none; the caller holds the runner's lock."""
    rows = [Amendment(topic, msgspec.json.encode(statement), at_ms) for statement in statements]
    ledger.write(Batch(amendments=rows))


def amended(ledger: Ledger, topic: str, kind: type[T]) -> Iterator[T]:
    """The statements of one topic in order. Raises LedgerError for one that is none of `kind`."""
    read = msgspec.json.Decoder(kind).decode
    for row in ledger.amendments(topic):
        try:
            yield read(row.body)
        except msgspec.MsgspecError as error:
            what = f"{ledger.address}: an entry about {topic} cannot be read ({error})"
            raise LedgerError(f"{what}; `peerage verify` says more") from error
