"""JSON schemas of replies: made from a struct, put into words, held against a value, filled at random. Pure.

Schemas are what providers of strict structured output take: nothing is referred to, every object is closed
(`additionalProperties` false) and requires all its properties. They are made of `type`, `enum`, `anyOf`,
`properties`, `items`, `description`, `examples`, `pattern` and bounds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from inspect import cleandoc
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from peerage.formats.texts import object_schema
from peerage.values.texts import storable, visible

Schema: TypeAlias = Mapping[str, Any]

WHOLE = 2**53 - 1
"""Whole numbers without bounds of their own lie between -WHOLE and WHOLE, on which all JSON readers agree."""
_SHOWN = 60  # characters of an unexpected value that a message quotes
_TYPES: Mapping[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    NoneType: "null",
    None: "null",
}
_META = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "description": "description",
    "examples": "examples",
}


def bare(schema: Schema) -> dict[str, Any]:
    """The schema without examples, which some providers refuse."""
    made = {key: value for key, value in schema.items() if key != "examples"}
    if "properties" in made:
        made["properties"] = {name: bare(part) for name, part in made["properties"].items()}
    if "anyOf" in made:
        made["anyOf"] = [bare(part) for part in made["anyOf"]]
    return made | ({"items": bare(made["items"])} if "items" in made else {})


# -------------------------------------------------------------------------------------- from a struct


def schema_of(form: type[Any], limits: Mapping[str, Meta]) -> dict[str, Any]:
    """The schema of a struct's replies; `limits` narrow some of its fields. TypeError names the field that
    cannot be part of a reply, and the reason."""
    try:
        if not isinstance(form, type) or not issubclass(form, Struct):
            raise TypeError("a class derived from msgspec.Struct was expected")
        msgspec.inspect.type_info(form)
        if unknown := limits.keys() - set(form.__struct_fields__):
            raise TypeError(f"there is no field {min(unknown)!r} to limit")
        return _object(form, (), limits)
    except Exception as error:  # annotations are evaluated, so anything may be raised
        raise TypeError(f"{_name(form)} cannot be the form of a reply: {error}") from error


def _object(form: type[Struct], above: tuple[type, ...], limits: Mapping[str, Meta]) -> dict[str, Any]:
    config = form.__struct_config__
    if form in above:
        raise TypeError(f"{form.__name__} holds itself; a reply has a fixed depth")
    if config.array_like or config.omit_defaults or (not form.__struct_fields__ and not above):
        raise TypeError(f"{form.__name__} needs fields, without array_like and omit_defaults")
    properties: dict[str, Any] = {}
    if config.tag is not None:
        properties[str(config.tag_field)] = _one_of([config.tag])
    hints = get_type_hints(form, include_extras=True)
    for name, written in zip(form.__struct_fields__, form.__struct_encode_fields__, strict=True):
        meta = _stated(limits[name]) if name in limits else {}
        try:
            properties[written] = _schema(hints[name], meta, (*above, form))
        except TypeError as error:
            raise TypeError(f"{form.__name__}.{name}: {error}") from None
    about = cleandoc(form.__dict__.get("__doc__") or "")
    return object_schema(properties) | ({"description": about} if about else {})


def _stated(meta: Meta) -> dict[str, Any]:
    return {key: value for key in _META if (value := getattr(meta, key)) is not None}


def _narrowed(bounds: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Both together, of two bounds of one kind the tighter."""
    tighter = {"ge": max, "gt": max, "min_length": max, "le": min, "lt": min, "max_length": min}
    twice = bounds.keys() & more.keys() & tighter.keys()
    return bounds | more | {key: tighter[key](bounds[key], more[key]) for key in twice}


def _schema(hint: Any, meta: dict[str, Any], above: tuple[type, ...]) -> dict[str, Any]:
    hint = getattr(hint, "__value__", getattr(hint, "__supertype__", hint))
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for note in reversed(args[1:]):
            meta = _narrowed(_stated(note), meta) if isinstance(note, Meta) else meta
        return _schema(args[0], meta, above)
    about = {key: meta.pop(key) for key in ("description",) if key in meta}
    if origin in (Union, UnionType):
        return about | {"anyOf": [_schema(of, {} if of is NoneType else dict(meta), above) for of in args]}
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _object(hint, above, {}) | about
    if origin is Literal:
        return about | _one_of(args)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return about | _one_of([member.value for member in hint])
    many = origin is list or (origin is tuple and args[1:] == (...,))
    if not many and hint not in _TYPES:
        raise TypeError(
            f"{_name(hint)} cannot be part of a reply; str, int, float, bool, None, Literal, Enum, list, "
            "tuple[X, ...], structs and unions of these can"
        )
    if hint is int:
        meta["ge"] = max(meta.get("ge", -WHOLE), meta.pop("gt", -WHOLE - 1) + 1)
        meta["le"] = min(meta.get("le", WHOLE), meta.pop("lt", WHOLE + 1) - 1)
    if hint is float and "multiple_of" in meta:
        raise TypeError("multiple_of is for whole numbers: few fractions are exact multiples")
    if "pattern" in meta and not meta.get("examples"):
        raise TypeError("a pattern needs Meta(examples=[…]) too, so that house players can reply")
    made = about | {_META[key]: value for key, value in meta.items()}
    if many:
        made = {key.replace("Length", "Items"): value for key, value in made.items()}
        made |= {"type": "array", "items": _schema(args[0], {}, above)}
    else:
        made["type"] = _TYPES[hint]
    for example in made.get("examples", ()):
        problems: list[str] = []
        fitted(example, made, "the example", problems)
        if problems:
            raise TypeError(problems[0])
    return made


def _one_of(values: Sequence[Any]) -> dict[str, Any]:
    kinds = dict.fromkeys([_TYPES.get(type(value), "") for value in values])
    if not kinds.keys() <= {"string", "integer", "null"}:
        raise TypeError("the members of an Enum must be texts or whole numbers")
    some = [
        {"type": kind, "enum": [value for value in values if _TYPES[type(value)] == kind]}
        if kind != "null"
        else {"type": "null"}
        for kind in kinds
    ]
    return some[0] if len(some) == 1 else {"anyOf": some}


def _name(form: Any) -> str:
    return str(getattr(form, "__name__", form))


# ------------------------------------------------------------------------------------------ in words


def expected(schema: Schema) -> str:
    """Return what a schema accepts, in words: "a whole number from 0 to 100"."""
    if "anyOf" in schema:
        return " or ".join([expected(part) for part in schema["anyOf"]])
    if "enum" in schema:
        return " or ".join(map(_written, schema["enum"]))
    kind = schema.get("type")
    if kind in ("integer", "number"):
        parts: list[str] = []
        low, high = schema.get("minimum", -WHOLE), schema.get("maximum", WHOLE)
        if low != -WHOLE and high != WHOLE:
            parts.append(f"from {low} to {high}")
        elif (low, high) != (-WHOLE, WHOLE):
            parts.append(f"of at most {high}" if low == -WHOLE else f"of at least {low}")
        if "exclusiveMinimum" in schema:
            parts.append(f"above {schema['exclusiveMinimum']}")
        if "exclusiveMaximum" in schema:
            parts.append(f"below {schema['exclusiveMaximum']}")
        if "multipleOf" in schema:
            parts.append(f"a multiple of {schema['multipleOf']}")
        return f"{'a whole number' if kind == 'integer' else 'a number'} {' and '.join(parts)}".rstrip()
    if kind in ("string", "array"):
        words = f"{'a text' if kind == 'string' else 'a list'} {_size(schema)}".rstrip()
        return f"{words} matching {schema['pattern']}" if "pattern" in schema else words
    return {"boolean": "true or false", "null": "null", "object": "an object"}.get(str(kind), "a value")


def _size(schema: Schema) -> str:
    name, what = ("Length", "characters") if schema.get("type") == "string" else ("Items", "entries")
    low, high = schema.get(f"min{name}", 0), schema.get(f"max{name}")
    if high is None:
        return f"of at least {low} {what}" if low else ""
    if low == high:
        return f"of {low} {what}"
    return f"of {low} to {high} {what}" if low else f"of at most {high} {what}"


def outlined(schema: Schema, about: str = "") -> str:
    """A schema as the JSON that a reply would be, each value described in angle brackets."""
    about = str(schema.get("description", about)).rstrip(".")
    if "anyOf" in schema:
        return " | ".join([outlined(part, about) for part in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "object":
        return (
            "{"
            + ", ".join([f'"{key}": {outlined(part)}' for key, part in schema["properties"].items()])
            + "}"
        )
    if kind == "array":
        note = "; ".join(filter(None, (about, _size(schema).removeprefix("of "))))
        return f"[{outlined(schema['items'])}, …{f' <{note}>' if note else ''}]"
    if "enum" in schema:
        choices = " | ".join(map(_written, schema["enum"]))
        return f"<{about}: {choices}>" if about and len(schema["enum"]) > 1 else choices
    if kind == "null":
        return "null"
    note = f"<{about}; {expected(schema)}>" if about else f"<{expected(schema)}>"
    return f'"{note}"' if kind == "string" else note


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"a list of {len(value)}" if isinstance(value, list) else "an object"
    text = storable(visible(_written(value)))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… of {len(text)} characters"


# -------------------------------------------------------------------------------------- held against


def fitted(value: Any, schema: Schema, where: str, problems: list[str]) -> Any:
    """The value as the schema has it; what is wrong with it goes to `problems`. Total over decoded JSON. As
    in JSON Schema a whole number may be written `5.0`; nothing else is converted, and true is no number.
    Characters of a text that no store holds become U+FFFD."""
    if "anyOf" in schema:
        return _fitted_to_one(value, schema, where, problems)
    kind = schema.get("type")
    if kind == "object" and isinstance(value, dict):
        return _fitted_object(value, schema["properties"], f"{where}." if where else "", problems)
    if kind == "array" and isinstance(value, list) and _within(len(value), schema, "Items"):
        return [fitted(item, schema["items"], f"{where}[{at}]", problems) for at, item in enumerate(value)]
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    elif isinstance(value, str):
        value = storable(value)
    if not _accepted(value, kind, schema):
        problems.append(f'"{where}" is {_shown(value)}; {expected(schema)} was expected')
    return value


def _fitted_to_one(value: Any, schema: Schema, where: str, problems: list[str]) -> Any:
    nearest: list[str] | None = None
    for part in schema["anyOf"]:
        misfits: list[str] = []
        fit = fitted(value, part, where, misfits)
        if not misfits:
            return fit
        if isinstance(value, dict) and part.get("type") == "object":
            nearest = misfits if nearest is None or len(misfits) < len(nearest) else nearest
    problems += nearest or [f'"{where}" is {_shown(value)}; {expected(schema)} was expected']
    return value


def _fitted_object(
    value: dict[str, Any], properties: Mapping[str, Schema], inside: str, problems: list[str]
) -> dict[str, Any]:
    fit = {}
    for name, schema in properties.items():
        if name in value:
            fit[name] = fitted(value[name], schema, inside + name, problems)
        else:
            problems.append(f'"{inside}{name}" is missing; {expected(schema)} was expected')
    strange = [visible(storable(inside + name))[:_SHOWN] for name in value if name not in properties]
    problems += [f'"{name}" is not a field of this reply' for name in strange]
    return fit


def _accepted(value: Any, kind: Any, schema: Schema) -> bool:
    """Return whether a value that is not made of others is what the schema says."""
    if isinstance(value, bool) or value is None:
        return bool(kind == ("null" if value is None else "boolean"))
    if "enum" in schema:
        return value in schema["enum"]
    if isinstance(value, str):
        return bool(
            kind == "string"
            and _within(len(value), schema, "Length")
            and ("pattern" not in schema or re.search(schema["pattern"], value))
        )
    return (
        isinstance(value, int | float)
        and (kind == "number" or (kind == "integer" and isinstance(value, int)))
        and bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
        and bool("exclusiveMinimum" not in schema or schema["exclusiveMinimum"] < value)
        and bool("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
        and ("multipleOf" not in schema or value % schema["multipleOf"] == 0)
    )


def _within(size: int, schema: Schema, what: str) -> bool:
    return bool(schema.get(f"min{what}", 0) <= size <= schema.get(f"max{what}", size))


# -------------------------------------------------------------------------------------- at random


def sampled(schema: Schema, rng: Random) -> Any:
    """A value that the schema accepts; an example where it has some."""
    if "anyOf" in schema:
        return sampled(rng.choice(schema["anyOf"]), rng)
    for chosen in ("examples", "enum"):
        if chosen in schema:
            return rng.choice(schema[chosen])
    match schema["type"]:
        case "object":
            return {name: sampled(part, rng) for name, part in schema["properties"].items()}
        case "array":
            return [sampled(schema["items"], rng) for _ in range(_sampled_size(schema, "Items", 3, rng))]
        case "string":
            return "".join(
                rng.choices("abcdefghijklmnopqrstuvwxyz", k=_sampled_size(schema, "Length", 12, rng))
            )
        case "boolean":
            return rng.random() < 0.5
        case "null":
            return None
    low, high = _sampled_range(schema)
    if schema["type"] == "integer":
        step = schema.get("multipleOf", 1)
        return step * rng.randint(-(-low // step), high // step)
    for _ in range(100):
        number = rng.uniform(low, high)
        if _accepted(number, "number", schema):
            break
    return number


def _sampled_size(schema: Schema, what: str, more: int, rng: Random) -> int:
    least = schema.get(f"min{what}", 0)
    most = schema.get(f"max{what}", least + more)
    return rng.randint(max(least, min(1, most)), min(most, least + more))


def _sampled_range(schema: Schema) -> tuple[Any, Any]:
    """The bounds of a number, or a hundred from the only bound, or from zero."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", -WHOLE))
    high = schema.get("maximum", schema.get("exclusiveMaximum", WHOLE))
    if low == -WHOLE:
        low = 0 if high == WHOLE or high >= 100 else high - 100
    return low, low + 100 if high == WHOLE else high
