"""What a match may cost at most, and usually: the basis of the plan and of the budget's promise. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peerage.engine.calls import OVERHEAD_BYTES, Line
from peerage.games.game import GameSpec
from peerage.match import Fixture


def worst_cost(
    spec: GameSpec[Any], rules: Any, fixture: Fixture, lines: Mapping[str, Line]
) -> dict[str, int]:
    """The most that a match can cost, by player, in 1e-9 dollars; unknown prices count nothing."""
    worst: dict[str, int] = {}
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for bound in spec.bounds(rules, fixture):
        line = lines.get(seats[bound.seat])
        if line is None:
            continue
        limit = min(bound.max_tokens, line.settings.max_tokens or bound.max_tokens)
        most = bound.worst * (line.price.worst_nano(bound.input_bytes + OVERHEAD_BYTES, limit) or 0)
        worst[seats[bound.seat]] = worst.get(seats[bound.seat], 0) + most
    return worst
