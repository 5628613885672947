"""Puzzles: what one is, how an answer is read, and the families they are drawn from. Pure.

    >>> solves("3 / 6, Ada", "1/2, ada")
    True

A family draws a puzzle of a level from 1 to 10: its text, its answer, and the work that it takes. The text
says all that is needed: `tests/games/test_logic_families.py` reads it and finds the answer in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from peerage.game import Block, Heading, Sentence, TaskText, answers_grid
from peerage.game.levels import difficulty, near
from peerage.game.texts import toml

ANSWER_CHARS = 300
"""No answer of a puzzle is nearly as long; what is longer is not read."""

_NUMBER = re.compile(r"([+-]?[0-9]{1,60})(?: ?/ ?([0-9]{1,60}))?")


class Puzzle(Struct, frozen=True):
    """A puzzle as it is drawn: its family, what players read, its answer, its level, and its difficulty in
    logits, measured by the work that it takes."""

    family: str
    text: str
    answer: str
    level: int
    difficulty: float


class Drawn(NamedTuple):
    """A puzzle's text and answer, the steps of the search or the computation that finds it, and what else a
    puzzle of its class has."""

    text: str
    answer: str | int | Fraction
    work: float
    more: Mapping[str, Any] = {}


Family: TypeAlias = Callable[[Random, int], Puzzle]
"""Draws a puzzle of a level."""
TRIES = 3
"""Puzzles drawn at most until one is as difficult as its level is."""


def family(
    draw: Callable[..., Drawn], package: str = __package__, made: type[Puzzle] = Puzzle
) -> tuple[str, Family]:
    """Return a family's name, and the family of puzzles that `draw` makes in the sizes of a package's
    `levels.toml`."""
    name = draw.__name__.replace("_", "-")

    def drawn(rng: Random, level: int) -> Puzzle:
        stated = toml(package, "levels")[name]
        sizes: Mapping[str, Any] = {size: by_level[level - 1] for size, by_level in stated["sizes"].items()}

        def puzzle() -> Puzzle:
            text, answer, work, more = draw(rng, **sizes)
            measured = round(difficulty(work=work, usual_work=stated["work"]), 2)
            said: dict[str, Any] = {"text": text, "answer": str(answer), **more}
            return made(family=name, level=level, difficulty=measured, **said)

        return near(level, puzzle, TRIES)

    return name, drawn


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


def mistaken(right: str, rng: Random) -> str:
    """Return a likely mistake in place of an answer."""
    if number := re.search(r"[0-9]+$", right):
        near = [int(number[0]) + off for off in (-10, -2, -1, 1, 2, 10)]
        return f"{right[: number.start()]}{rng.choice([some for some in near if some >= 0])}"
    parts = right.split(", ")
    return ", ".join(parts[1:] + parts[:1]) if len({*parts}) > 1 else ""


def drawn(families: Mapping[str, Family], levels: Sequence[int], rng: Random) -> list[Puzzle]:
    """A puzzle of each of these levels, of as many families as there are."""
    names: list[str] = []
    while len(names) < len(levels):
        names += rng.sample(sorted(families), min(len(families), len(levels) - len(names)))
    return [families[name](rng, level) for name, level in zip(names, levels, strict=True)]


def shown(
    name: str,
    at: int,
    puzzle: Puzzle,
    text: str,
    solved: Mapping[str, Sequence[bool]],
    given: Mapping[str, str],
) -> Iterator[Block]:
    """Yield the puzzle at a place, from 0, under its `name`; once played, its answer and those `given`."""
    by = f": solved by {sum(each[at] for each in solved.values())} of {len(solved)}" if solved else ""
    title = f"{name} {at + 1}, {puzzle.family}, level {puzzle.level}{by}"
    yield Heading(title, anchor=f"q{at + 1}", closed=True)
    yield TaskText(text)
    if solved:
        yield Sentence(f"The answer: {puzzle.answer}", "good")
        answers = {label: given[label][:ANSWER_CHARS] or "(none)" for label in solved if label in given}
        yield answers_grid(answers, {label: each[at] for label, each in solved.items()})


def listed(items: Sequence[str]) -> str:
    """Items in a sentence: a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def digits_of(number: int) -> int:
    """Return the number of digits of a number that is not negative."""
    return len(str(number))
