"""Transaction into a ledger: rows, and within the same transaction the log's entries about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, islice

from peerage.ledger.forms.bodies import Bodies, dictionary_of
from peerage.ledger.forms.log import GENESIS, Rolling, extended, of_amendment, of_record
from peerage.ledger.forms.rows import UNLOGGED, Amendment, Attempts, Batch, Summary
from peerage.ledger.forms.schema import DICTIONARIES, ENTRIES, LOG, REPLIES, SNAPSHOTS, SUMMARIES
from peerage.ledger.lineup import LineUp, changed_in_play, in_play
from peerage.ledger.stores.contract import BLOCK, Insert, Row, Transaction, changed
from peerage.ledger.tables import StoredRows, inserts_of

Said = tuple[str, bytes] | Amendment
"""An entry to come: what it is about with its digest, or an amendment."""

ENOUGH = 150
"""Replies from which on bodies are compressed by a dictionary: some ten duels."""
_NOTHING = sha256(b"").digest()


class Writer:
    """Transaction inside its caller's transactions. After one that failed a new writer must be made."""

    def __init__(self, transaction: Transaction, place: str) -> None:
        self.transaction = transaction
        self._place = place
        self._bodies = Bodies(place)
        self._rows = StoredRows(transaction, self._bodies)
        self._looked_at = -1
        self._head: tuple[int, bytes] | None = None
        self._folded: list[int] = []
        self._newest = 0
        self._narrow: Rolling | None = None
        self._narrow_logged = 0
        self.written = False

    def write(self, batch: Batch) -> None:
        """Write a batch and log it, or for a copy the entries that come along."""
        if batch.log is None:
            self._prepare()
        self._put(batch)
        if batch.records:
            self._know_forms()
        if batch.log is None:
            self._note(batch)
        else:
            rows = [(row.position, row.about, row.digest, row.chain) for row in batch.log]
            self._enter(rows, [(row.position, row) for row in batch.amendments])

    def rewrite(self, summaries: Iterable[Summary]) -> None:
        """Write the narrow table again, log that, and drop what was made of it."""
        self._prepare()
        for table in (SNAPSHOTS, SUMMARIES):
            self.transaction.clear(table)
        rows = iter(summaries)
        while part := list(islice(rows, BLOCK)):
            self._put(Batch(summaries=part))
        self._narrow = None
        self._append(self._narrow_entry())

    def end(self) -> None:
        """Log everything that is in play when a run ends."""
        self._prepare()
        order = LineUp(self._rows).order()
        self._append([*self._narrow_entry(), in_play(self._rows, order, len(self._folded))])

    def _prepare(self) -> None:
        """Find the end of the log before anything else is written; begin one where there is none. Raises
        LedgerError where what is in play is not as it was when the last run ended."""
        if self._head is not None:
            return
        last = self._rows.last_entry()
        self._head = (last.position, last.chain) if last else (0, GENESIS)
        order = LineUp(self._rows).order()
        self._newest = self._rows.newest()[1]
        self._folded = [*range(1, self._newest + 1)] if order is None else [*order.numbers[: order.folded]]
        if changed_in_play(self._rows, order, len(self._folded)):  # which this run would log as it is now
            raise changed(self._place, f"what is in play after match {len(self._folded)} changed")
        self._append([(f"run {len(self._folded)}", _NOTHING)])

    def _note(self, batch: Batch) -> None:
        """Log what a batch has just written."""
        facts = {key: value for key, value in batch.meta.items() if key not in UNLOGGED}
        entries: list[Said] = [*_facts(facts)]
        recorded = [row.number for row in batch.records]
        late = [row.match for rows in (batch.intents, batch.replies, batch.failures) for row in rows]
        again = {match for match in late if match <= self._newest}.difference(recorded)
        again = {number for number, *_ in self._rows.links(sorted(again))} if again else again
        matches = self._records([*again, *recorded])
        before = len(self._folded)
        self._folded += recorded
        self._newest = max(self._newest, *recorded, 0)
        entries += [matches[number] for number in sorted(again)]
        snapshots = dict(batch.snapshots)
        places = [*batch.places, *[0] * (len(batch.amendments) - len(batch.places))]
        # What rests on a record stands after it and before the next, however many a batch holds.
        for place, number in enumerate([0, *recorded]):
            if place:
                entries.append(matches[number])
            entries += [row for row, at in zip(batch.amendments, places, strict=True) if at == place]
            if before + place in snapshots:
                entries += self._snapshot(before + place, snapshots.pop(before + place))
        for number, body in snapshots.items():
            entries += self._snapshot(number, body)
        if batch.votes is not None:
            entries.append((f"votes {batch.votes[0]}", batch.votes[1]))
        self._append(entries)

    def _snapshot(self, number: int, body: bytes) -> list[Said]:
        return [*self._narrow_entry(number), (f"snapshot {number}", sha256(body).digest())]

    def _records(self, numbers: Sequence[int]) -> dict[int, tuple[str, bytes]]:
        """The entries about finished matches."""
        if not numbers:
            return {}
        links = {number: (at_ms, chain) for number, at_ms, chain in self._rows.links(numbers)}
        played = self._rows.attempts(numbers, bodies=False)
        asked = dict(chain.from_iterable(part.by_match() for part in played))
        return {
            number: (
                f"record {number}",
                of_record(*links.get(number, (0, GENESIS)), asked.get(number, Attempts())),
            )
            for number in numbers
        }

    def _narrow_entry(self, last: int | None = None) -> list[Said]:
        """The entry on the narrow table up to match `last`, or further where that was logged; or none."""
        if self._narrow is None:
            self._narrow, self._narrow_logged = Rolling(), 0
        rows = self._rows.summaries(self._folded[self._narrow.rows : last])
        while part := list(islice(rows, BLOCK)):
            self._narrow.add(part)
        if self._narrow_logged == self._narrow.rows:
            return []
        self._narrow_logged = self._narrow.rows
        return [(f"narrow {self._narrow.rows}", self._narrow.digest())]

    def _append(self, to_come: Iterable[Said]) -> None:
        assert self._head is not None
        entries = list(to_come)
        abouts = [
            (entry.topic, of_amendment(entry.at_ms, entry.body)) if isinstance(entry, Amendment) else entry
            for entry in entries
        ]
        rows = list(extended(*self._head, abouts))
        if rows:
            filed = zip([row[0] for row in rows], entries, strict=True)
            self._enter(rows, [(at, entry) for at, entry in filed if isinstance(entry, Amendment)])
            self._head = rows[-1][0], rows[-1][3]
            self.written = True

    def _enter(self, rows: Sequence[Row], amendments: Sequence[tuple[int, Amendment]]) -> None:
        """Write entries into the log, and what those about a topic say, by position."""
        pack = self._bodies.packed
        bodies = [(at, row.topic, row.at_ms, pack(row.body)) for at, row in amendments]
        inserts = [Insert(LOG, rows), Insert(ENTRIES, bodies)]
        self.transaction.append([insert for insert in inserts if insert.rows])

    def _put(self, batch: Batch) -> None:
        """Write the rows of a batch."""
        if self._looked_at < 0:
            self._bodies.learn(self._rows.dictionary())
            self._looked_at = 0
        self.transaction.append(inserts_of(batch, self._bodies))

    def _know_forms(self) -> None:
        """Make the dictionary that compresses bodies, once there are enough of them to know their forms."""
        if self._bodies.dictionary:
            return
        (replies,) = self.transaction.heads(REPLIES)
        if replies >= max(ENOUGH, 2 * self._looked_at):
            self._looked_at = replies
            if made := dictionary_of(self._rows.samples()):
                self.transaction.append([Insert(DICTIONARIES, [(1, made)])])
                self._bodies.learn(made)


def _facts(meta: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    return ((f"fact {key}", sha256(value.encode()).digest()) for key, value in meta.items())
