"""Calls that wait for money: a call goes when its worst case is reserved, lower matches first."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

from peerage.engine.budget import Budget, Verdict
from peerage.engine.pending import Pending


class Reservations:
    """The calls of a run that are short of money, by match and in the order they came.

    `ready(pending)` lets a call go, `refused(pending, why)` says that its match's or player's limit cannot
    pay for it, `unaffordable(pending, worst)` that the arena's has stopped its match. `queued(player)` says
    whether a call to a player is on its way already.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        ready: Callable[[Pending], None],
        refused: Callable[[Pending, str], None],
        unaffordable: Callable[[Pending, int], None],
        queued: Callable[[str], bool],
    ) -> None:
        self._budget = budget
        self._ready = ready
        self._refused = refused
        self._unaffordable = unaffordable
        self._queued = queued
        self._short: list[tuple[int, int, Pending]] = []
        self._submitted = 0
        self._reserving = False

    def __len__(self) -> int:
        return len(self._short)

    def submit(self, pending: Pending) -> None:
        """Let a call go as soon as there is money for its `worst`."""
        self._submitted += 1
        insort(self._short, (pending.match, self._submitted, pending))
        self.reserve()

    def recall(self, unwanted: Callable[[Pending], bool]) -> list[Pending]:
        """Take waiting calls back."""
        taken = [pending for _, _, pending in self._short if unwanted(pending)]
        self._short = [entry for entry in self._short if not unwanted(entry[2])]
        return taken

    def reserve(self) -> None:
        """Let waiting calls go for which there is money now. None overtakes one that is short of the same.

        One call of each player is ahead of those in flight: money is not tied up in queues.
        """
        if self._reserving:
            return
        self._reserving = True
        waiting, self._short = self._short, []
        matches: set[int] = set()
        players: set[str] = set()
        for at, entry in enumerate(waiting):
            pending = entry[2]
            if self._budget.has_stopped(pending.match):
                continue
            if pending.player not in players and self._queued(pending.player):
                players.add(pending.player)
            if pending.match in matches or pending.player in players:
                self._short.append(entry)
                continue
            worst = pending.worst or 0
            verdict = self._budget.reserve(pending.match, pending.player, worst)
            if verdict is Verdict.YES:
                pending.reserved = worst
                self._ready(pending)
            elif verdict in (Verdict.MATCH, Verdict.PLAYER):
                self._refused(pending, verdict.value)
            elif verdict is Verdict.ARENA:
                self._budget.stop(pending.match)
                self._unaffordable(pending, worst)
            elif verdict is Verdict.WAIT_ARENA:
                self._short += waiting[at:]
                break
            else:
                self._short.append(entry)
                if verdict is Verdict.WAIT_MATCH:
                    matches.add(pending.match)
                else:
                    players.add(pending.player)
        self._reserving = False
