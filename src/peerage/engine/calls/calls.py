"""One call from intent to reply: reserve money, journal the intent, send, retry, price, journal the reply.

    SUBMITTED ──▶ SHORT OF MONEY ──▶ QUEUED ──▶ INTENDED ──▶ IN FLIGHT ──▶ REPLIED
        │         `reservations`    `dispatch`   `journal`       │            ▲
        │               │               │                        ├─ failed ─▶ BACKING OFF ──▶ QUEUED
        │               │               │                        │               │ no try is left
        ▼               ▼               ▼                        ▼               ▼
     PUT OFF: its player may not be asked now      OPEN: given up; the next    VOID: recorded
     (`availability`); its match waits             run counts it at its worst  as a reply

A call is void at once where its player is benched, its match past its deadline, or no limit can ever pay.

An intent is durable before its call is sent, and it is written only when the call may leave at once, so
that what a crash leaves open is at most what was really in flight. A failed attempt is retried with
exponential backoff and seeded jitter; when the limit is reached the reply is void. A player that keeps
failing pauses (`pauses`); one that nothing will get through to is benched: its calls are void at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from peerage.engine.calls.availability import Availability, Away
from peerage.engine.calls.budget import Affordable, dollars
from peerage.engine.calls.call_limit import Load
from peerage.engine.calls.dispatch import Dispatcher, Lane
from peerage.engine.calls.pauses import Pauses, backoff, stated_wait
from peerage.engine.calls.pending import CallOwners, PendingCall
from peerage.engine.calls.player_runtime import MAX_STORED_CHARS, PlayerRuntime, most_nano, priced, raised
from peerage.engine.calls.reservations import Money
from peerage.engine.calls.troubles import Trouble, Troubles, in_short
from peerage.engine.record.benches import BENCHED, OVERBILLED
from peerage.engine.record.journal import Journal
from peerage.game.protocol import SANDBOX, Ask, Job, Reply
from peerage.ledger import FailureRow, IntentRow, ReplyRow
from peerage.ledger.forms.codec import Text, reply_body
from peerage.ledger.forms.merkle import leaf
from peerage.ledger.forms.rows import LEFT_OPEN, NOT_SENT
from peerage.players.client import Answer, Call, InstantClient, Later, PlayerError
from peerage.settings import Engine
from peerage.values.texts import storable

if TYPE_CHECKING:
    from peerage.engine.calls.programs import Programs

END_OF_TIME_MS = 253_402_300_800_000
"""The year 10,000; what a player says of a later time means nothing."""

_log = logging.getLogger("peerage")


class Reach(NamedTuple):
    """Whom calls can reach: players, within the engine's limits, when they are available, and the sandbox.
    Programs and commands wait their turn for it like calls to a player; without one there must be none."""

    runtimes: Mapping[str, PlayerRuntime]
    engine: Engine
    availability: Availability
    programs: Programs | None = None


class Calls:
    """Every call of a run, for its `matches`. For the event loop's thread alone."""

    def __init__(
        self, matches: CallOwners, reach: Reach, journal: Journal, clock: Callable[[], int], money: Money
    ) -> None:
        self._matches = matches
        self._runtimes, self._engine, self._availability, self._programs = reach
        runtimes, engine, programs = reach.runtimes, reach.engine, reach.programs
        self._journal = journal
        self._clock = clock
        self._budget, self._reservations = money
        self._loop = asyncio.get_running_loop()
        self._instant: dict[str, InstantClient] = {}
        self._dispatcher: Dispatcher[PendingCall] = Dispatcher(engine.calls, self._leave)
        self._tasks: set[asyncio.Task[None]] = set()
        self._backing_off: dict[PendingCall, asyncio.TimerHandle] = {}
        self.pauses = Pauses(self._dispatcher, self._loop.time, matches.look_soon)
        self.benched: dict[str, str] = {}
        self.stopped = False
        self._abandoned = False
        self.answered = 0
        self.retried = 0
        self._troubles = Troubles(engine.retries + 1)
        for name, runtime in runtimes.items():
            if isinstance(runtime.client, InstantClient):
                self._instant[name] = runtime.client
            else:
                self.pauses.watch(name)
            self._dispatcher.add(name, runtime.lane())
        if programs is not None:
            self._dispatcher.add(SANDBOX, Lane(programs.workers))

    @property
    def in_flight(self) -> int:
        return self._dispatcher.in_flight

    def troubles(self) -> tuple[Trouble, ...]:
        """Return the troubles of players now: calls waited for and why, replies that are cut, failures."""
        again = {pending: timer.when() for pending, timer in self._backing_off.items()}
        waits = self._dispatcher.paused(), self._dispatcher.lowered()
        return self._troubles.now(again, *waits, self._loop.time())

    def cap(self, calls: int) -> None:
        """Let so many calls be in flight at once from now on."""
        self._dispatcher.cap = calls

    def submit(self, pending: PendingCall, texts: list[Text]) -> None:
        """Ask, as soon as caps and limits allow."""
        self._journal.texts(texts)
        self._go(pending)

    def _go(self, pending: PendingCall) -> None:
        """Queue a call when its worst case is reserved; else it waits, lower matches before higher ones."""
        if pending.player in self.benched:
            self._void_benched(pending)
            return
        if (away := self._availability.away(pending.player)) is not None:
            self._matches.put_off(pending, *away)
            return
        if not isinstance(pending.ask, Ask) or not self._reservations.wanted(pending.player):
            self._ready(pending)
            return
        prompt = pending.ask.shown(pending.seed)
        pending.worst = self._runtimes[pending.player].worst_nano(pending.ask, prompt)
        self._reservations.submit(pending)
        self.decide()

    def decide(self) -> None:
        """Let those calls go that need not wait for money any more."""
        for pending, verdict in self._reservations.decided(self._queued) if not self.stopped else ():
            if verdict is Affordable.YES:
                self._ready(pending)
            elif verdict is Affordable.ARENA:
                self._budget.stop(pending.match)
                self._matches.unaffordable(pending, pending.worst or 0)
            else:
                self.void(pending, [], verdict.value)

    def _queued(self, player: str) -> bool:
        return player not in self._instant and self._dispatcher.queued(player)

    def _ready(self, pending: PendingCall) -> None:
        if pending.player in self._instant:
            self._leave(pending)
        elif not isinstance(pending.ask, Ask):
            self._dispatcher.submit(SANDBOX, pending, 0)
        else:
            tokens = self._runtimes[pending.player].tokens(pending.ask, pending.seed)
            self._dispatcher.submit(pending.player, pending, tokens)

    def void(self, pending: PendingCall, texts: list[Text], reason: str) -> None:
        """Record a void reply to a request that nobody will be asked."""
        self._journal.texts(texts)
        pending.worst = 0
        self._intend(pending)
        # Not at once: a long match past its deadline would go through all its requests on one stack.
        self._journal.then(partial(self._void, pending, reason, pending.worst))

    def expire(self, match: int) -> None:
        """A match is past its deadline: whatever of it still waits to be sent is void."""
        if not self.stopped:
            for pending in self._recall(lambda waiting: waiting.match == match):
                self.void(pending, [], "deadline")

    def forget(self, match: int) -> int:
        """Drop whatever of a match still waits to be sent; how many requests that was."""
        dropped = self._recall(lambda waiting: waiting.match == match)
        for pending in dropped:
            self._pay(pending, 0, known=True, answered=False)
        return len(dropped)

    def _recall(self, unwanted: Callable[[PendingCall], bool]) -> list[PendingCall]:
        taken = [pending for pending in self._backing_off if unwanted(pending)]
        for pending in taken:
            self._backing_off.pop(pending).cancel()
        taken += self._reservations.recall(unwanted) + self._availability.recall(unwanted)
        return taken + self._dispatcher.withdraw(unwanted)

    def bench(self, player: str, why: str) -> None:
        """Ask a player no more: its waiting calls are void, and so is what it would be asked from now on."""
        self.benched.setdefault(player, why)
        if self.stopped:
            return
        for pending in self._recall(lambda waiting: waiting.player == player):
            self._void_benched(pending)

    def _void_benched(self, pending: PendingCall) -> None:
        self.void(pending, [], f"{BENCHED}{self.benched[pending.player]}")

    def waiting_by_match(self) -> Counter[int]:
        """Return how many requests of each match wait for a player to recover."""
        counts = Counter([pending.match for pending in self._backing_off])
        counts.update([pending.match for pending in self._dispatcher.held_up()])
        return counts

    def held_for_long(self) -> dict[int, list[PendingCall]]:
        """The requests of each match that wait for a player whose pause is long."""
        by_match: dict[int, list[PendingCall]] = {}
        paused = self.pauses.long
        for pending in (*self._backing_off, *self._dispatcher.held_up()) if paused else ():
            if pending.player in paused:
                by_match.setdefault(pending.match, []).append(pending)
        return by_match

    async def stop(self, grace_s: float) -> None:
        """Send nothing more; wait so long for calls in flight, then give them up."""
        self.stopped = True
        self._dispatcher.stop()
        for timer in self._backing_off.values():
            timer.cancel()
        self._backing_off.clear()
        self._reservations.recall(lambda _: True)
        self._availability.recall(lambda _: True)
        if self._tasks and grace_s > 0:
            await asyncio.wait(self._tasks, timeout=grace_s)
        self.abandon()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def abandon(self) -> None:
        """Give up on calls in flight; each stays open in the ledger as possibly paid, unless its client
        counts what it cost."""
        self._abandoned = True
        for task in self._tasks:
            task.cancel()

    def _leave(self, pending: PendingCall) -> None:
        if self.stopped:
            return
        ask = pending.ask
        try:
            if not isinstance(ask, Ask):
                pending.worst = 0
            else:
                pending.prompt = prompt = ask.shown(pending.seed)
                if not self._budget.bounded:
                    pending.worst = self._runtimes[pending.player].worst_nano(ask, prompt)
                if not self._may_leave(pending):
                    return
            self._intend(pending)
        except Exception as fault:
            self._matches.broken(fault)
            return
        self._journal.then(partial(self._send, pending))
        if self._reservations:
            self._loop.call_soon(self.decide)

    def _may_leave(self, pending: PendingCall) -> bool:
        """Return whether a call's player may be asked now; else the call is put off, waits, or is void."""
        never = self._availability.never(pending) or pending.fetch(self._journal.shelf)
        may = False if never else self._availability.reserve(pending)
        if may is True:
            return True
        if pending.player not in self._instant:
            self._dispatcher.returned(pending.player)
        self._pay(pending, 0, known=True, answered=False)
        if isinstance(may, Away):
            self._matches.put_off(pending, *may)
        elif never:
            self.void(pending, [], never)
        return False

    def _intend(self, pending: PendingCall) -> None:
        """Write down one more attempt, and what it may cost at most."""
        pending.attempt += 1
        key, attempt, worst = pending.ask.key, pending.attempt, pending.worst
        row = IntentRow(pending.match, key, attempt, pending.player, pending.body, worst)
        self._journal.rows.intents.append(row)

    def _send(self, pending: PendingCall) -> None:
        ask = pending.ask
        instant = self._instant.get(pending.player)
        if self.stopped:
            self._fail(pending, NOT_SENT, 0)
            if instant is None:
                self._dispatcher.returned(pending.player)
            return
        if not isinstance(ask, Ask):
            self._spawn(self._perform(pending, ask))
            return
        call = self._runtimes[pending.player].call(pending, ask)
        if instant is None:
            self._spawn(self._converse(pending, call))
            return
        try:
            answer = instant.answer_now(call)
        except PlayerError as error:
            self._failed(pending, error)
        except Exception as error:
            self._failed(pending, raised(pending.player, error))
        else:
            self._answered(pending, answer)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _perform(self, pending: PendingCall, job: Job) -> None:
        assert self._programs is not None
        try:
            raw = await self._programs.perform(job)
            self._record(pending, raw, reply_body(raw, salt=pending.salt))
        except Exception as fault:
            self._matches.broken(fault)
        finally:
            self._dispatcher.returned(SANDBOX)

    async def _converse(self, pending: PendingCall, call: Call) -> None:
        pending.sent_at, pending.load = self._loop.time(), None
        self._troubles.sent(pending, pending.sent_at)
        try:
            answer = await self._runtimes[pending.player].answer(call, lambda: self._abandoned)
            if not isinstance(answer, PlayerError):
                self._answered(pending, answer)
            elif self._abandoned:
                self._fail(pending, LEFT_OPEN, answer.cost(pending.worst))
            else:
                self._failed(pending, answer)
        except asyncio.CancelledError:
            self._pay(pending, pending.worst or 0, known=False, answered=False)
        except Exception as fault:
            self._matches.broken(fault)
        finally:
            self._troubles.returned(pending)
            self._dispatcher.returned(pending.player, pending.sent_at, pending.load)

    def _answered(self, pending: PendingCall, answer: Answer) -> None:
        runtime = self._runtimes[pending.player]
        try:
            assert isinstance(pending.ask, Ask)
            raw = priced(runtime, answer, runtime.cuts(pending.ask), pending.prompt)
            truncated = bool(answer.truncated) or len(answer.text) > MAX_STORED_CHARS
            price = runtime.price.source if raw.cost_nano else ""
            model = storable(answer.snapshot)[:200]
            body = reply_body(raw, model, price, truncated, pending.salt)
        except Exception as error:  # whatever a third party's client returned, it was no `Answer`
            self._failed(pending, raised(pending.player, error))
        else:
            self._troubles.answered(pending, raw, truncated)
            pending.load = Load(self._loop.time() - pending.sent_at)
            self.pauses.worked(pending.player, pending.ask.role)
            self._record(pending, raw, body, model, most_nano(answer))

    def _failed(self, pending: PendingCall, error: PlayerError) -> None:
        reason = storable(str(error))[:500]
        if isinstance(error, Later):
            self._fail(pending, f"later: {reason}", 0)
            if not self.stopped:
                until = error.until_ms
                known = type(until) is int and 0 < until < END_OF_TIME_MS
                why = reason.removeprefix(f"{pending.player}: ")
                self._matches.put_off(pending, why, until if known else None)
            return
        late, refused = error.busy and error.maybe_paid, error.kind == "transient" and not error.maybe_paid
        if late or refused:
            pending.load = Load(overload=in_short(reason, pending.player), late=late)
        pending.tries += 1
        cost = error.cost(pending.worst)
        player = pending.player
        if player not in self.benched:
            fatal = self.pauses.failed(player, _role(pending), pending.sent_at, error, reason)
            if fatal:
                self._bench_for(fatal, pending)
        benched = self.benched.get(player)
        again = not benched and error.kind == "transient" and pending.tries <= self._engine.retries
        if not again or (not self.stopped and self._matches.expired(pending.match)):
            self._troubles.failed(pending, reason)
            self._void(pending, f"{BENCHED}{benched}" if benched else reason, cost)
            return
        self._fail(pending, reason, cost)
        if self.stopped:
            return
        self.retried += 1
        asked = stated_wait(error.retry_after_s)
        # A player in this process computes its reply: nothing is won by waiting for it.
        wait = (
            0.0
            if player in self._instant
            else backoff(f"{pending.seed}/{pending.ask.key}", pending.tries, asked)
        )
        self._troubles.retried(pending, reason, wait)
        self._backing_off[pending] = self._loop.call_later(wait, self._again, pending)
        self.decide()
        if wait:
            self._matches.look_soon()

    def _bench_for(self, why: str, pending: PendingCall) -> None:
        """Bench the player of a call."""
        self.bench(pending.player, why)
        self._matches.tripped(pending.player, pending.match)

    def _again(self, pending: PendingCall) -> None:
        del self._backing_off[pending]
        self._go(pending)

    def _fail(self, pending: PendingCall, reason: str, cost: int | None) -> None:
        self._journal.rows.failures.append(
            FailureRow(pending.match, pending.ask.key, pending.attempt, reason, cost, self._clock())
        )
        self._journal.touch()
        self._pay(pending, cost or 0, known=cost == 0, answered=False)

    def _void(self, pending: PendingCall, reason: str, cost: int | None) -> None:
        """Record that there is no reply; one that may have cost something has an unknown cost."""
        raw = Reply("void", reason=reason, cost_nano=None if cost != 0 else 0)
        self._record(pending, raw, reply_body(raw, salt=pending.salt), most=cost)

    def _record(
        self, pending: PendingCall, raw: Reply, body: bytes, model: str = "", most: int | None = None
    ) -> None:
        """Write a reply down; `most` is what it may have cost, where that is not known and not its worst."""
        key = pending.ask.key
        most = raw.cost_nano if raw.cost_nano is not None else pending.worst if most is None else most
        self._journal.rows.replies.append(
            ReplyRow(pending.match, key, pending.attempt, body, most, self._clock(), raw.latency_ms)
        )
        self._journal.touch()
        self.answered += 1
        pending.prompt, pending.media = (), {}
        self._pay(pending, most or 0, known=raw.cost_nano is not None, answered=True)
        self._matches.replied(pending, raw, leaf(key, pending.player, pending.body, body), model)
        self.decide()

    def _pay(self, pending: PendingCall, nano: int, *, known: bool, answered: bool) -> None:
        """Count what an attempt has cost, or may have; what was reserved for it is free again."""
        player, most = pending.player, pending.reserved
        before = self._reservations.overrun.get(player, 0)
        self._reservations.pay(pending, nano, known=known, answered=answered)
        for other in self._availability.paid(pending, nano):
            if not self.stopped:
                self._loop.call_soon(self._go, other)
        if self._reservations.overrun.get(player, 0) > before and player not in self.benched:
            figures = f"{OVERBILLED}{dollars(nano)} for a call of at most {dollars(most)}"
            why = f"{figures}; does its provider ignore max_tokens?"
            _log.warning("%s was %s It is benched", player, why)
            self._bench_for(why, pending)


def _role(pending: PendingCall) -> str:
    """The role in which a player is asked."""
    return pending.ask.role if isinstance(pending.ask, Ask) else SANDBOX
