"""A run on a real Ray cluster of this machine, as a user starts one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.engine.arenas import house, play, write_arena

from peerage.arena import open_arena
from peerage.ledger.leases import working

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

pytest.importorskip("ray", reason="needs the extra `ray`")
PAID = house(6, price={"input": 1, "output": 4})


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "peerage", "run", "--engine", "ray", "--yes", "--dir", str(folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )


def test_workers_of_a_cluster_play_one_is_killed_and_the_table_is_that_of_one_process(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    play(write_arena(tmp_path / "alone", PAID), 24)
    with open_arena(tmp_path / "alone") as arena:
        alone = [one.chain for one in arena.ledger.records()]
    address = postgres.address()
    engine = {"workers": 2, "concurrency": 12}
    folder = write_arena(tmp_path / "cluster", PAID, ledger=address, budget=50, engine=engine)
    run = started(folder, "--matches", "24")
    killed = 0
    try:
        with open_arena(folder) as arena:
            while run.poll() is None and not killed:
                if arena.ledger.heads()[1] > 2:
                    busy = [who for who, matches in working(address).values() if matches]
                    if busy:
                        killed = int(busy[0].split()[1])
                        os.kill(killed, signal.SIGKILL)
                time.sleep(0.05)
            output, _ = run.communicate()
            assert run.returncode == 0, output
            assert killed, output
            assert "was lost" in output
            assert [one.chain for one in arena.ledger.records()] == alone
            assert arena.verify().ok
            replied = [(one.match, one.key) for one in arena.ledger.exchanges(1) if one.reply is not None]
            assert len(replied) == len(set(replied))
    finally:
        run.kill()
        run.wait()
