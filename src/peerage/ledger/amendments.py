"""Amendments: later statements about recorded things, chained on streams of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from peerage.ledger.merkle import link, stream_genesis
from peerage.ledger.store import Amendment, Batch, Ledger, LedgerError


def chained(ledger: Ledger, stream: str, bodies: Iterable[bytes], at_ms: int) -> list[Amendment]:
    """The rows that continue a stream, to be written while the caller holds the runner's lock.

    Raises LedgerError when the stream is not whole.
    """
    before = list(ledger.amendments(stream))
    chain = stream_genesis(stream)
    for due, row in enumerate(before, 1):
        if (row.sequence, row.chain) != (due, link(chain, row.body)):
            raise LedgerError(
                f"{ledger.address} is damaged: amendment {due} of {stream} changed or is missing. Nothing "
                "was written; restore the ledger from a copy. `peerage verify` lists everything"
            )
        chain = row.chain
    rows: list[Amendment] = []
    for sequence, body in enumerate(bodies, len(before) + 1):
        chain = link(chain, body)
        rows.append(Amendment(stream, sequence, body, chain, at_ms))
    return rows


def amend(ledger: Ledger, stream: str, said: Sequence[Mapping[str, Any]], at_ms: int) -> None:
    """Write statements down, all or none; the caller holds the lock."""
    ledger.write(Batch(amendments=chained(ledger, stream, map(msgspec.json.encode, said), at_ms)))
