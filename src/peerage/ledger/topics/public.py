"""Opinions of people outside on a tournament's answers: amendments on a topic of their own.

A person scores a sample of answers on an exported page (`site.people.score_page`) and sends back what it
saved. Each file becomes one amendment that cites the digest of the record it judges, so it counts only for
what was seen. Peer scores never change by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from peerage.ledger.ledger import Ledger, amend, amended

TOPIC = "public"

Points = Annotated[float, Meta(ge=0, le=10)]
_Name = Annotated[str, Meta(min_length=1, max_length=100)]


class Opinion(Struct, frozen=True, forbid_unknown_fields=True):
    """One person's scores, from 0 to 10, for some answers of a finished match. `record` is the SHA-256 of the
    match's record, in hex; `scores` maps answers, by their id on record, to points. `voter` is a random word
    that the page drew: it tells people apart and nothing else."""

    match: Annotated[int, Meta(ge=1)]
    record: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    voter: _Name
    scores: Annotated[Mapping[_Name, Points], Meta(min_length=1, max_length=1_000)]


read_opinion = msgspec.json.Decoder(Opinion).decode
"""Raises msgspec.MsgspecError, which names the unexpected part."""


def opinions(ledger: Ledger) -> Iterator[Opinion]:
    """All opinions, in the order in which they were entered. Raises LedgerError for a row that holds none."""
    return amended(ledger, TOPIC, Opinion)


def enter(ledger: Ledger, opinion: Opinion, at_ms: int) -> bool:
    """Write an opinion down; False, and nothing happens, when this voter has judged this record before. The
    caller holds the runner's lock and has seen to it that record and answers are there. Raises
    LedgerError."""
    if any((known.record, known.voter) == (opinion.record, opinion.voter) for known in opinions(ledger)):
        return False
    amend(ledger, TOPIC, [opinion], at_ms)
    return True
