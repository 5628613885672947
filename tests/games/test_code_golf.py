"""Code golf: what wins, what ties, what comes last."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.offline import fixture, play, scripted

from peerage.game.match import Outcome, by_rank
from peerage.game.protocol import Ask, Reply
from peerage.game.same_tasks import tasks_of
from peerage.games.code_golf import GAME as CODE_GOLF
from peerage.games.code_golf.house import ladder
from peerage.games.code_golf.tasks import GolfTask

PLAYERS = [f"p{at}" for at in range(10)]
ONE_TASK = {"tasks": 1, "difficulty": 4}


def block(program: str) -> str:
    return f"```python\n{program}\n```"


def golf(programs: Mapping[str, str | Reply], number: int = 1, **rules: Any) -> Outcome:
    made = fixture(CODE_GOLF, PLAYERS, {**ONE_TASK, "seats": len(programs), **rules}, number=number)

    def answer(ask: Ask, player: str) -> str | Reply:
        return programs[ask.to]

    return play(CODE_GOLF, made, scripted(answer)).outcome


def right(number: int = 1) -> tuple[str, str]:
    made = fixture(CODE_GOLF, PLAYERS, ONE_TASK, number=number)
    [task] = tasks_of(made.drawn, GolfTask)
    plain, *_, short = ladder(task.plan)
    return short, plain


def test_the_shortest_right_program_wins_and_wrong_ones_come_last() -> None:
    short, plain = right()
    outcome = golf({"A": block(plain), "B": block("print('?')"), "C": block(short), "D": block("1/0")})
    assert outcome.scores == {"C": 1, "A": 2 / 3, "B": 1 / 6, "D": 1 / 6}
    programs = outcome.detail["programs"]
    assert programs["C"] == [{"bytes": len(short), "tests": ["passed"] * 6, "result": "correct", "points": 1}]
    assert programs["A"][0]["points"] == round(len(short) / len(plain), 3)
    assert programs["B"][0]["result"] == "incorrect"
    assert programs["D"][0]["tests"] == ["error"] * 6
    assert outcome.facts == (
        {"fact": "tasks", "levels": [4], "credits": {"p0": [1.0], "p1": [0.0], "p2": [1.0], "p3": [0.0]}},
    )


def test_points_of_all_tasks_add_up_and_tests_passed_decide_among_equals() -> None:
    made = fixture(CODE_GOLF, PLAYERS, {"tasks": 2, "difficulty": 4, "seats": 4})
    tasks = tasks_of(made.drawn, GolfTask)
    short = [ladder(task.plan)[-1] for task in tasks]
    one_right = f"print({tasks[0].tests[0][1]!r})"

    def answer(ask: Ask, player: str) -> str:
        at = int(ask.key.split("/")[1]) - 1
        wrong = {"C": one_right, "D": "print()"}.get(ask.to, "print()")
        return block(short[at] if ask.to == "A" or (ask.to == "B" and at == 1) else wrong)

    outcome = play(CODE_GOLF, made, scripted(answer)).outcome
    assert outcome.scores == {"A": 1, "B": 2 / 3, "C": 1 / 3, "D": 0}


def test_equal_lengths_tie_and_bytes_count_not_characters() -> None:
    short, _ = right()
    assert golf({"A": block(short), "B": block(short)}).scores == {"A": 0.5, "B": 0.5}
    assert golf({"A": block(f"{short}#é"), "B": block(f"{short}#ee")}).scores == {"A": 0.5, "B": 0.5}
    assert golf({"A": block(f"{short}#é"), "B": block(f"{short}#e")}).scores == {"A": 0, "B": 1}


@pytest.mark.parametrize(
    "reply", ["I cannot.", "```\n```", "```python\nprint(1)", f"{block('a')}\n{block('b')}"]
)
def test_a_reply_without_one_program_comes_last_with_the_wrong_ones(reply: str) -> None:
    _, plain = right()
    outcome = golf({"A": reply, "B": block(plain), "C": block("print()")})
    assert outcome.scores == {"A": 0.25, "B": 1, "C": 0.25}
    unusable = {"bytes": None, "tests": [], "result": "invalid", "points": 0}
    assert outcome.detail["programs"]["A"] == [unusable]


def test_a_refusal_ranks_last_and_a_void_leaves_too_few() -> None:
    short, _ = right()
    assert golf({"A": Reply("refused"), "B": block(short)}).scores == {"A": 0, "B": 1}
    assert golf({"A": Reply("void"), "B": block(short)}).void == "no_answer"


def test_a_match_goes_on_without_whoever_cannot_be_reached() -> None:
    short, plain = right()
    left = golf({"A": block(plain), "B": Reply("void"), "C": block(short)})
    assert left.scores == {"A": 0, "C": 1}
    assert left.detail["unranked"] == ["B"]
    assert set(left.detail["programs"]) == {"A", "C"}
    alone = golf({"A": block(plain), "B": Reply("void"), "C": Reply("void")})
    assert alone.void == "no_answer"


def test_a_program_right_on_the_examples_alone_is_incorrect() -> None:
    made = fixture(CODE_GOLF, PLAYERS, ONE_TASK)
    [task] = tasks_of(made.drawn, GolfTask)
    table = dict(task.examples)
    outcome = golf({"A": block(f"print({table!r}.get(input()))"), "B": block(right()[1])})
    assert outcome.scores == {"A": 0, "B": 1}


def test_no_prompt_and_no_run_holds_what_is_expected() -> None:
    made = fixture(CODE_GOLF, PLAYERS, {"seats": 3, "difficulty": 7})
    tasks = tasks_of(made.drawn, GolfTask)
    played = play(CODE_GOLF, made, scripted(lambda ask, player: block("print(input())")))
    tests = [test for task in tasks for test in task.tests]
    assert len(played.runs) == 3 * len(tests)
    for step in played.steps:
        fill = [str(value) for message in step.ask.messages for value in message.fill.values()]
        own = tasks[int(step.ask.key.split("/")[1]) - 1]
        assert own.statement in fill
        for given, wanted in tests:
            assert len(given) < 5 or given not in "".join(fill)
            assert len(wanted) < 5 or wanted not in "".join(fill)
    for run, _ in played.runs:
        own_answers = [wanted for given, wanted in tests if f"{given}\n" == run.stdin]
        assert own_answers
        assert not any(wanted in run.source + run.stdin for wanted in own_answers if len(wanted) > 4)
    assert {run.stdin for run, _ in played.runs} == {given + "\n" for given, _ in tests}


def test_ranks_become_scores() -> None:
    assert by_rank({"A": 3, "B": 1, "C": 2}) == {"A": 1, "B": 0, "C": 0.5}
    assert by_rank({"A": 1, "B": 1, "C": 1}) == {"A": 0.5, "B": 0.5, "C": 0.5}
    assert by_rank({"A": 2, "B": 2, "C": 1}) == {"A": 0.75, "B": 0.75, "C": 0}
