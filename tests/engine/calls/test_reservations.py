"""Calls that are short of money: lower matches first, one of each player ahead of those in flight."""

from __future__ import annotations

from peerage.engine.calls.budget import Affordable, Budget
from peerage.engine.calls.call_costs import Share
from peerage.engine.calls.pending import PendingCall
from peerage.engine.calls.reservations import Reservations
from peerage.game.house import usual
from peerage.game.protocol import Ask, Text

PLAN = {player: Share(10, 10.0, 1) for player in ("ada", "bob")}


def call(match: int, player: str, worst: int | None) -> PendingCall:
    ask = Ask(f"{player}/{worst}", "A", "contestant", (), Text(100), 100)
    return PendingCall(match, "seed", player, ask, b"", usual, 0, worst=worst)


def account(limit: int | None = None, match: int | None = None, player: int | None = None) -> Budget:
    budget = Budget(limit, match, player)
    for number in (1, 2, 3):
        budget.open(number, PLAN)
    return budget


def decided(waiting: Reservations, queued: set[str] | None = None) -> list[tuple[int, str, Affordable]]:
    found = waiting.decided(lambda player: player in (queued or set()))
    return [(one.match, one.player, verdict) for one, verdict in found]


def test_what_fits_goes_in_the_order_of_matches_and_is_reserved() -> None:
    budget = account(1000)
    waiting = Reservations(budget)
    calls = [call(2, "ada", 30), call(1, "bob", 20), call(1, "ada", 10)]
    for one in calls:
        waiting.submit(one)
    assert len(waiting) == 3
    assert decided(waiting) == [
        (1, "bob", Affordable.YES),
        (1, "ada", Affordable.YES),
        (2, "ada", Affordable.YES),
    ]
    assert [one.reserved for one in calls] == [30, 20, 10]
    assert (budget.held, len(waiting)) == (60, 0)


def test_where_the_arena_is_short_nobody_overtakes() -> None:
    budget = account(100)
    waiting = Reservations(budget)
    for one in (call(1, "ada", 80), call(2, "bob", 50), call(3, "bob", 1)):
        waiting.submit(one)
    assert decided(waiting) == [(1, "ada", Affordable.YES)]
    assert len(waiting) == 2
    budget.pay(1, "ada", 10, 80, known=True)
    budget.close(1, decided=True)
    assert decided(waiting) == [(2, "bob", Affordable.YES), (3, "bob", Affordable.YES)]


def test_where_the_arena_is_short_no_call_that_waits_for_another_reason_is_lost() -> None:
    budget = account(100)
    waiting = Reservations(budget)
    for one in (call(1, "bob", 80), call(2, "ada", 10), call(3, "bob", 50)):
        waiting.submit(one)
    assert decided(waiting, {"ada"}) == [(1, "bob", Affordable.YES)]
    assert len(waiting) == 2
    budget.pay(1, "bob", 10, 80, known=True)
    budget.close(1, decided=True)
    assert decided(waiting) == [(2, "ada", Affordable.YES), (3, "bob", Affordable.YES)]


def test_where_a_match_or_a_player_is_short_others_go_on() -> None:
    budget = account(None, 100)
    waiting = Reservations(budget)
    for one in (call(1, "ada", 90), call(1, "bob", 20), call(1, "bob", 5), call(2, "bob", 50)):
        waiting.submit(one)
    assert decided(waiting) == [(1, "ada", Affordable.YES), (2, "bob", Affordable.YES)]
    assert len(waiting) == 2
    budget = account(None, None, 100)
    waiting = Reservations(budget)
    for one in (call(1, "ada", 90), call(2, "ada", 20), call(2, "bob", 20), call(3, "ada", 1)):
        waiting.submit(one)
    assert decided(waiting) == [(1, "ada", Affordable.YES), (2, "bob", Affordable.YES)]
    assert len(waiting) == 2


def test_what_no_limit_will_ever_pay_is_said_and_waits_no_more() -> None:
    budget = account(None, 100, 150)
    waiting = Reservations(budget)
    for one in (call(1, "ada", 101), call(1, "bob", 7)):
        waiting.submit(one)
    assert decided(waiting) == [(1, "ada", Affordable.MATCH), (1, "bob", Affordable.YES)]
    assert len(waiting) == 0
    unpriced = call(2, "ada", None)
    waiting.submit(unpriced)
    assert decided(waiting) == [(2, "ada", Affordable.YES)]
    assert unpriced.reserved == 0


def test_one_call_of_a_player_is_ahead_of_those_in_flight() -> None:
    waiting = Reservations(account(1000))
    for one in (call(1, "ada", 1), call(2, "bob", 1), call(3, "ada", 2)):
        waiting.submit(one)
    assert decided(waiting, {"ada"}) == [(2, "bob", Affordable.YES)]
    assert len(waiting) == 2
    assert decided(waiting) == [(1, "ada", Affordable.YES), (3, "ada", Affordable.YES)]


def test_calls_are_taken_back_and_those_of_a_stopped_match_forgotten() -> None:
    budget = account(1000)
    waiting = Reservations(budget)
    calls = [call(1, "ada", 1), call(2, "bob", 1), call(3, "ada", 2)]
    for one in calls:
        waiting.submit(one)
    assert waiting.recall(lambda one: one.player == "bob") == [calls[1]]
    assert len(waiting) == 2
    budget.stop(1)
    assert decided(waiting) == [(3, "ada", Affordable.YES)]
    assert len(waiting) == 0


def test_nothing_is_decided_while_something_is() -> None:
    waiting = Reservations(account(1000))
    for one in (call(1, "ada", 1), call(2, "bob", 1)):
        waiting.submit(one)
    within = [decided(waiting) for _ in waiting.decided(lambda _: False)]
    assert within == [[], []]
    waiting.submit(call(3, "ada", 1))
    assert decided(waiting) == [(3, "ada", Affordable.YES)]
