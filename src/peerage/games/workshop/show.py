"""A match of a workshop as blocks: who passed what, the issue, each diff, the judges. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from peerage.game import (
    Block,
    CellMark,
    Fixture,
    Heading,
    Outcome,
    Replies,
    SourceCode,
    TaskText,
    Tone,
    player_names,
    result_grid,
    unusable,
)
from peerage.game.programs.run_tests import hidden_tests
from peerage.games.workshop.tasks import WorkTask
from peerage.judging.marks.ballots import ballots_of
from peerage.judging.panels.panel import panel_shown
from peerage.values.figures import counted, dollars, known_sum, seconds

_NO_RESULT = {
    "no_answer": "Providers failed, and fewer than two contestants are left; there is no result.",
    "inconclusive": "Tests did not decide, and too few judges gave a valid vote, so there is no result.",
    "no_command": "The command that runs the hidden tests is not there in the jail, so there is no result.",
}
_WINS = {
    "by tests": "Who passes all hidden tests wins, else who passes more and breaks fewer.",
    "by judges": "Tests do not tell the two apart, so judges read the diffs without names.",
    "tie": "Tests do not tell them apart, so they tie.",
}


def show(fixture: Fixture, outcome: Outcome, replies: Replies) -> Iterator[Block]:
    """The tests that each contestant passed, the issue, the diffs, the judges; the hidden tests."""
    task = msgspec.convert(fixture.drawn["task"], WorkTask)
    works: Mapping[str, Mapping[str, Any]] = outcome.detail.get("work", {})
    edits = any(work["edited"] for work in works.values())
    rows, why = {}, {}
    for label, work in works.items():
        tests: list[bool] = work["tests"]
        whose, passed = "", f"{sum(tests)} of {len(tests)} passed"
        if task.reference is None and tests:  # one command
            whose, passed = "tests ", "passed" if all(tests) else "forged" if "forged" in work else "failed"
        asked = [each for each in replies.values() if (each.role, each.label) == ("contestant", label)]
        cost_nano = known_sum([each.cost_nano for each in asked])
        latency_ms = known_sum([each.latency_ms for each in asked])
        rows[label] = (
            passed if tests else "",
            " ".join(["✓" if each else "✗" for each in tests]),
            len(work["files"]),
            seconds(None if latency_ms is None else latency_ms / 1e3),
            dollars(None if cost_nano is None else cost_nano / 1e9),
            *([_edited(work["edited"])] if edits else []),
        )
        why[label] = f"{whose}{passed}, {counted(len(work['files']), 'file')} changed"
    wins = _WINS.get(outcome.detail.get("decided", ""), "")
    columns = ("Tests", "", ">Files", ">Time", ">Cost", *(["Tests edited"] if edits else []))
    yield from result_grid(outcome, wins, columns, rows, why, _NO_RESULT)
    yield Heading("The issue")
    yield TaskText(task.statement, prose=task.reference is None)
    if works:
        yield Heading("The changes")
    for label, work in works.items():
        solved = bool(work["tests"]) and all(work["tests"])
        verdict = "" if not work["tests"] else "all tests pass" if solved else "tests fail"
        edited = f"{', '.join(work['edited'])} edited: the originals were run" if work["edited"] else ""
        note = "; ".join(filter(None, (edited, work.get("forged"))))
        diff = work["diff"] or "(nothing)"
        key = f"work/{label}/patch"  # of one request, where its contestant has hands
        tone: Tone = "good" if solved else "bad"
        yield SourceCode(diff, label, key if key in replies else "", verdict, tone, note, diff=True)
    yield from panel_shown(
        ballots_of(outcome), replies, player_names(fixture), outcome.detail.get("criteria", {})
    )
    yield from unusable([reply for reply in replies.values() if reply.role == "contestant"])
    if task.reference is not None and works:
        new = dict.fromkeys(task.reference.failing, "what was to be done")
        yield from hidden_tests(task.reference.tests, "tests", new)


def _edited(paths: list[str]) -> CellMark | str:
    return CellMark("edited", "bad", f"{', '.join(paths)}: the originals were run") if paths else ""
