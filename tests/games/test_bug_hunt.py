"""Bug hunt: what counts as fixed, what as broken, and whose edit is smaller."""

from collections.abc import Mapping

import msgspec
import pytest
from tests.offline import fixture, play, scripted

from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.game.same_tasks import tasks_of
from peerage.games.bug_hunt import GAME as BUG_HUNT
from peerage.games.bug_hunt.play import _repaired, edit_size
from peerage.games.bug_hunt.tasks import BuggyTask, family_of

PLAYERS = [f"p{at}" for at in range(10)]


def made(seats: int, number: int = 1) -> tuple[Fixture, BuggyTask]:
    """A match in a program with three bugs, two of which show together."""
    match = fixture(BUG_HUNT, PLAYERS, {"seats": seats, "difficulty": 5, "tasks": 1}, number=number)
    [task] = tasks_of(match.drawn, BuggyTask)
    return match, task


def repaired(task: BuggyTask, *left: int) -> str:
    """The program with all bugs repaired but those `left`."""
    return family_of(task.parts).program(task.parts, [task.bugs[bug] for bug in left])


def hunt(match: Fixture, programs: Mapping[str, str | Reply]) -> Outcome:
    def answer(ask: Ask, player: str) -> str | Reply:
        said = programs[ask.to]
        return f"```python\n{said}\n```" if isinstance(said, str) else said

    return play(BUG_HUNT, match, scripted(answer)).outcome


def test_more_points_rank_higher_then_the_smaller_edit() -> None:
    match, task = made(6)
    [(first, second, _)] = task.joint
    [third] = {0, 1, 2} - {first, second}
    outcome = hunt(
        match,
        {
            "A": repaired(task, first, second),
            "B": repaired(task),
            "C": "# repaired\n" + repaired(task),
            "D": repaired(task, first),
            "E": task.source,
            "F": repaired(task, third),
        },
    )
    programs = {label: own for label, [own] in outcome.detail["programs"].items()}
    assert [programs[label]["points"] for label in "BCFDAE"] == [4, 4, 3, 2, 1, 0]
    assert outcome.scores == {"B": 1, "C": 0.8, "F": 0.6, "D": 0.4, "A": 0.2, "E": 0}
    assert programs["C"]["edit"] == programs["B"]["edit"] + 1
    assert programs["E"]["edit"] == 0
    assert set(programs["B"]["tests"]) == {"passed"}
    [fact] = outcome.facts
    assert fact["levels"] == [5]
    assert sum(credit for [credit] in fact["credits"].values()) == 2


def test_whoever_breaks_something_fixed_nothing_and_the_untouched_program_ties_with_it() -> None:
    match, task = made(4)
    right = repaired(task)
    guards = set(range(len(task.tests))).difference(*task.goals)
    given = task.tests[min(guards)][0]
    breaking = f"import sys, io\nseen = sys.stdin.read()\nif seen == {given!r} + chr(10):\n    print('?')\n"
    breaking += f"else:\n    sys.stdin = io.StringIO(seen)\n    exec({right!r}, globals())\n"
    outcome = hunt(match, {"A": breaking, "B": task.source, "C": "1/0", "D": right})
    assert outcome.scores == {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3, "D": 1}
    [broken] = outcome.detail["programs"]["A"]
    assert broken["points"] == 0
    assert "something broken" in broken["result"]


def test_each_bug_has_a_mark_and_what_was_right_is_kept_or_broken() -> None:
    def marks(*failed: int) -> list[str]:
        verdicts = ["failed" if place in failed else "passed" for place in range(5)]
        return [mark.text for mark in _repaired(task, verdicts, "tests1")]

    blank, tests = made(2)[1], tuple([(str(at), "") for at in range(5)])
    both = ((0, "a", 1), (1, "b", 1))
    task = msgspec.structs.replace(
        blank, tests=tests, witnesses=((0, 1), (2,)), bugs=both, joint=((0, 1, 3),)
    )
    assert marks() == ["✓", "✓", "✓", "✓ kept"]
    assert marks(1) == ["✗", "✓", "✓", "✓ kept"]
    assert marks(2, 3, 4) == ["✓", "✗", "✗", "✗ broken"]
    assert [mark.text for mark in _repaired(task, (), "tests1")] == ["–"] * 4


def test_refused_and_unusable_replies_come_last_and_a_void_is_unranked() -> None:
    match, task = made(3)
    right = repaired(task)
    outcome = hunt(match, {"A": Reply("refused"), "B": right, "C": Reply("ok", "I see no bug.")})
    assert outcome.scores == {"A": 0.25, "B": 1, "C": 0.25}
    assert outcome.detail["programs"]["C"][0]["result"] == "invalid"
    left = hunt(match, {"A": Reply("void"), "B": right, "C": "1/0"})
    assert left.scores == {"B": 1, "C": 0}
    assert left.detail["unranked"] == ["A"]
    assert hunt(match, {"A": Reply("void"), "B": right, "C": Reply("void")}).void == "no_answer"


def test_prompts_hold_the_buggy_program_alone() -> None:
    match, task = made(2)
    played = play(BUG_HUNT, match, scripted(lambda ask, player: f"```\n{task.source}\n```"))
    right = repaired(task)
    for step in played.steps:
        values = [str(value) for message in step.ask.messages for value in message.fill.values()]
        assert task.source.rstrip() in values
        assert right.rstrip() not in values
    for run, _ in played.runs:
        assert run.source == task.source.rstrip("\n")
        assert run.stdin.rstrip("\n") in {given for given, _ in task.tests}


def test_the_untouched_program_fails_each_bugs_witnesses_and_passes_the_guards() -> None:
    for number in range(1, 12):
        match, task = made(2, number)
        outcome = hunt(match, {"A": task.source, "B": repaired(task)})
        untouched, right = (outcome.detail["programs"][label][0]["tests"] for label in "AB")
        failed = {place for place, verdict in enumerate(untouched) if verdict != "passed"}
        assert failed == {place for goal in task.goals for place in goal}
        assert set(right) == {"passed"}


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
