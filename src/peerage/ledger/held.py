"""What the log holds, against what the ledger says: the part of `verify` beside digests and roots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct, field

from peerage.ledger.log import GENESIS, digest, entry_leaf, linked, of_play
from peerage.ledger.secret import STREAM
from peerage.ledger.store import Ledger

FACTS = ("rating", "window", "lag")
"""The facts that are written down together when an arena first plays."""

Found = tuple[int | None, str]
"""(match or None, what is wrong)."""

FAR = -(2**62)


class Logged(Struct):
    """The newest digest of each thing that the log is about.

    `leaves` are those of all entries, and `firsts` the positions at which matches entered the log.
    `upgraded` is the match until which it was written afterwards, None where it goes back to the beginning;
    `in_play` the entry that holds what is in play, where it is the last; `matches` maps each to its digest.
    """

    length: int = 0
    head: bytes = GENESIS
    leaves: list[bytes] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    upgraded: int | None = None
    in_play: tuple[int, bytes] | None = None
    matches: dict[int, bytes] = field(default_factory=dict)
    snapshots: dict[int, bytes] = field(default_factory=dict)
    facts: dict[str, bytes] = field(default_factory=dict)
    amendments: dict[int, bytes] = field(default_factory=dict)
    votes: dict[int, bytes] = field(default_factory=dict)
    problems: list[Found] = field(default_factory=list)


def read_log(ledger: Ledger) -> Logged:
    """The log of a ledger, with what is wrong with its chain."""
    found = Logged()
    for entry in ledger.log():
        found.length += 1
        found.leaves.append(entry_leaf(entry.position, entry.about, entry.digest))
        if entry.position != found.length:
            found.problems.append((None, f"entry {found.length} of the log is missing"))
            found.length = entry.position
        elif linked(found.head, entry.about, entry.digest) != entry.chain:
            found.problems.append((None, f"entry {entry.position} of the log changed"))
        found.head = entry.chain
        found.in_play = None
        kind, _, what = entry.about.rpartition(" ")
        if entry.about.startswith("fact "):
            found.facts[entry.about.removeprefix("fact ")] = entry.digest
        elif not what.isdecimal():
            found.problems.append((None, f"entry {entry.position} of the log is about {entry.about!r}"))
        elif kind == "match":
            if int(what) not in found.matches:
                if int(what) != len(found.firsts) + 1:
                    told = (
                        f"it entered the log as number {len(found.firsts) + 1}, at position {entry.position}"
                    )
                    found.problems.append((int(what), told))
                found.firsts.append(entry.position)
            found.matches[int(what)] = entry.digest
        elif kind == "snapshot":
            found.snapshots[int(what)] = entry.digest
        elif kind == "amendment":
            found.amendments[int(what)] = entry.digest
        elif kind == "votes":
            if found.votes.setdefault(int(what), entry.digest) != entry.digest:
                found.problems.append((None, f"the votes up to {what} were logged twice, and differ"))
        elif kind == "in play":
            found.in_play = int(what), entry.digest
        elif kind == "upgrade":
            found.upgraded = int(what)
    return found


def facts(ledger: Ledger, logged: Logged) -> Iterator[Found]:
    """Facts that are not as they were logged."""
    meta = {key: value for key, value in ledger.meta().items() if key != "schema"}
    if logged.length:
        for key in sorted(meta.keys() | logged.facts.keys()):
            if key not in meta:
                yield None, f"the fact {key!r} is missing in the table meta"
            elif logged.facts.get(key) != sha256(meta[key].encode()).digest():
                yield None, f"the fact {key!r} in the table meta is not as it was logged"
    elif not meta.keys().isdisjoint(FACTS):
        for key in FACTS:
            if key not in meta:
                yield None, f"the fact {key!r} is missing in the table meta"


def amendments(ledger: Ledger, logged: Logged) -> Iterator[Found]:
    """Amendments whose number or time changed; their bodies are held by the chain of their stream.

    Version 0.1.0, whose ledgers alone have no log, knew no secret of the arena.
    """
    if not logged.length:
        if STREAM in ledger.streams():
            yield None, "the whole log is missing, which every ledger with a secret has"
        return
    there = {row[0]: row for row in ledger.filed()}
    for at in sorted(there.keys() | logged.amendments.keys()):
        if at not in there:
            yield None, f"row {at} of the amendments is missing"
        elif logged.amendments.get(at) != digest(there[at]):
            yield None, f"number, stream or time of row {at} of the amendments is not as it was logged"


def votes(there: Sequence[bytes], logged: Logged) -> Iterator[Found]:
    """Votes that were bound by the log and are not as they were; `there` are the chain values of those there
    are, in order."""
    for number, due in logged.votes.items():
        if number > len(there):
            yield (
                None,
                f"the log holds {number} votes of the audience, and {len(there)} are there: arena.votes.db "
                "was changed, or not copied along",
            )
        elif number and there[number - 1] != due:
            yield None, f"the first {number} votes of the audience are not as they were logged"


def matches(found: Mapping[int, bytes], logged: Mapping[int, bytes], last: int) -> Iterator[Found]:
    """Matches up to `last` whose rows beside the bodies are not as they were logged."""
    for number, what in found.items():
        if number not in logged:
            yield number, "it is not in the log"
        elif logged[number] != what:
            yield (
                number,
                "attempts, costs, times, failures or checksums of it are not as they were logged",
            )
    for number in sorted(logged.keys() - found.keys()):
        if number <= last:
            yield number, "it was logged, and it is not there"


def in_play(ledger: Ledger, recorded: int, logged: Logged) -> Iterator[Found]:
    """What is in play and not as it was when the last run ended."""
    if logged.in_play is None:
        return
    number, due = logged.in_play
    if number == recorded and of_play(ledger.issued(number + 1), ledger.attempts(number + 1)) != due:
        ended = next((one.chain for one in ledger.log() if one.position > logged.length), None)
        if ended is None:  # no run has begun meanwhile
            yield None, f"what is in play after match {number} is not as it was when the last run ended"


def strays(ledger: Ledger) -> Iterator[Found]:
    """Rows of matches that there cannot be."""
    for what, rows in (
        ("fixture", ledger.fixtures(FAR, 0)),
        ("record", ledger.records(FAR, 0)),
        ("row of the narrow table", ledger.summaries(FAR, 0)),
    ):
        for row in rows:
            yield None, f"there is a {what} of a match {row.number}; they count from 1"
