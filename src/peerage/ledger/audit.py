"""Check one span of finished matches: the work that `verify` shares out among processes.

Also a program, `python -m peerage.ledger.audit ADDRESS FIRST LAST REPLIES`, which writes its findings as
MessagePack; a program of its own rather than a forked or spawned copy, so that any script may call `verify`.
"""

from __future__ import annotations

import gc
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from peerage.ledger.log import Attempt, of_match, of_record
from peerage.ledger.merkle import GENESIS, leaves, link, root
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.places import Places, places
from peerage.ledger.store import Ledger, LedgerError, RecordRow, Summary
from peerage.match import ranked

_UNREADABLE = (LedgerError, msgspec.MsgspecError, TypeError, ValueError, KeyError)
"""What reading may raise when not we but somebody else wrote the rows: whatever stands there, it is told."""

BLOCK = 500
"""Matches read at a time."""


class Findings(msgspec.Struct):
    """What a span came to: answered exchanges and bytes hashed, the texts it refers to (digest in hex → the
    first match that does), and problems as (match, what). `seen` counts intents, replies and failures;
    `digests` are those that the log holds of each match without a problem: in the form of today, and in the
    earlier one where there is anything of that."""

    exchanges: int = 0
    hashed: int = 0
    texts: dict[bytes, int] = {}
    problems: list[tuple[int, str]] = []
    seen: tuple[int, int, int] = (0, 0, 0)
    digests: dict[int, tuple[bytes, bytes]] = {}

    def add(self, other: Findings) -> None:
        """Count another span in."""
        self.exchanges += other.exchanges
        self.hashed += other.hashed
        self.texts = other.texts | self.texts
        self.problems += other.problems
        self.see(*other.seen)
        self.digests |= other.digests

    def see(self, intents: int, replies: int, failures: int) -> None:
        """Count rows."""
        before = self.seen
        self.seen = (before[0] + intents, before[1] + replies, before[2] + failures)


def audit(ledger: Ledger, first: int, last: int, *, replies: bool = True) -> Findings:
    """Check the finished matches at places first..last; without `replies` nothing but fixtures, records and
    the narrow table, which takes a tenth of the time."""
    findings = Findings()
    chain = _Chain(ledger, first)
    known = places(ledger)
    earlier = next(ledger.streams(), None) is not None
    start = first
    while start <= last:
        stop = min(start + BLOCK - 1, last)
        before = len(findings.problems)
        _block(ledger, start, stop, chain, known, findings, replies, earlier)
        start = stop + 1
        if len(findings.problems) - before >= BLOCK:
            start = _further(ledger, start, last, findings)
    return findings


def _further(ledger: Ledger, start: int, last: int, findings: Findings) -> int:
    """The first match from `start` on of which there is anything: one changed number makes a gap that nobody
    could walk through."""
    try:
        issued = next((ledger.place(row.number) for row in ledger.fixtures(start, last)), last + 1)
        found = min(issued, next((ledger.place(row.number) for row in ledger.records(start, last)), issued))
    except _UNREADABLE:
        return start
    if found > start:
        findings.problems.append((start, f"neither it nor any match up to {found - 1} is there"))
    return found


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
        """Whether a record continues the chain."""
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


def _block(
    ledger: Ledger,
    first: int,
    last: int,
    chain: _Chain,
    known: Places | None,
    findings: Findings,
    replies: bool,
    earlier: bool,
) -> None:
    try:
        fixtures = {row[0]: row for row in ledger.issued(first, last)}
        records = {row.number: row for row in ledger.records(first, last)}
        summaries = {row.number: row for row in ledger.summaries(first, last)}
        tallies = {
            number: _Tally(rows)
            for number, rows in groupby(ledger.attempts(first, last) if replies else (), attrgetter("match"))
        }
    except _UNREADABLE as error:
        if first == last:
            findings.problems.append((first, f"cannot be read: {error}"))
            chain.lost()
        else:
            half = (first + last) // 2
            _block(ledger, first, half, chain, known, findings, replies, earlier)
            _block(ledger, half + 1, last, chain, known, findings, replies, earlier)
        return
    nothing = _Tally(())
    for at, number in enumerate(ledger.numbers(first, last), first):
        fixture, record, tally = fixtures.get(number), records.get(number), tallies.get(number, nothing)
        findings.exchanges += tally.answered
        findings.hashed += tally.hashed + (len(fixture[3]) if fixture else 0)
        findings.hashed += len(record.body) if record else 0
        findings.see(*tally.seen)
        try:
            problems = _match(
                ledger,
                at,
                number,
                fixture,
                record,
                summaries.get(number),
                tally if replies else None,
                chain,
                known,
            )
        except _UNREADABLE as error:
            problems = [f"cannot be read: {error}"]
            chain.lost()
        findings.problems += [(number, what) for what in problems]
        if not problems and fixture is not None:
            for digest in (settings_text(fixture[3]), *tally.texts):
                findings.texts.setdefault(digest, number)
            if replies and record is not None:
                row = (record.number, record.chain, record.at_ms)
                before = of_match(fixture[:3], row, tally.rows) if earlier else b""
                findings.digests[number] = of_record(record.at_ms, tally.rows), before


def settings_text(fixture: bytes) -> bytes:
    """The digest (hex) of the text to which a stored fixture refers for its game's settings."""
    at = fixture.find(b'"settings":"') + 12
    return fixture[at : at + 64]


def texts_of(requests: bytes) -> set[bytes]:
    """The digests (hex) of the texts to which stored requests refer."""
    # No player can write these marks: within JSON strings their quotes are escaped.
    found = {rest[:64] for rest in requests.split(b'"form":"')[1:]}
    if b'"text":"' in requests:
        found.update(_TEXTS(requests))
    return found


_TEXTS = re.compile(rb'"text":"([0-9a-f]{64})"').findall


class _Tally:
    """One match's exchanges: their root, and sums to hold against its record."""

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        # Columns, and all requests at once: this runs for every reply there is.
        self.rows = rows = list(attempts)
        answered = [row for row in rows if row.reply is not None]
        keys = [row.key for row in answered]
        requests = [row.request for row in answered]
        replies = [row.reply or b"" for row in answered]
        found = dict(
            zip(keys, leaves(keys, [row.player for row in answered], requests, replies), strict=True)
        )
        self.answered = len(found)
        self.unanswered = len(rows) - len(answered)
        self.twice: set[str] = set()
        if len(found) < len(keys):
            self.twice = {key for key, times in Counter(keys).items() if times > 1}
        self.root = root([found[key] for key in sorted(found)]).hex()
        self.cost_nano = sum([row.cost_nano or 0 for row in rows])
        self.misfiled = [*map(crc32, requests), *map(crc32, replies)] != [
            *[row.checksum for row in answered],
            *[row.reply_checksum for row in answered],
        ] or any(crc32(row.request) != row.checksum for row in rows if row.reply is None)
        failed = len([row for row in rows if row.failure is not None]) if self.unanswered else 0
        self.seen = (len(rows), len(answered), failed)
        self.hashed = sum(map(len, requests)) + sum(map(len, replies))
        self.texts = texts_of(b"".join([row.request for row in rows] if self.unanswered else requests))


class _Seat(msgspec.Struct, gc=False):
    label: str
    player: str


class _Issued(msgspec.Struct, gc=False):
    """What a fixture's body says that others repeat."""

    number: int
    round: int
    game: str
    seats: tuple[_Seat, ...]
    drawn: dict[str, Any] = {}
    snapshot: int = 0
    paired_from: int = 0


class _Outcome(msgspec.Struct, gc=False):
    void: str = ""
    scores: dict[str, float] = {}
    costs: dict[str, float | None] = {}


class _Total(msgspec.Struct, gc=False):
    cost_nano: int = 0
    unknown_costs: int = 0


class _Record(msgspec.Struct, gc=False):
    """What a record's body says that others repeat; `match.MatchRecord` is the whole."""

    number: int
    fixture: str
    root: str
    outcome: _Outcome
    ratings: dict[str, dict[str, tuple[float, float]]]
    totals: dict[str, _Total]


_read_record = msgspec.json.Decoder(_Record).decode
read_issued = msgspec.json.Decoder(_Issued).decode
"""What a stored fixture says that others repeat. Raises msgspec.MsgspecError."""


def _match(
    ledger: Ledger,
    at: int,
    number: int,
    fixture: tuple[int, int, int, bytes] | None,
    record: RecordRow | None,
    summary: Summary | None,
    tally: _Tally | None,
    chain: _Chain,
    known: Places | None,
) -> list[str]:
    """What is wrong with the match at a place."""
    if record is None:
        chain.lost()
        return ["its record is missing"]
    if not chain.fits(record):
        # Nothing can be held against a record that is itself not as it was written.
        return ["its record changed", *_changed(ledger, at)]
    if fixture is None:
        return ["its fixture is missing"]
    problems: list[str] = []
    try:
        header = _read_record(record.body)
        if header.number != number:
            problems.append(f"its record is that of match {header.number}")
        if header.fixture != digest_of(fixture[3]):
            problems.append("its fixture changed")
        else:
            issued = read_issued(fixture[3])
            if (issued.number, issued.round) != (number, fixture[1]):
                problems.append("number or round beside its fixture changed")
            problems += _pairing(issued, at, known)
    except msgspec.MsgspecError as error:
        return [f"its fixture or record is not in the form of this version: {error}"]
    if tally is not None:
        problems += _exchanges(ledger, at, header, tally, problems)
    if not problems:
        problems += _compare(summary, header, issued, record.at_ms)
    return problems


def _pairing(issued: _Issued, at: int, known: Places | None) -> list[str]:
    """Where a fixture names another place than the one it was paired from."""
    if known is None or not issued.paired_from:
        return []
    own, due = known.of_match(at), known.paired_from(issued.snapshot, issued.round)
    if issued.paired_from >= own:
        return [f"it says that it was paired from place {issued.paired_from}, and its own is {own}"]
    if issued.paired_from != due:
        return [
            f"it says that it was paired from place {issued.paired_from}, and benches and ratings say {due}"
        ]
    return []


def _exchanges(ledger: Ledger, at: int, header: _Record, tally: _Tally, known: Sequence[str]) -> list[str]:
    """What is wrong with the exchanges of a match whose record stands."""
    problems = [f"{key} is answered twice" for key in sorted(tally.twice)]
    if header.root != tally.root:
        found = [what for what in _changed(ledger, at) if what not in known]
        problems += found or ["its exchanges do not give the Merkle root on record"]
    elif tally.misfiled:
        problems += _changed(ledger, at)
    else:
        spent = sum([total.cost_nano for total in header.totals.values()])
        unknown = any(total.unknown_costs for total in header.totals.values())
        # An unknown cost stands beside its reply as the most it may be.
        if tally.cost_nano < spent or (tally.cost_nano > spent and not unknown):
            problems.append(f"costs beside its replies come to {tally.cost_nano}, its record says {spent}")
    return problems


def _changed(ledger: Ledger, at: int) -> list[str]:
    """What a checksum says of the match at a place: which row an accident changed."""
    fixtures = ledger.issued(at, at)
    found = ["its fixture changed" for _, _, checksum, body in fixtures if crc32(body) != checksum]
    return found + [what for row in ledger.attempts(at, at) for what in altered(row)]


def altered(row: Attempt) -> Iterator[str]:
    """What of an attempt no longer fits its checksum."""
    which = row.key if row.attempt == 1 else f"{row.key} (attempt {row.attempt})"
    if crc32(row.request) != row.checksum:
        yield f"request {which} changed"
    if row.reply is not None and crc32(row.reply) != row.reply_checksum:
        yield f"reply {which} changed"


def _compare(summary: Summary | None, header: _Record, issued: _Issued, at_ms: int) -> list[str]:
    """Where the narrow table says something else than fixture and record."""
    if summary is None:
        return ["its row of the narrow table is missing"]
    outcome = header.outcome
    seated = {seat.label: seat.player for seat in issued.seats}
    labels = ranked(seated, outcome.void, outcome.scores)
    players = tuple([seated[label] for label in labels])
    raw, cost = header.ratings.get("raw", {}), header.ratings.get("cost", {})
    expected = Summary(
        header.number,
        issued.round,
        issued.game,
        str(issued.drawn.get("topic", issued.drawn.get("category", ""))),
        players,
        outcome.void or "done",
        () if outcome.void else tuple([outcome.scores.get(label, math.nan) for label in labels]),
        tuple([outcome.costs.get(label) for label in labels]),
        sum([total.cost_nano for total in header.totals.values()]),
        # The record names only ratings that this match moved.
        tuple([raw[name][1] for name in players]) if raw else summary.raw,
        tuple([cost[name][1] for name in players]) if cost else summary.cost_elo,
        at_ms,
    )
    if summary == expected:
        return []
    return [
        f"the narrow table says {field} {getattr(summary, field)!r}, its record {getattr(expected, field)!r}"
        for field in Summary.__struct_fields__
        if getattr(summary, field) != getattr(expected, field)
    ]


def main(address: str, first: str, last: str, replies: str) -> None:
    """Write the findings of a span to standard output, as MessagePack."""
    from peerage.ledger import open_ledger

    # Rows by the million and no cycles among them: the collector would only walk them.
    gc.disable()
    try:
        ledger = open_ledger(address, Path(), create=False)
    except LedgerError as error:
        sys.exit(str(error))
    try:
        sys.stdout.buffer.write(
            msgspec.msgpack.encode(audit(ledger, int(first), int(last), replies=replies == "replies"))
        )
    finally:
        ledger.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
