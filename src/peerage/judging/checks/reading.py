"""Checks as people write them, such as `number ± 0.5`, read and held to what a check must have. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from peerage.formats.patterns import pattern
from peerage.formats.reading.numbers import number
from peerage.formats.schemas.brought import check_schema
from peerage.formats.texts import read_json
from peerage.judging.checks.credit import KINDS, Check, listed, normalized, texts_of
from peerage.values.figures import suggest

MOST_FIELDS = 2_000
"""Fields of one expected JSON value that are compared."""
MOST_TEXTS, MOST_EXPECTED = 1_000, 1_000_000
"""Texts that one check expects or chooses from, and characters in all of them."""
ONE_LINE = 80
"""Characters of an expected answer that is compared where nothing says how; a longer one is a reference."""
_WRITTEN = re.compile(r"\s*([\w-]+)\s*:?\s*(.*?)\s*", re.DOTALL)
_PROGRAM = re.compile(r"[\w./-]{1,200}\.py:[^\W\d]\w{0,99}")
_TOLERANCE = re.compile(r"(?:±|\+/-|\+-|tolerance)?\s*:?\s*([0-9]+\.?[0-9]*(?:e-?[0-9]+)?|\.[0-9]+)\s*(%?)")


def check_of(written: Any, expected: Any) -> Check:
    """Return the check that a row asks for: `exact`, `number ± 0.5`, `number 1%`, `choice A|B|C`, or a
    mapping with `type` and fields of `Check`. Raises ValueError, which says what was expected."""
    if isinstance(written, Mapping):
        return _of_mapping(written, expected)
    read = _WRITTEN.fullmatch(str(written))
    kind, more = (read[1].lower(), read[2]) if read else ("", "")
    if kind not in KINDS:
        raise ValueError(f"found {written!r:.60}; no check is called so{suggest(kind, KINDS)}")
    check = Check(kind, expected)
    if kind == "number" and more:
        give = _TOLERANCE.fullmatch(more)
        if give is None:
            raise ValueError(f"found {written!r:.60}; write a tolerance, such as `number 0.5` or `number 1%`")
        share = bool(give[2])
        check = msgspec.structs.replace(
            check, tolerance=float(give[1]) / (100 if share else 1), relative=share
        )
    elif kind == "choice" and more:
        options = tuple([option.strip() for option in re.split(r"[|,;]", more) if option.strip()])
        check = msgspec.structs.replace(check, options=options)
    elif kind == "python":
        check = msgspec.structs.replace(check, program=more)
    elif more:
        raise ValueError(f"found {written!r:.60}; `{kind}` stands alone, and what is right in `expected`")
    return sound(check)


def _of_mapping(written: Mapping[str, Any], expected: Any) -> Check:
    stated = {**written}
    stated["kind"] = stated.pop("type", stated.get("kind", ""))
    stated.setdefault("expected", expected)
    if stated["kind"] not in KINDS:
        raise ValueError(
            f"found type {stated['kind']!r:.60}; no check is called so{suggest(str(stated['kind']), KINDS)}"
        )
    known = Check.__struct_fields__
    if unknown := [key for key in stated if key not in known]:
        raise ValueError(f"found {unknown[0]!r:.60} in a check{suggest(str(unknown[0]), known)}")
    try:
        return sound(msgspec.convert(stated, Check))
    except msgspec.ValidationError as error:
        raise ValueError(f"a check cannot be read: {error}") from None


def sound(check: Check) -> Check:
    """Return a check that can be made. Raises ValueError for a check without what it compares with, a pattern
    or a number that is none, and an expected choice that is no option."""
    if not (math.isfinite(check.tolerance) and check.tolerance >= 0):
        raise ValueError(f"the tolerance is {check.tolerance}; a number from 0 was expected")
    if not 0 < check.weight <= 1_000:
        raise ValueError(
            f"the weight of a check is {check.weight}; a number above 0, up to 1000, was expected"
        )
    if check.kind == "json":
        return _sound_json(check)
    if check.kind == "python":
        if not _PROGRAM.fullmatch(check.program):
            raise ValueError(f"found the program {check.program!r:.60}; write `python: FILE.py:FUNCTION`")
        return check
    texts = texts_of(check.expected) if check.expected is not None else []
    if (
        not texts
        or not all(texts)
        or (not isinstance(check.expected, str) and not all(map(str.strip, texts)))
    ):
        raise ValueError(f"the check `{check.kind}` has nothing to compare with; fill in `expected`")
    for name, several in (("expected", texts), ("options", check.options)):
        if len(several) > MOST_TEXTS:
            raise ValueError(f"`{name}` has {len(several):,} texts; {MOST_TEXTS:,} are the most")
        if (size := sum(map(len, several))) > MOST_EXPECTED:
            raise ValueError(f"`{name}` has {size:,} characters; {MOST_EXPECTED:,} are the most")
    options = [normalized(option) for option in check.options]
    for text in texts:
        if check.kind == "regex":
            pattern(text)
        elif check.kind == "number" and number(text) is None:
            raise ValueError(f"found {text!r:.60} in `expected`, and the check `number` needs a number")
        elif check.kind == "choice" and options and normalized(text) not in options:
            raise ValueError(f"expected is {text!r:.60}, which is none of {listed(check.options)}")
    return check


def _sound_json(check: Check) -> Check:
    expected = check.expected
    if check.schema is not None:
        check_schema(check.schema)
    if isinstance(expected, str) and expected.strip():
        try:
            expected = read_json(expected)
        except (msgspec.DecodeError, RecursionError):
            raise ValueError(
                f"found {check.expected!r:.60} in `expected`, which is no JSON; the check `json` needs some"
            ) from None
    elif isinstance(expected, str):
        expected = None
    if _fields(expected) > MOST_FIELDS:
        raise ValueError(f"`expected` has more than {MOST_FIELDS:,} fields; check fewer")
    return msgspec.structs.replace(check, expected=expected)


def _fields(value: Any, depth: int = 0) -> int:
    if depth > 60:
        return MOST_FIELDS + 1
    inner = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    return sum([_fields(part, depth + 1) for part in inner]) or 1


def usual_check(expected: Any) -> Check | None:
    """Return the check of a task that states what is expected and not how it is compared: `exact` for one
    line of at most `ONE_LINE` characters, `number` for a number of JSON, `json` for an object; None for a
    text that judges are shown."""
    if isinstance(expected, Mapping):
        return sound(Check("json", expected))
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return sound(Check("number", expected))
    texts = texts_of(expected) if expected is not None else []
    if texts and all(text.strip() and len(text) <= ONE_LINE and "\n" not in text.strip() for text in texts):
        return Check("exact", expected)
    return None
