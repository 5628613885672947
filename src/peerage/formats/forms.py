"""Formats as forms that a person fills in: the fields of one, and the reply that filled fields make. Pure.

A format with a schema is a form with a field for each of its properties, in their order; items of a list of
objects, and of a list of fixed length, have fields of their own. Free text, a program, and what no form can
hold are one field, the reply as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from peerage.formats.integer import Integer
from peerage.formats.plain import Code, Shaped, Text
from peerage.formats.texts import Format, FormatError, json_text

MOST_FIELDS = 60
"""A format of more fields than a person would fill in is written as it is."""
LINE = 120
"""Characters up to which a text is one line."""
WHOLE = "reply"
"""The name of the field that is the whole reply."""

_YES, _NO = "yes", "no"
_NOTHING = object()

Kind: TypeAlias = Literal["text", "code", "line", "list", "number", "choice"]


class FormField(NamedTuple):
    """One thing to fill in.

    `name` is unique in its form; `label` and `about` tell a person what it is. `list` holds one entry a line.
    `options` are those of a choice, `least` and `most` the bounds of a number, `chars` the most characters.
    `needed` says that it must not stay empty.
    """

    name: str
    kind: Kind
    label: str
    about: str = ""
    options: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    whole: bool = False
    chars: int | None = None
    needed: bool = True


def fields(expects: Format) -> tuple[FormField, ...]:
    """The fields of a form, at least one."""
    if isinstance(expects, Code):
        return (FormField(WHOLE, "code", "Your program", f"Python, at most {expects.max_bytes:,} bytes."),)
    if isinstance(expects, Text | Shaped):
        about = f"At most {expects.max_chars:,} characters."
        return (FormField(WHOLE, "text", "Your reply", about, chars=expects.max_chars),)
    schema = expects.schema()
    try:
        listed = tuple(_fields(schema, "", "")) if schema is not None else ()
    except _Unsuited:
        listed = ()
    if isinstance(expects, Integer):
        listed = tuple(
            [of._replace(kind="line", needed=True) if of.name == expects.field else of for of in listed]
        )
    if 0 < len(listed) <= MOST_FIELDS:
        return listed
    return (FormField(WHOLE, "text", "Your reply", expects.instruction()),)


def for_person(expects: Format, text: str) -> str:
    """A prompt for a person that has the form: without the sentence that says how a model writes its
    reply."""
    if fields(expects)[0].name == WHOLE:
        return text
    return text.replace(expects.instruction(), "").rstrip()


def reply(expects: Format, values: Mapping[str, str]) -> str:
    """The text of the reply that these values make, by name of their field; a field left out is empty.

    Raises FormatError, in words for the person who filled them in, for whatever is no reply in this format.
    """
    form = fields(expects)
    if form[0].name == WHOLE:
        text = values.get(WHOLE, "").replace("\r\n", "\n")
        if isinstance(expects, Text) and len(text) > expects.max_chars:
            raise FormatError(
                f"the reply has {len(text):,} characters; at most {expects.max_chars:,} are allowed"
            )
        if isinstance(expects, Code) and "```" not in text:
            text = expects.write(text)
    else:
        for field in form:
            if field.needed and not values.get(field.name, "").strip():
                raise FormatError(f"{field.label}: nothing is filled in")
        value = _value(expects.schema() or {}, "", {field.name: field for field in form}, values)
        text = json_text(value)
    expects.parse(text)
    return text


def misfit(field: FormField, text: str) -> str:
    """Return what is wrong with what a person typed for a number or a choice, in words; empty: nothing is."""
    bare, least, most = text.strip(), field.least, field.most
    if field.kind not in ("number", "choice") or not (bare or field.needed):
        return ""
    try:
        value = _read(bare, {}, field) if bare else None
    except FormatError as problem:
        return str(problem)
    if value is None:
        return f"{field.label}: nothing is filled in"
    if field.kind == "choice" or ((least is None or value >= least) and (most is None or value <= most)):
        return ""
    bounds = (f"from {least:,g}" if least is not None else "", f"to {most:,g}" if most is not None else "")
    return f"{field.label}: {bare[:40]} is not a number {' '.join(filter(None, bounds))}"


class _Unsuited(Exception):
    """No form can hold this."""


def _fields(schema: Mapping[str, Any], name: str, label: str) -> Iterator[FormField]:
    about = str(schema.get("description", ""))
    inner, may_lack = _without_null(schema)
    match inner.get("type"):
        case "object" if inner.get("properties") and not may_lack:
            for key, part in inner["properties"].items():
                if not _counts(key, part, label):
                    yield from _fields(part, f"{name}.{key}" if name else key, _joined(label, key))
        case "array" if not may_lack and inner.get("items", {}).get("type") == "object":
            if not inner.get("maxItems"):
                raise _Unsuited
            few = inner.get("minItems") != inner["maxItems"]
            for at in range(1, inner["maxItems"] + 1):
                for field in _fields(inner["items"], f"{name}.{at}", f"{at}."):
                    yield field._replace(needed=field.needed and not few)
        case "array" if not may_lack and _sheet(inner):
            for at in range(1, inner["maxItems"] + 1):
                yield from _fields(inner["items"], f"{name}.{at}", f"{label} {at}".strip())
        case "array" if inner.get("items", {}).get("type") == "string":
            yield FormField(name, "list", label, about or "One a line.", needed=bool(inner.get("minItems")))
        case "string" | "integer" if "enum" in inner:
            yield FormField(name, "choice", label, about, tuple(map(str, inner["enum"])), needed=not may_lack)
        case "boolean":
            yield FormField(name, "choice", label, about, (_YES, _NO), needed=not may_lack)
        case "integer" | "number" as kind:
            yield FormField(
                name,
                "number",
                label,
                about,
                least=inner.get("minimum"),
                most=inner.get("maximum"),
                whole=kind == "integer",
                needed=not may_lack,
            )
        case "string":
            chars = inner.get("maxLength")
            needed = not may_lack and bool(inner.get("minLength") or inner.get("pattern"))
            short = (chars is not None and chars <= LINE) or "pattern" in inner
            yield FormField(name, "line" if short else "text", label, about, chars=chars, needed=needed)
        case _:
            raise _Unsuited


def _sheet(schema: Mapping[str, Any]) -> bool:
    """Return whether a list is a sheet: so many short texts, numbers or choices, neither more nor fewer."""
    items = schema.get("items", {})
    short = items.get("type") in ("boolean", "integer", "number") or items.get("maxLength", LINE + 1) <= LINE
    return bool(schema.get("minItems")) and schema.get("minItems") == schema.get("maxItems") and short


def _value(
    schema: Mapping[str, Any], name: str, form: Mapping[str, FormField], values: Mapping[str, str]
) -> Any:
    """Return what the filled fields say for a part of the schema; `_NOTHING` where all of them are empty."""
    inner, may_lack = _without_null(schema)
    if name in form:
        text = values.get(name, "").replace("\r\n", "\n")
        if not text.strip() and (may_lack or inner.get("type") != "string" or "enum" in inner):
            return None if may_lack else _NOTHING
        return _read(text, inner, form[name])
    if inner.get("type") == "array" and _sheet(inner):
        return [
            _value(inner["items"], f"{name}.{at}", form, values) for at in range(1, inner["maxItems"] + 1)
        ]
    if inner.get("type") == "array":
        entries = []
        for at in range(1, inner["maxItems"] + 1):
            entry = _value(inner["items"], f"{name}.{at}", form, values)
            if any(not isinstance(text, str) or text.strip() for text in entry.values()):
                entries.append({"item": at, **entry} if "item" in inner["items"]["properties"] else entry)
        return entries
    parts = {
        key: _value(part, f"{name}.{key}" if name else key, form, values)
        for key, part in inner["properties"].items()
        if not _counts(key, part, name)
    }
    return {key: part for key, part in parts.items() if part is not _NOTHING}


def _read(text: str, schema: Mapping[str, Any], field: FormField) -> Any:
    """Return the content of one field, as JSON has it."""
    bare = text.strip()
    if field.kind == "choice":
        option = next((known for known in field.options if known.casefold() == bare.casefold()), None)
        if option is None:
            raise FormatError(f"{field.label}: {bare[:40]!r} is none of {', '.join(field.options)}")
        kind = schema.get("type")
        return option == _YES if kind == "boolean" else int(option) if kind == "integer" else option
    if field.kind == "list":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if field.kind == "number":
        try:
            return int(bare) if field.whole else float(bare)
        except ValueError:
            what = "a whole number" if field.whole else "a number"
            raise FormatError(f"{field.label}: {bare[:40]!r} is not {what}") from None
    return bare if field.kind == "line" else text.strip("\n")


def _without_null(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """The schema of what is there, and whether nothing may be."""
    some = schema.get("anyOf")
    if not isinstance(some, list):
        return schema, False
    real = [part for part in some if part.get("type") != "null"]
    if len(real) != 1:
        raise _Unsuited
    return real[0], len(real) < len(some)


def _counts(key: str, schema: Mapping[str, Any], within: str) -> bool:
    """Return whether a property numbers the entries of a list, as `Scores` has it: nobody fills that in."""
    return bool(within) and key == "item" and schema.get("type") == "integer"


def _joined(label: str, key: str) -> str:
    return f"{label} {key}".strip().replace("_", " ")
