"""Players that no probe got through to: asked again while a run goes on, until it is clear what to do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from peerage.engine.calls import pauses
from peerage.engine.calls.availability import Availability
from peerage.engine.calls.budget import Budget
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.record.journal import Journal
from peerage.engine.record.probed import TOPIC, ProbeEntry
from peerage.engine.run.probes import probe_players
from peerage.ledger import Amendment
from peerage.players.checks import Probed
from peerage.values.texts import storable

FIRST_S = 5.0
"""Seconds before the first question; each next one comes after twice as long."""

_log = logging.getLogger("peerage")


class PausesRun(Protocol):
    """The run in which players are paused."""

    def pause_over(self, player: str, failure: str) -> None:
        """A player answers again, or has a `failure` that somebody has to fix."""

    def look_soon(self) -> None:
        """Money that was held for a probe is free."""

    def broken(self, error: Exception) -> None:
        """The run cannot go on, for a fault that is not a player's."""


class PausedPlayers:
    """Asks each player that is paused when a `run` begins from time to time, as hours and budgets allow. What
    a probe may cost is held until its cost is known; it is on record, durably, before and after. `env` has
    the players' keys, `clock` gives Unix milliseconds."""

    def __init__(
        self,
        run: PausesRun,
        runtimes: Mapping[str, PlayerRuntime],
        env: Mapping[str, str],
        availability: Availability,
        journal: Journal,
        budget: Budget,
        clock: Callable[[], int],
    ) -> None:
        self._run, self._runtimes, self._env = run, runtimes, env
        self._availability, self._journal, self._budget, self._clock = availability, journal, budget, clock
        self._asking: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Begin to ask those that are paused now."""
        self._asking = [asyncio.create_task(self._ask(player)) for player in self._availability.paused]

    async def stop(self) -> None:
        """Ask no more; a probe under way counts at its worst, as for `probed.probe_costs`."""
        for task in self._asking:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _ask(self, player: str) -> None:
        wait_s, probed = FIRST_S, None
        try:
            while probed is None or probed.down:
                await asyncio.sleep(min(wait_s, pauses.PAUSE_MAX_S))
                wait_s = min(2 * wait_s, pauses.PAUSE_MAX_S)
                probed = await self._probe(player)
            if probed.unusable:
                _log.warning("%s; benched", probed.problem)
            else:
                _log.info("%s is back", player)
            del self._availability.paused[player]
            self._run.pause_over(player, storable(probed.problem)[:500] if probed.unusable else "")
        except Exception as fault:
            self._run.broken(fault)

    async def _probe(self, player: str) -> Probed | None:
        """Probe a player once; None where its hours or a budget do not allow it now."""
        sent: dict[str, int | None] = {}

        def affordable(player: str, nano: int) -> bool:
            return self._availability.may_probe(player, nano) and self._budget.hold(player, nano)

        def pay(billed: int, possibly: int | None) -> None:
            self._budget.pay_held(player, billed, possibly, sent.pop(player) or 0)
            self._availability.charge({player: billed + (possibly or 0)})
            self._run.look_soon()

        async def record(entry: ProbeEntry) -> None:
            sent.update(entry.sent)
            durable = asyncio.get_running_loop().create_future()
            self._journal.rows.amend(Amendment(TOPIC, msgspec.json.encode(entry), self._clock()))
            self._journal.then(lambda: None if durable.done() else durable.set_result(None))
            for result in entry.found.values():
                pay(result.cost_nano or 0, result.worst_nano)
            await durable

        try:
            runtimes = {player: self._runtimes[player]}
            probed = await probe_players(runtimes, self._env, affordable=affordable, record=record, tries=1)
        finally:
            if sent:
                pay(0, sent[player])
        return probed.get(player)
