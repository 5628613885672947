"""Looks at what is proven, on record: a claim once made stays, whatever matches do to it later.

A claim holds at every look with 95%, so one that was made is not taken back when luck turns. A run that ends
looks at all matches on record, and writes an entry of the log where something is proven that was not before.
Tables of the whole arena add these claims to those that hold now; `peerage verify` and `peerage replay` look
again at as many matches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from operator import attrgetter

import numpy as np
from msgspec import Struct

from peerage.game.match import DONE
from peerage.ledger import Ledger, Summary, amend, amended
from peerage.ledger.topics.series import clusters_of
from peerage.ratings.claims.proven import proven
from peerage.scheduling.goal import Decided
from peerage.scheduling.standing import EndedMatch

TOPIC = "claims"

Claim = tuple[str, str]
"""The player proven to be better, and the other one."""


class Look(Struct, frozen=True):
    """The `claims`, sorted, that were first proven after so many `matches` on record."""

    matches: int
    claims: tuple[Claim, ...]


def looks(ledger: Ledger) -> Iterator[Look]:
    """All looks on record, in order. Raises LedgerError."""
    return amended(ledger, TOPIC, Look)


def claimed(ledger: Ledger) -> frozenset[Claim]:
    """Every claim on record. Raises LedgerError."""
    return frozenset([claim for look in looks(ledger) for claim in look.claims])


def look(ledger: Ledger, at_ms: int) -> Look | None:
    """Look at all matches on record, and write down what is proven for the first time; None where nothing is.
    The caller holds the runner's lock. Raises LedgerError."""
    _, recorded = ledger.heads()
    new = claims_of(ledger.summaries(), clusters_of(ledger)) - claimed(ledger)
    if not new:
        return None
    made = Look(recorded, tuple(sorted(new)))
    amend(ledger, TOPIC, [made], at_ms)
    return made


def ended(summary: Summary, series: int, given: Collection[str] = ()) -> EndedMatch:
    """A match on record as pairing learns of it; an answer that a player had `given` before costs nothing."""
    scores = summary.scores if summary.status == DONE else ()
    spent = summary.spent_nano / 1e9
    costs = summary.costs
    if given:
        costs = tuple(
            [0.0 if player in given else cost for player, cost in zip(summary.players, costs, strict=True)]
        )
    return EndedMatch(summary.game, summary.players, scores, series, costs, spent)


def claims_of(matches: Iterable[Summary], series: dict[int, int]) -> frozenset[Claim]:
    """Return the claims that these matches prove. Those of a series are one bet. Pure."""
    decided = Decided()
    for match in matches:
        decided.note(ended(match, series.get(match.number, 0)))
    return _proven(decided)


def _proven(decided: Decided) -> frozenset[Claim]:
    names = list(decided.players)
    above = proven(decided.evidence())
    return frozenset([(names[a], names[b]) for a, b in np.argwhere(above).tolist()])


class Again:
    """Looks again, while matches pass by in order: at as many as each look on record saw."""

    def __init__(self, ledger: Ledger) -> None:
        """Raises LedgerError."""
        self._ledger = ledger
        self._due = deque(sorted(looks(ledger), key=attrgetter("matches")))
        self._series = clusters_of(ledger) if self._due else {}
        self._decided, self._seen = Decided(), 0
        self._false = list[tuple[Look, Claim]]()

    def see(self, match: Summary) -> None:
        """Take in the next match."""
        if not self._due:
            return
        self._seen += 1
        self._decided.note(ended(match, self._series.get(match.number, 0)))
        if self._due[0].matches <= self._seen:
            due = _proven(self._decided)
            while self._due and self._due[0].matches <= self._seen:
                look = self._due.popleft()
                self._false += [(look, claim) for claim in look.claims if claim not in due]

    def false(self) -> list[tuple[Look, Claim]]:
        """Return the claims on record that the matches do not prove, and those of looks at more matches than
        are on record by now: a run may have gone on."""
        _, recorded = self._ledger.heads()
        beyond = [look for look in self._due if look.matches > recorded or look.matches < 1]
        return [*self._false, *[(look, claim) for look in beyond for claim in look.claims]]
