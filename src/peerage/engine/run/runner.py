"""Plays an arena: issues fixtures, admits matches, has them driven, lets them wait, has them folded.

Order never depends on timing. A round is paired from the ratings after the round `lag` rounds earlier and
written down when issued; matches start in number order and are folded in number order. So the same seed
and replies give the same ledger at any concurrency, however often the run is interrupted. What does depend on
time is on record: a match that cannot go on now leaves its round by an entry, and what follows, follows from
the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import inf
from pathlib import Path

import msgspec

from peerage.engine.again.recovery import Recovered, all_ended
from peerage.engine.calls import pauses
from peerage.engine.calls.availability import Availability
from peerage.engine.calls.budget import ARENA_BUDGET, Budget, whole_nano
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.match.driving import Drive, Stuck
from peerage.engine.match.plans import Plans, policy_of, schedulers
from peerage.engine.record.benches import want_of
from peerage.engine.record.journal import Journal
from peerage.engine.record.memory import remembered
from peerage.engine.record.records import ENGINE, MatchTally, answered_first
from peerage.engine.run.admission import Admission
from peerage.engine.run.folding import Folding
from peerage.engine.run.hosts import Hosts, Needed
from peerage.engine.run.report import Progress, RunReport
from peerage.engine.run.rounds import Rounds
from peerage.engine.run.waiting import ASK_AGAIN_S, SOONEST_S, Away, WaitingMatches
from peerage.game.match import Fixture, MatchRecord, Outcome
from peerage.game.protocol import SANDBOX
from peerage.ledger import Amendment, FailureRow, FixtureRow, Ledger, Summary
from peerage.ledger.forms.codec import fixture_body
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.ledger.forms.rows import LEFT_OPEN
from peerage.ledger.topics.uptimes import TOPIC as UPTIMES
from peerage.ledger.topics.uptimes import Uptime
from peerage.ledger.topics.waits import Wait
from peerage.players.client import Awaited
from peerage.players.hosted.on_host import NOT_UP
from peerage.scheduling.goal import Known
from peerage.settings import ArenaSettings
from peerage.settings.shape import InFlight
from peerage.standings import pinned_elo

GRACE_S = 60.0
"""Seconds that a stopped run waits for calls in flight: they are paid for, so their replies are worth
having."""

_log = logging.getLogger("peerage")


class Runner:
    """One run of one arena, on one event loop.

    `drive` makes what drives its matches. `clock` gives Unix milliseconds. `observe(record, summary)` is
    called for each match as it is folded. `inline` journals on the loop's own thread, for virtual time.
    `secret` is the arena's. `votes` gives the head of the audience's votes, which the log binds. `hosts`
    serve some of the players; `availability` says who may be asked when.
    """

    def __init__(
        self,
        settings: ArenaSettings,
        ledger: Ledger,
        runtimes: Mapping[str, PlayerRuntime],
        recovered: Recovered,
        drive: Drive,
        *,
        in_flight: InFlight,
        secret: str,
        limit: int | None,
        clock: Callable[[], int],
        observe: Callable[[MatchRecord, Summary], None] | None = None,
        inline: bool = False,
        votes: Callable[[], tuple[int, bytes] | None] = lambda: None,
        availability: Availability,
        hosts: Hosts,
    ) -> None:
        self._settings = settings
        self._runtimes = runtimes
        self._limit = limit
        self._clock = clock
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[str] = self._loop.create_future()
        self._journal = Journal(ledger, self.broken, inline=inline)
        budget = settings.budget
        self._budget = Budget(
            limit=whole_nano(budget.arena),
            per_match=whole_nano(budget.match),
            per_player=whole_nano(budget.player),
            billed=recovered.billed_nano,
            possibly=recovered.possibly_nano,
            spent_by=recovered.spent_by,
            begun=recovered.begun,
            unpriced=recovered.unpriced,
        )
        games = schedulers(settings, secret)
        self._plans = Plans(games, runtimes)
        self._matches = drive(self, self._journal, self._budget, self._plans)
        self._admission = Admission(self._budget, self._plans, recovered.unaffordable)
        goal = settings.goal
        self._rounds = Rounds(
            games=games,
            players=settings.players,
            initial=settings.rating.initial,
            lag=in_flight.lag,
            window=in_flight.window,
            recovered=recovered,
            memories={
                name: remembered(ledger, one.spec, one.rules, secret, recovered.round_of)
                for name, one in games.items()
                if one.spec.remembers(one.rules)
            },
            ended=all_ended(recovered, ledger)
            if goal or any(one.policy.learns for one in games.values())
            else (),
            known=Known(goal, [one.name for one in settings.players]) if goal else None,
            placed=goal.player if goal else policy_of(settings).player,
            hosts=settings.hosts,
            judges=settings.judges,
        )
        self._hosts, self._availability = hosts, availability
        hosts.serve(
            self, self._budget.set_aside, lambda player: availability.out_of_hours(player) is not None
        )
        self._folding = Folding(
            self._journal,
            self._rounds,
            recovered,
            pinned_elo(ledger.meta(), settings.rating),
            clock,
            benched=self._bench,
            observe=observe,
            votes=votes,
        )
        self._recovered = recovered
        self._waits = recovered.waits
        self._people = {name: one.client for name, one in runtimes.items() if isinstance(one.client, Awaited)}
        self._waiting = WaitingMatches(runtimes, self._matches.benched, self.look_soon, self._people)
        self._waiting.listen([fixture.seed for fixture, _ in recovered.pending])
        self._left_in_a_row = 0
        self._queue: deque[tuple[Fixture, str]] = deque()
        for fixture, digest in recovered.pending:
            wait = self._waits.now.get(fixture.number)
            if wait is None:  # never away, or taken up again when an earlier run ended
                self._queue.append((fixture, digest))
            else:
                due = self._loop.time() + max(0, availability.goes_on(wait) - clock()) / 1000
                due = inf if hosts.away(wait.player) and wait.until_ms is None else due
                player = wait.player if self._plans.playable(fixture) else ""  # ends at once
                away = Away(fixture, digest, player, due, wait.until_ms is not None)
                self._waiting.add(away, saved=True)
        self._note = ""
        self._stopping = False
        self._grace: asyncio.TimerHandle | None = None
        self._admitting = False
        self._look: asyncio.Handle | None = None
        for bench in recovered.benches.out.values():
            if bench.event == "paused" and bench.player in runtimes:
                availability.paused[bench.player] = bench.why
            else:
                self._matches.bench(bench.player, bench.why)

    # ------------------------------------------------------------------------------- the run as a whole

    async def run(self) -> RunReport:
        """Play until the limit, the budget, or `stop`; raises what broke the run; all is recorded."""
        try:
            self._account_for_open_calls()
            self._folding.bind_votes()
            self._plans.learn(self._ledger, self._budget, self._folding.standings.number)
            self._issue()
            self._admit()
            reason = await self._done
        finally:
            self._waiting.stop()
            await self._matches.stop(0.0 if self._journal.broken else GRACE_S)
            await self._hosts.close()
            await self._journal.drain()
            if self._done.done() and not self._done.exception() and self._done.result() == "budget":
                self._fold_past_unfinished()
            self._folding.snapshot()
            self._folding.bind_votes()
            await self._journal.close()
            if self._grace is not None:
                self._grace.cancel()
        return RunReport(
            reason=reason,
            note=self._note,
            settled=self._folding.standings.number,
            decided=self._folding.decided,
            played=self._folding.played,
            calls=self._matches.now().answered,
            billed_nano=self._budget.billed,
            possibly_nano=self._budget.possibly,
            possibly_paid_twice=sum(lost.player != SANDBOX for lost in self._recovered.left_open),
            possibly_paid_nano=sum(lost.worst_nano or 0 for lost in self._recovered.left_open),
            benched=self._benched(),
            overrun=dict(self._budget.overrun),
            waiting=tuple(self._waits.now.values()),
            until=self._rounds.known(now=True),
            unpriced=self._budget.unpriced,
        )

    def stop(self) -> None:
        """Admit and send nothing more, let calls in flight return, end the run. Twice: do not wait.

        Where the ledger's server is away, it may come back within the same grace, so that what calls bring
        is written.
        """
        if self._stopping:
            self._matches.abandon()
            self._ledger.stop_waiting()
        else:
            self._ledger.stop_waiting(writes=False)
            self._grace = self._loop.call_later(GRACE_S, self._ledger.stop_waiting)
        self._stopping = True
        self._end("interrupted", "stopped; run again to go on")

    def progress(self) -> Progress:
        calls = self._matches.now()
        return Progress(
            settled=self._folding.standings.number,
            decided=self._folding.decided,
            limit=self._limit,
            matches_in_flight=len(self._matches),
            calls_in_flight=calls.in_flight,
            retries=calls.retried,
            billed_nano=self._budget.billed,
            possibly_nano=self._budget.possibly,
            benched=self._benched(),
            stopping=self._stopping,
            troubles=self._matches.troubles(),
            waiting=tuple(self._waits.now.values()),
            until=self._rounds.known(),
            unpriced=self._budget.unpriced,
        )

    def _benched(self) -> Mapping[str, str]:
        return {name: why for name, why in self._matches.benched.items() if name in self._runtimes}

    def _end(self, reason: str, note: str) -> None:
        if not self._done.done():
            self._note = note
            self._done.set_result(reason)

    def broken(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)

    def _bench(self, player: str, why: str) -> None:
        """Ask a player no more, as is on record; the matches that wait for it end."""
        self._matches.bench(player, why)
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
        while not self._reached(self._rounds.next_number) and (fixtures := self._rounds.issue()):
            for fixture in fixtures:
                body, texts = fixture_body(fixture)
                self._journal.texts(texts)
                self._journal.rows.fixtures.append(FixtureRow(fixture.number, fixture.round, body))
                self._queue.append((fixture, digest_of(body)))
            self._journal.touch()

    def _reached(self, number: int) -> bool:
        """Return whether a match may be one too many, were all before it decided whose result is not known
        yet."""
        return self._limit is not None and number > self._limit + self._folding.without_result

    # ------------------------------------------------------------------------------- admitting matches

    def _admit(self) -> None:
        """Start matches as far as concurrency and budget allow, first those that waited, then in number
        order; see whether all is done."""
        if self._admitting:
            return
        self._admitting = True
        try:
            while not self._done.done():
                room = self._matches.has_room
                if not (self._go_on_waiting(room) or (room and self._begin())):
                    break
        finally:
            self._admitting = False
        idle = len(self._matches) == len(self._matches.unfinished)
        if self._done.done() or (self._hosts and self._needs_host(idle)) or not idle:
            return
        if self._matches.unfinished:
            self._end("budget", self._matches.unfinished[min(self._matches.unfinished)])
        elif self._waiting.worth_staying(self._reached):
            return
        elif self._everybody_left():
            self._end("waiting", f"{self._left_in_a_row} matches left in a row, and none went on meanwhile")
        elif not self._queue or self._reached(self._queue[0][0].number):
            if self._rounds.reached and not self._queue:
                self._end("known", self._rounds.over)
            elif self._rounds.over and not self._queue:
                self._end("players" if self._rounds.for_want_of_players else "budget", self._rounds.over)
            else:
                waits = self._waiting.any_within(self._reached)
                self._end("waiting" if waits else "limit", self._hosts.problems)

    def _needs_host(self, idle: bool) -> bool:
        """Start or stop hosts as is needed now. Return whether the run stays for one."""
        waiting = self._waiting.by_player(self._reached)
        return self._hosts.look(Needed(waiting, self._matches.seated, idle))

    def host_up(self, players: Collection[str]) -> None:
        self._waiting.back(players)
        self.look_soon()

    def host_down(self, uptime: Uptime, record: Path) -> None:
        self._budget.charge(uptime.unused)
        self._availability.charge(uptime.unused)
        self._journal.rows.amend(Amendment(UPTIMES, msgspec.json.encode(uptime), self._clock()))
        self._journal.then(partial(record.unlink, missing_ok=True))

    def _everybody_left(self) -> bool:
        """Return whether match after match left its round and none was folded: more of them would do the
        same."""
        most = pauses.GIVE_UP_AFTER + self._settings.engine.concurrency + self._rounds.awaits
        return self._left_in_a_row >= most

    def _begin(self) -> bool:
        """Begin the next match in number order, or end it without a result; False when it must wait."""
        if not self._queue or self._everybody_left():
            return False
        fixture, digest = self._queue[0]
        if self._reached(fixture.number):
            return False
        void: str | None = want_of(fixture, self._matches.benched)
        if void and len(self._runtimes) - len(self._benched()) < 2:
            self._end("players", "fewer than two players are left for a match")
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
        away = None if self._matches.unfinished else self._waiting.next(room=room)
        if away is None or self._reached(away.fixture.number):
            return False
        number = away.fixture.number
        self._waiting.take(away)
        self._enter(away.fixture, Wait(number, "goes on", self._folding.standings.number))
        rows = self._ledger.match(number)
        self._recovered.exchanges[number] = [*rows.exchanges] if rows else []
        void = want_of(away.fixture, self._matches.benched) or self._void_or_begin(away.fixture)
        self._begin_or_skip(away.fixture, away.digest, void)
        return True

    def _void_or_begin(self, fixture: Fixture) -> str | None:
        """Return why a match has no result, "" when it may begin, None when it must wait."""
        void = self._admission.void_or_begin(
            fixture,
            begun=fixture.number in self._recovered.exchanges,
            alone=not self._matches,
            stopped=bool(self._matches.unfinished),
            patience=self._rounds.patience,
        )
        if self._admission.over:
            self._end("budget", self._admission.over)
        return void

    def _fold_past_unfinished(self) -> None:
        """End what the arena's limit stopped and others have overtaken without a result, so that these count.

        Those with nothing finished after them go on when the budget is raised, and so do those that had left
        their rounds: they hold up nothing.
        """
        for number in sorted(self._matches.unfinished):
            if number < self._folding.newest and number not in self._waits.left:
                outcome = Outcome(void=ARENA_BUDGET, detail={"by": ENGINE})
                self._matches.close(number, outcome)

    def _begin_or_skip(self, fixture: Fixture, digest: str, void: str | None) -> None:
        """Begin a match, or void one that cannot be played, asking nobody."""
        recorded = self._recovered.exchanges.pop(fixture.number, ())
        if not void:
            self._matches.start(fixture, digest, recorded)
            return
        tally = MatchTally()
        for exchange in answered_first(recorded).values():
            if exchange.reply is not None:
                tally.add_recorded(exchange)
        self._finish(fixture, digest, tally, Outcome(void=void, detail={"by": ENGINE}))

    # --------------------------------------------------------------------------------- matches that wait

    def look_soon(self) -> None:
        """Let matches leave that cannot go on now, and others start in their place."""
        if self._look is None:
            self._look = self._loop.call_soon(self._look_now)

    def _look_now(self) -> None:
        self._look = None
        try:
            if not self._done.done():
                for stuck in self._matches.stuck():
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
        # For whom it waits longest: a time that nobody knows is later than any.
        player, why, until_ms = max(reasons, key=lambda one: (one[2] is None, one[2] or 0, one[0]))
        self._matches.leave(number)
        first = number not in self._waits.left
        after = self._folding.standings.number
        self._enter(fixture, Wait(number, "waits", after, player, why, until_ms))
        if first:
            self._rounds.left(fixture.round, self._folding.standings)
        self._left_in_a_row += 1
        seconds = ASK_AGAIN_S if until_ms is None else max(SOONEST_S, (until_ms - now_ms) / 1000)
        due = inf if until_ms is None and self._hosts.away(player) else self._loop.time() + seconds
        away = Away(fixture, digest, player, due, until_ms is not None)
        self._waiting.add(away, saved=False)
        if why == NOT_UP and not self._hosts.away(player):  # it was started meanwhile
            self._waiting.back([player])
        self._journal.then(partial(self._waiting.saved, number))

    def _enter(self, fixture: Fixture, entry: Wait) -> None:
        self._journal.rows.amend(self._waits.enter(entry, self._clock(), fixture.seed))
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
        self._folding.end(fixture, digest, tally, outcome)
        self._left_in_a_row = 0
        self._fold()
        self._issue()

    def _fold(self) -> None:
        self._folding.fold()
        if self._folding.hopeless:
            self._end("no_result", self._folding.hopeless)
