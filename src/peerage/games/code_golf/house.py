"""How house players write programs, and tasks for them: real ones, of a length and a correctness by skill."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from peerage.formats import Json
from peerage.games.code_golf.drafts import Drafted
from peerage.games.house import SPREAD, Call

WRONG_BELOW = 0.25
"""Below this quality a program is wrong."""
WRONG = (
    "print(input())",
    "n = input()\nprint(n[::-1] + n)",
    "import sys\nprint(len(sys.stdin.read()) + 1000003)",
    "def solve(line):\n    return line.upper()\n\n\nprint(solve(input()) + '!')",
    "print(int(input())/0)",
    "while True\n    print(input())",
)
_OWN_TASK = Drafted(
    "Read one integer. Print its double.", "print(int(input()) % 1000)", "print(2 * int(input()))"
)
_COMMENT = "# it reads the input, works through it as the task says and prints the result; nothing clever"


def house(call: Call, skill: float, rng: Random) -> Any:
    """A program for the task, or the task that the oracle offers."""
    quality = rng.gauss(skill, SPREAD)
    if isinstance(call.expects, Json):
        offered: Drafted = (call.oracle or {}).get("draft") or _OWN_TASK
        wrong = quality < WRONG_BELOW
        return msgspec.structs.replace(offered, solution=rng.choice(WRONG)) if wrong else offered
    return program((call.oracle or {}).get("programs"), quality, rng)


def program(solutions: list[str] | None, quality: float, rng: Random) -> str:
    """A program of that quality; `solutions` run from the best to the worst.

    Without any, which is a task that house players do not know, every program is wrong.
    """
    if quality < WRONG_BELOW or not solutions:
        return rng.choice(WRONG)
    worse = (1 - min(quality, 1.0)) / (1 - WRONG_BELOW)
    source = solutions[min(int(worse * len(solutions)), len(solutions) - 1)]
    spare = round((1 - min(quality, 1.0)) * len(_COMMENT))
    return f"{_COMMENT[:spare]}\n{source}" if spare > 1 else source
