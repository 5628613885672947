"""A worker: claims matches, drives them as a run on one machine does, and reports to the leader."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from peerage.cluster.by_leader import ByLeader
from peerage.cluster.leases import GivenUp, WorkersLedger, given_up
from peerage.cluster.messages import (
    Abandon,
    Benched,
    Broken,
    CallDecided,
    LeaderSaid,
    Left,
    MatchEnded,
    MatchesToClaim,
    News,
    Order,
    Posting,
    Replied,
    Stop,
    Stopped,
    Tripped,
    WorkerState,
)
from peerage.cluster.remote_budget import RemoteBudget, RemoteReservations
from peerage.engine.calls.availability import Availability, Away
from peerage.engine.calls.budget import Affordable
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.calls.reservations import Money
from peerage.engine.match.plans import Plans, schedulers
from peerage.engine.match.under_way import MatchesUnderWay
from peerage.engine.record.journal import Journal
from peerage.engine.record.records import MatchTally
from peerage.engine.record.shelf import Shelf
from peerage.game.match import Fixture, Outcome
from peerage.games import release_of
from peerage.ledger import Exchange
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.forms.merkle import digest as digest_of
from peerage.players import open_client
from peerage.players.client import Client, InstantClient
from peerage.settings import ArenaError
from peerage.settings.game_file import load_file
from peerage.values.clock import now_ms
from peerage.values.outputs import hidden_files
from peerage.version import __version__

NO_CAP = 1_000_000
"""Calls in flight at once where each asks for its place: the leader counts them."""
STATE_EVERY_S = 0.5
GATHER_S, PATIENT_S = 0.005, 0.03
"""Seconds within which all that is written goes in one transaction, as those of all workers come one after
another: where all players reply at once, and where some take a while, so that few rows come in a moment."""


class Worker:
    """One worker, on one event loop. It is an `engine.match.driving.MatchRun` to the matches it drives.
    `begin` opens players and ledger, `order` takes what the leader says, `send` gives it what it is to hear,
    `close` releases everything."""

    def __init__(self, posting: Posting, send: Callable[[Sequence[News]], None]) -> None:
        self._posting = posting
        self._send = send
        self._news: list[News] = []
        self._telling = False
        self._replied: set[Replied] = set()
        self._loop = asyncio.get_running_loop()
        self._stack = AsyncExitStack()
        self._places = 0
        self._stopping = False
        self._claiming = False
        self._offered = False
        self._look: asyncio.Handle | None = None
        self._stated: WorkerState | None = None
        self._ticks: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._clients: dict[str, Client] = {}
        self._leader = ByLeader(self.tell)
        self._texts: dict[bytes, str] = {}

    async def begin(self) -> int:
        """Get ready; the worker's number. Raises ArenaError, LedgerError, PlayerError, SettingsError."""
        posting = self._posting
        if posting.release != __version__:
            raise ArenaError(
                f"a worker has Peerage {__version__}, and its leader {posting.release}; install one release "
                "on all machines"
            )
        os.environ.update({name: value for name, value in posting.env.items() if name == "PGPASSWORD"})
        _load_games(posting.games)
        self._claims = ThreadPoolExecutor(1, "claims")
        self._stack.callback(partial(self._claims.shutdown, wait=False))
        self._ledger: WorkersLedger = await self._aside(partial(WorkersLedger, posting.address, posting.run))
        self._stack.callback(self._ledger.close)
        self._stack.enter_context(self._ledger.writing())
        runtimes = await self._open_runtimes()
        games = schedulers(posting.settings, "")
        plans, engine = Plans(games, runtimes), posting.settings.engine
        self._journal = Journal(self._ledger, self.broken, Shelf({}, self._ledger))
        self._journal.gather_s = gathers_s(runtimes.values())
        self._stack.push_async_callback(self._journal.close)
        self._paying = RemoteReservations(posting.bounded, runtimes, self.tell, self._journal.then)
        programs = None
        if posting.programs is not None:
            from peerage.engine.calls.programs import opened

            opening = opened(Path(posting.folder), self._hidden(), programs=posting.programs, count=1)
            programs = await self._stack.enter_async_context(opening)
        undated = [player.model_copy(update={"daily_budget": None}) for player in posting.settings.everyone]
        self._matches = MatchesUnderWay(
            run=self,
            reach=Reach(
                {name: _unlimited(runtime) for name, runtime in runtimes.items()},
                engine.model_copy(update={"calls": NO_CAP}),
                Availability(undated, now_ms),
                programs,
            ),
            journal=self._journal,
            clock=now_ms,
            money=Money(RemoteBudget(posting.bounded, self.tell), self._paying),
            plans=plans,
        )
        self._tick()
        return int(self._ledger.number)

    def _hidden(self) -> list[Path]:
        return hidden_files(Path(self._posting.folder), self._posting.settings.ledger)

    async def _open_runtimes(self) -> dict[str, PlayerRuntime]:
        posting, runtimes = self._posting, dict[str, PlayerRuntime]()
        env = {**os.environ, **posting.env}
        for player in posting.settings.everyone:
            client: Client
            if player.host or player.is_person:
                client = self._leader.client(player.name, is_house=player.provider == "house")
            elif posting.clients is not None:
                client = posting.clients(player)
            else:
                price = posting.prices[player.name]
                client = open_client(player, env, Path(posting.folder), self._hidden(), price)
            self._stack.push_async_callback(client.close)
            self._clients[player.name] = client
            leave_out = getattr(client, "leave_out", None)
            if leave_out is not None:
                leave_out(posting.left_out.get(player.name, ()))
            runtimes[player.name] = PlayerRuntime(player, client, posting.prices[player.name])
        await asyncio.gather(*[runtime.client.start() for runtime in runtimes.values()])
        return runtimes

    def left_alone(self) -> None:
        """The leader is not there any more: send nothing more. Ray ends this process."""
        self.broken(given_up(self._posting.address))

    async def close(self) -> None:
        """Release everything."""
        self._stopping = True
        if self._ticks is not None:
            self._ticks.cancel()
        for task in self._tasks:
            task.cancel()
        await self._stack.aclose()

    # --------------------------------------------------------------------------------------- the leader

    def tell(self, news: News, *, soon: bool = True) -> None:
        """Tell the leader: with all news of this turn of the loop or, unless `soon`, with what comes next."""
        if soon and not self._telling:
            self._telling = True
            self._loop.call_soon(self._tell_now)
        self._news.append(news)

    def _tell_now(self) -> None:
        self._telling = False
        news, self._news = self._news, []
        self._replied.clear()
        self._send(news)

    def _tick(self) -> None:
        self._state()
        self._ticks = self._loop.call_later(STATE_EVERY_S, self._tick)

    def _state(self) -> None:
        state = WorkerState(self._matches.now(), self._matches.troubles())
        if state != self._stated:
            self._stated = state
            self.tell(state)
        elif self._news and not self._telling:
            self._tell_now()

    def order(self, orders: Sequence[Order]) -> None:
        """Do what the leader says."""
        try:
            for order in orders:
                self._obey(order)
        except Exception as fault:
            self.broken(fault)

    def _obey(self, order: Order) -> None:
        match order:
            case MatchesToClaim(places, calls):
                self._places, self._offered = places, True
                self._paying.places = calls > 0
                self._matches.calls.cap(calls or NO_CAP)
                self._claim_soon()
            case CallDecided(ticket, verdict, reserved):
                self._decided(ticket, verdict, reserved)
            case LeaderSaid(ticket, came):
                self._leader.answered(ticket, came)
            case Benched(player, why, match):
                self._matches.bench(player, why)
                if match is not None:
                    self._matches.end_without(player, match)
            case Stop(grace_s):
                self._stopping = True
                self._spawn(self._stop(grace_s))
            case Abandon():
                self._matches.abandon()

    def _decided(self, ticket: int, verdict: Affordable | Away | str, reserved: int) -> None:
        if isinstance(verdict, Affordable):
            if self._paying.answered(ticket, verdict, reserved) is not None:
                self._matches.calls.decide()
            return
        pending = self._paying.answered(ticket, None, 0)
        if pending is None:
            return
        if isinstance(verdict, Away):
            self._matches.put_off(pending, *verdict)
        else:
            self._matches.calls.void(pending, [], verdict)

    async def _stop(self, grace_s: float) -> None:
        await self._matches.stop(grace_s)
        await self._journal.drain()
        self._state()
        left_out = {name: tuple(getattr(client, "left_out", ())) for name, client in self._clients.items()}
        self.tell(Stopped(left_out))

    # ------------------------------------------------------------------------------------------- claims

    def _claim_soon(self) -> None:
        if not self._claiming and self._offered and not self._stopping and self._room > 0:
            self._claiming = True
            self._spawn(self._claim())

    @property
    def _room(self) -> int:
        return self._places - len(self._matches) + len(self._matches.unfinished)

    async def _claim(self) -> None:
        try:
            room = self._room
            if room <= 0:  # one more worker shares them since
                return
            self._offered = False
            claimed = await self._aside(partial(self._claim_now, room))
            self._offered |= bool(claimed)
            for fixture, digest, recorded in claimed:
                if not self._stopping:
                    self._matches.start(fixture, digest, recorded)
        except Exception as fault:
            self.broken(fault)
        finally:
            self._claiming = False
            self._claim_soon()

    def _claim_now(self, most: int) -> list[tuple[Fixture, str, Sequence[Exchange]]]:
        """Claim matches, on a thread of its own."""
        return [
            (read_fixture(claim.body, self._text), digest_of(claim.body), claim.recorded)
            for claim in self._ledger.claim(most)
        ]

    def _text(self, digest: str) -> str:
        key = bytes.fromhex(digest)
        if key not in self._texts:
            self._texts |= self._ledger.texts([key])
        return by_hex(self._texts)(digest)

    # -------------------------------------------------------------------------- the matches it drives

    def ended(self, fixture: Fixture, digest: str, tally: MatchTally, outcome: Outcome) -> None:
        self._journal.then(partial(self.tell, MatchEnded(fixture.number, tally, outcome)))
        self._claim_soon()

    def replied(self, player: str, void: bool) -> None:
        if (news := Replied(player, void)) not in self._replied:  # once each time it tells anything
            self._replied.add(news)
            self.tell(news, soon=False)

    def tripped(self, player: str, match: int) -> None:
        self.tell(Tripped(player, self._matches.benched[player], match))

    def look_soon(self) -> None:
        if self._look is None:
            self._look = self._loop.call_soon(self._look_now)

    def _look_now(self) -> None:
        self._look = None
        if self._stopping:
            return
        try:
            for stuck in self._matches.stuck():
                number = stuck.fixture.number
                self._matches.leave(number)
                self._journal.then(partial(self.tell, Left(number, stuck.reasons)))
            self._claim_soon()
        except Exception as fault:
            self.broken(fault)

    def broken(self, error: Exception) -> None:
        self._stopping = True
        self._matches.abandon()
        if not isinstance(error, GivenUp):
            self.tell(Broken(type(error), str(error)))

    # -------------------------------------------------------------------------------------------- tasks

    def _spawn(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _aside(self, work: Callable[[], Any]) -> Any:
        return await self._loop.run_in_executor(self._claims, work)


def gathers_s(runtimes: Iterable[PlayerRuntime]) -> float:
    """Return how long leader and workers gather what they write."""
    return GATHER_S if all(isinstance(runtime.client, InstantClient) for runtime in runtimes) else PATIENT_S


def _load_games(files: Mapping[str, str]) -> None:
    """Load the games that are in files. Raises ArenaError where one is not the leader's."""
    for path, release in files.items():
        try:
            same = release_of(load_file(Path(path)).name) == release
        except ImportError as error:
            raise ArenaError(f"on the machine of a worker, {error}") from None
        if not same:
            raise ArenaError(
                f"the game's file {path} differs between the machines of a worker and of the leader; the "
                "arena's folder must be the same on all of them"
            )


def _unlimited(runtime: PlayerRuntime) -> PlayerRuntime:
    """A player whose limits are kept elsewhere."""
    none = {"concurrency": None, "requests_per_minute": None, "tokens_per_minute": None}
    return replace(runtime, settings=runtime.settings.model_copy(update=none))
