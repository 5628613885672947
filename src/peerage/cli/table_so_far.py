"""The table of an arena while a run goes on: the final table's numbers, at little cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from peerage.cli.leaderboard import TITLES, laid_out
from peerage.cli.output import alike, fit, named, table
from peerage.figures import counted, likely, tenths, whole
from peerage.protocol import visible

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.ledger import Ledger
    from peerage.settings import ArenaSettings
    from peerage.tables.costs import Gained
    from peerage.tables.leaderboard import Board
    from peerage.tables.outlook import Outlook
    from peerage.tables.played import PlayedMatches

AT_MOST = 0.05
"""The share of one processor that computing the table may take."""
AHEAD_AT_MOST = 0.05
"""The same for what it takes to be sure."""
PAIR_S = 0.002
"""About what that takes for each pair of players, before it is known."""
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
        self.outlook: Outlook | None = None
        self._ahead_at = time.monotonic() + PAIR_S * len(arena.settings.players) ** 2 / AHEAD_AT_MOST
        self._bought: tuple[Sequence[str], ...] = ()

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
        """The pick so far, and its chance to be the best; empty before two players met."""
        if self.found is None or self.found.verdict.players < 2:
            return ""
        return f"pick {self.found.verdict.pick} ({likely(self.found.verdict.chance)})"

    def shown(self, width: int, top: int) -> Any:
        """The best `top` as a table `width` characters wide; None before the first match with a result."""
        if self.found is None or not (matches := sum(self.found.games.values())):
            return None
        rows, columns, _ = laid_out(self.found)
        title = f"{TITLES[self.found.track]}, after {counted(matches, 'match')}"
        columns = fit(rows, alike(columns, rows), width)
        return table(named(rows[:top], columns, width), columns, title)

    def ahead(self) -> str:
        """Return the matches it takes to reach the run's goal, or to prove the best; empty while unknown."""
        return visible(self.outlook.in_short) if self.outlook else ""

    def bought(self, width: int) -> Iterator[str]:
        """What a dollar brings, a line for players and one for kinds of matches, the most first; none while
        nothing is known to be spent."""
        for parts in self._bought:
            line, *more = parts
            for part in more:
                if len(line) + len(part) + 2 > width:
                    break
                line += f", {part}"
            yield visible(line)

    def computed(self) -> tuple[Board, float]:
        """The table, and the seconds of a processor that it took, the modules it needs not counted."""
        from peerage.ledger import open_ledger
        from peerage.tables.costs import gained
        from peerage.tables.leaderboard import board
        from peerage.tables.played import EVERYTHING, PlayedMatches

        began = time.thread_time()
        address, folder = self._arena.settings.ledger, self._arena.folder
        with closing(open_ledger(address, folder, create=False)) as ledger:
            played = PlayedMatches(ledger, EVERYTHING)
            found = board(ledger, self._arena.settings, played=played)
            brought = gained(played)
            self.bits = brought.bits
            took = time.thread_time() - began
            self._look_ahead(ledger, played, brought)
        return found, took

    def _look_ahead(self, ledger: Ledger, played: PlayedMatches, brought: Gained) -> None:
        """Compute what it takes to be sure and what a dollar brought, unless that was done not long ago for
        the time that it takes."""
        from peerage.tables.outlook import outlook

        began, now = time.thread_time(), time.monotonic()
        if now < self._ahead_at:
            return
        settings = self._arena.settings
        self.outlook = outlook(played, settings)
        self._bought = tuple(_bought(ledger, settings, played, brought))
        self._ahead_at = now + (time.thread_time() - began) / AHEAD_AT_MOST


def _bought(
    ledger: Ledger, settings: ArenaSettings, played: PlayedMatches, brought: Gained
) -> Iterator[Sequence[str]]:
    """Matches and bits a dollar, of players and of topics or games."""
    from peerage.standings import pinned_elo
    from peerage.standings.accounts import position
    from peerage.tables.costs import cost_stats, kind_stats
    from peerage.tables.hosts import hosted_stats

    accounts = position(ledger, pinned_elo(ledger.meta(), settings.rating)).accounts
    players = cost_stats([*accounts], accounts, hosted_stats(ledger), brought)
    kinds = [*kind_stats(played, brought, any(one.unknown_costs for one in accounts.values()))]
    by_player = [(one.bits_per_usd, one.matches_per_usd, one.player) for one in players]
    by_kind = [(one.bits_per_usd, one.matches_per_usd, one.kind) for one in kinds] if len(kinds) > 1 else []
    for what, rows in (("a dollar buys", by_player), (f"by {kinds[0].by}" if kinds else "", by_kind)):
        first, *more = [
            f"{name} {_short(matches)} matches and {_short(bits)} bits"
            for bits, matches, name in sorted(rows, key=lambda row: (-(row[0] or 0.0), row[2]))
            if bits is not None and matches is not None
        ] or [""]
        if first:
            yield [f"{what}: {first}", *more]


def _short(value: float) -> str:
    """A number to two digits at least."""
    return whole(value) if value >= 10 else tenths(value)
