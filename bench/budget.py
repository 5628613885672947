"""What a budget costs in speed, and how much of it is lost: in virtual time, answers as slow as real ones.

Usage: python -m bench.budget [GAME]
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml
from tests import virtual

from peerage.arena import open_arena
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.ledger import open_ledger
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings

PRICE = {"input": 1.0, "output": 10.0}
PLAYERS = 8


class Played(NamedTuple):
    """One run: its report, how many virtual seconds it took, the money in matches that the budget ended, and
    the most that one of its calls could have cost."""

    report: RunReport
    seconds: float
    lost_nano: int
    reach_nano: int


class Wordy(HouseClient):
    """A house player whose replies take `times` the tokens that a plan expects, up to their limit."""

    times = 1

    def answer_now(self, call: Call) -> Answer:
        answer = super().answer_now(call)
        tokens = min(call.max_tokens, self.times * (answer.output_tokens or 0))
        return msgspec.structs.replace(answer, output_tokens=tokens)


def seconds(call: Call, _: Answer) -> float:
    """How long a reply takes: the same for the same call, whoever was asked before."""
    return random.Random(f"{call.seed}/{call.key}").lognormvariate(0.0, 0.8)


def players(times: int) -> Callable[[PlayerSettings], Client]:
    class Own(Wordy):
        pass

    Own.times = times
    return lambda settings: PacedClient(Own(settings), seconds)


def play(
    game: str,
    matches: int | None,
    budget: float | None,
    concurrency: int,
    seed: int = 1,
    times: int = 1,
    rules: Mapping[str, Any] = {},
) -> Played:
    """Play a fresh arena of paid players."""
    names = [
        {"name": f"p{at}", "model": f"house:{0.3 + 0.05 * at:.2f}", "price": PRICE} for at in range(PLAYERS)
    ]
    settings = {
        "seed": seed,
        "game": game,
        "rules": dict(rules),
        "players": names,
        "budget": budget,
        "pairing": {"window": 64},
        "engine": {"concurrency": concurrency},
    }
    ended = [0.0]

    async def clock(_: Runner) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended[0] = asyncio.get_running_loop().time()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        with open_arena(folder) as arena:
            report = virtual.run(arena.play(matches, clients=players(times), beside=clock, inline=True))
        return Played(report, ended[0], *lost_and_reach(folder))


def lost_and_reach(folder: Path) -> tuple[int, int]:
    """Money spent on matches that the budget ended, or stopped before their end, and what the costliest
    call could have cost."""
    ledger = open_ledger("sqlite:///arena.db", folder, create=False)
    try:
        done = {row.number for row in ledger.summaries() if "budget" not in row.status}
        rows = list(ledger.exchanges(1))
        lost = sum(row.cost_nano or 0 for row in rows if row.match not in done)
        return lost, max(row.worst_nano or 0 for row in rows)
    finally:
        ledger.close()


def main(game: str = "duel") -> None:
    print(f"{game}: a budget of twice what the matches cost, beside none (at least 90% of the throughput)")
    for concurrency, matches in ((8, 20), (8, 60), (64, 60), (64, 200)):
        free = play(game, matches, None, concurrency)
        dollars = 2 * free.report.spent_nano / 1e9
        bound = play(game, matches, dollars, concurrency)
        assert bound.report.settled == free.report.settled
        print(
            f"  {matches:3} matches, {concurrency:2} at once   {free.seconds:6.0f} s, bounded "
            f"{bound.seconds:6.0f} s   {free.seconds / bound.seconds:4.0%}",
            flush=True,
        )
    print("played until the budget ends: money in matches that it ended (at most 5%), and unspent")
    for times in (1, 6):
        each = play(game, 40, None, 8, times=times).report.spent_nano / 40
        for concurrency, worth in ((8, 10), (8, 40), (64, 40), (64, 160)):
            runs = [
                play(game, None, worth * each / 1e9, concurrency, seed=seed, times=times) for seed in range(3)
            ]
            spent = sum(one.report.spent_nano for one in runs)
            assert all(one.report.spent_nano <= worth * each for one in runs)
            print(
                f"  {worth:3} matches' worth, {concurrency:2} at once, replies {times} times as long as usual"
                f"   lost {sum(one.lost_nano for one in runs) / max(1, spent):5.1%}"
                f"   unspent {1 - spent / (3 * worth * each):4.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
