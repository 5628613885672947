"""Sameness of two challenges, by their wording. Pure.

An exact wording has one id (`identity`). Beyond it, two challenges are the same when they have the same words
and numbers but for filler ("please", "what is", "find the"), or the same numbers in the same order and the
same answer of three digits or more (`likeness`): a puzzle in other words.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

_WORD = re.compile(r"\w+(?:[.,]\w+)*|[^\w\s.,;:?…'\"“”‘’]")
_FILLER = frozenset(
    """
    a all an and answer any are as at be being between both by calculate challenge code coding compute count
    denote determine does each equal equals evaluate exact exactly find for from get give given gives has have
    here how i if in inclusive included integer into is it its just kindly let many may me much name now
    number numbers of on out output over password please print puzzle question reply report result return say
    single so solve such task tell that the their them then there these they this those through to total up
    upto us value was we what whats when where which whole will with would write you your
    """.split()  # noqa: SIM905
)
_SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/", "⁄": "/"})
_MARKUP = re.compile(r"\*\*|__|[`#$\\]|^[\s<=>]+|(?<![\s<=>])[\s<=>]+$", re.MULTILINE)
_THOUSANDS = re.compile(r"(?<=[0-9])[,_' ](?=[0-9]{3}\b)")
_TOKEN = re.compile(r"[0-9]+(?:\.[0-9]+)?|[^\W\d_]+|[+*^%=<>≤≥√]|(?<![^\W\d_])[-/]|(?<=[0-9)])!")
_DIGIT = re.compile(r"\d")
_RAISED = re.compile("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_ACCENT = re.compile("(?<=[^\\W\\d_])[\u0300-\u036f]+")
_ALIKE = str.maketrans("авекмнорстухіјѕһԁԛԝαβεζηικμνορτυχ", "abekmhopctyxijshdqwabezhikmvoptux")
"""Letters of other alphabets that look like Latin ones, small or capital."""
TELLING = 100
"""An answer of fewer digits stands in many descriptions, and is shared by many challenges, by chance."""


def identity(description: str) -> str:
    """The id of a challenge: 16 hex digits that follow from its wording alone.

    Case, white space, stops and quotation marks do not count, nor whether characters are composed (NFC), so
    the same challenge written twice has one id; other signs and digits count, since they change the answer.
    """
    text = unicodedata.normalize("NFC", description).casefold()
    return sha256(" ".join(_WORD.findall(text)).encode()).hexdigest()[:16]


def likeness(description: str, answer: int | None) -> tuple[str, ...]:
    """Texts of which the same challenge in other words has one in common; the first is of its wording.

    Accents, and letters and digits of other alphabets that read alike, do not count.
    `answer` is None where it is sealed, and then the wording alone counts.
    """
    text = _RAISED.sub(r"^\g<0>", description)
    text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold().translate(_ALIKE)
    text = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    tokens = _TOKEN.findall(_THOUSANDS.sub("", _MARKUP.sub(" ", text)))
    words = sorted({_stem(token) for token in tokens if token[0].isalpha() and token not in _FILLER})
    numbers = [token for token in tokens if not token[0].isalpha()]
    wording = " ".join(["wording", *(numbers + words or [identity(description)])])
    if answer is None or abs(answer) < TELLING or not re.search("[0-9]", wording):
        return (wording,)
    digits = [token for token in numbers if token[0].isdigit()]
    return wording, " ".join(["numbers", *digits, "answer", str(answer)])


def _stem(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word


def mark(text: str, salt: str) -> str:
    """A text of `likeness` as six hex digits, which reveal nothing to those who do not know `salt`."""
    return sha256(f"{salt}/{text}".encode()).hexdigest()[:6]
