"""Whether a ledger is whole: every digest, root and chain recomputed from the stored bytes.

What is on record (fixtures, requests, replies, records, texts, amendments) is held by SHA-256: texts by
their own digest, fixtures and exchanges by the record of their match, records by the chain. What no
record holds yet (matches in play, attempts that were lost) is held by its checksum, which finds
accidents, not forgers. A chain cannot show that its end was cut off, nor that all of it was written anew:
for that, compare `head` with one that was published.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise, zip_longest

import msgspec

from peerage.ledger.audit import Findings, audit
from peerage.ledger.merkle import GENESIS, link, stream_genesis
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.secret import strange_keys
from peerage.ledger.store import Amendment, Ledger, LedgerError
from peerage.ledger.votes import STREAM, Votes

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
    """What was checked: finished matches, their answered exchanges, bytes of bodies hashed.

    `head` is the chain value of the last record, in hex; `streams` the same of every stream of amendments.
    """

    matches: int
    exchanges: int
    bytes: int
    head: str
    problems: tuple[Problem, ...]
    streams: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(ledger: Ledger, workers: int | None = None, votes: Votes | None = None) -> Report:
    """Check a whole ledger and the `votes` on it, in `workers` processes (by default as many as it is worth).

    A running arena may go on writing meanwhile; what was finished at the start is checked. Raises
    LedgerError when the ledger cannot be read at all.
    """
    issued, recorded = ledger.heads()
    if workers is None:
        workers = min(os.cpu_count() or 1, 1 + recorded // PARALLEL_FROM)
    cuts = [recorded * part // workers for part in range(workers + 1)]
    spans = [(before + 1, cut) for before, cut in pairwise(cuts) if before < cut]
    problems: list[Problem] = []
    known: dict[bytes, str] | None = None
    with ExitStack() as stack:
        helpers = [_start(stack, ledger, *span) for span in spans] if len(spans) > 1 else []
        with _noted(problems):
            known = ledger.texts()
        found = Findings()
        for span, helper in zip_longest(spans, helpers):
            found.add(audit(ledger, *span) if helper is None else _finish(helper, span))
    problems += [Problem(match, what) for match, what in found.problems]
    problems += _texts(known, found.texts) if known is not None else []
    head = GENESIS
    streams: dict[str, str] = {}
    with _noted(problems):
        problems += _in_play(ledger, recorded, issued)
        problems += _without_record(ledger, recorded)
        problems += [
            Problem(number, "its key does not follow from the arena's secret: somebody chose what it drew")
            for number in strange_keys(ledger, issued)
        ]
        for stream in ledger.streams():
            problems += _amendments(ledger.amendments(stream), stream, streams)
        head = next((row.chain for row in ledger.records(recorded, recorded)), GENESIS)
    if votes is not None and votes.path.exists():
        with _noted(problems):
            problems += _amendments(votes.amendments(), STREAM, streams)
            problems += _uncited(ledger, votes)
            problems += [
                Problem(None, f"amendment {at} of {STREAM} is filed under another voter or match")
                for at in votes.misfiled()
            ]
    return Report(
        recorded,
        found.exchanges,
        found.hashed + sum([len(text.encode()) for text in (known or {}).values()]),
        head.hex(),
        tuple(sorted(problems, key=lambda problem: (problem.match is None, problem.match or 0))),
        streams,
    )


def _start(stack: ExitStack, ledger: Ledger, first: int, last: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "peerage.ledger.audit", ledger.address, str(first), str(last)]
    helper = stack.enter_context(
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    )
    stack.callback(helper.kill)
    return helper


def _finish(helper: subprocess.Popen[bytes], span: tuple[int, int]) -> Findings:
    said, complaint = helper.communicate()
    if helper.returncode:
        raise LedgerError(
            f"the process that checked matches {span[0]} to {span[1]} failed: "
            f"{complaint.decode(errors='replace').strip()[-500:]}"
        )
    return msgspec.msgpack.decode(said, type=Findings)


@contextmanager
def _noted(problems: list[Problem]) -> Iterator[None]:
    try:
        yield
    except LedgerError as error:
        problems.append(Problem(None, str(error)))


def _in_play(ledger: Ledger, recorded: int, issued: int) -> list[Problem]:
    """What is issued and not on record yet, by its checksums."""
    problems = [
        Problem(match, "its fixture changed" if what == "fixture" else f"{what} changed")
        for match, what in ledger.damaged(recorded + 1)
        if match <= issued
    ]
    there = [recorded, *sorted({row.number for row in ledger.fixtures(recorded + 1, issued)})]
    for before, number in pairwise(there):
        if number == before + 2:
            problems.append(Problem(before + 1, "its fixture is missing"))
        elif number > before + 2:
            problems.append(Problem(before + 1, f"its fixture is missing, and all up to match {number - 1}"))
    return problems


def _without_record(ledger: Ledger, recorded: int) -> list[Problem]:
    """Rows of the narrow table that no record stands behind; tables would count them."""
    rows = [row.number for row in ledger.summaries(recorded + 1)]
    # Read after them: a run may have finished these matches meanwhile, and both are written at once.
    there = {row.number for row in ledger.records(recorded + 1)} if rows else set()
    return [
        Problem(number, "the narrow table has a row for it, and there is no record")
        for number in rows
        if number not in there
    ]


def _texts(known: dict[bytes, str], needed: dict[bytes, int]) -> list[Problem]:
    problems = [
        Problem(needed.get(digest.hex().encode()), f"text {digest.hex()} changed")
        for digest, text in known.items()
        if sha256(text.encode()).digest() != digest
    ]
    there = {digest.hex().encode() for digest in known}
    problems += [
        Problem(match, f"text {digest.decode(errors='replace')}, to which it refers, is missing")
        for digest, match in needed.items()
        if digest not in there
    ]
    return problems


def _amendments(rows: Iterable[Amendment], stream: str, heads: dict[str, str]) -> list[Problem]:
    """Check one stream; its last chain value goes into `heads`."""
    problems: list[Problem] = []
    rows = list(rows)
    chain = stream_genesis(stream)
    for due, row in enumerate(rows, start=1):
        if row.sequence != due:
            problems.append(Problem(None, f"amendment {due} of {stream} is missing"))
            break
        if link(chain, row.body) != row.chain:
            problems.append(Problem(None, f"amendment {due} of {stream} changed"))
        chain = row.chain
    heads[stream] = chain.hex()
    if stream == "outside" and not problems:
        from peerage.ledger import outside  # reads with NumPy, which few ledgers need

        problems += [Problem(None, what) for what in outside.problems(rows)]
    return problems


def _uncited(ledger: Ledger, votes: Votes) -> list[Problem]:
    """Votes that cite a record other than the one that stands."""
    cited = {(vote.match, vote.record) for vote in votes.votes()}
    return [
        Problem(match, "votes were given on a record that is not this one")
        for match, record in sorted(cited)
        if not any(digest_of(row.body) == record for row in ledger.records(match, match))
    ]
