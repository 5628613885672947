"""A run on a cluster whose players are behind a provider that keeps books, as `peerage run` has it played.

python -m tests.cluster.leading FOLDER
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import partial
from pathlib import Path

from tests.cluster.kills import AGAIN, TRIAL
from tests.faults.trials import Booking, Trial

from peerage.arena import open_arena
from peerage.engine.run.runner import Runner
from peerage.ledger import LedgerError
from peerage.players.client import Client
from peerage.settings import PlayerSettings


def player(settings: PlayerSettings, trial: Trial, folder: Path) -> Client:
    """Opened in each worker, and in the leader."""
    return Booking(settings, trial, folder, os.open(os.devnull, os.O_WRONLY))


def main(folder: Path) -> None:
    begun: list[Runner] = []

    async def begins(runner: Runner) -> None:
        begun.append(runner)

    clients = partial(player, trial=TRIAL, folder=folder)
    try:
        with open_arena(folder) as arena:
            report = asyncio.run(arena.play(TRIAL.matches, clients=clients, beside=begins))
    except LedgerError as error:  # a server that is away when a run begins ends it
        if begun:
            raise
        print(error)
        sys.exit(AGAIN)
    told = {"reason": report.reason, "billed": report.billed_nano, "possibly": report.possibly_nano}
    (folder / "report.json").write_text(json.dumps(told | {"twice": report.possibly_paid_twice}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
