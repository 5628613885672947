"""Every number in every setting keeps to the bounds that its schema, and so docs/settings.md, states."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from docs.generate import bounds
from pydantic import BaseModel, ValidationError

import peerage
from peerage.games import GAMES
from peerage.games.rejudge import RejudgeRules
from peerage.settings import ArenaSettings
from peerage.settings.mistakes import models_in


class Number(NamedTuple):
    """A place in a model where a number stands: `wrap` puts a value there."""

    model: type[BaseModel]
    field: str
    about: Mapping[str, Any]
    wrap: Callable[[object], object]

    @property
    def name(self) -> str:
        return f"{self.model.__name__}.{self.field}"


def models(top: type[BaseModel], known: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """`top` and every model that it holds, at any depth."""
    if top.__qualname__ + top.__module__ not in known:
        known[top.__qualname__ + top.__module__] = top
        for field in top.model_fields.values():
            for inner in models_in(field.annotation):
                models(inner, known)
    return known


def numbers_in(about: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Callable[[object], object]]]:
    """The schemas of numbers within the schema of one field, each with what puts a value there."""
    for part in about.get("anyOf", ()):
        yield from numbers_in(part)
    if about.get("type") in ("integer", "number"):
        yield about, lambda value: value
    if about.get("type") == "array":
        first = about.get("prefixItems", [])
        for inner, wrap in numbers_in(about["items"]) if "items" in about else ():
            yield inner, lambda value, wrap=wrap: [wrap(value)]  # type: ignore[misc]
        for at, item in enumerate(first):
            for inner, wrap in numbers_in(item):
                yield (
                    inner,
                    lambda value, wrap=wrap, at=at: [  # type: ignore[misc]
                        wrap(value) if at == place else None for place in range(len(first))
                    ],
                )
    if isinstance(about.get("additionalProperties"), dict):
        for inner, wrap in numbers_in(about["additionalProperties"]):
            yield inner, lambda value, wrap=wrap: {"key": wrap(value)}  # type: ignore[misc]


def every_number() -> list[Number]:
    known: dict[str, type[BaseModel]] = {}
    models(ArenaSettings, known)
    for rules in [game.rules for game in GAMES.values()] + [RejudgeRules]:
        models(rules, known)
    return [
        Number(model, field, inner, wrap)
        for model in known.values()
        for field, about in model.model_json_schema()["properties"].items()
        for inner, wrap in numbers_in(about)
    ]


NUMBERS = every_number()


def wrong(number: Number, value: object) -> bool:
    """Whether the model refuses `value` at this very place."""
    try:
        number.model.model_validate({number.field: number.wrap(value)})
    except ValidationError as error:
        return any(one["loc"][:1] == (number.field,) for one in error.errors())
    return False


def outside(about: Mapping[str, Any]) -> Iterator[float]:
    """The nearest values beyond each stated bound."""
    whole = about["type"] == "integer"
    if (low := about.get("minimum")) is not None:
        yield low - 1 if whole else math.nextafter(low, -math.inf)
    if (high := about.get("maximum")) is not None:
        yield high + 1 if whole else math.nextafter(high, math.inf)
    yield from [about[key] for key in ("exclusiveMinimum", "exclusiveMaximum") if key in about]


def inside(about: Mapping[str, Any]) -> Iterator[float]:
    """The last values that each stated bound allows."""
    whole = about["type"] == "integer"
    yield from [about[key] for key in ("minimum", "maximum") if key in about]
    if (low := about.get("exclusiveMinimum")) is not None:
        yield low + 1 if whole else math.nextafter(low, math.inf)
    if (high := about.get("exclusiveMaximum")) is not None:
        yield high - 1 if whole else math.nextafter(high, -math.inf)


def test_the_walk_reaches_numbers_at_every_depth() -> None:
    names = {number.name for number in NUMBERS}
    assert {
        "HostSettings.longest",
        "HostSettings.resources",
        "Rating.k_factor",
        "ColorLimits.max_tokens",
    } <= names
    assert {"LastArenaRules.answer_budgets", "PlayerSettings.version", "CostUnit.kwh"} <= names
    assert len(NUMBERS) > 120


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_number_keeps_to_its_stated_bounds(number: Number) -> None:
    low = {"minimum", "exclusiveMinimum"} & number.about.keys()
    high = {"maximum", "exclusiveMaximum"} & number.about.keys()
    assert low, f"{number.name} states no lower bound"
    assert high, f"{number.name} states no upper bound"
    for value in outside(number.about):
        assert wrong(number, value), f"{number.name} takes {value!r}, outside {bounds(number.about)}"
    for value in inside(number.about):
        assert not wrong(number, value), f"{number.name} refuses {value!r}, within {bounds(number.about)}"


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_what_is_no_number_is_refused(number: Number) -> None:
    for value in (
        math.nan,
        math.inf,
        -math.inf,
        "nan",
        "inf",
        True,
        False,
        "many",
        "",
        "0x10",
        "010",
        [],
        {},
        10**400,
    ):
        if value in ([], {}) and number.wrap(0) != 0:
            continue
        assert wrong(number, value), f"{number.name} takes {value!r}"


def test_bounds_are_written_in_full() -> None:
    assert (
        bounds({"type": "integer", "minimum": 67_108_864, "maximum": 2**30})
        == " from 67,108,864 to 1,073,741,824"
    )
    assert bounds({"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}) == " above 0 to 1,000,000,000"
    assert bounds({"type": "number", "minimum": 0.001, "exclusiveMaximum": 0.5}) == " from 0.001 below 0.5"


def test_no_field_states_a_bound_beside_those_of_its_type() -> None:
    """The type's would win, in the schema too, so the stated one would hold nowhere."""
    sources = [file.read_text("utf-8") for file in Path(peerage.__file__).parent.rglob("*.py")]
    named = re.compile(r"^(\w+) = Annotated\[", re.MULTILINE)
    bounded = {name for source in sources for name in named.findall(source)}
    assert {"Positive", "Share", "MaxTokens"} <= bounded
    fields = [
        node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.AnnAssign)
    ]
    assert [
        ast.unparse(field)
        for field in fields
        if isinstance(field.value, ast.Call)
        and bounded & {part.id for part in ast.walk(field.annotation) if isinstance(part, ast.Name)}
        and {"ge", "gt", "le", "lt"} & {keyword.arg for keyword in field.value.keywords}
    ] == []
