"""The leader's driving of matches: workers claim and drive them, `call_permits` decides on their money."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from peerage.cluster.by_leader import asked
from peerage.cluster.call_permits import CallPermits
from peerage.cluster.leases import Leases, Turn, patiently
from peerage.cluster.messages import (
    Abandon,
    AskLeader,
    Benched,
    Broken,
    CallAsks,
    CallDecided,
    Left,
    MatchEnded,
    MatchesToClaim,
    News,
    Order,
    Paid,
    Posting,
    Recalled,
    Replied,
    Stop,
    Stopped,
    Tripped,
    WorkerLink,
    WorkerLogged,
    WorkerLost,
    WorkerPlaces,
    WorkerState,
)
from peerage.cluster.offers import Offers
from peerage.cluster.worker import gathers_s
from peerage.engine.calls.availability import Away
from peerage.engine.calls.budget import Affordable, Budget, dollars
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.troubles import Trouble
from peerage.engine.match.driving import CallsNow, MatchRun, Stuck
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import MatchTally, recorded_tally
from peerage.game.match import Fixture, Outcome
from peerage.ledger import Batch, Exchange, FailureRow, Ledger, LedgerError
from peerage.ledger.forms.codec import read_reply

STAFF_EVERY_S = 2.0
"""Seconds between two looks whether there is room for more workers."""
DEATHS = 5
"""Workers lost in a row before they sent anything, after which the run ends."""
LEAVE_S = 5.0
"""Seconds before its machine leaves at which a worker gives up on calls in flight."""
LOST = "left open when its worker was lost"

_log = logging.getLogger("peerage")
Found = TypeVar("Found")


class _CrewMatch(NamedTuple):
    """A match under way; of attempts in `heard` the cost is counted; `turn` numbers its newest offer."""

    fixture: Fixture
    digest: str
    heard: set[tuple[str, int]]
    turn: int


class _Seat:
    """A worker at work, and what it is to be ordered next."""

    def __init__(self, link: WorkerLink, number: int) -> None:
        self.link = link
        self.number = number
        self.orders: list[Order] = []
        self.stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.state = WorkerState(CallsNow(), ())
        self.leaves = False


class Crew:
    """The matches of a `run` that workers drive: see `engine.match.driving.Driving`. For the event loop's
    thread alone. `posting` is what workers begin with, but for the run's fence."""

    def __init__(
        self,
        run: MatchRun,
        ledger: Ledger,
        journal: Journal,
        budget: Budget,
        reach: Reach,
        clock: Callable[[], int],
        places: WorkerPlaces,
        posting: Posting,
    ) -> None:
        self.benched: dict[str, str] = {}
        self.unfinished: dict[int, str] = {}
        self._run = run
        self._ledger = ledger
        self._journal = journal
        journal.gather_s = gathers_s(reach.runtimes.values())
        self._budget = budget
        self._runtimes = reach.runtimes
        self._engine = reach.engine
        self._clock = clock
        self._places = places
        self._posting = posting
        self._loop = asyncio.get_running_loop()
        self._short = asyncio.Event()
        self._permits = CallPermits(budget, reach, self._decided, self._unaffordable)
        self._matches: dict[int, _CrewMatch] = {}
        self._left: list[Stuck] = []
        self._seats: dict[int, _Seat] = {}
        self._wanted = 1
        self._past = CallsNow()
        self._offers = Offers(journal, reach.engine.concurrency, self._write_offers, self._spawn, run.broken)
        self._thread = ThreadPoolExecutor(1, "leases")
        self._leases: Leases | None = None
        self._deaths = 0
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawn(self._staff())

    def __len__(self) -> int:
        return len(self._matches)

    @property
    def has_room(self) -> bool:
        return len(self._matches) - len(self.unfinished) < self._engine.concurrency

    @property
    def seated(self) -> set[str]:
        return {seat.player for match in self._matches.values() for seat in match.fixture.all_seats()}

    def start(self, fixture: Fixture, digest: str, recorded: Sequence[Exchange]) -> None:
        heard = {(exchange.key, exchange.attempt) for exchange in recorded}
        self._matches[fixture.number] = _CrewMatch(fixture, digest, heard, 0)
        self._offer(fixture.number)

    def close(self, number: int, outcome: Outcome) -> None:
        """End a match that no worker drives any more."""
        rows = self._ledger.match(number)
        self._ended(number, recorded_tally(rows.exchanges if rows else ()), outcome)

    def decide(self) -> None:
        self._permits.decide()

    def stuck(self) -> Sequence[Stuck]:
        return tuple(self._left)

    def leave(self, number: int) -> None:
        self._left = [left for left in self._left if left.fixture.number != number]
        self._forget(number)
        self._budget.leave(number)

    def bench(self, player: str, why: str) -> None:
        self._bench(player, why, None, 0)

    def now(self) -> CallsNow:
        states = [seat.state.calls for seat in self._seats.values()]
        return CallsNow(*map(sum, zip(self._past, *states, strict=True)))

    def troubles(self) -> tuple[Trouble, ...]:
        troubles: dict[str, Trouble] = {}
        for seat in self._seats.values():
            for trouble in seat.state.troubles:
                troubles.setdefault(trouble.player, trouble)
        for player, lowered in self._permits.lowered().items():
            troubles[player] = troubles.get(player, Trouble(player))._replace(lowered=lowered)
        return tuple(troubles.values())

    def abandon(self) -> None:
        for seat in self._seats.values():
            self._order(seat, Abandon())

    async def stop(self, grace_s: float) -> None:
        self._stopping = True
        self._offers.open = False
        self._permits.stop()
        for seat in self._seats.values():
            self._order(seat, Stop(grace_s))
        waits = [seat.stopped for seat in self._seats.values()]
        if waits:
            await asyncio.wait(waits, timeout=grace_s + 10)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._leases is not None:
            await self._aside(self._leases.close)
        self._thread.shutdown(wait=False)

    # ------------------------------------------------------------------------------------------- offers

    def _offer(self, number: int) -> None:
        self._matches[number] = self._matches[number]._replace(turn=self._offers.offer(number))

    async def _write_offers(self, offers: Sequence[Turn], over: Sequence[Turn]) -> None:
        assert self._leases is not None
        await self._aside(partial(self._leases.offer, offers, over))
        if offers:
            self._look()

    def _forget(self, number: int) -> None:
        self._offers.end((number, self._matches.pop(number).turn))

    def _look(self) -> None:
        places = -(-self._engine.concurrency // max(1, len(self._seats)))
        calls = self._engine.calls // max(self._wanted, len(self._seats)) if self._posting.free else 0
        for seat in self._seats.values():
            self._order(seat, MatchesToClaim(places, calls))

    # ------------------------------------------------------------------------------------------ workers

    async def _staff(self) -> None:
        """Keep as many workers as there is room for, until the run stops."""
        try:
            # The log says that a run goes on before workers write: their first rows are no change behind it.
            await self._aside(partial(self._ledger.write, Batch()))
            self._leases = await self._aside(partial(Leases, self._ledger.address))
            self._posting = self._posting._replace(run=self._leases.run)
            self._offers.open = not self._stopping
            self._offers.soon()
            placed: set[asyncio.Task[None]] = set()
            while not self._stopping:
                placed = {task for task in placed if not task.done()}
                self._wanted = self._places.wanted()
                for _ in range(self._wanted - len(placed)):
                    placed.add(self._spawn(self._serve(self._places.place())))
                leaving = self._places.leaving()
                for seat in self._seats.values():
                    if seat.link.where in leaving and not seat.leaves:
                        seat.leaves = True
                        self._order(seat, Stop(max(0.0, leaving[seat.link.where] - LEAVE_S)))
                self._short.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._short.wait(), STAFF_EVERY_S)
        except Exception as fault:
            self._run.broken(fault)

    async def _serve(self, link: WorkerLink) -> None:
        """Hear a worker as long as it lives."""
        seat: _Seat | None = None
        try:
            number = await link.begin(self._posting)
            if self._stopping:
                return
            seat = self._seats[number] = _Seat(link, number)
            self._order(seat, *[Benched(name, why, None) for name, why in self.benched.items()])
            self._look()
            while not seat.stopped.done():
                for news in await link.news():
                    self._deaths = 0
                    self._hear(seat, news)
            if not self._stopping:
                await self._hand_on(seat, "has left, as its machine does")
        except WorkerLost as lost:
            await self._lost(seat, lost)
        except Exception as fault:
            self._run.broken(fault)
        finally:
            if seat is not None and not seat.stopped.done():
                seat.stopped.set_result(None)
            link.kill()

    async def _lost(self, seat: _Seat | None, lost: WorkerLost) -> None:
        self._deaths += 1
        try:
            if self._deaths > DEATHS and not self._stopping:
                raise LedgerError(f"{self._deaths} workers were lost in a row, the last one: {lost}")
            if seat is not None:
                await self._hand_on(seat, f"was lost ({lost})")
            self._short.set()
        except Exception as fault:
            self._run.broken(fault)

    async def _hand_on(self, seat: _Seat, why: str) -> None:
        """A worker is gone: what it had goes on elsewhere, what it had in flight may have been billed."""
        del self._seats[seat.number]
        past = seat.state.calls
        self._past = CallsNow(0, self._past.answered + past.answered, self._past.retried + past.retried)
        if self._stopping or self._leases is None:
            return
        leases = await self._aside(partial(self._leases.revoke, seat.number))
        turns = {number: match.turn for number, match in self._matches.items()}
        numbers = [number for number, turn in leases if turns.get(number) == turn]
        rows = [
            await self._aside(partial(patiently, partial(self._ledger.match, number))) for number in numbers
        ]
        opened = sum([self._account(seat.number, row.exchanges) for row in rows if row is not None])
        for held in self._permits.held_by(seat.number):
            self._permits.paid(seat.number, held)
        for number in numbers:
            self._offer(number)
        _log.warning(
            "worker %d %s: %d of its matches go on elsewhere; %d calls it left open may have been billed",
            seat.number,
            why,
            len(numbers),
            opened,
        )
        self._look()
        self._short.set()

    def _account(self, worker: int, exchanges: Sequence[Exchange]) -> int:
        """Count the calls that a lost worker did not report; return how many it left open."""
        opened = 0
        held = {(exchange.match, exchange.key): exchange.ticket for exchange in self._permits.held_by(worker)}
        for exchange in exchanges:
            if exchange.reply is None and exchange.failure is None:
                opened += 1
                row = FailureRow(
                    exchange.match, exchange.key, exchange.attempt, LOST, exchange.worst_nano, self._clock()
                )
                self._journal.rows.failures.append(row)
                self._journal.touch()
            of, heard = (exchange.match, exchange.key), self._matches[exchange.match].heard
            if (exchange.key, exchange.attempt) in heard:
                continue
            heard.add((exchange.key, exchange.attempt))
            nano, known = exchange.lost_nano or 0, exchange.lost_nano == 0
            if exchange.reply is not None:
                nano = exchange.cost_nano or 0
                known = read_reply(exchange).cost_nano is not None
            ticket, answered = held.get(of, 0), exchange.reply is not None
            paid = Paid(
                ticket=ticket,
                match=of[0],
                key=of[1],
                attempt=exchange.attempt,
                player=exchange.player,
                nano=nano,
                known=known,
                answered=answered,
            )
            self._permits.paid(worker, paid)
        return opened

    def _order(self, seat: _Seat, *orders: Order) -> None:
        """All orders of one turn of the loop go together."""
        if orders and not seat.orders:
            self._loop.call_soon(self._order_now, seat)
        seat.orders += orders

    def _order_now(self, seat: _Seat) -> None:
        orders, seat.orders = seat.orders, []
        seat.link.order(orders)

    # --------------------------------------------------------------------------------------------- news

    def _hear(self, seat: _Seat, news: News) -> None:
        match news:
            case CallAsks():
                self._permits.ask(seat.number, news)
            case AskLeader():
                self._spawn(self._ask_by_leader(seat, news))
            case Paid(_, number, key, attempt):
                if number in self._matches:
                    self._matches[number].heard.add((key, attempt))
                self._permits.paid(seat.number, news)
            case Recalled(number, player, nano):
                self._budget.recall(number, player, nano)
            case MatchEnded(number, tally, outcome):
                if number in self._matches:
                    self._ended(number, tally, outcome)
            case Left(number, reasons):
                if number in self._matches:
                    fixture, digest, *_ = self._matches[number]
                    self._left.append(Stuck(fixture, digest, reasons))
                    self._run.look_soon()
            case Replied(player, void):
                self._run.replied(player, void)
            case Tripped(player, why, number):
                self._bench(player, why, number, seat.number)
                self._run.look_soon()
            case WorkerLogged(level, text):
                _log.log(level, "%s", text)
            case Broken(kind, text):
                raise _same(kind, text)
            case WorkerState():
                seat.state = news
            case Stopped(left_out):
                for name, settings in left_out.items():
                    leave_out = getattr(self._runtimes[name].client, "leave_out", None)
                    if settings and leave_out is not None:
                        leave_out(settings)
                seat.stopped.set_result(None)

    async def _ask_by_leader(self, seat: _Seat, asks: AskLeader) -> None:
        try:
            self._order(seat, await asked(self._runtimes[asks.player].client, asks))
        except Exception as fault:
            self._run.broken(fault)

    def _ended(self, number: int, tally: MatchTally, outcome: Outcome) -> None:
        fixture, digest, *_ = self._matches[number]
        self._forget(number)
        self.unfinished.pop(number, None)
        self._budget.close(number, decided=not outcome.void)
        self._run.ended(fixture, digest, tally, outcome)

    def _bench(self, player: str, why: str, match: int | None, told_by: int) -> None:
        if player not in self.benched:
            self.benched[player] = why
            for seat in self._seats.values():
                if seat.number != told_by:
                    self._order(seat, Benched(player, why, match))

    def _decided(self, worker: int, ticket: int, verdict: Affordable | Away | str, reserved: int) -> None:
        if (seat := self._seats.get(worker)) is not None:
            self._order(seat, CallDecided(ticket, verdict, reserved))

    def _unaffordable(self, match: int, worst: int) -> None:
        self.unfinished[match] = (
            f"{dollars(self._budget.left)} left; the next call of match {match} "
            f"may cost up to {dollars(worst)}"
        )
        self._run.look_soon()

    # -------------------------------------------------------------------------------------------- tasks

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _aside(self, work: Callable[[], Found]) -> Found:
        return await self._loop.run_in_executor(self._thread, work)


def _same(kind: type[Exception], text: str) -> Exception:
    """An error of a worker, raised here."""
    error = kind.__new__(kind)
    error.args = (text,)
    return error
