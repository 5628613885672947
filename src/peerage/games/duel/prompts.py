"""Prompts of a duel, by kind of challenge. Templates are data: a change raises the duel's version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from peerage.challenges.drafting import Stage
from peerage.game import Prompt, texts
from peerage.game.protocol import MATERIAL
from peerage.games.duel.rules import DuelRules
from peerage.judging.panels.panel import QUORUM, PanelRules
from peerage.judging.panels.prompts import COMPARE, Instructions


class DuelKind(NamedTuple):
    """A kind of duel: the stages of its challenge, and the prompts of committee, contestants and judges."""

    stages: tuple[Stage, ...]
    vote: Prompt
    answer: Prompt
    judge: Instructions


def kind_of(rules: DuelRules) -> DuelKind:
    """Return the kind of duel that rules state, in their words."""
    own = texts(__package__, rules.texts)
    stage = partial(_stage, own)
    if rules.challenge == "question":
        return DuelKind((stage("question"),), own["vote"], own["answer"], COMPARE)
    asked = f"The case:\n{{case}}\n\n{COMPARE.asked}"
    judge = Instructions(own["case_judge"], own["clinical"], asked)
    stages = stage("case"), stage("question", "case_question_stage")
    return DuelKind(stages, own["case_vote"], own["case_answer"], judge)


def _stage(own: Mapping[str, Any], name: str, prompt: str = "") -> Stage:
    first: Prompt = own[prompt or f"{name}_stage"]
    warned = first.system if MATERIAL in first.system else f"{first.system}\n{MATERIAL}"
    alone = Prompt(first.system, f"{first.user}{own['alone']}")
    return Stage(name, alone, Prompt(warned, f"{first.user}{own['again']}"))


_ORDERS = {"both": "in both orders", "opposite": "in opposite orders", "one": "in one order, drawn at random"}


def judging(comparison: Instructions, panel: PanelRules) -> str:
    """Return what contestants read about the judging."""
    orders = _ORDERS[panel.order]
    softmax = f"the higher a judge's rating, the more its vote weighs (softmax, {panel.weight_temperature:g}"
    weights = {
        "softmax": f"{softmax} points)",
        "proportional": "a vote weighs in proportion to its judge's rating",
        "equal": "every vote weighs the same",
    }
    counts = (
        f"What counts, in this order: {comparison.merits}; complete where it matters; clear. Length and "
        "style are no merit."
    )
    if panel.rubric or panel.criteria or panel.prompt:
        counts = "What counts is set by the arena's owner."
    return (
        f"Judges, who see no names, read both answers {orders} and say which is better. "
        f"{counts} They may {'not ' if panel.binary else ''}call a "
        f"tie. In the count {weights[panel.weights]}; within {panel.epsilon:.0%} of one half of the weight "
        f"it is a tie, and with fewer than {QUORUM:.0%} of the verdicts valid there is no result. An "
        "answer that is empty or refuses loses to one that does not, without judges; two such answers tie."
    )
