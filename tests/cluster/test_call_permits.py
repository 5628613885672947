"""The leader's permits: a player's limits hold over all workers."""

from __future__ import annotations

import asyncio
from datetime import date

from peerage.cluster.call_permits import CallPermits
from peerage.cluster.messages import CallAsks, Paid
from peerage.engine.calls.availability import Availability, Away
from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_costs import Share
from peerage.engine.calls.call_limit import CallLimit, Load
from peerage.engine.calls.calls import Reach
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.players.client import Client
from peerage.players.house import HouseClient, PacedClient
from peerage.players.prices import price_of
from peerage.settings import Engine, PlayerSettings

ADA = PlayerSettings(name="ada", model="house:0.5")
PLAN = {"ada": Share(10, 20.0, 4)}


class AtWork:
    """Permits for two matches of ada, and what was said."""

    def __init__(self, limit: int, call_limit: CallLimit | None = None) -> None:
        self.said: list[tuple[int, Affordable | Away | str, int]] = []
        self.budget = Budget(limit, None, None)
        client: Client = HouseClient(ADA)
        if call_limit is not None:
            client = PacedClient(HouseClient(ADA), lambda call, answer: 1.0)
        lines = {"ada": PlayerRuntime(ADA, client, price_of(ADA, date(2026, 1, 1)), call_limit)}
        self.permits = CallPermits(
            self.budget,
            Reach(lines, Engine(), Availability([ADA], lambda: 0)),
            lambda worker, ticket, verdict, reserved: self.said.append((ticket, verdict, reserved)),
            lambda match, worst: None,
        )
        for number in (1, 2):
            self.budget.open(number, PLAN)


async def turns() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_the_limit_that_a_provider_bears_holds_over_all_workers_and_learns_of_their_calls() -> None:
    limit = CallLimit(4, 8)
    at = AtWork(10**6, limit)

    def paid(worker: int, ticket: int, load: Load | None) -> None:
        at.permits.paid(worker, Paid(ticket, 1, "key", 1, "ada", 1, True, load is None, load))

    for ticket in range(20):
        at.permits.ask(ticket % 2, CallAsks(ticket, 1, "key", "ada", 1, 0))
    await turns()
    assert [ticket for ticket, *_ in at.said] == [0, 1, 2, 3]
    assert at.permits.lowered() == {}
    for ticket in range(4):
        paid(ticket % 2, ticket, Load(overload="429"))
    await turns()
    assert [ticket for ticket, *_ in at.said[4:]] == [4, 5]
    assert at.permits.lowered() == {"ada": "at most 2 in flight, halved after 429"}
    for ticket in range(4, 8):
        paid(ticket % 2, ticket, Load(1.0))
        await turns()
    assert limit.limit == 3
    assert limit.in_flight == len(at.said) - 8 == 3
    for held in at.permits.held_by(1):  # a worker that is lost tells nothing of its calls
        at.permits.paid(1, held)
    await turns()
    assert (limit.limit, limit.in_flight) == (3, 3)
