"""verify of a large ledger: every duel of 18 exchanges, every reply row included. Target: 100,000 in 10 s.

The ledger is made up, but written through the same door as a real one. Replies are 300 to 600 characters
long. Usage: python -m bench.verify [DUELS] [WORKERS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from peerage.ledger import open_ledger
from peerage.ledger.sample import sample
from peerage.ledger.verify import verify


def measure(folder: Path, duels: int, workers: int | None = None) -> dict[str, float]:
    """Fill a ledger with `duels` duels, verify it, find one changed byte in it."""
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    try:
        began = time.perf_counter()
        with ledger.runner():
            for batch in sample(duels, reply_chars=300, together=200):
                ledger.write(batch)
        filled = time.perf_counter() - began
        began, cpu = time.perf_counter(), _cpu()
        report = verify(ledger, workers)
        verified, cpu = time.perf_counter() - began, _cpu() - cpu
    finally:
        ledger.close()
    assert report.ok, report.problems[:3]
    assert report.matches == duels
    return {
        "duels": duels,
        "replies": report.exchanges,
        "GB on disk": (folder / "arena.db").stat().st_size / 1e9,
        "s to fill": filled,
        "s to verify": verified,
        "s of CPU": cpu,
        "us CPU/reply": cpu / report.exchanges * 1e6,
    }


def _cpu() -> float:
    """Seconds of CPU that this process and those it waited for have used."""
    return sum(os.times()[:4])


def main(duels: int = 100_000, workers: int | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, value in measure(Path(folder), duels, workers).items():
            print(f"{name:>12}  {value:,.2f}")


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])
