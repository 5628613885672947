"""Regular expressions that people bring along, searched in bounded time whatever the text. Pure.

    >>> occurs("[0-9]+ EUR", "It is 12 EUR."), searchable("[0-9]+ EUR", 20_000), searchable("a{100}", 20_000)
    (True, True, True)

A search takes time in proportion to the size of the compiled pattern times that of the text. The compiler
does not report the size, but refuses more than `LIMIT` bytes: a pattern that compiles when it is repeated `k`
times has at most `LIMIT / k`. So the longer a text, the more often must a pattern compile that is searched
for in it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

LIMIT = 10 << 20
"""Bytes of a compiled pattern, of Rust's crate `regex`."""
MOST_WORK = 4 << 30
"""Bytes of a compiled pattern times bytes of text in one search: the slowest known take 0.4 seconds."""
SHORTEST = 8 * MOST_WORK // LIMIT
"""Bytes of text in which every pattern can be searched for."""
_END = re.compile(r"(?<!\\)((?:\\\\)*)\\Z")
"""The end of the text as Python has it, which is `\\z` elsewhere."""


@lru_cache(maxsize=1024)
def pattern(written: str) -> SchemaValidator:
    """Return what searches for a pattern. The patterns are those of Rust's crate `regex`: Python's without
    lookaround and backreferences, for which no linear time is known. Raises ValueError, with the remedy, for
    any other, and for one that is too large for texts of `SHORTEST` bytes."""
    try:
        compiled = _compiled(written)
    except SchemaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "")
        why = why.removeprefix("error:").removeprefix("SchemaError:").strip().rstrip(".")
        if "size limit" not in why:
            raise ValueError(
                f"the pattern {written[:60]!r} cannot be used: {why[:200]}; patterns are Python's without "
                "lookaround (?=…) and backreferences \\1"
            ) from None
        compiled = None
    if compiled is None or not searchable(written, SHORTEST):
        raise ValueError(
            f"the pattern {written[:60]!r} cannot be used: it is too large, since counts multiply what they "
            "repeat; write `+` for large counts, or [a-z] for \\w"
        )
    return compiled


def _compiled(written: str) -> SchemaValidator:
    ours = _END.sub(r"\1\\z", written)
    return SchemaValidator(core_schema.str_schema(pattern=ours, regex_engine="rust-regex"))


def searchable(written: str, size: int) -> bool:
    """Return whether a pattern can be searched for in `size` bytes of text, within `MOST_WORK`."""
    copies = max(size, SHORTEST) * LIMIT // MOST_WORK
    return _repeats(written, 1 << (copies - 1).bit_length())


@lru_cache(maxsize=4096)
def _repeats(written: str, copies: int) -> bool:
    """Return whether a pattern that is one compiles when it is repeated; the line feed ends its remark."""
    try:
        _compiled(f"(?:{written}\n){{{copies}}}")
    except SchemaError:
        return False
    return True


def occurs(written: str, text: str) -> bool:
    """Return whether a pattern is found in a text. Raises ValueError for one that is none."""
    try:
        pattern(written).validate_python(text)
    except ValidationError:
        return False
    return True


def size_of(text: str) -> int:
    """Return the bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
