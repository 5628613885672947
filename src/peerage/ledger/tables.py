"""Rows of a ledger's tables as what they mean, and batches as rows: written once, over any `stores.Store`.

Matches are asked for by number: a `range` is read as one, in order; of other numbers rows come in the order
in which these are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, starmap
from operator import itemgetter
from typing import Any

from peerage.ledger.forms.bodies import Bodies
from peerage.ledger.forms.merkle import checksum
from peerage.ledger.forms.narrow import flat
from peerage.ledger.forms.rows import (
    COPY,
    Amendment,
    Attempts,
    Batch,
    Entry,
    Exchange,
    Failure,
    FixtureRow,
    Pin,
    RecordRow,
)
from peerage.ledger.forms.schema import (
    DICTIONARIES,
    ENTRIES,
    FAILURES,
    FIXTURES,
    INTENTS,
    LOG,
    MEDIA,
    META,
    RECORDS,
    REPLIES,
    SNAPSHOTS,
    SUMMARIES,
    TEXTS,
    StoredTable,
)
from peerage.ledger.stores.contract import BLOCK, END, Begins, Insert, Reads, Row, Select, Wanted

ATTEMPTS = 3_000
"""Attempts that are held at once, or as many as one match has."""
AT_HAND = 250
"""Attempts whose bodies are unpacked at once: what is read through stays in the processor's cache."""
IDS = 10_000
"""Requests that are looked through at once, to see whether any of them is open."""
NEAR = 1_000
"""Entries at the end of the log in which an entry is looked for first: some ten snapshots."""

_NOTHING = (None,) * len(REPLIES.columns)
_EVERY: Mapping[str, Wanted] = {}


class StoredRows:
    """The rows that `reads` holds; `bodies` unpacks what is compressed."""

    def __init__(self, reads: Reads, bodies: Bodies) -> None:
        self._reads = reads
        self._bodies = bodies

    def facts(self) -> dict[str, str]:
        """The facts of the arena."""
        return dict(self._all(META))

    def texts(self, digests: Sequence[bytes] | None) -> Iterator[tuple[bytes, bytes]]:
        """Texts with their digests; all of them where `digests` is None."""
        if digests is None:
            return self._all(TEXTS)
        return chain.from_iterable(self._all(TEXTS, {"digest": part}) for part in _parts(digests))

    def media(self, digests: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Pictures and sounds with their digests, one read at a time: a block of them would be large."""
        for digest in digests:
            yield from self._stored(MEDIA, {"digest": (digest,)})

    def media_digests(self) -> list[bytes]:
        """The digests of all pictures and sounds."""
        return [bytes(digest) for (digest,) in self._all(MEDIA, {}, ("digest",))]

    def fixtures(self, matches: Sequence[int]) -> Iterator[FixtureRow]:
        """Fixtures."""
        return starmap(FixtureRow, self._of(FIXTURES, matches, ("number", "round", "body", "checksum")))

    def records(self, matches: Sequence[int]) -> Iterator[RecordRow]:
        """Records."""
        return starmap(RecordRow, self._of(RECORDS, matches, ("number", "body", "chain", "at_ms")))

    def links(self, matches: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        """Number, time and chain value of records."""
        return self._of(RECORDS, matches, ("number", "at_ms", "chain"))

    def summaries(self, matches: Sequence[int]) -> Iterator[Row]:
        """Rows of the narrow table, as `narrow.deep` takes them."""
        return self._of(SUMMARIES, matches)

    def exchanges(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Exchange]:
        """The rows of `attempts`."""
        parts = self.attempts(matches, unanswered=unanswered, bodies=bodies)
        return chain.from_iterable(part.rows() for part in parts)

    def attempts(
        self, matches: Sequence[int], *, unanswered: bool = False, bodies: bool = True
    ) -> Iterator[Attempts]:
        """Attempts by match, and in order of writing; all, or the `unanswered` alone. Without `bodies` those
        of what was answered are empty."""
        every = bodies and not unanswered
        names = INTENTS.columns if every else INTENTS.columns[:-1]
        for part in filter(None, self._asked(matches, names)):
            replies = REPLIES.columns if every else REPLIES.columns[:-1]
            known = {row[1]: row for row in self._by_ids(REPLIES, "intent", part, replies)}
            due = [row for row in part if row[0] not in known] if unanswered else part
            for asked in _of_whole_matches(due, AT_HAND):
                yield self._attempts(asked, [known.get(row[0], _NOTHING) for row in asked], every)

    def _asked(self, matches: Sequence[int], names: tuple[str, ...]) -> Iterator[Sequence[Row]]:
        """Requests of whole matches, some `ATTEMPTS` at a time, their bodies as they are stored."""
        by = "match", "key", "attempt"
        if not isinstance(matches, range):
            for some in _parts(matches):
                places = {number: place for place, number in enumerate(some)}
                requests = self._stored(INTENTS, {"match": some}, names)
                yield sorted(requests, key=lambda row: (places[row[1]], row[0]))
            return
        yield from _of_whole_matches(self._stored(INTENTS, {"match": matches}, names, by), ATTEMPTS)

    def _attempts(self, asked: Sequence[Row], replies: Sequence[Row], every: bool) -> Attempts:
        """Attempts of requests, each with its reply or `_NOTHING`; of what has none the body is read where
        not `every` one was."""
        failures: Sequence[Failure | None] = (None,) * len(asked)
        if _NOTHING in replies:
            failed = {row[1]: Failure(row[0], *row[2:]) for row in self._by_ids(FAILURES, "intent", asked)}
            failures = [failed.get(row[0]) for row in asked]
        if not every:
            due = [row for row, reply in zip(asked, replies, strict=True) if reply is _NOTHING]
            held = dict(self._by_ids(INTENTS, "id", due, ("id", "body")))
            asked = [(*row, held.get(row[0], b"")) for row in asked]
            replies = [row if row is _NOTHING else (*row, b"") for row in replies]
        of, match, key, attempt, player, worst, whole, request = zip(*asked, strict=True)
        ids, _, costs, times, took, sums, bodies = zip(*replies, strict=True)
        return Attempts(
            *(match, key, attempt, player, self._unpacked(request), self._unpacked(bodies), worst, costs),
            *(of, whole, ids, sums, times, took, failures),
        )

    def newest(self) -> tuple[int, int]:
        """The highest number of a fixture and of a record, 0 where there is none."""
        issued, recorded = self._reads.heads(FIXTURES, RECORDS)
        return issued, recorded

    def last_snapshot(self, at_most: int | None) -> tuple[int, bytes] | None:
        """The newest snapshot, or the newest after at most so many matches."""
        numbers = range(END if at_most is None else at_most + 1)
        return self._last(SNAPSHOTS, {"number": numbers}, ("number", "body"))

    def snapshots(self) -> Iterator[tuple[int, bytes, int]]:
        """All snapshots, with their checksums."""
        return self._all(SNAPSHOTS, {}, ("number", "body", "checksum"), ("number",))

    def log(self, after: int = 0, last: int = END) -> Iterator[Entry]:
        """The log from behind a position on, up to the `last`."""
        where: dict[str, Wanted] = {}
        if after or last < END:
            where = {"position": range(after + 1, min(last + 1, END))}
        return starmap(Entry, self._all(LOG, where, order=("position",)))

    def last_entry(self, about: str = "") -> Entry | None:
        """The newest entry about something, or, where `about` is empty or ends in a blank, about what begins
        so."""
        newest = self._last(LOG)
        if about and newest is not None:
            where: dict[str, Wanted] = {"about": Begins(about) if about[-1] == " " else about}
            # Seldom far from the end, where a store may not begin: it would read the whole log.
            near = {**where, "position": range(newest[0] - NEAR + 1, END)}
            newest = self._last(LOG, near) or self._last(LOG, where)
        return None if newest is None else Entry(*newest)

    def pin(self) -> Pin:
        """The newest row of each kind."""
        return Pin(*self._reads.heads(LOG, FIXTURES, INTENTS, REPLIES, FAILURES))

    def spent_by(
        self, last: int | None, but_for: Sequence[int], replies_of: Collection[str] | None
    ) -> dict[str, int]:
        """As `Ledger.spent_by` has it, by numbers of matches, some of which are left out."""
        spent = Counter[str]()
        counted = range(END if last is None else last + 1)
        for table, players in ((FAILURES, None), (REPLIES, replies_of)):
            if players is not None and not players:
                continue
            where: dict[str, Wanted] = {} if players is None else {"player": tuple(players)}
            if last is not None:
                where["match"] = counted
            spent.update(self._reads.totals(Select(table, where=where), "player", "cost_nano"))
        for row in self.exchanges([number for number in but_for if number in counted], bodies=False):
            if row.reply is not None and (replies_of is None or row.player in replies_of):
                spent[row.player] -= row.cost_nano or 0
            if row.failure is not None:
                spent[row.player] -= row.failure.cost_nano or 0
        for player, match, worst in self._open():
            if match in counted and match not in but_for:
                spent[player] += worst or 0
        return dict(spent)

    def _open(self) -> Iterator[tuple[str, int, int | None]]:
        """Player, match and worst cost of the requests that neither a reply nor a failure followed; looked
        for from the last on, no further than there can be any. Ids count on without a gap, but for copies
        from which requests were left out."""
        pin = self.pin()
        last = pin.intents
        most = last if COPY in self.facts() else last - pin.replies - pin.failures
        while last > 0 and most > 0:
            still_open = self._open_among(range(max(last - IDS, 0) + 1, last + 1))
            yield from still_open
            most -= len(still_open)
            last -= IDS

    def _open_among(self, ids: range) -> Sequence[Any]:
        where, tables = {"intent": ids}, (REPLIES, FAILURES)
        if sum([self.number_of(table, where) for table in tables]) == len(ids):
            return ()
        followed = chain.from_iterable(self._all(table, where, ("intent",)) for table in tables)
        due = {*ids}.difference(chain.from_iterable(followed))
        names = "id", "player", "match", "worst_nano"
        rows = self._by_ids(INTENTS, "id", [(number,) for number in sorted(due)], names)
        return [row[1:] for row in rows if row[0] in due]

    def amendments(self, topic: str) -> Iterator[Amendment]:
        """Yield the amendments of a topic, or of all."""
        names = "topic", "body", "at_ms", "position"
        return starmap(Amendment, self._all(ENTRIES, _on(topic), names, ("position",)))

    def has_amendments(self, topic: str) -> bool:
        """Return whether the log has amendments of a topic."""
        return self._last(ENTRIES, _on(topic), ("position",)) is not None

    def topics(self) -> Mapping[str, int]:
        """Return the number of amendments by topic."""
        return self._reads.totals(Select(ENTRIES), "topic")

    def number_of(self, table: StoredTable, where: Mapping[str, Wanted] = _EVERY) -> int:
        """Return how many rows of a table there are."""
        return self._reads.totals(Select(table, where=where)).get("", 0)

    def strays(self, table: StoredTable) -> tuple[int, int]:
        """Return how many rows belong to a row that is not there, and the lowest key that they name."""
        assert table.of is not None
        column, other = table.of
        (top,) = self._reads.heads(other)
        known = range(1, top + 1)
        gapless = self.number_of(other, {other.key: known}) == top
        if gapless and self.number_of(table, {column: known}) == self.number_of(table):
            return 0, 0
        strangers = list[int]()
        keys = chain.from_iterable(self._all(other, {}, (other.key,), (other.key,)))
        there = next(keys, END)
        for (key,) in self._all(table, {}, (column,), (column,)):
            while isinstance(key, int) and there < key:
                there = next(keys, END)
            if there != key:
                strangers.append(key)
        return len(strangers), strangers[0] if strangers else 0

    def _all(
        self,
        table: StoredTable,
        where: Mapping[str, Wanted] = _EVERY,
        names: tuple[str, ...] = (),
        order: tuple[str, ...] = (),
    ) -> Iterator[Any]:
        return chain.from_iterable(self._whole(Select(table, names, where, order)))

    def _stored(
        self,
        table: StoredTable,
        where: Mapping[str, Wanted] = _EVERY,
        names: tuple[str, ...] = (),
        order: tuple[str, ...] = (),
    ) -> Iterator[Any]:
        return chain.from_iterable(self._reads.rows(Select(table, names, where, order)))

    def _whole(self, wanted: Select) -> Iterator[Sequence[Row]]:
        """Rows in parts, their bodies unpacked."""
        parts = self._reads.rows(wanted)
        if "body" not in wanted.names:
            return parts
        at = wanted.names.index("body")
        return (
            [
                (*row[:at], body, *row[at + 1 :])
                for row, body in zip(part, self._unpacked([row[at] for row in part]), strict=True)
            ]
            for part in parts
        )

    def _unpacked(self, stored: Sequence[Any]) -> list[Any]:
        """Bodies of which these are stored; None of none."""
        if not self._bodies.dictionary and any(map(self._bodies.lacks, filter(None, stored))):
            self._bodies.learn(self.dictionary())
        return self._bodies.whole(stored)

    def dictionary(self) -> bytes:
        """The dictionary by which bodies are compressed; empty where there is none yet."""
        parts = self._reads.rows(Select(DICTIONARIES, ("body",)))
        return next((bytes(body) for part in parts for (body,) in part), b"")

    def samples(self) -> list[bytes]:
        """Bodies of the first rows of each kind, from which a dictionary is made."""
        firsts = [
            Select(table, ("body",), {}, (table.key,), limit=rows)
            for table, rows in ((INTENTS, 400), (REPLIES, 400), (FIXTURES, 40), (RECORDS, 40))
        ]
        return [body for first in firsts for part in self._whole(first) for (body,) in part]

    def _by_ids(
        self, table: StoredTable, column: str, asked: Sequence[Row], names: tuple[str, ...] = ()
    ) -> Iterator[Any]:
        """Rows that belong to requests, whose ids come first in `asked`, and to others between these; their
        bodies as they are stored."""
        ids = [row[0] for row in asked]
        parts: Iterable[Wanted] = _parts(ids)
        if ids and (span := range(min(ids), max(ids) + 1)).stop - span.start <= 2 * len(ids):
            parts = [span]
        return chain.from_iterable(self._stored(table, {column: part}, names) for part in parts)

    def _last(
        self, table: StoredTable, where: Mapping[str, Wanted] = _EVERY, names: tuple[str, ...] = ()
    ) -> Any | None:
        newest = Select(table, names, where, (table.key,), down=True, limit=1)
        return next(chain.from_iterable(self._whole(newest)), None)

    def _of(self, table: StoredTable, matches: Sequence[int], names: tuple[str, ...] = ()) -> Iterator[Any]:
        """Rows of these matches, in their order; their first column is the match's number."""
        if isinstance(matches, range):
            yield from self._all(table, {table.key: matches}, names, (table.key,))
            return
        for part in _parts(matches):
            places = {number: place for place, number in enumerate(part)}
            yield from sorted(self._all(table, {table.key: part}, names), key=lambda row: places[row[0]])


def _on(topic: str) -> dict[str, Wanted]:
    return {"topic": topic} if topic else {}


def _of_whole_matches(rows: Iterable[Row], least: int) -> Iterator[list[Row]]:
    """Rows of the requests of whole matches, in order of writing, so many or some more at a time."""
    part: list[Row] = []
    for _, own in groupby(rows, itemgetter(1)):
        part += sorted(own, key=itemgetter(0))
        if len(part) >= least:
            yield part
            part = []
    if part:
        yield part


def _parts(values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    return (tuple(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK))


def inserts_of(batch: Batch, bodies: Bodies) -> list[Insert]:
    """The rows of a batch, but for amendments and what concerns the log; their bodies compressed."""
    pack = bodies.packed
    asked, replied, failed = list[Row](), list[Row](), list[Row]()
    for row in batch.attempts:
        of = row.match, row.key, row.attempt, row.player, row.worst_nano
        asked.append((row.id, *of, row.checksum, pack(row.request)))
        if row.reply is not None:
            reply = row.cost_nano, row.at_ms, row.latency_ms, row.reply_checksum, pack(row.reply)
            replied.append((row.reply_id, row.id, *reply))
        if row.failure is not None:
            failed.append((row.failure.id, row.id, *row.failure[1:]))
    inserts = [
        *[Insert(MEDIA, [row]) for row in batch.media],  # each may be large
        Insert(TEXTS, [(digest, pack(text.encode())) for digest, text in batch.texts]),
        Insert(FIXTURES, [(r.number, r.round, checksum(r.body), pack(r.body)) for r in batch.fixtures]),
        Insert(
            INTENTS,
            [
                (r.match, r.key, r.attempt, r.player, r.worst_nano, checksum(r.body), pack(r.body))
                for r in batch.intents
            ],
        ),
        Insert(
            REPLIES,
            [
                (
                    r.match,
                    r.key,
                    r.attempt,
                    r.cost_nano,
                    r.at_ms,
                    r.latency_ms,
                    checksum(r.body),
                    pack(r.body),
                )
                for r in batch.replies
            ],
        ),
        Insert(
            FAILURES, [(r.match, r.key, r.attempt, r.reason, r.cost_nano, r.at_ms) for r in batch.failures]
        ),
        Insert(RECORDS, [(r.number, r.chain, r.at_ms, pack(r.body)) for r in batch.records]),
        Insert(SUMMARIES, [flat(summary) for summary in batch.summaries]),
        Insert(SNAPSHOTS, [(number, checksum(body), pack(body)) for number, body in batch.snapshots]),
        Insert(META, list(batch.meta.items())),
        Insert(INTENTS, asked, whole=True),
        Insert(REPLIES, replied, whole=True),
        Insert(FAILURES, failed, whole=True),
    ]
    return [insert for insert in inserts if insert.rows]
