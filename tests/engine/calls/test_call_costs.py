"""What calls and matches may cost, and usually do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from peerage.engine.calls.call_costs import OVERHEAD_BYTES, Share, Usual, shares, usual_call, worst_of
from peerage.game.bounds import CallBound
from peerage.game.protocol import MORE_ROOM
from peerage.players.models.thinking import ThinkingRoom
from peerage.players.prices import OVERHEAD_TOKENS, Price, Rate


def priced(input_nano: int, output_nano: int, **more: Any) -> Price:
    """So many billionths of a dollar a token."""
    return Price("x", (Rate(0, input_nano * 10**6),), (Rate(0, output_nano * 10**6),), **more)


def match_of(*bounds: CallBound) -> tuple[Any, Any]:
    """A game with these calls, and a match of it between ann (seat A) and bob (seat B)."""
    seats = [SimpleNamespace(label="A", player="ann"), SimpleNamespace(label="B", player="bob")]
    return SimpleNamespace(bounds=lambda rules, fixture: bounds), SimpleNamespace(all_seats=lambda: seats)


def test_a_usual_call() -> None:
    bound = CallBound("A", 1, 1, 0, 100, 50, 500)
    assert usual_call(bound, priced(1, 10)) == Usual(100, 50, 600)
    assert usual_call(bound, Price()) == Usual(100, 50, None)
    room = ThinkingRoom(80)
    thinks = priced(1, 10, limit=40, prompt_bytes=8, thinking=room)
    assert usual_call(bound, thinks) == Usual(102, 40 + room.usual, 102 + 10 * (40 + room.usual))
    hour = Price("x", hour_nano=3_600_000, timeout_ms=10**6)
    assert usual_call(bound, hour) == Usual(100, 50, 50 * 1000 // 30)
    assert usual_call(bound, Price("x", hour_nano=3_600_000, timeout_ms=7)).nano == 7


def test_the_most_that_calls_can_cost() -> None:
    asked = 1000 + OVERHEAD_BYTES + OVERHEAD_TOKENS
    bound = CallBound("A", 1, 3, 1000, 0, 0, 100)
    assert worst_of(bound, priced(1, 10)) == (asked + 10 * 100) + 2 * (asked + 10 * 100 * MORE_ROOM)
    once = CallBound("A", 1, 1, 0, 0, 0, 10)
    assert worst_of(once, priced(1, 10)) == OVERHEAD_BYTES + OVERHEAD_TOKENS + 10 * 10 * MORE_ROOM
    assert worst_of(once, Price()) == 0
    twice = CallBound("A", 1, 2, 0, 0, 0, 10)
    assert worst_of(twice, priced(0, 1, thinking=ThinkingRoom(5))) == 15 + 15 * MORE_ROOM


def test_what_a_match_is_planned_to_cost() -> None:
    game, match = match_of(
        CallBound("A", 2, 9, 10_000, 100, 50, 500),
        CallBound("B", 1, 9, 10, 100, 50, 100),
        CallBound("A", 0.5, 9, 10_000, 10, 5, 20),
    )
    lines = {name: SimpleNamespace(price=priced(1, 10)) for name in ("ann", "bob")}
    reach = 400 + OVERHEAD_BYTES + OVERHEAD_TOKENS + 10 * 500
    assert shares(game, None, match, lines) == {
        "ann": Share(2.5, 2 * 600 + 0.5 * 60, reach),
        "bob": Share(1, 600, 10 + OVERHEAD_TOKENS + 10 * 100),
    }
    assert shares(game, None, match, {"bob": SimpleNamespace(price=Price())}) == {"bob": Share(1, 0, 0)}
