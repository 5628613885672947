"""The log compared with the rows of the ledger: the part of `verify` without digests and roots."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

from msgspec import MsgspecError, Struct, field

from peerage.ledger.check.audit import altered
from peerage.ledger.forms.log import GENESIS, WAITS, entry_leaf, linked, of_amendment, of_play
from peerage.ledger.forms.merkle import link, stream_genesis
from peerage.ledger.forms.rows import COPY, UNLOGGED, Amendment
from peerage.ledger.ledger import Ledger
from peerage.ledger.topics.waits import read_wait
from peerage.values.figures import counted

Found = tuple[int | None, str]
"""(match or None, what is wrong)."""


class Logged(Struct):
    """The newest digest of each thing that the log is about. `leaves` are those of all entries, and `firsts`
    the positions at which matches entered the log. `in_play` is the entry that holds what is in play, where
    it is the last; `records` map each match to its digest. `amendments` are topic and digest by position.
    `read` is whether the log could be read to its end."""

    read: bool = False
    length: int = 0
    head: bytes = GENESIS
    leaves: list[bytes] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    in_play: tuple[int, bytes] | None = None
    records: dict[int, bytes] = field(default_factory=dict)
    snapshots: dict[int, bytes] = field(default_factory=dict)
    facts: dict[str, bytes] = field(default_factory=dict)
    amendments: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    votes: dict[int, bytes] = field(default_factory=dict)
    problems: list[Found] = field(default_factory=list)


def hold_replies(ledger: Ledger) -> None:
    """Raise LedgerError where a request or a reply of a finished match is not as it was logged."""
    _, recorded = ledger.heads()
    deque(ledger.attempts(1, recorded), maxlen=0)


def read_log(ledger: Ledger) -> Logged:
    """Read the log of a ledger, and find faults in its chain and in the order of matches."""
    logged, left, due = Logged(), set[int](), 1
    waited = dict(_waited(ledger))
    for entry in ledger.log():
        logged.length += 1
        logged.leaves.append(entry_leaf(entry.position, entry.about, entry.digest))
        if entry.position != logged.length:
            logged.problems.append((None, f"entry {logged.length} of the log is missing"))
            logged.length = entry.position
        elif linked(logged.head, entry.about, entry.digest) != entry.chain:
            logged.problems.append((None, f"entry {entry.position} of the log changed"))
        logged.head = entry.chain
        logged.in_play = None
        kind, _, what = entry.about.rpartition(" ")
        if entry.about.startswith("fact "):
            logged.facts[entry.about.removeprefix("fact ")] = entry.digest
        elif not kind:
            logged.amendments[entry.position] = entry.about, entry.digest
            match = waited.get(entry.position)
            if match in logged.records:
                problem = f"it left its round at position {entry.position}, and was folded before"
                logged.problems.append((match, problem))
            elif match is not None:
                left.add(match)
        elif not what.isdecimal():
            logged.problems.append((None, f"entry {entry.position} of the log is about {entry.about!r}"))
        elif kind == "record":
            if int(what) not in logged.records:
                while due in left:
                    due += 1
                if int(what) not in left:
                    if int(what) != due:
                        problem = f"it entered the log in place of match {due}, at position {entry.position}"
                        logged.problems.append((int(what), problem))
                    due = int(what) + 1
                logged.firsts.append(entry.position)
            logged.records[int(what)] = entry.digest
        elif kind == "snapshot":
            logged.snapshots[int(what)] = entry.digest
        elif kind == "votes":
            if logged.votes.setdefault(int(what), entry.digest) != entry.digest:
                logged.problems.append((None, f"the votes up to {what} were logged twice, and differ"))
        elif kind == "in play":
            logged.in_play = int(what), entry.digest
    logged.read = True
    return logged


def _waited(ledger: Ledger) -> Iterator[tuple[int, int]]:
    """Position and match of each entry about a match that waits."""
    for row in ledger.amendments(WAITS):
        with suppress(MsgspecError):
            yield row.position, read_wait(row.body).match


def facts(ledger: Ledger, logged: Logged) -> Iterator[Found]:
    """Facts that are not as they were logged."""
    meta = {key: value for key, value in ledger.meta().items() if key not in UNLOGGED}
    if not logged.length:
        if logged.read and (meta or ledger.topics() or ledger.heads()[0]):
            yield None, "the whole log is missing"
        return
    for key in sorted(meta.keys() | logged.facts.keys()):
        if key not in meta:
            yield None, f"the fact {key!r} is missing in the table meta"
        elif logged.facts.get(key) != sha256(meta[key].encode()).digest():
            yield None, f"the fact {key!r} in the table meta is not as it was logged"


def amendments(ledger: Ledger, logged: Logged) -> Iterator[Found]:
    """Amendments that are not as they were logged."""
    if not logged.length:
        return
    there = {row.position: row for row in ledger.amendments()}
    for at in sorted(there.keys() | logged.amendments.keys()):
        if at not in there:
            yield None, f"entry {at} of the log, about {logged.amendments[at][0]}, is missing"
        elif not as_logged(there[at], logged):
            yield None, f"entry {at} of the log, about {there[at].topic}, is not as it was logged"


def as_logged(row: Amendment, logged: Logged) -> bool:
    """Return whether an amendment is as it was logged."""
    return logged.amendments.get(row.position) == (row.topic, of_amendment(row.at_ms, row.body))


def stream(rows: Iterable[tuple[int, bytes, bytes]], name: str) -> Iterator[Found]:
    """Yield the faults of a separate chain, of rows (sequence, body, chain) in order."""
    chain = stream_genesis(name)
    for due, (sequence, body, linked_) in enumerate(rows, 1):
        if sequence != due:
            yield None, f"amendment {due} of {name} is missing"
            return
        if link(chain, body) != linked_:
            yield None, f"amendment {due} of {name} changed"
        chain = linked_


def votes(there: Sequence[bytes], logged: Logged) -> Iterator[Found]:
    """Votes bound by the log that are not as they were; `there` are the chain values there are, in order."""
    for number, due in logged.votes.items():
        if number > len(there):
            yield (
                None,
                f"the log holds {counted(number, 'vote')} of the audience, and {len(there)} are there: "
                "arena.votes.db was changed, or not copied along",
            )
        elif number and there[number - 1] != due:
            yield None, f"the first {number} votes of the audience are not as they were logged"


def agreed(digests: dict[int, bytes], logged: Logged) -> None:
    """Drop the digests of `digests` matches that are as they were logged, of which a long arena has many."""
    for number, digest in [*digests.items()]:
        if logged.records.get(number) == digest:
            del digests[number], logged.records[number]


def records(
    ledger: Ledger, digests: Mapping[int, bytes], logged: Logged, reported: Container[int | None], last: int
) -> Iterator[Found]:
    """Yield the matches up to `last` whose `digests` differ from the log and that are not `reported` yet."""
    differ = any(logged.records.get(number) != digest for number, digest in digests.items())
    # Of some a failure may have been logged since the log was read.
    since = (
        {(row.about, row.digest) for row in ledger.log() if row.position > logged.length} if differ else ()
    )
    for number, digest in digests.items():
        if number not in logged.records:
            yield number, "it is not in the log"
        elif logged.records[number] != digest and (f"record {number}", digest) not in since:
            place = ledger.place(number)
            changed = [what for row in ledger.exchanges(place, place) for what in altered(row)]
            usual = "record, attempts, costs, times or failures of it are not as they were logged"
            yield from [(number, what) for what in changed or [usual]]
    for number in sorted(logged.records.keys() - digests.keys()):
        if number <= last and number not in reported:
            yield number, "it was logged, and it is not there"


def in_play(ledger: Ledger, recorded: int, logged: Logged) -> Iterator[Found]:
    """Yield the matches in play that changed since the last run ended."""
    if logged.in_play is None or COPY in ledger.meta():
        return
    number, due = logged.in_play
    if number == recorded and of_play(ledger.fixtures(number + 1), ledger.exchanges(number + 1)) != due:
        yield None, f"what is in play after match {number} is not as it was when the last run ended"
