"""Commands of an owner's tasks, tried before anybody is asked: a wrong one makes all matches worthless."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter
from hashlib import sha256
from pathlib import Path

import msgspec

from peerage.game.protocol import Reply
from peerage.game.spec import Trial
from peerage.game.work import NOT_RUN, command_result
from peerage.games import GAMES
from peerage.ledger import Batch, Ledger
from peerage.sandbox.native.places import lacking
from peerage.sandbox.program import SandboxUnavailable
from peerage.settings import FILE_NAME, ArenaError, ArenaSettings, rules_of
from peerage.values.figures import counted, listed
from peerage.values.texts import visible

TRIED = "tried"
"""The fact that names the commands last tried, with the PATH by which their programs were found."""
_END_CHARS = 200
_log = logging.getLogger("peerage")


def trials_of(settings: ArenaSettings) -> list[Trial]:
    """Return the commands to try for all games of an arena; none where this machine has no jail for them."""
    tried = [
        trial for game in settings.lineup for trial in GAMES[game].needs.trials(rules_of(settings, game))
    ]
    return [] if tried and lacking() else tried


async def wrong_commands(folder: Path, trials: list[Trial]) -> list[str]:
    """Try commands, for the arena in `folder`, and return in words what is wrong: each task's first fault."""
    from peerage.engine.calls.programs import opened

    broken = ""
    try:
        async with opened(folder, programs=False) as programs, asyncio.TaskGroup() as group:
            tasks = [group.create_task(programs.perform(trial.command)) for trial in trials]
    except* SandboxUnavailable as errors:
        broken = str(errors.exceptions[0])
    if broken:
        return [f"{FILE_NAME}: the commands of its tasks cannot be tried: {broken}"]
    wrong: dict[str, str] = {}
    of_each = Counter([trial.task for trial in trials])
    for trial, task in zip(trials, tasks, strict=True):
        if fault := _fault(trial, task.result(), alone=of_each[trial.task] == 1):
            wrong.setdefault(trial.task, f"{FILE_NAME}: task {trial.task} ({trial.about}): {fault}")
    right = [task for task in of_each if task not in wrong]
    if wrong and right:
        these = f"of past commits, `commits: {json.dumps(right)}` takes these alone"
        return [*wrong.values(), f"{FILE_NAME}: nothing is wrong with {listed(right)}; {these}"]
    return [*wrong.values()]


def _fault(trial: Trial, reply: Reply, alone: bool) -> str:
    """Return what is wrong with a command by its end; empty where nothing is. A program that is not found may
    be what a task lacks at first, if it has other trials."""
    if reply.status != "ok":
        return reply.reason
    end = command_result(reply.text)
    if (end.status == "ok") == trial.passes and not (alone and end.code in NOT_RUN):
        return ""
    ended = f"exit code {end.code}"
    if end.status == "timeout":
        ended = f"its {trial.command.seconds:g} s were up, of which `command_seconds` gives it more"
    said = " ".join(visible(end.output).split())[-_END_CHARS:]
    wrong = trial.wrong
    if end.code in NOT_RUN:
        wrong = "its program is not found; install it, activate its environment, or correct `command`"
    return f"{wrong} ({ended}{said and f', after: …{said}'})"


async def refuse_wrong_commands(folder: Path, settings: ArenaSettings, ledger: Ledger) -> None:
    """Raise ArenaError, before anybody is asked, where a command of the arena's tasks is wrong. Those that
    were tried before, in the same environment, are not tried again."""
    if not (trials := trials_of(settings)):
        return
    whole = msgspec.json.encode([[trial.command for trial in trials], os.get_exec_path()])
    tried = sha256(whole).hexdigest()
    if ledger.meta().get(TRIED) == tried:
        return
    tasks = len({trial.task for trial in trials})
    _log.warning("the tests of %s are tried, before anybody is asked", counted(tasks, "task"))
    if wrong := await wrong_commands(folder, trials):
        raise ArenaError("\n".join(wrong))
    ledger.write(Batch(meta={TRIED: tried}))
