"""The log: one chain over all that is written except matches in play, in the order of writing. Pure.

An entry says what it is about and gives a digest of it. Its chain value is SHA-256 of 0x04, the chain value
before it (32 zero bytes before the first), the digest, and what it is about as UTF-8:

    record N      a finished match: its link in the chain of records, and the rows next to its bodies, which
                  are attempts, costs, times, failures
    TOPIC         an amendment: somebody benched, a player registered, a challenge withdrawn, and so on
    narrow N      the rows of the narrow table of the first N matches folded, in that order
    snapshot N    the bytes of the rating snapshot after N matches
    fact KEY      a fact of the arena
    votes N       the first N votes of the audience: the chain value of the last of them
    run N         somebody begins to write when N matches are folded; the digest is of nothing
    in play N     every row of matches not folded when N were: written when a run has ended, and holds while
                  it is the last

The last entry about a thing counts. The root of the log is that of a Merkle tree over all its entries
(`entry_leaf`): anyone who keeps it can tell later whether a ledger goes on from there. Digests are SHA-256:
of a snapshot's bytes, of a fact as UTF-8, of rows as JSON without blanks, bytes in it as base64.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import Any

import msgspec

from peerage.ledger.forms.merkle import leaves, match_root, root
from peerage.ledger.forms.rows import Attempts, Entry, Exchange, FixtureRow
from peerage.values.sealing import committed

WAITS = "waits"
"""The topic of what waits (`ledger.topics.waits`); by it the order of the log becomes that of matches."""
GENESIS = bytes(32)

Row = Sequence[Any]


def extended(
    position: int, chain: bytes, entries: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[int, str, bytes, bytes]]:
    """The rows that continue a log whose last entry stands at `position`: what each is about, its digest."""
    for about, digest in entries:
        position += 1
        chain = linked(chain, about, digest)
        yield position, about, digest, chain


def facts_in(log: Iterable[Entry], facts: Mapping[str, str]) -> dict[str, str]:
    """Return those of the facts of an arena that are as a log has them: others came after it."""
    logged = {entry.about: entry.digest for entry in log if entry.about.startswith("fact ")}
    held = {key: sha256(value.encode()).digest() for key, value in facts.items()}
    return {key: value for key, value in facts.items() if logged.get(f"fact {key}") == held[key]}


def finished(about: str) -> int:
    """The match whose record an entry is about, 0 for one about something else."""
    kind, _, number = about.partition(" ")
    return int(number) if kind == "record" and number.isdecimal() and len(number) < 16 else 0


def linked(before: bytes, about: str, digest: bytes) -> bytes:
    """The chain value of an entry."""
    return sha256(b"\x04" + before + digest + about.encode()).digest()


def entry_text(position: int, about: str, digest: bytes) -> str:
    """Return what the leaf of an entry is of: its position in decimal, its digest in hex and what it is
    about, a blank between them."""
    return f"{position} {digest.hex()} {about}"


def entry_leaf(position: int, about: str, digest: bytes) -> bytes:
    """The leaf of an entry in the tree of the log: SHA-256 of 0x00 and its text as UTF-8."""
    return sha256(b"\x00" + entry_text(position, about, digest).encode()).digest()


def log_root(leaves: Sequence[bytes]) -> str:
    """The root of a log of entries with these leaves, as it is kept: SIZE:ROOT; empty for one of none."""
    return f"{len(leaves)}:{root(leaves).hex()}" if leaves else ""


def digest(value: object) -> bytes:
    """The digest of rows."""
    return sha256(msgspec.json.encode(value)).digest()


class Rolling:
    """The digest of a table that grows: SHA-256 of its rows, each ended by a line feed."""

    def __init__(self) -> None:
        self.rows = 0
        self._state = sha256()

    def add(self, rows: Sequence[Row]) -> None:
        """Take in further rows, in order."""
        self.rows += len(rows)
        self._state.update(_encoder.encode_lines(rows))

    def digest(self) -> bytes:
        return self._state.digest()


_encoder = msgspec.json.Encoder()
_encode = _encoder.encode


_columns = attrgetter(
    "id",
    "key",
    "attempt",
    "player",
    "worst_nano",
    "checksum",
    "reply_id",
    "cost_nano",
    "at_ms",
    "latency_ms",
    "reply_checksum",
    "failure",
)


def of_amendment(at_ms: int, body: bytes) -> bytes:
    """The digest of an amendment: SHA-256 of its time in decimal, a blank, and its body, sealed values as
    their commitments."""
    return sha256(b"%d %b" % (at_ms, committed(body))).digest()


def root_of(attempts: Attempts) -> str:
    """The root of a match (`merkle.match_root`), whose attempts, all answered, these are."""
    replies = [reply or b"" for reply in attempts.reply]
    digests = leaves(attempts.key, attempts.player, attempts.request, replies)
    return match_root(dict(zip(attempts.key, digests, strict=True)))


def record_rows(at_ms: int, chain: bytes, attempts: Attempts) -> bytes:
    """Return what the digest of a finished match is over, as JSON: its time, its link in the chain of
    records, which holds every reply, its attempts and failures. `attempts` are in order of writing.

    Requests that nobody answered have no leaf, so their bodies are here.
    """
    named = zip(attempts.key, attempts.attempt, attempts.failure, strict=True)
    failures = [(key, attempt, *failure[1:]) for key, attempt, failure in named if failure is not None]
    asked = zip(attempts.request, attempts.reply, strict=True)
    unanswered = [committed(request) for request, reply in asked if reply is None]
    return _encode((at_ms, chain, [*zip(*_SAID(attempts), strict=True)], failures, unanswered))


def of_record(at_ms: int, chain: bytes, attempts: Attempts) -> bytes:
    """The digest of a finished match: of its `record_rows`."""
    return sha256(record_rows(at_ms, chain, attempts)).digest()


_SAID = attrgetter(
    "key",
    "attempt",
    "player",
    "worst_nano",
    "checksum",
    "cost_nano",
    "at_ms",
    "latency_ms",
    "reply_checksum",
)


def of_play(fixtures: Iterable[FixtureRow], attempts: Iterable[Exchange]) -> bytes:
    """The digest of all that is there of matches in play."""
    issued = [(row.number, row.round, row.checksum, row.body) for row in fixtures]
    rows = [(row.match, *_columns(row), row.request, row.reply) for row in attempts]
    return digest((issued, rows))
