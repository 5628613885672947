"""The matches that this process drives: each game is driven by replies, on record or new."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from peerage.engine.calls.budget import dollars
from peerage.engine.calls.calls import Calls, Reach
from peerage.engine.calls.pending import PendingCall
from peerage.engine.calls.reservations import Money
from peerage.engine.calls.troubles import Trouble
from peerage.engine.match.driver import Driver
from peerage.engine.match.driving import CallsNow, MatchRun, Reason, Stuck
from peerage.engine.match.notices import NOTICE_S, Notices
from peerage.engine.match.plans import Plans
from peerage.engine.record.benches import want_of
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import ENGINE, MatchTally, answered_first
from peerage.game.house import House
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import SANDBOX, Reply, Request
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import reply_salt
from peerage.ledger.forms.codec_requests import request_body


class Mismatch(Exception):
    """A recorded request that the game does not ask now: the ledger or the rules were changed."""

    def __init__(self, fixture: Fixture, key: str) -> None:
        super().__init__(
            f"match {fixture.number}, request {key!r}: the recorded request is not what {fixture.game} "
            f"version {fixture.version} asks now. Was the ledger edited, or the game changed without a new "
            "version? `peerage verify` shows which"
        )


@dataclass(slots=True, eq=False)
class MatchUnderWay:
    """One match under way. `open` counts requests without a reply; `given_up` says why it asks no more.

    `house` is how its game's house players reply. `put_off` are those of the open requests, by key, that a
    player wants at another time.
    """

    fixture: Fixture
    digest: str
    driver: Driver
    deadline: asyncio.TimerHandle
    recorded: dict[str, Exchange]
    house: House
    secret: str = field(init=False)
    players: dict[str, str] = field(init=False)
    put_off: dict[str, Reason] = field(default_factory=dict)
    open: int = 0
    given_up: str = ""
    tally: MatchTally = field(default_factory=MatchTally)

    def __post_init__(self) -> None:
        self.secret = self.fixture.secret
        self.players = {seat.label: seat.player for seat in self.fixture.all_seats()} | {SANDBOX: SANDBOX}


class MatchesUnderWay:
    """The matches of a `run` that this process drives, by number: see `driving.Driving`. For the event loop's
    thread alone."""

    def __init__(
        self,
        run: MatchRun,
        reach: Reach,
        journal: Journal,
        clock: Callable[[], int],
        money: Money,
        plans: Plans,
    ) -> None:
        self.calls = Calls(self, reach, journal, clock, money)
        self.unfinished: dict[int, str] = {}
        self._run = run
        self._runtimes = reach.runtimes
        self._engine = reach.engine
        self._clock = clock
        self._budget = money.budget
        self._plans = plans
        self._notices = Notices(reach.runtimes)
        self._loop = asyncio.get_running_loop()
        self._matches: dict[int, MatchUnderWay] = {}

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def benched(self) -> Mapping[str, str]:
        return self.calls.benched

    @property
    def has_room(self) -> bool:
        """Return whether another match may start: one that only waits for players to recover takes up no
        place."""
        places = self._engine.concurrency
        under_way = len(self._matches) - len(self.unfinished)
        if under_way < places:
            return True
        waiting = self.calls.waiting_by_match()
        return under_way - sum(waiting[number] >= self._matches[number].open for number in waiting) < places

    @property
    def seated(self) -> set[str]:
        return {player for match in self._matches.values() for player in match.players.values()}

    def start(self, fixture: Fixture, digest: str, recorded: Sequence[Exchange]) -> None:
        spec = self._plans.spec(fixture)
        driver = Driver(spec, fixture, self._plans.rules(fixture))
        deadline = self._loop.call_later(self._engine.match_deadline_s, self.calls.expire, fixture.number)
        match = MatchUnderWay(fixture, digest, driver, deadline, answered_first(recorded), spec.house)
        self._matches[fixture.number] = match
        self._go_on(match, driver.start())

    def close(self, number: int, outcome: Outcome) -> None:
        """End a match. Raises Mismatch when something is on record that it did not ask."""
        match = self._matches[number]
        unasked = [exchange.key for exchange in match.recorded.values() if exchange.reply is not None]
        if unasked:
            raise Mismatch(match.fixture, unasked[0])
        match.deadline.cancel()
        del self._matches[number]
        self.unfinished.pop(number, None)
        self._budget.close(number, decided=not outcome.void)
        self._run.ended(match.fixture, match.digest, match.tally, outcome)
        self._notices.send(match.fixture)

    def decide(self) -> None:
        self.calls.decide()

    def stuck(self) -> list[Stuck]:
        held = self.calls.held_for_long()
        matches: list[Stuck] = []
        for number, match in self._matches.items():
            pausing = held.get(number, ())
            waiting = len(match.put_off) + len(pausing)
            if waiting and waiting == match.open and number not in self.unfinished:
                reasons = [*match.put_off.values(), *self._pauses(pausing)]
                matches.append(Stuck(match.fixture, match.digest, reasons))
        return matches

    def leave(self, number: int) -> None:
        self.calls.forget(number)
        self._matches.pop(number).deadline.cancel()
        self._budget.leave(number)

    def bench(self, player: str, why: str) -> None:
        self.calls.bench(player, why)

    def now(self) -> CallsNow:
        calls = self.calls
        return CallsNow(calls.in_flight, calls.answered, calls.retried)

    def troubles(self) -> tuple[Trouble, ...]:
        return self.calls.troubles()

    def abandon(self) -> None:
        self.calls.abandon()
        self._notices.abandon()

    async def stop(self, grace_s: float) -> None:
        await self.calls.stop(grace_s)
        await self._notices.stop(min(grace_s, NOTICE_S))

    # ------------------------------------------------------------------------- what comes of its calls

    def replied(self, pending: PendingCall, raw: Reply, digest: bytes, model: str) -> None:
        match = self._matches[pending.match]
        match.tally.add(pending.ask.key, pending.player, raw, digest, model)
        match.open -= 1
        if not match.given_up:
            self._go_on(match, match.driver.feed(pending.ask.key, raw))
        elif not match.open:
            self._give_up(match)
        self._run.replied(pending.player, raw.status == "void")

    def put_off(self, pending: PendingCall, why: str, until_ms: int | None) -> None:
        match = self._matches[pending.match]
        if not match.given_up:
            match.put_off[pending.ask.key] = (pending.player, why, until_ms)
            self._run.look_soon()
            return
        match.open -= 1
        if not match.open:
            self._give_up(match)

    def unaffordable(self, pending: PendingCall, worst: int) -> None:
        match = self._matches[pending.match]
        match.deadline.cancel()
        self.unfinished[pending.match] = (
            f"{dollars(self._budget.left)} left; the next call of match {pending.match} "
            f"may cost up to {dollars(worst)}"
        )
        self._run.look_soon()

    def tripped(self, player: str, match: int) -> None:
        """A call of a match got a player benched: later matches end that cannot do without it.

        Earlier ones find out by themselves. So the first match that failed for this player, from which
        pairing knows it, is the same in whatever order calls return.
        """
        self._run.tripped(player, match)
        self.end_without(player, match)

    def end_without(self, player: str, match: int) -> None:
        """End the matches after `match` that cannot do without a player who is asked no more."""
        for at, under_way in self._matches.items():
            reason = want_of(under_way.fixture, self.calls.benched)
            if at > match and at not in self.unfinished and reason and not under_way.given_up:
                under_way.given_up = reason
                under_way.open -= self.calls.forget(at) + len(under_way.put_off)
                under_way.put_off.clear()
                if not under_way.open:
                    self._loop.call_soon(self._give_up, under_way)

    def expired(self, match: int) -> bool:
        under_way = self._matches[match]
        return bool(under_way.given_up) or self._loop.time() >= under_way.deadline.when()

    def look_soon(self) -> None:
        self._run.look_soon()

    def broken(self, error: Exception) -> None:
        self._run.broken(error)

    # --------------------------------------------------------------------------------- driving a match

    def _go_on(self, match: MatchUnderWay, asks: Sequence[Request]) -> None:
        """Send requests, or feed their recorded replies; close the match when its game has ended."""
        number = match.fixture.number
        todo = deque(asks)
        while todo:
            ask = todo.popleft()
            body, texts = request_body(ask, match.secret)
            before = match.recorded.pop(ask.key, None)
            if before is not None:
                if before.request != body:
                    raise Mismatch(match.fixture, ask.key)
                if before.reply is not None:
                    self._budget.recall(number, before.player, before.cost_nano or 0)
                    todo.extend(match.driver.feed(ask.key, match.tally.add_recorded(before)))
                    continue
            match.open += 1
            player = match.players[ask.to]
            attempt, salt = before.attempt if before else 0, reply_salt(match.secret, ask.key)
            pending = PendingCall(
                match=number,
                seed=match.fixture.seed,
                player=player,
                ask=ask,
                body=body,
                house=match.house,
                attempt=attempt,
                salt=salt,
            )
            if player not in self._runtimes and player != SANDBOX:
                self.calls.void(pending, texts, "withdrawn")
            elif self.expired(number):
                self.calls.void(pending, texts, "deadline")
            else:
                self.calls.submit(pending, texts)
        if match.driver.outcome is not None and number in self._matches:
            self.close(number, match.driver.outcome)
        elif match.put_off or self.calls.pauses.any_long:
            self._run.look_soon()

    def _give_up(self, match: MatchUnderWay) -> None:
        """End a match that cannot be decided any more, once what it has in flight has returned."""
        if match.fixture.number not in self._matches:
            return
        try:
            for exchange in match.recorded.values():
                if exchange.reply is not None:
                    match.tally.add_recorded(exchange)
            match.recorded.clear()
            self.close(match.fixture.number, Outcome(void=match.given_up, detail={"by": ENGINE}))
        except Exception as fault:
            self.broken(fault)

    def _pauses(self, held: Sequence[PendingCall]) -> Iterator[Reason]:
        """Return for which players, that pause for long, these requests wait."""
        pauses = self.calls.pauses
        for player in dict.fromkeys(pending.player for pending in held):
            yield player, pauses.why(player), self._clock() + round(pauses.left_s(player) * 1000)
