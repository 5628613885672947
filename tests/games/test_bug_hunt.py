"""Bug hunt: what counts as fixed, what as broken, and whose edit is smaller."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from tests.offline import fixture, play, scripted

from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.bug_hunt import GAME as BUG_HUNT
from peerage.games.bug_hunt.play import _repaired, edit_size
from peerage.games.bug_hunt.tasks import BuggyTask, repairs

PLAYERS = [f"p{at}" for at in range(10)]


def made(seats: int, **rules: Any) -> tuple[Fixture, BuggyTask]:
    """A match in a program with three bugs."""
    found = fixture(BUG_HUNT, PLAYERS, {"seats": seats, **rules})
    return found, msgspec.convert(found.drawn, BuggyTask)


def hunt(match: Fixture, programs: Mapping[str, str | Reply]) -> Outcome:
    def answer(ask: Ask, player: str) -> str | Reply:
        said = programs[ask.to]
        return f"```python\n{said}\n```" if isinstance(said, str) else said

    return play(BUG_HUNT, match, scripted(answer)).outcome


def test_more_bugs_fixed_rank_higher_then_the_smaller_edit() -> None:
    match, task = made(5)
    right, one_left, two_left = repairs(task)
    outcome = hunt(
        match,
        {
            "A": two_left,
            "B": right,
            "C": "# repaired\n" + right,
            "D": one_left,
            "E": task.source,
        },
    )
    assert outcome.scores == {"B": 1, "C": 0.75, "D": 0.5, "A": 0.25, "E": 0}
    programs = outcome.detail["programs"]
    assert [programs[label]["fixed"] for label in "BCDAE"] == [3, 3, 2, 1, 0]
    assert programs["C"]["edit"] == programs["B"]["edit"] + 1
    assert programs["E"]["edit"] == 0
    assert set(programs["B"]["tests"]) == {"passed"}


def test_whoever_breaks_something_fixed_nothing_and_the_untouched_program_ties_with_it() -> None:
    match, task = made(4)
    (right, *_) = repairs(task)
    guards = set(range(len(task.tests))).difference(*task.witnesses)
    given = task.tests[min(guards)][0].split("\n")[0]
    breaking = f"import sys, io\nseen = sys.stdin.read()\nif seen == {given!r} + chr(10):\n    print('?')\n"
    breaking += f"else:\n    sys.stdin = io.StringIO(seen)\n    exec({right!r}, globals())\n"
    outcome = hunt(match, {"A": breaking, "B": task.source, "C": "1/0", "D": right})
    assert outcome.scores == {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3, "D": 1}
    broken = outcome.detail["programs"]["A"]
    assert broken["fixed"] == 0
    assert "something broken" in broken["result"]


def test_each_bug_has_a_mark_and_what_was_right_is_kept_or_broken() -> None:
    def marks(*failed: int) -> list[str]:
        verdicts = ["failed" if place in failed else "passed" for place in range(5)]
        return [mark.text for mark in _repaired(task, verdicts)]

    blank, tests = made(2)[1], tuple([(str(at), "") for at in range(5)])
    task = msgspec.structs.replace(blank, tests=tests, witnesses=((0, 1), (2,)), bugs=(("a", 1), ("b", 1)))
    assert marks() == ["✓", "✓", "✓ kept"]
    assert marks(1) == ["✗", "✓", "✓ kept"]
    assert marks(2, 4) == ["✓", "✗", "✗ broken"]
    assert [mark.text for mark in _repaired(task, ())] == ["–"] * 3


def test_refused_and_unusable_replies_come_last_and_a_void_is_unranked() -> None:
    match, task = made(3)
    (right, *_) = repairs(task)
    outcome = hunt(match, {"A": Reply("refused"), "B": right, "C": Reply("ok", "I see no bug.")})
    assert outcome.scores == {"A": 0.25, "B": 1, "C": 0.25}
    assert outcome.detail["programs"]["C"]["result"] == "invalid"
    left = hunt(match, {"A": Reply("void"), "B": right, "C": "1/0"})
    assert left.scores == {"B": 1, "C": 0}
    assert left.detail["unranked"] == ["A"]
    assert hunt(match, {"A": Reply("void"), "B": right, "C": Reply("void")}).void == "no_answer"


def test_prompts_hold_the_buggy_program_alone() -> None:
    match, task = made(2)
    played = play(BUG_HUNT, match, scripted(lambda ask, player: f"```\n{task.source}\n```"))
    (right, *_) = repairs(task)
    for step in played.steps:
        values = [str(value) for message in step.ask.messages for value in message.fill.values()]
        assert task.source.rstrip() in values
        assert right.rstrip() not in values
    for run, _ in played.runs:
        assert run.source == task.source.rstrip("\n")
        assert run.stdin.rstrip("\n") in {given for given, _ in task.tests}


def test_the_untouched_program_fails_each_bugs_witnesses_and_passes_the_guards() -> None:
    for number in range(1, 15):
        match = fixture(BUG_HUNT, PLAYERS, {"seats": 2}, number=number)
        task = msgspec.convert(match.drawn, BuggyTask)
        outcome = hunt(match, {"A": task.source, "B": repairs(task)[0]})
        untouched, repaired = (outcome.detail["programs"][label]["tests"] for label in "AB")
        failed = {place for place, verdict in enumerate(untouched) if verdict != "passed"}
        assert failed == {place for witnesses in task.witnesses for place in witnesses}
        assert set(repaired) == {"passed"}


@pytest.mark.parametrize(
    ("before", "after", "size"),
    [
        ("a\nb\nc\n", "a\nb\nc", 0),
        ("a\nb\nc", "a  \nb\nc\n\n", 0),
        ("a\nb\nc", "a\nx\nc", 2),
        ("a\nb\nc", "a\nc", 1),
        ("a\nb\nc", "a\nb\nb2\nc", 1),
        ("a", "", 2),
    ],
)
def test_an_edit_is_counted_in_lines(before: str, after: str, size: int) -> None:
    assert edit_size(before, after) == size


def test_a_huge_reply_is_compared_in_no_time() -> None:
    assert edit_size("\n".join(f"line {at}\n" for at in range(40)), "x\n\n" * 2_000) > 2_000
