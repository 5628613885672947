"""Formats of replies: each declares a schema, explains it to a model, and reads it back.

A format's `parse` is total: it returns a value or raises `FormatError`, whatever a model wrote. It reads by
one stated rule and never guesses. `Json` makes a format of any struct; any class with the methods of `Format`
is one too.
"""

from __future__ import annotations

from peerage.formats.color import Color, Encoded, Encoding
from peerage.formats.integer import Integer
from peerage.formats.moves import Amount, LegalMove, move_format
from peerage.formats.plain import Choice, Choices, Chosen, ChosenEach, Code, Shaped, Text, Turn, WithTool
from peerage.formats.questions import Questions, Written
from peerage.formats.reading.reader import between, object_in
from peerage.formats.scores import Score, Scored, Scores
from peerage.formats.stored import Fields, StoredFormat, recorded, stored
from peerage.formats.structured import Json
from peerage.formats.texts import Format, FormatError, read_json

__all__ = [
    "Amount", "Choice", "Choices", "Chosen", "ChosenEach", "Code", "Color", "Encoded", "Encoding", "Fields",
    "Format", "FormatError", "Integer", "Json", "LegalMove", "Questions", "Score", "Scored", "Scores",
    "Shaped", "StoredFormat", "Text", "Turn", "WithTool", "Written", "between", "move_format", "object_in",
    "read_json", "recorded", "stored",
]  # fmt: skip
