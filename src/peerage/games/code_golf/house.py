"""House players of code golf: real programs, of a length and a correctness by skill. Pure."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from random import Random
from string import ascii_letters

from peerage.game.house import HouseCall
from peerage.game.levels import chance
from peerage.games.code_golf.tasks import GolfTask
from peerage.games.numbers import KINDS, READ, Plan, program
from peerage.games.parts import outputs, places, written

SPREAD = 1.0
"""Standard deviation, in logits, of how short a player's programs are."""
_COMMENT = (
    "# reads the numbers, does to them what the task says step by step, and prints what comes of them; "
)
_NAME = re.compile(r"\"[^\"]*\"|'[^']*'|\.?[A-Za-z_]\w*")
_KEPT = {*keyword.kwlist, *dir(builtins), "key", "default"}
_LETTERS = [letter for letter in ascii_letters if letter != "x"]


def golfer(call: HouseCall, skill: float, rng: Random) -> str:
    """Return a correct program with the chance that a player of that skill has at this difficulty, else one
    with a mistake in a step.

    Of the bytes that a plain program has and the shortest known has not, it saves a share: a logistic in
    ability less difficulty too, give or take `SPREAD` logits.
    """
    task: GolfTask = call.oracle
    right = rng.random() < chance(skill, task.difficulty)
    saved = chance(skill, task.difficulty + rng.gauss(0, SPREAD))
    *longer, shortest = ladder(task.plan)
    size = len(shortest) + round((1 - saved) * (len(longer[0]) - len(shortest)))
    if not right:
        return _padded(_mistaken(task, rng), size)
    return _padded(next(source for source in [*longer, shortest] if len(source) <= size), size)


def ladder(plan: Plan) -> list[str]:
    """Return correct programs, each shorter than the one before: plain, then with narrow indents, then with
    names of one letter, then with one part after another in a shorter form."""
    narrow = program(plan).replace("    ", " ")
    steps = [program(plan), narrow]
    plain, short = written(plan, KINDS), written(plan, KINDS, form="short")
    for many in range(len(plan) + 1):
        parts = [*short[:many], *[_renamed(text.replace("    ", " ")) for text in plain[many:]]]
        steps.append("\n".join([READ["short"], *parts]))
    return [
        source for at, source in enumerate(steps) if all(len(source) < len(other) for other in steps[:at])
    ]


def _renamed(text: str) -> str:
    """Return a part with names of one letter, `x` for the list of numbers."""
    letters: dict[str, str] = {"numbers": "x"}

    def letter(place: re.Match[str]) -> str:
        name = place[0]
        if name[0] in ".\"'" or name in _KEPT:
            return name
        return letters.setdefault(name, _LETTERS[len(letters) - 1])

    return _NAME.sub(letter, text)


def _mistaken(task: GolfTask, rng: Random) -> str:
    """Return a short program that does a step otherwise than the task says, and fails a test."""
    mistakes = list(_mistakes(task.plan))
    inputs, answers = [given for given, _ in task.tests], [answer for _, answer in task.tests]
    for source in rng.sample(mistakes, len(mistakes)):
        if outputs(source, inputs) != answers:
            return source
    return "print(*sorted(input().split()))"


def _mistakes(plan: Plan) -> Iterator[str]:
    for bugs in places(plan, KINDS):
        yield from [program(plan, [bug], form="short") for bug in bugs]
    yield from [program([*plan[:at], *plan[at + 1 :]], form="short") for at in range(len(plan) - 1)]


def _padded(source: str, size: int) -> str:
    spare = size - len(source)
    return source + (_COMMENT * (spare // len(_COMMENT) + 1))[: max(spare, 0)]
