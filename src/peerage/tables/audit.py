"""Which faults of judges an arena would have noticed: see `judging.audit`."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.judging.audit import audited, pool_of
from peerage.judging.simulation import Power
from peerage.ledger.store import Ledger
from peerage.tables.played import Played, Scope, ScopeError


def audit(ledger: Ledger, seed: int, arenas: int) -> Iterator[Power]:
    """What each planted fault comes to, in `arenas` simulations of the votes on record; the same `seed` gives
    the same. Raises ScopeError where no votes are, LedgerError."""
    cast = Played(ledger, Scope()).votes()
    if not cast.judges:
        raise ScopeError("no judge has voted in this arena: there is nothing to audit")
    return audited(pool_of(cast), seed, arenas)
