"""Check that a ledger is whole: every digest, root and chain recomputed from the stored bytes.

What is on record (fixtures, requests, replies, records, texts, amendments) is held by SHA-256: texts by
their own digest, fixtures and exchanges by the record of their match, records by the chain. What else there
is of them (attempts, costs, times, failures, facts, snapshots, what is in play) is held by the log, and what
follows from the records is computed again. A chain cannot show that its end was cut off, nor that all of it
was written again: for that, give roots and checkpoints that were `kept` (`ledger.check.kept_checkpoints`).
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise

import msgspec

from peerage.game.media import digests_in
from peerage.ledger.check import media
from peerage.ledger.check.audit import (
    Findings,
    Walked,
    altered,
    audited,
    audited_in_parts,
    integrity,
    texts_of,
    without_collector,
)
from peerage.ledger.check.checkpoints import origin
from peerage.ledger.check.held import (
    Found,
    Logged,
    agreed,
    amendments,
    as_logged,
    facts,
    read_log,
    records,
    stream,
)
from peerage.ledger.check.held import in_play as play
from peerage.ledger.check.held import votes as held_votes
from peerage.ledger.check.kept_checkpoints import Extension, KeptCheckpoint, held_against
from peerage.ledger.check.media import MediaFound
from peerage.ledger.forms.codec import fixture_texts, read_issued
from peerage.ledger.forms.log import log_root
from peerage.ledger.forms.merkle import GENESIS, checksum, stream_genesis
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.rows import COPY, LedgerError
from peerage.ledger.ledger import Ledger
from peerage.ledger.stores import access
from peerage.ledger.topics.secret import strange_keys
from peerage.ledger.topics.settings_log import SettingsChange, settings_changes
from peerage.ledger.topics.votes import STREAM, PeopleVotes
from peerage.values.parallel import Helpers, Lost, Processes, in_order

AT_ONCE = 5_000
"""Matches that a helper checks before it says what it found, so that this stays small."""
PARALLEL_FROM = 4_000
"""Records from which on it is worth a second process, and for as many again another."""


@dataclass(frozen=True)
class Problem:
    """Something that is not as it was written. `match` is None for what belongs to no match."""

    match: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.match is None else f"match {self.match}: {self.what}"


@dataclass(frozen=True)
class Report:
    """Result of a check: finished matches, their answered exchanges, bytes of bodies hashed.

    `head` is the play head, the chain value of the last record, in hex: what was played, without times.
    `log_root` is size and Merkle root of the log, which holds everything, as "412:5f0c…". `streams` gives the
    head of each chain apart from the log: the audience's votes. `copy` says that this is a copy for others,
    without what is in play and without votes. `ended` says that the run that wrote last came to its end:
    otherwise what is in play is held by checksums alone. `checkpoints` say what each kept one says of
    this ledger; where it does not extend one of them, `problems` say so. `changes` are those of settings and
    players since the first entry about them. `outside` counts the outside results by the name of their file.
    `media` are its pictures and sounds, whose bytes are not among `bytes`.
    """

    matches: int
    exchanges: int
    bytes: int
    head: str
    problems: tuple[Problem, ...]
    streams: Mapping[str, str] = field(default_factory=dict)
    log_root: str = ""
    copy: bool = False
    ended: bool = True
    changes: tuple[SettingsChange, ...] = ()
    outside: Mapping[str, int] = field(default_factory=dict)
    checkpoints: tuple[Extension, ...] = ()
    media: MediaFound = field(default_factory=MediaFound)

    @property
    def ok(self) -> bool:
        return not self.problems


Recomputed = Callable[[Ledger, Iterator[Walked], int, Mapping[int, bytes]], Iterator[tuple[int, str]]]
"""Gives (match, what is wrong) of snapshots and ratings that do not follow from the matches, so many, that it
is given in order, and with the digests that the log holds of snapshots, by match."""


def check_records(ledger: Ledger, recomputed: Recomputed) -> None:
    """`standings.verify.check_records`, which hands in what recomputes. Raises LedgerError."""
    report = verify(ledger, recomputed, replies=False)
    if report.problems:
        first, more = report.problems[0], len(report.problems) - 1
        raise LedgerError(
            f"{ledger.address.removeprefix('sqlite:///')} is not as it was written, and a run would build "
            f"on that: {first}{f' (and {more} more)' if more else ''}. Nothing was written. `peerage verify` "
            f"lists everything; {remedy(report)}"
        )


def remedy(report: Report) -> str:
    """Return what fixes the problems of a report."""
    derived = ("narrow table", "snapshot")
    if all(any(what in problem.what for what in derived) for problem in report.problems):
        return (
            "narrow table and snapshots follow from the records: `peerage replay --repair` writes them again"
        )
    return "restore the ledger from a copy"


def verify(
    ledger: Ledger,
    recomputed: Recomputed,
    *,
    workers: int | None = None,
    votes: PeopleVotes | None = None,
    kept: Sequence[KeptCheckpoint] = (),
    helpers: Helpers | None = None,
    replies: bool = True,
) -> Report:
    """`standings.verify.verify`, which hands in what recomputes; without `replies` all but the requests and
    replies of finished matches. Raises LedgerError."""
    ledger = ledger.as_stored()
    now = ledger.at_one_moment(_now)
    recorded, logged, problems = now.recorded, now.logged, [*now.problems]
    if workers is None:
        most = helpers.count if helpers else os.cpu_count() or 1
        workers = min(most, 1 + recorded // (PARALLEL_FROM if replies else PARALLEL_FROM * 5))
    with ExitStack() as stack:
        # A number beyond was changed by somebody, and says nothing of how many matches there are.
        if workers < 2 or recorded > logged.length:
            helpers, workers = None, 1
        elif helpers is None:
            helpers = stack.enter_context(Processes(workers, access(ledger.address)))
        findings = _finished(ledger, recomputed, now, problems, helpers, workers, replies=replies)
    problems += now.beside
    changes, head, outside = tuple[SettingsChange, ...](), GENESIS, dict[str, int]()
    held_media = MediaFound()
    with _noted(problems):
        problems += _strange(ledger, now.issued)
        if replies:
            # A match with a problem is not reported again for its digest.
            reported = {match for match, _ in problems}
            for match in findings.digests.keys() & reported:
                del findings.digests[match]
            problems += records(ledger, findings.digests, logged, reported, recorded) if logged.length else ()
        needed = now.needed | findings.texts
        problems += _texts(now.texts, needed) if now.texts is not None else []
        if replies:
            shown = media.in_texts(now.texts or {}, needed) | now.media | findings.media
            lacks, held_media = media.held(ledger, shown)
            problems += lacks
        outside = _outside(ledger, now.logged, problems)
        changes = settings_changes(ledger)
        head = next((row.chain for row in ledger.records(recorded, recorded)), GENESIS)
    streams = dict[str, str]()
    if votes is not None and ((logged.votes and not now.copy) or votes.exists()):
        with _noted(problems):
            _votes(ledger, votes, logged, streams, problems)
    checkpoints: list[Extension] = []
    with _noted(problems):
        if kept:
            checkpoints, rewritten = held_against(kept, origin(ledger), ledger, logged)
            problems += rewritten
    return Report(
        matches=recorded,
        exchanges=findings.exchanges,
        bytes=findings.hashed + sum([len(text.encode()) for text in (now.texts or {}).values()]),
        head=head.hex(),
        problems=tuple([Problem(*problem) for problem in sorted(problems, key=_place)]),
        streams=streams,
        log_root=log_root(logged.leaves) if replies else "",
        copy=now.copy,
        ended=logged.in_play is not None,
        changes=changes,
        outside=outside,
        checkpoints=tuple(checkpoints),
        media=held_media,
    )


def _finished(
    ledger: Ledger,
    recomputed: Recomputed,
    now: _Now,
    problems: list[Found],
    helpers: Helpers | None,
    workers: int,
    *,
    replies: bool,
) -> Findings:
    """Return what the finished matches come to; what is wrong with them, with what follows from them, or with
    the database is added to `problems`. Raises LedgerError."""
    try:
        whole = helpers.submit(integrity, ledger.address) if helpers and replies else None
        walk = _EntryWalk(_parts(ledger, now.recorded, helpers, workers, replies=replies), now.logged)
        with without_collector():
            follows = _follows(ledger, recomputed, walk.matches(), now.recorded, now.logged)
        if walk.broken is not None:
            raise walk.broken
        if replies:
            with _noted(problems):
                stated = whole.result() if whole else ledger.integrity()
                problems[:0] = [(None, what) for what in stated]
    except Lost as error:
        raise LedgerError(f"{error}; what it was to check is not checked. Verify again") from None
    problems += walk.findings.problems or follows
    return walk.findings


def _place(problem: Found) -> tuple[bool, int]:
    return problem[0] is None, problem[0] or 0


def _votes(
    ledger: Ledger, votes: PeopleVotes, logged: Logged, streams: dict[str, str], problems: list[Found]
) -> None:
    """Add the head of the chain of votes to `streams`, and what is wrong with them to `problems`."""
    if votes.exists():
        problems += [(None, what) for what in votes.integrity()]
    given = list(votes.rows())
    streams[STREAM] = (given[-1].chain if given else stream_genesis(STREAM)).hex()
    broken = [*stream([(row.sequence, row.body, row.chain) for row in given], STREAM)]
    problems += broken or held_votes([row.chain for row in given], logged)
    problems += _uncited(ledger, votes)
    problems += [
        (None, f"amendment {at} of {STREAM} is filed under another voter, match or time")
        for at in votes.misfiled()
    ]


class _Now(msgspec.Struct):
    """The parts of a ledger without the finished matches, at one moment: `problems` of its log and its texts,
    which are None where they cannot be read, and those `beside`; `needed` are the texts to which matches in
    play refer, `media` the pictures and sounds that these show."""

    issued: int
    recorded: int
    copy: bool
    logged: Logged = msgspec.field(default_factory=Logged)
    texts: dict[bytes, str] | None = None
    needed: dict[bytes, int] = {}
    media: dict[str, int] = {}
    problems: list[Found] = []
    beside: list[Found] = []


def _now(ledger: Ledger) -> _Now:
    now = _Now(*ledger.heads(), COPY in ledger.meta())
    with _noted(now.problems):
        now.logged = read_log(ledger)
        now.problems += now.logged.problems
    with _noted(now.problems):
        now.texts = ledger.texts()
    with _noted(now.beside):
        in_play = _in_play(ledger, now)
        now.beside += in_play
        now.beside += facts(ledger, now.logged)
        if not in_play:
            now.beside += play(ledger, now.recorded, now.logged)
        now.beside += amendments(ledger, now.logged)
    return now


def _strange(ledger: Ledger, issued: int) -> list[Found]:
    problem = "its key does not follow from the arena's secret: somebody chose what it drew"
    try:
        return [(number, problem) for number in strange_keys(ledger, issued)]
    except (msgspec.MsgspecError, ValueError) as error:
        return [(None, f"the keys of matches cannot be checked: {error}")]


def _parts(
    ledger: Ledger, recorded: int, helpers: Helpers | None, workers: int, *, replies: bool
) -> Iterator[Findings]:
    """Yield what the finished matches come to, in order, some at a time. Raises LedgerError."""
    if helpers is None:
        yield from audited_in_parts(ledger, 1, recorded, replies=replies)
        return
    each = max(1, min(AT_ONCE, -(-recorded // workers)))
    spans = [(first, min(first + each - 1, recorded)) for first in range(1, recorded + 1, each)]
    for part in in_order(helpers, audited, [(ledger.address, *span, replies) for span in spans]):
        yield msgspec.msgpack.decode(part, type=Findings)


class _EntryWalk:
    """The walk over the `parts` of an audit: its `findings` but for matches that are as they were logged, and
    the error by which it was `broken` off."""

    def __init__(self, parts: Iterator[Findings], logged: Logged) -> None:
        self.findings = Findings()
        self.broken: LedgerError | None = None
        self._parts = parts
        self._logged = logged

    def matches(self) -> Iterator[Walked]:
        """The matches on the way, to be taken once."""
        try:
            for part in self._parts:
                matches, part.matches = part.matches, []
                self.findings.add(part)
                agreed(self.findings.digests, self._logged)
                yield from matches
        except LedgerError as error:
            self.broken = error


def _follows(
    ledger: Ledger, recomputed: Recomputed, matches: Iterator[Walked], recorded: int, logged: Logged
) -> list[Found]:
    """Return what does not follow from the records; the walk goes on to its end whatever comes."""
    try:
        return [*recomputed(ledger, matches, recorded, logged.snapshots)]
    except (LedgerError, msgspec.MsgspecError, ArithmeticError, ValueError, KeyError, IndexError) as error:
        return [(None, f"the ratings cannot be computed again: {error}")]
    finally:
        deque(matches, maxlen=0)


@contextmanager
def _noted(problems: list[Found]) -> Iterator[None]:
    try:
        yield
    except LedgerError as error:
        problems.append((None, str(error)))


def _in_play(ledger: Ledger, now: _Now) -> list[Found]:
    """Return what is wrong with issued matches not on record, of which a copy for others has none; note what
    they need."""
    recorded, issued, texts = now.recorded, now.issued, now.needed
    problems: list[Found] = []
    numbers: list[int] = []
    for issue in ledger.fixtures(recorded + 1):
        numbers.append(issue.number)
        try:
            stated = read_issued(issue.body)
            changed = (stated.number, stated.round) != (issue.number, issue.round)
        except msgspec.MsgspecError:
            changed = True
        if changed or checksum(issue.body) != issue.checksum:
            problems.append((issue.number, "its fixture changed"))
        else:
            for digest in fixture_texts(issue.body):
                texts.setdefault(digest, issue.number)
            for shown in digests_in(issue.body):
                now.media.setdefault(shown, issue.number)
    answered: set[tuple[int, str]] = set()
    for row in ledger.exchanges(recorded + 1):
        if row.match > max(issued, *numbers, 0):
            problems.append((row.match, f"request {row.key} is of a match that was never issued"))
        problems += [(row.match, what) for what in altered(row)]
        if row.reply is not None and (row.match, row.key) in answered:
            problems.append((row.match, f"{row.key} is answered twice"))
        if row.reply is not None:
            answered.add((row.match, row.key))
        for digest in texts_of(row.request):
            texts.setdefault(digest, row.match)
        for shown in digests_in(row.request):
            now.media.setdefault(shown, row.match)
    due = ledger.numbers(recorded + 1, max(issued, *numbers, 0))
    if now.copy and not numbers:
        return problems
    if not isinstance(due, range):  # matches were folded past others
        missing = sorted({*due}.difference(numbers))
        return problems + [(number, "its fixture is missing") for number in missing]
    for before, number in pairwise([recorded, *numbers]):
        if number == before + 2:
            problems.append((before + 1, "its fixture is missing"))
        elif number > before + 2:
            problems.append((before + 1, f"its fixture is missing, and all up to match {number - 1}"))
    return problems


def _texts(known: dict[bytes, str], needed: dict[bytes, int]) -> list[Found]:
    problems = [
        (needed.get(digest.hex().encode()), f"text {digest.hex()} changed")
        for digest, text in known.items()
        if sha256(text.encode()).digest() != digest
    ]
    there = {digest.hex().encode() for digest in known}
    problems += [
        (match, f"text {digest.decode(errors='replace')}, to which it refers, is missing")
        for digest, match in needed.items()
        if digest not in there
    ]
    return problems


def _outside(ledger: Ledger, logged: Logged, problems: list[Found]) -> dict[str, int]:
    """Return outside results by file name; what is wrong with them joins `problems`. Raises LedgerError."""
    # What was imported after the log was read is none of it.
    rows = [row for row in ledger.amendments("outside") if row.position <= logged.length]
    if not rows:
        return {}
    from peerage.ledger.topics import outside

    altered = {row.position for row in rows if not as_logged(row, logged)}
    problems += [(None, what) for what in outside.problems(rows, altered)]
    files = Counter[str]()
    for source, data in outside.read(ledger):
        files[source.name] += sum(outside.counts(source, data).values())
    return files


def _uncited(ledger: Ledger, votes: PeopleVotes) -> list[Found]:
    """Votes that cite a record other than the one that stands."""
    cited = {(vote.match, vote.record) for vote in votes.votes()}
    problems: list[Found] = []
    for match, record in sorted(cited):
        rows = ledger.match(match, exchanges=False)
        if rows is None or rows.record is None or digest_of(rows.record.body) != record:
            problems.append((match, "votes were given on a record that is not this one"))
    return problems
