"""Programs that keep balances by commands: functions that call each other and share state. Pure.

    >>> parts = drawn(Random("seed"), 60_000)
    >>> print(statement(parts))  # doctest: +ELLIPSIS
    The program keeps the balances of six accounts: ...

A part (`commands.toml`) has some commands with what belongs to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from textwrap import fill

from peerage.game.texts import toml
from peerage.games.parts import DrawnPart, Family, Kind, drawn_part, filled, grown

_FRAME = toml("peerage.games.bug_hunt", "commands")["frame"]
KINDS: Mapping[str, Kind] = toml("peerage.games.bug_hunt", "commands")["parts"]
_FIRST = "credit"
"""The part that every program has."""
_WIDTH = 100
_WORDS = ("apple", "bread", "cedar", "delta", "ember", "fjord", "grape", "hazel", "ivory", "quiz", "zebra")
_VALUES: Mapping[str, Callable[[Random], str]] = {
    "A": lambda rng: rng.choice("aaaabbbbccccdef"),
    "N": lambda rng: str(rng.randint(1, 20)),
    "H": lambda rng: str(rng.randint(1, 4)),
    "D": lambda rng: rng.choice(("left", "right", "up", "down")),
    "W": lambda rng: rng.choice(_WORDS),
}


def drawn(rng: Random, wanted: float) -> tuple[DrawnPart, ...]:
    """Draw parts, with those that they need, until a program takes about the effort `wanted`."""

    def longer(parts: Sequence[DrawnPart], name: str) -> list[DrawnPart]:
        names = [part.name for part in parts]
        return [*parts, *[drawn_part(each, KINDS[each], rng) for each in _needed(name) if each not in names]]

    while True:
        first = [drawn_part(_FIRST, KINDS[_FIRST], rng)]
        if parts := grown(wanted, first, rng.sample([*KINDS], len(KINDS)), longer, FAMILY.program):
            return parts


def _needed(name: str) -> Iterator[str]:
    for need in KINDS[name].get("needs", ()):
        yield from _needed(need)
    yield name


def statement(parts: Sequence[DrawnPart]) -> str:
    """Return what players read."""
    rules = [f"- {filled(KINDS[part.name], 'says', part.slots)}" for part in parts]
    return "\n".join([_FRAME["says"], *rules])


def line(rng: Random, parts: Sequence[DrawnPart]) -> str:
    """An input: balances to begin with, then commands of a few parts."""
    some = rng.sample(parts, min(rng.randint(1, 3), len(parts)))
    kinds = [command for part in some for command in KINDS[part.name]["commands"]]
    first = ["credit A N"] * rng.randint(1, 4)
    chosen = [*first, *rng.choices(kinds, k=rng.randint(2, 8))]
    commands = [
        " ".join([word, *[_VALUES[value](rng) for value in values]])
        for word, *values in map(str.split, chosen)
    ]
    return "\n".join([str(len(commands)), *commands])


def _framed(parts: Sequence[DrawnPart], texts: Sequence[str]) -> str:
    words = dict.fromkeys([text.split()[0] for part in parts for text in KINDS[part.name]["commands"]])
    table = fill(
        ", ".join([f'"{word}": {word}' for word in words]),
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
    )
    functions = "\n\n\n".join([_FRAME["head"].strip(), *texts])
    return f"{functions}\n\n\nCOMMANDS = {{\n{table},\n}}\n{_FRAME['foot'].strip()}"


FAMILY = Family(KINDS, _framed, statement, line)
