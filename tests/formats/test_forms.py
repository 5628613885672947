"""Formats as forms: whatever a person fills in is a reply in the format, or is refused in words."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct
from tests.formats.filled import filled_in

from peerage.formats import (
    Choice,
    Code,
    Color,
    Encoding,
    Format,
    FormatError,
    Integer,
    Json,
    Questions,
    Score,
    Scores,
    Shaped,
    Text,
    WithTool,
    recorded,
    stored,
)
from peerage.formats.forms import WHOLE, FormProblems, fields, for_person, misfit, reply
from peerage.formats.moves import move_format


class Bid(Struct, frozen=True):
    """A sealed bid."""

    amount: Annotated[int, Meta(ge=0, le=100, description="What you offer, in coins.")]
    kind: Literal["open", "closed"]
    sure: bool
    limit: float | None = None
    why: str = ""


class Answers(Struct, frozen=True):
    """Answers that a person types."""

    spelled: int | Annotated[str, Meta(pattern="^[0-9]{1,60}$", examples=["42"])]
    free: int | str


class Pass(Struct, frozen=True, tag="pass"):
    """Nothing."""


class Raise(Struct, frozen=True, tag="raise"):
    """More."""

    by: Annotated[int, Meta(ge=1)]
    all_in: bool = False


class Item(Struct, frozen=True):
    item: int
    name: Annotated[str, Meta(min_length=1, max_length=30)]
    sizes: list[int] = []


class Lot(Struct, frozen=True):
    """One of everything that a struct may hold."""

    parts: list[list[int]]
    names: Annotated[list[str], Meta(max_length=3)]
    items: list[Item]
    move: Pass | Raise
    answer: int | str
    kind: Literal["a", 1, None]
    maybe: Raise | None
    grid: Annotated[
        list[Annotated[list[int], Meta(min_length=2, max_length=2)]], Meta(min_length=2, max_length=2)
    ]
    deep: list[list[list[int]]]
    many: Annotated[list[Annotated[int, Meta(ge=0, le=9)]], Meta(min_length=80, max_length=80)]
    odd: Annotated[list[int | None], Meta(min_length=2, max_length=2)]


FORMATS: tuple[Format, ...] = (
    Choice("verdict", ("A", "B", "tie")),
    Code(),
    Color(),
    Encoding(),
    Integer(),
    Json(Bid),
    Json(Lot),
    Questions(2, categories=("math", "law")),
    Score(explain=True),
    Scores(3),
    Text(60),
    WithTool(Integer()),
)


@pytest.mark.parametrize("expects", FORMATS, ids=lambda one: repr(one)[:24])
@pytest.mark.parametrize("seed", range(5))
def test_what_any_player_may_say_can_be_filled_in(expects: Format, seed: int) -> None:
    text = expects.write(expects.sample(Random(seed)))
    assert expects.parse(reply(expects, filled_in(expects, text))) == expects.parse(text)


@pytest.mark.parametrize("expects", FORMATS, ids=lambda one: repr(one)[:24])
def test_the_form_is_the_same_from_what_is_stored(expects: Format) -> None:
    assert fields(recorded(stored(expects))) == fields(expects)


@pytest.mark.parametrize("expects", FORMATS, ids=lambda one: repr(one)[:24])
def test_hostile_entries_are_refused_in_words(expects: Format) -> None:
    for said in ("", " \n ", "{", "x" * 9_999, "\0\x1b[2J", "1e999", "nan", "99999999999999999999999"):
        values = {field.name: said for field in fields(expects)}
        with suppress(FormatError):  # nothing else is raised
            expects.parse(reply(expects, values))


def test_a_problem_names_its_field() -> None:
    right = {"amount": "7", "kind": "open", "sure": "yes"}
    for name, said, problem in (
        ("amount", "", "amount: nothing is filled in"),
        ("amount", "seven", "amount: 'seven' is not a whole number"),
        ("amount", "101", "from 0 to 100"),
        ("kind", "half", "kind: 'half' is none of open, closed"),
    ):
        with pytest.raises(FormatError, match=problem):
            reply(Json(Bid), {**right, name: said})
    assert Json(Bid).parse(reply(Json(Bid), right)) == Bid(7, "open", True)


def test_a_number_or_a_choice_is_checked_when_it_is_typed() -> None:
    amount, kind, *_ = fields(Json(Bid))
    for field, said, problem in (
        (amount, "101", "amount: '101' is not a whole number from 0 to 100"),
        (amount, "-1", "amount: '-1' is not a whole number from 0 to 100"),
        (amount, "seven", "amount: 'seven' is not a whole number from 0 to 100"),
        (amount, " ", "amount: nothing is filled in"),
        (kind, "half", "kind: 'half' is none of open, closed"),
        (amount, "100", ""),
        (kind, "Open", ""),
    ):
        assert misfit(field, said) == problem
    least = amount._replace(shapes=({"type": "integer", "minimum": 0},))
    assert misfit(least, "-1") == "amount: '-1' is not a whole number of at least 0"
    assert misfit(amount._replace(needed=False), "") == ""


def test_a_sheet_has_a_field_for_each_entry() -> None:
    class Sheet(Struct):
        answers: list[Annotated[str, Meta(max_length=50)]]
        sure: list[bool]

    two = Meta(min_length=2, max_length=2)
    expects = Json(Sheet, answers=two, sure=two)
    form = fields(expects)
    assert [(one.name, one.kind, one.needed) for one in form] == [
        ("answers.1", "line", False),
        ("answers.2", "line", False),
        ("sure.1", "choice", True),
        ("sure.2", "choice", True),
    ]
    said = {"answers.1": "Oslo", "sure.1": "yes", "sure.2": "no"}
    assert expects.parse(reply(expects, said)) == Sheet(["Oslo", ""], [True, False])
    with pytest.raises(FormatError, match="sure 2: nothing is filled in"):
        reply(expects, {**said, "sure.2": ""})


def test_a_text_that_is_too_long_is_refused_not_cut() -> None:
    with pytest.raises(FormatError, match="11 characters; at most 10"):
        reply(Text(10), {WHOLE: "x" * 11})


def test_a_program_needs_no_fence() -> None:
    assert Code().parse(reply(Code(), {WHOLE: "print(1)\r\nprint(2)"})) == "print(1)\nprint(2)"


def test_a_person_with_a_form_is_not_told_to_write_json() -> None:
    expects = Choice("verdict", ("A", "B"))
    assert for_person(expects, f"Which is better?\n{expects.instruction()}") == "Which is better?"
    assert for_person(Text(10), f"Say it. {Text(10).instruction()}") == f"Say it. {Text(10).instruction()}"


def test_of_several_shapes_one_is_filled_in() -> None:
    class Turn(Struct):
        move: Pass | Raise

    expects = Json(Turn)
    first, by, _ = fields(expects)
    assert [field.label for field in fields(expects)] == [
        "move pass type",
        "move raise by",
        "move raise all in",
    ]
    assert expects.parse(reply(expects, {first.name: "pass"})) == Turn(Pass())
    assert expects.parse(reply(expects, {by.name: "3", "move~2.all_in": "yes"})) == Turn(Raise(3, True))
    for typed, wrong in (
        ({}, {first.name: "nothing is filled in"}),
        ({first.name: "pass", by.name: "3"}, {first.name: "fill in one way, and leave the others empty"}),
        ({by.name: "0", "move~2.all_in": "no"}, {by.name: "'0' is not a whole number of at least 1"}),
    ):
        with pytest.raises(FormProblems) as problems:
            reply(expects, typed)
        assert problems.value.fields == wrong


def test_each_problem_is_named_by_its_field() -> None:
    class Order(Struct):
        amounts: Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=2, max_length=2)]
        names: Annotated[list[str], Meta(max_length=1)]
        code: Annotated[str, Meta(pattern="^[a-z]+$", examples=["abc"])]

    typed = {"amounts.1": "0", "amounts.2": "x", "names": "a\nb", "code": "abc"}
    with pytest.raises(FormProblems) as problems:
        reply(Json(Order), typed)
    assert list(problems.value.fields) == ["amounts.1", "amounts.2", "names"]
    right = {"amounts.1": "1", "amounts.2": "2", "names": "a", "code": "ABC"}
    with pytest.raises(FormProblems) as problems:
        reply(recorded(stored(Json(Order))), right)
    assert list(problems.value.fields) == ["code"]


def test_a_schema_of_the_owner_has_a_form_too() -> None:
    schema = {
        "type": "object",
        "$defs": {
            "line": {
                "type": "object",
                "properties": {"sum": {"type": ["number", "null"]}},
                "required": ["sum"],
            }
        },
        "properties": {
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "maxItems": 2},
            "kind": {"const": "invoice"},
            "note": {"type": "string"},
            "tree": {"allOf": [{"type": "object"}]},
            "big": {"type": "integer"},
        },
        "required": ["lines", "kind", "tree"],
    }
    expects = Shaped(json.dumps(schema))
    assert [(field.name, field.kind) for field in fields(expects)] == [
        ("lines.1.sum", "number"),
        ("lines.2.sum", "number"),
        ("note", "text"),
        ("tree", "json"),
        ("big", "number"),
    ]
    typed = {"lines.2.sum": "2.5", "tree": '{"a": 1}'}
    assert json.loads(reply(expects, typed)) == {"lines": [{"sum": 2.5}], "kind": "invoice", "tree": {"a": 1}}
    assert json.loads(reply(expects, typed | {"big": "9" * 30}))["big"] == 10**30 - 1
    for wrong in ({"tree": "[]"}, {"tree": "{"}, {"big": "1.5"}, {"lines.1.sum": "nan"}):
        with pytest.raises(FormatError):
            reply(expects, typed | wrong)
    assert json.loads(
        reply(Shaped('{"type": "array", "items": {"type": "integer"}}'), {"value": "1\n2"})
    ) == [1, 2]
    assert reply(Shaped('{"type": ["integer", "null"]}'), {"value": " "}) == "null"


def test_a_program_is_run_or_an_answer_given() -> None:
    expects = WithTool(Integer())
    assert expects.parse(reply(expects, {"program": "print(1)"})).program == "print(1)"
    assert expects.parse(reply(expects, {"answer": "7"})).answer == 7
    with pytest.raises(FormatError, match="leave one of them empty"):
        reply(expects, {"program": "print(1)", "answer": "7"})
    with pytest.raises(FormatError, match="nothing is filled in"):
        reply(expects, {})
    assert for_person(expects, f"Go.\n{expects.instruction()}") == "Go."


def test_a_move_with_an_amount_is_refused_without_a_word_of_json() -> None:
    moves = move_format("move", ["fold", *[f"raise to {chips}" for chips in range(10, 60)]])
    assert [field.limits for field in fields(moves)] == ["a text of at most 200 characters", ""]
    with pytest.raises(FormProblems) as problem:
        reply(moves, {"move": "raise to 99"})
    why = "'raise to 99' is none of fold, raise to N (N: a whole number from 10 to 59)"
    assert problem.value.fields == {"move": why}
    assert str(problem.value) == f"move: {why}"


def test_a_number_that_a_text_may_spell_is_a_whole_number_to_a_person() -> None:
    answers = Json(Answers)
    assert [field.limits for field in fields(answers)] == ["a whole number", ""]
    with pytest.raises(FormProblems, match=r"^spelled: 'seven' is not a whole number$"):
        reply(answers, {"spelled": "seven", "free": "seven"})
    long = "9" * 40
    assert json.loads(reply(answers, {"spelled": long, "free": "8"})) == {"spelled": long, "free": 8}
