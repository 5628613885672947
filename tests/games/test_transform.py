"""Transform: what is read of a reply, what of it counts, and how a match is scored and shown."""

import time
from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.offline import fixture, play, scripted

from peerage.formats import FormatError
from peerage.game.blocks import Quoted, SeatReply, SourceCode
from peerage.game.match import Fixture, Outcome
from peerage.game.protocol import Ask, Reply
from peerage.games.transform import GAME
from peerage.games.transform.output import Output, canonical, output
from peerage.games.transform.play import differences
from peerage.games.transform.tables import DataTable, Family, TableStep
from peerage.games.transform.tasks import FAMILIES, TransformTask, task_of

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
    match = fixture(GAME, PLAYERS, {"seats": seats, **rules})

    def answer(ask: Ask, player: str) -> str | Reply:
        return replies.get((ask.to, int(ask.key.split("/")[1])), ask.oracle)

    return match, play(GAME, match, scripted(answer)).outcome


def test_exact_outputs_count_and_equals_tie() -> None:
    _, outcome = _outcome(
        4, {("B", 1): "no", ("C", 1): "no", ("C", 2): Reply("refused"), ("D", 2): "```\nno\n```"}
    )
    assert outcome.detail["credits"] == {"A": [1, 1], "B": [0, 1], "C": [0, 0], "D": [1, 0]}
    assert outcome.scores == {"A": 1, "B": 0.5, "D": 0.5, "C": 0}


def test_a_contestant_lost_in_one_task_is_unranked() -> None:
    _, outcome = _outcome(3, {("B", 2): Reply("void"), ("C", 1): "no"})
    assert outcome.scores == {"A": 1, "C": 0}
    assert _outcome(2, {("B", 1): Reply("void")})[1].void == "no_answer"


def test_a_wrong_output_is_shown_by_its_differences() -> None:
    match = fixture(GAME, PLAYERS, {"seats": 3})
    right = match.drawn["tasks"][0]["expected"]
    said = {"A": right, "B": right.replace(right.split("\n")[1], "wrong"), "C": "\x1b[2J"}
    replies = {
        f"task/1/{label}": SeatReply(f"task/1/{label}", label, "contestant", "ok", text, text, "", tuple)
        for label, text in said.items()
    }
    outcome = Outcome(detail={"credits": {"A": [1, 1], "B": [0, 1], "C": [0, 0]}})
    found = {
        block.label: block
        for block in GAME.show(match, outcome, replies)
        if isinstance(block, SourceCode | Quoted)
    }
    assert found["A"].verdict == "exactly right"
    assert found["B"].verdict == "wrong"
    assert isinstance(found["B"], SourceCode)
    assert f"-{right.split(chr(10))[1]}\n+wrong" in found["B"].source
    assert found["C"].verdict == "wrong"


def test_every_family_is_drawn_and_no_task_comes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    used: Counter[str] = Counter()

    def counted(family: Family) -> Family:
        def made(rng: Random, table: DataTable) -> TableStep | None:
            step = family(rng, table)
            used[family.__name__] += step is not None
            return step

        return made

    monkeypatch.setattr("peerage.games.transform.tasks.FAMILIES", tuple(map(counted, FAMILIES)))
    tasks = [one for n in range(1, 201) for one in GAME.draw(GAME.rules(), "secret", n)["tasks"]]
    assert len({one["text"] for one in tasks}) == len({one["expected"] for one in tasks}) == 400
    assert used.keys() == {family.__name__ for family in FAMILIES}
    assert min(used.values()) > 10


def test_a_task_has_as_many_steps_as_asked_for() -> None:
    for steps in (1, 4, 8):
        for seed in range(40):
            made = task_of(Random(f"{steps}/{seed}"), steps)
            assert f"\n{steps}. " in made.text
            assert f"\n{steps + 1}. " not in made.text.partition("Do these steps")[2]
            assert len(made.expected) < 6_000
            assert msgspec.convert(msgspec.to_builtins(made), TransformTask) == made
