"""A worker's money: it asks the leader for each call, and tells it what that cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from peerage.cluster.messages import Asks, News, Paid, Recalled
from peerage.engine.budget import Verdict
from peerage.engine.pending import Pending
from peerage.engine.player_runtime import PlayerRuntime
from peerage.players.client import InstantClient
from peerage.protocol import Ask


class AskedPurse:
    """Stands for the budget (`reservations.Purse`), of which the leader keeps account."""

    left = 0

    def __init__(self, bounded: bool, tell: Callable[[News], None]) -> None:
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

    def keep(self, number: int, key: str, player: str, nano: int) -> None:
        """Workers send no batches."""

    def take_up(self, number: int, key: str, player: str) -> int | None:
        return None


class AskedReservations:
    """Calls that wait for the leader to let them go (`reservations.Paying`). Replies that are computed here,
    with no budget to keep, need not. `durable(callback)` calls back when all that was journalled so far is
    durable: what a call cost is told then, so that leader and store never differ."""

    def __init__(
        self,
        bounded: bool,
        lines: Mapping[str, PlayerRuntime],
        tell: Callable[[News], None],
        durable: Callable[[Callable[[], None]], None],
    ) -> None:
        self.overrun: dict[str, int] = {}
        self._bounded = bounded
        self._lines = lines
        self._instant = {name for name, line in lines.items() if isinstance(line.client, InstantClient)}
        self._tell = tell
        self._durable = durable
        self._tickets = 0
        self._ticket_of: dict[Pending, int] = {}
        self._asked: dict[int, Pending] = {}
        self._decided: deque[tuple[Pending, Verdict]] = deque()

    def __len__(self) -> int:
        return len(self._asked)

    def wanted(self, player: str) -> bool:
        return self._bounded or player not in self._instant

    def submit(self, pending: Pending) -> None:
        self._tickets += 1
        ticket = self._ticket_of[pending] = self._tickets
        self._asked[ticket] = pending
        assert isinstance(pending.ask, Ask)
        tokens = self._lines[pending.player].tokens(pending.ask, pending.seed)
        self._tell(Asks(ticket, pending.match, pending.ask.key, pending.player, pending.worst, tokens))

    def answered(self, ticket: int, verdict: Verdict | None, reserved: int) -> Pending | None:
        """Take in what the leader decided: the call, where it still waits. None as the verdict: it need not
        be handed on by `decided`."""
        pending = self._asked.pop(ticket, None)
        if pending is None:
            return None
        if verdict is Verdict.YES:
            pending.reserved = reserved
        else:
            del self._ticket_of[pending]
        if verdict is not None:
            self._decided.append((pending, verdict))
        return pending

    def recall(self, unwanted: Callable[[Pending], bool]) -> list[Pending]:
        taken = [pending for pending in self._asked.values() if unwanted(pending)]
        self._asked = {ticket: pending for ticket, pending in self._asked.items() if not unwanted(pending)}
        for pending in taken:  # the leader need not think of them any more
            self.pay(pending, 0, known=True, answered=False)
        return taken

    def decided(self, queued: Callable[[str], bool]) -> Iterator[tuple[Pending, Verdict]]:
        while self._decided:
            yield self._decided.popleft()

    def pay(self, pending: Pending, nano: int, *, known: bool, answered: bool) -> None:
        ticket, reserved = self._ticket_of.pop(pending, 0), pending.reserved
        pending.reserved = 0
        player = pending.player
        if known and nano > reserved and self._bounded:
            self.overrun[player] = self.overrun.get(player, 0) + nano - reserved
        if ticket or nano or (answered and self._bounded):
            of = pending.match, pending.ask.key, pending.attempt, player
            self._durable(partial(self._tell, Paid(ticket, *of, nano, known, answered)))
