"""The composition root: open an arena's folder, run it, read its tables.

import peerage

arena = peerage.open("my-arena")
arena.run(max_matches=100)
for row in arena.leaderboard(track="bt"):
    print(row["rank"], row["player"], row["rating"])
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from peerage.ledger import Ledger, open_ledger
from peerage.settings import EVERY, ArenaError, ArenaSettings, load

if TYPE_CHECKING:
    from peerage.engine.replay import ReplayReport
    from peerage.engine.report import RunReport
    from peerage.engine.runner import Runner
    from peerage.ledger.store import Summary
    from peerage.ledger.verify import Report
    from peerage.match import MatchRecord, Outcome, Recording
    from peerage.players.client import Client
    from peerage.tables.leaderboard import Board
    from peerage.tables.match_view import MatchView
    from peerage.tables.plan import Plan
    from peerage.tables.stats import Stats
    from peerage.tables.verdict import Verdict

Observer: TypeAlias = "Callable[[MatchRecord, Summary], None]"
OpenClient: TypeAlias = "Callable[[Any], Client]"


class Arena:
    """An arena in a folder: `arena.yaml` and its ledger. Close it, or use it as a context manager."""

    def __init__(self, folder: Path, settings: ArenaSettings, ledger: Ledger) -> None:
        self.folder = folder
        self.settings = settings
        self.ledger = ledger
        self._noticed: list[str] = []

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.ledger.close()

    def ready(self) -> list[str]:
        """What a run of this release will do that cannot be taken back, such as ending the unfinished matches
        of an earlier version of the game; a run logs what was not asked for here.

        Raises what a run would refuse, before anybody is asked: ArenaError, SettingsError, LedgerError.
        """
        from peerage.requirements import check, notices

        check(self.settings, self.ledger)
        self._noticed = notices(self.settings, self.ledger)
        return self._noticed

    def run(
        self,
        max_matches: int | None = None,
        *,
        observe: Observer | None = None,
        beside: Callable[[Runner], Awaitable[None]] | None = None,
        clients: OpenClient | None = None,
        replan: Callable[[], None] | None = None,
    ) -> RunReport:
        """Play until `max_matches` of the arena are settled, the budget is spent, or Ctrl+C; resumes.

        The first Ctrl+C (or SIGTERM, or SIGHUP of a terminal that was closed) lets calls in flight return, a
        second gives them up. Time during which the process was suspended does not count. See `play`. Raises
        ArenaError, SettingsError, LedgerError, PlayerError; whatever was recorded stays.
        """
        from peerage.engine import awake
        from peerage.playing import tuned

        with tuned():
            return awake.run(
                self.play(
                    max_matches,
                    observe=observe,
                    beside=beside,
                    clients=clients,
                    replan=replan,
                    signals=True,
                )
            )

    async def play(
        self,
        max_matches: int | None = None,
        *,
        observe: Observer | None = None,
        beside: Callable[[Runner], Awaitable[None]] | None = None,
        clients: OpenClient | None = None,
        replan: Callable[[], None] | None = None,
        inline: bool = False,
        signals: bool = False,
    ) -> RunReport:
        """The same on a running event loop.

        `observe(record, summary)` is called for each match once it is durable. `beside(runner)` runs as a
        task next to the run (a live view) and is cancelled at its end. `clients` opens a player otherwise
        than by its settings (simulation). `replan` is called when a probe has shown that a player thinks
        before it answers, which `plan` did not know; what it raises ends the run. `inline` journals without a
        thread, for virtual time. `signals` stops the run on SIGINT, SIGTERM and SIGHUP; only for the main
        thread.
        """
        from peerage import playing

        return await playing.play(
            self.folder,
            self.settings,
            self.ledger,
            max_matches,
            observe=observe,
            beside=beside,
            clients=clients,
            replan=replan,
            inline=inline,
            signals=signals,
            known=self._noticed,
        )

    def admit(self, recordings: Iterable[Recording]) -> list[Outcome]:
        """Enter matches of this arena's game that were recorded elsewhere; what each came to, in order.

        Raises LedgerError when matches are under way or a record lacks a reply; then none is entered.
        """
        from peerage import playing

        return playing.enter(self.settings, self.ledger, recordings)

    def leaderboard(
        self, track: str = "", *, game: str = "", topic: str = "", side: str = ""
    ) -> list[dict[str, Any]]:
        """The table of one track (`bt`, `trueskill`, `raw`, `cost`, `glicko2`; empty: the game's own), best
        first, over everything or one game, topic or side; see `tables.leaderboard.Row`.
        """
        return [row.as_dict() for row in self._board(track, game, topic, side).rows]

    def verdict(self, track: str = "", *, game: str = "", topic: str = "", side: str = "") -> Verdict:
        """What the table of one track comes to: who is best or may be, the best value for money, how often
        the first beats the others, what weakens that, and what it takes to be sure."""
        return self._board(track, game, topic, side).verdict

    def _board(self, track: str, game: str, topic: str, side: str) -> Board:
        from peerage.ledger.votes import Votes
        from peerage.tables.leaderboard import board
        from peerage.tables.played import Scope

        people = Votes(self.ledger.address, self.folder)
        return board(self.ledger, self.settings, track, Scope(game, topic, side=side), people=people)

    def stats(self, *, game: str = "", topic: str = "") -> Stats:
        """Statistics of players, judges and authors, over everything or one game or topic."""
        from peerage.tables.played import Scope
        from peerage.tables.stats import stats

        return stats(self.ledger, self.settings, Scope(game, topic))

    def match_view(self, number: int) -> MatchView:
        """The whole of one match, finished or under way. Raises LedgerError when there is no such match."""
        from peerage.tables.match_view import match_view

        return match_view(self.ledger, number)

    def plan(self, matches: int) -> Plan:
        """What so many further matches would ask and cost; asks and spends nothing."""
        from peerage.accounts import position
        from peerage.engine.recovery import histories
        from peerage.engine.registration import prices
        from peerage.standings import pinned_elo
        from peerage.tables.plan import estimate

        priced = prices(self.ledger, self.settings.players, datetime.now(UTC).date())
        standings = position(self.ledger, pinned_elo(self.ledger.meta(), self.settings.rating)).standings
        issued = histories(self.ledger) if len(self.settings.lineup) > 1 else {}
        return estimate(self.settings, priced, matches, standings, issued)

    def verify(self) -> Report:
        """Check every digest and chain of the ledger, and of the audience's votes beside it."""
        from peerage.ledger.verify import verify
        from peerage.ledger.votes import Votes

        return verify(self.ledger, votes=Votes(self.ledger.address, self.folder))

    def replay(self) -> ReplayReport:
        """Recompute every outcome and rating offline, and compare."""
        from peerage.engine.replay import replay
        from peerage.playing import tuned

        with tuned():
            return replay(self.ledger)


def open_arena(folder: str | Path = ".", *, create: bool = True) -> Arena:
    """Open the arena in `folder`, to play; without `create` to read: its ledger must be there, its game need
    not be installed.

    Raises SettingsError and LedgerError.
    """
    path = Path(folder)
    settings = load(path, reading=not create)
    if create and EVERY in settings.games:
        settings = _playable(settings)
    return Arena(path, settings, open_ledger(settings.ledger, path, create=create))


def _playable(settings: ArenaSettings) -> ArenaSettings:
    """The settings with the games that can be played here in place of `all`; those left out are logged."""
    from peerage.requirements import with_playable

    settings, left_out = with_playable(settings)
    for why in left_out.values():
        logging.getLogger("peerage").warning("left out: %s", why)
    return settings


__all__ = ["Arena", "ArenaError", "open_arena"]
