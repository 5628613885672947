"""Amendments: later statements about recorded things, chained on streams of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from peerage.ledger.merkle import link, stream_genesis
from peerage.ledger.store import Amendment, Batch, Ledger


def chained(ledger: Ledger, stream: str, bodies: Iterable[bytes], at_ms: int) -> list[Amendment]:
    """The rows that continue a stream, to be written while the caller holds the runner's lock."""
    before = list(ledger.amendments(stream))
    chain = before[-1].chain if before else stream_genesis(stream)
    rows: list[Amendment] = []
    for sequence, body in enumerate(bodies, len(before) + 1):
        chain = link(chain, body)
        rows.append(Amendment(stream, sequence, body, chain, at_ms))
    return rows


def amend(ledger: Ledger, stream: str, said: Sequence[Mapping[str, Any]], at_ms: int) -> None:
    """Write statements down, all or none; the caller holds the lock."""
    ledger.write(Batch(amendments=chained(ledger, stream, map(msgspec.json.encode, said), at_ms)))
