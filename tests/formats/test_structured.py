"""Replies in the form of a struct: one schema tells, reads, bounds and invents them."""

from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
)


class Suit(Enum):
    hearts = "h"
    spades = "s"


class Raise(Struct, frozen=True, tag="raise"):
    by: Annotated[int, Meta(ge=1, le=10, description="By how many coins.")]


class Fold(Struct, frozen=True, tag="fold"):
    pass


class Bid(Struct, frozen=True):
    """Your sealed bid."""

    amount: Annotated[int, Meta(ge=0, le=100, description="What you offer, in coins.")]
    side: Literal["up", "down"]
    suit: Annotated[Suit, Meta(description="The suit you hold")]
    note: Annotated[Annotated[str, Meta(max_length=9)] | None, Meta(description="A word.")]
    move: Raise | Fold
    path: Annotated[tuple[Annotated[float, Meta(gt=0, lt=1)], ...], Meta(min_length=1, max_length=3)]
    code: Annotated[str, Meta(pattern="^[a-z]{3}$", examples=["abc"])]
    dice: Annotated[int, Meta(multiple_of=3)] | Literal["pass"]


BID = Json(Bid)
SAID: dict[str, Any] = {
    "amount": 7, "side": "up", "suit": "h", "note": None, "move": {"type": "raise", "by": 2}, "path": [0.5],
    "code": "abc", "dice": 9,
}  # fmt: skip
MEANT = Bid(7, "up", Suit.hearts, None, Raise(2), (0.5,), "abc", 9)


def test_the_instruction_names_every_field_with_what_it_may_be() -> None:
    assert BID.instruction() == (
        'Reply with one JSON object and nothing else: {"amount": <What you offer, in coins; a whole number '
        'from 0 to 100>, "side": "up" | "down", "suit": <The suit you hold: "h" | "s">, "note": "<A word; a '
        'text of at most 9 characters>" | null, "move": {"type": "raise", "by": <By how many coins; a whole '
        'number from 1 to 10>} | {"type": "fold"}, "path": [<a number above 0 and below 1>, … <1 to 3 '
        'entries>], "code": "<a text matching ^[a-z]{3}$>", "dice": <a whole number a multiple of '
        '3> | "pass"}.'
    )


def test_a_size_without_a_choice_is_one_number() -> None:
    told = Json(Bid, path=Meta(min_length=3)).instruction()
    assert "… <3 entries>]" in told
    with pytest.raises(FormatError, match="a list of 3 entries was expected"):
        Json(Bid, path=Meta(min_length=3)).parse(json.dumps(SAID))


def test_the_schema_is_what_strict_providers_take() -> None:
    def inside(schema: dict[str, Any]) -> None:
        assert not schema.keys() & {"$ref", "$defs", "default", "examples", "title"}
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
        for one in [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]:
            inside(one)
        if "items" in schema:
            inside(schema["items"])

    inside(BID.schema())
    jsonschema.Draft202012Validator.check_schema(BID.schema())
    assert BID.schema()["properties"]["amount"] == {
        "type": "integer", "minimum": 0, "maximum": 100, "description": "What you offer, in coins.",
    }  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(SAID),
        json.dumps(SAID, indent=2),
        f"```json\n{json.dumps(SAID)}\n```",
        f"Here is my bid:\n```json\n{json.dumps(SAID)}\n```\nGood luck to all.",
        f"I offer little.\n{json.dumps(SAID)}",
        f"{json.dumps(SAID)}\nThat is all.",
        json.dumps(SAID | {"amount": 7.0, "dice": 9.0}),
        json.dumps([SAID]),
        json.dumps(SAID | {"Amount": 7}),
        json.dumps(SAID)[:-1] + ', "amount": 7,}',
    ],
)
def test_replies_that_state_one_object_are_read(reply: str) -> None:
    assert BID.parse(reply) == MEANT


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", 'no JSON object found; one with "amount", "side", .* was expected'),
        ("I offer 7.", "no JSON object found"),
        (f"They said {json.dumps(SAID)}, I pass.", "quoted within other text"),
        (f"{json.dumps(SAID)} or {json.dumps(SAID | {'amount': 8})}", "2 different JSON objects"),
        (json.dumps(SAID)[:-1] + ', "amount": 8}', '"amount" occurs more than once'),
        (json.dumps(SAID | {"amount": 150}), '"amount" is 150; a whole number from 0 to 100 was expected'),
        (json.dumps(SAID | {"amount": 7.5}), '"amount" is 7.5; a whole number'),
        (json.dumps(SAID | {"amount": "7"}), '"amount" is "7"; a whole number'),
        (json.dumps(SAID | {"amount": True}), '"amount" is true; a whole number'),
        (json.dumps(SAID | {"side": "left"}), '"side" is "left"; "up" or "down" was expected'),
        (json.dumps(SAID | {"note": "x" * 80}), r"of 82 characters; a text of at most 9 characters or null"),
        (json.dumps(SAID | {"move": {"type": "raise", "by": 0}}), r'"move.by" is 0; a whole number from 1'),
        (json.dumps(SAID | {"path": []}), '"path" is a list of 0; a list of 1 to 3 entries was expected'),
        (json.dumps(SAID | {"path": [0.5, 1]}), r'"path\[1\]" is 1; a number above 0 and below 1'),
        (json.dumps(SAID | {"code": "ABC"}), r'"code" is "ABC"; a text matching'),
        (json.dumps({**SAID, "why": "so"}), '"why" is not a field of this reply'),
        (json.dumps({"amount": 7}), '"side" is missing; "up" or "down" was expected; "suit" is missing'),
        ('{"amount": NaN}', "NaN is no JSON"),
        ('{"amount": 1e999}', "too large"),
        ('{"amount": ' + "9" * 5_000 + "}", "too long"),
        ('{"amount": ' + "[" * 100_000 + "}", "not one JSON object: it is too deep"),
    ],
)  # fmt: skip
def test_a_repair_says_which_field_what_was_found_and_what_was_expected(reply: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        BID.parse(reply)


def test_limits_narrow_a_field_in_words_schema_and_reading() -> None:
    narrow = Json(Bid, amount=Meta(le=5))
    assert "from 0 to 5" in narrow.instruction()
    assert narrow.schema()["properties"]["amount"]["maximum"] == 5
    assert narrow != BID
    assert narrow == Json(Bid, amount=Meta(le=5))
    assert hash(narrow) == hash(Json(Bid, amount=Meta(le=5)))
    with pytest.raises(FormatError, match="from 0 to 5"):
        narrow.parse(json.dumps(SAID))


class Even(Struct, frozen=True):
    number: Annotated[int, Meta(ge=0, le=9)]

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(f"{self.number} is odd; an even number was expected")


def test_a_struct_may_object_itself() -> None:
    with pytest.raises(FormatError, match=r"^3 is odd; an even number was expected$"):
        Json(Even).parse('{"number": 3}')
    assert all(Json(Even).sample(Random(seed)).number % 2 == 0 for seed in range(20))


class Recursive(Struct):
    deeper: Recursive | None


class WithSet(Struct):
    tags: set[str]


class WithClass(Struct):
    kind: type


class WithMapping(Struct):
    prices: dict[str, int]


class WithPair(Struct):
    pair: tuple[int, int]


class Nested(Struct):
    inner: list[WithSet]


class Empty(Struct):
    pass


class Patterned(Struct):
    code: Annotated[str, Meta(pattern="a")]


class WrongExample(Struct):
    code: Annotated[str, Meta(pattern="a", examples=["b"])]


class Misplaced(Struct):
    name: Annotated[str, Meta(ge=1)]


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (Recursive, "Recursive.deeper: Recursive holds itself"),
        (WithSet, "WithSet.tags: set cannot be part of a reply; str, int"),
        (WithClass, "WithClass.kind: type cannot"),
        (WithMapping, "WithMapping.prices: dict cannot"),
        (WithPair, "WithPair.pair: tuple cannot"),
        (Nested, "Nested.inner: WithSet.tags: set cannot"),
        (Empty, "Empty needs fields"),
        (Patterned, "Patterned.code: a pattern needs Meta"),
        (WrongExample, "WrongExample.code: .*matching a was expected"),
        (Misplaced, "Misplaced cannot be the form of a reply: .*ge"),
        (dict, "dict cannot be the form of a reply: a class derived from msgspec.Struct"),
    ],
)
def test_an_unusable_struct_is_refused_with_a_sentence_for_its_author(form: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        Json(form)


# ------------------------------------------------------------------------------ any struct, any reply

_LENGTHS = st.integers(0, 3).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, low + 4)))
_NUMBERS = st.integers(-9, 9).flatmap(lambda low: st.tuples(st.just(low), st.integers(low, low + 9)))
_LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([str, int, float, bool, None]),
    _LENGTHS.map(lambda size: Annotated[str, Meta(min_length=size[0], max_length=size[1])]),
    _NUMBERS.map(lambda range_: Annotated[int, Meta(ge=range_[0], le=range_[1])]),
    _NUMBERS.map(lambda range_: Annotated[int, Meta(gt=range_[0] - 1, lt=range_[1] + 1)]),
    _NUMBERS.map(lambda range_: Annotated[float, Meta(ge=range_[0], lt=range_[1] + 0.5)]),
    st.integers(1, 4).map(lambda step: Annotated[int, Meta(multiple_of=step)]),
    st.sampled_from(
        [Literal["a"], Literal["b", "a"], Literal[1, 2], Literal["x", 3, None], Suit, Raise | Fold]
    ),
)


def _struct(fields: list[Any]) -> Any:
    return msgspec.defstruct("Form", [(f"f{at}", hint) for at, hint in enumerate(fields)], frozen=True)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.tuples(inner, _LENGTHS).map(
        lambda one: Annotated[list[one[0]], Meta(min_length=one[1][0], max_length=one[1][1])]  # type: ignore[name-defined]
    )
    optional = inner.map(lambda hint: hint if hint is None else hint | None)
    return lists | optional | st.lists(inner, min_size=1, max_size=3).map(_struct)


FORMS = st.lists(st.recursive(_LEAVES, _deeper, max_leaves=5), min_size=1, max_size=4).map(_struct)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-12, 12) | st.floats(-12, 12) | st.just(5.0)
    | st.sampled_from(["a", "b", "h", "x", "", "raise", "fold"]) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["f0", "f1", "f2", "type", "by"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(FORMS, st.randoms(use_true_random=False), st.data())
def test_those_objects_are_usable_that_the_schema_accepts(
    form: Any, rng: Random, data: st.DataObject
) -> None:
    kind = Json(form)
    schema = jsonschema.Draft202012Validator(kind.schema())
    value = kind.sample(rng)
    assert kind.parse(kind.write(value)) == value
    said = json.loads(kind.write(value))
    schema.validate(said)
    # a well-formed reply, changed in one place: a field replaced, dropped, or one too many
    change = data.draw(st.dictionaries(st.sampled_from([*said, "f9"]), JSON, max_size=2))
    dropped = data.draw(st.sets(st.sampled_from(sorted(said)), max_size=1))
    said = {name: one for name, one in (said | change).items() if name not in dropped}
    try:
        kind.parse(json.dumps(said))
        usable = True
    except FormatError:
        usable = False
    assert usable == schema.is_valid(said)


@settings(deadline=None, max_examples=60)
@given(
    FORMS,
    st.text(alphabet=st.characters(codec=None)) | st.text(alphabet='{}[]":,0f1e.`\n-') | JSON.map(json.dumps),
)
def test_any_text_is_read_or_refused(form: Any, text: str) -> None:
    try:
        Json(form).parse(text)
    except FormatError as unusable:
        str(unusable).encode()


ALL: list[Format] = [
    Text(), Text(3), Choice("verdict", ("A", "B", "tie")), Color(), Encoding(), Code(), Score(), BID,
    Score(explain=True), Scores(3), Scores(2, explain=True),
    Questions(3, categories=("math", "art")), Questions(1), Integer(), WithTool(Integer()),
]  # fmt: skip


@pytest.mark.parametrize("kind", ALL, ids=repr)
def test_every_format_reads_what_it_writes(kind: Format) -> None:
    for seed in range(30):
        value = kind.sample(Random(seed))
        assert kind.parse(kind.write(value)) == value
        assert value == kind.sample(Random(seed))


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind.schema() is not None], ids=repr)
def test_every_format_writes_what_its_schema_says(kind: Format) -> None:
    schema = jsonschema.Draft202012Validator(kind.schema())
    for seed in range(30):
        schema.validate(json.loads(kind.write(kind.sample(Random(seed)))))


def test_formats_write_what_an_oracle_says_in_short() -> None:
    assert Choice("vote", ("yes", "no")).parse(Choice("vote", ("yes", "no")).write("no")).choice == "no"
    assert Score().parse(Score().write(7)).score == 7
    assert [one.score for one in Scores(2).parse(Scores(2).write([3, 8.5]))] == [3, 8.5]
    assert Questions(1).parse(Questions(1).write(["Why?"]))[0].text == "Why?"
    assert WithTool(Integer()).parse(WithTool(Integer()).write(42)).answer == 42
    assert Json(Even).parse(Json(Even).write({"number": 4})) == Even(4)


def test_the_docs_show_what_a_model_is_told() -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-a-game.md").read_text("utf-8")
    block = next(one for one in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "mood: Literal" in one)
    defined: dict[str, Any] = {"__name__": "auction"}
    exec(compile(block, "auction.py", "exec", dont_inherit=True), defined)
    words = " ".join(page.split())
    assert f"`{defined['BID'].instruction()}`" in words
    with pytest.raises(FormatError) as unusable:
        defined["BID"].parse('{"amount": 150, "mood": "shy", "note": null}')
    assert f"`{unusable.value}`" in words
