"""Formats as forms: whatever a person fills in is a reply in the format, or is refused in words."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

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
    Text,
    WithTool,
    recorded,
    stored,
)
from peerage.formats.forms import WHOLE, fields, for_person, misfit, reply


class Bid(Struct, frozen=True):
    """A sealed bid."""

    amount: Annotated[int, Meta(ge=0, le=100, description="What you offer, in coins.")]
    kind: Literal["open", "closed"]
    sure: bool
    limit: float | None = None
    why: str = ""


class Lot(Struct, frozen=True):
    """Lists of lists are for no form."""

    parts: list[list[int]]


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


def entries(value: Any, at: str = "") -> dict[str, str]:
    """A JSON value as it stands in a form's fields."""
    if isinstance(value, dict):
        parts = [entries(one, f"{at}.{key}" if at else key) for key, one in value.items()]
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        parts = [entries(one, f"{at}.{place}") for place, one in enumerate(value, 1)]
    elif isinstance(value, list):
        return {at: "\n".join(value)}
    else:
        plain = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
        return {at: "" if plain is None else str(plain)}
    return {key: one for part in parts for key, one in part.items()}


@pytest.mark.parametrize("expects", FORMATS, ids=lambda one: repr(one)[:24])
@pytest.mark.parametrize("seed", range(5))
def test_what_any_player_may_say_can_be_filled_in(expects: Format, seed: int) -> None:
    wanted = expects.sample(Random(seed))
    text = expects.write(wanted)
    whole = fields(expects)[0].name == WHOLE
    values = {WHOLE: text} if whole else entries(json.loads(text))
    assert expects.parse(reply(expects, values)) == expects.parse(text)


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
        (amount, "101", "amount: 101 is not a number from 0 to 100"),
        (amount, "-1", "amount: -1 is not a number from 0 to 100"),
        (amount, "seven", "amount: 'seven' is not a whole number"),
        (amount, " ", "amount: nothing is filled in"),
        (kind, "half", "kind: 'half' is none of open, closed"),
        (amount, "100", ""),
        (kind, "Open", ""),
    ):
        assert misfit(field, said) == problem
    assert misfit(amount._replace(most=None), "-1") == "amount: -1 is not a number from 0"
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
