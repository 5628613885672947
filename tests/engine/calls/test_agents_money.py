"""Requests to agents behind a gateway: reserved at their budget, counted as metered, within every limit."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engine.arenas import (
    ledger_of,
    play,
    play_stopping_at,
    spent_by_match,
    total_spent,
    write_arena,
)
from tests.engine.calls.test_budgets import TIGHT, replays, spent_by_player
from typer.testing import CliRunner

from peerage.cli.main import app
from peerage.engine.calls.call_costs import reach, usual_call, worst_of
from peerage.engine.calls.player_runtime import PlayerRuntime, most_nano, priced
from peerage.engine.record.probed import ProbeEntry
from peerage.engine.run.probes import probe_players
from peerage.game.bounds import CallBound
from peerage.game.protocol import Ask, Text
from peerage.ledger.forms.codec import read_reply
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.players.prices import Price, price_of
from peerage.players.redaction import named_failure
from peerage.settings import PlayerSettings

NANO = 10**9
AGENT = {
    "acp": ["./agent"],
    "model": "openai:tiny",
    "price": {"input": 1, "output": 10},
    "request_budget": 0.2,
}
BOUND = CallBound("A", 4, 2, 4000, 100, 50, 500)


def settings(**stated: Any) -> PlayerSettings:
    return PlayerSettings.model_validate(AGENT | stated)


def price(**stated: Any) -> Price:
    return price_of(settings(**stated), date(2026, 1, 1))


def test_a_request_may_cost_its_budget_and_usually_a_quarter() -> None:
    agents = price(request_budget=0.2)
    assert agents.worst_nano(10, 10) == agents.worst_nano(10**6, 10**6, more_room=True) == 200_000_000
    asked, said, nano = usual_call(BOUND, agents)
    assert nano == 50_000_000
    assert agents.cost_nano(asked, said, 0) == pytest.approx(nano, rel=0.001)
    assert asked == pytest.approx(2 * said, rel=0.001)
    assert worst_of(BOUND, agents) == BOUND.worst * 200_000_000
    assert reach(BOUND, agents) == 200_000_000
    free = price(price={"input": 0, "output": 0})
    assert (free.worst_nano(10, 10), usual_call(BOUND, free).nano) == (0, 0)
    unknown = price(price=None)
    assert (unknown.worst_nano(10, 10), usual_call(BOUND, unknown).nano) == (None, None)
    own = PlayerSettings.model_validate({"acp": ["./agent"], "price": AGENT["price"]})
    assert price_of(own, date(2026, 1, 1)).request_nano is None


def runtime(**stated: Any) -> PlayerRuntime:
    player = settings(**stated)
    return PlayerRuntime(player, HouseClient(PlayerSettings(model="house:0.5")), price(**stated))


def test_the_gateways_count_is_the_cost_whatever_the_sum_of_tokens_would_be() -> None:
    agent = runtime()
    told = Answer("x", 1.0, 1_000_000, 1_000_000, cost_usd=0.012345678)
    assert priced(agent, told).cost_nano == 12_345_678
    assert most_nano(told) is None
    unsure = Answer("x", 1.0, None, None, cost_usd=0.01, possibly_nano=7)
    assert priced(agent, unsure).cost_nano is None
    assert most_nano(unsure) == 10_000_007
    assert priced(agent, Answer("x", 1.0, 5, 5)).cost_nano is None
    assert priced(runtime(price=None), Answer("x", 1.0, 5, 5)).cost_nano is None


async def test_a_probe_counts_what_the_gateway_counted() -> None:
    """Not what it reserved, which would use up the budget of an arena whose agents failed once."""
    came: dict[str, Answer | PlayerError] = {
        "fails": PlayerError("its model failed", maybe_paid=True, most_nano=7),
        "unsure": Answer("", 0.0, cost_usd=2e-9, possibly_nano=3),
        "uncounted": PlayerError("it died", maybe_paid=True),
    }
    agents = {}
    for name in came:
        client = Metering(settings(name=name), partial(came.__getitem__, name))
        agents[name] = replace(runtime(name=name), client=client)
    set_aside: dict[str, int] = {}
    put: list[ProbeEntry] = []

    def affordable(name: str, nano: int) -> bool:
        set_aside[name] = nano
        return True

    async def record(entry: ProbeEntry) -> None:
        put.append(entry)

    await probe_players(agents, {}, affordable=affordable, record=record, tries=1)
    assert set_aside == dict.fromkeys(came, 200_000_000)
    found = {name: (each.cost_nano, each.worst_nano) for name, each in put[-1].found.items()}
    assert found == {"fails": (None, 7), "unsure": (None, 5), "uncounted": (None, 200_000_000)}


def test_a_budget_too_small_for_agents_names_their_own_limit(tmp_path: Path) -> None:
    write_arena(tmp_path, agents(), budget=0.01)
    planned = CliRunner().invoke(app, ["plan", "--matches", "2", "--dir", str(tmp_path)]).output
    assert "raise it, or lower `request_budget` of agents." in " ".join(planned.split())


def test_a_reply_that_was_cut_is_not_asked_for_once_more() -> None:
    ask = Ask("A", "answer/A", "contestant", (), Text(), 100)
    assert runtime().limit(ask).final


def test_a_failure_keeps_what_its_gateway_counted() -> None:
    assert named_failure(PlayerError("late", maybe_paid=True, most_nano=7), "ada", ()).most_nano == 7


class Metering:
    """An agent as a house player whose requests cost what `cost` draws, as a gateway counts it."""

    def __init__(self, stated: PlayerSettings, costs: Callable[[], Answer | PlayerError]) -> None:
        self._house = HouseClient(stated.model_copy(update={"model": "house:0.5"}))
        self._costs = costs

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        drawn = self._costs()
        if isinstance(drawn, PlayerError):
            raise drawn
        said = self._house.answer_now(call)
        return Answer(
            said.text,
            said.latency_s,
            cost_usd=drawn.cost_usd,
            possibly_nano=drawn.possibly_nano,
            hidden=said.hidden,
        )


class Bills:
    """Costs drawn for requests, and their sum."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.sum = self.unsure = self.failed = 0

    def __call__(self) -> Answer | PlayerError:
        most = 200_000_000
        known = self._rng.randrange(most + 1)
        possibly = self._rng.choice([0, 0, self._rng.randrange(most - known + 1)])
        self.sum += known + possibly
        if self._rng.random() < 0.15:
            self.failed += known + possibly
            return PlayerError("it died", maybe_paid=True, most_nano=known + possibly)
        self.unsure += known + possibly if possibly else 0
        return Answer("", 0.0, cost_usd=known / 1e9, possibly_nano=possibly)


def agents(count: int = 6, **stated: Any) -> list[dict[str, Any]]:
    return [AGENT | {"name": f"a{place}", "family": f"f{place}"} | stated for place in range(count)]


def played(folder: Path, budget: Any, seed: int, matches: int | None, **stated: Any) -> tuple[Any, Bills]:
    bills = Bills(seed)
    engine = {"concurrency": 8, "retries": 3}
    write_arena(folder, agents(**stated), budget=budget, rules=TIGHT, engine=engine)

    def clients(stated: PlayerSettings) -> Client:
        return Metering(stated, bills)

    return play(folder, matches, clients=clients), bills


class Hurried(Metering):
    """An agent that takes three seconds, and whose gateway counts what was spent when nobody waits."""

    async def answer(self, call: Call) -> Answer:
        try:
            await asyncio.sleep(3.0)
        except asyncio.CancelledError:
            raise PlayerError("late", busy=True, maybe_paid=True, most_nano=7) from None
        return await super().answer(call)


def test_what_is_given_up_counts_as_its_gateway_counted(tmp_path: Path) -> None:
    """Not at the budget of a request, of which a second Ctrl+C would use up one for each agent at work."""
    write_arena(tmp_path, agents(), budget=12.0, rules=TIGHT, engine={"concurrency": 8, "retries": 0})

    def clients(stated: PlayerSettings) -> Client:
        return Hurried(stated, lambda: Answer("", 0.0, cost_usd=0.001))

    given_up = play_stopping_at(tmp_path, 6, 4.0, clients)
    assert given_up.reason == "interrupted"
    assert 0 < given_up.possibly_nano < 1_000
    assert given_up.possibly_nano % 7 == 0
    assert total_spent(tmp_path) == given_up.spent_nano
    report = play(tmp_path, 6, clients=clients)
    assert (report.settled, report.possibly_paid_twice) == (6, 0)
    assert report.possibly_nano == given_up.possibly_nano
    assert replays(tmp_path)
    ledger = ledger_of(tmp_path)
    replies = [read_reply(exchange) for exchange in ledger.exchanges(1) if exchange.reply is not None]
    ledger.close()
    assert "void" not in {reply.status for reply in replies}, "it is asked again, and nobody's failure"


@pytest.mark.parametrize("seed", range(3))
def test_the_arenas_budget_holds_and_every_nano_is_counted(tmp_path: Path, seed: int) -> None:
    report, bills = played(tmp_path, 12.0, seed, None)
    assert report.reason == "budget"
    assert 8 * NANO < total_spent(tmp_path) == bills.sum <= 12 * NANO
    assert report.possibly_nano == bills.unsure + bills.failed
    assert report.spent_nano == bills.sum
    assert replays(tmp_path)
    ledger = ledger_of(tmp_path)
    replies = [read_reply(exchange) for exchange in ledger.exchanges(1) if exchange.reply is not None]
    assert all(row.worst_nano == 200_000_000 for row in ledger.exchanges(1))
    ledger.close()
    assert None in Counter(reply.cost_nano for reply in replies)


def test_the_budgets_of_matches_and_players_hold(tmp_path: Path) -> None:
    _, bills = played(tmp_path, {"match": 1.5, "player": 2.0}, 5, 25)
    assert bills.sum == total_spent(tmp_path) > 0
    assert max(spent_by_match(tmp_path).values()) <= 1.5 * NANO
    assert max(spent_by_player(tmp_path).values()) <= 2 * NANO


def test_a_daily_budget_holds(tmp_path: Path) -> None:
    report, bills = played(tmp_path, None, 6, 30, daily_budget=1.0)
    assert report.waiting
    assert bills.sum == total_spent(tmp_path) > 0
    assert max(spent_by_player(tmp_path).values()) <= NANO
