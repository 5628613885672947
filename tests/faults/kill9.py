"""Plays a seeded arena and ends it by signals at random moments, until it is done.

    python -m tests.faults.kill9 FOLDER --kills 12 --seed 1

Each run is a fork of this process (which has imported everything already), with another concurrency. A
moment is a number of calls after its start and some milliseconds, or a time while it starts. Half of the
signals are SIGKILL, others SIGTERM, SIGHUP, and SIGSTOP, which SIGCONT and then SIGKILL follow. Prints one
JSON object: what was killed, and what became of it beside an undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engine.arenas import asked_again, head, ledger_of, write_arena
from tests.engine.clients import Scripted

from peerage.arena import open_arena
from peerage.engine.benches import STREAM, Bench, Benches
from peerage.engine.recovery import recover
from peerage.ledger.store import Batch, Unanswered
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.players.paced import PacedClient
from peerage.settings import PlayerSettings
from peerage.standings import elo_settings

MATCHES = 120
FAULTS = {"refusing": 0.03, "malformed": 0.05}


DEAD = "dead"
"""A player on the bench that nothing ever gets through to: each run tries it when it starts."""


def arena(folder: Path, concurrency: int) -> None:
    players = [{"model": f"house:{0.3 + place / 20:.2f}", "faults": FAULTS} for place in range(10)]
    players.append({"model": "house:0.5", "name": DEAD})
    engine = {"concurrency": concurrency, "calls": 512}
    write_arena(folder, players, engine=engine, pairing={"window": 96})
    if not (folder / "arena.db").exists():
        with open_arena(folder) as opened, opened.ledger.runner():
            entry = Bench(DEAD, "benched", 1, 0, "no such model (404)")
            opened.ledger.write(Batch(amendments=[Benches().enter(entry, 0)]))


def player(settings: PlayerSettings, seconds: Callable[[Call, Answer], float]) -> Client:
    if settings.name == DEAD:
        return Scripted(
            settings, lambda *_: PlayerError("no such model (404)", kind="permanent"), lambda: 0.0
        )
    return PacedClient(HouseClient(settings), seconds)


SIGNALS = (*[signal.SIGKILL] * 3, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
INTERRUPTED = 130
STOPPED_S = 1.2
"""Longer than the gap by which a run knows that it was suspended."""


def run(folder: Path, told: int) -> int:
    """Play, telling the file descriptor `told` of each call; the exit code."""

    def seconds(_: Call, answer: Answer) -> float:
        os.write(told, b".")
        return min(0.05, answer.latency_s * 0.003)

    with open_arena(folder) as opened:
        report = opened.run(MATCHES, clients=lambda settings: player(settings, seconds))
    (folder / "report.json").write_text(json.dumps({"twice": report.possibly_paid_twice}))
    return INTERRUPTED if report.reason == "interrupted" else 0


def forked(
    folder: Path, calls: int | None, seconds: float = 0.0, number: signal.Signals = signal.SIGKILL
) -> bool:
    """Run in a process of its own, sent a signal so long after so many calls. True when that ends it."""
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(hear)
            status = run(folder, tell)
        finally:
            os._exit(status)
    os.close(tell)
    while calls is None or calls > 0:
        heard = len(os.read(hear, 65536 if calls is None else calls))
        if not heard:
            break
        calls = calls and calls - heard
    if calls == 0:
        time.sleep(seconds)
        os.kill(child, number)
        if number is signal.SIGSTOP:
            time.sleep(STOPPED_S)
            os.kill(child, signal.SIGCONT)
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(hear)  # a run that ends in good order tells of its last calls
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, INTERRUPTED, -number, -signal.SIGKILL):
        raise SystemExit(f"a run ended with {code} after {number.name}")
    return code != 0


def left_open(folder: Path) -> set[tuple[int, str, int]]:
    return {(lost.match, lost.key, lost.attempt) for lost in unanswered(folder) if not lost.failed}


def unanswered(folder: Path) -> list[Unanswered]:
    ledger = ledger_of(folder)
    try:
        return list(ledger.unanswered(1))
    finally:
        ledger.close()


def account(folder: Path) -> dict[str, Any]:
    """Everything that must not depend on interruptions."""
    ledger = ledger_of(folder)
    try:
        with open_arena(folder) as opened:
            state = recover(ledger, int(ledger.meta()["lag"]), elo_settings(opened.settings.rating))
        summaries = [
            [row.number, row.players, row.status, row.scores, row.costs, row.raw, row.cost_elo]
            for row in ledger.summaries()
        ]
        ratings = [state.standings.players, state.standings.raw, state.standings.cost]
        benches = [row.body for row in ledger.amendments(STREAM)]
        assert len(benches) == 1, "tried at every start, and benched once"
        return {"head": head(folder), "summaries": summaries, "ratings": ratings, "benches": benches}
    finally:
        ledger.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    calm = options.folder / "calm"
    arena(calm, 32)
    forked(calm, None)
    result: dict[str, Any] = {"kills": 0, "arenas": 0, "different": [], "asked_again": 0}
    result |= {
        "signals": {},
        "opened": 0,
        "unaccounted": 0,
        "not_asked_again": 0,
        "misreported": 0,
        "resumed": 0,
    }
    while result["kills"] < options.kills:
        result["arenas"] += 1
        folder = options.folder / f"killed-{result['arenas']}"
        opened: set[tuple[int, str, int]] = set()
        concurrency, before = 32, 0
        while True:
            arena(folder, concurrency)
            early = rng.random() < 0.15
            calls = 0 if early else rng.randrange(1, 350)
            seconds = rng.uniform(0.0, 0.3 if early else 0.02)
            number = rng.choice(SIGNALS)
            if not forked(folder, None if result["kills"] >= options.kills else calls, seconds, number):
                break
            result["kills"] += 1
            result["signals"][number.name] = result["signals"].get(number.name, 0) + 1
            if not (folder / "arena.db").exists():
                continue
            found = left_open(folder) if head_exists(folder) else set()
            result["resumed"] += bool(before)
            before = len(found)
            opened |= found
            concurrency = rng.choice([1, 8, 32, 128, 512])
        reported = json.loads((folder / "report.json").read_text())["twice"]
        lost = unanswered(folder)
        answered = {(row.match, row.key) for row in replies(folder)}
        result["opened"] += len(opened)
        result["misreported"] += abs(reported - before)
        result["unaccounted"] += sum(not row.failed for row in lost)
        result["not_asked_again"] += len([0 for match, key, _ in opened if (match, key) not in answered])
        result["asked_again"] += asked_again(folder)
        if account(folder) != account(calm):
            result["different"].append(str(folder))
    json.dump(result, sys.stdout)


def head_exists(folder: Path) -> bool:
    """Whether the killed run got as far as making the ledger's tables."""
    from peerage.ledger import LedgerError

    try:
        ledger_of(folder).close()
    except LedgerError:
        return False
    return True


def replies(folder: Path) -> list[Any]:
    ledger = ledger_of(folder)
    try:
        return [row for row in ledger.exchanges(1) if row.reply is not None]
    finally:
        ledger.close()


if __name__ == "__main__":
    main()
