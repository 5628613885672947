"""The composition root: open an arena's folder, run it, read its tables.

import peerage

arena = peerage.open("my-arena")
arena.run(max_matches=100)
for row in arena.leaderboard(track="bt"):
    print(row.rank, row.player, row.rating)
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from peerage.ledger import Ledger, open_ledger
from peerage.settings import EVERY, ArenaError, ArenaSettings, load
from peerage.values.figures import counted

if TYPE_CHECKING:
    from peerage.engine.again.replay import ReplayReport
    from peerage.engine.run.report import RunReport
    from peerage.engine.run.runner import Runner
    from peerage.game.match import MatchRecord, Outcome, Recording
    from peerage.ledger import Summary
    from peerage.ledger.check.verify import Report
    from peerage.players.client import Client
    from peerage.playing.start import Beside
    from peerage.reading.reading import Reading
    from peerage.render.charts import Chart
    from peerage.render.table import Table
    from peerage.views.arena.tables import ArenaTables
    from peerage.views.catalogue import PlayerRow
    from peerage.views.decision.gate import Gate
    from peerage.views.leaderboard.row import Row
    from peerage.views.leaderboard.verdict import Verdict
    from peerage.views.match.match import MatchView
    from peerage.views.plan.estimate import Plan
    from peerage.views.plan.outlook import Outlook
    from peerage.views.players import PairRow
    from peerage.views.stats.report import Stats

_CHARTS = {"course": "ratings", "frontier": "cost"}
"""What the files of charts are called otherwise here."""

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
        """Release the ledger."""
        self.ledger.close()

    def ready(self) -> list[str]:
        """Return what a run of this release will do that cannot be taken back, such as ending the unfinished
        matches of an earlier version of the game; a run logs what was not asked for here.

        Raises what a run would refuse, before anybody is asked: ArenaError, SettingsError, LedgerError.
        """
        from peerage.playing.requirements import check, notices

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
        progress: bool | None = None,
    ) -> RunReport:
        """Play until `max_matches` of the arena are settled, the budget is spent, or Ctrl+C; resumes.

        The first Ctrl+C (or the interrupt of a notebook, SIGTERM, or SIGHUP of a terminal that was closed)
        lets calls in flight return, a second gives them up. Where an event loop runs already, as in a
        notebook, the run has a thread and a loop of its own, on which `observe` and `beside` are called.
        `progress` shows a bar; by default in a notebook and in a terminal, unless `beside` watches the run.
        Time during which the process was suspended does not count. See `play`. Raises
        ArenaError, SettingsError, LedgerError, PlayerError; whatever was recorded stays.
        """
        from peerage.engine.run.process import tuned
        from peerage.playing import start

        def play(watch: Beside | None) -> Coroutine[Any, Any, RunReport]:
            return self.play(
                max_matches,
                observe=observe,
                beside=start.both(beside, watch),
                clients=clients,
                replan=replan,
                signals=True,
            )

        shown = beside is None if progress is None else progress
        with tuned():
            return start.run(play, start.bar() if shown else None)

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
        from peerage.playing import run

        return await run.play(
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
        from peerage.playing import run

        return run.enter(self.settings, self.ledger, recordings)

    @property
    def reading(self) -> Reading:
        """Return what the ledger tells now: matches, sums, observations, each computed once when asked."""
        from peerage.reading.reading import Reading

        return Reading(self.settings, self.ledger)

    @property
    def players(self) -> Table[PlayerRow]:
        """Return who plays, in the order of the settings, with today's prices."""
        from peerage.render.table import Table
        from peerage.views.catalogue import players
        from peerage.views.players import players_table

        reading = self.reading
        listed = players(self.settings, datetime.now(UTC).date(), reading.outsiders)
        return Table(players_table([*listed]), names=reading.names)

    def leaderboard(
        self, track: str = "", *, game: str = "", topic: str = "", side: str = "", source: str = "all"
    ) -> Table[Row]:
        """The table of one track (`strength`, `bt`, `trueskill`, `raw`, `cost`, `glicko2`; empty: the game's
        own), best first, over everything or one game, topic or side; `source` as in `Scope`: all results,
        those played here, the outside ones, or those of one imported file.

        Raises ScopeError for a track, game, topic or source that is not there.
        """
        from peerage.reading.scope import Scope
        from peerage.render.table import Table
        from peerage.views.leaderboard.board import board
        from peerage.views.leaderboard.columns import table
        from peerage.views.leaderboard.tracks import METHODS

        reading = self.reading
        found = board(reading, track, Scope(game, topic, side=side, source=source))
        of = "" if source == "all" else source
        title = ", ".join(filter(None, (METHODS[found.track].name, game, topic, side, of)))
        return Table(table(found, title), found.notes, found.verdict.lines, reading.names)

    def verdict(
        self, track: str = "", *, game: str = "", topic: str = "", side: str = "", source: str = "all"
    ) -> Verdict:
        """Return the verdict of a table that `leaderboard` has: whom to pick, who may be as good, who is out,
        what is proven, what the pick gives up and how often it beats the others, the best value for money,
        what weakens that, and which judges favour each other. Raises LedgerError where a reply is not as it
        was logged."""
        from peerage.ledger.check.held import hold_replies
        from peerage.reading.scope import Scope
        from peerage.views.decision.decision import decision
        from peerage.views.leaderboard.board import board

        def ahead() -> Outlook | None:
            from peerage.views.plan.outlook import outlook

            return outlook(reading, scope)

        hold_replies(self.ledger)
        reading, scope = self.reading, Scope(game, topic, side=side, source=source)
        return decision(reading, board(reading, track, scope, judged=True), ahead)

    def gate(
        self,
        new: str,
        old: str,
        not_worse_by: str | None = None,
        *,
        elo: float | None = None,
        of: Literal["wins", "accuracy"] | None = None,
        game: str = "",
        topic: str = "",
        these_tasks: bool = False,
        by_topic: bool = False,
    ) -> Gate:
        """Return whether `new` is shown to be worse than `old` by no more than a margin: `"3%"` of wins or of
        accuracy, or so many `elo` points. `decision` is "shown", "worse" (by more, proven) or "open"; it
        holds at every look. Raises ScopeError for an unknown player or a wrong margin, LedgerError where a
        reply is not as it was logged."""
        from peerage.ledger.check.held import hold_replies
        from peerage.reading.scope import Scope
        from peerage.views.decision.gate import gate, margin

        hold_replies(self.ledger)
        return gate(
            self.reading,
            new,
            old,
            margin(not_worse_by, elo, of),
            scope=Scope(game, topic),
            these=these_tasks,
            by_topic=by_topic,
        )

    def outlook(self, one: str = "", other: str = "", until: str | None = None) -> Outlook:
        """Return what it takes to prove a goal, to have a clear pick, and to tell two players apart: further
        matches, their price, and the range in which they lie with 80%. `until` is a goal as `arena.yaml` has
        it, which is taken where none is given. Raises ScopeError where a player has no match, or nobody."""
        from peerage.reading.scope import ScopeError
        from peerage.settings.until import goal_of
        from peerage.views.plan.outlook import outlook

        reading = self.reading
        stated = [player.name for player in self.settings.players]
        there = reading.counted().players
        known = {*stated, *there}
        one, other = (name and reading.meant(name, known) for name in (one, other))
        if waiting := next((name for name in (one, other) if name and name not in there), ""):
            raise ScopeError(f"{waiting} has no result yet")
        if (one or other) and (not one or not other or one == other):
            raise ScopeError("name two players to tell apart, or none to ask who is best")
        try:
            goal = None if until is None else goal_of(until, stated or [*there])
        except ValueError as error:
            raise ScopeError(f"until: {error}") from None
        found = outlook(reading, names=(one, other) if one else None, goal=goal)
        if found is None:
            raise ScopeError("there is no result yet: play some first")
        return found

    def head_to_head(self) -> Table[PairRow]:
        """Return who beat whom how often: a row for each ordered pair that met in a decided match, in the
        order of the leaderboard."""
        from peerage.render.table import Table
        from peerage.views.players import pairs_table

        tables = self._tables()
        order = {row.player: place for place, row in enumerate(tables.table())}
        met = [pair for name in order for pair in tables.against(name)]
        return Table(pairs_table(sorted(met, key=lambda pair: (order[pair.player], order[pair.other]))))

    def chart(self, of: str = "", *, track: str = "") -> Chart:
        """A chart of one track (empty: the game's own): `cost` or `speed` against quality, `ratings` over the
        matches. By default the first there is.

        In a notebook it shows itself; `svg` is the picture. Raises ArenaError where there is no such chart,
        and ImportError where the extra `site` is not installed.
        """
        from peerage.render.table import drawing

        with drawing():
            from peerage.render.charts import draw
            from peerage.views.arena.charts import charts

            tables = self._tables()
            board = tables.board(track)
            drawn = list(charts(tables, board.track, board))
        found = {_CHARTS.get(stem := one.name.split("-")[0], stem): one for one in drawn}
        wanted = of or next(iter(found), "")
        if wanted not in found:
            there = f"there are {', '.join(found)}" if found else "no match played here has a result"
            raise ArenaError(f"there is no chart {of!r} here: {there}".replace(" chart ''", " chart"))
        return draw(found[wanted], tables.names)

    def _tables(self) -> ArenaTables:
        from peerage.ledger.topics.votes import PeopleVotes
        from peerage.views.arena.tables import ArenaTables

        return ArenaTables(self.settings, self.ledger, PeopleVotes(self.ledger.address, self.folder))

    def __repr__(self) -> str:
        return f"<Arena {', '.join(self._about())}>"

    def _about(self) -> list[str]:
        from peerage.reading.results.outside import in_words
        from peerage.values.texts import visible

        reading = self.reading
        players = {player.name for player in self.settings.players}.union(reading.outsiders)
        return [
            visible(self.settings.name or str(self.folder)),
            counted(len(players), "player"),
            in_words(reading.results(self.ledger.heads()[1])),
        ]

    def _repr_html_(self) -> str:
        from peerage.game.blocks import Heading, Sentence
        from peerage.render.html.writer import notebook

        name, *about = self._about()
        about_it = Sentence(" · ".join(about), "quiet")
        return notebook([Heading(name, 3), about_it, *self.leaderboard().blocks()], self.reading.names)

    def stats(self, *, game: str = "", topic: str = "") -> Stats:
        """Statistics of players, judges and authors, over everything or one game or topic."""
        from peerage.reading.scope import Scope
        from peerage.views.stats.report import stats

        return stats(self.reading, Scope(game, topic))

    def match(self, number: int) -> MatchView:
        """The whole of one match, finished or under way: who sat where, the blocks that tell it, every
        request and reply. Raises LedgerError when there is no such match."""
        from peerage.views.match.match import match_view

        return match_view(self.ledger, number)

    def plan(self, matches: int) -> Plan:
        """Return what so many further matches would ask and cost; asks and spends nothing."""
        from peerage.engine.again.recovery import histories
        from peerage.engine.again.usage import on_record
        from peerage.engine.record.registration import prices
        from peerage.views.plan.estimate import estimate

        priced = prices(self.ledger, self.settings.everyone, datetime.now(UTC).date())
        standings = self.reading.position.standings
        issued = histories(self.ledger) if len(self.settings.lineup) > 1 else {}
        return estimate(
            self.settings, priced, matches, standings, issued, on_record(self.ledger), self.ledger
        )

    def verify(self) -> Report:
        """Check every digest and chain of the ledger, and of the audience's votes that go with it."""
        from peerage.ledger.topics.votes import PeopleVotes
        from peerage.standings.verify import verify

        return verify(self.ledger, votes=PeopleVotes(self.ledger.address, self.folder))

    def replay(self) -> ReplayReport:
        """Recompute every outcome and rating offline, and compare."""
        from peerage.engine.again.replay import replay
        from peerage.engine.run.process import tuned

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
    from peerage.playing.requirements import with_playable

    settings, left_out = with_playable(settings)
    for why in left_out.values():
        logging.getLogger("peerage").warning("left out: %s", why)
    return settings


__all__ = ["Arena", "ArenaError", "open_arena"]
