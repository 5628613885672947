"""Permits for workers' calls: the leader decides, by the run's money and its players' limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from peerage.cluster.messages import Asks, Paid
from peerage.engine.calls.availability import Away
from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_limit import Load
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.dispatch import Dispatcher
from peerage.engine.calls.pending import Pending
from peerage.engine.calls.reservations import Reservations
from peerage.game.house import usual
from peerage.players.client import InstantClient

_NOT_HERE: Any = None
"""Stands for a request, which the worker alone knows."""

Of = tuple[int, int]
"""Worker and ticket."""


class CallPermits:
    """Decides on the calls of all workers, in the order in which one machine would.

    `answer(worker, ticket, verdict, reserved)` is called when that is decided; YES lets the call go, and
    holds its worst case and its place in its player's lane until it is `paid`. `unaffordable(match, worst)`
    tells that the arena's limit has stopped a match.
    """

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
        self._dispatcher: Dispatcher[Pending] = Dispatcher(reach.engine.calls, self._leave)
        self._instant: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self._asked: dict[Of, tuple[str, int, Pending]] = {}
        self._of: dict[Pending, Of] = {}
        self._granted: set[Pending] = set()
        self.stopped = False
        for name, runtime in reach.runtimes.items():
            if isinstance(runtime.client, InstantClient):
                self._instant.add(name)
            self._dispatcher.add(name, runtime.lane())

    def ask(self, worker: int, asks: Asks) -> None:
        """Take in a call that waits to go."""
        one = Pending(asks.match, "", asks.player, _NOT_HERE, b"", usual, 0, worst=asks.worst)
        self._asked[worker, asks.ticket] = asks.key, asks.tokens, one
        self._of[one] = worker, asks.ticket
        self._submit(one)

    def paid(self, worker: int, paid: Paid) -> None:
        """Count what a call has cost; what was held for it is free again, and it waits no more."""
        match, player = paid.match, paid.player
        one = self._forget((worker, paid.ticket), paid.load)
        if one is None:
            one = Pending(match, "", player, _NOT_HERE, b"", usual, 0)
        self._pay(one, paid.nano, known=paid.known, answered=paid.answered)
        self.decide()

    def held_by(self, worker: int) -> list[Paid]:
        """The calls of a worker that asked and are not paid, as if they were not to be sent."""
        return [
            Paid(ticket, one.match, key, 0, one.player, 0, known=True, answered=False)
            for (by, ticket), (key, _, one) in self._asked.items()
            if by == worker
        ]

    def decide(self) -> None:
        """Let those calls go on that need not wait for money any more."""
        for one, verdict in self._reservations.decided(self._queued) if not self.stopped else ():
            if verdict is Affordable.YES:
                self._queue(one)
            elif verdict is Affordable.ARENA:
                self._budget.stop(one.match)
                self._refuse(one, verdict)
                self._unaffordable(one.match, one.worst or 0)
            else:
                self._refuse(one, verdict)

    def lowered(self) -> dict[str, str]:
        """For each player whose calls wait for a limit that was lowered: that limit, and why."""
        return self._dispatcher.lowered()

    def stop(self) -> None:
        """Let nothing more go."""
        self.stopped = True
        self._dispatcher.stop()

    def _submit(self, one: Pending) -> None:
        if self.stopped or one not in self._of:
            return
        if self._reservations.wanted(one.player):
            self._reservations.submit(one)
            self.decide()
        else:
            self._queue(one)

    def _queued(self, player: str) -> bool:
        return player not in self._instant and self._dispatcher.queued(player)

    def _queue(self, one: Pending) -> None:
        if one.player in self._instant:
            self._leave(one)
        else:
            self._dispatcher.submit(one.player, one, self._asked[self._of[one]][1])

    def _leave(self, one: Pending) -> None:
        """Let a call go, unless its day's money is spent."""
        never = self._availability.never(one)
        may = False if never else self._availability.reserve(one)
        if may is True:
            self._granted.add(one)
            one.sent_at = self._loop.time()
            self._answer(*self._of[one], Affordable.YES, one.reserved)
            if self._reservations:
                self._loop.call_soon(self.decide)
            return
        if one.player not in self._instant:
            self._dispatcher.returned(one.player)
        self._pay(one, 0, known=True, answered=False)
        if isinstance(may, Away):
            self._refuse(one, may)
        elif never:
            self._refuse(one, never)

    def _refuse(self, one: Pending, verdict: Affordable | Away | str) -> None:
        of = self._of[one]
        self._forget(of)
        self._answer(*of, verdict, 0)

    def _forget(self, of: Of, load: Load | None = None) -> Pending | None:
        """Take a call out of wherever it waits or is counted."""
        _, _, one = self._asked.pop(of, ("", 0, None))
        if one is None:
            return None
        del self._of[one]
        if one in self._granted:
            self._granted.remove(one)
            if one.player not in self._instant:
                self._dispatcher.returned(one.player, one.sent_at, load)
        else:
            for waits in (self._reservations.recall, self._availability.recall, self._dispatcher.withdraw):
                waits(lambda other: other is one)
        return one

    def _pay(self, one: Pending, nano: int, *, known: bool, answered: bool) -> None:
        self._reservations.pay(one, nano, known=known, answered=answered)
        for other in self._availability.paid(one, nano):
            self._loop.call_soon(self._submit, other)
