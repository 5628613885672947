"""Batches of requests at providers: an entry of the log for each, durable before anything waits for it.

What an entry says is sealed: which matches wait for which player may tell who holds which role. A request is
named by a digest of its match's secret and its key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import Struct

from peerage.ledger.store import Amendment, Ledger, amended
from peerage.players.client import SentBatch
from peerage.sealing import Sealed, salt, seal, unseal

TOPIC = "batches"


class _Stored(Struct, frozen=True):
    sealed: Mapping[str, str]


def entry(sent: SentBatch, secret: str, at_ms: int) -> Amendment:
    """The row to be written; `secret` is the arena's."""
    name = sha256(sent.handle.encode()).hexdigest()
    sealed = seal(salt(secret, f"batches/{name}"), msgspec.to_builtins(sent))
    return Amendment(TOPIC, msgspec.json.encode(_Stored(sealed)), at_ms)


def sent_batches(ledger: Ledger) -> Iterator[SentBatch]:
    """All batches in order; none in a copy for others. Raises LedgerError."""
    for stored in amended(ledger, TOPIC, _Stored):
        with suppress(Sealed):
            yield msgspec.convert(unseal(stored.sealed), SentBatch)
