"""verify and leaderboard on a large ledger: every duel of 18 exchanges, every reply row included.

The ledger is made up, but written through the same door as a real one: 60 players, replies 300 to 600
characters long; a PANEL of one in place of five makes duels of six exchanges. `peerage leaderboard` runs with
nothing of the ledger in the page cache. Targets for a million duels of six, on two cores that have nothing
else to do: leaderboard 5 s of CPU, verify 70 s from start to end, either within 1 GB.
Usage: python -m bench.verify [DUELS] [PANEL] [WORKERS] [LEDGER], LEDGER for example
postgresql://HOST/DATABASE?schema=NEW, whose server's part is not counted
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.sample import sample
from peerage.ledger import Batch, Ledger, open_ledger
from peerage.settings import Rating
from peerage.standings.accounts import position, snapshot_body
from peerage.standings.fold import elo_settings
from peerage.standings.verify import verify

PLAYERS = 60


def fill(ledger: Ledger, duels: int, panel: int) -> None:
    """Write the duels, and the newest rating snapshot as a run would have."""
    with ledger.runner():
        for batch in sample(duels, players=PLAYERS, reply_chars=300, together=200, panel=panel):
            ledger.write(batch)
        standings, accounts = position(ledger, elo_settings(Rating()))
        ledger.write(Batch(snapshots=[(standings.number, snapshot_body(standings, accounts))]))


def verified(ledger: Ledger, duels: int, workers: int | None) -> dict[str, float]:
    began, cpu = time.perf_counter(), _cpu()
    report = verify(ledger, workers)
    seconds, cpu = time.perf_counter() - began, _cpu() - cpu
    assert report.ok, report.problems[:3]
    assert report.matches == duels
    return {
        "replies": report.exchanges,
        "s to verify": seconds,
        "s of CPU": cpu,
        "us CPU/reply": cpu / report.exchanges * 1e6,
    }


def leaderboard(folder: Path, address: str) -> dict[str, float]:
    """What the whole command takes, on a file that is cold."""
    lines = "".join(f"  - {{model: 'house:0.5', name: player-{n:02}}}\n" for n in range(1, PLAYERS + 1))
    (folder / "arena.yaml").write_text(f"ledger: '{address}'\nplayers:\n{lines}", encoding="utf-8")
    if (file := folder / "arena.db").exists():
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)
    began, cpu = time.perf_counter(), _cpu()
    command = [sys.executable, "-m", "peerage", "leaderboard", "--dir", str(folder), "--format", "json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, cpu = time.perf_counter() - began, _cpu() - cpu
    return {"s leaderboard": seconds, "s of its CPU": cpu}


def _cpu() -> float:
    """Seconds of CPU that this process and those it waited for have used."""
    return sum(os.times()[:4])


def main(
    duels: int = 100_000, panel: int = 5, workers: int | None = None, address: str = "sqlite:///arena.db"
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = open_ledger(address, folder, create=True)
        began = time.perf_counter()
        fill(ledger, duels, panel)
        filled = time.perf_counter() - began
        size = sum([file.stat().st_size for file in folder.glob("arena.db")]) / 1e9
        print(f"{duels:,} duels, {f'{size:.1f} GB, ' if size else ''}{filled:.0f} s to fill")
        checked = verified(ledger, duels, workers)
        ledger.close()
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for key, value in {**checked, "MB": largest, **leaderboard(folder, address)}.items():
            print(f"  {key:13} {value:14,.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:5])
