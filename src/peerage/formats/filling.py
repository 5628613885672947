"""Parts of a JSON schema as fields of a form, and their content as a value of the schema. Pure.

A short list has a field for each entry, any other one entry a line; of several shapes one is filled in. Only
what no field can hold is written as JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from peerage.formats.patterns import occurs
from peerage.formats.schemas.brought import referred
from peerage.formats.schemas.made import expected, fitted, outlined
from peerage.formats.texts import FormatError, json_text, read_json

MOST_ENTRIES, USUAL_ENTRIES = 30, 10
"""Entries of several fields each that a list has room for where fewer would do; where it has no limit."""
MOST_SHEET = 60
"""Entries of a list that have a field each; of more, each has a line."""
LINE = 120
"""Characters up to which a text is one line."""

VALUE = "value"
"""The name of the field, or the first part of it, where the reply is no JSON object."""

_YES, _NO = "yes", "no"
_WORDS = ((("yes", "true"), True), (("no", "false"), False))
_FREE = object()
_BEYOND = frozenset(("allOf", "not", "prefixItems"))
_DEEPEST = 12
_PLAIN = ("boolean", "integer", "number", "string")
_NUMBER = re.compile(r"[+-]?[0-9]{1,400}")
_EMPTY = "nothing is filled in"

Kind: TypeAlias = Literal["text", "code", "line", "list", "number", "choice", "json"]
Laid: TypeAlias = Kind | Literal["object", "either", "entries", "sheet"]
Schema: TypeAlias = Mapping[str, Any]


class FormField(NamedTuple):
    """One thing to fill in. `name` is unique in its form; `label` and `about` tell a person what it is,
    `limits` what it may be. `list` holds one entry a line, `json` what no other field can hold; `options` are
    those of a choice. `needed` says that it must not stay empty, `shapes` are the schemas that its content
    may have."""

    name: str
    kind: Kind
    label: str
    about: str = ""
    limits: str = ""
    options: tuple[str, ...] = ()
    needed: bool = True
    shapes: Sequence[Schema] = ()

    @property
    def shape(self) -> Schema:
        """The schema of its content, empty for one of several."""
        return self.shapes[0] if len(self.shapes) == 1 else {}


class SchemaParts:
    """A schema taken apart, with what its references point at."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.top = "" if self.laid(self.shapes(root)[0]) == "object" else VALUE

    def shapes(self, schema: Any, depth: int = 0) -> tuple[list[Schema], bool]:
        """Return the shapes that a value may have, without null, and whether null is one of them."""
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return [{}], False
        if "$ref" in schema:
            more = {key: part for key, part in schema.items() if key != "$ref"}
            return self.shapes({**referred(self.root, schema["$ref"]), **more}, depth + 1)
        listed = schema.get("anyOf", schema.get("oneOf"))
        if isinstance(schema.get("type"), list):
            listed = [{"type": kind} for kind in schema["type"]]
        if listed is None:
            shape = {"enum": [schema["const"]], **schema} if "const" in schema else dict(schema)
            whole = {key: int(of) for key, of in shape.items() if isinstance(of, float) and of.is_integer()}
            shape |= whole
            if "enum" in shape:
                shape["enum"] = [option for option in shape["enum"] if option is not None]
            options = shape.get("enum")
            null = shape.get("type") == "null" or options == []
            some = {} if _BEYOND & shape.keys() else shape
            return ([] if null else [some]), null or (
                options is not None and len(options) < len(schema.get("enum", options))
            )
        more = {key: part for key, part in schema.items() if key not in ("anyOf", "oneOf", "type")}
        parts = [self.shapes({**more, **part}, depth + 1) for part in listed if isinstance(part, Mapping)]
        return [shape for shapes, _ in parts for shape in shapes], any(null for _, null in parts)

    def laid(self, shapes: Sequence[Schema]) -> Laid:
        """Return how a part of a form is laid out."""
        if len(shapes) != 1:
            if not all(map(_is_plain, shapes)):
                return "either" if shapes and all(shape for shape in shapes) else "json"
            return "choice" if shapes and all("enum" in shape for shape in shapes) else "line"
        (shape,) = shapes
        if "enum" in shape:
            return "choice" if _is_plain(shape) else "json"
        match shape.get("type"):
            case "object" if shape.get("properties"):
                return "object"
            case "array" if "items" in shape:
                items, _ = self.shapes(shape["items"])
                if any(inner.get("properties") for inner in items):
                    return "entries"
                if all(map(_is_plain, items)):
                    return "sheet" if 0 < _size(shape) <= MOST_SHEET and _short(items) else "list"
                rows = [self.shapes(inner.get("items"))[0] for inner in items]
                return "list" if all(row and all(map(_is_plain, row)) for row in rows) else "json"
            case "boolean":
                return "choice"
            case "integer" | "number":
                return "number"
            case "string":
                return "line" if _short(shapes) or "pattern" in shape else "text"
        return "json"

    def fields(self, schema: Any, name: str, label: str, needed: bool) -> Iterator[FormField]:
        """Yield the fields of a part of the schema; of one that may be lacking none is needed."""
        shapes, null = self.shapes(schema)
        needed, laid = needed and not null, self.laid(shapes)
        match laid:
            case "object":
                for key, part in self.asked(shapes[0]).items():
                    there = needed and key in shapes[0].get("required", ())
                    yield from self.fields(part, _inside(name, key), _joined(label, key), there)
            case "either":
                for at, shape in enumerate(shapes, 1):
                    yield from self.fields(shape, f"{name}~{at}", self.titled(label, shape, at), False)
            case "entries":
                alone = len(self.asked(self.root)) == 1
                for at in range(1, _room(shapes[0]) + 1):
                    inner = f"{at}." if alone else f"{label} {at}"
                    there = needed and at <= shapes[0].get("minItems", 0)
                    yield from self.fields(_unnumbered(shapes[0]), f"{name}.{at}", inner, there)
            case "sheet":
                for at in range(1, _size(shapes[0]) + 1):
                    about = {key: shapes[0][key] for key in ("description",) if key in shapes[0] and at == 1}
                    yield from self.fields(
                        {**about, **shapes[0]["items"]}, f"{name}.{at}", f"{label} {at}".strip(), needed
                    )
            case _:
                yield _field(laid, name, label or "Your reply", shapes, needed)

    def titled(self, label: str, shape: Schema, at: int) -> str:
        """Return the label of one of several shapes: by the word that it always has, or its number."""
        words = [self.constant(part) for part in shape.get("properties", {}).values()]
        word = next((option for option in words if isinstance(option, str)), f"(way {at})")
        return _joined(label, word)

    def constant(self, schema: Any) -> Any:
        """Return the only value that there is to choose; `_FREE` where there are several."""
        shapes, null = self.shapes(schema)
        options = [option for shape in shapes for option in shape.get("enum", (_FREE, _FREE))]
        options += [None] * null
        return options[0] if len(options) == 1 else _FREE

    def asked(self, shape: Schema) -> Mapping[str, Any]:
        """Return the properties that are asked for: not constant ones, unless the object has only such."""
        properties: Mapping[str, Any] = shape.get("properties", {})
        free = {key: part for key, part in properties.items() if self.constant(part) is _FREE}
        return free or properties

    def value(self, schema: Any, name: str, form: Filled) -> Any:
        """Return what the filled fields say for a part of the schema; what is wrong goes to the problems."""
        shapes, null = self.shapes(schema)
        if null and not form.filled(name):
            return None
        match self.laid(shapes):
            case "object":
                shape, asked = shapes[0], self.asked(shapes[0])
                return {
                    key: self.value(part, _inside(name, key), form) if key in asked else self.constant(part)
                    for key, part in shape["properties"].items()
                    if key in shape.get("required", ()) or form.filled(_inside(name, key))
                }
            case "either":
                some = [at for at in range(1, len(shapes) + 1) if form.filled(f"{name}~{at}")]
                if len(some) == 1:
                    return self.value(shapes[some[0] - 1], f"{name}~{some[0]}", form)
                return form.problem(
                    name, _EMPTY if not some else "fill in one way, and leave the others empty"
                )
            case "entries":
                shape, items = shapes[0], _unnumbered(shapes[0])
                places = range(1, _room(shape) + 1)
                blank = [at for at in places if not form.filled(f"{name}.{at}")]
                lacking = shape.get("minItems", 0) - len(places) + len(blank)
                left_out = {*blank[max(0, lacking) :]}
                entries = {at: self.value(items, f"{name}.{at}", form) for at in places if at not in left_out}
                return [
                    {"item": at, **entry} if items is not shape["items"] else entry
                    for at, entry in entries.items()
                ]
            case "sheet":
                return [
                    self.value(shapes[0]["items"], f"{name}.{at}", form)
                    for at in range(1, _size(shapes[0]) + 1)
                ]
            case kind:
                return form.read(name, kind, shapes, self)


class Filled:
    """The fields of a form as a person filled them in, and what is wrong with each."""

    def __init__(self, form: Iterable[FormField], values: Mapping[str, str]) -> None:
        self.form = {field.name: field for field in form}
        self.values = {name: text.replace("\r\n", "\n") for name, text in values.items()}
        self.problems: dict[str, str] = {}

    def inside(self, name: str) -> list[str]:
        """Return the fields of a part."""
        return [of for of in self.form if of == name or of.startswith((f"{name}.", f"{name}~"))]

    def filled(self, name: str) -> bool:
        """Return whether anything of a part is filled in."""
        return any(self.values.get(of, "").strip() for of in self.inside(name))

    def problem(self, name: str, why: str) -> None:
        """Say what is wrong with a part, beside its first field."""
        self.problems.setdefault(next(iter(self.inside(name)), name), why)

    def read(self, name: str, kind: str, shapes: Sequence[Schema], parts: SchemaParts) -> Any:
        """Return the content of one field, as JSON has it."""
        text = self.values.get(name, "")
        try:
            if kind == "list":
                return _listed(text, shapes[0], parts)
            if not text.strip() and any(map(_may_be_empty, shapes)) and not self.form[name].needed:
                return ""
            if not text.strip():
                raise FormatError(_EMPTY)
            if kind == "json":
                return read_json(text)
            return read(text.strip("\n") if kind == "text" else text.strip(), shapes)
        except (FormatError, msgspec.DecodeError, RecursionError) as wrong:
            why = str(wrong) if isinstance(wrong, FormatError) else "this is no JSON"
            return self.problem(name, why)


def _field(laid: Kind, name: str, label: str, shapes: Sequence[Schema], needed: bool) -> FormField:
    shape = shapes[0] if shapes else {}
    plain = [{key: part for key, part in of.items() if key != "pattern"} for of in _stated(shapes)]
    limits, options = " or ".join(map(expected, plain)), tuple[str, ...]()
    if laid == "json":
        limits = f"as JSON: {outlined(shape)}" if shape.get("type") in (*_PLAIN, "array") else "as JSON"
    elif laid == "list":
        parts = ", its parts with commas between them" if "items" in shape["items"] else ""
        limits = (
            limits.replace("entries", "lines")
            .replace("a list of", "a list,")
            .replace("a list", f"one a line{parts}")
        )
        needed = needed and bool(shape.get("minItems"))
    elif laid == "choice":
        limits, options = "", tuple([_option(word) for of in shapes for word in of.get("enum", ())])
        options = options or (_YES, _NO)
    elif any(map(_may_be_empty, shapes)):
        limits, needed = "" if limits == "a text" else limits, False
    about = str(shape.get("description", ""))
    return FormField(name, laid, label, about, limits, options=options, needed=needed, shapes=shapes)


def _listed(text: str, shape: Schema, parts: SchemaParts) -> list[Any]:
    """Return the entries of a list, one a line: of one that has so many an empty line is an empty entry."""
    lines = [line.strip() for line in text.rstrip().split("\n")]
    size = _size(shape)
    lines = [*lines, *[""] * (size - len(lines))] if size else [*filter(None, lines)]
    if not shape.get("minItems", 0) <= len(lines) <= shape.get("maxItems", len(lines)):
        raise FormatError(f"{len(lines)} lines; {expected(shape).replace('entries', 'lines')} was expected")
    items, null = parts.shapes(shape["items"])
    entries = list[Any]()
    for at, line in enumerate(lines, 1):
        try:
            if "items" in items[0]:
                cells = line.split(",") if "," in line else line.split()
                entries.append([read(cell.strip(), parts.shapes(items[0]["items"])[0]) for cell in cells])
            else:
                entries.append(None if null and not line else read(line, items))
        except FormatError as wrong:
            raise FormatError(f"line {at}: {wrong}") from None
    return entries


def read(text: str, shapes: Sequence[Schema]) -> Any:
    """Return the first value that a piece of text is in one of these shapes, texts last."""
    for shape in sorted(shapes, key=_is_text):
        if shape not in _stated(shapes) and _is_text(shape) and not occurs(shape["pattern"], text):
            continue
        for value in _values(text, shape):
            problems: list[str] = []
            fit = fitted(value, {key: part for key, part in shape.items() if key != "pattern"}, "", problems)
            if not problems:
                return fit
    options = [_option(option) for shape in shapes for option in shape.get("enum", ())]
    if options:
        raise FormatError(f"{text[:40]!r} is none of {', '.join(options)}")
    wanted = " or ".join(map(expected, _stated(shapes)))
    what = (
        f"{text[:40]!r}" if len(text) <= 40 or not any(map(_is_text, shapes)) else f"{len(text):,} characters"
    )
    raise FormatError(f"{what} is not {wanted}" if text else _EMPTY)


def _stated(shapes: Sequence[Schema]) -> Sequence[Schema]:
    """Return the shapes that a person reads of: the number alone where a text may only spell it, the text
    alone where it may be anything."""
    texts = [shape for shape in shapes if _is_text(shape)]
    numbers = [
        shape for shape in shapes if "enum" not in shape and shape.get("type") in ("integer", "number")
    ]
    spelled = all("pattern" in text and occurs(text["pattern"], "42") for text in texts)
    if not texts or not numbers:
        return shapes
    return [shape for shape in shapes if shape not in (texts if spelled else numbers)]


def _values(text: str, shape: Schema) -> Iterator[Any]:
    if "enum" in shape:
        yield from [option for option in shape["enum"] if _option(option).casefold() == text.casefold()][:1]
    elif shape.get("type") == "boolean":
        yield from [value for words, value in _WORDS if text.casefold() in words]
    elif _is_text(shape):
        yield text
    elif _NUMBER.fullmatch(text):
        yield int(text)
    else:
        with suppress(ValueError):
            if math.isfinite(number := float(text)):
                yield number


def _is_plain(shape: Schema) -> bool:
    if "enum" in shape:
        return all(isinstance(option, str | int | float) for option in shape["enum"])
    return shape.get("type") in _PLAIN


def _is_text(shape: Schema) -> bool:
    return "enum" not in shape and shape.get("type") == "string"


def _may_be_empty(shape: Schema) -> bool:
    return _is_text(shape) and not shape.get("minLength") and "pattern" not in shape


def _short(shapes: Sequence[Schema]) -> bool:
    return all(not _is_text(shape) or shape.get("maxLength", LINE + 1) <= LINE for shape in shapes) or (
        len(shapes) > 1
    )


def _size(shape: Schema) -> int:
    """Return how many entries a list has; 0: fewer or more."""
    return int(shape.get("minItems") or 0) if shape.get("minItems") == shape.get("maxItems") else 0


def _room(shape: Schema) -> int:
    """Return for how many entries there are fields."""
    return int(max(shape.get("minItems", 0), min(shape.get("maxItems", USUAL_ENTRIES), MOST_ENTRIES)))


def _unnumbered(shape: Schema) -> Schema:
    """The entries of a list without the number that each bears, as `Scores` has it: nobody fills that in."""
    items: Schema = shape["items"]
    number = items.get("properties", {}).get("item", {})
    if _size(shape) == 0 or (number.get("minimum"), number.get("maximum")) != (1, _size(shape)):
        return items
    return {**items, "properties": {key: part for key, part in items["properties"].items() if key != "item"}}


def _option(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def path(name: str) -> str:
    """The place of a field as a format's own messages name it."""
    return re.sub(r"\.(\d+)", lambda at: f"[{int(at[1]) - 1}]", name)


def _inside(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _joined(label: str, key: str) -> str:
    return f"{label} {key}".strip().replace("_", " ")
