"""Which faults of judges an arena would have noticed: see `judging.audit`."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.judging.audit import audited, pool_of
from peerage.judging.scored_pool import pool_of as pool_of_scores
from peerage.judging.simulation import Power
from peerage.ledger.store import Ledger
from peerage.tables.played import PlayedMatches, Scope, ScopeError
from peerage.tables.scored import scored


def audit(ledger: Ledger, seed: int, arenas: int) -> Iterator[Power]:
    """What each planted fault comes to, in `arenas` simulations of the votes on record, or else the scores;
    the same `seed` gives the same. Raises ScopeError where neither are, LedgerError."""
    played = PlayedMatches(ledger, Scope())
    cast = played.votes()
    given = None if cast.judges else scored(ledger, played.decided).votes.scores
    if not cast.judges and not given:
        raise ScopeError("no judge has voted or scored in this arena: there is nothing to audit")
    try:
        return audited(pool_of_scores(given) if given else pool_of(cast), seed, arenas)
    except ValueError as error:
        raise ScopeError(str(error)) from None
