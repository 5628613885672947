"""The check of a whole ledger: what is stored, and what follows from it.

Rating snapshots, the ratings of void matches and claims are computed again from what they follow from. A run
and every table build on the newest snapshot, so `verify` and every run that begins fold all matches once more
and compare. Of earlier snapshots the log holds the digest; those that no log holds nobody reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256

import msgspec

from peerage.game.match import DONE
from peerage.ledger import Ledger, Summary
from peerage.ledger.check import verify as held
from peerage.ledger.check.audit import Walked
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint
from peerage.ledger.check.verify import Report
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ratings.sequential.elo import EloSettings
from peerage.settings import Rating
from peerage.standings.accounts import Account, Position, Sums, read_snapshot
from peerage.standings.fold import Standings, after_each, pinned_elo
from peerage.standings.looks import Again
from peerage.values.parallel import Helpers

TOLERANCE = 1e-6
"""By how much a rating computed again may differ: another machine's last bits, nothing more."""

Found = tuple[int, str]
"""(match, or after how many, what is wrong)."""


def verify(
    ledger: Ledger,
    workers: int | None = None,
    votes: PeopleVotes | None = None,
    kept: Sequence[KeptCheckpoint] = (),
    helpers: Helpers | None = None,
) -> Report:
    """Check a whole ledger and the `votes` on it, and whether it extends those of which roots or checkpoints
    were `kept`. Requests and replies are read by `helpers` where it is worth it, by default in `workers`
    processes of this machine. A running arena may go on writing meanwhile; what was finished at the start is
    checked. Raises LedgerError when the ledger cannot be read at all."""
    return held.verify(
        ledger, partial(_recomputed, claims=True), workers=workers, votes=votes, kept=kept, helpers=helpers
    )


def check_records(ledger: Ledger) -> None:
    """Check all that a run builds on, in a tenth of the time: everything but the requests and replies of
    finished matches. Raises LedgerError, which says what is wrong first and what to do about it."""
    held.check_records(ledger, _recomputed)


def _recomputed(
    ledger: Ledger,
    matches: Iterator[Walked],
    last: int,
    snapshots: Mapping[int, bytes],
    *,
    claims: bool = False,
) -> Iterator[tuple[int, str]]:
    again = Again(ledger) if claims else None

    def seen() -> Iterator[Walked]:
        for row, totals in matches:
            if again is not None:
                again.see(row)
            yield row, totals

    yield from _problems(ledger, seen(), last, pinned_elo(ledger.meta(), Rating()), snapshots)
    for look, (better, worse) in again.false() if again is not None else ():
        yield look.matches, f"the claim made after it, {better} above {worse}, is not proven"


def _problems(
    ledger: Ledger, matches: Iterable[Walked], last: int, elo: EloSettings, logged: Mapping[int, bytes]
) -> Iterator[Found]:
    """Yield what is wrong with snapshots and with ratings of void matches among the first `last`, which
    `matches` are in order. `logged` are the digests of snapshots by match. It rests on records and narrow
    table being right."""
    to_fold: dict[int, Position] = {}
    stored = list(ledger.snapshots())
    _, recorded = ledger.heads()  # by now: a run may have gone on
    for number, body, whole in stored:
        if not whole:
            yield number, "the snapshot after it changed"
        elif number in logged and sha256(body).digest() != logged[number]:
            yield number, "the snapshot after it is not as it was logged"
        elif number > recorded:
            yield number, "there is a snapshot after it, and no record"
        elif number > last:
            continue
        elif number not in logged or number == stored[-1][0]:
            try:
                snapshot = read_snapshot(body)
            except msgspec.MsgspecError as error:
                yield number, f"the snapshot after it cannot be read: {error}"
                continue
            to_fold[number] = snapshot
    wanted: dict[int, Summary | None] = dict.fromkeys(to_fold)
    accounts: dict[int, dict[str, Account]] = {}

    def read() -> Iterator[Summary]:
        """The narrow table, which a long arena has no room for at once; on its way it says of which matches
        more is to be known, and what everybody did and cost until then."""
        sums = Sums()
        for at, (row, totals) in enumerate(matches, 1):
            if to_fold:
                sums.add(row, totals)
            if at in to_fold:
                accounts[at] = sums.accounts()
            if row.status != DONE and row.raw:
                wanted[at] = row
            yield row

    for standings in after_each(read(), elo, wanted):
        number = standings.number
        if number in to_fold:
            yield from [(number, what) for what in _snapshot(to_fold[number], standings, accounts[number])]
        row = wanted[number]
        if row is not None:
            due = [standings.of(name, elo.initial) for name in row.players]
            raw, cost = zip(*due, strict=True) if due else ((), ())
            if not (_alike(row.raw, raw) and _alike(row.cost_elo, cost)):
                yield (
                    row.number,
                    "the narrow table gives ratings that do not follow from the matches before it",
                )


def _snapshot(stored: Position, due: Standings, accounts: Mapping[str, Account]) -> Iterator[str]:
    """Yield in what a snapshot differs from what the matches come to."""
    snapshot = stored.standings
    if (snapshot.number, snapshot.players) != (due.number, due.players):
        yield "the snapshot after it is of other players, or another match"
        return
    for track in ("raw", "cost"):
        for player, was, now in zip(due.players, getattr(snapshot, track), getattr(due, track), strict=True):
            if not _alike([was], [now]):
                yield f"the snapshot after it says {track} rating {was} of {player}, its records give {now}"
    for player in sorted(snapshot.skills.keys() | due.skills.keys()):
        if not _alike(snapshot.skills.get(player, ()), due.skills.get(player, ())):
            yield f"the snapshot after it gives a skill of {player} that its records do not"
    for player in sorted(stored.accounts.keys() | accounts.keys()):
        if stored.accounts.get(player) != accounts.get(player):
            yield f"the snapshot after it gives sums of {player} that its records do not"


def _alike(was: Iterable[float], now: Iterable[float]) -> bool:
    before, after = tuple(was), tuple(now)
    return len(before) == len(after) and all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(before, after, strict=True)
    )
