"""Players that no probe got through to: asked again while a run goes on, until it is clear what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

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

FIRST_S = 5.0
"""Seconds before the first question; each next one comes after twice as long."""


async def ask_again(players: Collection[str], still_paused: Callable[[str], Awaitable[bool]]) -> None:
    """Ask each of these players from time to time while it is `still_paused`."""

    async def ask(player: str) -> None:
        wait = min(FIRST_S, pauses.PAUSE_MAX_S)
        await asyncio.sleep(wait)
        while await still_paused(player):
            wait = min(2 * wait, pauses.PAUSE_MAX_S)
            await asyncio.sleep(wait)

    await asyncio.gather(*[ask(player) for player in players])


async def probe_in_run(
    runtime: PlayerRuntime,
    env: Mapping[str, str],
    *,
    journal: Journal,
    budget: Budget,
    availability: Availability,
    clock: Callable[[], int],
) -> Probed | None:
    """Probe a paused player once; None where its hours or a budget do not allow it now.

    What the probe may cost is held until it is known; it is on record, durably, before and after.
    """
    player = runtime.settings.name
    sent: dict[str, int | None] = {}

    def affordable(player: str, nano: int) -> bool:
        return availability.may_probe(player, nano) and budget.hold(player, nano)

    def pay(billed: int, possibly: int | None) -> None:
        budget.hold(player, -(sent.pop(player) or 0))
        budget.charge({player: billed})
        budget.doubt(player, possibly or 0)
        budget.unpriced += possibly is None
        availability.charge({player: billed + (possibly or 0)})

    async def record(entry: ProbeEntry) -> None:
        sent.update(entry.sent)
        durable = asyncio.get_running_loop().create_future()
        journal.rows.amend(Amendment(TOPIC, msgspec.json.encode(entry), clock()))
        journal.then(lambda: None if durable.done() else durable.set_result(None))
        for result in entry.found.values():
            pay(result.cost_nano or 0, result.worst_nano)
        await durable

    try:
        probed = await probe_players({player: runtime}, env, affordable=affordable, record=record, tries=1)
    finally:
        if sent:  # the run ends, and what comes of this question is not read: `probed.probe_costs`
            pay(0, sent[player])
    return probed.get(player)
