"""Plays an arena: issues fixtures, admits matches, drives them, folds them in number order.

Order never depends on timing. A round is paired from the ratings after the round `lag` rounds earlier and
written down when issued; matches start in number order and are folded in number order. So the same seed
and replies give the same ledger at any concurrency, however often the run is interrupted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from peerage.accounts import count, snapshot_body
from peerage.engine.answers import Line
from peerage.engine.budget import Budget, Verdict, whole_nano
from peerage.engine.calls import Calls
from peerage.engine.driver import Driver
from peerage.engine.gate import Gate
from peerage.engine.journal import Journal
from peerage.engine.memory import remembered
from peerage.engine.pending import MatchUnderWay, Pending, most_nano
from peerage.engine.records import ENGINE, Tally, answered_first, settle
from peerage.engine.recovery import Mismatch, Recovered
from peerage.engine.report import Progress, RunReport
from peerage.engine.rounds import Rounds
from peerage.games.game import GameSpec
from peerage.ledger.codec import fixture_body, reply_salt, request_body
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.merkle import link
from peerage.ledger.store import FailureRow, FixtureRow, Ledger, RecordRow, Summary
from peerage.match import Fixture, MatchRecord, Outcome
from peerage.protocol import SANDBOX, Answered, Reply
from peerage.scheduling.fixtures import POLICIES, Scheduler
from peerage.settings import ArenaSettings, rules_of
from peerage.standings import elo_settings

if TYPE_CHECKING:
    from peerage.engine.programs import Programs

SNAPSHOT_EVERY = 64
GRACE_S = 60.0
"""How long a stopped run waits for calls in flight: they are paid for, so their replies are worth having."""
LEFT_OPEN = "left open when an earlier run ended"


class Runner:
    """One run of one arena, on one event loop.

    `clock` gives Unix milliseconds. `observe(record, summary)` is called for each match as it is folded.
    `inline` journals on the loop's own thread, for virtual time. `programs` is the sandbox of a game that
    needs one, `secret` the arena's.
    """

    def __init__(
        self,
        settings: ArenaSettings,
        spec: GameSpec[Any],
        ledger: Ledger,
        lines: Mapping[str, Line],
        recovered: Recovered,
        *,
        lag: int,
        secret: str,
        limit: int | None,
        clock: Callable[[], int],
        observe: Callable[[MatchRecord, Summary], None] | None = None,
        inline: bool = False,
        programs: Programs | None = None,
    ) -> None:
        self._settings = settings
        rules = rules_of(settings)
        self._spec = spec
        self._lines = lines
        self._limit = limit
        self._clock = clock
        self._observe = observe
        self._elo = elo_settings(settings.rating)
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[str] = self._loop.create_future()
        self._journal = Journal(ledger, self._broken, inline=inline)
        budget = settings.budget
        self._budget = Budget(
            whole_nano(budget.arena),
            whole_nano(budget.match),
            whole_nano(budget.player),
            recovered.spent_nano,
            recovered.spent_by,
            recovered.begun,
        )
        self._calls = Calls(
            lines,
            settings.engine,
            self._journal,
            clock,
            replied=self._replied,
            paid=self._paid_again,
            expired=self._expired,
            broken=self._broken,
            covered=self._covered if self._budget.bounded else None,
            programs=programs,
        )
        self._scheduler = Scheduler.of(
            spec,
            rules,
            secret,
            POLICIES[settings.pairing.policy],
            settings.pairing.width,
        )
        memory = remembered(ledger, spec, rules, secret)
        self._rounds = Rounds(
            self._scheduler, settings.players, settings.rating.initial, lag, recovered, memory
        )
        self._gate = Gate(
            spec,
            rules,
            self._scheduler.settings,
            lines,
            self._budget,
            self._rounds.patience,
            recovered.unaffordable,
            partial(self._end, "budget"),
        )
        self._recovered = recovered
        self._standings = recovered.standings
        self._accounts = recovered.accounts
        self._chain = recovered.chain
        self._queue: deque[tuple[Fixture, str]] = deque(recovered.pending)
        self._matches: dict[int, MatchUnderWay] = {}
        self._finished: dict[int, tuple[Fixture, str, Tally, Outcome]] = {}
        self._snapped = recovered.standings.number
        self._played = 0
        self._note = ""
        self._stopping = False
        self._admitting = False

    # ------------------------------------------------------------------------------- the run as a whole

    async def run(self) -> RunReport:
        """Play until the limit, the budget, or `stop`; raises what broke the run; all is recorded."""
        try:
            self._account_for_open_calls()
            self._issue()
            self._admit()
            reason = await self._done
        finally:
            await self._calls.stop(0.0 if self._journal.broken else GRACE_S)
            self._snapshot()
            await self._journal.close()
        return RunReport(
            reason,
            self._note,
            self._standings.number,
            self._played,
            self._calls.answered,
            self._budget.spent,
            sum(lost.player != SANDBOX for lost in self._recovered.left_open),
            sum(lost.worst_nano or 0 for lost in self._recovered.left_open),
        )

    def stop(self) -> None:
        """Admit and send nothing more, let calls in flight return, end the run. Twice: do not wait."""
        if self._stopping:
            self._calls.abandon()
        self._stopping = True
        self._end("interrupted", "stopped; run again to go on")

    def progress(self) -> Progress:
        return Progress(
            self._standings.number,
            self._limit,
            len(self._matches),
            self._calls.in_flight,
            self._calls.waiting,
            self._calls.answered,
            self._calls.retried,
            self._calls.trouble,
            self._budget.spent,
            self._budget.held,
            self._standings,
            self._stopping,
        )

    def _end(self, reason: str, note: str) -> None:
        if not self._done.done():
            self._note = note
            self._done.set_result(reason)

    def _broken(self, error: Exception) -> None:
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
        return self._limit is not None and number > self._limit

    # ------------------------------------------------------------------------------- admitting matches

    def _admit(self) -> None:
        """Start matches in number order, as far as concurrency and budget allow; see whether all is done."""
        if self._admitting:
            return
        self._admitting = True
        try:
            while (
                not self._done.done()
                and self._queue
                and len(self._matches) < self._settings.engine.concurrency
            ):
                fixture, digest = self._queue[0]
                if self._reached(fixture.number):
                    break
                void = self._gate.admit(
                    fixture, self._recovered.exchanges.get(fixture.number, ()), alone=not self._matches
                )
                if void is None:
                    break
                self._queue.popleft()
                if void:
                    self._skip(fixture, digest, void)
                else:
                    self._start(fixture, digest)
        finally:
            self._admitting = False
        if not self._matches and (not self._queue or self._reached(self._queue[0][0].number)):
            if self._rounds.over and not self._queue:
                self._end("budget", self._rounds.over)
            else:
                self._end("limit", "")

    def _skip(self, fixture: Fixture, digest: str, reason: str) -> None:
        """Void a match that cannot be played, asking nobody."""
        tally = Tally()
        for exchange in answered_first(self._recovered.exchanges.pop(fixture.number, ())).values():
            if exchange.reply is not None:
                tally.add_recorded(exchange)
        self._budget.close(fixture.number)
        self._finished[fixture.number] = (fixture, digest, tally, Outcome(void=reason, detail={"by": ENGINE}))
        self._fold()

    # --------------------------------------------------------------------------------- driving a match

    def _start(self, fixture: Fixture, digest: str) -> None:
        driver = Driver(self._spec, fixture, self._gate.rules_of(fixture))
        deadline = self._loop.call_later(
            self._settings.engine.match_deadline_s, self._calls.expire, fixture.number
        )
        match = MatchUnderWay(fixture, digest, driver, deadline)
        self._matches[fixture.number] = match
        match.recorded = answered_first(self._recovered.exchanges.pop(fixture.number, ()))
        self._go_on(match, driver.start())

    def _go_on(self, match: MatchUnderWay, asks: Sequence[Answered]) -> None:
        """Send requests, or feed what is on record for them; close the match when its game has ended."""
        lean = self._budget.lean(match.fixture.number)
        todo = deque(asks)
        while todo:
            ask = todo.popleft()
            if lean:
                match.asked.append(ask.key)
            body, texts = request_body(ask, match.secret)
            before = match.recorded.pop(ask.key, None)
            if before is not None:
                if before.request != body:
                    raise Mismatch(match.fixture, ask.key)
                if before.reply is not None:
                    todo.extend(self._fed(match, ask.key, match.tally.add_recorded(before)))
                    continue
            player = match.players[ask.to]
            pending = Pending(
                match.fixture.number,
                match.fixture.seed,
                player,
                ask,
                body,
                before.attempt if before else 0,
                reply_salt(match.secret, ask.key),
            )
            if player not in self._lines and player != SANDBOX:
                self._calls.void(pending, texts, "withdrawn")
            elif self._expired(match.fixture.number):
                self._calls.void(pending, texts, "deadline")
            else:
                self._calls.submit(pending, texts)
        if match.driver.outcome is not None and match.fixture.number in self._matches:
            self._close(match, match.driver.outcome)

    def _replied(self, pending: Pending, raw: Reply, digest: bytes) -> None:
        match = self._matches[pending.match]
        match.tally.add(pending.ask.key, pending.player, raw, digest)
        cost = most_nano(pending, raw) or 0
        most = pending.worst or 0
        self._budget.pay(pending.match, pending.player, cost, most)
        if cost > most and self._budget.overrun(pending.match, pending.player):
            note = (
                f"a reply of {pending.player} cost ${cost / 1e9:.4f}, at most ${most / 1e9:.4f} was expected"
            )
            self._end("budget", f"{note}; nothing more is asked, lest more goes beyond the budget")
        self._go_on(match, self._fed(match, pending.ask.key, raw))

    def _fed(self, match: MatchUnderWay, key: str, raw: Reply) -> list[Answered]:
        """Give a match a reply; what may be asked now.

        A lean match takes replies in the order asked, however they come: what it asks next is covered in
        that order too, and so it does not depend on anybody's speed for whom the money lasts.
        """
        if not self._budget.lean(match.fixture.number):
            return match.driver.feed(key, raw)
        match.early[key] = raw
        asks: list[Answered] = []
        while match.asked and match.asked[0] in match.early:
            first = match.asked.popleft()
            asks += match.driver.feed(first, match.early.pop(first))
        return asks

    def _covered(self, pending: Pending) -> Verdict:
        return self._gate.cover(pending, self._calls.worst_nano)

    def _paid_again(self, pending: Pending, nano: int) -> bool:
        """Account for a failed attempt that may have been charged; may another be made?"""
        lean = self._budget.lean(pending.match)
        if nano and not lean and not self._budget.may_add(pending.match, pending.player, nano):
            return False
        self._budget.pay(pending.match, pending.player, nano, pending.worst or 0)
        return True

    def _expired(self, number: int) -> bool:
        return self._loop.time() >= self._matches[number].deadline.when()

    # ---------------------------------------------------------------------------------- closing a match

    def _close(self, match: MatchUnderWay, outcome: Outcome) -> None:
        number = match.fixture.number
        unasked = [exchange.key for exchange in match.recorded.values() if exchange.reply is not None]
        if unasked:
            raise Mismatch(match.fixture, unasked[0])
        match.deadline.cancel()
        del self._matches[number]
        self._budget.close(number)
        self._finished[number] = (match.fixture, match.digest, match.tally, outcome)
        self._fold()
        self._admit()

    def _fold(self) -> None:
        """Write the records of finished matches, in number order; settle ratings; issue what they allow."""
        while self._standings.number + 1 in self._finished:
            fixture, digest, tally, outcome = self._finished.pop(self._standings.number + 1)
            self._write(fixture, digest, tally, outcome)
            if self._rounds.folded(fixture, outcome, self._standings):
                self._issue()
            if fixture.number % SNAPSHOT_EVERY == 0:
                self._snapshot()

    def _write(self, fixture: Fixture, digest: str, tally: Tally, outcome: Outcome) -> None:
        settled = settle(fixture, digest, tally, outcome, self._standings, self._elo, self._clock())
        self._chain = link(self._chain, settled.body)
        rows = self._journal.rows
        rows.records.append(
            RecordRow(settled.record.number, settled.body, self._chain, settled.summary.at_ms)
        )
        rows.summaries.append(settled.summary)
        self._journal.touch()
        self._standings = settled.standings
        count(self._accounts, settled.summary, settled.record.totals)
        self._played += 1
        if self._observe is not None:
            self._journal.then(partial(self._observe, settled.record, settled.summary))

    def _snapshot(self) -> None:
        if self._standings.number != self._snapped:
            self._snapped = self._standings.number
            body = snapshot_body(self._standings, self._accounts)
            self._journal.rows.snapshots.append((self._standings.number, body))
            self._journal.touch()
