"""House players of bug hunts: programs with some bugs repaired, by skill. Pure."""

from __future__ import annotations

from random import Random

from peerage.game.house import HouseCall
from peerage.game.levels import chance
from peerage.games.bug_hunt.tasks import BuggyTask, family_of

SPREAD = 1.0
"""Standard deviation, in logits, of how much a player edits needlessly."""
NEEDLESS = 8
"""Lines that a player without any skill adds."""


def repairer(call: HouseCall, skill: float, rng: Random) -> str:
    """Return the program with each bug repaired by such a chance that all are with that of a player of the
    skill at this difficulty; the weaker, the more needless lines it has."""
    task: BuggyTask = call.oracle
    each = chance(skill, task.difficulty) ** (1 / len(task.bugs))
    left = [bug for bug in task.bugs if rng.random() >= each]
    if len(left) == len(task.bugs):
        return task.source
    needless = round(NEEDLESS * (1 - chance(skill, task.difficulty + rng.gauss(0, SPREAD))))
    return "\n".join([family_of(task.parts).program(task.parts, left), *["# checked"] * needless])
