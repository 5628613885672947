"""The leader's permits: grants to matches, and what becomes of them."""

from __future__ import annotations

import asyncio
from datetime import date

from peerage.cluster.call_permits import CallPermits
from peerage.cluster.messages import Asks, Paid
from peerage.engine.calls.availability import Availability, Away
from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_costs import Share
from peerage.engine.calls.call_limit import CallLimit, Load
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.players.client import Client
from peerage.players.house import HouseClient, PacedClient
from peerage.players.prices import price_of
from peerage.settings import Engine, PlayerSettings

ADA = PlayerSettings(name="ada", model="house:0.5")
PLAN = {"ada": Share(10, 20.0, 4)}
GRANT = {"ada": 2 * (20 + 4)}


class AtWork:
    """Permits for two matches of ada, and what was said."""

    def __init__(self, limit: int, call_limit: CallLimit | None = None) -> None:
        self.said: list[tuple[int, Affordable | Away | str, int]] = []
        self.called_back = 0
        self.budget = Budget(limit, None, None)
        client: Client = HouseClient(ADA)
        if call_limit is not None:
            client = PacedClient(HouseClient(ADA), lambda call, answer: 1.0)
        lines = {"ada": PlayerRuntime(ADA, client, price_of(ADA, date(2026, 1, 1)), call_limit)}
        self.permits = CallPermits(
            self.budget,
            Availability([ADA], lambda: 0),
            lines,
            Engine(),
            lambda worker, ticket, verdict, reserved: self.said.append((ticket, verdict, reserved)),
            lambda match, worst: None,
            self.call_back,
        )
        for number in (1, 2):
            self.budget.open(number, PLAN)

    def call_back(self) -> None:
        self.called_back += 1

    def ask(self, ticket: int, match: int, worst: int) -> None:
        self.permits.ask(1, Asks(ticket, match, "key", "ada", worst, 0))

    def paid(self, nano: int, granted: int, *, known: bool = True) -> None:
        self.permits.paid(1, Paid(0, 1, "key", 1, "ada", nano, known, True, granted))


async def test_calls_within_a_grant_are_paid_of_it_and_the_rest_is_free_when_the_match_is_over() -> None:
    at = AtWork(1000)
    assert at.permits.grant(1) == GRANT
    at.paid(3, 3)
    at.paid(4, 4, known=False)
    assert (at.budget.billed, at.budget.possibly, at.budget.held) == (3, 4, GRANT["ada"] - 7)
    assert not at.budget.overrun
    at.permits.over(1)
    assert at.budget.held == 0
    at.paid(2, 2)  # nothing of it is held any more
    assert (at.budget.billed, at.budget.held) == (5, 0)


async def test_a_call_dearer_than_was_taken_for_it_is_an_overrun() -> None:
    at = AtWork(1000)
    at.permits.grant(1)
    at.paid(9, 6)
    assert (at.budget.overrun, at.budget.held) == ({"ada": 3}, GRANT["ada"] - 6)


async def test_where_a_call_must_wait_for_money_grants_are_called_back_once_and_none_is_given() -> None:
    at = AtWork(100)
    assert at.permits.grant(1) == GRANT
    at.ask(1, 2, 60)
    at.ask(2, 2, 1)
    assert (at.said, at.called_back) == ([], 1)
    assert at.permits.grant(2) == {}
    at.permits.returned(1, {"ada": 40})
    assert at.said == [(1, Affordable.YES, 60), (2, Affordable.YES, 1)]
    assert at.budget.held == GRANT["ada"] - 40 + 60 + 1
    at.permits.over(1)
    assert at.budget.held == 61


async def turns() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_the_limit_that_a_provider_bears_holds_over_all_workers_and_learns_of_their_calls() -> None:
    limit = CallLimit(4, 8)
    at = AtWork(10**6, limit)

    def paid(worker: int, ticket: int, load: Load | None) -> None:
        at.permits.paid(worker, Paid(ticket, 1, "key", 1, "ada", 1, True, load is None, 0, load))

    for ticket in range(20):
        at.permits.ask(ticket % 2, Asks(ticket, 1, "key", "ada", 1, 0))
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
