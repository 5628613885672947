"""Does a text give a color away? Plain transliterations of it, found by looking for each of them.

A leak is the color itself or what anybody undoes at sight or with one standard decoder: another order or
alphabet, separators, another base, base64, Morse, rot13, HSL, its digits spelled out in a major language. A
cipher with a key of its own (each digit shifted by three, say) is no leak: finding the key is the game.
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b32encode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb, hsv_to_rgb
from functools import lru_cache
from typing import NamedTuple

from peerage.games.texts import toml

_HEX = "0123456789ABCDEF"
_ROT13 = str.maketrans("ABCDEF", "NOPQRS")
_ROT5 = str.maketrans("0123456789", "5678901234")
_TEENS = (
    r"[\u5341\uc2ed][\u4e00\u4e8c\u4e09\u56db\u4e94\uc77c\uc774\uc0bc\uc0ac\uc624]"
    r"|[\u0627-\u064a]+\x20\u0639\u0634\u0631\b"
)
"""Eleven to fifteen in Chinese, Japanese and Korean, and in Arabic, where they are two words."""
_WORD = re.compile(
    _TEENS + r"|[\u3007\u4e00-\u9fff\uac00-\ud7a3]|[^\W\d_\u3007\u4e00-\u9fff\uac00-\ud7a3]+|\d+"
)
"""A word, or such a number; a character by itself in scripts without spaces."""
_PREFIXED = re.compile(
    r"\b0[xo](?=[0-9a-f])|\\u00(?=[0-9a-f]{2})|\\x(?=[0-9a-f]{2})|\bu\+00(?=[0-9a-f]{2})", re.IGNORECASE
)
"""Signs that programs put before a number or a character's code."""
_TELLS_HUE = re.compile(r"\bhs[lvb]|\bhue\b|\bsaturation\b|\bh\W{1,3}\d", re.IGNORECASE)
_NUMBER = r"(\d{1,3}(?:\.\d{1,6})?)"
_NAMED_HUES = re.compile(rf"(?<![\d.])(?={_NUMBER}[^\d]{{1,20}}{_NUMBER}[^\d]{{1,20}}{_NUMBER})")
_BARE_HUES = re.compile(rf"(?<![\d.])(?={_NUMBER}\W{{1,4}}{_NUMBER}%\W{{1,3}}{_NUMBER}%)")
_NEAR = 3.5 / 255
"""Most by which a channel may differ from what rounded hue, saturation and lightness give back."""


@lru_cache(maxsize=4096)  # what was shown once is shown at every further attempt
def leaks(color: str, text: str) -> tuple[str, ...]:
    """The names of the ways in which `text` shows `color` (six capital hexadecimal digits); empty: none.

    Case, spaces and punctuation between digits, `0x`, and look-alikes of other alphabets make no difference.
    """
    plain = unicodedata.normalize("NFKC", text)
    if not plain.isascii():
        plain = "".join([str(unicodedata.decimal(char, char)) for char in plain])
    plain = _PREFIXED.sub("", plain)
    latin = plain.translate(_signs().alike)
    joined = re.sub(r"[^0-9A-Z]", "", latin.upper())
    found = [name for name, needle in _needles(color).items() if needle in joined]
    if not found and _separated(color).search(latin):
        found.append("separated")
    for name, codes in _codes(color).items():
        if any(code in plain and _alone(code, plain) for code in codes):
            found.append(name)
    if any(code in plain.lower() for code in _rot47(color)):
        found.append("rot47")
    found += _in_numbers(color, [int(number) for number in re.findall(r"\d{1,9}", plain)])
    if _in_hues(color, plain):
        found.append("hue, saturation, lightness")
    if any(order in _morse(plain) for order in (color, color[::-1])):
        found.append("Morse")
    if any(order in digits for digits in _spelled(plain) for order in (color, color[::-1])):
        found.append("spelled out")
    return tuple(dict.fromkeys(found))


class _Signs(NamedTuple):
    """Other ways to write digits: look-alikes and strokes by character, Morse code, each language's words."""

    alike: Mapping[int, str]
    strokes: Mapping[int, str]
    morse: Mapping[str, str]
    words: tuple[Mapping[str, str], ...]
    any_word: frozenset[str]
    fillers: frozenset[str]


@lru_cache(maxsize=1)
def _signs() -> _Signs:
    """The signs as they are in their file."""
    signs = toml(__package__, "signs")
    alike, strokes = (
        {ord(char): sign for sign, some in signs[name].items() for char in some}
        for name in ("lookalikes", "strokes")
    )
    plain = {name: digit for at, digit in enumerate(_HEX) for name in (digit.lower(), str(at))}
    words = tuple([plain | _by_word(listed) for listed in signs["words"].values()])
    morse = dict(zip(signs["morse"].split(), _HEX, strict=True))
    any_word, fillers = frozenset[str]().union(*words), frozenset(signs["fillers"].split())
    return _Signs(alike, strokes, morse, words, any_word, fillers)


def _by_word(ways: Sequence[str]) -> dict[str, str]:
    words = [one.split("|") for one in ways]
    return {_folded(word): digit for digit, some in zip(_HEX, words, strict=False) for word in some}


@lru_cache(maxsize=256)
def _needles(color: str) -> dict[str, str]:
    """Return what to look for among capital letters and digits, by name; equal ones by the first of their
    names."""
    pairs = [color[at : at + 2] for at in (0, 2, 4)]
    red, green, blue = (int(pair, 16) for pair in pairs)
    named = {
        "the color": color,
        "reversed": color[::-1],
        "bytes reversed": "".join(reversed(pairs)),
        "digits swapped in pairs": "".join(pair[::-1] for pair in pairs),
        "rot13": color.translate(_ROT13),
        "rot18": color.translate(_ROT13).translate(_ROT5),
        "hexadecimal of its characters": color.encode().hex().upper(),
        "hexadecimal of its small characters": color.lower().encode().hex().upper(),
        "binary": f"{int(color, 16):024b}",
        "decimal bytes": f"{red:03}{green:03}{blue:03}",
        "octal bytes": f"{red:03o}{green:03o}{blue:03o}",
    }
    needles: dict[str, str] = {}
    for name, needle in named.items():
        if needle not in needles.values():
            needles[name] = needle
    return needles


@lru_cache(maxsize=256)
def _separated(color: str) -> re.Pattern[str]:
    """The digits, or the bytes, with the same characters between any two of them, forwards or backwards; or
    each after its place, or the name of its channel."""
    pairs = [color[at : at + 2] for at in (0, 2, 4)]
    forms = [
        rf"(?P<s{at}>.{{1,16}}?)".join(parts[:2]) + "".join(f"(?P=s{at}){part}" for part in parts[2:])
        for at, parts in enumerate((color, color[::-1], pairs, pairs[::-1]))
    ]
    gap = r"\W{0,4}(?:\w{1,8}\W{1,3})?"
    for labels, parts in (
        ("123456", color),
        ("123", pairs),
        (("r(?:ed)?", "g(?:reen)?", "b(?:lue)?"), pairs),
    ):
        labelled = [rf"{label}{gap}{part}" for label, part in zip(labels, parts, strict=True)]
        forms.append(r"\b" + r"\W{0,4}(?:[^\W\d]{2,12}\W{1,3}){0,2}\b".join(labelled) + r"\b")
    return re.compile("|".join(forms), re.IGNORECASE | re.DOTALL)


@lru_cache(maxsize=256)
def _codes(color: str) -> dict[str, tuple[str, ...]]:
    """Return what standard encoders make of the digits and of the three bytes, by name."""
    texts = [color, color.lower(), f"#{color}", f"#{color.lower()}", color[::-1]]
    raw = [text.encode() for text in texts] + [bytes.fromhex(color)]
    base64 = [b64encode(one).decode().rstrip("=") for one in raw]
    base32 = [b32encode(one).decode().rstrip("=") for one in raw]
    return {
        "base64": (*base64, *[code.replace("+", "-").replace("/", "_") for code in base64]),
        "base32": (*base32, *[code.lower() for code in base32]),
    }


@lru_cache(maxsize=256)
def _rot47(color: str) -> tuple[str, ...]:
    return tuple(
        "".join(chr(33 + (ord(char) - 33 + 47) % 94) for char in one).lower()
        for one in (color, color.lower())
    )


def _in_numbers(color: str, numbers: Sequence[int]) -> Iterator[str]:
    """Ways in which a text's whole numbers, in their order, show the color."""
    rgb, whole = tuple(bytes.fromhex(color)), int(color, 16)
    codes = [tuple(text.encode()) for text in (color, color.lower())]
    if _holds(numbers, _orders(rgb)):
        yield "decimal bytes"
    if whole in numbers and whole > 999:
        yield "decimal"
    if _holds(numbers, _orders(_values(color))) and not color.isdigit():
        yield "decimal digits"
    if any(_holds(numbers, _orders(code)) for code in codes):
        yield "character codes"
    if _holds(numbers, _orders(_in_octal(rgb))):
        yield "octal bytes"
    if _in_octal([whole])[0] in numbers and whole > 999:
        yield "octal"
    if any(_holds(numbers, _orders(_in_octal(code))) for code in codes):
        yield "octal character codes"


def _in_octal(values: Iterable[int]) -> tuple[int, ...]:
    """The octal digits of each value, read as a decimal number."""
    return tuple([int(f"{value:o}") for value in values])


def _in_hues(color: str, text: str) -> bool:
    """Return whether three numbers in a row are its hue, saturation and lightness, or value, but for
    rounding: where nothing names these, the second and the third are percentages and stand close."""
    rgb = [byte / 255 for byte in bytes.fromhex(color)]
    for triple in (_NAMED_HUES if _TELLS_HUE.search(text) else _BARE_HUES).findall(text):
        hue, *shares = map(float, triple)
        part, light = (share if share <= 1 else share / 100 for share in shares)
        if hue <= 360 and max(part, light) <= 1:
            for found in (hls_to_rgb(hue / 360, light, part), hsv_to_rgb(hue / 360, part, light)):
                if all(abs(one - other) <= _NEAR for one, other in zip(found, rgb, strict=True)):
                    return True
    return False


def _alone(code: str, text: str) -> bool:
    """Return whether a code stands in a text as a word of its own."""
    return re.search(rf"(?<![\w+/]){re.escape(code)}(?![\w+/])", text) is not None


def _values(color: str) -> tuple[int, ...]:
    return tuple(_HEX.index(digit) for digit in color)


def _orders(values: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    return tuple(values), tuple(reversed(values))


def _morse(text: str) -> str:
    """The digits that a text's runs of dots and dashes stand for, in order; a dot for any other run."""
    runs = re.findall(r"[.-]+", text.translate(_signs().strokes))
    return "".join([_signs().morse.get(run, ".") for run in runs])


def _spelled(text: str) -> Iterator[str]:
    """The digits that words, letters and numbers stand for, in order, by each language; a dot for others."""
    signs = _signs()
    words = [word for word in _WORD.findall(_folded(text)) if word not in signs.fillers]
    if "xxxxxx" in "".join(["x" if word in signs.any_word else "." for word in words]):
        for digits in signs.words:
            yield "".join([digits.get(word, ".") for word in words])


def _folded(text: str) -> str:
    """Small letters without accents."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in apart if unicodedata.category(c)[0] != "M"))


def _holds(values: Sequence[int], orders: Iterable[Sequence[int]]) -> bool:
    return any(
        tuple(values[at : at + len(wanted)]) == tuple(wanted)
        for wanted in orders
        for at in range(len(values) - len(wanted) + 1)
    )
