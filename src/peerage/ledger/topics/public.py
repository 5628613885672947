"""What people outside say of a tournament's answers: amendments on a topic of their own.

A person scores a sample of answers on an exported page (`site.people.score_page`) and sends back what it
saved. Each file becomes one amendment that cites the digest of the record it judges, so it counts only for
what was seen. Peer scores never change by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from peerage.ledger.forms.rows import Amendment, Batch, LedgerError
from peerage.ledger.ledger import Ledger

TOPIC = "public"

Points = Annotated[float, Meta(ge=0, le=10)]
_Name = Annotated[str, Meta(min_length=1, max_length=100)]


class Opinion(Struct, frozen=True, forbid_unknown_fields=True):
    """One person's scores, from 0 to 10, for some answers of a finished match.

    `record` is the SHA-256 of the match's record, in hex; `scores` maps answers, by their id on record, to
    points. `voter` is a random word that the page drew: it tells people apart and nothing else.
    """

    match: Annotated[int, Meta(ge=1)]
    record: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    voter: _Name
    scores: Annotated[Mapping[_Name, Points], Meta(min_length=1, max_length=1_000)]


_read = msgspec.json.Decoder(Opinion).decode


def read_opinion(body: bytes) -> Opinion:
    """Raises msgspec.MsgspecError, which tells what is not as expected."""
    return _read(body)


def opinions(ledger: Ledger) -> Iterator[Opinion]:
    """All opinions, in the order in which they were entered. Raises LedgerError for a row that holds none."""
    for row in ledger.amendments(TOPIC):
        try:
            yield read_opinion(row.body)
        except msgspec.MsgspecError as error:
            raise LedgerError(f"entry {row.position} of the log is no opinion: {error}") from error


def enter(ledger: Ledger, opinion: Opinion, at_ms: int) -> bool:
    """Write an opinion down; False, and nothing happens, when this voter has judged this record before.

    The caller holds the runner's lock and has seen to it that record and answers are there. Raises
    LedgerError.
    """
    if any((one.record, one.voter) == (opinion.record, opinion.voter) for one in opinions(ledger)):
        return False
    body = msgspec.json.encode(opinion, order="sorted")
    ledger.write(Batch(amendments=[Amendment(TOPIC, body, at_ms)]))
    return True
