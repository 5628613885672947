"""Offers of matches to workers, written to the store many at a time, with the leases that are over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from itertools import count

from peerage.cluster.leases import Turn
from peerage.engine.record.journal import Journal


class Offers:
    """Offers that workers may claim, and those that no worker has any more, as `write(offers, over)` puts it
    in the store. Nothing is begun but while it is `open`. Leases that are over wait for an offer, or until
    there are more of them than are `spared`. `broken` hears why writing failed."""

    def __init__(
        self,
        journal: Journal,
        spared: int,
        write: Callable[[Sequence[Turn], Sequence[Turn]], Awaitable[None]],
        spawn: Callable[[Coroutine[object, object, None]], object],
        broken: Callable[[Exception], None],
    ) -> None:
        self.open = False
        self._journal = journal
        self._spared = spared
        self._write = write
        self._spawn = spawn
        self._broken = broken
        self._turns = count(1)
        self._offers: list[Turn] = []
        self._over: list[Turn] = []
        self._writing = False

    def offer(self, number: int) -> int:
        """Let workers claim a match once its rows are durable; return the number of this offer."""
        turn = next(self._turns)
        self._journal.then(partial(self._add, (number, turn)))
        return turn

    def end(self, turn: Turn) -> None:
        """Note that nobody drives a match any more."""
        self._over.append(turn)
        if len(self._over) > self._spared:
            self.soon()

    def soon(self) -> None:
        """Write what there is to write."""
        if self.open and not self._writing:
            self._writing = True
            self._spawn(self._now())

    def _add(self, turn: Turn) -> None:
        self._offers.append(turn)
        self.soon()

    async def _now(self) -> None:
        try:
            while self._offers or len(self._over) > self._spared:
                offers, over, self._offers, self._over = self._offers, self._over, [], []
                await self._write(offers, over)
        except Exception as fault:
            self._broken(fault)
        finally:
            self._writing = False
