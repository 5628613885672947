"""A worker's money: each call asks the leader, which hears what it has cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol

from peerage.cluster.messages import CallAsks, News, Paid, Recalled
from peerage.engine.calls.budget import Affordable
from peerage.engine.calls.pending import PendingCall
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.game.protocol import Ask
from peerage.players.client import InstantClient


class Tell(Protocol):
    def __call__(self, news: News, *, soon: bool = True) -> None:
        """Let the leader hear something: at once, or with what comes next."""


class RemoteReservations:
    """Calls that wait for the leader to let them go (`reservations.Paying`), each by a question. Those need
    not that cost nothing and have a place: their player replies at once, or there are `places` of this
    worker's own. `durable(callback)` calls back when all that was journalled so far is durable: the cost of a
    call is sent then, so that leader and store never differ."""

    def __init__(
        self,
        bounded: bool,
        runtimes: Mapping[str, PlayerRuntime],
        tell: Tell,
        durable: Callable[[Callable[[], None]], None],
    ) -> None:
        self.overrun: dict[str, int] = {}
        self.places = False
        self._bounded = bounded
        self._runtimes = runtimes
        self._instant = {
            name for name, runtime in runtimes.items() if isinstance(runtime.client, InstantClient)
        }
        self._tell = tell
        self._durable = durable
        self._tickets = 0
        self._ticket_of: dict[PendingCall, int] = {}
        self._asked: dict[int, PendingCall] = {}
        self._decided: deque[tuple[PendingCall, Affordable]] = deque()

    def wanted(self, player: str) -> bool:
        return self._bounded or not self._has_place(player)

    def _has_place(self, player: str) -> bool:
        return self.places or player in self._instant

    def submit(self, pending: PendingCall) -> None:
        player, worst = pending.player, pending.worst or 0
        if self._has_place(player) and not worst:
            self._decided.append((pending, Affordable.YES))
            return
        self._tickets += 1
        ticket = self._ticket_of[pending] = self._tickets
        self._asked[ticket] = pending
        assert isinstance(pending.ask, Ask)
        tokens = self._runtimes[player].tokens(pending.ask, pending.seed)
        self._tell(CallAsks(ticket, pending.match, pending.ask.key, player, pending.worst, tokens))

    def answered(self, ticket: int, verdict: Affordable | None, reserved: int) -> PendingCall | None:
        """Take in what the leader decided: the call, where it still waits. None as the verdict: it need not
        be handed on by `decided`."""
        pending = self._asked.pop(ticket, None)
        if pending is None:
            return None
        if verdict is Affordable.YES:
            pending.reserved = reserved
        else:
            del self._ticket_of[pending]
        if verdict is not None:
            self._decided.append((pending, verdict))
        return pending

    def recall(self, unwanted: Callable[[PendingCall], bool]) -> list[PendingCall]:
        taken = [pending for pending in self._asked.values() if unwanted(pending)]
        self._asked = {ticket: pending for ticket, pending in self._asked.items() if not unwanted(pending)}
        for pending in taken:  # the leader need not think of them any more
            self.pay(pending, 0, known=True, answered=False)
        return taken

    def decided(self, queued: Callable[[str], bool]) -> Iterator[tuple[PendingCall, Affordable]]:
        while self._decided:
            yield self._decided.popleft()

    def pay(self, pending: PendingCall, nano: int, *, known: bool, answered: bool) -> None:
        ticket, reserved = self._ticket_of.pop(pending, 0), pending.reserved
        pending.reserved = 0
        player = pending.player
        if known and nano > reserved and self._bounded:
            self.overrun[player] = self.overrun.get(player, 0) + nano - reserved
        if ticket or nano or (answered and self._bounded):
            paid = Paid(
                ticket=ticket,
                match=pending.match,
                key=pending.ask.key,
                attempt=pending.attempt,
                player=player,
                nano=nano,
                known=known,
                answered=answered,
                load=pending.load,
            )
            self._durable(partial(self._tell, paid, soon=bool(ticket)))


class RemoteBudget:
    """Stands for the budget (`reservations.MatchBudget`), of which the leader keeps account."""

    left = 0

    def __init__(self, bounded: bool, tell: Tell) -> None:
        self.bounded = bounded
        self._tell = tell

    def recall(self, number: int, player: str, nano: int) -> None:
        if self.bounded:
            self._tell(Recalled(number, player, nano))

    def stop(self, number: int) -> None:
        """The leader has."""

    def leave(self, number: int) -> None:
        """The leader does, when it hears of it."""

    def close(self, number: int, *, decided: bool) -> None:
        """The leader does, when it hears of it."""
