"""The table of an arena while a run goes on: the final table's numbers, at little cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from peerage.cli.leaderboard import TITLES, laid_out
from peerage.cli.output import counted, fit, table
from peerage.figures import tenths, whole

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.tables.leaderboard import Board

AT_MOST = 0.02
"""The share of one processor that computing the table may take."""
SOONEST_S = 1.0
"""Seconds between two tables at least."""
LOOK_S = 0.25


class TableSoFar:
    """The leaderboard on the arena's own track, as it was at the last look."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self.found: Board | None = None
        self.bits = 0.0
        """The information that the matches brought up to then."""

    async def keep(self, decided: Callable[[], int]) -> None:
        """Compute the table again and again until cancelled, whenever more matches are `decided`: on a thread
        of its own, by a connection of its own, and so rarely that the run hardly notices."""
        from peerage.ledger import LedgerError
        from peerage.tables.played import ScopeError

        seen = 0
        while True:
            now, took = decided(), 0.0
            if now != seen:
                try:
                    self.found, took = await asyncio.to_thread(self.computed)
                    seen = now
                except (LedgerError, ScopeError):  # such as a server that is away: the run goes on, or tells
                    took = SOONEST_S * AT_MOST
            await asyncio.sleep(max(took / AT_MOST, SOONEST_S if took else LOOK_S))

    def leader(self) -> str:
        """Who is ahead of all others, and with how much; empty while nobody is."""
        if self.found is None:
            return ""
        ranked = [row for row in self.found.rows if row.rank is not None]
        if len(ranked) < 2 or ranked[0].rating == ranked[1].rating:
            return ""
        shown = tenths if self.found.track in ("trueskill", "points", "overall") else whole
        return f"{ranked[0].player} leads with {shown(ranked[0].rating)}"

    def shown(self, width: int, top: int) -> Any:
        """The best `top` as a table `width` characters wide; None before the first match with a result."""
        if self.found is None or not (matches := sum(self.found.games.values())):
            return None
        rows, columns, _ = laid_out(self.found)
        title = f"{TITLES[self.found.track]}, after {counted(matches, 'match', 'matches')}"
        return table(rows[:top], fit(rows, columns, width), title)

    def computed(self) -> tuple[Board, float]:
        """The table, and the seconds of a processor that it took, the modules it needs not counted."""
        from peerage.ledger import open_ledger
        from peerage.tables.costs import gained
        from peerage.tables.leaderboard import board
        from peerage.tables.played import EVERYTHING, Played

        began = time.thread_time()
        address, folder = self._arena.settings.ledger, self._arena.folder
        with closing(open_ledger(address, folder, create=False)) as ledger:
            played = Played(ledger, EVERYTHING)
            found = board(ledger, self._arena.settings, played=played)
            self.bits = gained(played).bits
        return found, time.thread_time() - began
