"""Players that are benched or paused, left out of pairing since nothing gets through; as entries of the log.

An entry says who, why, from which round on pairing leaves the player out, or brings it back. A benched player
needs somebody to fix it, and its matches end without it; the matches of a paused one wait until it answers.
An entry is written with the record it rests on, before any fixture of such a round. The round of a bench
follows from the records alone: so pairing after a resume, in a replay, and at any concurrency is the same.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from peerage.game.match import Fixture
from peerage.ledger import Amendment, Ledger
from peerage.ledger.topics import places
from peerage.ledger.topics.places import Bench, read_bench
from peerage.standings.accounts import Account

TOPIC = places.TOPIC
BENCHED = "benched: "
"""Beginning of the reason of a void reply that nothing of its player's will follow; then why. And how the
status of a match begins that ended for want of a benched player; then the player."""


OVERBILLED = "billed "
"""Beginning of the reason why a player is benched that was billed more than its calls could cost at most."""


SHARE = 0.25
"""The share of its matches as a contestant in which a player may give no reply; above it is benched. A match
without a result is no loss, so that failing where it would lose raises a rating."""


def want_of(fixture: Fixture, out: Container[str]) -> str:
    """Return why a match cannot be decided without those who are `out`: fewer than two contestants are left.
    "" when it can; an author, a committee member or a judge who is out abstains, as in any match."""
    missing = [seat.player for seat in fixture.seats if seat.player in out]
    if not missing or len(fixture.seats) - len(missing) >= 2:
        return ""
    return f"{BENCHED}{missing[0]}"


@dataclass
class Benches:
    """The entries as a run goes on. `out` maps who is benched or paused to an entry; `places` counts them."""

    out: dict[str, Bench] = field(default_factory=dict)
    places: places.Places = field(default_factory=places.Places)
    since: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By player its counts at its last return."""

    def too_often(self, account: Account, player: str, least: int) -> str:
        """Return why a player is to be benched that failed as a contestant in `least` matches or more, and in
        more than `SHARE` of them, since its last return; empty where it is not."""
        seated, failed = self.since.get(player, (0, 0))
        seated, failed = account.seated - seated, account.failed - failed
        if failed < least or failed <= SHARE * seated:
            return ""
        return f"as a contestant no reply in {failed:,} of {seated:,} matches"

    @classmethod
    def of(cls, rows: Iterable[Amendment]) -> Benches:
        benches = cls()
        for row in rows:
            benches._take(read_bench(row.body))
        return benches

    def enter(self, entry: Bench, at_ms: int) -> Amendment:
        """Take an entry in; the row to be written."""
        self._take(entry)
        return Amendment(TOPIC, msgspec.json.encode(entry), at_ms)

    def _take(self, entry: Bench) -> None:
        self.places.add(entry)
        if entry.event == "returned":
            self.out.pop(entry.player, None)
            self.since[entry.player] = entry.seated, entry.failed
        elif (was := self.out.get(entry.player)) is not None:  # from paused to benched: it stays out between
            self.out[entry.player] = replace(entry, from_round=min(was.from_round, entry.from_round))
        else:
            self.out[entry.player] = entry


def benched(ledger: Ledger) -> Mapping[str, Bench]:
    """Return the entry of each player that is benched or paused now, by name."""
    return Benches.of(ledger.amendments(TOPIC)).out
