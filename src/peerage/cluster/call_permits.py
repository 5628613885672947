"""Permits for workers' calls: the leader decides, by the run's money and its players' limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from peerage.cluster.messages import CallAsks, Paid
from peerage.engine.calls.availability import Away
from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_limit import Load
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.dispatch import Dispatcher
from peerage.engine.calls.pending import PendingCall
from peerage.engine.calls.reservations import Reservations
from peerage.game.house import usual
from peerage.players.client import InstantClient

_NOT_HERE: Any = None
"""Stands for a request, which the worker alone knows."""

Of = tuple[int, int]
"""Worker and ticket."""


class CallPermits:
    """Decides on the calls of all workers, in the order in which one machine would. `answer(worker, ticket,
    verdict, reserved)` is called when that is decided; YES lets the call go, and holds its worst case and its
    place in its player's lane until it is `paid`. `unaffordable(match, worst)` reports that the arena's limit
    has stopped a match."""

    def __init__(
        self,
        budget: Budget,
        reach: Reach,
        answer: Callable[[int, int, Affordable | Away | str, int], None],
        unaffordable: Callable[[int, int], None],
    ) -> None:
        self._budget = budget
        self._availability = reach.availability
        self._answer = answer
        self._unaffordable = unaffordable
        self._reservations = Reservations(budget)
        self._dispatcher: Dispatcher[PendingCall] = Dispatcher(reach.engine.calls, self._leave)
        self._instant: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self._asked: dict[Of, tuple[str, int, PendingCall]] = {}
        self._of: dict[PendingCall, Of] = {}
        self._granted: set[PendingCall] = set()
        self.stopped = False
        for name, runtime in reach.runtimes.items():
            if isinstance(runtime.client, InstantClient):
                self._instant.add(name)
            self._dispatcher.add(name, runtime.lane())

    def ask(self, worker: int, asks: CallAsks) -> None:
        """Take in a call that waits to go."""
        pending = PendingCall(asks.match, "", asks.player, _NOT_HERE, b"", usual, 0, worst=asks.worst)
        self._asked[worker, asks.ticket] = asks.key, asks.tokens, pending
        self._of[pending] = worker, asks.ticket
        self._submit(pending)

    def paid(self, worker: int, paid: Paid) -> None:
        """Count what a call has cost; what was held for it is free again, and it waits no more."""
        match, player = paid.match, paid.player
        pending = self._forget((worker, paid.ticket), paid.load)
        if pending is None:
            pending = PendingCall(match, "", player, _NOT_HERE, b"", usual, 0)
        self._pay(pending, paid.nano, known=paid.known, answered=paid.answered)
        self.decide()

    def held_by(self, worker: int) -> list[Paid]:
        """The calls of a worker that asked and are not paid, as if they were not to be sent."""
        return [
            Paid(ticket, pending.match, key, 0, pending.player, 0, known=True, answered=False)
            for (by, ticket), (key, _, pending) in self._asked.items()
            if by == worker
        ]

    def decide(self) -> None:
        """Let those calls go on that need not wait for money any more."""
        for pending, verdict in self._reservations.decided(self._queued) if not self.stopped else ():
            if verdict is Affordable.YES:
                self._queue(pending)
            elif verdict is Affordable.ARENA:
                self._budget.stop(pending.match)
                self._refuse(pending, verdict)
                self._unaffordable(pending.match, pending.worst or 0)
            else:
                self._refuse(pending, verdict)

    def lowered(self) -> dict[str, str]:
        """For each player whose calls wait for a limit that was lowered: that limit, and why."""
        return self._dispatcher.lowered()

    def stop(self) -> None:
        """Let nothing more go."""
        self.stopped = True
        self._dispatcher.stop()

    def _submit(self, pending: PendingCall) -> None:
        if self.stopped or pending not in self._of:
            return
        if self._reservations.wanted(pending.player):
            self._reservations.submit(pending)
            self.decide()
        else:
            self._queue(pending)

    def _queued(self, player: str) -> bool:
        return player not in self._instant and self._dispatcher.queued(player)

    def _queue(self, pending: PendingCall) -> None:
        if pending.player in self._instant:
            self._leave(pending)
        else:
            self._dispatcher.submit(pending.player, pending, self._asked[self._of[pending]][1])

    def _leave(self, pending: PendingCall) -> None:
        """Let a call go, unless its day's money is spent."""
        never = self._availability.never(pending)
        may = False if never else self._availability.reserve(pending)
        if may is True:
            self._granted.add(pending)
            pending.sent_at = self._loop.time()
            self._answer(*self._of[pending], Affordable.YES, pending.reserved)
            if self._reservations:
                self._loop.call_soon(self.decide)
            return
        if pending.player not in self._instant:
            self._dispatcher.returned(pending.player)
        self._pay(pending, 0, known=True, answered=False)
        if isinstance(may, Away):
            self._refuse(pending, may)
        elif never:
            self._refuse(pending, never)

    def _refuse(self, pending: PendingCall, verdict: Affordable | Away | str) -> None:
        of = self._of[pending]
        self._forget(of)
        self._answer(*of, verdict, 0)

    def _forget(self, of: Of, load: Load | None = None) -> PendingCall | None:
        """Take a call out of wherever it waits or is counted."""
        _, _, pending = self._asked.pop(of, ("", 0, None))
        if pending is None:
            return None
        del self._of[pending]
        if pending in self._granted:
            self._granted.remove(pending)
            if pending.player not in self._instant:
                self._dispatcher.returned(pending.player, pending.sent_at, load)
        else:
            for waits in (self._reservations.recall, self._availability.recall, self._dispatcher.withdraw):
                waits(lambda other: other is pending)
        return pending

    def _pay(self, pending: PendingCall, nano: int, *, known: bool, answered: bool) -> None:
        self._reservations.pay(pending, nano, known=known, answered=answered)
        for other in self._availability.paid(pending, nano):
            self._loop.call_soon(self._submit, other)
