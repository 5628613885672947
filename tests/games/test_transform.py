"""Transform: what is read of a reply, what of it counts, and how a match is scored and shown."""

import re
import time
from collections import Counter
from itertools import count
from random import Random
from statistics import mean, median
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import fixture, play, scripted

from peerage.formats import FormatError
from peerage.game.blocks import Quoted, SeatReply, SourceCode
from peerage.game.levels import chance
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.transform import GAME
from peerage.games.transform.output import Output, canonical, output, share_right
from peerage.games.transform.play import differences, house
from peerage.games.transform.tables import DataTable, Family, TableStep
from peerage.games.transform.tasks import FAMILIES, SIZES, TransformTask, task_of

PLAYERS = [f"p{at}" for at in range(10)]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("[1]", "[1]"),
        ("```json\n[1]\n```", "[1]"),
        ("Here it is:\n```\na,b\n1,2\n```\nDone.", "a,b\n1,2"),
        ("```csv\r\na,b\r\n```", "a,b"),
        ("a `b` c", "a `b` c"),
    ],
)
def test_the_output_is_the_only_code_block_or_the_whole(reply: str, found: str) -> None:
    assert output(reply) == found


@pytest.mark.parametrize(
    "given",
    [
        '[{"a":1,"b":"x"},{"a":2,"b":""}]',
        ' [ {"b": "x", "a": 1.0},\n {"a": 2, "b": ""} ]\n',
        '[{"b": "\\u0078", "a": 1e0}, {"a": 2, "b": ""}]',
    ],
)
def test_json_is_compared_by_value(given: str) -> None:
    assert canonical(given, True) == canonical('[{"a": 1, "b": "x"}, {"a": 2, "b": ""}]', True)


@pytest.mark.parametrize(
    "given",
    [
        '[{"a": 2, "b": ""}, {"a": 1, "b": "x"}]',
        '[{"a": "1", "b": "x"}, {"a": 2, "b": ""}]',
        '[{"a": true, "b": "x"}, {"a": 2, "b": ""}]',
        '[{"a": 1, "b": "x "}, {"a": 2, "b": ""}]',
        '[{"a": 1, "b": "x", "c": null}, {"a": 2, "b": ""}]',
        '[{"a": 1.5, "b": "x"}, {"a": 2, "b": ""}]',
    ],
)
def test_other_json_is_not_the_same(given: str) -> None:
    assert canonical(given, True) != canonical('[{"a": 1, "b": "x"}, {"a": 2, "b": ""}]', True)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("```\n \n```", "empty"),
        ("[1]" + " " * 20_000, "20003 characters; at most 20000"),
        ("```\n[1]\n```\n```\n[2]\n```", "2 code blocks"),
        ("```\n[1]", "does not end"),
        ("Sure: [1]", "not JSON"),
        ("[1,]", "not JSON"),
        ("['a']", "not JSON"),
        ("[" * 19_000, "not JSON|too deep"),
        ("1" * 19_000, "not JSON"),
    ],
)
def test_an_unusable_output_says_why(reply: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        Output(json=True).parse(reply)
    if "JSON" not in why:
        with pytest.raises(FormatError, match=why):
            Output(json=False).parse(reply)
    else:
        assert Output(json=False).parse(reply) == reply


def test_of_lines_white_space_at_their_ends_and_empty_lines_around_do_not_count() -> None:
    right = canonical("a: 1\nb:\n\na: 2\nb: x", False)
    assert canonical("\n\na: 1 \r\nb: \n \na: 2\nb: x\n\n", False) == right
    for wrong in (
        " a: 1\nb:\n\na: 2\nb: x",
        "a: 1\nb:\na: 2\nb: x",
        "a: 1\nb:\n\na:  2\nb: x",
        "A: 1\nb:\n\na: 2\nb: x",
    ):
        assert canonical(wrong, False) != right
    assert canonical("", False) == canonical(" \n\n", False) == []


@given(st.text(max_size=300), st.booleans())
def test_reading_is_total(text: str, is_json: bool) -> None:
    form = Output(is_json)
    try:
        value = form.parse(text)
    except FormatError:
        pass
    else:
        assert canonical(output(value), is_json)
    assert form.parse(form.write(form.sample(Random(text))))


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 20_000,
        "[" * 900 + "]" * 900,
        "9" * 20_000,
        "[1e999]",
        "x\n" * 10_000,
        "{" * 10_000,
        '{"a":1,' * 2_000,
        "```\n" * 5_000,
    ],
)
def test_a_hostile_reply_is_read_and_shown_at_once(hostile: str) -> None:
    began = time.process_time()
    for is_json in (True, False):
        try:
            given = canonical(output(Output(is_json).parse(hostile)), is_json)
        except FormatError:
            continue
        expected = [f"line {at}" for at in range(60)]
        assert len(differences(expected, given)) < 100_000
    assert time.process_time() - began < 20


def test_of_a_huge_output_some_lines_are_compared() -> None:
    right, given = [f"right {at}" for at in range(20)], [f"{at} " * 500 for at in range(5_000)]
    found = differences(right, given).split("\n")
    assert found[-1] == "… and 4,850 lines more"
    assert len(found) == 1 + 20 + 150 + 1
    assert max(map(len, found)) == 301


def _outcome(
    seats: int, replies: dict[tuple[str, int], str | Reply], **rules: object
) -> tuple[Fixture, Outcome]:
    """A match in which seats reply so to a task, and rightly to what is not stated."""
    match = fixture(GAME, PLAYERS, {"seats": seats, "tasks": 2, **rules})

    def answer(ask: Ask, player: str) -> str | Reply:
        return replies.get((ask.to, int(ask.key.split("/")[1])), ask.oracle.expected)

    return match, play(GAME, match, scripted(answer)).outcome


def test_exact_outputs_count_and_equals_tie() -> None:
    _, outcome = _outcome(
        4, {("B", 1): "no", ("C", 1): "no", ("C", 2): Reply("refused"), ("D", 2): "```\nno\n```"}
    )
    assert outcome.detail["credits"] == {"A": [1, 1], "B": [0, 1], "C": [0, 0], "D": [1, 0]}
    assert outcome.scores == {"A": 1, "B": 0.5, "D": 0.5, "C": 0}
    assert outcome.facts[0]["credits"]["p1"] == [0, 1]


@pytest.mark.parametrize(
    ("given", "share"),
    [
        (["a 1", "b 2", "c 3", "d 4"], 1),
        (["a 1", "c 3", "d 4"], 0.75),
        (["b 2", "a 1", "c 3", "d 4"], 0.75),
        (["a 1", "x", "b 2", "c 3", "d 4"], 0.8),
        (["d 4", "c 3", "b 2", "a 1"], 0.25),
        (["a 1", "---", "", "b 2"], 0.5),
        (["a 1"] * 10_000, 1 / 10_000),
        ([], 0),
    ],
)
def test_right_lines_count_in_the_right_order(given: list[str], share: float) -> None:
    assert share_right(["a 1", "---", "b 2", "c 3", "d 4"], given) == share


def test_an_output_with_right_lines_counts_less_than_half_a_point() -> None:
    match = fixture(GAME, PLAYERS, {"seats": 2, "tasks": 1, "difficulty": 3}, number=2)
    task = match.drawn["tasks"][0]
    lines = canonical(task["expected"], task["json"])
    wrong = task["expected"].replace(*_one_digit(task["expected"]))
    replies = {"A": task["expected"], "B": wrong}
    outcome = play(GAME, match, scripted(lambda ask, player: replies[ask.to])).outcome
    (right,), (partly,) = outcome.detail["credits"]["A"], outcome.detail["credits"]["B"]
    assert right == 1
    assert partly == round(0.5 * share_right(lines, canonical(wrong, task["json"])), 4)
    assert 0.2 < partly < 0.5


def _one_digit(text: str) -> tuple[str, str]:
    """A number at the end, and one that is greater."""
    number = re.findall(r"\d+", text)[-1]
    at = text.rindex(number)
    return text[at:], text[at:].replace(number, str(int(number) + 1), 1)


@pytest.mark.parametrize("level", range(1, 11))
def test_a_level_is_as_difficult_as_it_says_and_its_output_does_not_collapse(level: int) -> None:
    tasks = [task_of(Random(f"{level}/{seed}"), level) for seed in range(60)]
    assert abs(median([task.difficulty for task in tasks]) - 0.7 * (level - 3)) < 0.4
    rows = [
        len([line for line in task.expected.split("\n") if any(map(str.isalnum, line))]) for task in tasks
    ]
    assert median(rows) >= (4, 4, 5, 5, 6, 8, 10, 14, 18, 24)[level - 1]
    assert max(len(task.text) for task in tasks) < 6_000


def test_a_house_player_is_right_by_its_skill_and_the_difficulty() -> None:
    for level in (3, 7):
        task = task_of(Random(level), level)
        for skill in (0.5, 0.9):
            call: Any = SimpleNamespace(oracle=task)
            right = [house(call, skill, Random(seed)) == task.expected for seed in range(400)]
            assert abs(mean(right) - chance(skill, task.difficulty)) < 0.06


def test_a_contestant_lost_in_one_task_is_unranked() -> None:
    _, outcome = _outcome(3, {("B", 2): Reply("void"), ("C", 1): "no"})
    assert outcome.scores == {"A": 1, "C": 0}
    assert _outcome(2, {("B", 1): Reply("void")})[1].void == "no_answer"


def test_a_wrong_output_is_shown_by_its_differences() -> None:
    rules = {"seats": 3, "tasks": 2}
    matches = (fixture(GAME, PLAYERS, rules, number=number) for number in count(1))
    match = next(made for made in matches if not made.drawn["tasks"][0]["json"])
    right = match.drawn["tasks"][0]["expected"]
    said = {"A": right, "B": right.replace(right.split("\n")[1], "wrong"), "C": "\x1b[2J"}
    replies = {
        f"task/1/{label}": SeatReply(f"task/1/{label}", label, "contestant", "ok", text, text, "", tuple)
        for label, text in said.items()
    }
    outcome = Outcome(detail={"credits": {"A": [1, 1], "B": [0.25, 1], "C": [0, 0]}})
    found = {
        block.label: block
        for block in GAME.show(match, outcome, replies)
        if isinstance(block, SourceCode | Quoted)
    }
    assert found["A"].verdict == "exactly right"
    assert found["B"].verdict == "wrong, 0.25 points"
    assert isinstance(found["B"], SourceCode)
    assert f"-{right.split(chr(10))[1]}\n+wrong" in found["B"].source
    assert found["C"].verdict == "wrong, 0.00 points"


def test_a_difference_far_into_a_long_line_is_shown() -> None:
    right = f'"id": {list(range(100, 300))}'
    found = differences([right], [right.replace("299", "300")])
    assert "-292, 293, 294, 295, 296, 297, 298, 299]\n+292, 293, 294, 295, 296, 297, 298, 300]" in found


def test_every_family_is_drawn_and_no_task_comes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    used: Counter[str] = Counter()

    def counted(family: Family) -> Family:
        def made(rng: Random, table: DataTable) -> TableStep | None:
            step = family(rng, table)
            used[family.__name__] += step is not None
            return step

        return made

    monkeypatch.setattr("peerage.games.transform.tasks.FAMILIES", tuple(map(counted, FAMILIES)))
    rules = GAME.rules(difficulty=4)
    tasks = [one for n in range(1, 101) for one in GAME.draw(rules, "secret", n)["tasks"]]
    assert len({one["text"] for one in tasks}) == len({one["expected"] for one in tasks}) == 400
    assert used.keys() == {family.__name__ for family in FAMILIES}
    assert min(used.values()) > 10


def test_a_task_has_as_many_steps_as_asked_for() -> None:
    for level in (1, 4, 10):
        steps = SIZES[level - 1][1]
        for seed in range(40):
            made = task_of(Random(f"{steps}/{seed}"), level)
            assert f"\n{steps}. " in made.text
            assert f"\n{steps + 1}. " not in made.text.partition("Do these steps")[2]
            assert len(made.expected) < 12_000
            assert msgspec.convert(msgspec.to_builtins(made), TransformTask) == made
