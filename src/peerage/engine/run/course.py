"""The course of a run's matches: issued, admitted, driven, left waiting, folded.

Order never depends on timing. A round is paired from the ratings after the round `lag` rounds earlier and
written down when issued; matches start in number order and are folded in number order. So the same seed
and replies give the same ledger at any concurrency, however often the run is interrupted. Whatever depends on
time is on record: a match that cannot go on now leaves its round by an entry, and what follows, follows from
the log.

    ISSUED ──▶ ADMITTED ──▶ UNDER WAY ──▶ ENDED ──▶ FOLDED
       │                      │    ▲                  ▲
       │ not to be played     ▼    │ may go on        │
       └─────▶ void         WAITING ─── ends without ─┘
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec

from peerage.engine.again.recovery import Recovered, all_ended
from peerage.engine.calls import pauses
from peerage.engine.calls.availability import Availability
from peerage.engine.calls.budget import ARENA_BUDGET, Budget
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.match.admission import Admission
from peerage.engine.match.driving import Drive, Stuck
from peerage.engine.match.plans import Plans, schedulers
from peerage.engine.record.benches import want_of
from peerage.engine.record.journal import Journal
from peerage.engine.record.memory import remembered
from peerage.engine.record.records import ENGINE, MatchTally, recorded_tally
from peerage.engine.run.folding import Folding
from peerage.engine.run.hosts import Hosts, Needed
from peerage.engine.run.paused_players import PausedPlayers
from peerage.engine.run.rounds import Rounds
from peerage.engine.run.waiting import ASK_AGAIN_S, SOONEST_S, WaitingMatches, WaitingUntil
from peerage.game.match import Fixture, MatchRecord, Outcome
from peerage.game.media import MediaShelf
from peerage.ledger import Amendment, FailureRow, FixtureRow, Ledger, Summary
from peerage.ledger.forms.codec import fixture_body
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.rows import LEFT_OPEN
from peerage.ledger.topics.uptimes import TOPIC as UPTIMES
from peerage.ledger.topics.uptimes import Uptime
from peerage.ledger.topics.waits import Wait
from peerage.players.client import Awaited
from peerage.players.hosted.on_host import NOT_UP
from peerage.scheduling.fixtures import Scheduler
from peerage.settings import ArenaSettings
from peerage.settings.pairing import InFlight
from peerage.standings.fold import pinned_elo


class RunSetup(NamedTuple):
    """The subject of a run: an arena as settings and ledger have it, its players with when they are
    available, on which hosts and with which keys in `env`, how far pairing may be ahead, the arena's secret,
    how many matches are to be decided (None: no limit), and where its tasks' pictures and sounds are."""

    settings: ArenaSettings
    recovered: Recovered
    runtimes: Mapping[str, PlayerRuntime]
    availability: Availability
    hosts: Hosts
    env: Mapping[str, str]
    in_flight: InFlight
    secret: str
    limit: int | None
    media: MediaShelf


class Watched(NamedTuple):
    """The outside of a run: `observe` is called for each match once it is durably folded, and `votes` gives
    the head of the audience's votes, which the log binds."""

    observe: Callable[[MatchRecord, Summary], None] | None
    votes: Callable[[], tuple[int, bytes] | None]


class Course:
    """The matches of one run, on one event loop. `drive` makes what drives them, `clock` gives Unix
    milliseconds. When the run is over `done` has the reason, of which `note` says more, or what broke it."""

    def __init__(
        self,
        setup: RunSetup,
        ledger: Ledger,
        journal: Journal,
        budget: Budget,
        drive: Drive,
        clock: Callable[[], int],
        watched: Watched,
    ) -> None:
        settings, recovered = setup.settings, setup.recovered
        self._settings, self._runtimes = settings, setup.runtimes
        self._limit = setup.limit
        self._recovered = recovered
        self._hosts, self._availability = setup.hosts, setup.availability
        self._ledger, self._journal, self._budget, self._clock = ledger, journal, budget, clock
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[str] = self._loop.create_future()
        self.note = ""
        games = schedulers(settings, setup.secret, ledger)
        self._plans = Plans(games, self._runtimes)
        self.matches = drive(self, journal, budget, self._plans)
        self._admission = Admission(budget, self._plans, recovered.unaffordable)
        self.rounds = _rounds(setup, ledger, games)
        self._hosts.serve(
            self, budget.set_aside, lambda player: setup.availability.out_of_hours(player) is not None
        )
        self.folding = Folding(
            journal,
            self.rounds,
            recovered,
            pinned_elo(ledger.meta(), settings.rating),
            clock,
            benched=self._bench,
            observe=watched.observe,
            votes=watched.votes,
        )
        self.waits = recovered.waits
        self._people = {
            name: runtime.client
            for name, runtime in self._runtimes.items()
            if isinstance(runtime.client, Awaited)
        }
        self._waiting = WaitingMatches(self._runtimes, self.matches.benched, self.look_soon, self._people)
        self._waiting.listen([fixture.seed for fixture, _ in recovered.pending])
        self._left_in_a_row = 0
        self._queue: deque[tuple[Fixture, str]] = deque()
        self._admitting = False
        self._look: asyncio.Handle | None = None
        self._paused = PausedPlayers(
            self, self._runtimes, setup.env, self._availability, journal, budget, clock
        )
        self._take_up()

    def _take_up(self) -> None:
        """Take up what earlier runs left: unfinished matches, and players that are benched or paused."""
        for fixture, digest in self._recovered.pending:
            wait = self.waits.now.get(fixture.number)
            if wait is None:  # never away, or taken up again when an earlier run ended
                self._queue.append((fixture, digest))
                continue
            left_s = max(0, self._availability.goes_on(wait) - self._clock()) / 1000
            stated = wait.until_ms is not None
            unknown = self._hosts.away(wait.player) and not stated
            due = inf if unknown else self._loop.time() + left_s
            player = wait.player if self._plans.playable(fixture) else ""  # ends at once
            self._waiting.add(WaitingUntil(fixture, digest, player, due, stated), saved=True)
        for bench in self._recovered.benches.out.values():
            if bench.event == "paused" and bench.player in self._runtimes:
                self._availability.paused[bench.player] = bench.why
            elif bench.final:
                self.matches.bench(bench.player, bench.why)

    def begin(self) -> None:
        """Let matches begin."""
        self._account_for_open_calls()
        self.folding.bind_votes()
        self._plans.learn(self._ledger, self._budget, self.folding.standings.number)
        self._issue()
        self._admit()
        self._paused.begin()

    async def stop(self, grace_s: float) -> None:
        """Send nothing more, wait up to `grace_s` for calls in flight, and record the rest."""
        await self._paused.stop()
        self._waiting.stop()
        await self.matches.stop(grace_s)
        await self._hosts.close()
        await self._journal.drain()
        if self.done.done() and not self.done.exception() and self.done.result() == "budget":
            self._fold_past_unfinished()
        self.folding.snapshot()
        self.folding.bind_votes()

    def end(self, reason: str, note: str) -> None:
        if not self.done.done():
            self.note = note
            self.done.set_result(reason)

    def broken(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def benched(self) -> Mapping[str, str]:
        every = {**self.folding.benched, **self.matches.benched}
        return {name: why for name, why in every.items() if name in self._runtimes}

    def _bench(self, player: str, why: str) -> None:
        """Ask a player no more, as is on record; the matches that wait for it end."""
        self.matches.bench(player, why)
        self._waiting.back([player])
        self.look_soon()

    def pause_over(self, player: str, failure: str) -> None:
        """Pair a player again that was paused, or bench it; its matches go on, or end without it."""
        if failure:
            self.folding.bench(player, failure)
            return
        self.folding.bring_back(player)
        self._waiting.back([player])
        self.look_soon()

    def _account_for_open_calls(self) -> None:
        """Write calls that the last run left open down as failed at their worst: each crash counts once."""
        for lost in self._recovered.left_open:
            self._journal.rows.failures.append(
                FailureRow(lost.match, lost.key, lost.attempt, LEFT_OPEN, lost.worst_nano, self._clock())
            )
            self._journal.touch()

    # -------------------------------------------------------------------------------- issuing fixtures

    def _issue(self) -> None:
        """Issue every round whose ratings are settled, while the limit wants more matches."""
        while not self._reached(self.rounds.next_number) and (fixtures := self.rounds.issue()):
            for fixture in self._journal.shelf.taken_in(map(self._plans.issued, fixtures)):
                body, texts = fixture_body(fixture)
                self._journal.texts(texts)
                self._journal.rows.fixtures.append(FixtureRow(fixture.number, fixture.round, body))
                self._queue.append((fixture, digest_of(body)))
            self._journal.touch()

    def _reached(self, number: int) -> bool:
        """Return whether a match may be one too many, were all before it decided that are still open."""
        return self._limit is not None and number > self._limit + self.folding.without_result

    # ------------------------------------------------------------------------------- admitting matches

    def _admit(self) -> None:
        """Start matches as concurrency and budget allow, those that waited first; see whether all is done."""
        if self._admitting:
            return
        self._admitting = True
        try:
            while not self.done.done():
                room = self.matches.has_room
                if not (self._go_on_waiting(room) or (room and self._begin())):
                    break
        finally:
            self._admitting = False
        idle = len(self.matches) == len(self.matches.unfinished)
        if self.done.done() or (self._hosts and self._needs_host(idle)) or not idle:
            return
        if self.matches.unfinished:
            self.end("budget", self.matches.unfinished[min(self.matches.unfinished)])
        elif self._waiting.worth_staying(self._reached):
            return
        elif self._everybody_left():
            self.end("waiting", f"{self._left_in_a_row} matches left in a row, and none went on meanwhile")
        elif not self._queue or self._reached(self._queue[0][0].number):
            if self.rounds.reached and not self._queue:
                self.end("known", self.rounds.over)
            elif self.rounds.over and not self._queue:
                self.end("players" if self.rounds.for_want_of_players else "budget", self.rounds.over)
            else:
                waits = self._waiting.any_within(self._reached)
                self.end("waiting" if waits else "limit", self._hosts.problems)

    def _needs_host(self, idle: bool) -> bool:
        """Start or stop hosts as is needed now. Return whether the run stays for one."""
        waiting = self._waiting.by_player(self._reached)
        return self._hosts.look(Needed(waiting, self.matches.seated, idle))

    def host_up(self, players: Collection[str]) -> None:
        self._waiting.back(players)
        self.look_soon()

    def host_down(self, uptime: Uptime, record: Path) -> None:
        self._budget.charge(uptime.unused)
        self._availability.charge(uptime.unused)
        self._journal.rows.amend(Amendment(UPTIMES, msgspec.json.encode(uptime), self._clock()))
        self._journal.then(partial(record.unlink, missing_ok=True))

    def _everybody_left(self) -> bool:
        """Return whether match after match left its round and none was folded: more would do the same."""
        most = pauses.GIVE_UP_AFTER + self._settings.engine.concurrency + self.rounds.awaits
        return self._left_in_a_row >= most

    def _begin(self) -> bool:
        """Begin the next match in number order, or end it without a result; False when it must wait."""
        if not self._queue or self._everybody_left():
            return False
        fixture, digest = self._queue[0]
        if self._reached(fixture.number):
            return False
        void: str | None = want_of(fixture, self.matches.benched)
        if void and len(self._runtimes) - len(self.benched()) < 2:
            self.end("players", "fewer than two players are left for a match")
            return False
        if not void:
            void = self._void_or_begin(fixture)
        if void is None:
            return False
        self._queue.popleft()
        self._begin_or_skip(fixture, digest, void)
        return True

    def _go_on_waiting(self, room: bool) -> bool:
        """Go on with the lowest match that waited and need not any longer; False when there is none."""
        away = None if self.matches.unfinished else self._waiting.next(room=room)
        if away is None or self._reached(away.fixture.number):
            return False
        number = away.fixture.number
        self._waiting.take(away)
        self._enter(away.fixture, Wait(number, "goes on", self.folding.standings.number))
        rows = self._ledger.match(number)
        self._recovered.exchanges[number] = [*rows.exchanges] if rows else []
        void = want_of(away.fixture, self.matches.benched) or self._void_or_begin(away.fixture)
        self._begin_or_skip(away.fixture, away.digest, void)
        return True

    def _void_or_begin(self, fixture: Fixture) -> str | None:
        """Return why a match has no result, "" when it may begin, None when it must wait."""
        if lost := self._journal.shelf.lost(fixture):
            return lost
        void = self._admission.void_or_begin(
            fixture,
            begun=fixture.number in self._recovered.exchanges,
            alone=not self.matches,
            stopped=bool(self.matches.unfinished),
            patience=self.rounds.patience,
        )
        if self._admission.over:
            self.end("budget", self._admission.over)
        return void

    def _fold_past_unfinished(self) -> None:
        """End what the arena's limit stopped and others have overtaken without a result, so that these count.
        Those with nothing finished after them go on when the budget is raised, and so do those that had left
        their rounds: they hold up nothing."""
        for number in sorted(self.matches.unfinished):
            if number < self.folding.newest and number not in self.waits.left:
                self.matches.close(number, Outcome(void=ARENA_BUDGET, detail={"by": ENGINE}))

    def _begin_or_skip(self, fixture: Fixture, digest: str, void: str | None) -> None:
        """Begin a match, or void one that cannot be played, asking nobody."""
        recorded = self._recovered.exchanges.pop(fixture.number, ())
        if not void:
            self.matches.start(fixture, digest, recorded)
            return
        outcome = Outcome(void=void, detail={"by": ENGINE})
        self._finish(fixture, digest, recorded_tally(recorded), outcome)

    # --------------------------------------------------------------------------------- matches that wait

    def look_soon(self) -> None:
        """Let matches leave that cannot go on now, and others start in their place."""
        if self._look is None:
            self._look = self._loop.call_soon(self._look_now)

    def _look_now(self) -> None:
        self._look = None
        try:
            if not self.done.done():
                self.matches.decide()  # a host or a probe may have given money back
                for stuck in self.matches.stuck():
                    self._leave(stuck)
                self._fold()
                self._issue()
            self._admit()
        except Exception as fault:
            self.broken(fault)

    def _leave(self, stuck: Stuck) -> None:
        """A match leaves its round: all it asks for now waits for players."""
        fixture, digest, reasons = stuck
        number, now_ms = fixture.number, self._clock()
        # The player for whom it waits longest: an unknown time is later than any.
        player, why, until_ms = max(reasons, key=lambda late: (late[2] is None, late[2] or 0, late[0]))
        self.matches.leave(number)
        first = number not in self.waits.left
        after = self.folding.standings.number
        self._enter(fixture, Wait(number, "waits", after, player, why, until_ms))
        if first:
            self.rounds.left(fixture.round, self.folding.standings)
        self._left_in_a_row += 1
        seconds = ASK_AGAIN_S if until_ms is None else max(SOONEST_S, (until_ms - now_ms) / 1000)
        due = inf if until_ms is None and self._hosts.away(player) else self._loop.time() + seconds
        away = WaitingUntil(fixture, digest, player, due, until_ms is not None)
        self._waiting.add(away, saved=False)
        if why == NOT_UP and not self._hosts.away(player):  # it was started meanwhile
            self._waiting.back([player])
        self._journal.then(partial(self._waiting.saved, number))

    def _enter(self, fixture: Fixture, entry: Wait) -> None:
        self._journal.rows.amend(self.waits.enter(entry, self._clock(), fixture.seed))
        self._journal.touch()

    # ---------------------------------------------------------------------------------- closing a match

    def ended(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> None:
        self._finish(fixture, digest, tally, outcome)
        self._admit()

    def replied(self, player: str, void: bool) -> None:
        if not void:
            self._waiting.heard(player)
        if self._hosts:
            self.look_soon()
        if self._admission.short:  # what matches cost is known a little better with every reply
            self._admit()

    def tripped(self, player: str, match: int) -> None:
        """The match's record says so (`Folding`)."""

    def _finish(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> None:
        self._waiting.ended(fixture.number)
        if self._people:
            self._journal.then(partial(self._waiting.over, fixture.seed))
        self.folding.end(fixture, digest, tally, outcome)
        self._left_in_a_row = 0
        self._fold()
        self._issue()

    def _fold(self) -> None:
        self.folding.fold()
        if self.folding.hopeless:
            self.end("no_result", self.folding.hopeless)


def _rounds(setup: RunSetup, ledger: Ledger, games: Mapping[str, Scheduler]) -> Rounds:
    """The rounds of a run, with what its games remember and what its policies learn from."""
    settings, recovered = setup.settings, setup.recovered
    learns = settings.goal or any(game.policy.learns for game in games.values())
    return Rounds(
        settings,
        games,
        setup.in_flight,
        recovered,
        memories={
            name: remembered(ledger, game.spec, game.rules, setup.secret, recovered.round_of)
            for name, game in games.items()
            if game.spec.remembers(game.rules)
        },
        ended=all_ended(recovered, ledger) if learns else (),
    )
