"""Tasks about lists of integers, drawn step by step, so that none comes twice. Pure.

    >>> plan = drawn(Random("seed"), 1)
    >>> print(statement(plan))  # doctest: +ELLIPSIS
    Read a line of integers, separated by single spaces. Then, in this order:
    1. Replace every number below 23 by 23.
    2. Print their sum, where numbers count with plus and minus in turn, ...

A step (`numbers.toml`) has slots: choices of words, each with its code, and numbers. A statement says what
each slot means, and a program does it: a wrong choice or number in one slot is a bug. A player who has seen
every step before still has to read what this task means.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from random import Random
from types import CodeType
from typing import Any, TypeAlias

from msgspec import Struct

Slot: TypeAlias = tuple[int, str, int]
"""A value of a slot: the step's place in its plan, the slot's name, a choice's place or a number."""

_SLOT = re.compile(r"@([a-z])")
_READ = {
    "says": "Read a line of integers, separated by single spaces. Then, in this order:",
    "plain": "numbers = [int(word) for word in input().split()]",
    "short": "x=[*map(int,input().split())]",
}
_RAISED = "an exception"


class NumberStep(Struct, frozen=True):
    """A step of a task as it is drawn: its name, and the value of each of its slots."""

    name: str
    slots: Mapping[str, int]


Plan: TypeAlias = tuple[NumberStep, ...]


def drawn(rng: Random, steps: int) -> Plan:
    """So many different steps, and an ending."""
    parts = kinds()
    names = [*rng.sample([*parts["steps"]], steps), rng.choice([*parts["endings"]])]
    slots = [
        {slot: rng.choice(_values(name, slot)) for slot in _kind(name) if len(slot) == 1} for name in names
    ]
    return tuple(map(NumberStep, names, slots))


def statement(plan: Plan) -> str:
    """Return what players read."""
    listed = [f"{place}. {_filled(step, 'says', {})}" for place, step in enumerate(plan, 1)]
    return "\n".join([_READ["says"], *listed])


def program(plan: Plan, bugs: Sequence[Slot] = (), *, form: str = "plain") -> str:
    """A program for a plan with these bugs; `form` is `plain` or `short`."""
    wrong: dict[int, dict[str, int]] = {}
    for place, slot, value in bugs:
        wrong.setdefault(place, {})[slot] = value
    return "\n".join([_READ[form], *[_filled(step, form, wrong.get(at, {})) for at, step in enumerate(plan)]])


def bugs(plan: Plan) -> Iterator[Slot]:
    """Every wrong value of a slot: each other choice, and the numbers next to the right one."""
    for place, step in enumerate(plan):
        for slot, right in step.slots.items():
            values = _values(step.name, slot)
            wrong = values if slot in "ab" else [value for value in values if abs(value - right) == 1]
            yield from [(place, slot, value) for value in wrong if value != right]


def line(rng: Random) -> str:
    """An input."""
    return " ".join([str(rng.randint(-9, 30)) for _ in range(rng.randint(3, 12))])


def outputs(source: str, inputs: Sequence[str]) -> tuple[str, ...]:
    """Return what one of these programs prints for each input. They end by construction; no other may come
    here."""
    return tuple([_output(_compiled(source), given) for given in inputs])


@lru_cache(maxsize=64)
def _compiled(source: str) -> CodeType:
    return compile(source, "program.py", "exec", dont_inherit=True)


def _output(code: CodeType, given: str) -> str:
    printed: list[str] = []
    names = {"input": lambda: given, "print": lambda *values: printed.append(" ".join(map(str, values)))}
    try:
        exec(code, names)
    except (ArithmeticError, LookupError, ValueError):
        return _RAISED
    return "\n".join(printed)


def _filled(step: NumberStep, form: str, wrong: Mapping[str, int]) -> str:
    kind = _kind(step.name)
    slots = {**step.slots, **wrong}

    def value(place: re.Match[str]) -> str:
        slot = place[1]
        if slot not in "ab":
            return str(slots[slot])
        text = str(kind[slot][slots[slot]][form != "says"])
        for long, short in kind.get("shorter", {}).items() if form == "short" else ():
            text = text.replace(long, short)
        return text

    return _SLOT.sub(value, kind[form]).strip()


def _values(name: str, slot: str) -> Sequence[int]:
    bounds = _kind(name)[slot]
    return range(len(bounds)) if slot in "ab" else range(bounds[0], bounds[1] + 1)


def _kind(name: str) -> Mapping[str, Any]:
    kind: Mapping[str, Any] = kinds()["steps"].get(name) or kinds()["endings"][name]
    return kind


@cache
def kinds() -> Mapping[str, Mapping[str, Any]]:
    """The steps and endings that there are, by name."""
    return tomllib.loads(files("peerage.games").joinpath("numbers.toml").read_text("utf-8"))
