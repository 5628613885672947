"""A match of one's own task as blocks: the task, what is expected, each answer with its check, the judges."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from peerage.game import (
    Block,
    Fixture,
    Heading,
    Outcome,
    Replies,
    Sentence,
    TaskText,
    Tone,
    ending,
    player_names,
    quoted,
)
from peerage.games.tasks.judges import expected_text, seen_in
from peerage.games.tasks.task import wanted
from peerage.judging.checks.credit import Check
from peerage.judging.marks.ballots import ballots_of, controls_of
from peerage.judging.panels.panel import panel_shown
from peerage.values.figures import counted

_NO_RESULT = {
    "no_answer": "The provider of a contestant failed, so there is no result.",
    "check_failed": "The program that checks answers failed, so there is no result; see its run.",
    "inconclusive": "Too few judges gave a valid vote, so there is no result.",
}
_NAMES = {"system": "system text", "user": "prompt", "assistant": "the model, before"}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The task, the answers with what the check made of them, the judges, the result."""
    task, detail = fixture.drawn, outcome.detail
    if "messages" in task:
        category = f" ({task['category']})" if task.get("category") else ""
        yield Heading(f"Task {task['task']}{category}")
        for role, text in task["messages"]:
            yield TaskText(text, _NAMES[role], prose=True)
    if "messages" in task and (outcome.scores or outcome.void):  # a person may be at the task, and look
        if expected := expected_text(task.get("expected")):
            yield TaskText(expected, "expected")
        if task.get("checks"):
            yield Sentence(
                f"Check: {wanted([msgspec.convert(check, Check) for check in task['checks']])}.", "quiet"
            )
        if task.get("rubric"):
            yield TaskText(task["rubric"], "rubric")
    credits, notes = detail.get("checks", {}), detail.get("check_notes", {})
    given = [replies[key] for seat in fixture.seats if (key := f"answer/{seat.label}") in replies]
    notes = {
        **{
            label: "does not fit answer_schema" for label, fits in detail.get("valid", {}).items() if not fits
        },
        **notes,
    }
    if given:
        yield Heading("The answers")
    for reply in given:
        credit = credits.get(reply.label)
        note = notes.get(reply.label, "") if reply.status == "ok" else ""
        yield quoted(reply, *_checked(credit), note, prose=True)
    ballots = ballots_of(outcome)
    yield from panel_shown(ballots, replies, player_names(fixture), detail.get("criteria", {}))
    if (ballots or detail.get("control")) and "messages" in task and (seen := seen_in(task)):
        number = counted(len(seen), "picture or sound", "pictures or sounds")
        yield Sentence(f"Judges were shown {number}. Nobody looks for words to them in there.", "quiet")
    if detail.get("control"):
        yield Sentence(
            "The check decided. Judges saw the answers too, as a control: their votes do not count."
        )
        yield from panel_shown(controls_of(outcome), replies, player_names(fixture))
    if outcome.void:
        yield from ending(fixture, outcome, "", {}, _NO_RESULT)


def _checked(credit: float | None) -> tuple[str, Tone]:
    if credit is None:
        return "", ""
    if credit in (0.0, 1.0):
        return ("right", "good") if credit else ("wrong", "bad")
    return f"{credit:.0%} right", ""
