"""The matches that wait: for whom, why, since and until when."""

from __future__ import annotations

from collections.abc import Iterator

from peerage.ledger.codec import read_issued
from peerage.ledger.store import Ledger
from peerage.ledger.waits import waits
from peerage.tables import Shown


class QueueRow(Shown, frozen=True):
    """A match that waits: its contestants, and for which `player` and `why`. Times in Unix milliseconds;
    `until_ms` is null where the player did not say when."""

    match: int
    round: int
    players: tuple[str, ...]
    player: str
    why: str
    since_ms: int
    until_ms: int | None


def queue(ledger: Ledger) -> Iterator[QueueRow]:
    """The matches that wait, by number."""
    for number, wait in sorted(waits(ledger).now.items()):
        if rows := ledger.match(number, exchanges=False):
            players = tuple([seat.player for seat in read_issued(rows.fixture.body).seats])
            yield QueueRow(
                number, rows.fixture.round, players, wait.player, wait.why, wait.since_ms, wait.until_ms
            )
