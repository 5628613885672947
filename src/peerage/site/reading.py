"""An arena as its pages read it: one moment of its ledger, and what was computed from that so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

from peerage.accounts import possibly_billed
from peerage.challenges.pool import STREAM, Pool
from peerage.engine.memory import learnt
from peerage.games import GAMES
from peerage.ledger import Ledger, open_ledger
from peerage.ledger.merkle import GENESIS
from peerage.ledger.store import Summary
from peerage.ledger.votes import Votes
from peerage.settings import ArenaSettings, Rating, load, rules_of
from peerage.site.charts import Drawn, Spec, drawn
from peerage.site.ledger_at import Moment, stops
from peerage.site.reader import Reader
from peerage.site.tally import Mine, Record, Tally
from peerage.standings import NOBODY, Standings, after_all, elo_settings, pinned_rating
from peerage.tables.challenges import LEAST_ATTEMPTS, ChallengeRow, rows
from peerage.tables.judges import JudgesReport, families_of, judges_of
from peerage.tables.leaderboard import Board, Row, board
from peerage.tables.played import Played, Scope
from peerage.tables.stats import JudgeStats, Stats, judge_stats, stats_of
from peerage.tables.told import Told, in_sum, together, told
from peerage.tables.tracks import METHODS, TRACKS, Track

Menu: TypeAlias = tuple[tuple[str, str], ...]
"""(path, name) of pages that the menu leads to."""

STRETCH = 1_000
"""Matches that are read at a time for statistics, and kept together."""

LONG = 10 * STRETCH
"""Matches from which on judges are judged by whole stretches alone: it takes seconds, and a few matches more
move nothing that can be seen."""


class Course(NamedTuple):
    """Where players stood after some match: ratings with their 95 % bounds, in the order of `players`."""

    players: Sequence[str]
    rating: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


class Judged(Struct, frozen=True):
    """What is known of judges after match `number`, whose players are of these `families`."""

    number: int
    families: dict[str, str]
    report: JudgesReport
    statistics: tuple[JudgeStats, ...]


class Known(Struct, frozen=True):
    """What was computed for an earlier moment of an arena, which holds as long as the matches up to it stand:
    charts, the courses of ratings by (track, match), sums over the narrow table, what all full stretches of
    matches tell in sum, and what is known of judges."""

    drawn: dict[str, Drawn] = {}
    courses: dict[tuple[str, int], Course] = {}
    tally: Tally = field(default_factory=Tally)
    sums: Told = field(default_factory=Told)
    judged: Judged | None = None


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
        self.draw: Callable[[Spec, str], Drawn] = drawn
        self.stored: Callable[[int], Told | None] = _nothing
        self.amended = ledger.stream_heads()
        # What no further match changes is handed on; what becomes of challenges may change it.
        same = before is not None and before.amended.get(STREAM) == self.amended.get(STREAM)
        known = before.known() if before else Known()
        self._known = known if same else Known(known.drawn)
        self._stretches: dict[int, Told] = dict(before._stretches) if before and same else {}
        self._courses = dict(self._known.courses)
        self._drawn: dict[str, Drawn] = {}

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
        fed = [track for track in TRACKS if track in GAMES[self.settings.game].tracks]
        sequential: tuple[Track, ...] = ("raw", "cost") if self.tally.duels else ()
        return tuple(dict.fromkeys((self.track, *fed, "bt", *sequential, "trueskill", "glicko2")))

    def board(self, track: str = "", game: str = "", topic: str = "") -> Board:
        """The leaderboard of one track, by default the game's own, over one game or topic or all."""
        wanted = (track or self.track, game, topic)
        if wanted not in self._boards:
            self.moment.position(elo_settings(self._rating))
            played = None if game or topic else self._whole
            self._boards[wanted] = board(self.moment, self.settings, wanted[0], Scope(game, topic), played)
        return self._boards[wanted]

    def table(self, track: str = "") -> Sequence[Row]:
        """The rows of the leaderboard of one track, by default the game's own."""
        return self.board(track).rows

    def earlier(self, track: Track, number: int) -> Course:
        """The ratings of one track as they were after match `number`."""
        if (track, number) not in self._courses:
            if number not in self._played:
                self._played[number] = self._whole.until(number)
            standings = self._stood(number) if track in ("raw", "cost") else NOBODY
            found = METHODS[track](self._played[number], self._rating, standings)
            self._courses[track, number] = Course(found.players, found.rating, found.lower, found.upper)
        return self._courses[track, number]

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

    def drawing(self, digest: str, spec: Spec, label: str) -> Drawn:
        """A chart by the digest of its data, drawn if it is not there yet."""
        if digest not in self._drawn:
            self._drawn[digest] = self._known.drawn.get(digest) or self.draw(spec, label)
        return self._drawn[digest]

    def remember(self, known: Known, stored: Callable[[int], Told | None]) -> None:
        """Take over what was computed for an earlier moment of this arena, and written down; `stored` gives
        what is known of the stretch that begins with a match, which may have ended before it was full."""
        self._known, self.stored = known, stored
        self._courses = dict(known.courses)

    def known(self) -> Known:
        """What was computed for this moment, or before it, and the next one needs too."""
        kept, computed = set(stops(self.number)), self.__dict__
        return Known(
            dict(self._drawn),
            {key: course for key, course in self._courses.items() if key[1] in kept},
            computed.get("tally", self._known.tally),
            computed.get("_full", self._known.sums),
            computed.get("judged", self._known.judged),
        )

    @property
    def summaries(self) -> Sequence[Summary]:
        """The narrow table up to this moment."""
        return self.moment.rows

    @cached_property
    def tally(self) -> Tally:
        """Sums over the narrow table."""
        before = self._known.tally
        rows = self.moment.summaries(before.number + 1, self.number) if before.number else self.summaries
        return before.after(rows)

    def met(self, player: str, other: str) -> Record:
        """The record of one player against another."""
        return self.tally.players.get(player, Mine()).against.get(other, Record())

    def stretch(self, first: int) -> Told:
        """What the matches from `first` on tell, `STRETCH` of them or as many as there are."""
        last = min(first + STRETCH - 1, self.number)
        found = self._stretches.get(first) or self.stored(first) or Told()
        since = first + found.matches
        if since <= last:
            more = told(self.reader.matches(since, last))
            found = together([found, more]) if found.matches else more
        self._stretches[first] = found
        return found

    def forget(self, first: int) -> None:
        """Keep no longer what a stretch tells."""
        self._stretches.pop(first, None)

    @cached_property
    def _full(self) -> Told:
        """What all full stretches tell in sum."""
        before, end = self._known.sums, self.number - self.number % STRETCH
        more = [in_sum(self.stretch(first)) for first in range(before.matches + 1, end + 1, STRETCH)]
        return together([before, *more])

    @cached_property
    def possibly(self) -> Mapping[str, float]:
        """What players may have been billed beyond what is known, in dollars."""
        found = possibly_billed(self.moment, elo_settings(self._rating))
        return {player: nano / 1e9 for player, nano in found.items()}

    @cached_property
    def stats(self) -> Stats:
        """What players, judges and authors did; judges up to match `judged.number`."""
        accounts = self.moment.position(elo_settings(self._rating)).accounts
        parts = [self._full]
        if self._full.matches < self.number:
            parts.append(in_sum(self.stretch(self._full.matches + 1)))
        return stats_of(self.moment, self.settings, together(parts), accounts, self.judged.statistics)

    @cached_property
    def judged(self) -> Judged:
        """What is known of judges: up to now, or in a long arena up to the last full stretch."""
        number = self.number if self.number < LONG else self.number - self.number % STRETCH
        families = families_of(self.moment, self.settings)
        known = self._known.judged
        if known is not None and (known.number, known.families) == (number, families):
            return known
        read = together(map(self.stretch, range(1, number + 1, STRETCH)))
        report = judges_of(self.moment, self.settings, read)
        return Judged(number, families, report, judge_stats(read, families))

    @cached_property
    def has_pool(self) -> bool:
        """Whether challenges come back in later matches of this arena."""
        return STREAM in self.amended or any(map(_pools, self.tally.games))

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
        """Reads matches."""
        return Reader(self.moment)


def _nothing(first: int) -> None:
    """No stretch is stored."""


def _pools(game: str) -> bool:
    return game in GAMES and GAMES[game].stream == STREAM
