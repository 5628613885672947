"""Plays an arena: issues fixtures, admits matches, drives them, lets them wait, has them folded.

Order never depends on timing. A round is paired from the ratings after the round `lag` rounds earlier and
written down when issued; matches start in number order and are folded in number order. So the same seed
and replies give the same ledger at any concurrency, however often the run is interrupted. What does depend on
time is on record: a match that cannot go on now leaves its round by an entry, and what follows, follows from
the log.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from peerage.engine.benches import want_of
from peerage.engine.budget import ARENA_BUDGET, PLAYER_BUDGET, Budget, Share, Verdict, dollars, whole_nano
from peerage.engine.calls import Calls
from peerage.engine.driver import Driver
from peerage.engine.folding import Folding
from peerage.engine.journal import Journal
from peerage.engine.memory import remembered
from peerage.engine.pending import MatchUnderWay, Pending
from peerage.engine.plans import Plans, one_more, schedulers
from peerage.engine.pricing import PlayerRuntime
from peerage.engine.records import ENGINE, Tally, answered_first
from peerage.engine.recovery import Mismatch, Recovered, exchanges_of
from peerage.engine.report import Progress, RunReport
from peerage.engine.rounds import Rounds
from peerage.engine.waiting import ASK_AGAIN_S, SOONEST_S, Away, WaitingMatches
from peerage.ledger.codec import by_hex, fixture_body, reply_salt
from peerage.ledger.codec_requests import asks_the_same, request_body
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.store import FailureRow, FixtureRow, Ledger, Summary
from peerage.ledger.waits import Wait
from peerage.match import Fixture, MatchRecord, Outcome
from peerage.players.client import Awaited
from peerage.protocol import SANDBOX, Answered, Reply
from peerage.settings import ArenaSettings
from peerage.settings.shape import WINDOW
from peerage.standings import pinned_elo

if TYPE_CHECKING:
    from peerage.engine.programs import Programs

GRACE_S = 60.0
"""How long a stopped run waits for calls in flight: they are paid for, so their replies are worth having."""
LEFT_OPEN = "left open when an earlier run ended"


class Runner:
    """One run of one arena, on one event loop.

    `clock` gives Unix milliseconds. `observe(record, summary)` is called for each match as it is folded.
    `inline` journals on the loop's own thread, for virtual time. `programs` is the sandbox of games that
    need one, `secret` the arena's. `votes` gives the head of the audience's votes, which the log binds.
    """

    def __init__(
        self,
        settings: ArenaSettings,
        ledger: Ledger,
        lines: Mapping[str, PlayerRuntime],
        recovered: Recovered,
        *,
        lag: int,
        secret: str,
        limit: int | None,
        clock: Callable[[], int],
        observe: Callable[[MatchRecord, Summary], None] | None = None,
        inline: bool = False,
        programs: Programs | None = None,
        votes: Callable[[], tuple[int, bytes] | None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._lines = lines
        self._limit = limit
        self._clock = clock
        self._ledger = ledger
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[str] = self._loop.create_future()
        self._journal = Journal(ledger, self.broken, inline=inline)
        budget = settings.budget
        self._budget = Budget(
            whole_nano(budget.arena),
            whole_nano(budget.match),
            whole_nano(budget.player),
            recovered.billed_nano,
            recovered.possibly_nano,
            recovered.spent_by,
            recovered.begun,
        )
        self._calls = Calls(self, lines, settings.engine, self._journal, clock, self._budget, programs)
        games = schedulers(settings, secret)
        self._plans = Plans(games, lines)
        self._rounds = Rounds(
            games,
            settings.players,
            settings.rating.initial,
            lag,
            settings.pairing.window or WINDOW,
            recovered,
            {
                name: remembered(ledger, one.spec, one.rules, secret, recovered.round_of)
                for name, one in games.items()
                if one.spec.memory is not None
            },
        )
        self._folding = Folding(
            self._journal,
            self._rounds,
            recovered,
            pinned_elo(ledger.meta(), settings.rating),
            clock,
            patience=settings.engine.give_up_after,
            benched=self._calls.bench,
            observe=observe,
            votes=votes,
        )
        self._short = False
        self._unpaid = recovered.unaffordable
        self._recovered = recovered
        self._waits = recovered.waits
        self._people = {name: one.client for name, one in lines.items() if isinstance(one.client, Awaited)}
        self._waiting = WaitingMatches(lines, self._calls.benched, self.look_soon, self._people)
        self._waiting.listen([fixture.seed for fixture, _ in recovered.pending])
        self._left_in_a_row = 0
        self._queue: deque[tuple[Fixture, str]] = deque()
        for fixture, digest in recovered.pending:
            wait = self._waits.now.get(fixture.number)
            if wait is None:  # never away, or taken up again when an earlier run ended
                self._queue.append((fixture, digest))
            else:
                due = self._loop.time() + max(0, (wait.until_ms or 0) - clock()) / 1000
                player = wait.player if self._plans.playable(fixture) else ""  # ends at once
                away = Away(fixture, digest, player, due, wait.until_ms is not None)
                self._waiting.add(away, saved=True)
        self._matches: dict[int, MatchUnderWay] = {}
        self._unfinished: dict[int, str] = {}
        self._note = ""
        self._stopping = False
        self._admitting = False
        self._look: asyncio.Handle | None = None
        for bench in recovered.benches.out.values():
            self._calls.bench(bench.player, bench.why)

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
            await self._calls.stop(0.0 if self._journal.broken else GRACE_S)
            await self._journal.drain()
            if self._done.done() and not self._done.exception() and self._done.result() == "budget":
                self._fold_past_unfinished()
            self._folding.snapshot()
            self._folding.bind_votes()
            await self._journal.close()
        return RunReport(
            reason,
            self._note,
            self._folding.standings.number,
            self._folding.decided,
            self._folding.played,
            self._calls.answered,
            self._budget.billed,
            self._budget.possibly,
            sum(lost.player != SANDBOX for lost in self._recovered.left_open),
            sum(lost.worst_nano or 0 for lost in self._recovered.left_open),
            self._benched(),
            dict(self._budget.overrun),
            tuple(self._waits.now.values()),
        )

    def stop(self) -> None:
        """Admit and send nothing more, let calls in flight return, end the run. Twice: do not wait."""
        if self._stopping:
            self._calls.abandon()
        self._stopping = True
        self._end("interrupted", "stopped; run again to go on")

    def progress(self) -> Progress:
        return Progress(
            self._folding.standings.number,
            self._folding.decided,
            self._limit,
            len(self._matches),
            self._calls.in_flight,
            self._calls.waiting,
            self._calls.answered,
            self._calls.retried,
            self._budget.billed,
            self._budget.possibly,
            self._budget.held,
            self._folding.standings,
            self._benched(),
            self._stopping,
            self._calls.troubles(),
            tuple(self._waits.now.values()),
        )

    def _benched(self) -> Mapping[str, str]:
        return {name: why for name, why in self._calls.benched.items() if name in self._lines}

    def _end(self, reason: str, note: str) -> None:
        if not self._done.done():
            self._note = note
            self._done.set_result(reason)

    def broken(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)

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
        """Whether a match may be one too many, were all before it decided whose result is not known yet."""
        return self._limit is not None and number > self._limit + self._folding.without_result

    # ------------------------------------------------------------------------------- admitting matches

    def _admit(self) -> None:
        """Start matches as far as concurrency and budget allow, first those that waited, then in number
        order; see whether all is done."""
        if self._admitting:
            return
        self._admitting = True
        try:
            while not self._done.done() and self._has_room() and (self._go_on_waiting() or self._begin()):
                pass
        finally:
            self._admitting = False
        if len(self._matches) > len(self._unfinished) or self._done.done():
            return
        if self._unfinished:
            self._end("budget", self._unfinished[min(self._unfinished)])
        elif self._waiting.worth_staying():
            return
        elif self._everybody_left():
            self._end("waiting", f"{self._left_in_a_row} matches left in a row, and none went on meanwhile")
        elif not self._queue or self._reached(self._queue[0][0].number):
            if self._rounds.over and not self._queue:
                self._end("players" if self._rounds.for_want_of_players else "budget", self._rounds.over)
            else:
                self._end("waiting" if self._waiting else "limit", "")

    def _everybody_left(self) -> bool:
        """Whether match after match left its round and none was folded: more of them would do the same."""
        return self._left_in_a_row >= self._settings.engine.give_up_after + self._settings.engine.concurrency

    def _begin(self) -> bool:
        """Begin the next match in number order, or end it without a result; False when it must wait."""
        if not self._queue or self._everybody_left():
            return False
        fixture, digest = self._queue[0]
        if self._reached(fixture.number):
            return False
        void: str | None = want_of(fixture, self._calls.benched)
        if void and len(self._lines) - len(self._benched()) < 2:
            self._end("players", "fewer than two players are left for a match")
            return False
        if not void:
            void = self._void_or_begin(fixture)
        if void is None:
            return False
        self._queue.popleft()
        if void:
            self._skip(fixture, digest, void)
        else:
            self._start(fixture, digest)
        return True

    def _go_on_waiting(self) -> bool:
        """Go on with the lowest match that waited and need not any longer; False when there is none."""
        away = None if self._unfinished else self._waiting.next()
        if away is None or self._reached(away.fixture.number):
            return False
        number = away.fixture.number
        self._waiting.take(away)
        self._enter(Wait(number, "goes on", self._folding.standings.number))
        self._recovered.exchanges[number] = exchanges_of(self._ledger, number)
        void = want_of(away.fixture, self._calls.benched) or self._void_or_begin(away.fixture)
        if void:
            self._skip(away.fixture, away.digest, void)
        else:
            self._start(away.fixture, away.digest)
        return True

    def _void_or_begin(self, fixture: Fixture) -> str | None:
        """Why a match has no result, "" when it may begin, None when it must wait."""
        if not self._plans.playable(fixture):
            return f"not playable here: {fixture.game} version {fixture.version}"
        withdrawn = [seat.player for seat in fixture.seats if seat.player not in self._lines]
        if withdrawn:
            return f"withdrawn: {', '.join(withdrawn)}"
        if not self._budget.bounded:
            return ""
        plan = self._plans.of(fixture)
        if fixture.number not in self._recovered.exchanges:
            if self._unfinished:
                return None
            verdict, player = self._budget.admit(plan)
            if verdict in (Verdict.MATCH, Verdict.PLAYER):
                return self._not_begun(plan, verdict.value if not player else f"{PLAYER_BUDGET}{player}")
            if verdict is Verdict.ARENA and not self._matches:
                self._end("budget", f"{dollars(self._budget.left)} left; {one_more(self._budget, plan)}")
            self._short = verdict is not Verdict.YES
            if self._short:
                return None
        self._unpaid = 0
        self._budget.open(fixture.number, plan)
        return ""

    def _not_begun(self, plan: Mapping[str, Share], void: str) -> str | None:
        """Void a match that its own or a player's limit cannot pay for; too many in a row end the run.

        Beyond what was issued before a spent player could be left out, there is no end to this.
        """
        if self._unpaid < self._rounds.patience:
            self._unpaid += 1
            return void
        if not self._matches:
            why = f"none of the last {self._unpaid} matches could be paid for ({void})"
            self._end("budget", f"{why}; {one_more(self._budget, plan)}")
        return None

    def unaffordable(self, pending: Pending, worst: int) -> None:
        """The arena's limit has stopped a match: it goes on when the budget is raised."""
        match = self._matches[pending.match]
        match.deadline.cancel()
        self._unfinished[pending.match] = (
            f"{dollars(self._budget.left)} left; the next call of match {pending.match} "
            f"may cost up to {dollars(worst)}"
        )
        self._loop.call_soon(self._admit)

    def _fold_past_unfinished(self) -> None:
        """End what the arena's limit stopped and others have overtaken without a result, so that these count.

        Those with nothing finished after them go on when the budget is raised, and so do those that had left
        their rounds: they hold up nothing.
        """
        for number in sorted(self._unfinished):
            if number < self._folding.newest and number not in self._waits.left:
                outcome = Outcome(void=ARENA_BUDGET, detail={"by": ENGINE})
                self._close(self._matches[number], outcome)

    def _has_room(self) -> bool:
        """Whether another match may start: one that only waits for players to recover takes up no place."""
        places = self._settings.engine.concurrency
        under_way = len(self._matches) - len(self._unfinished)
        if under_way < places:
            return True
        waiting = self._calls.waiting_by_match()
        return under_way - sum(waiting[number] >= self._matches[number].open for number in waiting) < places

    def _skip(self, fixture: Fixture, digest: str, reason: str) -> None:
        """Void a match that cannot be played, asking nobody."""
        tally = Tally()
        for exchange in answered_first(self._recovered.exchanges.pop(fixture.number, ())).values():
            if exchange.reply is not None:
                tally.add_recorded(exchange)
        self._finish(fixture, digest, tally, Outcome(void=reason, detail={"by": ENGINE}))

    # --------------------------------------------------------------------------------- driving a match

    def _start(self, fixture: Fixture, digest: str) -> None:
        spec = self._plans.spec(fixture)
        driver = Driver(spec, fixture, self._plans.rules(fixture))
        deadline = self._loop.call_later(
            self._settings.engine.match_deadline_s, self._calls.expire, fixture.number
        )
        recorded = answered_first(self._recovered.exchanges.pop(fixture.number, ()))
        match = MatchUnderWay(fixture, digest, driver, deadline, recorded, spec.house)
        self._matches[fixture.number] = match
        self._go_on(match, driver.start())

    def _go_on(self, match: MatchUnderWay, asks: Sequence[Answered]) -> None:
        """Send requests, or feed what is on record for them; close the match when its game has ended."""
        todo = deque(asks)
        while todo:
            ask = todo.popleft()
            body, texts = request_body(ask, match.secret)
            before = match.recorded.pop(ask.key, None)
            if before is not None:
                if before.request != body and not self._asked_before(before.request, ask, match.secret):
                    raise Mismatch(match.fixture, ask.key)
                if before.reply is not None:
                    self._budget.recall(match.fixture.number, before.player, before.cost_nano or 0)
                    todo.extend(match.driver.feed(ask.key, match.tally.add_recorded(before)))
                    continue
            match.open += 1
            player = match.players[ask.to]
            pending = Pending(
                match.fixture.number,
                match.fixture.seed,
                player,
                ask,
                body,
                match.house,
                before.attempt if before else 0,
                reply_salt(match.secret, ask.key),
            )
            if player not in self._lines and player != SANDBOX:
                self._calls.void(pending, texts, "withdrawn")
            elif self.expired(match.fixture.number):
                self._calls.void(pending, texts, "deadline")
            else:
                self._calls.submit(pending, texts)
        if match.driver.outcome is not None and match.fixture.number in self._matches:
            self._close(match, match.driver.outcome)
        elif match.put_off or self._calls.long_pauses:
            self.look_soon()

    def _asked_before(self, stored: bytes, ask: Answered, secret: str) -> bool:
        def text(digest: str) -> str:
            return by_hex(self._ledger.texts([bytes.fromhex(digest)]))(digest)

        return asks_the_same(stored, ask, secret, text)

    def tripped(self, player: str, number: int) -> None:
        """A call of match `number` got a player benched: later matches end that cannot do without it.

        Earlier ones find out by themselves. So the first match that failed for this player, from which
        pairing knows it, is the same in whatever order calls return.
        """
        for at, match in self._matches.items():
            reason = want_of(match.fixture, self._calls.benched)
            if at > number and at not in self._unfinished and reason and not match.given_up:
                match.given_up = reason
                match.open -= self._calls.forget(at) + len(match.put_off)
                match.put_off.clear()
                if not match.open:
                    self._loop.call_soon(self._give_up, match)

    def _give_up(self, match: MatchUnderWay) -> None:
        """End a match that cannot be decided any more, once what it has in flight has returned."""
        if match.fixture.number not in self._matches:
            return
        try:
            for exchange in match.recorded.values():
                if exchange.reply is not None:
                    match.tally.add_recorded(exchange)
            match.recorded.clear()
            self._close(match, Outcome(void=match.given_up, detail={"by": ENGINE}))
        except Exception as fault:
            self.broken(fault)

    def replied(self, pending: Pending, raw: Reply, digest: bytes, model: str) -> None:
        match = self._matches[pending.match]
        match.tally.add(pending.ask.key, pending.player, raw, digest, model)
        match.open -= 1
        if raw.status != "void":
            self._waiting.heard(pending.player)
        if match.given_up:
            if not match.open:
                self._give_up(match)
            return
        self._go_on(match, match.driver.feed(pending.ask.key, raw))
        if self._short:  # what matches cost is known a little better with every reply
            self._admit()

    def expired(self, number: int) -> bool:
        match = self._matches[number]
        return bool(match.given_up) or self._loop.time() >= match.deadline.when()

    # --------------------------------------------------------------------------------- matches that wait

    def put_off(self, pending: Pending, why: str, until_ms: int | None) -> None:
        """A player asks for a call at another time."""
        match = self._matches[pending.match]
        if match.given_up:
            match.open -= 1
            if not match.open:
                self._give_up(match)
            return
        match.put_off[pending.ask.key] = (pending.player, why, until_ms)
        self.look_soon()

    def look_soon(self) -> None:
        """Let matches leave that cannot go on now, and others start in their place."""
        if self._look is None:
            self._look = self._loop.call_soon(self._look_now)

    def _look_now(self) -> None:
        self._look = None
        try:
            if not self._done.done():
                held = self._calls.held_for_long()
                for number, match in list(self._matches.items()):
                    waiting = len(match.put_off) + len(held.get(number, ()))
                    if waiting and waiting == match.open and number not in self._unfinished:
                        self._leave(match, held.get(number, ()))
                self._fold()
                self._issue()
            self._admit()
        except Exception as fault:
            self.broken(fault)

    def _leave(self, match: MatchUnderWay, held: Iterable[Pending]) -> None:
        """A match leaves its round: all it asks for now waits for players."""
        number, now_ms = match.fixture.number, self._clock()
        reasons = list(match.put_off.values())
        for one in {pending.player: None for pending in held}:
            paused_ms = round(self._calls.paused_s(one) * 1000)
            reasons.append((one, self._calls.why_paused(one), now_ms + paused_ms))
        # For whom it waits longest: a time that nobody knows is later than any.
        player, why, until_ms = max(reasons, key=lambda one: (one[2] is None, one[2] or 0, one[0]))
        self._calls.forget(number)
        match.deadline.cancel()
        del self._matches[number]
        self._budget.leave(number)
        first = number not in self._waits.left
        after = self._folding.standings.number
        self._enter(Wait(number, "waits", after, player, why, until_ms))
        if first:
            self._rounds.left(match.fixture.round, self._folding.standings)
        self._left_in_a_row += 1
        seconds = ASK_AGAIN_S if until_ms is None else max(SOONEST_S, (until_ms - now_ms) / 1000)
        due = self._loop.time() + seconds
        away = Away(match.fixture, match.digest, player, due, until_ms is not None)
        self._waiting.add(away, saved=False)
        self._journal.then(partial(self._waiting.saved, number))

    def _enter(self, entry: Wait) -> None:
        self._journal.rows.amend(self._waits.enter(entry, self._clock()))
        self._journal.touch()

    # ---------------------------------------------------------------------------------- closing a match

    def _close(self, match: MatchUnderWay, outcome: Outcome) -> None:
        number = match.fixture.number
        unasked = [exchange.key for exchange in match.recorded.values() if exchange.reply is not None]
        if unasked:
            raise Mismatch(match.fixture, unasked[0])
        match.deadline.cancel()
        del self._matches[number]
        self._unfinished.pop(number, None)
        self._budget.close(number, decided=not outcome.void)
        self._finish(match.fixture, match.digest, match.tally, outcome)
        self._admit()

    def _finish(self, fixture: Fixture, digest: str, tally: Tally, outcome: Outcome) -> None:
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
