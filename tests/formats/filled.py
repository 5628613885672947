"""Replies as a person fills them into a form."""

from __future__ import annotations

import json
from typing import Any

from peerage.formats import Code, Format, WithTool
from peerage.formats.filling import FormField
from peerage.formats.forms import PROGRAM, WHOLE, fields


def filled_in(expects: Format, text: str) -> dict[str, str]:
    """Return what a person types and picks for the reply `text`, by name of the field."""
    form = fields(expects)
    if isinstance(expects, WithTool):
        turn = expects.parse(text)
        return {PROGRAM: turn.program} if turn.program else filled_in(expects.answer, text)
    if form[0].name == WHOLE:
        return {WHOLE: expects.parse(text) if isinstance(expects, Code) else text}
    return {
        field.name: _typed(field, value)
        for field in form
        if (value := _at(json.loads(text), field.name.split("."))) is not None
    }


_TAGS = {"type": ("pass", "raise", "", ""), "do": ("read", "write", "run", "done")}
"""Tags of the forms that a field of one of several may have, in their order."""


def _at(value: Any, path: list[str]) -> Any:
    """Return what stands at the place of a field; None for nothing, and where the value has another shape."""
    for step in path:
        name, *ways = step.split("~")
        if name != "value" or isinstance(value, dict):
            at = int(name) - 1 if name.isdigit() and isinstance(value, list) else name
            try:
                value = value[at]
            except (LookupError, TypeError):
                return None
        if ways and not any(
            value and value.get(tag) == tags[int(ways[0]) - 1] for tag, tags in _TAGS.items()
        ):
            return None
    return value


def _typed(field: FormField, value: Any) -> str:
    match field.kind:
        case "json":
            return json.dumps(value)
        case "list":
            return "\n".join(
                [", ".join(map(str, line)) if isinstance(line, list) else str(line) for line in value]
            )
        case _:
            return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
