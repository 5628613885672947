"""Formats as forms that a person fills in: the fields of one, and the reply that filled fields make. Pure.

A format with a schema is a form with a field for each of its properties, in their order (`filling`). Free
text and a program are one field, the reply as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from peerage.formats.filling import Filled, FormField, Schema, SchemaParts, path, read
from peerage.formats.integer import Integer
from peerage.formats.moves import LegalMove
from peerage.formats.plain import Code, Shaped, Text, WithTool
from peerage.formats.schemas.brought import misfits
from peerage.formats.texts import Format, FormatError, json_text

MOST_FIELDS = 400
"""A format of more fields than a person would fill in is written as it is."""
WHOLE, PROGRAM = "reply", "program"
"""The names of the field that is the whole reply, and of that for a program to be run before it."""


class FormProblems(FormatError):
    """A form that came to no reply; `fields` says what is wrong with each field, by name."""

    def __init__(self, message: str, fields: Mapping[str, str]) -> None:
        super().__init__(message)
        self.fields = dict(fields)


def fields(expects: Format) -> tuple[FormField, ...]:
    """The fields of a form, at least one."""
    if isinstance(expects, Code):
        return (FormField(WHOLE, "code", "Your program", "Python.", f"at most {expects.max_bytes:,} bytes"),)
    if isinstance(expects, Text):
        return _whole(f"at most {expects.max_chars:,} characters", {"maxLength": expects.max_chars})
    if isinstance(expects, WithTool):
        about = "Python, to be run before you answer; leave the answer empty then."
        program = FormField(PROGRAM, "code", "Program", about, f"at most {expects.max_bytes:,} bytes")
        return tuple([field._replace(needed=False) for field in (program, *fields(expects.answer))])
    schema = expects.schema()
    parts = SchemaParts(schema) if schema else None
    listed = tuple(parts.fields(schema, parts.top, "", True)) if parts else ()
    if isinstance(expects, Integer):
        listed = tuple(
            [of._replace(kind="line", needed=True) if of.name == expects.field else of for of in listed]
        )
    if isinstance(expects, LegalMove):  # its moves are all that it may be
        listed = tuple([of._replace(limits="") if of.name == expects.field else of for of in listed])
    return listed if 0 < len(listed) <= MOST_FIELDS else _whole(expects.instruction())


def _whole(limits: str, *shapes: Schema) -> tuple[FormField, ...]:
    return (FormField(WHOLE, "text", "Your reply", limits=limits, shapes=shapes),)


def for_person(expects: Format, text: str) -> str:
    """A prompt for a person that has the form, without the sentence on how a model writes its reply."""
    if isinstance(expects, WithTool) or fields(expects)[0].name != WHOLE:
        return text.replace(expects.instruction(), "").rstrip()
    return text


def reply(expects: Format, values: Mapping[str, str]) -> str:
    """The text of the reply that these values make, by name of their field; a field left out is empty. Raises
    FormatError, in words for the person who filled them in, for whatever is no reply in this format;
    FormProblems where they are of single fields."""
    form = fields(expects)
    if isinstance(expects, WithTool):
        if not values.get(PROGRAM, "").strip():
            return reply(expects.answer, values)
        if any(values.get(field.name, "").strip() for field in fields(expects.answer) if field.needed):
            both = "there is a program, and an answer; leave one of them empty"
            raise FormProblems(both, {PROGRAM: both})
        return reply(Code(expects.max_bytes), {WHOLE: values[PROGRAM]})
    if form[0].name == WHOLE:
        text = values.get(WHOLE, "").replace("\r\n", "\n")
        if isinstance(expects, Text) and len(text) > expects.max_chars:
            raise FormatError(
                f"the reply has {len(text):,} characters; at most {expects.max_chars:,} are allowed"
            )
        if isinstance(expects, Code) and "```" not in text:
            text = expects.write(text)
        expects.parse(text)
        return text
    parts, filled = SchemaParts(expects.schema() or {}), Filled(form, values)
    value, problems = parts.value(parts.root, parts.top, filled), filled.problems
    labels = {field.name: field.label for field in form}
    if isinstance(expects, LegalMove) and not problems and not expects.option(value[expects.field]):
        problems[expects.field] = f"{value[expects.field]!r:.60} is none of {expects.offered}"
    if problems:
        raise FormProblems("; ".join([f"{labels[name]}: {why}" for name, why in problems.items()]), problems)
    try:
        text = json_text(value)
        if isinstance(expects, Shaped) and (wrong := misfits(value, parts.root)):
            raise FormatError("; ".join(wrong))
        expects.parse(text)
    except (FormatError, OverflowError) as error:
        why = str(error).split("; ")
        named = {of: part for of in labels for part in why if part.startswith(f'"{path(of)}"')}
        raise FormProblems(str(error), named) from None
    return text


def misfit(field: FormField, text: str) -> str:
    """Return what is wrong with what a person typed for a number or a choice, in words; empty: nothing is."""
    bare = text.strip()
    if field.kind not in ("number", "choice") or not (bare or field.needed):
        return ""
    try:
        read(bare, field.shapes)
    except FormatError as problem:
        return f"{field.label}: {problem}"
    return ""
