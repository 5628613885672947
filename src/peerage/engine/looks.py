"""Looks at what is proven, on record: a claim once made stays, whatever matches do to it later.

A claim holds at every look with 95%, so one that was made is not taken back when luck turns. A run that ends
looks at all matches on record, and writes an entry of the log where something is proven that was not before.
Tables of the whole arena add these claims to those that hold now; `peerage replay` looks again at as many
matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct

from peerage.engine.recovery import ended
from peerage.ledger.series import in_series
from peerage.ledger.store import Ledger, Summary, amend, amended
from peerage.ratings.strength.proven import proven
from peerage.scheduling.goal import Decided

TOPIC = "claims"

Claim = tuple[str, str]
"""The player proven to be better, and the other one."""


class Look(Struct, frozen=True):
    """The `claims`, sorted, that were first proven after so many `matches` on record."""

    matches: int
    claims: tuple[Claim, ...]


def looks(ledger: Ledger) -> Iterator[Look]:
    """All looks on record, in order. Raises LedgerError."""
    return amended(ledger, TOPIC, Look)


def claimed(ledger: Ledger) -> frozenset[Claim]:
    """Every claim on record. Raises LedgerError."""
    return frozenset([claim for look in looks(ledger) for claim in look.claims])


def look(ledger: Ledger, at_ms: int) -> Look | None:
    """Look at all matches on record, and write down what is proven for the first time; None where nothing is.

    The caller holds the runner's lock. Raises LedgerError.
    """
    _, recorded = ledger.heads()
    new = claims_of(ledger.summaries(), series_of(ledger)) - claimed(ledger)
    if not new:
        return None
    made = Look(recorded, tuple(sorted(new)))
    amend(ledger, TOPIC, [made], at_ms)
    return made


def series_of(ledger: Ledger) -> dict[int, int]:
    """The series of each match that is in one, by their numbers."""
    return {match.number: match.series for match in in_series(ledger)}


def claims_of(matches: Iterable[Summary], series: dict[int, int]) -> frozenset[Claim]:
    """Return the claims that these matches prove. Those of a series are one bet. Pure."""
    decided = Decided()
    for match in matches:
        decided.note(ended(match, series.get(match.number, 0)))
    names = list(decided.players)
    above = proven(decided.evidence())
    return frozenset([(names[a], names[b]) for a, b in np.argwhere(above).tolist()])
