"""Mistakes in settings: their place, what was found, what was expected, and how to fix it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from peerage.games.judged import JudgingSettings
from peerage.settings.source import SettingsError, SettingsSource, shown
from peerage.values.figures import suggest

_Model = TypeVar("_Model", bound=BaseModel)


def with_option(settings: _Model, key: str, value: object, option: str) -> _Model:
    """Return the settings with the value of an option of the command line in place of a key's.

    The value keeps the bounds of the key. Raises SettingsError, which names the option.
    """
    field = type(settings).model_fields[key]
    kept: Any = Annotated[field.annotation, field]
    bounded = TypeAdapter[Any](kept, config=ConfigDict(allow_inf_nan=False))
    try:
        value = bounded.validate_python(value)
    except ValidationError as error:
        expected = wanted(str(error.errors(include_url=False)[0]["msg"]))
        raise SettingsError(f"{option}: found {shown(value)}; expected {expected}") from None
    return settings.model_copy(update={key: value})


def explain(
    error: ValidationError,
    model: type[BaseModel],
    prefix: tuple[str, ...],
    source: SettingsSource,
    rules: Collection[str] = (),
) -> list[str]:
    """A line for each mistake that validation found in what stands below `prefix`; `rules` are the keys of
    the game's own settings, among which an unknown key may belong."""
    lines: list[str] = []
    for mistake in error.errors(include_url=False):
        path = prefix + mistake["loc"]
        if mistake["type"] == "missing" and _misspelt(str(path[-1]), mistake["input"]):
            continue
        misplaced = mistake["type"] == "extra_forbidden" and len(path) == 1 and path[0] in rules
        problem = "a setting of the game; write it under `rules:`" if misplaced else _problem(mistake, model)
        several = _takes_several_types(model, mistake["loc"][:-1])
        place = source.place(path[:-1] if several else path)
        if several and lines and lines[-1].startswith(f"{place}: "):
            lines[-1] += f", or {problem.partition('; expected ')[2]}"
        else:
            lines.append(f"{place}: {problem}")
    return lines


_PLAIN = {
    "string": "text",
    "integer": "a whole number",
    "integer, got a number with a fractional part": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
_PLAINER = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "more than",
}


def wanted(message: str) -> str:
    """Return what validation expected of a value, in our words."""
    expected = message.removeprefix("Input should be ").removeprefix("String should have ")
    expected = expected.removeprefix("a valid ").partition(", unable to ")[0]
    expected = _PLAIN.get(expected, expected)
    for wordy, plain in _PLAINER.items():
        expected = expected.replace(wordy, plain)
    return expected


def _problem(mistake: Mapping[str, Any], model: type[BaseModel]) -> str:
    kind, message, value = mistake["type"], mistake["msg"], mistake["input"]
    owner = _model_at(model, mistake["loc"][:-1])
    key = str(mistake["loc"][-1]) if mistake["loc"] else ""
    fields = _keys(owner) if owner else {}
    field = fields.get(key)
    judged = owner is not None and "judging" in owner.model_fields and key in JudgingSettings.model_fields
    if kind == "extra_forbidden" and judged:
        return f"it says how judges decide; write it under `judging:`, `judging: {{{key}: {shown(value)}}}`"
    if kind == "extra_forbidden":
        return f"unknown key{suggest(key, fields)}"
    if kind == "missing":
        about = (field and field.description) or ""
        return f"missing; expected {about[:1].lower()}{about[1:]}" if about else "missing"
    if kind in ("value_error", "assertion_error"):
        return str(message).partition(", ")[2]
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        several = field is not None and get_origin(field.annotation) is dict
        short = "" if several else getattr(_model_at(model, mistake["loc"]), "SHORT", "")
        expected = f"{short and short + ' or '}indented `key: value` lines"
    elif kind in ("tuple_type", "list_type"):
        expected = "a list (lines that begin with `- `)"
    elif kind == "string_type" and isinstance(value, bool | int | float):
        expected = "text; put it in quotes"
    else:
        expected = wanted(str(message))
        if kind == "literal_error" and isinstance(value, str):
            choices = mistake["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
            close = suggest(value, choices)
            expected += close if "did you mean" in close else ""
    return f"found {shown(value)}; expected {expected}"


def _takes_several_types(model: type[BaseModel], path: Sequence[int | str]) -> bool:
    """Return whether the key at `path` takes plain values of several types; validation tries each of them."""
    owner = _model_at(model, path[:-1]) if path else None
    field = _keys(owner).get(str(path[-1])) if owner else None
    if field is None or get_origin(field.annotation) not in (Union, UnionType):
        return False
    kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
    return len(kinds) > 1 and next(models_in(field.annotation), None) is None


def _misspelt(key: str, siblings: object) -> bool:
    """Return whether a missing key stands there under a near name, which is reported on its own."""
    return isinstance(siblings, dict) and bool(difflib.get_close_matches(key, map(str, siblings), cutoff=0.6))


def _model_at(model: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel] | None:
    """The settings model that holds the keys at `path`, None where there is no single one."""
    here: Any = model
    named = False  # the next step is a name of the user's, in a mapping
    for step in path:
        if isinstance(step, int) or named:
            named = False
            continue
        field = _keys(here).get(step)
        named = field is not None and get_origin(field.annotation) is dict
        here = next(models_in(field.annotation), None) if field else None
        if here is None:
            return None
    return here  # type: ignore[no-any-return]


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a settings model by the keys that state them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)
