"""The leader of an arena while a run goes on: by the final table's numbers, at little cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from peerage.figures import likely
from peerage.protocol import visible

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.tables.leaderboard import Board
    from peerage.tables.outlook import Outlook
    from peerage.tables.played import PlayedMatches

AT_MOST = 0.01
"""The share of the run's own processor time that computing the table may take, and as much again for what it
takes to be sure."""
PAIR_S = 0.002
"""About what that takes for each pair of players, before it is known."""
SOONEST_S = 3.0
"""Seconds between two tables at least."""
LATEST_S = 30.0
"""Seconds after which there may be another one anyway, as in a run that mostly waits for providers."""
LOOK_S = 0.25


@dataclass(slots=True)
class Seldom:
    """A computation that is due so seldom that it takes at most `AT_MOST` of the processor time `cpu` of the
    whole process, yet at least every `LATEST_S`. Times in seconds."""

    soonest: float = 0.0
    latest: float = 0.0
    cpu: float = 0.0

    def due(self, now: float, cpu: float) -> bool:
        """Return whether it may be computed once more."""
        return now >= self.soonest and (cpu >= self.cpu or now >= self.latest)

    def took(self, seconds: float, now: float, cpu: float) -> None:
        """Take in how much processor time it took, or will take."""
        self.soonest, self.latest = now + SOONEST_S, now + LATEST_S
        self.cpu = cpu + seconds / AT_MOST


class TableSoFar:
    """The leaderboard on the arena's own track, as it was at the last look."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self.found: Board | None = None
        self.outlook: Outlook | None = None
        # A table of the first few matches would tell little, and stand for long.
        self._table, self._ahead = Seldom(time.monotonic() + SOONEST_S), Seldom()
        needed = PAIR_S * len(arena.settings.players) ** 2
        self._ahead.took(needed, time.monotonic(), time.process_time())

    async def keep(self, decided: Callable[[], int]) -> None:
        """Compute the table again and again until cancelled, whenever more matches are `decided`: on a thread
        of its own, by a connection of its own, and so rarely that the run hardly notices."""
        from peerage.ledger import LedgerError
        from peerage.tables.played import ScopeError

        seen = 0
        while True:
            now = decided()
            if now != seen and self._table.due(time.monotonic(), time.process_time()):
                took = 0.0
                try:
                    self.found, took = await asyncio.to_thread(self.computed)
                    seen = now
                except (LedgerError, ScopeError):  # such as a server that is away: the run goes on, or tells
                    pass
                self._table.took(took, time.monotonic(), time.process_time())
            await asyncio.sleep(LOOK_S)

    def leader(self) -> str:
        """The pick so far, and its chance to be the best; empty before two players met."""
        if self.found is None or self.found.verdict.players < 2:
            return ""
        return f"pick {self.found.verdict.pick} ({likely(self.found.verdict.chance)})"

    def ahead(self) -> str:
        """Return the matches it takes to reach the run's goal, or to prove the best; empty while unknown."""
        return visible(self.outlook.in_short) if self.outlook else ""

    def computed(self) -> tuple[Board, float]:
        """The table, and the seconds of a processor that it took, the modules it needs not counted."""
        from peerage.ledger import open_ledger
        from peerage.tables.leaderboard import board
        from peerage.tables.played import EVERYTHING, PlayedMatches

        began = time.thread_time()
        address, folder = self._arena.settings.ledger, self._arena.folder
        with closing(open_ledger(address, folder, create=False)) as ledger:
            played = PlayedMatches(ledger, EVERYTHING)
            found = board(ledger, self._arena.settings, played=played)
            took = time.thread_time() - began
            self._look_ahead(played)
        return found, took

    def _look_ahead(self, played: PlayedMatches) -> None:
        """Compute what it takes to be sure, unless that was done not long ago for the time that it takes."""
        from peerage.tables.outlook import outlook

        if self._ahead.due(time.monotonic(), time.process_time()):
            began = time.thread_time()
            self.outlook = outlook(played, self._arena.settings)
            self._ahead.took(time.thread_time() - began, time.monotonic(), time.process_time())
