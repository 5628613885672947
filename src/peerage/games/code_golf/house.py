"""How house players write tasks, and programs for them: real ones, by skill."""

from __future__ import annotations

from random import Random
from typing import Any

from msgspec.structs import replace

from peerage.formats import Json
from peerage.games.code_golf.drafts import Drafted
from peerage.games.house import SPREAD, WRONG, WRONG_BELOW, Call, program

_OWN_TASK = Drafted(
    "Read one integer. Print its double.", "print(int(input()) % 1000)", "print(2 * int(input()))"
)


def house(call: Call, skill: float, rng: Random) -> Any:
    """A program for the task, or the task that the oracle offers."""
    quality = rng.gauss(skill, SPREAD)
    if not isinstance(call.expects, Json):
        return program(call, quality, rng)
    offered: Drafted = (call.oracle or {}).get("draft") or _OWN_TASK
    return replace(offered, solution=rng.choice(WRONG)) if quality < WRONG_BELOW else offered
