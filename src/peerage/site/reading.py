"""An arena as its pages read it: one moment of its ledger, and what was computed from that so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from peerage.games import GAMES
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.merkle import GENESIS
from peerage.ledger.store import Summary
from peerage.ledger.votes import Votes
from peerage.settings import ArenaSettings, load
from peerage.site.charts import Drawn
from peerage.site.meetings import Record, meetings
from peerage.site.moment import Moment, stops
from peerage.site.story import Reader
from peerage.standings import NOBODY, after_all, elo_settings, pinned_rating
from peerage.tables.judges import JudgesReport, judges
from peerage.tables.leaderboard import Board, Row, board
from peerage.tables.played import Played, Scope
from peerage.tables.stats import Stats, stats
from peerage.tables.tracks import METHODS, TRACKS, Track

Menu: TypeAlias = tuple[tuple[str, str], ...]
"""(path, name) of pages that the menu leads to."""


class Course(NamedTuple):
    """Where players stood after some match: ratings with their 95 % bounds, in the order of `players`."""

    players: Sequence[str]
    rating: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


class Site:
    """An arena up to record `number`, whose chain value is `chain` (hex).

    `ledger` may have gone on since; pages read `moment`, where it ends with this record. What a page needs is
    computed when it is first asked for, and kept. `refreshed` gives the next moment. Threads may share a
    site: at worst two of them compute the same.
    """

    def __init__(
        self,
        settings: ArenaSettings,
        ledger: Ledger,
        votes: Votes,
        before: Site | None = None,
        menu: Menu = (),
        number: int | None = None,
    ) -> None:
        number = ledger.heads()[1] if number is None else number
        self.settings = settings
        self.votes = votes
        self.menu = menu
        self.ledger = ledger
        self.moment = Moment(ledger, number, before.summaries if before else ())
        self.number = number
        self.chain = next((row.chain for row in ledger.records(number, number)), GENESIS).hex()
        self._boards: dict[tuple[str, str, str], Board] = {}
        # What no further match changes is handed on.
        self._drawn: dict[str, Drawn] = before.used if before else {}
        self.used: dict[str, Drawn] = {}
        self.courses: dict[tuple[str, int], Course] = before.lasting() if before else {}

    @classmethod
    def open(cls, folder: Path, menu: Menu = ()) -> Site:
        """The arena in `folder` as it is now; `menu` are entries for what only a server has.

        Raises SettingsError and LedgerError.
        """
        settings = load(folder)
        ledger = open_ledger(settings.ledger, folder, create=False)
        return cls(settings, ledger, Votes(ledger.address, folder), menu=menu)

    def refreshed(self) -> Site:
        """The arena as it is now: this site itself while no match was added to it."""
        if self.ledger.heads()[1] == self.number:
            return self
        return Site(self.settings, self.ledger, self.votes, self, self.menu)

    def at(self, number: int) -> Site:
        """The arena as it was after record `number`."""
        return Site(self.settings, self.ledger, self.votes, menu=self.menu, number=number)

    def close(self) -> None:
        """Release the ledger, which refreshed sites share."""
        self.ledger.close()

    @property
    def track(self) -> Track:
        """The track that the arena's game shows first."""
        first = GAMES[self.settings.game].tracks[0]
        return next(track for track in TRACKS if track == first)

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        """The tracks that have pages: those that the game feeds, its own first, then what any match feeds."""
        duels = any(len(row.players) == 2 for row in self.summaries)
        fed = [track for track in TRACKS if track in GAMES[self.settings.game].tracks]
        sequential: tuple[Track, ...] = ("raw", "cost") if duels else ()
        return tuple(dict.fromkeys((self.track, *fed, "bt", *sequential, "trueskill", "glicko2")))

    def board(self, track: str = "", game: str = "", topic: str = "") -> Board:
        """The leaderboard of one track, by default the game's own, over one game or topic or all."""
        wanted = (track or self.track, game, topic)
        if wanted not in self._boards:
            self._boards[wanted] = board(self.moment, self.settings, wanted[0], Scope(game, topic))
        return self._boards[wanted]

    def table(self, track: str = "") -> Sequence[Row]:
        """The rows of the leaderboard of one track, by default the game's own."""
        return self.board(track).rows

    def earlier(self, track: Track, number: int) -> Course:
        """The ratings of one track as they were after match `number`."""
        if (track, number) not in self.courses:
            played = Played(self.moment.earlier(number), Scope())
            rating = pinned_rating(self.moment.meta(), self.settings.rating)
            standings = after_all(NOBODY, played.finished, elo_settings(rating))
            for one in self.tracks:  # what they have in common takes longest
                found = METHODS[one](played, rating, standings)
                self.courses[one, number] = Course(found.players, found.rating, found.lower, found.upper)
        return self.courses[track, number]

    def drawing(self, digest: str, draw: Callable[[], Drawn]) -> Drawn:
        """A chart by the digest of its data, drawn if it is not there yet."""
        if digest not in self.used:
            self.used[digest] = self._drawn.get(digest) or draw()
        return self.used[digest]

    def remember(self, drawn: Mapping[str, Drawn], courses: Mapping[tuple[str, int], Course]) -> None:
        """Take over what was computed for an earlier moment of this arena, and written down."""
        self._drawn |= drawn
        self.courses |= courses

    def lasting(self) -> dict[tuple[str, int], Course]:
        """The earlier ratings that the next moments need too."""
        kept = set(stops(self.number))
        return {key: found for key, found in self.courses.items() if key[1] in kept}

    @property
    def summaries(self) -> Sequence[Summary]:
        """The narrow table up to this moment."""
        return self.moment.narrow

    @cached_property
    def stats(self) -> Stats:
        """What players, judges and authors did."""
        return stats(self.moment, self.settings)

    @cached_property
    def meetings(self) -> dict[str, dict[str, Record]]:
        """Every player's record against every other."""
        return meetings(self.summaries)

    @cached_property
    def judges(self) -> JudgesReport:
        """How the judges judge."""
        return judges(self.moment, self.settings)

    @cached_property
    def reader(self) -> Reader:
        """Reads matches as stories."""
        return Reader(self.moment)
