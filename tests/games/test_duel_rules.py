"""Each of the duel's settings goes where it is meant to go, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.games.test_duel import duel, nothing, prefers

from peerage.challenges.drafting import DraftingRules
from peerage.engine.rejudge import rules_like
from peerage.games.duel.rules import LIMITS, DuelRules
from peerage.games.rejudge import RejudgeRules
from peerage.judging.panel import PanelRules

STATED: dict[str, Any] = {
    "max_drafts": 7,
    "approval": 0.7,
    "quorum": 0.6,
    "order": "one",
    "binary": True,
    "epsilon": 0.11,
    "weights": "proportional",
    "weight_temperature": 123.0,
    "author_limit": {"max_tokens": 11, "max_chars": 111, "temperature": 0.0},
    "committee_limit": {"max_tokens": 22, "max_chars": 222, "temperature": 0.2},
    "contestant_limit": {"max_tokens": 33, "max_chars": 333, "temperature": 0.0},
    "judge_limit": {"max_tokens": 44, "max_chars": 44, "temperature": 0.4},
}
"""Nothing of it is a default, and no two numbers of one kind are the same."""


def test_drafting_and_panel_are_told_what_is_stated() -> None:
    rules = DuelRules.model_validate(STATED)
    assert rules.drafting() == DraftingRules(
        max_drafts=7,
        approval=0.7,
        quorum=0.6,
        draft_chars=111,
        draft_tokens=11,
        draft_temperature=0.0,
        vote_tokens=22,
        vote_temperature=0.2,
        objection_chars=222,
    )
    assert rules.panel() == PanelRules(
        order="one",
        binary=True,
        epsilon=0.11,
        weights="proportional",
        weight_temperature=123.0,
        quorum=0.6,
        answer_chars=333,
        max_tokens=44,
        temperature=0.4,
        reason_chars=44,
    )


def test_judging_again_is_told_what_the_first_panel_was() -> None:
    rules = rules_like("duel", DuelRules.model_validate(STATED))
    stated = {"order": "one", "binary": True, "epsilon": 0.11, "quorum": 0.6}
    assert rules == RejudgeRules.model_validate(
        {**stated, "max_tokens": 44, "reason_chars": 44, "temperature": 0.4}
    )
    assert rules.panel(999) == PanelRules(
        order="one",
        binary=True,
        epsilon=0.11,
        weights="equal",
        quorum=0.6,
        answer_chars=999,
        max_tokens=44,
        temperature=0.4,
        reason_chars=44,
    )


@pytest.mark.parametrize("temperature", [None, 0.0, 0.3])
def test_each_roles_requests_keep_to_its_own_limit(temperature: float | None) -> None:
    limits = {
        role: {"max_tokens": 1_000 + at, "max_chars": 500 + at, "temperature": temperature}
        for at, role in enumerate(LIMITS)
    }
    asked = {
        step.ask.role: (step.ask.max_tokens, step.ask.temperature) for step in duel(nothing, limits).steps
    }
    assert asked == {
        role.removesuffix("_limit"): (limit["max_tokens"], temperature) for role, limit in limits.items()
    }


@pytest.mark.parametrize("role", LIMITS)
@pytest.mark.parametrize(
    "part", [{"max_tokens": 77}, {"max_chars": 77}, {"temperature": 0.0}, {"temperature": None}]
)
def test_a_limit_stated_in_part_keeps_the_rest_of_its_roles_defaults(role: str, part: dict[str, Any]) -> None:
    rules = DuelRules.model_validate({role: part})
    for name, usual in LIMITS.items():
        assert getattr(rules, name) == (usual.model_copy(update=part) if name == role else usual)


def test_the_temperature_of_weights_says_how_far_raw_elo_counts() -> None:
    raw = {"c1": 1800.0, **{f"c{at}": 1500.0 for at in range(2, 6)}}
    for temperature, share in ((300.0, 2.718281828 / 6.718281828), (100.0, 20.0855369 / 24.0855369)):
        found = duel(prefers("A", ("judge/1",)), {"weight_temperature": temperature}, raw).outcome.detail
        assert found["ballots"][0]["weight"] == pytest.approx(share)
        assert found["share"] == pytest.approx((1 + share) / 2), "the others call ties"
