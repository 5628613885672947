"""Places: the order of what pairing reads, matches and benches, each counted from 1. Pure.

A fixture names the place of the newest entry that it was paired from, so the same entries give the same
pairing. Places count matches, in the order in which they were folded, and benches, each after the match that
it rests on. Whatever else the log holds depends on how often a run was interrupted, and pairing reads none of
it; so places, unlike positions in the log, are the same in whatever runs the same replies came.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

import msgspec
from msgspec import Struct

from peerage.ledger.forms.rows import LedgerError
from peerage.ledger.ledger import Ledger

TOPIC = "benches"
"""Entries about players that leave pairing and return to it; see `engine.record.benches`."""


class Bench(Struct, frozen=True):
    """One entry. `from_round` is the first round paired without the player, or with it again; `after_match`
    the match on whose record it rests: the one that failed, or the last one before the return. Of a return
    `seated` and `failed` are the player's counts until then (`accounts.Account`), which count no more; of a
    bench for failing too often those on which it rests."""

    player: str
    event: Literal["benched", "paused", "returned"]
    from_round: int
    after_match: int
    why: str
    seated: int = 0
    failed: int = 0

    @property
    def final(self) -> bool:
        """Return whether nothing gets through to the player, so that it is asked nothing more. One that
        failed too often still plays the matches paired before."""
        return self.event != "returned" and not self.failed

    @property
    def in_words(self) -> str:
        """Since when it is left out and why, as `benched since match 12: 401 Unauthorized`."""
        since = f"since match {self.after_match}" if self.after_match else "since before the first match"
        return f"{self.event} {since}: {self.why.removeprefix(f'{self.player}: ')}"


read_bench = msgspec.json.Decoder(Bench).decode
_after = attrgetter("after_match")


@dataclass
class Places:
    """The benches so far, and from them the place of every match."""

    _benches: list[Bench] = field(default_factory=list)

    def add(self, bench: Bench) -> None:
        """Take in the next entry about a bench."""
        self._benches.append(bench)

    def of_match(self, number: int) -> int:
        """The place of a match."""
        return number + bisect_left(self._benches, number, key=_after)

    def paired_from(self, snapshot: int, round: int) -> int:
        """The place of the newest entry behind a fixture of `round`, paired after match `snapshot`; or 0."""
        benched = [
            bench.after_match + place
            for place, bench in enumerate(self._benches, 1)
            if bench.from_round <= round
        ]
        return max([self.of_match(snapshot) if snapshot else 0, *benched])


def places(ledger: Ledger) -> Places | None:
    """Places by the entries about benches; None where these are damaged, which `verify` reports."""
    known = Places()
    try:
        for row in ledger.amendments(TOPIC):
            known.add(read_bench(row.body))
    except (LedgerError, msgspec.MsgspecError):
        return None
    return known
