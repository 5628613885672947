"""JSON schemas that people bring along: is one sound, and does a value fit it. Pure.

    >>> misfits({"total": "12"}, {"type": "object", "properties": {"total": {"type": "number"}}})
    ['total is text, expected number']

Of JSON Schema 2020-12 the words in `KNOWN` are held to, those in `REMARKS` change nothing, and a schema with
any other is refused, since it would be held to in part. A value is hostile: looks are counted, and after
`MOST_LOOKS` it does not fit, nor where its texts are too long for a pattern (`formats.patterns`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from peerage.formats.patterns import occurs, pattern, searchable, size_of
from peerage.values.figures import suggest

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_SUBSCHEMAS = ("anyOf", "oneOf", "allOf")
KNOWN = (
    *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems"),
    *("minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties", "not", "$ref"),
    *_SUBSCHEMAS,
)
REMARKS = (
    *("title", "description", "default", "examples", "format", "deprecated", "readOnly", "writeOnly"),
    *("$schema", "$id", "$comment", "$defs", "definitions"),
)
MOST_LOOKS = 200_000
_CHEAP, _WRITTEN = 20, 200
"""Comparisons, and characters written as JSON, that take as long as one look."""
_SEARCHES = 4
"""Texts of one value are searched one by one; their sum stays within the time of one search."""
_DEEPEST = 100
_PROBLEMS = 5


# ------------------------------------------------------------------------------------------ the schema


def check_schema(schema: Any) -> None:
    """Raise ValueError, which says where, for what is no schema that can be held to."""
    _check(schema, schema, "", 0)


def _check(schema: Any, root: Any, path: str, depth: int) -> None:
    at = f" at {path}" if path else ""
    if isinstance(schema, bool) and path:
        return
    if not isinstance(schema, Mapping):
        raise ValueError(
            f'the schema{at} is {_kind(schema)}; an object such as {{"type": "object"}} was expected'
        )
    if depth > _DEEPEST:
        raise ValueError(f"the schema{at} is too deep")
    for key, value in schema.items():
        if key not in KNOWN and key not in REMARKS:
            raise ValueError(f"the schema{at} has {key!r:.60}, which is not known{suggest(str(key), KNOWN)}")
        if key == "type":
            for type_name in value if isinstance(value, list) else [value]:
                if type_name not in TYPES:
                    close = suggest(str(type_name), TYPES)
                    raise ValueError(f"the schema{at} has the type {type_name!r:.40}{close}")
        elif key == "pattern":
            if not isinstance(value, str):
                raise ValueError(f"the schema{at} has a pattern that is no text")
            pattern(value)
        elif key == "$ref":
            referred(root, value)
        elif key == "enum" and not isinstance(value, list):
            raise ValueError(f"the schema{at} has an enum that is no list")
        elif key == "required" and not (
            isinstance(value, list) and all(isinstance(name, str) for name in value)
        ):
            raise ValueError(f"the schema{at} has `required`, which is no list of names")
        elif key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"the schema{at} has {key} {value!r:.40}; a number was expected")
    for name, inner in _inside(schema):
        _check(inner, root, f"{path}.{name}" if path else name, depth + 1)


_NUMBERS = frozenset(
    (
        *("minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
        *("exclusiveMaximum", "multipleOf", "minProperties", "maxProperties"),
    )
)


def _inside(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("properties", "$defs", "definitions"):
        if key in schema:
            inner = schema[key]
            if not isinstance(inner, Mapping):
                raise ValueError(f"{key} is {_kind(inner)}; an object of schemas was expected")
            yield from ((f"{key}.{name}", inside) for name, inside in inner.items())
    for key in (*_SUBSCHEMAS, "prefixItems"):
        if key in schema:
            if not isinstance(schema[key], list):
                raise ValueError(f"{key} is {_kind(schema[key])}; a list of schemas was expected")
            yield from ((f"{key}[{at}]", inside) for at, inside in enumerate(schema[key], 1))
    yield from ((key, schema[key]) for key in ("items", "additionalProperties", "not") if key in schema)


def referred(root: Any, ref: Any) -> Any:
    """Return what `#/$defs/name` points at. Raises ValueError."""
    here = root
    steps = ref[2:].split("/") if isinstance(ref, str) and ref.startswith("#/") else []
    for step in steps if ref != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        here = here.get(name) if isinstance(here, Mapping) else None
    if here is None or not (steps or ref == "#"):
        raise ValueError(f"the schema refers to {ref!r:.60}, which is not in it; write `#/$defs/NAME`")
    return here


# ------------------------------------------------------------------------------------------- the value


def misfits(value: Any, schema: Any) -> list[str]:
    """Return what is wrong with a value by a schema that is sound, at most five problems; none: it fits."""
    return list(islice(_Reading(schema).problems(value, schema, "", 0), _PROBLEMS))


class _Reading:
    """One value under way through a schema, and how much of it may still be looked at."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.left = MOST_LOOKS
        self.searched = 0

    def problems(self, value: Any, schema: Any, path: str, depth: int) -> Iterator[str]:
        self.left -= 1
        where = path or "the value"
        if self.left < 0 or depth > 2 * _DEEPEST:
            yield f"{where} is too much to be checked"
            return
        if isinstance(schema, bool):
            if not schema:
                yield f"{where} must not be there"
            return
        if "$ref" in schema:
            yield from self.problems(value, referred(self.root, schema["$ref"]), path, depth + 1)
        stated = schema.get("type")
        types = [stated] if isinstance(stated, str) else stated
        if types is not None and not any(_is(value, kind) for kind in types):
            yield f"{where} is {_kind(value)}, expected {' or '.join(types)}"
            return
        if "const" in schema and not self._among(value, [schema["const"]]):
            yield f"{where} is {self._short(value)}, expected {self._short(schema['const'])}"
        if "enum" in schema and not self._among(value, schema["enum"]):
            options = ", ".join(map(self._short, schema["enum"][:10]))
            yield f"{where} is {self._short(value)}, expected one of {options}"
        if isinstance(value, Mapping):
            yield from self._object(value, schema, path, depth)
        elif isinstance(value, list):
            yield from self._array(value, schema, path, depth)
        elif isinstance(value, str):
            yield from _sized(len(value), schema, "Length", where, "characters")
            if "pattern" in schema:
                yield from self._text(value, schema["pattern"], where)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from _number(value, schema, where)
        yield from self._combined(value, schema, path, depth)

    def _text(self, value: str, written: str, where: str) -> Iterator[str]:
        self.searched += size_of(value)
        if not searchable(written, _SEARCHES * self.searched):
            yield f"{where} is too long for the pattern {written[:60]!r}, whose counts are large"
        elif not occurs(written, value):
            yield f"{where} is {self._short(value)}, which does not match {written[:60]!r}"

    def _combined(self, value: Any, schema: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
        def fits(inner: Any) -> bool:
            return next(self.problems(value, inner, path, depth + 1), None) is None

        for inner in schema.get("allOf", ()):
            yield from self.problems(value, inner, path, depth + 1)
        where = path or "the value"
        if "anyOf" in schema and not any(fits(inner) for inner in schema["anyOf"]):
            yield f"{where} fits none of anyOf"
        if "oneOf" in schema and (fitting := sum(fits(inner) for inner in schema["oneOf"])) != 1:
            yield f"{where} fits {fitting} of oneOf, expected 1"
        if "not" in schema and fits(schema["not"]):
            yield f"{where} fits what it must not"

    def _object(
        self, value: Mapping[str, Any], schema: Mapping[str, Any], path: str, depth: int
    ) -> Iterator[str]:
        where = path or "the value"
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{where} lacks {name!r:.60}"
        yield from _sized(len(value), schema, "Properties", where, "properties")
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name, part in value.items():
            inner = f"{path}.{name[:60]}" if path else name[:60]
            if name in properties:
                yield from self.problems(part, properties[name], inner, depth + 1)
            elif others is False:
                yield f"{inner} is not among the properties"
            elif others is not True:
                yield from self.problems(part, others, inner, depth + 1)

    def _array(self, value: list[Any], schema: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
        where = path or "the value"
        yield from _sized(len(value), schema, "Items", where, "items")
        first, others = schema.get("prefixItems", []), schema.get("items", True)
        for at, part in enumerate(value):
            inner = first[at] if at < len(first) else others
            if inner is not True:
                yield from self.problems(part, inner, f"{path}[{at + 1}]", depth + 1)
        if schema.get("uniqueItems") is True:
            self.left -= len(value) // _CHEAP
            if len({self._plain(part) for part in value}) < len(value):
                yield f"{where} has an item twice"

    def _among(self, value: Any, options: Sequence[Any]) -> bool:
        """Return whether a value is the same JSON as one of these: `true` is not 1."""
        self.left -= len(options) // _CHEAP
        if isinstance(value, bool | None):
            return any(value is option for option in options)
        if isinstance(value, list | Mapping):
            written = self._plain(value)
            return any(
                self._plain(option) == written for option in options if isinstance(option, list | Mapping)
            )
        return any(value == option for option in options if not isinstance(option, bool))

    def _plain(self, value: Any) -> str:
        written = msgspec.json.encode(value, order="deterministic").decode()
        self.left -= len(written) // _WRITTEN
        return written

    def _short(self, value: Any) -> str:
        text = self._plain(value)
        return text if len(text) <= 60 else f"{text[:59]}…"


def _sized(size: int, schema: Mapping[str, Any], word: str, where: str, what: str) -> Iterator[str]:
    if size < schema.get(f"min{word}", 0):
        yield f"{where} has {size} {what}, expected at least {schema[f'min{word}']}"
    if size > schema.get(f"max{word}", math.inf):
        yield f"{where} has {size} {what}, expected at most {schema[f'max{word}']}"


def _number(value: float, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    bounds: Mapping[str, Callable[[float], bool]] = {
        "minimum": lambda bound: value >= bound,
        "maximum": lambda bound: value <= bound,
        "exclusiveMinimum": lambda bound: value > bound,
        "exclusiveMaximum": lambda bound: value < bound,
        "multipleOf": lambda bound: bound == 0 or abs(value / bound - round(value / bound)) < 1e-9,
    }
    for word, holds in bounds.items():
        try:
            fits = word not in schema or holds(schema[word])
        except OverflowError:
            fits = False
        if not fits:
            yield f"{where} is {msgspec.json.encode(value).decode()[:60]}, against {word} {schema[word]:g}"


def _is(value: Any, kind: str) -> bool:
    if kind == "integer":
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return whole and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    kinds = {"object": Mapping, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[kind])


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number" if isinstance(value, int | float) else "something else")
