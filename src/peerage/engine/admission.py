"""What a match may cost at most, and usually: the basis of the plan and of the budget's promise. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from peerage.engine.calls import OVERHEAD_BYTES
from peerage.games.game import GameSpec
from peerage.match import Fixture
from peerage.players.prices import Price


class Priced(Protocol):
    """Whatever has a player's price: a `Line`, or what a plan knows of one."""

    @property
    def price(self) -> Price: ...


def worst_cost(
    spec: GameSpec[Any], rules: Any, fixture: Fixture, lines: Mapping[str, Priced]
) -> dict[str, int]:
    """The most that a match can cost, by player, in 1e-9 dollars; unknown prices count nothing."""
    worst: dict[str, int] = {}
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for bound in spec.bounds(rules, fixture):
        line = lines.get(seats[bound.seat])
        if line is None:
            continue
        each = line.price.worst_nano(bound.input_bytes + OVERHEAD_BYTES, bound.max_tokens)
        most = bound.worst * (each or 0)
        worst[seats[bound.seat]] = worst.get(seats[bound.seat], 0) + most
    return worst
