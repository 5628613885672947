"""One call from intent to reply: reserve money, journal the intent, send, retry, price, journal the reply.

An intent is durable before its call is sent, and it is written only when the call may leave at once, so
that what a crash leaves open is at most what was really in flight. A failed attempt is retried with
exponential backoff and seeded jitter; when the limit is reached the reply is void. A player that keeps
failing pauses (`health`); one that nothing will get through to is benched: its calls are void at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from peerage.engine.benches import BENCHED, OVERBILLED
from peerage.engine.budget import OVERHEAD_BYTES, Budget, Verdict, dollars
from peerage.engine.dispatch import Dispatcher, Lane
from peerage.engine.health import Health
from peerage.engine.journal import Journal
from peerage.engine.pending import Pending, Rendering, backoff, stated_wait
from peerage.engine.pricing import MAX_STORED_CHARS, PlayerRuntime, priced, raised
from peerage.engine.reservations import Reservations
from peerage.engine.troubles import Trouble, Troubles
from peerage.ledger.codec import Text, reply_body
from peerage.ledger.merkle import leaf
from peerage.ledger.store import FailureRow, IntentRow, ReplyRow
from peerage.players.client import Answer, Call, InstantClient, Later, PlayerError, duration
from peerage.protocol import SANDBOX, Ask, Reply, Run, storable
from peerage.settings import Engine

if TYPE_CHECKING:
    from peerage.engine.programs import Programs

LONG_PAUSE_S = 600.0
"""How long a player must have failed, its pause included, for matches to leave their rounds."""

END_OF_TIME_MS = 253_402_300_800_000
"""The year 10,000; what a player says of a later time means nothing."""

_log = logging.getLogger("peerage")


class Matches(Protocol):
    """Whose calls they are. What a run does next on their account is for it to say."""

    def replied(self, pending: Pending, raw: Reply, digest: bytes, model: str) -> None:
        """A reply is there; `digest` is its leaf."""

    def expired(self, match: int) -> bool:
        """Whether a match is past its deadline: its calls are void from then on."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""

    def unaffordable(self, pending: Pending, worst: int) -> None:
        """The arena's limit has stopped a match at this call."""

    def tripped(self, player: str, match: int) -> None:
        """A call of a match got a player benched."""

    def look_soon(self) -> None:
        """Calls wait for a player to recover."""

    def put_off(self, pending: Pending, why: str, until_ms: int | None) -> None:
        """A player asks for a call at another time."""


class Calls:
    """Every call of a run, for its `matches`. For the event loop's thread alone.

    Programs wait their turn for the sandbox like calls to a player; without one there must be none.
    """

    def __init__(
        self,
        matches: Matches,
        lines: Mapping[str, PlayerRuntime],
        engine: Engine,
        journal: Journal,
        clock: Callable[[], int],
        budget: Budget,
        programs: Programs | None = None,
    ) -> None:
        self._matches = matches
        self._lines = lines
        self._engine = engine
        self._journal = journal
        self._clock = clock
        self._budget = budget
        self._reservations = Reservations(budget)
        self._programs = programs
        self._loop = asyncio.get_running_loop()
        self._instant: dict[str, InstantClient] = {}
        self._dispatcher: Dispatcher[Pending] = Dispatcher(engine.calls, self._leave)
        self._tasks: set[asyncio.Task[None]] = set()
        self._backing_off: dict[Pending, asyncio.TimerHandle] = {}
        self._health: dict[str, Health] = {}
        self._long: dict[str, str] = {}
        self.benched: dict[str, str] = {}
        self.stopped = False
        self._abandoned = False
        self.answered = 0
        self.retried = 0
        self._troubles = Troubles(engine.retries + 1)
        for name, line in lines.items():
            if isinstance(line.client, InstantClient):
                self._instant[name] = line.client
            else:
                self._health[name] = Health(engine.backoff_s, engine.pause_max_s, engine.bench_after)
            settings = line.settings
            self._dispatcher.add(
                name, Lane(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
            )
        if programs is not None:
            self._dispatcher.add(SANDBOX, Lane(programs.workers))

    @property
    def in_flight(self) -> int:
        return self._dispatcher.in_flight

    @property
    def waiting(self) -> int:
        return self._dispatcher.waiting + len(self._backing_off) + len(self._reservations)

    def troubles(self) -> tuple[Trouble, ...]:
        """Who is waited for and why, whose replies are cut, who fails."""
        again = {pending: timer.when() for pending, timer in self._backing_off.items()}
        return self._troubles.now(again, self._dispatcher.paused(), self._loop.time())

    def submit(self, pending: Pending, texts: list[Text]) -> None:
        """Ask, as soon as caps and limits allow."""
        self._journal.texts(texts)
        self._go(pending)

    def _go(self, pending: Pending) -> None:
        """Queue a call when its worst case is reserved; else it waits, lower matches before higher ones."""
        if pending.player in self.benched:
            self._void_benched(pending)
            return
        if not self._budget.bounded or isinstance(pending.ask, Run):
            self._ready(pending)
            return
        pending.worst = self._worst(pending.player, pending.ask, Rendering(pending.ask, pending.seed))
        self._reservations.submit(pending)
        self._decide()

    def _decide(self) -> None:
        """Let those calls go that need not wait for money any more."""
        for pending, verdict in self._reservations.decided(self._queued) if not self.stopped else ():
            if verdict is Verdict.YES:
                self._ready(pending)
            elif verdict is Verdict.ARENA:
                self._budget.stop(pending.match)
                self._matches.unaffordable(pending, pending.worst or 0)
            else:
                self.void(pending, [], verdict.value)

    def _queued(self, player: str) -> bool:
        return player not in self._instant and self._dispatcher.queued(player)

    def _ready(self, pending: Pending) -> None:
        if pending.player in self._instant:
            self._leave(pending)
        else:
            self._queue(pending)

    def void(self, pending: Pending, texts: list[Text], reason: str) -> None:
        """Record a void reply to a request that nobody will be asked."""
        self._journal.texts(texts)
        pending.attempt += 1
        pending.worst = 0
        self._intent(pending)
        # Not at once: a long match past its deadline would go through all its requests on one stack.
        self._journal.then(partial(self._void, pending, Reply("void", reason=reason, cost_nano=0)))

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

    def _recall(self, unwanted: Callable[[Pending], bool]) -> list[Pending]:
        taken = [pending for pending in self._backing_off if unwanted(pending)]
        for pending in taken:
            self._backing_off.pop(pending).cancel()
        return taken + self._reservations.recall(unwanted) + self._dispatcher.withdraw(unwanted)

    def bench(self, player: str, why: str) -> None:
        """Ask a player no more: its waiting calls are void, and so is what it would be asked from now on."""
        self.benched.setdefault(player, why)
        if self.stopped:
            return
        for pending in self._recall(lambda waiting: waiting.player == player):
            self._void_benched(pending)

    def _void_benched(self, pending: Pending) -> None:
        self.void(pending, [], f"{BENCHED}{self.benched[pending.player]}")

    def waiting_by_match(self) -> Counter[int]:
        """How many requests of each match wait for a player to recover."""
        found = Counter([pending.match for pending in self._backing_off])
        found.update([pending.match for pending in self._dispatcher.held_up()])
        return found

    @property
    def long_pauses(self) -> bool:
        """Whether a player's pause is long."""
        return bool(self._long)

    def held_for_long(self) -> dict[int, list[Pending]]:
        """The requests of each match that wait for a player whose pause is long."""
        found: dict[int, list[Pending]] = {}
        paused = {player for player in self._long if self.paused_s(player)}
        for pending in (*self._backing_off, *self._dispatcher.held_up()) if paused else ():
            if pending.player in paused:
                found.setdefault(pending.match, []).append(pending)
        return found

    def why_paused(self, player: str) -> str:
        """Why a player's pause is long."""
        return f"paused: {self._long.get(player, '')}"

    def paused_s(self, player: str) -> float:
        """For how many seconds a player pauses still."""
        return 0.0 if player in self._instant else self._dispatcher.paused_s(player)

    async def stop(self, grace_s: float) -> None:
        """Send nothing more; wait so long for calls in flight, then give them up."""
        self.stopped = True
        self._dispatcher.stop()
        for timer in self._backing_off.values():
            timer.cancel()
        self._backing_off.clear()
        self._reservations.recall(lambda _: True)
        if self._tasks and grace_s > 0:
            await asyncio.wait(self._tasks, timeout=grace_s)
        self.abandon()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def abandon(self) -> None:
        """Give up on calls in flight; each stays open in the ledger as possibly paid."""
        self._abandoned = True
        for task in self._tasks:
            task.cancel()

    def _queue(self, pending: Pending) -> None:
        tokens = 0
        if isinstance(pending.ask, Run):
            self._dispatcher.submit(SANDBOX, pending, 0)
            return
        if self._lines[pending.player].settings.tokens_per_minute is not None:
            tokens = _size(pending.ask) // 4 + self._lines[pending.player].limit(pending.ask).tokens
        self._dispatcher.submit(pending.player, pending, tokens)

    def _leave(self, pending: Pending) -> None:
        if self.stopped:
            return
        try:
            self._intend(pending)
        except Exception as fault:
            self._matches.broken(fault)
            return
        self._journal.then(partial(self._send, pending))
        if self._reservations:
            self._loop.call_soon(self._decide)

    def _intend(self, pending: Pending) -> None:
        ask = pending.ask
        if isinstance(ask, Run):
            pending.worst = 0
            pending.attempt += 1
            self._intent(pending)
            return
        pending.prompt = Rendering(ask, pending.seed)
        if not self._budget.bounded:
            pending.worst = self._worst(pending.player, ask, pending.prompt)
        pending.attempt += 1
        self._intent(pending)

    def _worst(self, player: str, ask: Ask, prompt: Rendering) -> int | None:
        price = self._lines[player].price
        if price.free:
            return 0
        limit = self._lines[player].limit(ask)
        return price.worst_nano(prompt.size + OVERHEAD_BYTES, limit.answer, limit.more_room)

    def _intent(self, pending: Pending) -> None:
        key, attempt, worst = pending.ask.key, pending.attempt, pending.worst
        row = IntentRow(pending.match, key, attempt, pending.player, pending.body, worst)
        self._journal.rows.intents.append(row)

    def _send(self, pending: Pending) -> None:
        ask = pending.ask
        instant = self._instant.get(pending.player)
        if self.stopped:
            self._fail(pending, "not sent: the run was stopped", 0)
            if instant is None:
                self._dispatcher.returned(pending.player)
            return
        if isinstance(ask, Run):
            self._spawn(self._perform(pending, ask))
            return
        line = self._lines[pending.player]
        own, limit = line.settings, line.limit(ask)
        call = Call(
            ask.key,
            ask.role,
            pending.prompt,
            ask.expects,
            limit.answer,
            None if own.temperature is not None else ask.temperature,
            pending.seed,
            ask.oracle,
            limit.thinking,
            limit.more_room,
            pending.house,
        )
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

    async def _perform(self, pending: Pending, run: Run) -> None:
        assert self._programs is not None
        try:
            raw = await self._programs.perform(run)
            self._record(pending, raw, reply_body(raw, salt=pending.salt))
        except Exception as fault:
            self._matches.broken(fault)
        finally:
            self._dispatcher.returned(SANDBOX)

    async def _converse(self, pending: Pending, call: Call) -> None:
        pending.sent_at = self._loop.time()
        seconds = self._lines[pending.player].settings.timeout_s * 1.25
        answer: Answer | PlayerError
        self._troubles.sent(pending, self._loop.time())
        try:
            try:
                async with asyncio.timeout(seconds):
                    answer = await self._lines[pending.player].client.answer(call)
            except asyncio.CancelledError:
                if self._abandoned:
                    self._pay(pending, pending.worst or 0, known=False, answered=False)
                    return
                answer = PlayerError(f"{pending.player}: its client cancelled the call", maybe_paid=True)
            except TimeoutError:
                answer = PlayerError(f"no answer in {duration(seconds)}", maybe_paid=True)
            except PlayerError as error:
                answer = error
            except Exception as error:
                answer = raised(pending.player, error)
            if isinstance(answer, PlayerError):
                self._failed(pending, answer)
            else:
                self._answered(pending, answer)
        except Exception as fault:
            self._matches.broken(fault)
        finally:
            self._troubles.returned(pending)
            self._dispatcher.returned(pending.player)

    def _answered(self, pending: Pending, answer: Answer) -> None:
        line = self._lines[pending.player]
        try:
            assert isinstance(pending.ask, Ask)
            raw = priced(line, answer, line.limit(pending.ask))
            truncated = bool(answer.truncated) or len(answer.text) > MAX_STORED_CHARS
            price = line.price.source if raw.cost_nano else ""
            model = storable(answer.snapshot)[:200]
            body = reply_body(raw, model, price, truncated, pending.salt)
        except Exception as error:  # whatever a third party's client returned, it was no `Answer`
            self._failed(pending, raised(pending.player, error))
        else:
            self._troubles.answered(pending, raw, truncated)
            if (health := self._health.get(pending.player)) is not None:
                health.worked(self._loop.time())
                self._long.pop(pending.player, None)
                self._dispatcher.singly(pending.player, False)
            self._record(pending, raw, body, model)

    def _failed(self, pending: Pending, error: PlayerError) -> None:
        reason = storable(str(error))[:500]
        if isinstance(error, Later):
            self._fail(pending, f"later: {reason}", 0)
            if not self.stopped:
                until = error.until_ms
                known = type(until) is int and 0 < until < END_OF_TIME_MS
                told = reason.removeprefix(f"{pending.player}: ")
                self._matches.put_off(pending, told, until if known else None)
            return
        pending.tries += 1
        cost = pending.worst if error.maybe_paid else 0
        self._note(pending, error, reason)
        if why := self.benched.get(pending.player):
            self._troubles.failed(pending, reason)
            self._void(pending, Reply("void", reason=f"{BENCHED}{why}", cost_nano=None if cost != 0 else 0))
            return
        again = error.kind == "transient" and pending.tries <= self._engine.retries
        if not again or (not self.stopped and self._matches.expired(pending.match)):
            self._troubles.failed(pending, reason)
            self._void(pending, Reply("void", reason=reason, cost_nano=None if cost != 0 else 0))
            return
        self._fail(pending, reason, cost)
        if self.stopped:
            return
        self.retried += 1
        asked = stated_wait(error.retry_after_s)
        # A player in this process computes its reply: nothing is won by waiting for it.
        wait = 0.0 if pending.player in self._instant else backoff(self._engine, pending, asked)
        self._troubles.retried(pending, reason, wait)
        self._backing_off[pending] = self._loop.call_later(wait, self._again, pending)
        self._decide()
        if wait:
            self._matches.look_soon()

    def _note(self, pending: Pending, error: PlayerError, reason: str) -> None:
        """Let a player pause, or bench it, after a failure."""
        player = pending.player
        if player in self.benched:
            return
        asked, pause = stated_wait(error.retry_after_s), 0.0
        health = self._health.get(player)
        if health is not None:
            pause = health.failed(self._loop.time(), pending.sent_at)
            self._dispatcher.singly(player, health.down)
            if asked or (pause and error.kind == "transient"):
                self._dispatcher.pause(player, asked or pause)
                if health.down_s(self._loop.time()) + (asked or pause) >= LONG_PAUSE_S:
                    self._long[player] = reason
                self._matches.look_soon()
        if error.kind == "permanent":
            self.bench(player, reason)
            self._matches.tripped(player, pending.match)
        elif health is not None and health.hopeless:
            self.bench(player, f"failures in a row: {health.failures}; the last: {reason}"[:500])
            self._matches.tripped(player, pending.match)

    def _again(self, pending: Pending) -> None:
        del self._backing_off[pending]
        self._go(pending)

    def _fail(self, pending: Pending, reason: str, cost: int | None) -> None:
        self._journal.rows.failures.append(
            FailureRow(pending.match, pending.ask.key, pending.attempt, reason, cost, self._clock())
        )
        self._journal.touch()
        self._pay(pending, cost or 0, known=cost == 0, answered=False)

    def _void(self, pending: Pending, raw: Reply) -> None:
        price = self._lines[pending.player].price.source if raw.cost_nano else ""
        self._record(pending, raw, reply_body(raw, price=price, salt=pending.salt))

    def _record(self, pending: Pending, raw: Reply, body: bytes, model: str = "") -> None:
        key = pending.ask.key
        most = pending.worst if raw.cost_nano is None else raw.cost_nano
        self._journal.rows.replies.append(
            ReplyRow(pending.match, key, pending.attempt, body, most, self._clock())
        )
        self._journal.touch()
        self.answered += 1
        pending.prompt = ()
        self._pay(pending, most or 0, known=raw.cost_nano is not None, answered=True)
        self._matches.replied(pending, raw, leaf(key, pending.player, pending.body, body), model)
        self._decide()

    def _pay(self, pending: Pending, nano: int, *, known: bool, answered: bool) -> None:
        """Count what an attempt has cost, or may have; what was reserved for it is free again."""
        number, player, most = pending.match, pending.player, pending.reserved
        before = self._budget.overrun.get(player, 0)
        self._budget.pay(number, player, nano, most, known=known, answered=answered)
        pending.reserved = 0
        if self._budget.overrun.get(player, 0) > before and player not in self.benched:
            figures = f"{OVERBILLED}{dollars(nano)} for a call of at most {dollars(most)}"
            why = f"{figures}; does its provider ignore max_tokens?"
            _log.warning("%s was %s It is benched", player, why)
            self.bench(player, why)
            self._matches.tripped(player, number)


def _size(ask: Ask) -> int:
    """Characters of a request, without its quotes' markers."""
    size = 0
    for message in ask.messages:
        size += len(message.template)
        for value in message.fill.values():
            size += len(value) if isinstance(value, str) else len(value.text)
    return size
