"""The budget's verdicts, one by one. Laws over all interleavings: tests/properties/test_engine_budget.py."""

from __future__ import annotations

import pytest

from peerage.engine.calls.budget import DOUBT, Affordable, Budget, dollars, whole_nano
from peerage.engine.calls.call_costs import Share


def plan(**nano: float) -> dict[str, Share]:
    """A match of ten calls a player, which cost so much in all; each may cost a fifth of it."""
    return {player: Share(10, cost, int(cost / 5)) for player, cost in nano.items()}


def test_a_limit_in_dollars_is_rounded_down() -> None:
    assert (whole_nano(None), whole_nano(0.1234567899), whole_nano(0)) == (None, 123_456_789, 0)


def test_without_limits_everything_may_go() -> None:
    budget = Budget(None, None, None)
    assert not budget.bounded
    budget.open(1, plan(ada=10))
    assert budget.admit(plan(ada=10**18)) == (Affordable.YES, "")
    assert budget.reserve(1, "ada", 10**18) is Affordable.YES
    assert [Budget(*limits).bounded for limits in ((1, None, None), (None, 1, None), (None, None, 1))] == [
        True
    ] * 3


def test_a_call_waits_while_others_may_give_back_enough_and_is_refused_when_they_cannot() -> None:
    budget = Budget(100, None, None)
    budget.open(1, plan(ada=50))
    assert budget.reserve(1, "ada", 60) is Affordable.YES
    assert (budget.held, budget.reserve(1, "ada", 41)) == (60, Affordable.WAIT_ARENA)
    assert budget.reserve(1, "ada", 40) is Affordable.YES
    assert budget.reserve(1, "ada", 101) is Affordable.ARENA
    budget.pay(1, "ada", 20, 60, known=True)
    assert (budget.spent, budget.held) == (20, 40)
    assert budget.reserve(1, "ada", 41) is Affordable.WAIT_ARENA
    assert budget.reserve(1, "ada", 40) is Affordable.YES
    assert budget.reserve(1, "ada", 81) is Affordable.ARENA
    assert budget.reserve(1, "ada", 0) is Affordable.YES


def test_each_limit_refuses_in_its_own_name() -> None:
    budget = Budget(None, 100, 120, spent_by={"bob": 100}, begun={1: 70})
    budget.open(1, plan(ada=50, bob=50))
    budget.open(2, plan(ada=50, bob=50))
    assert budget.reserve(1, "ada", 31) is Affordable.MATCH
    assert budget.reserve(1, "bob", 21) is Affordable.PLAYER
    assert budget.reserve(1, "ada", 20) is Affordable.YES
    assert budget.reserve(1, "ada", 11) is Affordable.WAIT_MATCH
    assert budget.reserve(2, "ada", 100) is Affordable.WAIT_PLAYER
    budget.pay(1, "ada", 0, 20, known=True)
    budget.close(1, decided=True)
    assert budget.reserve(2, "ada", 100) is Affordable.YES


def test_billed_and_possibly_billed_count_alike() -> None:
    budget = Budget(100, None, None, billed=10, possibly=20)
    budget.open(1, plan(ada=50))
    budget.pay(1, "ada", 5, 0, known=True)
    budget.pay(1, "ada", 7, 0, known=False, answered=False)
    assert (budget.billed, budget.possibly, budget.spent, budget.left) == (15, 27, 42, 58)
    assert budget.spent_by == {"ada": 12}


@pytest.mark.parametrize(
    ("limits", "refused"),
    [
        ((99, None, None), Affordable.ARENA),
        ((None, 99, None), Affordable.MATCH),
        ((None, None, 49), Affordable.PLAYER),
    ],
)
def test_a_match_begins_alone_when_twice_its_expected_cost_is_free(
    limits: tuple[int | None, int | None, int | None], refused: Affordable
) -> None:
    match = plan(ada=25, bob=25)
    assert Budget(*limits).admit(match)[0] is refused
    assert Budget(*[limit and limit + 1 for limit in limits]).admit(match) == (Affordable.YES, "")


def test_a_match_begins_alone_when_its_dearest_call_is_covered_at_the_end() -> None:
    dear = {"ada": Share(10, 20.0, 70)}
    assert Budget(89, None, None).admit(dear)[0] is Affordable.ARENA
    assert Budget(90, None, None).admit(dear)[0] is Affordable.YES


def test_the_player_who_cannot_pay_is_named() -> None:
    budget = Budget(None, None, 100, spent_by={"bob": 90})
    assert budget.admit(plan(ada=20, bob=20)) == (Affordable.PLAYER, "bob")
    assert budget.admit(plan(ada=20, bob=0)) == (Affordable.YES, "")


@pytest.mark.parametrize(
    ("limits", "waits"),
    [((1000, None, None), Affordable.WAIT_ARENA), ((None, None, 1000), Affordable.WAIT_PLAYER)],
)
def test_beside_others_a_match_waits_until_the_sum_fits(
    limits: tuple[int | None, int | None, int | None], waits: Affordable
) -> None:
    budget = Budget(*limits)
    match = plan(ada=100)
    begun = 0
    while budget.admit(match)[0] is Affordable.YES:
        begun += 1
        budget.open(begun, match)
    assert begun == 4, "some ten would fit, were the plan not perhaps twice too cheap"
    assert budget.admit(match)[0] is waits
    for number in (1, 2, 3, 4):
        budget.close(number, decided=False)
    for _ in range(20):
        budget.seen(match, {"ada": 50})
    while budget.admit(match)[0] is Affordable.YES:
        begun += 1
        budget.open(begun, match)
    assert begun == 4 + 19, "half as dear as planned: twenty would fit, less a call at its worst"


def test_nearly_all_matches_of_a_game_cost_at_most_what_is_kept_for_one() -> None:
    budget = Budget(100_000, None, None)
    match = plan(ada=100)
    assert budget.surely("dear") == DOUBT
    for at in range(20):
        budget.seen(match, {"ada": 100 if at % 5 else 600}, "dear")
        budget.seen(plan(bob=100), {"bob": 100}, "even")
    assert budget.surely("dear") > 2
    assert budget.surely("even") == 1
    expected = sum(budget.expected(match).values())
    assert 150 < expected < 250
    budget.open(1, match, "dear")
    for limit, verdict in ((2.2, Affordable.WAIT_ARENA), (6.5, Affordable.YES)):
        budget.limit = round(limit * expected)
        assert budget.admit(match, "dear")[0] is verdict


def test_what_calls_really_cost_changes_what_is_expected() -> None:
    budget = Budget(10_000, None, None)
    match = plan(ada=100)
    budget.open(1, match)
    assert sum(budget.expected(match).values()) == 100
    for _ in range(10):
        budget.pay(1, "ada", 50, 0, known=True)
    budget.close(1, decided=True)
    assert 400 < sum(budget.expected(match).values()) < 500
    for _ in range(10):
        budget.seen(match, {"ada": 50})
    assert 80 < sum(budget.expected(match).values()) < 100


def test_a_match_of_more_calls_than_planned_makes_the_next_dearer() -> None:
    budget = Budget(10_000, None, None)
    match = plan(ada=100)
    budget.open(1, match)
    for _ in range(30):
        budget.pay(1, "ada", 10, 0, known=True)
    before = budget.expected(match)["ada"]
    budget.close(1, decided=True)
    assert before == pytest.approx(100)
    assert 250 < budget.expected(match)["ada"] < 300


def test_recalled_calls_count_as_made_and_cost_nothing_again() -> None:
    budget = Budget(100, None, None, billed=30, begun={1: 30})
    budget.open(1, plan(ada=50))
    budget.open(2, plan(bob=50))
    assert budget.reserve(2, "bob", 21) is Affordable.WAIT_ARENA, "ada's match is expected to take fifty more"
    for _ in range(10):
        budget.recall(1, "ada", 3)
    assert budget.spent == 30
    assert budget.reserve(2, "bob", 57) is Affordable.WAIT_ARENA, "3.3 more, and a call of ten at the end"
    assert budget.reserve(2, "bob", 56) is Affordable.YES


def test_a_stopped_match_keeps_nothing_and_its_last_calls_still_return() -> None:
    budget = Budget(100, None, None)
    budget.open(1, plan(ada=80))
    budget.open(2, plan(bob=80))
    assert budget.reserve(1, "ada", 30) is Affordable.YES
    assert budget.reserve(2, "bob", 50) is Affordable.WAIT_ARENA
    budget.stop(1)
    assert budget.has_stopped(1)
    assert budget.reserve(2, "bob", 50) is Affordable.YES
    budget.pay(1, "ada", 10, 30, known=True)
    assert (budget.spent, budget.held) == (10, 50)
    budget.close(1, decided=False)
    assert not budget.has_stopped(1)


def test_a_reply_dearer_than_its_worst_case_is_counted_in_full_and_is_the_players_last() -> None:
    budget = Budget(100, None, None)
    budget.open(1, plan(ada=50, bob=50))
    assert budget.reserve(1, "ada", 10) is Affordable.YES
    budget.pay(1, "ada", 11, 10, known=True)
    assert (budget.spent, budget.held, budget.left, budget.overrun) == (11, 0, 89, {"ada": 1})
    assert budget.reserve(1, "ada", 0) is Affordable.PLAYER
    assert budget.reserve(1, "bob", 10) is Affordable.YES
    budget.pay(1, "bob", 10, 10, known=True)
    assert budget.overrun == {"ada": 1}
    budget.close(1, decided=False)
    assert budget.admit(plan(bob=10, ada=10_000)) == (Affordable.YES, ""), "the others play on"


def test_limits_are_reached_to_the_last_and_not_passed() -> None:
    budget = Budget(100, None, None)
    budget.open(1, {})
    assert budget.reserve(1, "ada", 101) is Affordable.ARENA
    assert budget.reserve(1, "ada", 100) is Affordable.YES
    budget = Budget(None, None, 100)
    budget.open(1, {})
    assert budget.reserve(1, "ada", 101) is Affordable.PLAYER
    assert budget.reserve(1, "ada", 60) is Affordable.YES
    assert budget.reserve(1, "bob", 100) is Affordable.YES, "each player has a limit of its own"
    assert budget.reserve(1, "ada", 41) is Affordable.WAIT_PLAYER
    assert budget.reserve(1, "ada", 40) is Affordable.YES
    budget.pay(1, "ada", 50, 60, known=True)
    assert budget.reserve(1, "ada", 10) is Affordable.YES
    assert budget.reserve(1, "ada", 1) is Affordable.WAIT_PLAYER
    assert budget.reserve(1, "ada", 51) is Affordable.PLAYER


def test_a_match_pays_for_all_its_calls() -> None:
    budget = Budget(None, 100, None)
    budget.open(1, plan(ada=10))
    for _ in range(3):
        assert budget.reserve(1, "ada", 30) is Affordable.YES
        budget.pay(1, "ada", 30, 30, known=True)
    assert budget.reserve(1, "ada", 11) is Affordable.MATCH
    for _ in range(2):
        assert budget.reserve(1, "ada", 4) is Affordable.YES
    assert budget.reserve(1, "ada", 4) is Affordable.WAIT_MATCH


def test_no_match_is_expected_to_cost_more_than_its_players_are_asked() -> None:
    budget = Budget(100, None, None)
    budget.open(1, plan(ada=40, bob=40))
    budget.open(2, plan(cy=1))
    assert budget.reserve(2, "cy", 13) is Affordable.WAIT_ARENA, "80 more, and a call of 8 at the end"
    assert budget.reserve(2, "cy", 12) is Affordable.YES
    budget.pay(2, "cy", 0, 12, known=True)
    assert budget.reserve(1, "ada", 1) is Affordable.YES
    budget.pay(1, "ada", 3, 1, known=True)
    assert budget.overrun == {"ada": 2}
    assert budget.reserve(2, "cy", 49) is Affordable.YES, "of bob's part 40, and a call of 8 at the end"


def test_a_players_limit_keeps_its_own_part_of_matches_ahead() -> None:
    budget = Budget(None, None, 100)
    budget.open(1, plan(ada=50, bob=90))
    budget.open(2, plan(ada=50, bob=50))
    assert budget.reserve(2, "ada", 41) is Affordable.WAIT_PLAYER
    assert budget.reserve(2, "ada", 40) is Affordable.YES, "50 more, and a call of 10 at the end"
    assert budget.reserve(2, "cy", 100) is Affordable.YES


def test_a_match_that_waits_keeps_nothing_and_teaches_nothing_twice() -> None:
    budget = Budget(1000, 100, None)
    match = plan(ada=50)
    budget.open(1, match)
    assert budget.reserve(1, "ada", 60) is Affordable.YES
    budget.pay(1, "ada", 60, 60, known=True)
    before = budget.expected(match)
    budget.leave(1)
    budget.leave(7)
    budget.open(2, match)
    assert budget.reserve(2, "ada", 100) is Affordable.YES, "nothing is kept for the one that waits"
    budget.open(1, match)
    budget.recall(1, "ada", 60)
    budget.recall(1, "bob", 9)
    budget.recall(8, "ada", 9)
    assert budget.expected(match) == before
    assert budget.reserve(1, "ada", 41) is Affordable.MATCH, "what it paid before counts"


def test_calls_of_an_earlier_run_teach_what_calls_cost() -> None:
    budget = Budget(1000, None, None)
    match = plan(ada=100)
    budget.open(1, match)
    for _ in range(10):
        budget.recall(1, "ada", 30)
    assert budget.expected(match)["ada"] == pytest.approx(100 * (0.2 * 100 + 300) / (0.2 * 100 + 100))
    new = plan(ada=0.0)
    assert Budget(1, None, None).expected(new) == {"ada": 0.0}


def test_what_is_not_reported_of_a_player_was_free() -> None:
    budget = Budget(1000, None, None)
    budget.seen(plan(ada=100, bob=100), {"ada": 100})
    assert budget.expected(plan(ada=100, bob=100)) == {
        "ada": pytest.approx(100),
        "bob": pytest.approx(100 * 20 / 120),
    }


def test_an_empty_plan_costs_nothing_and_begins() -> None:
    assert Budget(0, 0, 0).admit({}) == (Affordable.YES, "")
    assert Budget(0, None, None).admit(plan(ada=0)) == (Affordable.YES, "")


def test_verdicts_on_matches_name_nobody_but_a_player() -> None:
    match = plan(ada=100)
    assert Budget(1, None, None).admit(match) == (Affordable.ARENA, "")
    assert Budget(None, 1, None).admit(match) == (Affordable.MATCH, "")
    for budget in (Budget(250, None, None), Budget(None, None, 250)):
        budget.open(1, plan(ada=100))
        assert budget.admit(plan(ada=10**9))[0] in (Affordable.ARENA, Affordable.PLAYER)
        assert budget.admit(match) in ((Affordable.WAIT_ARENA, ""), (Affordable.WAIT_PLAYER, "ada"))
        assert budget.admit(plan(bob=0)) == (Affordable.YES, "")


def test_half_of_what_is_left_is_set_aside_for_a_host() -> None:
    budget = Budget(100, None, None, billed=10)
    budget.open(1, plan(ada=10))
    assert budget.reserve(1, "ada", 30) is Affordable.YES
    assert budget.set_aside(7) == 7
    assert budget.set_aside(1000) == (90 - 37) // 2
    assert budget.held == 30 + 7 + 26
    assert budget.set_aside(-26) == -26
    assert budget.held == 37
    assert budget.set_aside(0) == 0
    unlimited = Budget(None, 5, None)
    assert unlimited.set_aside(1000) == 1000
    spent = Budget(10, None, None, billed=20)
    assert spent.set_aside(5) == 0


def test_a_call_outside_of_matches_keeps_the_limits_and_gives_back_what_was_held() -> None:
    budget = Budget(100, None, 60)
    assert budget.hold("a", 60)
    assert not budget.hold("b", 41)
    assert budget.hold("b", 40)
    budget.pay_held("a", billed=5, possibly=10, held=60)
    budget.pay_held("b", billed=0, possibly=None, held=40)
    assert (budget.held, budget.billed, budget.possibly, budget.unpriced) == (0, 5, 10, 1)
    assert not budget.hold("a", 46)
    assert budget.hold("a", 45)
    assert budget.set_aside(80) == 20
    assert not budget.hold("b", 21)
    assert budget.hold("c", 0), "what is free is always affordable"


def test_what_is_billed_beside_calls_counts() -> None:
    budget = Budget(100, None, None, billed=1, spent_by={"ada": 2})
    budget.charge({"ada": 3, "bob": 4})
    assert (budget.billed, budget.possibly, budget.spent_by) == (8, 0, {"ada": 5, "bob": 4})


def test_dollars_are_told_to_a_hundredth_of_a_cent() -> None:
    assert dollars(1_234_567_890) == "$1.2346"
