"""Parts that tasks about programs are drawn from, what programs of them print, and how hard they are. Pure.

A kind of part is a table of a TOML file: templates, and slots of one letter. `@a` and `@b` are choices of
words, each with its code, other slots whole numbers between bounds. What stands in {{double braces}} is a
place: one expression without side effects. A bug is one wrong choice or number in one place.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import log2
from random import Random
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from peerage.game.levels import PER_DOUBLING, SLOPE, USUAL_LEVEL

Kind: TypeAlias = Mapping[str, Any]
SlotBug: TypeAlias = tuple[int, str, int]
"""A wrong value of a slot: the part's place in its program, the slot's name, a choice's place or a number."""


class DrawnPart(Struct, frozen=True):
    """A part of a task as it is drawn: its name, and the value of each of its slots."""

    name: str
    slots: Mapping[str, int]


class Family(NamedTuple):
    """A family of programs: its `kinds` of parts by name, and functions of parts. `framed` makes a program of
    the parts' texts, `says` is what players read, `line` draws an input."""

    kinds: Mapping[str, Kind]
    framed: Callable[[Sequence[DrawnPart], Sequence[str]], str]
    says: Callable[[Sequence[DrawnPart]], str]
    line: Callable[[Random, Sequence[DrawnPart]], str]

    def program(self, parts: Sequence[DrawnPart], bugs: Sequence[SlotBug] = ()) -> str:
        """Return a plain program with these bugs."""
        return self.framed(parts, written(parts, self.kinds, bugs))


AT = "_at"
"""Name of the function that programs which are traced call at each place."""
RAISED = "an exception"
RAISES = (ArithmeticError, LookupError, ValueError, TypeError, StopIteration)
"""Exceptions that programs with bugs may raise."""
_LEAST, _ENOUGH, _MOST = 0.7, 0.9, 1.43
"""Shares of the effort that a program shall take: the least, what is enough, and the most."""
_SLOT = re.compile(r"@([a-z])")
_PLACE = re.compile(r"\{\{(.+?)\}\}")
_TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|[^\w\s]+")


def drawn_part(name: str, kind: Kind, rng: Random) -> DrawnPart:
    """Return a part with a random value in each slot."""
    return DrawnPart(name, {slot: rng.choice(_values(kind, slot)) for slot in kind if len(slot) == 1})


def filled(kind: Kind, form: str, slots: Mapping[str, int]) -> str:
    """Return a kind's template of that form: `says` with words, `plain` or `short` with code."""
    return _PLACE.sub(r"\1", _filled(kind[form], kind, slots, form))


def written(
    parts: Sequence[DrawnPart], kinds: Mapping[str, Kind], bugs: Sequence[SlotBug] = (), form: str = "plain"
) -> list[str]:
    """Return the text of each part, with these bugs."""
    wrong = [{slot: value for place, slot, value in bugs if place == at} for at in range(len(parts))]
    return [
        filled(kinds[part.name], form, {**part.slots, **own}) for part, own in zip(parts, wrong, strict=True)
    ]


def traced(parts: Sequence[DrawnPart], kinds: Mapping[str, Kind], bugs: Sequence[SlotBug]) -> list[str]:
    """Return the plain text of each part, which calls `AT(right, wrong)` where bugs may be, with functions
    without arguments that compute the right value, and the wrong one of each bug by its place in `bugs`."""
    texts = []
    for at, part in enumerate(parts):
        kind, own = (
            kinds[part.name],
            [(bug, slot, value) for bug, (of, slot, value) in enumerate(bugs) if of == at],
        )

        def place(match: re.Match[str], part: DrawnPart = part, kind: Kind = kind, own: Any = own) -> str:
            right = _filled(match[1], kind, part.slots, "plain")
            wrong = [
                f"{bug}: lambda: {_filled(match[1], kind, {**part.slots, slot: value}, 'plain')}"
                for bug, slot, value in own
                if f"@{slot}" in match[1]
            ]
            return f"{AT}(lambda: {right}, {{{', '.join(wrong)}}})" if wrong else right

        texts.append(_filled(_PLACE.sub(place, kind["plain"]), kind, part.slots, "plain"))
    return texts


def places(parts: Sequence[DrawnPart], kinds: Mapping[str, Kind]) -> list[list[SlotBug]]:
    """Return for each place of plain programs the bugs that it may have: the numbers next to the right one,
    and of other choices those whose code begins alike, where there are such: they show seldom."""
    listed: list[list[SlotBug]] = []
    for at, part in enumerate(parts):
        kind, seen = kinds[part.name], set[str]()
        for place in _PLACE.finditer(kind["plain"]):
            slots = [slot for slot in dict.fromkeys(_SLOT.findall(place[1])) if slot not in seen]
            seen.update(slots)
            listed.append([(at, slot, value) for slot in slots for value in _wrong(part, kind, slot)])
    return [bugs for bugs in listed if bugs]


def outputs(source: str, inputs: Sequence[str], names: Mapping[str, Any] = {}) -> list[str]:
    """Return what a program of parts, which always ends, prints for each input. It sees `names`."""
    return [_output(_compiled(source), given, names) for given in inputs]


def effort(source: str) -> float:
    """Return the effort E = D · V that a program takes to understand, by Halstead, "Elements of Software
    Science" (1977): of n₁ different operators and n₂ different operands, N₁ and N₂ in all, the difficulty D
    is n₁/2 · N₂/n₂ and the volume V is (N₁ + N₂) · log₂(n₁ + n₂). Operands are names, numbers and texts."""
    lines = [_tokens(line) for line in source.split("\n")]
    operators = [token for line, _ in lines for token in line]
    operands = [token for _, line in lines for token in line]
    different, kinds = len({*operands}), len({*operators})
    volume = (len(operators) + len(operands)) * log2(kinds + different)
    return kinds / 2 * len(operands) / different * volume


@lru_cache(maxsize=8192)
def _tokens(line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the operators and the operands of a line."""
    split: tuple[list[str], list[str]] = ([], [])
    for token in _TOKEN.findall(line):
        named = token[0].isalnum() or token[0] in "_\"'"
        split[named and not keyword.iskeyword(token)].append(token)
    return tuple(split[0]), tuple(split[1])


@lru_cache(maxsize=256)
def _compiled(source: str) -> CodeType:
    return compile(source, "program.py", "exec", dont_inherit=True)


def _output(code: CodeType, given: str, names: Mapping[str, Any]) -> str:
    printed: list[str] = []
    lines = iter(given.split("\n"))

    def write(*values: object) -> None:
        printed.append(" ".join(map(str, values)))

    try:
        exec(code, {"input": lambda: next(lines), "print": write, **names})
    except RAISES:
        return RAISED
    return "\n".join(printed)


def grown(
    wanted: float,
    first: Sequence[DrawnPart],
    names: Sequence[str],
    longer: Callable[[Sequence[DrawnPart], str], Sequence[DrawnPart]],
    program: Callable[[Sequence[DrawnPart]], str],
    fits: Callable[[Sequence[DrawnPart]], bool] = lambda parts: True,
) -> tuple[DrawnPart, ...] | None:
    """Return parts whose `program` takes about the effort `wanted`: `first`, made `longer` by parts of these
    names in turn, where those `fits`. None where it came out too easy or too hard."""
    parts, takes = first, effort(program(first))
    for name in names:
        if takes >= _ENOUGH * wanted:
            break
        more = longer(parts, name)
        if (effort_more := effort(program(more))) <= _MOST * wanted and fits(more):
            parts, takes = more, effort_more
    return tuple(parts) if _LEAST * wanted <= takes <= _MOST * wanted else None


def work_at(level: int, usual_work: float) -> float:
    """Return the work of a task of a level, from the `usual_work` of level 3."""
    return usual_work * 2 ** (SLOPE * (level - USUAL_LEVEL) / PER_DOUBLING)


def _filled(template: str, kind: Kind, slots: Mapping[str, int], form: str) -> str:
    def value(place: re.Match[str]) -> str:
        slot = place[1]
        if slot not in "ab":
            return str(slots[slot])
        text = str(kind[slot][slots[slot]][form != "says"])
        for long, short in kind.get("shorter", {}).items() if form == "short" else ():
            text = text.replace(long, short)
        return text

    return _SLOT.sub(value, template).strip()


def _wrong(part: DrawnPart, kind: Kind, slot: str) -> list[int]:
    right, values = part.slots[slot], _values(kind, slot)
    if slot not in "ab":
        return [value for value in values if abs(value - right) == 1]
    codes = [str(code) for _, code in kind[slot]]
    alike = [value for value in values if value != right and codes[value][:1] == codes[right][:1]]
    return alike or [value for value in values if value != right]


def _values(kind: Kind, slot: str) -> Sequence[int]:
    bounds = kind[slot]
    return range(len(bounds)) if slot in "ab" else range(bounds[0], bounds[1] + 1)
