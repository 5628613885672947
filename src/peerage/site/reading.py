"""An arena as its pages read it: one moment of its ledger, and what was computed from that so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from peerage.challenges.pool import STREAM, Pool
from peerage.engine.memory import learnt
from peerage.games import GAMES
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.merkle import GENESIS
from peerage.ledger.store import Summary
from peerage.ledger.votes import Votes
from peerage.settings import ArenaSettings, Rating, load, rules_of
from peerage.site.charts import Drawn
from peerage.site.meetings import Record, meetings
from peerage.site.moment import Moment, stops
from peerage.site.story import Reader
from peerage.standings import NOBODY, Standings, after_all, elo_settings, pinned_rating
from peerage.tables.challenges import LEAST_ATTEMPTS, ChallengeRow, rows
from peerage.tables.judges import JudgesReport, judges_of
from peerage.tables.leaderboard import Board, Row, board
from peerage.tables.played import Played, Scope
from peerage.tables.stats import Stats, stats_of
from peerage.tables.told import Told, together, told
from peerage.tables.tracks import METHODS, TRACKS, Track

Menu: TypeAlias = tuple[tuple[str, str], ...]
"""(path, name) of pages that the menu leads to."""

STRETCH = 1_000
"""Matches that are read at a time for statistics, and kept together."""


class Course(NamedTuple):
    """Where players stood after some match: ratings with their 95 % bounds, in the order of `players`."""

    players: Sequence[str]
    rating: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


class Site:
    """An arena up to record `number`, whose chain value is `chain` (hex); `amended` are the heads of streams.

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
        self._played: dict[int, Played] = {}
        self._standings: dict[int, Standings] = {}
        # What no further match changes is handed on; what becomes of challenges may change it.
        self._drawn: dict[str, Drawn] = before.used if before else {}
        self.used: dict[str, Drawn] = {}
        self.amended = ledger.stream_heads()
        same = before is not None and before.amended.get(STREAM) == self.amended.get(STREAM)
        self.courses: dict[tuple[str, int], Course] = before.lasting() if before and same else {}
        self.stretches: dict[int, Told] = before.whole() if before and same else {}

    @classmethod
    def open(cls, folder: Path, menu: Menu = ()) -> Site:
        """The arena in `folder` as it is now; `menu` are entries for what only a server has.

        Raises SettingsError and LedgerError.
        """
        settings = load(folder)
        ledger = open_ledger(settings.ledger, folder, create=False)
        return cls(settings, ledger, Votes(ledger.address, folder), menu=menu)

    def refreshed(self) -> Site:
        """The arena as it is now: this site itself while nothing was added to its ledger or amended."""
        if self.ledger.heads()[1] == self.number and self.ledger.stream_heads() == self.amended:
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
            self.moment.position(elo_settings(self._rating))
            self._boards[wanted] = board(self.moment, self.settings, wanted[0], Scope(game, topic))
        return self._boards[wanted]

    def table(self, track: str = "") -> Sequence[Row]:
        """The rows of the leaderboard of one track, by default the game's own."""
        return self.board(track).rows

    def earlier(self, track: Track, number: int) -> Course:
        """The ratings of one track as they were after match `number`."""
        if (track, number) not in self.courses:
            if number not in self._played:
                self._played[number] = self._whole.until(number)
            standings = self._stood(number) if track in ("raw", "cost") else NOBODY
            found = METHODS[track](self._played[number], self._rating, standings)
            self.courses[track, number] = Course(found.players, found.rating, found.lower, found.upper)
        return self.courses[track, number]

    @cached_property
    def _whole(self) -> Played:
        return Played(self.moment, Scope())

    @cached_property
    def _rating(self) -> Rating:
        return pinned_rating(self.moment.meta(), self.settings.rating)

    def _stood(self, number: int) -> Standings:
        """Where the arena stood on Elo after match `number`, folded on from the stop before it."""
        if number not in self._standings:
            last = max([stop for stop in list(self._standings) if stop < number], default=0)
            since = self._standings.get(last, NOBODY)
            further = self._played[number].finished[last:]
            self._standings[number] = after_all(since, further, elo_settings(self._rating))
        return self._standings[number]

    def drawing(self, digest: str, draw: Callable[[], Drawn]) -> Drawn:
        """A chart by the digest of its data, drawn if it is not there yet."""
        if digest not in self.used:
            self.used[digest] = self._drawn.get(digest) or draw()
        return self.used[digest]

    def remember(
        self,
        drawn: Mapping[str, Drawn],
        courses: Mapping[tuple[str, int], Course],
        stretches: Mapping[int, Told],
    ) -> None:
        """Take over what was computed for an earlier moment of this arena, and written down."""
        self._drawn |= drawn
        self.courses |= courses
        self.stretches |= stretches

    def lasting(self) -> dict[tuple[str, int], Course]:
        """The earlier ratings that the next moments need too."""
        kept = set(stops(self.number))
        return {key: found for key, found in self.courses.items() if key[1] in kept}

    @property
    def summaries(self) -> Sequence[Summary]:
        """The narrow table up to this moment."""
        return self.moment.narrow

    def stretch(self, first: int) -> Told:
        """What the matches from `first` on tell, `STRETCH` of them or as many as there are."""
        if first not in self.stretches:
            last = min(first + STRETCH - 1, self.number)
            self.stretches[first] = told(self.reader.matches(first, last))
        return self.stretches[first]

    def whole(self) -> dict[int, Told]:
        """The stretches read that no further match adds to, by their first match."""
        return {first: one for first, one in self.stretches.items() if first + STRETCH - 1 <= self.number}

    @cached_property
    def _told(self) -> Told:
        return together(map(self.stretch, range(1, self.number + 1, STRETCH)))

    @cached_property
    def stats(self) -> Stats:
        """What players, judges and authors did."""
        accounts = self.moment.position(elo_settings(self._rating)).accounts
        return stats_of(self.moment, self.settings, self._told, accounts)

    @cached_property
    def matches_of(self) -> dict[str, list[Summary]]:
        """The rows of the narrow table in which each player plays."""
        found: dict[str, list[Summary]] = {}
        for row in self.summaries:
            for player in row.players:
                found.setdefault(player, []).append(row)
        return found

    @cached_property
    def meetings(self) -> dict[str, dict[str, Record]]:
        """Every player's record against every other."""
        return meetings(self.summaries)

    @cached_property
    def judges(self) -> JudgesReport:
        """How the judges judge."""
        return judges_of(self.moment, self.settings, self._told)

    @cached_property
    def has_pool(self) -> bool:
        """Whether challenges come back in later matches of this arena."""
        return STREAM in self.amended or any(map(_pools, {row.game for row in self.summaries}))

    @cached_property
    def pool(self) -> list[ChallengeRow]:
        """The pool in the order of acceptance; answers only where their challenge is retired."""
        if not self.has_pool:
            return []
        own = _pools(self.settings.game)
        found = Pool(rules_of(self.settings).least_attempts if own else LEAST_ATTEMPTS)
        # From what is not redacted: some flags rest on answers, and a flag decides whether a challenge is
        # drawn.
        for _, number, facts in learnt(self.ledger, found, STREAM):
            if number <= self.number and _pools(self.summaries[number - 1].game):
                found.learn(number, facts)
        return rows(found)

    @cached_property
    def reader(self) -> Reader:
        """Reads matches as stories."""
        return Reader(self.moment)


def _pools(game: str) -> bool:
    return game in GAMES and GAMES[game].stream == STREAM
