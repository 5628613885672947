"""Keeps the log of an SQL ledger: within the transaction that writes something, the entries about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Connection, func, inspect, select

from peerage.ledger.lineup import LineUp, Read
from peerage.ledger.log import GENESIS, Attempt, Rolling, Row, extended, of_amendment, of_play, of_record
from peerage.ledger.log import digest as digest_of
from peerage.ledger.sqlite import SqliteFile
from peerage.ledger.store import UNLOGGED, Amendment, Batch, FailureRow, IntentRow, ReplyRow
from peerage.ledger.tables import (
    AMENDMENTS,
    ENTRIES,
    FAILURES,
    FIXTURES,
    INTENTS,
    LATER,
    LOG,
    META,
    RECORDS,
    REPLIES,
    SCHEMA,
    SUMMARIES,
)

Said = tuple[str, bytes] | Amendment
"""An entry to come: what it is about with its digest, or an amendment."""

_BLOCK = 500
_NOTHING = sha256(b"").digest()


class LogWriter:
    """What a run knows of the log it extends. After a transaction that failed a new one must be made."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._head: tuple[int, bytes] | None = None
        self._recorded = 0
        self._newest = 0
        self._lineup = LineUp()
        self._unlogged: list[int] = []
        self._narrow: Rolling | None = None
        self._narrow_to = 0
        self._narrow_logged = 0
        self.written = False

    def prepare(self, connection: Connection) -> None:
        """Find the end of the log before anything else is written; begin one where there is none."""
        if self._head is not None:
            return
        there = inspect(connection).get_table_names()
        SCHEMA.create_all(connection, LATER)
        c = LOG.c
        last = connection.execute(
            select(c.position, c.chain).order_by(c.position.desc()).limit(1)
        ).one_or_none()
        self._head = (last[0], bytes(last[1])) if last else (0, GENESIS)
        self._newest = connection.execute(select(func.max(RECORDS.c.number))).scalar() or 0
        folded = self._lineup.folded(_reader(connection))
        self._recorded = self._newest if folded is None else len(folded)
        if ENTRIES.name not in there:
            self._upgrade(connection, logged=bool(last))
        self._append(connection, [(f"run {self._recorded}", _NOTHING)])

    def note(self, connection: Connection, batch: Batch) -> None:
        """Log what a batch has just written."""
        facts = [(key, value) for key, value in batch.meta.items() if key not in UNLOGGED]
        said: list[Said] = [(f"fact {key}", sha256(value.encode()).digest()) for key, value in facts]
        recorded = [row.number for row in batch.records]
        late: tuple[IntentRow | ReplyRow | FailureRow, ...] = (
            *batch.intents,
            *batch.replies,
            *batch.failures,
        )
        again = {row.match for row in late if row.match <= self._newest}.difference(recorded)
        if again:
            known = select(RECORDS.c.number).where(RECORDS.c.number.in_(sorted(again)))
            again = set(connection.execute(known).scalars())
        matches: dict[int, Said] = {}
        for first, last in _spans(sorted(again.union(recorded))):
            matches.update(zip(range(first, last + 1), _records(connection, first, last), strict=True))
        before, self._recorded = self._recorded, self._recorded + len(recorded)
        self._newest, self._unlogged = max(self._newest, *recorded, 0), recorded
        said += [matches[number] for number in sorted(again)]
        snapshots = dict(batch.snapshots)
        places = [*batch.places, *[0] * (len(batch.amendments) - len(batch.places))]
        # What rests on a record stands after it and before the next, however many a batch holds.
        for place, number in enumerate([0, *recorded]):
            if place:
                said.append(matches[number])
            said += [row for row, at in zip(batch.amendments, places, strict=True) if at == place]
            if before + place in snapshots:
                said += self._snapshot(connection, before + place, snapshots.pop(before + place))
        for number, body in snapshots.items():
            said += self._snapshot(connection, number, body)
        if batch.votes is not None:
            said.append((f"votes {batch.votes[0]}", batch.votes[1]))
        self._append(connection, said)

    def copy(self, connection: Connection, batch: Batch) -> None:
        """Write entries as they are, with what they say; nothing else is logged."""
        rows = [(row.position, row.about, row.digest, row.chain) for row in batch.log or ()]
        self._insert(connection, rows, [(row.position, row) for row in batch.amendments])

    def _snapshot(self, connection: Connection, number: int, body: bytes) -> list[Said]:
        return [*self._narrow_entry(connection, number), (f"snapshot {number}", sha256(body).digest())]

    def rewritten(self, connection: Connection) -> None:
        """Log that the narrow table was written again."""
        self._narrow = None
        self._append(connection, self._narrow_entry(connection))

    def end(self, connection: Connection) -> None:
        """Log everything that is in play when a run ends."""
        read, c, match = _reader(connection), FIXTURES.c, INTENTS.c.match
        wanted = select(c.number, c.round, c.checksum, c.body).order_by(c.number)
        order = self._lineup.whole(read)
        if order is None:
            here, asked = c.number > self._recorded, match > self._recorded
        else:
            here, asked = (column.in_(order[self._recorded :]) for column in (c.number, match))
        played = attempts(read, lambda wanted: read(wanted.where(asked)))
        in_play = of_play(read(wanted.where(here)), played)
        self._append(connection, [*self._narrow_entry(connection), (f"in play {self._recorded}", in_play)])

    def _upgrade(self, connection: Connection, *, logged: bool) -> None:
        """Mark that a ledger of an earlier form goes on; what no log held yet is logged as it is."""
        self._append(connection, [(f"upgrade {self._recorded}", _NOTHING)])
        c = AMENDMENTS.c
        chains = connection.execute(select(c.stream, c.chain).order_by(c.stream, c.sequence)).all()
        heads = {name: bytes(chain) for name, chain in chains}
        self._append(connection, [(f"stream {name}", chain) for name, chain in heads.items()])
        if logged:
            return
        facts = [
            row for row in connection.execute(select(META.c.key, META.c.value)) if row[0] not in UNLOGGED
        ]
        self._append(connection, [(f"fact {key}", sha256(value.encode()).digest()) for key, value in facts])
        filed = connection.execute(select(c.id, c.stream, c.sequence, c.at_ms).order_by(c.id))
        self._append(connection, [(f"amendment {row[0]}", digest_of(tuple(row))) for row in filed.all()])
        for first in range(1, self._recorded + 1, _BLOCK):
            last = min(first + _BLOCK - 1, self._recorded)
            self._append(connection, _records(connection, first, last))

    def _add(self, connection: Connection, first: int, last: int | None) -> None:
        assert self._narrow is not None
        number = SUMMARIES.c.number
        folded, before = self._lineup.folded(_reader(connection)), self._recorded - len(self._unlogged)
        if folded is None and self._unlogged != [*range(before + 1, self._recorded + 1)]:
            folded = range(1, before + 1)  # the first match that waits is in the batch that is written
        if folded is None:
            wanted = select(SUMMARIES).where(number >= first).order_by(number)
            if last is not None:
                wanted = wanted.where(number <= last)
            parts = connection.execute(wanted).partitions(_BLOCK)
        else:
            numbers = [*folded, *self._unlogged][first - 1 : last]
            parts = (
                sorted(connection.execute(select(SUMMARIES).where(number.in_(block))), key=_by(block))
                for block in (numbers[at : at + _BLOCK] for at in range(0, len(numbers), _BLOCK))
            )
        for rows in parts:
            self._narrow.add([tuple(row) for row in rows])
            self._narrow_to += len(rows)

    def _narrow_entry(self, connection: Connection, last: int | None = None) -> list[Said]:
        """The entry about the narrow table up to match `last`, or further where that was logged; none where
        it was."""
        if self._narrow is None:
            self._narrow, self._narrow_to, self._narrow_logged = Rolling(), 0, 0
        self._add(connection, self._narrow_to + 1, last)
        if self._narrow_logged == self._narrow_to:
            return []
        self._narrow_logged = self._narrow_to
        return [(f"narrow {self._narrow_to}", self._narrow.digest())]

    def _append(self, connection: Connection, said: Iterable[Said]) -> None:
        assert self._head is not None
        self._unlogged = []
        entries = list(said)
        abouts = [
            (one.topic, of_amendment(one.at_ms, one.body)) if isinstance(one, Amendment) else one
            for one in entries
        ]
        rows = list(extended(*self._head, abouts))
        if rows:
            filed = zip([row[0] for row in rows], entries, strict=True)
            self._insert(connection, rows, [(at, one) for at, one in filed if isinstance(one, Amendment)])
            self._head = rows[-1][0], rows[-1][3]
            self.written = True

    def _insert(
        self,
        connection: Connection,
        rows: Sequence[tuple[int, str, bytes, bytes]],
        said: Sequence[tuple[int, Amendment]],
    ) -> None:
        self._file.insert(connection, "log (position, about, digest, chain)", "(?, ?, ?, ?)", rows)
        bodies = [(at, one.topic, one.at_ms, one.body) for at, one in said]
        self._file.insert(connection, "entries (position, topic, at_ms, body)", "(?, ?, ?, ?)", bodies)


def _by(numbers: Sequence[int]) -> Callable[[Sequence[Any]], int]:
    places = {number: place for place, number in enumerate(numbers)}
    return lambda row: places[row[0]]


def attempts(read: Read, pick: Read) -> Iterator[Attempt]:
    """Every attempt in the matches that `pick` reads, by match and in order of writing."""
    i, r, f = INTENTS.c, REPLIES.c, FAILURES.c
    columns = (i.match, i.id, i.key, i.attempt, i.player, i.worst_nano, i.checksum, i.body)
    wanted = (
        select(*columns, r.id, r.cost_nano, r.at_ms, r.checksum, r.body)
        .select_from(INTENTS.outerjoin(REPLIES, r.intent == i.id))
        .order_by(i.match, i.key, i.attempt)
    )
    # In the order of the index; sorting here spares the database a copy of every body.
    for _, found in groupby(pick(wanted), itemgetter(0)):
        rows = sorted(found, key=itemgetter(1))
        failures: Mapping[int, Row] = {}
        if None in map(itemgetter(8), rows):
            failed = select(f.intent, f.id, f.reason, f.cost_nano, f.at_ms).where(
                f.intent.between(rows[0][1], rows[-1][1])
            )
            failures = {row[0]: tuple(row[1:]) for row in read(failed)}
        for row in rows:
            yield Attempt(*row, failures.get(row[1]))  # type: ignore[call-arg]


def _reader(connection: Connection) -> Read:
    return lambda wanted: map(tuple, connection.execute(wanted))


def _records(connection: Connection, first: int, last: int) -> Iterator[tuple[str, bytes]]:
    read, r = _reader(connection), RECORDS.c
    times = select(r.number, r.at_ms).where(r.number.between(first, last))
    ended = {row[0]: row[1] for row in read(times)}
    played = attempts(read, lambda wanted: read(wanted.where(INTENTS.c.match.between(first, last))))
    asked = {match: list(rows) for match, rows in groupby(played, attrgetter("match"))}
    for number in range(first, last + 1):
        yield f"record {number}", of_record(ended.get(number, 0), asked.get(number, ()))


def _spans(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Stretches without gaps."""
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], numbers[place - 1]
            start = place
