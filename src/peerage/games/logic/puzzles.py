"""Puzzles: what one is, how an answer is read, and the families they are drawn from. Pure.

    >>> solves("3 / 6, Ada", "1/2, ada")
    True

A family is a function of a random generator and a level from 1 to 5; it returns text and answer. The text
says all that is needed: `tests/games/test_logic_families.py` reads it and finds the answer in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random
from typing import TypeAlias

from msgspec import Struct

Family: TypeAlias = Callable[[Random, int], tuple[str, str | int | Fraction]]

LEVELS = 5
ANSWER_CHARS = 300
"""No answer of a puzzle is nearly as long; what is longer is not read."""
"""Rule by which answers are read, as players see it; `parts` does it."""

_NUMBER = re.compile(r"([+-]?[0-9]{1,60})(?: ?/ ?([0-9]{1,60}))?")


class Puzzle(Struct, frozen=True):
    """A puzzle as it is drawn: its family, what players read, and its answer."""

    family: str
    text: str
    answer: str


def parts(answer: str) -> tuple[Fraction | str, ...]:
    """Return what an answer says, by the one rule of `reading` in `texts.toml`."""
    return tuple([_part(" ".join(part.split())) for part in answer[:ANSWER_CHARS].split(",")])


def _part(text: str) -> Fraction | str:
    number = _NUMBER.fullmatch(text)
    if number is None or (number[2] and not int(number[2])):
        return text.casefold()
    return Fraction(int(number[1]), int(number[2] or 1))


def solves(given: str, answer: str) -> bool:
    """Return whether what a player wrote is the answer."""
    return len(given) <= ANSWER_CHARS and parts(given) == parts(answer)


def drawn(families: Mapping[str, Family], count: int, level: int, rng: Random) -> list[Puzzle]:
    """So many puzzles, of as many families as there are."""
    names: list[str] = []
    while len(names) < count:
        names += rng.sample(sorted(families), min(len(families), count - len(names)))
    puzzles = []
    for name in names:
        text, answer = families[name](rng, level)
        puzzles.append(Puzzle(name, text, str(answer)))
    return puzzles


def listed(items: list[str]) -> str:
    """Items in a sentence: a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
