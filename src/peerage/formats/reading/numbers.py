"""Numbers in what people and models write: `1.234,50 €`, `٤٢`, `1 234`. Pure.

>>> number("It is 1,234.50 EUR"), numbers("1,2,3")
(1234.5, [1, 2, 3])
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator

from peerage.values.texts import lazy

_NUMBER = lazy(r"(?<![\w.,])[-+]?(?:[0-9](?:[0-9.,'’_  ]{0,40}[0-9])?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_GROUPED = lazy(r"[0-9]{1,3}(?:[ ’'_][0-9]{3})+")


_THOUSANDS = lazy(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}")
_APART = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
"""Decompositions of signs that are no digits of a number: `4²` is not 42."""


def number(text: str) -> float | None:
    """Return the number that a text is, with signs of currency and units around it; None where it is none. Of
    `1,234.5` and `1.234,5` the last mark is the decimal one; a comma with three digits behind it groups. A
    whole number is exact, however long."""
    values = numbers(text)
    return values[0] if len(values) == 1 else None


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in order; what may be a version or a date is none."""
    text = text.translate({ord(sign): _plain_sign(sign) for sign in {*text} if sign > "\x7f"})
    return [value for written in _NUMBER.finditer(text) for value in _read(written[0])]


def _plain_sign(sign: str) -> str:
    """Return a sign as numbers are written: digits of any script as ASCII."""
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    if unicodedata.decomposition(sign).startswith(_APART):
        return sign
    return {"−": "-", "\u066b": ".", "\u066c": ","}.get(sign) or unicodedata.normalize("NFKC", sign)


def _read(written: str) -> Iterator[float]:
    """Yield the numbers of digits with marks in between: blanks and several commas part unless they group."""
    for part in [written] if _GROUPED.match(written) else written.split():
        listed = part.count(",") > 1 and "." not in part and not _THOUSANDS.fullmatch(part)
        for digits in part.split(",") if listed else [part]:
            value = _value(re.sub(r"[ ’'_]", "", digits))
            if value is not None:
                yield value


def _value(digits: str) -> float | None:
    point, comma = digits.rfind("."), digits.rfind(",")
    if point >= 0 and comma >= 0:
        group = "," if point > comma else "."
        digits = digits.replace(group, "").replace(",", ".")
    elif comma >= 0:
        digits = digits.replace(",", "" if _THOUSANDS.fullmatch(digits) else ".")
    elif digits.count(".") > 1:
        if not _THOUSANDS.fullmatch(digits.replace(".", ",")):
            return None  # a version, a date
        digits = digits.replace(".", "")
    try:
        value = int(digits) if digits.strip("+-").isdigit() else float(digits)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
