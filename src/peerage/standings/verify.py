"""The check of a whole ledger: what is stored, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from peerage.ledger import verify as stored
from peerage.ledger.audit import Walked
from peerage.ledger.kept_checkpoints import KeptCheckpoint
from peerage.ledger.since import Head
from peerage.ledger.store import Ledger
from peerage.ledger.verify import Report
from peerage.ledger.votes import PeopleVotes
from peerage.parallel import Helpers
from peerage.settings import Rating
from peerage.standings.derived import problems
from peerage.standings.fold import pinned_elo


def verify(
    ledger: Ledger,
    workers: int | None = None,
    votes: PeopleVotes | None = None,
    since: Head | None = None,
    kept: Sequence[KeptCheckpoint] = (),
    helpers: Helpers | None = None,
) -> Report:
    """Check a whole ledger and the `votes` on it, and whether it extends the one whose head is `since`, and
    those whose checkpoints were `kept`. Requests and replies are read by `helpers` where it is worth it, by
    default in `workers` processes of this machine.

    A running arena may go on writing meanwhile; what was finished at the start is checked. Raises
    LedgerError when the ledger cannot be read at all.
    """
    return stored.verify(
        ledger, _recomputed, workers=workers, votes=votes, since=since, kept=kept, helpers=helpers
    )


def check_records(ledger: Ledger) -> None:
    """Check all that a run builds on, in a tenth of the time: everything but the requests and replies of
    finished matches.

    Raises LedgerError, which says what is wrong first and what to do about it.
    """
    stored.check_records(ledger, _recomputed)


def _recomputed(
    ledger: Ledger, matches: Iterator[Walked], last: int, snapshots: Mapping[int, bytes]
) -> Iterator[tuple[int, str]]:
    return problems(ledger, matches, last, pinned_elo(ledger.meta(), Rating()), snapshots)
