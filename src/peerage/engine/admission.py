"""What a match may cost at most, and usually: the basis of the plan and of the budget's promise. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from peerage.engine.calls import OVERHEAD_BYTES
from peerage.games.game import GameSpec
from peerage.ledger.codec import seat_of
from peerage.ledger.store import Exchange
from peerage.match import Fixture
from peerage.players.prices import Price


class Priced(Protocol):
    """Whatever has a player's price: a `Line`, or what a plan knows of one."""

    @property
    def price(self) -> Price: ...


def worst_cost(
    spec: GameSpec[Any],
    rules: Any,
    fixture: Fixture,
    lines: Mapping[str, Priced],
    recorded: Iterable[Exchange] = (),
) -> dict[str, int]:
    """The most that a match can still cost, by player, in 1e-9 dollars; unknown prices count nothing.

    Of `recorded` each answered call frees what it cost, but never more than a call may cost today: a price
    may have fallen since, and what is still to be asked must stay covered.
    """
    worst: dict[str, int] = {}
    most: dict[str, int] = {}
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for bound in spec.bounds(rules, fixture):
        line = lines.get(seats[bound.seat])
        if line is None:
            continue
        each = line.price.worst_nano(bound.input_bytes + OVERHEAD_BYTES, bound.max_tokens) or 0
        most[bound.seat] = min(each, most.get(bound.seat, each))
        worst[seats[bound.seat]] = worst.get(seats[bound.seat], 0) + bound.worst * each
    for exchange in recorded:
        if exchange.reply is not None and exchange.player in worst:
            worst[exchange.player] -= min(exchange.cost_nano or 0, most.get(seat_of(exchange.request), 0))
    return worst


SLACK = 2
"""How much more than expected a match is reckoned to cost before it is begun on what is left of a budget."""


def usual_cost(
    spec: GameSpec[Any], rules: Any, fixture: Fixture, lines: Mapping[str, Priced]
) -> dict[str, int]:
    """What a match will hardly exceed: `SLACK` times what is expected, by player, in 1e-9 dollars."""
    usual: dict[str, int] = {}
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for bound in spec.bounds(rules, fixture):
        player = seats[bound.seat]
        if player in lines:
            price = lines[player].price
            output = min(bound.usual_output_tokens, price.limit or bound.usual_output_tokens)
            each = price.cost_nano(bound.usual_input_tokens, output, price.timeout_ms // 10) or 0
            usual[player] = usual.get(player, 0) + round(SLACK * bound.expected * each)
    return usual
