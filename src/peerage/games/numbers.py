"""Tasks about lists of integers, drawn step by step, so that none comes twice. Pure.

    >>> plan = drawn(Random("seed"), 3_000)
    >>> print(statement(plan))  # doctest: +ELLIPSIS
    Read a line of integers, separated by single spaces. Then, in this order:
    1. ...

Steps and endings are parts (`numbers.toml`). A player who has seen every step before still has to
read what this task means.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

from peerage.game.texts import toml
from peerage.games.parts import (
    RAISED,
    DrawnPart,
    Family,
    SlotBug,
    drawn_part,
    filled,
    grown,
    outputs,
    written,
)

Plan: TypeAlias = Sequence[DrawnPart]

_PARTS = toml("peerage.games", "numbers")
READ = {
    "says": "Read a line of integers, separated by single spaces. Then, in this order:",
    "plain": "numbers = [int(word) for word in input().split()]",
    "short": "x=[*map(int,input().split())]",
}
_SAMPLE = 12
"""Lists on which a step is tried before it is taken into a plan."""
_LONGEST, _GREATEST = 40, 999
"""Bounds of what steps leave: numbers in a list, and their size."""
_CHANGED, _DIFFERENT = 0.5, 0.75
"""Shares of lists that a step changes and leaves different, at least."""


def drawn(rng: Random, wanted: float, seldom: int = 0) -> tuple[DrawnPart, ...]:
    """Draw different steps and an ending, so that a plain program takes about the effort `wanted`; in
    `seldom` of them at least a bug may show on few lists only. Each step changes lists, and leaves enough
    that differ."""
    steps, endings = [*_PARTS["steps"]], [*_PARTS["endings"]]
    if seldom:
        steps = [name for name in steps if "{{" in KINDS[name]["plain"]]
        endings = [name for name in endings if "seldom" in KINDS[name]]
    rare = [name for name in steps if "seldom" in KINDS[name]]
    while True:
        ending = rng.choice(endings)
        order = [*rng.sample(rare, seldom), *rng.sample(steps, len(steps) if not seldom else 2)]
        order = rng.sample(order, len(order))
        lines = [line(rng) for _ in range(_SAMPLE)]

        def longer(plan: Plan, name: str) -> Plan:
            return [*plan[:-1], drawn_part(name, KINDS[name], rng), plan[-1]]

        def fits(plan: Plan, lines: list[str] = lines) -> bool:
            after = followed(plan[-2], lines)
            fitting = _telling(lines, after)
            lines[:] = after if fitting else lines
            return fitting

        plan = grown(
            wanted, [drawn_part(ending, KINDS[ending], rng)], [*dict.fromkeys(order)], longer, program, fits
        )
        if plan and sum("seldom" in KINDS[step.name] for step in plan) >= seldom:
            return plan


def _telling(before: Sequence[str], after: Sequence[str]) -> bool:
    """Tell that a step changed enough lists, and left enough different ones, none too long or too great."""
    if RAISED in after or len({*after}) < _DIFFERENT * len(before):
        return False
    lists = [[abs(int(word)) for word in text.split()] for text in after]
    changed = sum(old != new for old, new in zip(before, after, strict=True))
    bounded = all(len(each) <= _LONGEST and max(each, default=0) <= _GREATEST for each in lists)
    return bounded and changed > _CHANGED * len(before)


def followed(step: DrawnPart, lines: Sequence[str]) -> list[str]:
    """Return the lists that a step makes of these."""
    return outputs(_framed([step], [*written([step], KINDS), "print(*numbers)"]), lines)


def statement(plan: Plan) -> str:
    """Return what players read."""
    listed = [f"{at}. {filled(KINDS[step.name], 'says', step.slots)}" for at, step in enumerate(plan, 1)]
    return "\n".join([READ["says"], *listed])


def program(plan: Plan, bugs: Sequence[SlotBug] = (), *, form: str = "plain") -> str:
    """A program for a plan with these bugs; `form` is `plain` or `short`."""
    return "\n".join([READ[form], *written(plan, KINDS, bugs, form)])


def line(rng: Random, plan: Plan = ()) -> str:
    """An input."""
    return " ".join([str(rng.randint(-9, 30)) for _ in range(rng.randint(3, 12))])


def _framed(plan: Plan, texts: Sequence[str]) -> str:
    return "\n".join([READ["plain"], *texts])


KINDS = {**_PARTS["steps"], **_PARTS["endings"]}
FAMILY = Family(KINDS, _framed, statement, line)
