"""Each of the duel's settings goes where it is meant to go, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.games.test_duel import duel, nothing, prefers

from peerage.engine.again.rejudge import rules_like
from peerage.games.duel.rules import DuelRules
from peerage.games.rejudge import RejudgeRules
from peerage.judging.panels.panel import PanelRules

STATED: dict[str, Any] = {
    "max_drafts": 7,
    "approval": 0.7,
    "order": "one",
    "early_stop": False,
    "binary": True,
    "epsilon": 0.11,
    "weights": "proportional",
    "weight_temperature": 123.0,
    "max_tokens": 33,
}
"""Nothing of it is a default, and no two numbers of one kind are the same."""


def test_the_panel_is_told_what_is_stated() -> None:
    assert DuelRules.model_validate(STATED).panel() == PanelRules(
        order="one",
        binary=True,
        epsilon=0.11,
        weights="proportional",
        weight_temperature=123.0,
        answer_chars=4 * 33,
    )


def test_judging_again_is_told_what_the_first_panel_was() -> None:
    rules = rules_like("duel", DuelRules.model_validate(STATED))
    assert rules == RejudgeRules.model_validate({"order": "one", "binary": True, "epsilon": 0.11})
    assert rules.panel(999) == PanelRules(
        order="one", binary=True, epsilon=0.11, weights="equal", answer_chars=999
    )


@pytest.mark.parametrize("temperature", [None, 0.0, 0.3])
def test_limits_and_temperature_are_those_of_answers_alone(temperature: float | None) -> None:
    stated = {"max_tokens": 1_001, "temperature": temperature}
    asked = {
        step.ask.role: (step.ask.max_tokens, step.ask.temperature) for step in duel(nothing, stated).steps
    }
    assert asked == {
        "author": (1_200, 1.0),
        "committee": (600, 0.0),
        "contestant": (1_001, temperature),
        "judge": (600, 0.0),
    }


def test_the_temperature_of_weights_says_how_far_raw_elo_counts() -> None:
    raw = {"c1": 1800.0, **{f"c{at}": 1500.0 for at in range(2, 6)}}
    for temperature, share in ((300.0, 2.718281828 / 6.718281828), (100.0, 20.0855369 / 24.0855369)):
        stated = {
            "judges": 5,
            "weights": "softmax",
            "weight_temperature": temperature,
            "early_stop": False,
        }
        found = duel(prefers("A", ("judge/1",)), stated, raw).outcome.detail
        assert found["ballots"][0]["weight"] == pytest.approx(share)
        assert found["share"] == pytest.approx((1 + share) / 2), "the others call ties"
