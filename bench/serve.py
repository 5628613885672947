"""`peerage serve` under load: a long ledger, an arena that writes, readers of the leaderboard and spectators.

The server and the processes that make its pages share one core (Linux; elsewhere they take what there is);
the load, the spectators and the writer have the other. The ledger is made up, but written through the same
door as a real one. Target with 100,000 matches: leaderboard p99 at most 100 ms at 200 requests a second, with
500 spectators on the event stream. Usage: python -m bench.serve [MATCHES] [SECONDS]
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.sample import sample
from peerage.ledger import Batch, Ledger, open_ledger
from peerage.settings import Rating
from peerage.standings.accounts import position, snapshot_body
from peerage.standings.fold import elo_settings

PLAYERS = 60
A_SECOND = 200
READERS = 40
SPECTATORS = 500
TOGETHER = 10
"""Matches that the writer settles at once, and once a second."""


def written(ledger: Ledger, matches: int, more: int) -> Iterator[Batch]:
    """Fill the ledger up to `matches`; what is left are batches for a writer."""
    batches = sample(matches + more, players=PLAYERS, reply_chars=40, together=TOGETHER)
    for _ in range(matches // TOGETHER):
        ledger.write(next(batches))
    standings, accounts = position(ledger, elo_settings(Rating()))
    ledger.write(Batch(snapshots=[(standings.number, snapshot_body(standings, accounts))]))
    return batches


@contextlib.contextmanager
def served(folder: Path) -> Iterator[int]:
    """The port of a server that has the first core for itself."""
    command = [sys.executable, "-m", "peerage", "serve", "--dir", str(folder), "--port", "0"]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: os.sched_setaffinity(0, cores[:1])) if cores else None,
    )
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:])
    try:
        assert server.stdout is not None
        found = re.search(r":(\d+)/", server.stdout.readline())
        assert found is not None
        yield int(found[1])
    finally:
        server.terminate()
        server.wait()


async def reading(port: int, path: str, until: float, spent: list[float]) -> None:
    """One reader: asks over one connection, in its share of the pace, and notes the seconds each took.

    A request that is late because the one before it was slow counts from when it was due.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    ask = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode()
    every = READERS / A_SECOND
    due = time.perf_counter() + every * (id(writer) % 97) / 97
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        writer.write(ask)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head[:100]
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        spent.append(time.perf_counter() - due)
        due += every
    writer.close()


async def watching(port: int, seen: list[tuple[int, float]]) -> None:
    """One spectator: notes when each settled number arrived."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try:
        while line := await reader.readline():
            if line.startswith(b"id: "):
                seen.append((int(line[4:]), time.perf_counter()))
    finally:
        writer.close()


async def load(port: int, seconds: float, ledger: Ledger, batches: Iterator[Batch]) -> None:
    """Everything at once; prints what it came to."""
    seen: list[list[tuple[int, float]]] = [[] for _ in range(SPECTATORS)]
    crowd = [asyncio.create_task(watching(port, one)) for one in seen]
    while not all(seen):
        await asyncio.sleep(0.1)
    wrote: dict[int, float] = {}

    async def writing() -> None:
        for batch in batches:
            await asyncio.to_thread(ledger.write, batch)
            wrote[batch.records[-1].number] = time.perf_counter()
            await asyncio.sleep(1)

    writer = asyncio.create_task(writing())
    for path in ("/", "/api/leaderboard"):
        spent: list[float] = []
        # What nobody has asked for yet is made for the first: that is no load but a beginning.
        await reading(port, path, time.perf_counter() + 0.3, [])
        until = time.perf_counter() + seconds
        await asyncio.gather(*[reading(port, path, until, spent) for _ in range(READERS)])
        spent.sort()
        p50, p99 = (1e3 * spent[int(len(spent) * share)] for share in (0.5, 0.99))
        print(
            f"  {path:18} {len(spent) / seconds:6.0f}/s   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms"
            f"   worst {1e3 * spent[-1]:6.1f} ms"
        )
    writer.cancel()
    await asyncio.sleep(2)
    for one in crowd:
        one.cancel()
    await asyncio.gather(writer, *crowd, return_exceptions=True)
    lags = sorted(at - wrote[number] for one in seen for number, at in one if number in wrote)
    told = sum(max(wrote) in {number for number, _ in one} for one in seen)
    print(
        f"  {told} of {SPECTATORS} spectators saw the last match; p99 {lags[int(len(lags) * 0.99)]:.2f} s "
        "after it was written"
    )


def main(matches: int = 100_000, seconds: float = 15) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = "".join(f"  - {{model: 'house:0.5', name: player-{n:02}}}\n" for n in range(1, PLAYERS + 1))
        (folder / "arena.yaml").write_text(f"players:\n{lines}", encoding="utf-8")
        ledger = open_ledger("sqlite:///arena.db", folder, create=True)
        began = time.perf_counter()
        with ledger.runner():
            batches = written(ledger, matches, TOGETHER * (3 * int(seconds) + 60))
            print(f"{matches:,} matches, {time.perf_counter() - began:.0f} s to fill")
            with served(folder) as port:
                asyncio.run(load(port, seconds, ledger, batches))
        ledger.close()


if __name__ == "__main__":
    main(*[int(word) for word in sys.argv[1:]])
