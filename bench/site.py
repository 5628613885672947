"""The static export of a long arena: `python -m bench.site [MATCHES ...]`, by default 200, 3,000 and 20,000
among 60 players.

Made-up duels of 18 exchanges (`bench.sample`). Measured: a whole build, and one after a further match, each
in a process of its own as the command line starts it; the most memory any of its processes held; the size of
the index and of the first page, compressed.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench.sample import sample
from peerage.ledger import Batch, Ledger, open_ledger
from peerage.settings import Rating
from peerage.standings.accounts import position, snapshot_body
from peerage.standings.fold import elo_settings

PLAYERS = 60


def main(matches: int) -> None:
    with tempfile.TemporaryDirectory() as room:
        arena, out = Path(room) / "arena", Path(room) / "site"
        arena.mkdir()
        names = "".join(f"  - {{model: 'house:0.5', name: player-{n:02}}}\n" for n in range(1, PLAYERS + 1))
        (arena / "arena.yaml").write_text(f"name: bench\nplayers:\n{names}", "utf-8")
        last = filled(arena, matches)
        print(f"whole build of {matches:,} matches: {built(arena, out)}")
        with closing(open_ledger("sqlite:///arena.db", arena, create=False)) as ledger, ledger.runner():
            ledger.write(last)
        print(f"one more match: {built(arena, out)}")
        index = sum(len(gzip.compress(file.read_bytes())) for file in out.glob("data/matches-*.js"))
        home = len(gzip.compress((out / "index.html").read_bytes()))
        files = [file for file in out.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        print(f"index {index / 1e6:.2f} MB compressed, first page {home / 1e3:.0f} kB compressed")
        print(f"{len(files):,} files, {size / 1e9:.2f} GB")


def filled(arena: Path, matches: int) -> Batch:
    """Write so many matches; the batch of one more."""
    together = next(size for size in (1_000, 100, 1) if matches % size == 0)
    last = Batch()
    ledger: Ledger
    with closing(open_ledger("sqlite:///arena.db", arena, create=True)) as ledger, ledger.runner():
        for batch in sample(matches + 1, players=PLAYERS, reply_chars=300, together=together):
            if batch.records[-1].number > matches:
                last = batch
            else:
                ledger.write(batch)
        # As a run would have left it.
        ledger.write(Batch(snapshots=[(matches, snapshot_body(*position(ledger, elo_settings(Rating()))))]))
    return last


def built(arena: Path, out: Path) -> str:
    """Build the site; what it took."""
    command = [sys.executable, "-m", "peerage", "site", "build", str(out), "--dir", str(arena)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)  # of it and of its helpers
    wall, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the build failed: {process.returncode}")
    cpu = used.ru_utime + used.ru_stime
    return f"{wall:.1f} s, {cpu:.1f} s of CPU, {used.ru_maxrss / 1024:.0f} MB in its largest process"


if __name__ == "__main__":
    for asked in sys.argv[1:] or ("200", "3000", "20000"):
        main(int(asked))
