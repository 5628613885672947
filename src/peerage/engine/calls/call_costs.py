"""Costs of calls and matches before any is made, at their worst and as usual. Pure.

All sums are integers of 1e-9 dollars; expectations are floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from peerage.game.bounds import CallBound
from peerage.game.match import Fixture
from peerage.game.protocol import MORE_ROOM
from peerage.game.spec import GameSpec
from peerage.players.prices import Price

OVERHEAD_BYTES = 512
"""Bytes counted on top of a request's text for what a provider wraps around it."""
TOKENS_PER_SECOND = 30
"""A guess for players priced by the hour: how fast a reply is written."""


class Priced(Protocol):
    """Anything that has a player's price: a `Line`, or what a plan knows of one."""

    @property
    def price(self) -> Price: ...


class Usual(NamedTuple):
    """A call of usual length: its tokens, and its cost in 1e-9 dollars, None without a price."""

    input_tokens: int
    output_tokens: int
    nano: int | None


def usual_call(bound: CallBound, price: Price, thinking: int | None = None) -> Usual:
    """Return what a call within `bound` usually takes, with so much `thinking`; None: as usual.

    A request to an agent is taken to cost a quarter of what it may cost at most, in tokens of the same mix.
    """
    output = min(bound.usual_output_tokens, price.limit or bound.usual_output_tokens)
    output += price.thinking.usual if thinking is None else thinking
    asked = bound.usual_input_tokens + price.prompt_bytes // 4 + price.media_tokens(bound.media)
    nano = usual_cost(price, asked, output)
    if price.request_nano is not None and nano:
        times = price.request_nano / 4 / nano
        asked, output, nano = round(asked * times), round(output * times), price.request_nano // 4
    return Usual(asked, output, nano)


def usual_cost(price: Price, asked: int, output: int) -> int | None:
    """Return the cost of a call of so many tokens, in 1e-9 dollars; None without a price."""
    return price.cost_nano(asked, output, min(output * 1000 // TOKENS_PER_SECOND, price.timeout_ms))


def worst_of(bound: CallBound, price: Price) -> int:
    """Return the most that the calls within `bound` can cost, in 1e-9 dollars; an unknown price counts
    nothing."""
    size = bound.input_bytes + price.media_tokens(bound.media) + OVERHEAD_BYTES
    each = price.worst_nano(size, bound.max_tokens) or 0
    again = price.worst_nano(size, bound.max_tokens * MORE_ROOM, more_room=True) or 0
    # Every other call at most is a second one, and each of those may have more room.
    return bound.worst // 2 * each + (bound.worst + 1) // 2 * again


def reach(bound: CallBound, price: Price) -> int:
    """Return what one call of usual length may cost at most; nothing without a price."""
    usual_bytes = 4 * bound.usual_input_tokens + OVERHEAD_BYTES
    size = min(usual_bytes, bound.input_bytes) + price.media_tokens(bound.media)
    return price.worst_nano(size, bound.max_tokens) or 0


class Share(NamedTuple):
    """One player's part of a match as planned: its calls, what they cost in all, and what one call of usual
    length may cost at most."""

    calls: float
    nano: float
    reach: int


def shares(
    spec: GameSpec[Any], rules: Any, fixture: Fixture, runtimes: Mapping[str, Priced]
) -> dict[str, Share]:
    """Return what a match is planned to cost, by player."""
    by_player: dict[str, Share] = {}
    seats = {seat.label: seat.player for seat in fixture.all_seats()}
    for bound in spec.bounds(rules, fixture):
        player = seats[bound.seat]
        if player in runtimes:
            price = runtimes[player].price
            calls, nano, before = by_player.get(player, Share(0.0, 0.0, 0))
            by_player[player] = Share(
                calls + bound.expected,
                nano + bound.expected * (usual_call(bound, price).nano or 0),
                max(before, reach(bound, price)),
            )
    return by_player
