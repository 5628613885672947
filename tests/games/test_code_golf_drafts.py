"""Tasks that players write: what is proven, what does not stand, who is next, and who learns what."""

import json
from random import Random
from typing import Any

import pytest
from tests.offline import Played, call, check, fixture, house, play, scripted

from peerage.formats import FormatError
from peerage.games.code_golf import GAME as CODE_GOLF
from peerage.games.code_golf.drafts import TASK, Drafted, offers
from peerage.protocol import Ask, Reply

PLAYERS = ["ada", "bo", "cy", "di"]
SQUARE = "Read a line: a whole number. Print its square."


def draft(
    statement: str = SQUARE,
    generator: str = "print(int(input()) % 97)",
    solution: str = "print(int(input()) ** 2)",
) -> str:
    return json.dumps({"statement": statement, "generator": generator, "solution": solution})


def block(program: str) -> str:
    return f"```python\n{program}\n```"


def golf(first: str | Reply, second: str | Reply = " ", program: str = "print(int(input())**2)") -> Played:
    """Seat A answers with `program`, seat B with a longer one; two authors write."""
    made = fixture(CODE_GOLF, PLAYERS, {"tasks": "players", "seats": 2, "tests": 3})

    def answer(ask: Ask, player: str) -> str | Reply:
        if ask.role == "author":
            return first if ask.key.startswith("task/1") else second
        return block(program if ask.to == "A" else program + "#")

    played = play(CODE_GOLF, made, scripted(answer))
    check(CODE_GOLF, played)
    return played


def statuses(played: Played) -> list[str]:
    return [draft["status"] for draft in played.outcome.detail["drafts"]]


def test_a_task_that_its_own_solution_proves_is_played() -> None:
    played = golf(draft())
    assert played.outcome.scores == {"A": 1, "B": 0}
    (only,) = played.outcome.detail["drafts"]
    assert played.outcome.detail["task"] == SQUARE
    assert (only["status"], only["accepted"], only["authors"]) == ("ok", True, {"task": "author/1"})
    steps = {run.key.rpartition("/")[0] for run, _ in played.runs}
    assert steps == {"task/1/input", "task/1/output", "A/test", "B/test"}
    assert len([run for run, _ in played.runs if run.key.startswith("task/1/input")]) == 10
    authors = {seat.player for seat in played.fixture.officials["author"]}
    assert authors.isdisjoint(seat.player for seat in played.fixture.seats)


def test_players_see_the_task_fenced_and_no_hidden_test() -> None:
    played = golf(draft(generator="print('in' + str(int(input()) % 9973))", solution="print('out', input())"))
    asked = played.step("program/A").ask
    shown = call(asked, played.fixture.seed).messages[-1][1]
    assert "<<<task " in shown
    assert SQUARE in shown
    made = [run.stdin for run, _ in played.runs if run.key.startswith("task/1/output")]
    example, _, *hidden = [stdin.strip() for stdin in made]
    assert f"Input:\n{example}\nOutput:\nout {example}" in shown
    assert not any(given in shown for given in hidden)
    tried = [run.stdin.strip() for run, _ in played.runs if run.key.startswith("A/test")]
    assert tried == hidden


def test_the_author_does_not_know_which_inputs_its_generator_will_make() -> None:
    seeds = {
        tuple(run.stdin for run, _ in golf(draft()).runs if run.key.startswith("task/1/input"))
        for _ in range(2)
    }
    assert len(seeds) == 1, "the same in every replay"
    asked = golf(draft()).step("task/1").ask
    text = "".join(said for _, said in call(asked).messages)
    assert not any(seed.strip() in text for seed in next(iter(seeds)))


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        (draft(generator="1/0"), "the generator ended with error"),
        (draft(generator="input()"), "the generator printed nothing"),
        (draft(generator="print('x' * 1001)"), "the generator printed 1001 characters; at most 1000"),
        (draft(generator="print(int(input()) % 2)"), "the generator made only 2 different inputs"),
        (draft(solution="print(int(input()) / 0)"), "the solution ended with error"),
        (draft(solution="print()"), "the solution answers every hidden test alike"),
        (draft(solution="print('é' * 3000)"), "the solution printed 3000 characters; at most 2000"),
        (draft(solution="print(7)"), "the solution answers every hidden test alike"),
        ("no task comes to my mind", "invalid"),
        (Reply("refused", "I would rather not."), "refused"),
        (Reply("void"), "void"),
    ],
)
def test_a_draft_that_does_not_stand_gives_the_turn_to_the_next_author(bad: str | Reply, status: str) -> None:
    played = golf(bad, draft())
    first, second = played.outcome.detail["drafts"]
    assert status in first["status"]
    assert (first["accepted"], second["accepted"]) == (False, True)
    assert second["authors"] == {"task": "author/2"}
    assert played.outcome.scores == {"A": 1, "B": 0}

    played = golf(bad, bad)
    assert played.outcome.void == "no_challenge"
    assert len(played.outcome.detail["drafts"]) == 2
    assert not any(step.ask.role == "contestant" for step in played.steps)


def test_a_program_that_never_ends_is_run_once() -> None:
    played = golf(draft(generator="1/0"), draft(solution="1/0"))
    assert [run.key for run, _ in played.runs if run.key.startswith("task/1")] == ["task/1/input/1"]
    assert [run.key for run, _ in played.runs if "task/2/output" in run.key] == ["task/2/output/1"]


def test_a_task_that_nobody_solves_counts_for_nothing() -> None:
    played = golf(draft(), program="print('?')")
    assert played.outcome.void == "unsolved"
    assert [one["result"] for one in played.outcome.detail["programs"].values()] == ["incorrect"] * 2


def test_a_contestant_that_never_answers_voids_as_ever() -> None:
    made = fixture(CODE_GOLF, PLAYERS, {"tasks": "players", "seats": 2})

    def answer(ask: Ask, player: str) -> str | Reply:
        return draft() if ask.role == "author" else Reply("void")

    assert play(CODE_GOLF, made, scripted(answer)).outcome.void == "no_answer"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no JSON object found"),
        ('{"statement": "x", "generator": "y"}', '"solution" is missing'),
        (draft(statement="  \n "), '"statement" is empty'),
        (draft(statement="a\u202eb"), "cannot be seen"),
        (draft(statement="é" * 2001), "of at most 2000 characters"),
        (draft(solution="x" * 4001), "of at most 4000 characters"),
        (json.dumps({"statement": ["x"], "generator": "y", "solution": "z"}), '"statement" is a list of 1'),
        (f"{draft()}\n{draft(solution='2')}", "2 different JSON objects"),
        (f"```json\n{draft()}\n```\n```json\n{draft(solution='1')}\n```", "2 different JSON objects"),
    ],
)
def test_replies_that_are_no_task(reply: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        TASK.parse(reply)


def test_a_task_reads_back_from_a_fence_and_without() -> None:
    expected = Drafted(SQUARE, "print(int(input()) % 97)", "print(int(input()) ** 2)")
    assert TASK.parse(draft()) == expected
    assert TASK.parse(f"Here it is.\n```json\n{draft()}\n```") == expected
    schema: Any = TASK.schema()
    assert sorted(schema["required"]) == ["generator", "solution", "statement"]


@pytest.mark.parametrize("seed", range(8))
def test_what_house_authors_write_stands(seed: int) -> None:
    offer = next(offers(Random(seed), 2, 30))
    text = json.dumps(
        {
            "statement": offer.draft.statement,
            "generator": offer.draft.generator,
            "solution": offer.draft.solution,
        }
    )
    played = golf(text, program=offer.programs[0])
    assert statuses(played) == ["ok"]
    assert played.outcome.scores == {"A": 1, "B": 0}


def test_house_players_write_and_solve_tasks_and_poor_authors_fail() -> None:
    models = {"ada": "house:0.9", "bo": "house:0.6", "cy": "house:0.05", "di": "house:0.9"}
    ended = set()
    for number in range(1, 9):
        made = fixture(CODE_GOLF, PLAYERS, {"tasks": "players", "seats": 2}, number=number, seed=f"{number}")
        played = play(CODE_GOLF, made, house(models, str(number)))
        check(CODE_GOLF, played)
        ended.update(statuses(played))
        assert played.outcome.scores["A"] >= played.outcome.scores["B"] or played.outcome.void
    assert "ok" in ended
    assert any(status.startswith("the solution") for status in ended)
