"""The composition root: open an arena's folder, run it, read its tables.

import peerage

arena = peerage.open("my-arena")
arena.run(max_matches=100)
for row in arena.leaderboard(track="bt"):
    print(row["rank"], row["player"], row["rating"])
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from peerage.engine.admit import Recording, admit
from peerage.engine.answers import Line
from peerage.engine.recovery import Recovered, read_budget_voids, recover
from peerage.engine.registration import registrations
from peerage.engine.report import Progress, RunReport
from peerage.engine.runner import Runner
from peerage.games import GAMES
from peerage.ledger import Ledger, LedgerError, open_ledger
from peerage.ledger.store import Batch, Summary
from peerage.match import MatchRecord, Outcome
from peerage.players import open_client
from peerage.players.client import Client, PlayerError
from peerage.players.keys import environment
from peerage.players.prices import price_of
from peerage.scheduling.fixtures import tables
from peerage.settings import ArenaSettings, SettingsError, enough_players, load, rules_of
from peerage.standings import elo_settings

if TYPE_CHECKING:
    from peerage.engine.programs import Programs
    from peerage.engine.replay import ReplayReport
    from peerage.ledger.verify import Report
    from peerage.tables.plan import Plan
    from peerage.tables.stats import Stats
    from peerage.tables.transcript import Transcript

_log = logging.getLogger("peerage")

Observer = Callable[[MatchRecord, Summary], None]
OpenClient = Callable[[Any], Client]


class ArenaError(Exception):
    """The arena cannot do what was asked; the message says why and how to mend it."""


class Arena:
    """An arena in a folder: `arena.yaml` and its ledger. Close it, or use it as a context manager."""

    def __init__(self, folder: Path, settings: ArenaSettings, ledger: Ledger) -> None:
        self.folder = folder
        self.settings = settings
        self.ledger = ledger

    def __enter__(self) -> Arena:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.ledger.close()

    def run(
        self,
        max_matches: int | None = None,
        *,
        observe: Observer | None = None,
        beside: Callable[[Runner], Awaitable[None]] | None = None,
        clients: OpenClient | None = None,
    ) -> RunReport:
        """Play until `max_matches` of the arena are settled, the budget is spent, or Ctrl+C; resumes.

        The first Ctrl+C (or SIGTERM) lets calls in flight return, a second gives them up. See `play`. Raises
        ArenaError, SettingsError, LedgerError, PlayerError; whatever was recorded stays.
        """
        with _tuned():
            return asyncio.run(
                self.play(max_matches, observe=observe, beside=beside, clients=clients, signals=True)
            )

    async def play(
        self,
        max_matches: int | None = None,
        *,
        observe: Observer | None = None,
        beside: Callable[[Runner], Awaitable[None]] | None = None,
        clients: OpenClient | None = None,
        inline: bool = False,
        signals: bool = False,
    ) -> RunReport:
        """The same on a running event loop.

        `observe(record, summary)` is called for each match once it is durable. `beside(runner)` runs as a
        task next to the run (a live view) and is cancelled at its end. `clients` opens a player otherwise
        than by its settings (simulation). `inline` journals without a thread, for virtual time. `signals`
        stops the run on SIGINT and SIGTERM; only for the main thread.
        """
        enough_players(self.settings)
        with self.ledger.runner():
            lag = self._pin()
            recovered = recover(self.ledger, lag, elo_settings(self.settings.rating))
            read_budget_voids(recovered, self.ledger, self._budget_since())
            async with AsyncExitStack() as stack:
                lines = await self._open_lines(stack, clients)
                self._check_budget(lines)
                self._register(lines)
                programs = await self._programs(stack)
                runner = Runner(
                    self.settings,
                    GAMES[self.settings.game],
                    self.ledger,
                    lines,
                    recovered,
                    lag=lag,
                    limit=max_matches,
                    clock=_now_ms,
                    observe=observe,
                    inline=inline,
                    programs=programs,
                )
                if signals:
                    stack.enter_context(_stopped_by_signals(runner))
                known = {name: len(_warnings(line.client)) for name, line in lines.items()}
                spectator = asyncio.ensure_future(beside(runner)) if beside is not None else None
                try:
                    return await runner.run()
                finally:
                    if spectator is not None:
                        spectator.cancel()
                        await asyncio.gather(spectator, return_exceptions=True)
                    for line in lines.values():
                        _warn(line.client, known[line.settings.name])

    def admit(self, recordings: Iterable[Recording]) -> list[Outcome]:
        """Enter matches of this arena's game that were recorded elsewhere; what each came to, in order.

        Raises LedgerError when matches are under way or a record lacks a reply; then none is entered.
        """
        with self.ledger.runner():
            self._pin()
            elo = elo_settings(self.settings.rating)
            return admit(self.ledger, GAMES[self.settings.game], recordings, elo)

    def leaderboard(self, track: str = "") -> list[dict[str, Any]]:
        """The table of one track (`bt`, `raw`, `cost`, `trueskill`; empty: the game's own), best first; see
        `tables.leaderboard.Row`.
        """
        from peerage.tables.leaderboard import leaderboard

        return [row.as_dict() for row in leaderboard(self.ledger, self.settings, track)]

    def stats(self) -> Stats:
        """Statistics of players, judges and authors over the finished matches."""
        from peerage.tables.stats import stats

        return stats(self.ledger, self.settings)

    def transcript(self, number: int) -> Transcript:
        """The whole of one match, finished or under way. Raises LedgerError when there is no such match."""
        from peerage.tables.transcript import transcript

        return transcript(self.ledger, number)

    def plan(self, matches: int) -> Plan:
        """What so many further matches would ask and cost; asks and spends nothing."""
        from peerage.accounts import position
        from peerage.tables.plan import estimate

        today = datetime.now(UTC).date()
        prices = {player.name: price_of(player, today) for player in self.settings.players}
        standings = position(self.ledger, elo_settings(self.settings.rating)).standings
        return estimate(self.settings, prices, matches, standings)

    def verify(self) -> Report:
        """Check every digest and chain of the ledger, and of the audience's votes beside it."""
        from peerage.ledger.verify import verify
        from peerage.ledger.votes import Votes

        return verify(self.ledger, votes=Votes(self.ledger.address, self.folder))

    def replay(self) -> ReplayReport:
        """Recompute every outcome and rating offline, and compare."""
        from peerage.engine.replay import replay

        with _tuned():
            return replay(self.ledger)

    async def _open_lines(self, stack: AsyncExitStack, clients: OpenClient | None) -> Mapping[str, Line]:
        env = environment(self.folder, os.environ)
        today = datetime.now(UTC).date()
        lines: dict[str, Line] = {}
        for player in self.settings.players:
            client = open_client(player, env, self.folder) if clients is None else clients(player)
            stack.push_async_callback(client.close)
            lines[player.name] = Line(player, client, price_of(player, today))
        started = await asyncio.gather(
            *[line.client.start() for line in lines.values()], return_exceptions=True
        )
        failures = [result for result in started if isinstance(result, BaseException)]
        if len(failures) > 1 and all(isinstance(failure, PlayerError) for failure in failures):
            raise ArenaError("\n".join(str(failure) for failure in failures))
        if failures:
            raise failures[0]
        for line in lines.values():
            _warn(line.client)
        return lines

    async def _programs(self, stack: AsyncExitStack) -> Programs | None:
        """The sandbox, where the game needs one."""
        if not GAMES[self.settings.game].sandbox:
            return None
        from peerage.engine.programs import opened
        from peerage.sandbox.program import SandboxUnavailable

        try:
            return await stack.enter_async_context(opened())
        except SandboxUnavailable as reason:
            raise ArenaError(
                f"{self.settings.game} runs programs that players write, and there is no sandbox: {reason}. "
                "`peerage sandbox check` says more"
            ) from reason

    def _register(self, lines: Mapping[str, Line]) -> None:
        """Write down who plays, where that is new."""
        players = [(line.settings, line.price) for line in lines.values()]
        new = registrations(self.ledger, players, self.ledger.heads()[1], _now_ms())
        if new:
            self.ledger.write(Batch(amendments=new))

    def _check_budget(self, lines: Mapping[str, Line]) -> None:
        budget = self.settings.budget
        if budget.arena is None and budget.match is None and budget.player is None:
            return
        unpriced = [name for name, line in lines.items() if line.price.worst_nano(1, 1) is None]
        if unpriced:
            raise ArenaError(
                f"a budget is set, but no price is known for {', '.join(unpriced)}, so it could not be kept. "
                "State `price: {input: …, output: …}` (dollars per million tokens) for each, or take the "
                "budget away"
            )

    def _pin(self) -> int:
        """The pairing lag in rounds; what must not change between runs is written down in the first one."""
        per_round = tables(GAMES[self.settings.game], rules_of(self.settings), len(self.settings.players))
        pinned = {
            "seed": str(self.settings.seed),
            "rating": self.settings.rating.model_dump_json(),
            "lag": str(max(1, math.ceil(self.settings.pairing.window / per_round))),
            "window": str(self.settings.pairing.window),
        }
        meta = self.ledger.meta()
        if "lag" not in meta:
            self.ledger.write(Batch(meta=pinned))
            return int(pinned["lag"])
        places = {"seed": "seed", "rating": "rating", "window": "pairing.window"}
        for key, place in places.items():
            if key not in meta:
                raise LedgerError(f"{self.ledger.address} lacks the fact {key!r}; restore it from a copy")
            if meta[key] != pinned[key]:
                raise SettingsError(
                    f"{place} in arena.yaml is not what this arena was made with, and its recorded matches "
                    f"depend on it:{_difference(meta[key], pinned[key])}. Set it back, or start a new arena "
                    "in another folder"
                )
        return int(meta["lag"])

    def _budget_since(self) -> int:
        """How many matches were on record when the budgets of match and player were last changed."""
        budget = self.settings.budget
        if budget.match is None and budget.player is None:
            return self.ledger.heads()[1]
        stated = msgspec.json.encode([budget.match, budget.player]).decode()
        meta = self.ledger.meta()
        if meta.get("budget") != stated:
            meta = {"budget": stated, "budget_since": str(self.ledger.heads()[1])}
            self.ledger.write(Batch(meta=meta))
        return int(meta["budget_since"])


def _warnings(client: Client) -> Sequence[str]:
    """What a client has to say about the settings it was given, in the order it learnt it."""
    found: Sequence[str] = getattr(client, "warnings", ())
    return found


def _warn(client: Client, known: int = 0) -> None:
    """Tell what a client says, after the `known` first warnings."""
    for warning in _warnings(client)[known:]:
        _log.warning(warning)


@contextmanager
def _stopped_by_signals(runner: Runner) -> Iterator[None]:
    """Let SIGINT and SIGTERM stop a run where the event loop can catch them (not on Windows)."""
    loop = asyncio.get_running_loop()
    caught = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, runner.stop)
            caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _tuned() -> Iterator[None]:
    """Collect garbage rarely: a run keeps thousands of matches alive, which every collection walks through.

    Hardly anything the engine makes is cyclic; measured, the default thresholds cost a fifth of its time.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _difference(was: str, now: str) -> str:
    """What differs between two pinned values, for a person."""
    try:
        before, after = msgspec.json.decode(was), msgspec.json.decode(now)
    except msgspec.DecodeError:
        before, after = was, now
    if isinstance(before, dict) and isinstance(after, dict):
        changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
        return ";".join(f" {key} was {before.get(key)!r} and is {after.get(key)!r}" for key in changed)
    return f" it was {before} and is {after}"


def open_arena(folder: str | Path = ".", *, create: bool = True) -> Arena:
    """Open the arena in `folder`; its ledger is made when it is not there and `create` holds.

    Raises SettingsError and LedgerError.
    """
    path = Path(folder)
    settings = load(path)
    return Arena(path, settings, open_ledger(settings.ledger, path, create=create))


__all__ = ["Arena", "ArenaError", "Progress", "Recovered", "RunReport", "open_arena"]
