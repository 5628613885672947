"""A reading with what tables make of it, each computed once: what the views of a whole arena ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from peerage.challenges.pool import STREAM
from peerage.engine.record.challenges import pool, pools
from peerage.game.match import DONE
from peerage.games import tracks_of
from peerage.judging.measures.corrections import Correction
from peerage.ledger import Ledger, Summary
from peerage.ledger.forms.merkle import GENESIS
from peerage.ledger.topics.outside import TOPIC
from peerage.ledger.topics.series import given_of, shown
from peerage.ledger.topics.votes import PeopleVotes
from peerage.reading.moment import Moment
from peerage.reading.observations import Observations, observe, together
from peerage.reading.reading import Reading
from peerage.reading.results.played import PlayedMatches
from peerage.reading.results.tally import MatchSums, PlayerSums, Record
from peerage.reading.scope import Scope
from peerage.reading.speed import Speed, speeds_of
from peerage.reading.verdicts.credits import about_tasks
from peerage.settings import ArenaSettings
from peerage.standings.fold import NOBODY, Standings, after_all
from peerage.values import grouped
from peerage.views.challenges import ChallengeRow, rows
from peerage.views.decision.decision import decision
from peerage.views.judges.report import JudgesReport, judges_of
from peerage.views.leaderboard.board import Leaderboard, Row, board, first_track
from peerage.views.leaderboard.corrected import CorrectedRow, what_would_change
from peerage.views.leaderboard.overall import Profile, profiles
from peerage.views.leaderboard.tracks import METHODS, TRACKS, Ratings, Track
from peerage.views.leaderboard.verdict import Verdict
from peerage.views.plan.outlook import Outlook, outlook
from peerage.views.players import PairRow
from peerage.views.stats.report import Stats, stats


class ArenaTables(Reading):
    """The reading of an arena up to record `number`, whose chain value is `chain` (hex), with its tables.

    `number` is by default the last record that others may see. `ledger` may have gone on since; tables read
    `moment`, where it ends with this record. From an earlier one, `before`, it takes what no further match
    changes: the narrow table, sums and observations of earlier matches, and `courses`, the ratings after them
    by track. `amended` counts entries by topic.
    """

    moment: Moment

    def __init__(
        self,
        settings: ArenaSettings,
        ledger: Ledger,
        votes: PeopleVotes,
        before: ArenaTables | None = None,
        number: int | None = None,
    ) -> None:
        number = shown(ledger) if number is None else number
        super().__init__(settings, Moment(ledger, number, before.summaries if before else ()))
        self.votes = votes
        self.ledger = ledger
        self.number = number
        self.chain = next((row.chain for row in ledger.records(number, number)), GENESIS).hex()
        self._boards: dict[tuple[str, ...], Leaderboard] = {}
        self._records: dict[str, Mapping[str, Record]] = {}
        self._corrected: dict[tuple[tuple[Correction, ...], str, str], list[CorrectedRow]] = {}
        self._standings: dict[int, Standings] = {}
        self.courses: dict[tuple[str, int], Ratings] = {}
        self._tally, self._earlier = MatchSums(), Observations()
        self.amended = ledger.topics()
        if before is not None and before.amended.get(TOPIC) == self.amended.get(TOPIC):
            self.imported = before.imported
        # What becomes of challenges may change what earlier matches tell.
        if before is not None and before.amended.get(STREAM) == self.amended.get(STREAM):
            self.courses = dict(before.courses)
            self._tally = before.__dict__.get("tally", before._tally)
            self._earlier = before.__dict__.get("observations", before._earlier)

    @property
    def track(self) -> Track:
        """The track that the arena shows first: its game's, over several games the overall one."""
        return self.first_track()

    def first_track(self, game: str = "", side: str = "", source: str = "all") -> Track:
        """The track that is shown first of one game, side or source, or of everything."""
        played = [name for name, counts in self.tally.games.items() if counts.get(DONE)]
        scope = Scope(game, side=side, source=source)
        return first_track(self.settings, scope, sorted(played), outside=bool(self.outside(scope)))

    @cached_property
    def tracks(self) -> tuple[Track, ...]:
        """The tracks that have pages: the first one, those that the games feed, then what any match feeds."""
        games = {self.settings.game: 1} | dict.fromkeys(sorted(self.tally.games), 1)
        fed = {track for game in games for track in tracks_of(game)} - {"overall"}
        sequential: tuple[Track, ...] = ("raw", "cost") if self.tally.duels else ()
        ours = [track for track in TRACKS if track in fed]
        others = "strength", "bt", *sequential, "trueskill", "glicko2"
        every = dict.fromkeys((self.track, *ours, *others))
        alone = self.imported and not self.played.count
        return tuple([track for track in every if METHODS[track].outside or not alone])

    def board(
        self, track: str = "", game: str = "", topic: str = "", side: str = "", source: str = "all"
    ) -> Leaderboard:
        """The leaderboard of one track, by default the game's, over one game, topic, side, source, or all."""
        wanted = (track or self.first_track(game, side, source), game, topic, side, source)
        if wanted in self._boards:
            return self._boards[wanted]
        self._boards[wanted] = board(self, wanted[0], Scope(game, topic, side=side, source=source))
        return self._boards[wanted]

    @property
    def discloses(self) -> bool:
        """Return whether pages show tasks of the owner's, with what is expected."""
        return any(about_tasks(game) for game in self.board().games)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict over everything; of the owner's tasks with prices, weak categories and examples."""
        return decision(self, self.board(), lambda: self.outlook)

    @cached_property
    def outlook(self) -> Outlook | None:
        """The forecast of `peerage plan`."""
        return outlook(self)

    def table(self, track: str = "") -> Sequence[Row]:
        """The rows of the leaderboard of one track, by default the game's own."""
        return self.board(track).rows

    def earlier(self, track: Track, number: int) -> Ratings:
        """The ratings of one track as they were after match `number`."""
        if (track, number) not in self.courses:
            # Not kept for the other tracks: those of all stops would take as much room as all matches.
            played = self.played.until(number)
            standings = self._stood(played, number) if track in ("raw", "cost") else NOBODY
            self.courses[track, number] = METHODS[track].rate(played, self.rating, standings)
        return self.courses[track, number]

    @cached_property
    def profiles(self) -> list[Profile]:
        """Everybody's strength overall and in each game, best first; empty where only one was played."""
        return profiles(self.played) if self.track == "overall" else []

    @property
    def decided(self) -> Sequence[Summary]:
        """The matches with a result, in order."""
        return self.played.decided

    @cached_property
    def decided_by(self) -> Mapping[str, Sequence[Summary]]:
        """The matches with a result in which each player sat, in order."""
        return grouped((player, row) for row in self.decided for player in row.players)

    @cached_property
    def by_topic(self) -> list[Profile]:
        """Everybody's strength overall and on each topic, best first; empty where there is one topic."""
        return profiles(self.played, "topic") if len([*filter(None, self.board().topics)]) > 1 else []

    def _stood(self, played: PlayedMatches, number: int) -> Standings:
        """Return where the arena stood on Elo after match `number`, folded on from the stop before it."""
        if number not in self._standings:
            last = max([stop for stop in list(self._standings) if stop < number], default=0)
            since = self._standings.get(last, NOBODY)
            self._standings[number] = after_all(since, played.finished[last:], self.elo)
        return self._standings[number]

    @property
    def summaries(self) -> Sequence[Summary]:
        """The narrow table up to this moment."""
        return self.moment.rows

    @cached_property
    def tally(self) -> MatchSums:
        """Sums over the narrow table."""
        return self._tally.after(self.summaries[self._tally.number :], given_of(self.ledger))

    def records(self, player: str) -> Mapping[str, Record]:
        """The record of one player against each other that it met, here or in outside results."""
        if player not in self._records:
            found = {**self.tally.players.get(player, PlayerSums()).against}
            for other, more in [pair for file in self.imported for pair in file.against(player).items()]:
                found[other] = found.get(other, Record()) + more
            self._records[player] = found
        return self._records[player]

    def met(self, player: str, other: str) -> Record:
        """The record of one player against another."""
        return self.records(player).get(other, Record())

    def against(self, player: str) -> list[PairRow]:
        """Return the record of one player against each other that it met, by name."""
        return [
            PairRow(player, other, one.matches, one.wins, one.draws, one.losses, one.rate or 0.0)
            for other, one in sorted(self.records(player).items())
        ]

    @cached_property
    def observations(self) -> Observations:
        """Return what all matches tell of players, judges and authors."""
        since = self._earlier.matches + 1
        if since > self.number:
            return self._earlier
        return together([self._earlier, observe(self.matches(since))])

    @cached_property
    def stats(self) -> Stats:
        """Return what players, judges and authors did."""
        return stats(self)

    @cached_property
    def judges(self) -> JudgesReport:
        """Agreement, flips and favours of the judges."""
        return judges_of(self, voters=self.votes, pick=self.board().verdict.pick)

    def corrected(self, wanted: Sequence[Correction], game: str = "", topic: str = "") -> list[CorrectedRow]:
        """The players by the judges' votes or scores, as they are and corrected. Raises ScopeError where
        judges gave none, or too few to tell sways from players."""
        key = tuple(wanted), game, topic
        if key not in self._corrected:
            self._corrected[key] = what_would_change(self, Scope(game, topic), wanted)
        return self._corrected[key]

    @cached_property
    def has_pool(self) -> bool:
        """Return whether challenges come back in later matches of this arena."""
        return STREAM in self.amended or any(map(pools, self.tally.games))

    @cached_property
    def pool(self) -> list[ChallengeRow]:
        """The pool in the order of acceptance; answers only where their challenge is retired."""
        if not self.has_pool:
            return []
        # From what is not redacted: some flags rest on answers, and a flag decides whether a challenge is
        # drawn.
        return rows(pool(self.ledger, self.number))

    @cached_property
    def speeds(self) -> Mapping[str, Speed]:
        """Return how long everybody takes to answer, by its newest matches."""
        return speeds_of(self)
