"""House players of workshops: programs cured or completed in part, by skill. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from peerage.game import HouseCall, HouseReply, usual
from peerage.game.house import SPREAD, essay, worth
from peerage.game.levels import chance
from peerage.games.workshop.hands import Action, FileText, Finish, WriteFiles
from peerage.games.workshop.tasks import WorkTask, package

BREAKS, NEEDLESS = 0.2, 6
"""Chance with which a player without any skill breaks the program, and lines that it adds needlessly."""


def worker(call: HouseCall, skill: float, rng: Random) -> Any:
    """Write all files in the first turn and finish in the second.

    Each bug is cured, and each part added, by such a chance that all are with that of a player of the skill
    at the task's difficulty. At a task of the owner's it writes notes, which sound like their quality.
    """
    if call.role != "contestant":
        return usual(call, skill, rng)
    task: WorkTask = call.oracle
    made, first = task.reference, call.key.partition("~")[0].endswith("/turn/1")
    if made is None:
        notes = essay(call, rng.gauss(skill, SPREAD), rng)
        files = [FileText("NOTES.md", notes.value)]
        return notes._replace(value=Action(WriteFiles(files) if first else Finish()))
    solves = chance(skill, made.difficulty)
    each = solves ** (1 / max(1, len(made.bugs) + len(made.lacking)))
    bugs = [bug for bug in made.bugs if rng.random() >= each]
    lacking = [part for part in made.lacking if rng.random() >= each]
    modules = package(made.parts, bugs, lacking)
    if rng.random() < BREAKS * (1 - solves):
        modules["main.py"] += "print(balance)\n"
    quality = rng.gauss(skill, SPREAD)
    modules["main.py"] += "# checked\n" * round(NEEDLESS * (1 - quality))
    known = {path: file.text for path, file in task.folder.files.items()}
    files = [FileText(path, text.rstrip()) for path, text in modules.items() if known.get(path) != text]
    changed = any(each.path != "main.py" for each in files)
    action = WriteFiles(files) if first and changed else Finish()
    return HouseReply(Action(action), worth(quality))
