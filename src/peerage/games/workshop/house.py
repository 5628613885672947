"""House players of workshops: programs cured or completed in part, by skill. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from peerage.game import HouseCall, HouseReply, Text, usual
from peerage.game.house import SPREAD, essay, worth
from peerage.game.levels import chance
from peerage.games.workshop.hands import Action, FileText, Finish, WriteFiles
from peerage.games.workshop.tasks import Reference, WorkTask, package
from peerage.sandbox.folder import File, patch_text

BREAKS, NEEDLESS = 0.2, 6
"""Chance with which a player without any skill breaks the program, and lines that it adds needlessly."""


def worker(call: HouseCall, skill: float, rng: Random) -> Any:
    """Write all files in the first turn and finish in the second; with hands, return them as a patch.

    Each bug is cured, and each part added, by such a chance that all are with that of a player of the skill
    at the task's difficulty. At a task of the owner's it writes notes, which sound like their quality.
    """
    if call.role != "contestant":
        return usual(call, skill, rng)
    task: WorkTask = call.oracle
    quality = rng.gauss(skill, SPREAD)
    if (made := task.reference) is None:
        files = {"NOTES.md": essay(call, quality, rng).value}
    else:
        files = _program(made, chance(skill, made.difficulty), quality, rng)
    known = {path: file.text for path, file in task.folder.files.items()}
    files = {path: text for path, text in files.items() if known.get(path) != text}
    if isinstance(call.expects, Text):
        return HouseReply(patch_text({path: File(text) for path, text in files.items()}), worth(quality))
    written = [FileText(path, text.rstrip()) for path, text in files.items()]
    first = call.key.partition("~")[0].endswith("/turn/1")
    return HouseReply(Action(WriteFiles(written) if first and written else Finish()), worth(quality))


def _program(made: Reference, solves: float, quality: float, rng: Random) -> dict[str, str]:
    """Return the modules of a program as a player leaves it, unless nothing is done."""
    each = solves ** (1 / max(1, len(made.bugs) + len(made.lacking)))
    bugs = [bug for bug in made.bugs if rng.random() >= each]
    lacking = [part for part in made.lacking if rng.random() >= each]
    if len(bugs) == len(made.bugs) and len(lacking) == len(made.lacking):
        return {}
    modules = package(made.parts, bugs, lacking)
    broken = "print(balance)\n" if rng.random() < BREAKS * (1 - solves) else ""
    modules["main.py"] += broken + "# checked\n" * round(NEEDLESS * (1 - quality))
    return modules
