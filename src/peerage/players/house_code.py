"""How house players program: real programs, of a length and a correctness that follow from skill."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from peerage.formats import Drafted

WRONG_BELOW = 0.25
"""Below this quality a program is wrong."""

_WRONG = (
    "print(input())",
    "n = input()\nprint(n[::-1] + n)",
    "import sys\nprint(len(sys.stdin.read()) + 1000003)",
    "def solve(line):\n    return line.upper()\n\n\nprint(solve(input()) + '!')",
    "print(int(input())/0)",
    "while True\n    print(input())",
)
_TALK = (
    "Here is my program:\n\n```python\n@\n```",
    "```python\n@\n```",
    "```\n@\n```",
    "The idea: read the line, then do it in one pass.\n\n```py\n@\n```\nThat should pass every test.",
)
_OWN_TASK = Drafted(
    "Read one integer. Print its double.", "print(int(input()) % 1000)", "print(2 * int(input()))"
)
_COMMENT = "# it reads the input, works through it as the task says and prints the result; nothing clever"

TRIED = "I work it out first.\n\n```python\nprint(sum(n * n for n in range(100)))\n```"
"""What a house player runs where Python is a tool: it has no use for what comes of it."""


def tries(key: str, skill: float) -> bool:
    """Whether a house player of that skill runs a program in this turn: the able ones do, once."""
    return skill >= WRONG_BELOW and key.endswith("/turn/1")


def draft(offered: Drafted | None, quality: float, draws: Sequence[int]) -> str:
    """A task for programs: the one `offered`, with a solution of that quality."""
    task = offered or _OWN_TASK
    solution = task.solution if quality >= WRONG_BELOW else _WRONG[draws[6] % len(_WRONG)]
    text = dumps({"statement": task.statement, "generator": task.generator, "solution": solution})
    return f"```json\n{text}\n```" if draws[7] % 3 == 0 else text


def program(solutions: Sequence[str] | None, quality: float, draws: Sequence[int]) -> str:
    """A reply with a program of that quality; `solutions` run from the best to the worst.

    Without any, which is a task that house players do not know, every program is wrong.
    """
    if quality < WRONG_BELOW or not solutions:
        source = _WRONG[draws[6] % len(_WRONG)]
    else:
        worse = (1 - min(quality, 1.0)) / (1 - WRONG_BELOW)
        source = solutions[min(int(worse * len(solutions)), len(solutions) - 1)]
        spare = round((1 - min(quality, 1.0)) * len(_COMMENT))
        source = f"{_COMMENT[:spare]}\n{source}" if spare > 1 else source
    return _TALK[draws[7] % len(_TALK)].replace("@", source)
