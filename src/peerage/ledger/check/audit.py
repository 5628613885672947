"""Check one span of finished matches: the work that `verify` shares out among processes.

Also a program, `python -m peerage.ledger.check.audit ADDRESS FIRST LAST REPLIES`, which writes its findings
as MessagePack; a program of its own rather than a forked copy, so that any script may call `verify`.
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from peerage.game.match import DONE, Totals, rated
from peerage.game.media import digests_in
from peerage.ledger.forms.codec import RecordHeader, StoredFixture, fixture_texts, read_header, read_issued
from peerage.ledger.forms.log import of_record, root_of
from peerage.ledger.forms.merkle import GENESIS, checksum, link
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.rows import Attempts, Exchange, FixtureRow, LedgerError, RecordRow, Summary
from peerage.ledger.ledger import Ledger
from peerage.ledger.topics.places import places

_UNREADABLE = (LedgerError, msgspec.MsgspecError, TypeError, ValueError, KeyError)
"""What reading may raise when not we but somebody else wrote the rows: whatever stands there, it is told."""

BLOCK = 500
"""Matches read at a time."""

Walked = tuple[Summary, dict[str, Totals]]
"""Figures derived of a match, and what each player did and cost by its record."""


class Findings(msgspec.Struct):
    """Totals of a span: answered exchanges and bytes hashed, the texts, pictures and sounds it refers to
    (digest in hex → the first match that does), and problems as (match, what). `digests` are those that the
    log holds of each match without a problem; `matches` those of which figures and record could be read, in
    order."""

    exchanges: int = 0
    hashed: int = 0
    texts: dict[bytes, int] = {}
    media: dict[str, int] = {}
    problems: list[tuple[int, str]] = []
    digests: dict[int, bytes] = {}
    matches: list[Walked] = []

    def add(self, other: Findings) -> None:
        """Count another span in, which follows."""
        self.exchanges += other.exchanges
        self.hashed += other.hashed
        for digest, match in other.texts.items():
            self.texts.setdefault(digest, match)
        for shown, match in other.media.items():
            self.media.setdefault(shown, match)
        self.problems += other.problems
        self.digests |= other.digests
        self.matches += other.matches


def totals_of(record: RecordRow) -> Mapping[str, Totals]:
    """Return what everybody did and cost in one match, by its record. Raises LedgerError."""
    try:
        return read_header(record.body).totals
    except msgspec.MsgspecError as error:
        raise LedgerError(
            f"the record of match {record.number} cannot be read ({error}); `peerage verify` says more"
        ) from error


def audit(ledger: Ledger, first: int, last: int, *, replies: bool = True) -> Findings:
    """Check the finished matches at places first..last; without `replies` nothing but fixtures, records and
    the narrow table, which takes a tenth of the time."""
    findings = Findings()
    for part in audited_in_parts(ledger, first, last, replies=replies):
        findings.add(part)
    return findings


def audited_in_parts(ledger: Ledger, first: int, last: int, *, replies: bool) -> Iterator[Findings]:
    """The same some matches at a time."""
    walk = _Walk(ledger, first, replies=replies)
    while first <= last:
        stop = min(first + BLOCK - 1, last)
        yield (findings := walk.block(first, stop))
        first = stop + 1
        if len(findings.problems) >= BLOCK and (gap := walk.gap(first, last)):
            yield (findings := Findings(problems=[gap[0]]))
            first = gap[1]


class _Chain:
    """Follows the chain over records; a broken link is laid to one record, not to all after it."""

    def __init__(self, ledger: Ledger, first: int) -> None:
        self._links: tuple[bytes, ...] = (GENESIS,)
        if first > 1:
            self._links = ()
            try:
                for row in ledger.records(max(first - 2, 1), first - 1):
                    self.fits(row)
            except LedgerError:
                self.lost()

    def fits(self, row: RecordRow) -> bool:
        """Return whether a record continues the chain."""
        links = [link(before, row.body) for before in self._links]
        if not links or row.chain in links:
            self._links = (row.chain,)
            return True
        # Either the body or the chain value changed: the next record shows which.
        self._links = (row.chain, *links)
        return False

    def lost(self) -> None:
        """A record is not there: the next one cannot be held against it."""
        self._links = ()


def texts_of(requests: bytes) -> set[bytes]:
    """The digests (hex) of the texts to which stored requests refer."""
    # No player can write these marks: within JSON strings their quotes are escaped.
    digests = {rest[:64] for rest in requests.split(b'"form":"')[1:]}
    if b'"text":"' in requests:
        digests.update(_TEXTS(requests))
    return digests


_TEXTS = re.compile(rb'"text":"([0-9a-f]{64})"').findall


class _Tally:
    """One match's exchanges: their root, the log's digest of them, and what else there is to hold against its
    record. No body is kept: what is read through stays in the processor's cache."""

    __slots__ = ("answered", "cost_nano", "digest", "hashed", "media", "root", "texts", "twice")

    def __init__(self, attempts: Attempts, record: RecordRow | None):
        of = attempts.answered()
        self.root = root_of(of)
        self.answered = len({*of.key})
        self.twice = (
            {key for key, times in Counter(of.key).items() if times > 1}
            if self.answered < len(of.key)
            else ()
        )
        self.digest = of_record(record.at_ms, record.chain, attempts) if record is not None else b""
        self.cost_nano = sum(filter(None, attempts.cost_nano))
        self.hashed = sum(map(len, of.request)) + sum(map(len, filter(None, of.reply)))
        requests = b"".join(attempts.request)
        self.texts, self.media = texts_of(requests), digests_in(requests)


class _Walk:
    """One walk over finished matches from place `first` on, which checks each on its way."""

    def __init__(self, ledger: Ledger, first: int, *, replies: bool) -> None:
        self._ledger = ledger
        self._replies = replies
        self._chain = _Chain(ledger, first)
        self._places = places(ledger)

    def gap(self, start: int, last: int) -> tuple[tuple[int, str], int] | None:
        """Return where there is nothing of the match at place `start`: that, and the first place up to `last`
        of which there is anything. One changed number makes a gap that nobody could walk through."""
        place = self._ledger.place
        try:
            issued = next((place(row.number) for row in self._ledger.fixtures(start, last)), last + 1)
            present = min(
                issued, next((place(row.number) for row in self._ledger.records(start, last)), issued)
            )
        except _UNREADABLE:
            return None
        if present == start:
            return None
        return (start, f"neither it nor any match up to {present - 1} is there"), present

    def block(self, first: int, last: int) -> Findings:
        """Return what the matches at these places, so few that they are read at once, come to."""
        ledger, findings = self._ledger, Findings()
        try:
            fixtures = {row.number: row for row in ledger.fixtures(first, last)}
            records = {row.number: row for row in ledger.records(first, last)}
            summaries = {row.number: row for row in ledger.summaries(first, last)}
            parts = ledger.attempts(first, last) if self._replies else ()
            tallies = {
                match: _Tally(own, records.get(match)) for part in parts for match, own in part.by_match()
            }
        except _UNREADABLE as error:
            if first < last:
                half = (first + last) // 2
                findings.add(self.block(first, half))
                findings.add(self.block(half + 1, last))
            else:
                findings.problems.append((first, f"cannot be read: {error}"))
                self._chain.lost()
            return findings
        nothing = _Tally(Attempts(), None)
        for at, number in enumerate(ledger.numbers(first, last), first):
            fixture, record, tally = fixtures.get(number), records.get(number), tallies.get(number, nothing)
            findings.exchanges += tally.answered
            findings.hashed += tally.hashed + sum(
                [len(row.body) for row in (fixture, record) if row is not None]
            )
            summary = summaries.get(number)
            try:
                totals, problems = self._match(at, number, fixture, record, summary, tally)
                if summary is not None and totals is not None:
                    findings.matches.append((summary, totals))
            except _UNREADABLE as error:
                problems = [f"cannot be read: {error}"]
                self._chain.lost()
            findings.problems += [(number, what) for what in problems]
            if problems or fixture is None or record is None:
                continue
            for digest in (*fixture_texts(fixture.body), *tally.texts):
                findings.texts.setdefault(digest, number)
            for shown in (*digests_in(fixture.body), *tally.media):
                findings.media.setdefault(shown, number)
            if self._replies:
                findings.digests[number] = tally.digest or of_record(record.at_ms, record.chain, Attempts())
        return findings

    def _match(
        self,
        at: int,
        number: int,
        fixture: FixtureRow | None,
        record: RecordRow | None,
        summary: Summary | None,
        tally: _Tally,
    ) -> tuple[dict[str, Totals] | None, list[str]]:
        """The totals on the record of the match at a place, where that can be read, and what is wrong with
        the match."""
        if record is None:
            self._chain.lost()
            return None, ["its record is missing"]
        if not self._chain.fits(record):
            # Nothing can be held against a record that is itself not as it was written.
            return None, ["its record changed", *self._changed(at)]
        if fixture is None:
            return None, ["its fixture is missing"]
        problems: list[str] = []
        try:
            header = read_header(record.body)
            totals, ratings = header.totals, header.ratings  # parsed at each access
            if header.number != number:
                problems.append(f"its record is that of match {header.number}")
            if header.fixture != digest_of(fixture.body):
                problems.append("its fixture changed")
            else:
                issued = read_issued(fixture.body)
                if (issued.number, issued.round) != (number, fixture.round):
                    problems.append("number or round in the row of its fixture changed")
                problems += self._pairing(issued, at)
        except msgspec.MsgspecError as error:
            return None, [f"its fixture or record is not in the form of this version: {error}"]
        if self._replies:
            problems += self._exchanges(at, header.root, totals, tally, problems)
        return totals, problems or _compare(summary, header, totals, ratings, issued, record.at_ms)

    def _pairing(self, issued: StoredFixture, at: int) -> list[str]:
        """Return where a fixture names another place than the one it was paired from."""
        if self._places is None or not issued.paired_from:
            return []
        own, due = self._places.of_match(at), self._places.paired_from(issued.snapshot, issued.round)
        stated = f"it says that it was paired from place {issued.paired_from}, and"
        if issued.paired_from >= own:
            return [f"{stated} its own is {own}"]
        return [f"{stated} benches and ratings say {due}"] if issued.paired_from != due else []

    def _exchanges(
        self, at: int, root: str, totals: Mapping[str, Totals], tally: _Tally, known: Sequence[str]
    ) -> list[str]:
        """Return the faults of the exchanges of a match whose record is whole."""
        problems = [f"{key} is answered twice" for key in sorted(tally.twice)]
        if root != tally.root:
            differences = [what for what in self._changed(at) if what not in known]
            return problems + (differences or ["its exchanges do not give the root on record"])
        spent = sum([total.cost_nano for total in totals.values()])
        unknown = any(total.unknown_costs for total in totals.values())
        # An unknown cost stands beside its reply as the most it may be.
        if tally.cost_nano < spent or (tally.cost_nano > spent and not unknown):
            problems.append(f"the costs of its replies come to {tally.cost_nano}, its record says {spent}")
        return problems

    def _changed(self, at: int) -> list[str]:
        """Return which rows of the match at a place no longer fit their checksums."""
        issued = self._ledger.fixtures(at, at)
        differences = ["its fixture changed" for row in issued if checksum(row.body) != row.checksum]
        return differences + [what for row in self._ledger.exchanges(at, at) for what in altered(row)]


def altered(row: Exchange) -> Iterator[str]:
    """Yield what of an attempt no longer fits its checksum."""
    which = row.key if row.attempt == 1 else f"{row.key} (attempt {row.attempt})"
    if checksum(row.request) != row.checksum:
        yield f"request {which} changed"
    if row.reply is not None and checksum(row.reply) != row.reply_checksum:
        yield f"reply {which} changed"


def _compare(
    summary: Summary | None,
    header: RecordHeader,
    totals: Mapping[str, Totals],
    ratings: Mapping[str, Mapping[str, tuple[float, float]]],
    issued: StoredFixture,
    at_ms: int,
) -> list[str]:
    """Return where the narrow table says something else than fixture and record."""
    if summary is None:
        return ["its row of the narrow table is missing"]
    outcome = header.outcome
    seated = [(seat.label, seat.player) for seat in issued.seats]
    players, scores, costs = rated(seated, outcome.void, outcome.scores, outcome.costs)
    raw, cost = ratings.get("raw", {}), ratings.get("cost", {})
    expected = Summary(
        number=header.number,
        round=issued.round,
        game=issued.game,
        topic=issued.topic,
        players=players,
        status=outcome.void or DONE,
        scores=scores,
        costs=costs,
        spent_nano=sum([total.cost_nano for total in totals.values()]),
        # The record names only ratings that this match moved.
        raw=tuple([raw[name][1] for name in players]) if raw else summary.raw,
        cost_elo=tuple([cost[name][1] for name in players]) if cost else summary.cost_elo,
        at_ms=at_ms,
    )
    if summary == expected:
        return []
    return [
        f"the narrow table says {field} {getattr(summary, field)!r}, its record {getattr(expected, field)!r}"
        for field in Summary.__struct_fields__
        if getattr(summary, field) != getattr(expected, field)
    ]


def integrity(address: str) -> list[str]:
    """Return what the database at an address finds wrong with itself. Raises LedgerError."""
    from peerage.ledger import open_ledger

    with closing(open_ledger(address, Path(), create=False)) as ledger:
        return list(ledger.integrity())


def audited(address: str, first: int, last: int, replies: bool) -> bytes:
    """The findings of a span of the ledger at an address, as MessagePack. Raises LedgerError."""
    from peerage.ledger import open_ledger

    with without_collector(), closing(open_ledger(address, Path(), create=False)) as ledger:
        return msgspec.msgpack.encode(audit(ledger.as_stored(), first, last, replies=replies))


@contextmanager
def without_collector() -> Iterator[None]:
    """Rows by the million and no cycles among them: the collector would only walk them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
