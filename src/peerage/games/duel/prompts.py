"""Prompts of a duel, by kind of challenge. Templates are data: a change raises the duel's version."""

from __future__ import annotations

from typing import NamedTuple

from peerage.challenges.drafting import Stage
from peerage.game import Prompt, texts
from peerage.game.protocol import MATERIAL
from peerage.judging.panels.panel import QUORUM, PanelRules
from peerage.judging.panels.prompts import COMPARE, Instructions


class DuelKind(NamedTuple):
    """A kind of duel: the stages of its challenge, and the prompts of committee, contestants and judges."""

    stages: tuple[Stage, ...]
    vote: Prompt
    answer: Prompt
    judge: Instructions


_TEXTS = texts(__package__)


def _stage(name: str, stage: Prompt) -> Stage:
    warned = stage.system if MATERIAL in stage.system else f"{stage.system}\n{MATERIAL}"
    alone = Prompt(stage.system, f"{stage.user}{_TEXTS['alone']}")
    return Stage(name, alone, Prompt(warned, f"{stage.user}{_TEXTS['again']}"))


def _clinical() -> DuelKind:
    stages = _stage("case", _TEXTS["case_stage"]), _stage("question", _TEXTS["case_question_stage"])
    asked = f"The case:\n{{case}}\n\n{COMPARE.asked}"
    judge = Instructions(_TEXTS["case_judge"], _TEXTS["clinical"], asked)
    return DuelKind(stages, _TEXTS["case_vote"], _TEXTS["case_answer"], judge)


CHALLENGES = {
    "question": DuelKind(
        (_stage("question", _TEXTS["question_stage"]),), _TEXTS["vote"], _TEXTS["answer"], COMPARE
    ),
    "case": _clinical(),
}


_ORDERS = {
    "both": "in both orders",
    "opposite": "in opposite orders",
    "one": "in one order, drawn at random",
}


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
