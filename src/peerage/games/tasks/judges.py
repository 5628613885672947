"""Judges of tasks: what they are shown, and what their panel comes to. The one place that calls a panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from peerage.games.tasks.rules import TasksRules
from peerage.games.texts import texts
from peerage.judging.panel import panel
from peerage.judging.prompts import COMPARE, referred
from peerage.match import Table
from peerage.protocol import Prompt, Quote, Reply, Steps

_RUBRIC: str = texts(__package__)["rubric"]


class Decided(NamedTuple):
    """A panel's verdict: the first answer's score, None for no result, and what goes on record."""

    score: float | None
    detail: Mapping[str, Any]


def decided(table: Table, answers: Mapping[str, Reply]) -> Steps[Decided | None]:
    """Ask the judges of a match, every vote equal; None where it has none."""
    rules: TasksRules = table.rules
    judges = table.officials.get("judge", ())
    if not judges:
        return None
    verdict = yield from panel(
        judges,
        answers,
        shown(table.drawn),
        rules.panel(),
        comparison(table.drawn),
        table.rng("order") if rules.order == "one" else None,
    )
    ballots = [msgspec.to_builtins(ballot) for ballot in verdict.ballots]
    return Decided(verdict.score, {"ballots": ballots, "share": verdict.share})


def shown(task: Mapping[str, Any]) -> dict[str, str | Quote]:
    """What judges are shown beside the answers: the task, what is expected, the rubric."""
    found: dict[str, str | Quote] = {"question": Quote("question", asked(task))}
    if (expected := expected_text(task.get("expected"))) and not _patterns(task):
        found["reference"] = Quote("reference", expected)
    if rubric := task.get("rubric"):
        found["rubric"] = rubric
    return found


def _patterns(task: Mapping[str, Any]) -> bool:
    """Return whether what is expected is a pattern, which says little to a judge."""
    return any(check["kind"] == "regex" for check in task.get("checks", ()))


def comparison(task: Mapping[str, Any]) -> Prompt:
    """The judges' prompt for a task."""
    given = shown(task)
    prompt = referred(COMPARE) if "reference" in given else COMPARE
    if "rubric" not in given:
        return prompt
    before, compare, after = prompt.user.partition("Compare the two.")
    return Prompt(prompt.system, f"{before}{_RUBRIC}{compare}{after}")


def asked(task: Mapping[str, Any]) -> str:
    """Return a task as a text: the prompt alone, or every turn under its role."""
    turns = task["messages"]
    if len(turns) == 1:
        return str(turns[0][1])
    return "\n\n".join([f"[{role}]\n{text}" for role, text in turns])


def expected_text(expected: Any) -> str:
    """Return what is expected as a text: one of several a line, what is no text as JSON."""
    if expected is None:
        return ""
    if isinstance(expected, list) and all(isinstance(one, str) for one in expected):
        return "\n".join(expected)
    return expected if isinstance(expected, str) else msgspec.json.encode(expected).decode()
