"""Pairing in rounds: which round may be issued when, from which ratings, with whom. Pure.

Each round plays one game: that with the fewest seats issued for its weight (`fixtures.by_need`).

Round r is paired from the ratings after round r − lag, so it may be issued once that one has ended, and
what it holds depends on nothing later. Where a run has a goal (`scheduling.goal`) that is known after round
r − lag, round r waits until all before it have ended, for these may take it back. If they do, the run goes
on: round r is paired from the ratings after round r − 1, and no later round from older ones. Likewise where
players have nothing left to meet on but what matches in flight may leave. A round has
ended when each of its matches is folded or has left it to go on later, and earlier rounds have ended; what is
folded afterwards belongs to the next one. A player whose budget voided a match, or that was benched in one,
is left out of the rounds paired from ratings that include that match. So is, for as long as it lasts, one for
which as many matches wait as may be under way at once: no more pile up while it is away; for a person and a
player that has hours fewer may wait. Only where too few would be left to play does it go on being paired; a
round that needs a person, or a player that has hours, for whom so many wait is issued when fewer do. Where a
run is to place a player, nothing is issued without it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from peerage.engine.again.recovery import Recovered
from peerage.engine.calls.budget import PLAYER_BUDGET
from peerage.engine.record.memory import Remembered
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Reply
from peerage.scheduling.fixtures import Scheduler, Unstaffed, by_need, next_round, remember, tables
from peerage.scheduling.goal import GoalState, Known
from peerage.scheduling.standing import EndedMatch, History, Results, Standing
from peerage.settings import ArenaSettings, PlayerSettings
from peerage.settings.pairing import InFlight
from peerage.standings.fold import NOBODY, Standings

MOST_WAITING = 8
"""Matches that may wait for one person where its settings do not say, or for a player that has hours."""


ALL_MET = "every pair has been compared on every task; add tasks, or raise `samples`"
HERE_MET = "every pair that may meet in this run has been compared on every task"


class Rounds:
    """The state of pairing. `next_number` is the next fixture's; `over` says why no round can follow, and
    `reached` that this is because what the run was to find out is known."""

    def __init__(
        self,
        settings: ArenaSettings,
        games: Mapping[str, Scheduler],
        in_flight: InFlight,
        recovered: Recovered,
        memories: Mapping[str, Remembered] = {},
        ended: Iterable[tuple[int, EndedMatch]] = (),
    ) -> None:
        players, judges, lag, window = settings.players, settings.judges, in_flight.lag, in_flight.window
        goal, hosts = settings.goal, settings.hosts
        self.next_number = recovered.next_number
        self.over = ""
        self._games = games
        self._players = players
        self._judges = judges
        self._initial = settings.rating.initial
        self._lag = lag
        self._window = window
        self._waits = recovered.waits
        self._histories = recovered.histories
        self._after_round = dict(recovered.after_round)
        self._open = dict(recovered.open)
        self._ends = list(recovered.round_ends)
        self._basis = recovered.paired_after
        self._next = recovered.next_round
        self._unpaid = {player: round + lag for player, round in recovered.retired.items()}
        self._benches = recovered.benches
        self._memories = memories
        self._learning = {name for name, game in games.items() if game.policy.learns}
        names = [player.name for player in players]
        names = [name for name in names if any(name not in game.without for game in games.values())]
        self._known = Known(goal, names) if goal else None
        self._placed = goal.player if goal else ""
        self.reached = self._unanswered = False
        self._ended = deque([(round, match) for round, match in ended if self._learns(match.game)])
        self._results = {name: Results() for name in self._learning}
        asked = [*players, *judges]
        self._most = {player.name: player.concurrency or MOST_WAITING for player in asked if player.is_person}
        self._most |= {player.name: min(window, MOST_WAITING) for player in asked if player.available}
        self._most |= {player.name: hosts[player.host].matches for player in asked if player.host in hosts}

    @property
    def patience(self) -> int:
        """Matches that may be void in a row before a player with a spent budget is surely left out."""
        players, judges = len(self._players), len(self._judges)
        sizes = [tables(game.spec, game.rules, players, game.series, judges) for game in self._games.values()]
        return (self._lag + 2) * max(sizes)

    def issue(self) -> tuple[Fixture, ...]:
        """The next round, of the game whose turn it is; empty while its ratings are not settled, and when
        there can be none (`over`), as in a game without contestants, whose fixtures are made and not paired.
        Raises Unstaffed when a match lacks officials for another reason than spent budgets."""
        games = [game for game in self._games.values() if game.spec.contestants[1]]
        if self.over or not games or self._next > len(self._ends) + self._lag:
            return ()
        basis = max(self._next - self._lag, self._basis)
        self._take_in(basis)
        known = self._known
        if known is not None and known.state.reached:
            basis = self._next - 1
            if len(self._ends) < basis:
                return ()
            self._take_in(self._next)  # also what was folded late, after that round ended
            if known.state.reached:
                self.over, self.reached = known.state.in_words, True
                return ()
        fixtures = self._made(games, basis)
        if not fixtures and self._unanswered:
            basis, self.over, self.reached = self._next - 1, "", False
            if len(self._ends) < basis:
                return ()
            for memory in self._memories.values():
                memory.draw_after(self._next)
            fixtures = self._made(games, basis)
        if not fixtures:
            return ()
        remember(self._histories.setdefault(fixtures[0].game, History()), fixtures)
        self._open[self._next] = len(fixtures)
        self.next_number = fixtures[-1].number + 1
        for round in [earlier for earlier in self._after_round if earlier < basis]:
            del self._after_round[round]
        self._basis = basis
        self._next += 1
        return fixtures

    def _made(self, games: Sequence[Scheduler], basis: int) -> tuple[Fixture, ...]:
        """Return the next round, paired from the ratings after round `basis`; empty when there is none."""
        self._unanswered = False
        standings = self._after_round[basis] if basis > 0 else NOBODY
        pool, judges = self._pool(self._players, standings), self._pool(self._judges, standings)
        if self._placed and all(standing.player != self._placed for standing in pool):
            self.over = f"{self._placed}, which is to be placed, plays no more"
            return ()
        unfinished = self._waits.unfinished(self._ends[basis - 1] if basis > 0 else (0, 0))
        here = self._free(pool, unfinished)
        if self._placed and all(seat.player != self._placed for seat in here):
            if self._awaited():
                return ()
            here = pool
        if self._judges and not judges:
            self.over = "no judge is left"
            return ()
        judging = self._free(judges, unfinished)
        if judges and not judging:
            if self._awaited():
                return ()
            judging = judges
        turns = by_need(games, self._histories)
        fixtures = self._first_paired(turns, here, judging, standings, basis) if len(here) < len(pool) else ()
        if len(here) < len(pool) and not fixtures and self._awaited():
            self.over = ""
            return ()
        return fixtures or self._first_paired(turns, pool, judging, standings, basis)

    def _pool(self, players: Sequence[PlayerSettings], standings: Standings) -> list[Standing]:
        """Return those of the players that pairing does not leave out, as it sees them."""
        kept = [player for player in players if not self._left_out(player.name)]
        return [standings.before_pairing(player, self._initial) for player in kept]

    def _free(self, pool: Sequence[Standing], unfinished: Mapping[str, int]) -> list[Standing]:
        """Return those with fewer unfinished matches than a player may have."""
        return [each for each in pool if unfinished[each.player] < self._most.get(each.player, self._window)]

    def _learns(self, game: str) -> bool:
        return game in self._learning or self._known is not None

    def _take_in(self, basis: int) -> None:
        """Learn how the matches ended that were folded up to the end of a round."""
        while self._ended and self._ended[0][0] <= basis:
            _, match = self._ended.popleft()
            if match.game in self._results:
                self._results[match.game].note(match.players, match.scores)
                self._results[match.game].paid(match.players, match.costs, match.spent)
            if self._known is not None:
                self._known.note(match)

    def known(self, *, now: bool = False) -> GoalState | None:
        """Return what is known of the goal, as of the last round paired or, after the last one, `now`; None
        where there is no goal."""
        if now and self._ended:
            self._take_in(self._ended[-1][0])
        return None if self._known is None else self._known.state

    def _awaited(self) -> bool:
        """Return whether as many matches wait for somebody who is awaited as may, or go on and may wait
        again. When a round is issued changes nothing in it."""
        unfinished = self._waits.unfinished_now()
        return any(unfinished[player] >= most for player, most in self._most.items())

    def _first_paired(
        self,
        turns: Sequence[Scheduler],
        pool: Sequence[Standing],
        judges: Sequence[Standing],
        standings: Standings,
        basis: int,
    ) -> tuple[Fixture, ...]:
        """The next round of these players, of the first game that they are enough for."""
        return next(filter(None, (self._paired(game, pool, judges, standings, basis) for game in turns)), ())

    def _paired(
        self,
        game: Scheduler,
        pool: Sequence[Standing],
        judges: Sequence[Standing],
        standings: Standings,
        basis: int,
    ) -> tuple[Fixture, ...]:
        """The next round of a game for these players; empty when there can be none, and `over` says why."""
        self.over, self.reached = "", False
        memory = self._memories.get(game.spec.name)
        draw, meeting = (memory.draw_after(basis), memory.meeting) if memory else (None, None)
        try:
            fixtures = next_round(
                game,
                pool,
                self._histories.get(game.spec.name, History()),
                number=self.next_number,
                round=self._next,
                snapshot=standings.number,
                paired_from=self._benches.places.paired_from(standings.number, self._next),
                draw=draw,
                memory=meeting,
                results=self._results.get(game.spec.name),
                judges=judges,
            )
        except Unstaffed as shortage:
            if len(pool) == len(self._players):
                raise
            self.over = f"too few players are left for a match: {shortage}"
            return ()
        if not fixtures:
            self.over = "fewer than two players are left for a match"
            if meeting is not None and len(pool) > 1:
                left = meeting.left([player.name for player in self._players])
                self.over, self.reached = HERE_MET if left else ALL_MET, True
                self._unanswered |= bool(meeting.in_flight)
        return tuple(map(memory.whole, fixtures)) if memory else fixtures

    @property
    def awaits(self) -> int:
        """Return how many matches may leave in a row before pairing does without players that are away as a
        matter of course: people, those with hours, those on hosts."""
        return self._window + max(self._most.values()) if self._most else 0

    @property
    def for_want_of_players(self) -> bool:
        """Return whether benched players are among those left out: then money alone brings no further
        round."""
        return any(player.name in self._benches.out for player in (*self._players, *self._judges))

    @property
    def first_without(self) -> int:
        """The first round paired from ratings that include the match that was folded last."""
        return len(self._ends) + 1 + self._lag

    def _left_out(self, player: str) -> bool:
        bench = self._benches.out.get(player)
        return self._next >= self._unpaid.get(player, self._next + 1) or (
            bench is not None and self._next >= bench.from_round
        )

    def folded(
        self,
        fixture: Fixture,
        outcome: Outcome,
        ended: EndedMatch,
        standings: Standings,
        replies: Mapping[str, Reply],
        *,
        late: bool,
    ) -> None:
        """A match is folded, `standings` after it; `late` when it had left its round."""
        if self._learns(fixture.game):
            self._ended.append((len(self._ends) + 1, ended))
        memory = self._memories.get(fixture.game)
        if memory is not None:
            memory.note(len(self._ends) + 1, fixture.number, outcome.facts, replies)
        if outcome.void.startswith(PLAYER_BUDGET):
            self._unpaid.setdefault(outcome.void.removeprefix(PLAYER_BUDGET), self.first_without)
        if late:
            self._waits.folded(fixture.number, standings.number)
            if self.reached:  # which this match may take back
                self.over, self.reached = "", False
        else:
            self.left(fixture.round, standings)

    def left(self, round: int, standings: Standings) -> None:
        """A round goes on without one of its matches."""
        self._open[round] -= 1
        while self._open.get(len(self._ends) + 1) == 0:
            self._ends.append((standings.number, self._waits.entries))
            del self._open[len(self._ends)]
            self._after_round[len(self._ends)] = standings
