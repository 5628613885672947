"""Ends a match that waits, because the arena's owner says so: no result, and the reason on record."""

from __future__ import annotations

from peerage.engine.record.model_watch import Watch
from peerage.engine.record.records import ENGINE, recorded_tally, settle
from peerage.game.match import Outcome
from peerage.ledger import Batch, Ledger, LedgerError, RecordRow
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.forms.merkle import GENESIS, link
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.topics.waits import Wait, waits
from peerage.settings import Rating
from peerage.standings.accounts import position
from peerage.standings.fold import pinned_elo
from peerage.standings.verify import check_records

DROPPED = "dropped"
"""The status of such a match."""
BY_OWNER = "dropped by the arena's owner"


def drop(ledger: Ledger, number: int, at_ms: int) -> None:
    """End match `number` without a result, folded now; what was asked in it stays on record and counts.
    Raises LedgerError where it does not wait, or a run goes on."""
    with ledger.runner():
        known = waits(ledger)
        if number not in known.now:
            those = ", ".join(map(str, sorted(known.now)[:20]))
            there = f"those that do: {those}" if those else "no match does"
            raise LedgerError(f"match {number} does not wait; {there}. `peerage status` lists them")
        check_records(ledger)
        rows, (_, recorded) = ledger.match(number), ledger.heads()
        if rows is None:
            raise LedgerError(f"{ledger.address} lacks match {number}; `peerage verify` says more")
        elo, tally = pinned_elo(ledger.meta(), Rating()), recorded_tally(rows.exchanges)
        fixture = read_fixture(rows.fixture.body, by_hex(ledger.texts()))
        settled = settle(
            fixture,
            digest_of(rows.fixture.body),
            tally,
            Outcome(void=DROPPED, detail={"by": ENGINE, "why": BY_OWNER}),
            position(ledger, elo).standings,
            elo,
            at_ms,
        )
        before = next((row.chain for row in ledger.records(recorded, recorded)), GENESIS)
        entry = Wait(number, "dropped", recorded, known.now[number].player, BY_OWNER)
        batch = Batch(
            amendments=[known.enter(entry, at_ms, fixture.seed)],
            records=[RecordRow(number, settled.body, link(before, settled.body), at_ms)],
            summaries=[settled.summary],
        )
        if fixture.release:  # as of every match that is folded
            models = Watch.of(ledger)
            for change in models.see(recorded + 1, number, tally.models):
                batch.amend(models.enter(change, at_ms))
        ledger.write(batch)
