"""What goes on in an arena now: who runs it, which matches are how far, what is in flight."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from peerage.engine.probed import probe_costs
from peerage.engine.recovery import spent
from peerage.games import hides
from peerage.ledger.codec import read_issued
from peerage.ledger.store import Ledger
from peerage.ledger.waits import waits
from peerage.standings.accounts import unpriced
from peerage.tables import Shown
from peerage.tables.hosts import HostRow, host_rows


class MatchNow(Shown, frozen=True):
    """A match that has begun, did not leave its round, and is not on record yet: one that has ended asks
    nobody and waits for those with lower numbers. Its contestants, how many `replies` it has, when the last
    one came (Unix milliseconds), and whom it `asks` now. These three are null or empty in games that hide
    things from their players: who is asked when would tell who holds which role. `worker` is the number of
    the worker that drives it, null where none does."""

    match: int
    round: int
    game: str
    players: tuple[str, ...]
    replies: int | None
    last_ms: int | None
    asks: tuple[str, ...]
    worker: int | None = None


class WorkerNow(Shown, frozen=True):
    """A worker of a run on many machines: its number, its process and host, and the matches it has."""

    number: int
    process: str
    matches: tuple[int, ...]


class Status(Shown, frozen=True):
    """One moment of an arena. `runner` is who runs it, null when nobody does: its calls in flight were then
    left open, by a crash, and count as possibly billed. Matches: `recorded`, `waiting` for players, `issued`
    and not begun. Of the calls in flight `open_usd` is what they may cost at most, which is a part of
    `spent_usd`; `unpriced` calls have no known price and are not in it. `workers` are those of a run under
    `engine: ray`, `hosts` those that were started."""

    runner: str | None
    recorded: int
    waiting: int
    issued: int
    open_calls: int
    open_usd: float
    spent_usd: float
    unpriced: int
    under_way: tuple[MatchNow, ...]
    workers: tuple[WorkerNow, ...] = ()
    hosts: tuple[HostRow, ...] = ()


def status(ledger: Ledger, folder: Path) -> Status:
    """Return what `peerage status` shows of the arena in `folder`. Raises LedgerError."""
    runner = ledger.holder()
    workers = _workers(ledger.address) if runner else ()
    drives = {number: one.number for one in workers for number in one.matches}
    issued, recorded = ledger.heads()
    away = waits(ledger).now
    under_way, calls, worst = list[MatchNow](), 0, 0
    for number, rows in groupby(ledger.exchanges(recorded + 1), attrgetter("match")):
        attempts = list(rows)
        asked = [one for one in attempts if one.reply is None and one.failure is None]
        calls += len(asked)
        worst += sum(one.worst_nano or 0 for one in asked)
        match = ledger.match(number, exchanges=False)
        if number in away or match is None or match.record is not None:
            continue
        fixture = read_issued(match.fixture.body)
        closed = hides(fixture.game)
        times = [one.at_ms for one in attempts if one.at_ms is not None]
        now = MatchNow(
            match=number,
            round=match.fixture.round,
            game=fixture.game,
            players=tuple([seat.player for seat in fixture.seats]),
            replies=None if closed else len(times),
            last_ms=None if closed else max(times, default=None),
            asks=() if closed else tuple(sorted({one.player for one in asked})),
            worker=drives.get(number),
        )
        under_way.append(now)
    left = issued - recorded - len(under_way) - len(away)
    in_probes = sum([cost.unknown for cost in probe_costs(ledger).values()])
    return Status(
        runner=runner or None,
        recorded=recorded,
        waiting=len(away),
        issued=max(0, left),
        open_calls=calls,
        open_usd=worst / 1e9,
        spent_usd=spent(ledger) / 1e9,
        unpriced=unpriced(ledger) + in_probes,
        under_way=tuple(under_way),
        workers=workers,
        hosts=host_rows(ledger, folder, Counter([one.player for one in away.values()])),
    )


def _workers(address: str) -> tuple[WorkerNow, ...]:
    if not address.startswith("postgresql://"):
        return ()
    from peerage.cluster.leases import working

    return tuple([WorkerNow(number, who, tuple(has)) for number, (who, has) in working(address).items()])
