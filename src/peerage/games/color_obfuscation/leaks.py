"""Does a text give a colour away? Plain transliterations of it, found by looking for each of them.

A leak is the colour itself or what anybody undoes at sight or with one standard decoder: another order,
another base, base64, rot13, its digits spelled out. A cipher with a key of its own (each digit shifted by
three, say) is no leak: finding the key is the game.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import lru_cache

_HEX = "0123456789ABCDEF"
_DIGIT_WORDS = (
    ("zero", "oh", "nought", "null"),
    ("one",),
    ("two",),
    ("three",),
    ("four",),
    ("five",),
    ("six",),
    ("seven",),
    ("eight",),
    ("nine", "niner"),
    ("a", "ten", "alpha", "alfa", "ay"),
    ("b", "eleven", "bravo", "bee"),
    ("c", "twelve", "charlie", "cee"),
    ("d", "thirteen", "delta", "dee"),
    ("e", "fourteen", "echo"),
    ("f", "fifteen", "foxtrot", "eff"),
)
_SPELLED = {word: value for value, words in enumerate(_DIGIT_WORDS) for word in words}
_FILLERS = frozenset({"and", "then", "hash", "dash", "comma", "digit", "letter"})
_ROT13 = str.maketrans("ABCDEF", "NOPQRS")
_ROT5 = str.maketrans("0123456789", "5678901234")


@lru_cache(maxsize=4096)  # what was shown once is shown at every further attempt
def leaks(color: str, text: str) -> tuple[str, ...]:
    """The names of the ways in which `text` shows `color` (six capital hexadecimal digits); empty: none.

    Case, spaces and punctuation between the digits, `0x`, and full-width digits make no difference.
    """
    plain = unicodedata.normalize("NFKC", text)
    joined = re.sub(r"[^0-9A-Z]", "", re.sub(r"\b0[xX]", "", plain).upper())
    found = [name for name, needle in _needles(color).items() if needle in joined]
    if any(code in plain for code in _base64(color)):
        found.append("base64")
    if any(code in plain.lower() for code in _rot47(color)):
        found.append("rot47")
    found += _in_numbers(color, [int(number) for number in re.findall(r"\d{1,9}", plain)])
    if any(_holds(_spelled(plain), digits) for digits in _orders(_values(color))):
        found.append("spelled out")
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=256)
def _needles(color: str) -> dict[str, str]:
    """What to look for among capital letters and digits, by name; equal ones by the first of their names."""
    pairs = [color[at : at + 2] for at in (0, 2, 4)]
    red, green, blue = (int(pair, 16) for pair in pairs)
    named = {
        "the colour": color,
        "reversed": color[::-1],
        "bytes reversed": "".join(reversed(pairs)),
        "digits swapped in pairs": "".join(pair[::-1] for pair in pairs),
        "rot13": color.translate(_ROT13),
        "rot18": color.translate(_ROT13).translate(_ROT5),
        "hexadecimal of its characters": color.encode().hex().upper(),
        "hexadecimal of its small characters": color.lower().encode().hex().upper(),
        "binary": f"{int(color, 16):024b}",
        "decimal bytes": f"{red:03}{green:03}{blue:03}",
    }
    needles: dict[str, str] = {}
    for name, needle in named.items():
        if needle not in needles.values():
            needles[name] = needle
    return needles


@lru_cache(maxsize=256)
def _base64(color: str) -> tuple[str, ...]:
    texts = [color, color.lower(), f"#{color}", f"#{color.lower()}", color[::-1]]
    raw = [text.encode() for text in texts] + [bytes.fromhex(color)]
    codes = [b64encode(one).decode().rstrip("=") for one in raw]
    return tuple(codes + [code.replace("+", "-").replace("/", "_") for code in codes])


@lru_cache(maxsize=256)
def _rot47(color: str) -> tuple[str, ...]:
    return tuple(
        "".join(chr(33 + (ord(char) - 33 + 47) % 94) for char in one).lower()
        for one in (color, color.lower())
    )


def _in_numbers(color: str, numbers: Sequence[int]) -> Iterator[str]:
    """Ways in which a text's decimal numbers, in their order, show the colour."""
    rgb = tuple(bytes.fromhex(color))
    if any(_holds(numbers, order) for order in _orders(rgb)):
        yield "decimal bytes"
    if int(color, 16) in numbers and int(color, 16) > 999:
        yield "decimal"
    if any(_holds(numbers, order) for order in _orders(_values(color))) and not color.isdigit():
        yield "decimal digits"
    codes = [tuple(text.encode()) for text in (color, color.lower())]
    if any(_holds(numbers, order) for one in codes for order in _orders(one)):
        yield "character codes"


def _values(color: str) -> tuple[int, ...]:
    return tuple(_HEX.index(digit) for digit in color)


def _orders(values: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(values), tuple(reversed(values))


def _spelled(text: str) -> list[int]:
    """The digits that words, letters and numbers stand for, in order; -1 for any other word."""
    values: list[int] = []
    for word in re.findall(r"[a-z]+|\d+", text.lower()):
        if word.isdigit():
            values.append(int(word) if len(word) < 3 and int(word) < 16 else -1)
        elif word not in _FILLERS:
            values.append(_SPELLED.get(word, -1))
    return values


def _holds(values: Sequence[int], wanted: Sequence[int]) -> bool:
    size = len(wanted)
    return any(tuple(values[at : at + size]) == tuple(wanted) for at in range(len(values) - size + 1))
