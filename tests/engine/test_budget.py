"""The budget's verdicts, one by one. Laws over all interleavings: tests/properties/test_engine_budget.py."""

from __future__ import annotations

from peerage.engine.budget import Budget, Verdict


def test_without_limits_everything_may_start() -> None:
    budget = Budget(None, None, None)
    assert not budget.bounded
    assert budget.may_start(1, {"ada": 10**18}) == (Verdict.YES, "")
    assert budget.may_add(1, "ada", 10**18)


def test_a_match_waits_for_earlier_ones_only_while_they_may_still_cost_too_much() -> None:
    budget = Budget(100, None, None)
    assert budget.may_start(1, {"ada": 60})[0] is Verdict.YES
    budget.hold(1, {"ada": 60})
    assert budget.held == 60
    assert budget.may_start(2, {"bob": 60})[0] is Verdict.WAIT
    budget.pay(1, "ada", 30)
    assert budget.may_start(2, {"bob": 60})[0] is Verdict.WAIT
    budget.close(1)
    assert (budget.spent, budget.held) == (30, 0)
    assert budget.may_start(2, {"bob": 60})[0] is Verdict.YES
    assert budget.may_start(2, {"bob": 71})[0] is Verdict.ARENA


def test_a_match_over_the_match_budget_is_told_apart_from_a_spent_player() -> None:
    budget = Budget(None, 50, 100)
    assert budget.may_start(1, {"ada": 30, "bob": 30}) == (Verdict.MATCH, "")
    budget.hold(1, {"ada": 40})
    budget.pay(1, "ada", 40)
    budget.close(1)
    budget.hold(2, {"ada": 40})
    assert budget.may_start(3, {"bob": 1, "ada": 40}) == (Verdict.WAIT, "ada")
    budget.pay(2, "ada", 40)
    assert budget.may_start(3, {"bob": 1, "ada": 40}) == (Verdict.PLAYER, "ada")


def test_who_is_named_does_not_depend_on_how_far_earlier_matches_have_come() -> None:
    """Ada may turn out to be short, bob is: as long as ada's match goes on, all wait."""
    budget = Budget(None, None, 100, spent_by={"bob": 99})
    budget.hold(1, {"ada": 80})
    assert budget.may_start(2, {"ada": 50, "bob": 50}) == (Verdict.WAIT, "ada")
    budget.pay(1, "ada", 80)
    budget.close(1)
    assert budget.may_start(2, {"ada": 50, "bob": 50}) == (Verdict.PLAYER, "ada")


def test_another_attempt_must_fit_all_three_budgets() -> None:
    for limits in ((100, None, None), (None, 100, None), (None, None, 100)):
        budget = Budget(*limits)
        budget.hold(1, {"ada": 60})
        assert budget.may_add(1, "ada", 40), limits
        budget.pay(1, "ada", 40)
        assert not budget.may_add(1, "ada", 1), limits
        assert budget.may_add(1, "ada", 0), limits


def test_a_reply_dearer_than_its_worst_case_is_counted_in_full() -> None:
    budget = Budget(100, None, None)
    budget.hold(1, {"ada": 10})
    budget.pay(1, "ada", 70)
    assert (budget.spent, budget.held) == (70, 0)
    assert budget.may_start(2, {"ada": 31})[0] is Verdict.WAIT
    budget.close(1)
    assert budget.may_start(2, {"ada": 31})[0] is Verdict.ARENA


def test_what_later_matches_had_cost_before_an_interruption_does_not_bar_earlier_ones() -> None:
    budget = Budget(100, None, 100, spent=50, spent_by={"ada": 50}, begun={2: {"ada": 30}, 3: {"ada": 20}})
    # undisturbed: match 1 may cost 100 as nothing is spent before it; but 50 are gone for good
    assert budget.may_start(1, {"ada": 50})[0] is Verdict.YES
    assert budget.may_start(1, {"ada": 51}) == (Verdict.PLAYER, "ada")
    budget.hold(1, {"ada": 10})
    budget.close(1)
    assert budget.may_start(2, {"ada": 50})[0] is Verdict.YES
    budget.hold(2, {"ada": 50})
    assert budget.may_start(3, {"ada": 1})[0] is Verdict.WAIT


def test_a_resumed_match_counts_what_it_has_cost_against_its_own_budget() -> None:
    budget = Budget(None, 100, None, spent=60, spent_by={"ada": 60}, begun={1: {"ada": 60}})
    assert budget.may_start(1, {"ada": 41})[0] is Verdict.MATCH
    assert budget.may_start(1, {"ada": 40})[0] is Verdict.YES
    budget.hold(1, {"ada": 40})
    assert not budget.may_add(1, "ada", 1)
