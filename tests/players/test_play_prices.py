"""Play prices of house players, the demo's and of those that come later."""

from __future__ import annotations

import pytest

from peerage.cli.begin.demo import demo_text
from peerage.cli.play.run import with_players
from peerage.players.prices import OUTPUT, PLAY_PRICE, line, play_price
from peerage.settings import ArenaSettings, loads


@pytest.fixture
def demo() -> ArenaSettings:
    return loads(demo_text(1))


def test_a_newcomer_of_a_skill_between_two_costs_what_lies_between_them(demo: ArenaSettings) -> None:
    known = {float(one.model.partition(":")[2]): one.price for one in demo.players}
    assert {skill: price and price.output for skill, price in known.items()} == OUTPUT
    assert OUTPUT[0.85] < play_price(0.9)["output"] < OUTPUT[0.95]
    assert play_price(0.0)["output"] == OUTPUT[0.2]
    assert play_price(1.0)["output"] == OUTPUT[0.95]
    assert all(play_price(one)["input"] == pytest.approx(play_price(one)["output"] / 5) for one in (0.3, 0.9))


def test_who_joins_an_arena_of_play_prices_has_one_and_no_other_has(demo: ArenaSettings) -> None:
    joined = with_players(demo, ["house:0.9", "human:Ada"]).players
    by_name = {one.name: one for one in joined}
    newcomer = by_name["house:0.9"]
    assert newcomer.price is not None
    assert newcomer.pricing_source == PLAY_PRICE
    assert by_name["Ada"].price is None
    free = demo.model_copy(update={"players": (demo.players[0].model_copy(update={"pricing_source": ""}),)})
    assert with_players(free, ["house:0.9"]).players[-1].price is None
    text = demo_text(1) + f"  - {line(newcomer)}\n"
    assert loads(text).players[-1] == newcomer, "as it is told to be added"
