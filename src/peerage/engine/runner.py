"""Plays an arena: issues fixtures, admits matches, drives them, folds them in number order.

Order never depends on timing. A round is paired from the ratings after the round `lag` rounds earlier and
written down when issued; matches start in number order and are folded in number order. So the same seed
and replies give the same ledger at any concurrency, however often the run is interrupted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from peerage.accounts import count, snapshot_body
from peerage.engine.benches import Bench, want_of
from peerage.engine.budget import (
    ARENA_BUDGET,
    PLAYER_BUDGET,
    Budget,
    Share,
    Verdict,
    dollars,
    shares,
    whole_nano,
)
from peerage.engine.calls import Calls
from peerage.engine.driver import Driver
from peerage.engine.journal import Journal
from peerage.engine.memory import remembered
from peerage.engine.pending import MatchUnderWay, Pending
from peerage.engine.pricing import PlayerRuntime
from peerage.engine.records import ENGINE, Tally, answered_first, settle
from peerage.engine.recovery import Mismatch, Recovered
from peerage.engine.report import Progress, RunReport
from peerage.engine.rounds import Rounds
from peerage.games import plays
from peerage.games.game import GameSpec
from peerage.ledger.codec import (
    asks_the_same,
    by_hex,
    fixture_body,
    read_fixture,
    read_record,
    reply_salt,
    request_body,
)
from peerage.ledger.merkle import digest as digest_of
from peerage.ledger.merkle import link
from peerage.ledger.store import FailureRow, FixtureRow, Ledger, RecordRow, Summary
from peerage.match import DEVELOPMENT, Fixture, MatchRecord, Outcome
from peerage.protocol import SANDBOX, Answered, Reply, visible
from peerage.scheduling.fixtures import POLICIES, Scheduler
from peerage.settings import ArenaSettings, rules_of
from peerage.standings import pinned_elo

if TYPE_CHECKING:
    from peerage.engine.programs import Programs

_log = logging.getLogger("peerage")

SNAPSHOT_EVERY = 64
LEARNED_FROM = 64
"""Last matches of earlier runs from which it is known what a match costs."""
GRACE_S = 60.0
"""How long a stopped run waits for calls in flight: they are paid for, so their replies are worth having."""
LEFT_OPEN = "left open when an earlier run ended"


class Runner:
    """One run of one arena, on one event loop.

    `clock` gives Unix milliseconds. `observe(record, summary)` is called for each match as it is folded.
    `inline` journals on the loop's own thread, for virtual time. `programs` is the sandbox of a game that
    needs one, `secret` the arena's. `votes` gives the head of the audience's votes, which the log binds.
    """

    def __init__(
        self,
        settings: ArenaSettings,
        spec: GameSpec[Any],
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
        rules = rules_of(settings)
        self._spec = spec
        self._lines = lines
        self._limit = limit
        self._clock = clock
        self._ledger = ledger
        self._observe = observe
        self._elo = pinned_elo(ledger.meta(), settings.rating)
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[str] = self._loop.create_future()
        self._journal = Journal(ledger, self._broken, inline=inline)
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
        self._calls = Calls(
            lines,
            settings.engine,
            self._journal,
            clock,
            budget=self._budget,
            replied=self._replied,
            expired=self._expired,
            broken=self._broken,
            unaffordable=self._unaffordable,
            tripped=self._tripped,
            held_up=self._admit_soon,
            house=spec.house,
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
        self._rules = rules
        self._older_rules: dict[str, Any] = {}
        self._short = False
        self._unpaid = recovered.unaffordable
        self._recovered = recovered
        self._standings = recovered.standings
        self._accounts = recovered.accounts
        self._chain = recovered.chain
        self._queue: deque[tuple[Fixture, str]] = deque(recovered.pending)
        self._matches: dict[int, MatchUnderWay] = {}
        self._unfinished: dict[int, str] = {}
        self._finished: dict[int, tuple[Fixture, str, Tally, Outcome]] = {}
        self._snapped = recovered.standings.number
        self._votes = votes
        self._bound: tuple[int, bytes] | None = None
        self._decided = recovered.standings.number - recovered.without_result
        self._without_result = recovered.without_result
        self._fruitless = 0
        self._played = 0
        self._note = ""
        self._stopping = False
        self._admitting = False
        self._admission: asyncio.Handle | None = None
        for bench in recovered.benches.out.values():
            self._calls.bench(bench.player, bench.why)

    # ------------------------------------------------------------------------------- the run as a whole

    async def run(self) -> RunReport:
        """Play until the limit, the budget, or `stop`; raises what broke the run; all is recorded."""
        try:
            self._account_for_open_calls()
            self._bind_votes()
            self._learn()
            self._issue()
            self._admit()
            reason = await self._done
        finally:
            await self._calls.stop(0.0 if self._journal.broken else GRACE_S)
            await self._journal.drain()
            if self._done.done() and not self._done.exception() and self._done.result() == "budget":
                self._fold_past_unfinished()
            self._snapshot()
            self._bind_votes()
            await self._journal.close()
        return RunReport(
            reason,
            self._note,
            self._standings.number,
            self._decided,
            self._played,
            self._calls.answered,
            self._budget.billed,
            self._budget.possibly,
            sum(lost.player != SANDBOX for lost in self._recovered.left_open),
            sum(lost.worst_nano or 0 for lost in self._recovered.left_open),
            self._benched(),
            dict(self._budget.overrun),
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
            self._decided,
            self._limit,
            len(self._matches),
            self._calls.in_flight,
            self._calls.waiting,
            self._calls.answered,
            self._calls.retried,
            self._budget.billed,
            self._budget.possibly,
            self._budget.held,
            self._standings,
            self._benched(),
            self._stopping,
            self._calls.troubles(),
        )

    def _benched(self) -> Mapping[str, str]:
        return {name: why for name, why in self._calls.benched.items() if name in self._lines}

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
        """Whether a match may be one too many, were all before it decided whose result is not known yet."""
        return self._limit is not None and number > self._limit + self._without_result

    # ------------------------------------------------------------------------------- admitting matches

    def _admit(self) -> None:
        """Start matches in number order, as far as concurrency and budget allow; see whether all is done."""
        if self._admitting:
            return
        self._admitting = True
        try:
            while not self._done.done() and self._queue and self._has_room():
                fixture, digest = self._queue[0]
                if self._reached(fixture.number):
                    break
                void: str | None = want_of(fixture, self._calls.benched)
                if void and len(self._lines) - len(self._benched()) < 2:
                    self._end("players", "fewer than two players are left for a match")
                    break
                if not void:
                    void = self._void_or_begin(fixture)
                if void is None:
                    break
                self._queue.popleft()
                if void:
                    self._skip(fixture, digest, void)
                else:
                    self._start(fixture, digest)
        finally:
            self._admitting = False
        if len(self._matches) > len(self._unfinished):
            return
        if self._unfinished:
            self._end("budget", self._unfinished[min(self._unfinished)])
        elif not self._queue or self._reached(self._queue[0][0].number):
            if self._rounds.over and not self._queue:
                self._end("players" if self._rounds.for_want_of_players else "budget", self._rounds.over)
            else:
                self._end("limit", "")

    def _void_or_begin(self, fixture: Fixture) -> str | None:
        """Why a match has no result, "" when it may begin, None when it must wait."""
        if not plays(self._spec, fixture.game, fixture.version, fixture.release):
            return f"not playable here: {fixture.game} version {fixture.version}"
        withdrawn = [seat.player for seat in fixture.seats if seat.player not in self._lines]
        if withdrawn:
            return f"withdrawn: {', '.join(withdrawn)}"
        if not self._budget.bounded:
            return ""
        plan = self._plan(fixture)
        if fixture.number not in self._recovered.exchanges:
            if self._unfinished:
                return None
            verdict, player = self._budget.admit(plan)
            if verdict in (Verdict.MATCH, Verdict.PLAYER):
                return self._not_begun(plan, verdict.value if not player else f"{PLAYER_BUDGET}{player}")
            if verdict is Verdict.ARENA and not self._matches:
                self._end("budget", f"{dollars(self._budget.left)} left; {self._one_more(plan)}")
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
            self._end(
                "budget",
                f"none of the last {self._unpaid} matches could be paid for ({void}); {self._one_more(plan)}",
            )
        return None

    def _one_more(self, plan: Mapping[str, Share]) -> str:
        usual = sum(self._budget.expected(plan).values())
        reach = max([share.reach for share in plan.values()], default=0)
        need = dollars(2 * usual + reach)
        return f"one more match costs some {dollars(usual)}, and begins when {need} is free"

    def _plan(self, fixture: Fixture) -> Mapping[str, Share]:
        return shares(self._spec, self._rules_of(fixture), fixture, self._lines)

    def _rules_of(self, fixture: Fixture) -> Any:
        """The rules a fixture was issued with."""
        if fixture.settings is self._scheduler.settings:
            return self._rules
        text = repr(sorted(fixture.settings.items()))
        if text not in self._older_rules:
            self._older_rules[text] = self._spec.rules.model_validate(fixture.settings)
        return self._older_rules[text]

    def _learn(self) -> None:
        """Take what a match costs from the last ones of earlier runs."""
        last = self._standings.number
        if not self._budget.bounded or not last:
            return
        first = max(1, last - LEARNED_FROM + 1)
        texts = by_hex(self._ledger.texts())
        rows = zip(self._ledger.fixtures(first, last), self._ledger.records(first, last), strict=True)
        for issued, row in rows:
            fixture, record = read_fixture(issued.body, texts), read_record(row.body)
            if not record.outcome.void and (fixture.game, fixture.version) == (
                self._spec.name,
                self._spec.version,
            ):
                self._budget.seen(
                    self._plan(fixture), {name: sums.cost_nano for name, sums in record.totals.items()}
                )

    def _unaffordable(self, pending: Pending, worst: int) -> None:
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

        Those with nothing finished after them go on when the budget is raised.
        """
        for number in sorted(self._unfinished):
            if number < max(self._finished, default=0):
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

    def _admit_soon(self) -> None:
        if self._admission is None:
            self._admission = self._loop.call_soon(self._admit_held_up)

    def _admit_held_up(self) -> None:
        self._admission = None
        try:
            self._admit()
        except Exception as fault:
            self._broken(fault)

    def _skip(self, fixture: Fixture, digest: str, reason: str) -> None:
        """Void a match that cannot be played, asking nobody."""
        tally = Tally()
        for exchange in answered_first(self._recovered.exchanges.pop(fixture.number, ())).values():
            if exchange.reply is not None:
                tally.add_recorded(exchange)
        self._finish(fixture, digest, tally, Outcome(void=reason, detail={"by": ENGINE}))

    # --------------------------------------------------------------------------------- driving a match

    def _start(self, fixture: Fixture, digest: str) -> None:
        driver = Driver(self._spec, fixture, self._rules_of(fixture))
        deadline = self._loop.call_later(
            self._settings.engine.match_deadline_s, self._calls.expire, fixture.number
        )
        match = MatchUnderWay(fixture, digest, driver, deadline)
        self._matches[fixture.number] = match
        match.recorded = answered_first(self._recovered.exchanges.pop(fixture.number, ()))
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

    def _asked_before(self, stored: bytes, ask: Answered, secret: str) -> bool:
        def text(digest: str) -> str:
            return by_hex(self._ledger.texts([bytes.fromhex(digest)]))(digest)

        return asks_the_same(stored, ask, secret, text)

    def _tripped(self, player: str, number: int) -> None:
        """A call of match `number` got a player benched: later matches end that cannot do without it.

        Earlier ones find out by themselves. So the first match that failed for this player, from which
        pairing knows it, is the same in whatever order calls return.
        """
        for at, match in self._matches.items():
            reason = want_of(match.fixture, self._calls.benched)
            if at > number and at not in self._unfinished and reason and not match.given_up:
                match.given_up = reason
                match.open -= self._calls.forget(at)
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
            self._broken(fault)

    def _replied(self, pending: Pending, raw: Reply, digest: bytes, model: str) -> None:
        match = self._matches[pending.match]
        match.tally.add(pending.ask.key, pending.player, raw, digest, model)
        match.open -= 1
        if match.given_up:
            if not match.open:
                self._give_up(match)
            return
        self._go_on(match, match.driver.feed(pending.ask.key, raw))
        if self._short:  # what matches cost is known a little better with every reply
            self._admit()

    def _expired(self, number: int) -> bool:
        match = self._matches[number]
        return bool(match.given_up) or self._loop.time() >= match.deadline.when()

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
        self._finished[fixture.number] = (fixture, digest, tally, outcome)
        self._without_result += outcome.void not in ("", DEVELOPMENT)
        self._fold()
        self._issue()

    def _fold(self) -> None:
        """Write the records of finished matches, in number order; settle ratings; issue what they allow."""
        patience = self._settings.engine.give_up_after
        while self._standings.number + 1 in self._finished and self._fruitless < patience:
            fixture, digest, tally, outcome = self._finished.pop(self._standings.number + 1)
            self._write(fixture, digest, tally, outcome)
            for player, why in tally.benched.items():
                self._bench(player, why, fixture)
            if tally.models and fixture.release:
                self._watch_models(fixture.number, tally)
            self._count(outcome)
            if self._rounds.folded(fixture, outcome, self._standings):
                self._issue()
            if fixture.number % SNAPSHOT_EVERY == 0:
                self._snapshot()
                self._bind_votes()

    def _bench(self, player: str, why: str, fixture: Fixture) -> None:
        """Put on record that a player failed for good in a match, and from when on pairing leaves it out."""
        if player in self._recovered.benches.out:
            return
        entry = Bench(player, "benched", self._rounds.first_without(fixture.round), fixture.number, why)
        self._journal.rows.amend(self._recovered.benches.enter(entry, self._clock()))
        self._journal.touch()
        self._calls.bench(player, why)

    def _watch_models(self, number: int, tally: Tally) -> None:
        """Put on record, and tell, that a provider names another model than before."""
        for change in self._recovered.models.see(self._standings.number, number, tally.models):
            self._journal.rows.amend(self._recovered.models.enter(change, self._clock()))
            self._journal.touch()
            if change.before:
                _log.warning("%s: %s; its rating counts all its matches", change.player, visible(change.told))

    def _count(self, outcome: Outcome) -> None:
        """End a run in which match after match is played for nothing."""
        if outcome.void in ("", DEVELOPMENT):
            self._decided += 1
            self._fruitless = 0
        elif outcome.detail.get("by") != ENGINE:
            self._fruitless += 1
            if self._fruitless >= self._settings.engine.give_up_after:
                self._end("no_result", f"the last {self._fruitless} matches came to no result")

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

    def _bind_votes(self) -> None:
        """Take the head of the audience's votes into the log, where it is another than before."""
        found = self._votes()
        if found != self._bound:
            self._bound = self._journal.rows.votes = found
            self._journal.touch()

    def _snapshot(self) -> None:
        if self._standings.number != self._snapped:
            self._snapped = self._standings.number
            body = snapshot_body(self._standings, self._accounts)
            self._journal.rows.snapshots.append((self._standings.number, body))
            self._journal.touch()
