"""Decisions of `peerage choose` against the truth: sixty tasks with keys, eight house players of known
quality, one judge that is right 85% of the time.

For each seed an arena is played in virtual time as `choose` writes it, but with fresh answers, in two ways:
checks decide; or they only measure, and the judge decides every match. A decision is right when the best is
kept, the pick is the best or its neighbour, and everybody from the second neighbour on is dropped: `out`, or
`unlikely`. Accuracy is compared with what `by_hand` computes, which reads the replies on the ledger and
shares no code with Peerage's checks. Judge calls are counted against five judges who see each of the same
matches in both orders.

Usage: python -m bench.choose [--seeds 40] [--first 1] [--ways checks judge] [--matches 2400]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

import yaml
from tests import virtual

from peerage.arena import open_arena
from peerage.cli.begin.choice import choice_text, stated_choice
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_reply
from peerage.players.client import Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings

TASKS = Path(__file__).parents[1] / "examples" / "choose" / "tasks.csv"
QUALITIES = (0.98, 0.96, 0.93, 0.88, 0.80, 0.70, 0.55, 0.40)
RIGHT = 0.85
WAYS = {"checks": "judging: {judges: 1}\n", "judge": "judging: {judges: 1, checks: measure}\n"}
PANEL = 5 * 2
"""Judge calls of a match with five judges and both orders."""
MATCHES = 2_400


def client(player: PlayerSettings) -> Client:
    """Open a player, after its virtual latency."""
    return PacedClient(HouseClient(player))


class Run(NamedTuple):
    """One arena: `right` decision or not, who was picked, kept and dropped by place (0 the best), matches and
    judge calls, and the largest difference of an accuracy from that by hand."""

    seed: int
    right: bool
    pick: int
    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    matches: int
    judge_calls: int
    accuracy_off: float
    seconds: float


def run(seed: int, way: str, matches: int = MATCHES) -> Run:
    """Play one arena, and hold its decision and accuracies against what is known."""
    began = time.monotonic()
    # Every reply is made durable, which on a disk takes most of the time.
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        folder = Path(place)
        lines = [f"{{model: house:{quality}, name: p{at}}}" for at, quality in enumerate(QUALITIES)]
        Random(seed).shuffle(lines)
        choice = stated_choice(str(TASKS), lines, [f"{{model: house:{RIGHT}, name: judge}}"], None, None)
        text = f"seed: {seed}\n{WAYS[way]}{choice_text(choice, folder, None)}"
        stated = yaml.safe_load(text)["tasks"]
        tasks = {"samples": "fresh"} | (stated if isinstance(stated, dict) else {"file": stated})
        text = re.sub(r"(?m)^tasks: .*$", lambda line: f"tasks: {json.dumps(tasks)}", text)
        (folder / "arena.yaml").write_text(re.sub(r"(?m)^# judging.*\n", "", text), "utf-8")
        with open_arena(folder) as arena:
            report = virtual.run(arena.play(matches, clients=client, inline=True))
            verdict, rows = arena.verdict(), arena.leaderboard()
            hand = by_hand(arena.ledger)
            calls = judge_calls(arena.ledger)
        off = max(abs(getattr(row, "accuracy", hand[row.player]) - hand[row.player]) for row in rows)
        pick = int(str(verdict.pick)[1:])
        kept = (pick, *[int(name[1:]) for name in verdict.may_be_as_good])
        dropped = tuple(sorted([int(name[1:]) for name in (*verdict.unlikely, *verdict.out)]))
        right = 0 in kept and pick <= 1 and {*range(2, len(QUALITIES))} <= {*dropped}
        return Run(
            seed,
            right,
            pick,
            tuple(sorted(kept)),
            dropped,
            report.decided,
            calls,
            off,
            time.monotonic() - began,
        )


def judge_calls(ledger: Ledger) -> int:
    """Count requests to judges on record."""
    return sum(row.key.endswith(("/A-B", "/B-A")) for row in ledger.exchanges(1) if row.reply is not None)


# ------------------------------------------------------------------------------------- accuracy by hand


def by_hand(ledger: Ledger) -> dict[str, float]:
    """Return each player's accuracy, from the replies alone: answers to one task are averaged, then tasks."""
    with TASKS.open(encoding="utf-8", newline="") as file:
        tasks = {row["id"]: row for row in csv.DictReader(file)}
    texts = by_hex(ledger.texts())
    seats: dict[int, dict[str, str]] = {}
    task_of: dict[int, str] = {}
    for row in ledger.fixtures():
        fixture = read_fixture(row.body, texts)
        seats[row.number] = {seat.label: seat.player for seat in fixture.seats}
        task_of[row.number] = fixture.drawn["task"]
    recorded = {summary.number for summary in ledger.summaries() if summary.status == "done"}
    credits: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for exchange in ledger.exchanges(1):
        if exchange.reply is not None and exchange.key.startswith("answer/") and exchange.match in recorded:
            player = seats[exchange.match][exchange.key.removeprefix("answer/")]
            task = tasks[task_of[exchange.match]]
            credits[player][task["id"]].append(credit(task, read_reply(exchange).text))
    return {player: fmean(map(fmean, of_tasks.values())) for player, of_tasks in credits.items()}


def credit(task: dict[str, str], answer: str) -> float:
    """Credit of one answer, as somebody would mark it with a pencil."""
    said, expected, check = answer.strip(" .*`\n").lower(), task["expected"], task["check"]
    if check.startswith("number"):
        return float(abs(float(said) - float(expected)) < 0.006)
    if check == "json":
        return _fields(json.loads(answer[answer.index("{") : answer.rindex("}") + 1]), json.loads(expected))
    return float(said == expected.lower())


def _fields(said: dict[str, Any], expected: dict[str, Any]) -> float:
    return fmean([float(said.get(key) == value) for key, value in expected.items()])


def main() -> None:
    stated = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    stated.add_argument("--seeds", type=int, default=40)
    stated.add_argument("--first", type=int, default=1)
    stated.add_argument("--ways", nargs="+", choices=[*WAYS], default=[*WAYS])
    stated.add_argument("--matches", type=int, default=MATCHES)
    told = stated.parse_args()
    for way in told.ways:
        runs = []
        for seed in range(told.first, told.first + told.seeds):
            runs.append(run(seed, way, told.matches))
            print(way, runs[-1], flush=True)
        share = sum(one.judge_calls for one in runs) / (PANEL * sum(one.matches for one in runs))
        print(
            f"{way}: right in {sum(one.right for one in runs)} of {len(runs)}; "
            f"the best kept in {sum(0 in one.kept for one in runs)}; "
            f"{fmean([one.matches for one in runs]):.0f} matches, "
            f"{fmean([one.judge_calls for one in runs]):.0f} judge calls, {share:.0%} of five judges in both "
            f"orders; accuracy differs by at most {max(one.accuracy_off for one in runs):.2g}"
        )


if __name__ == "__main__":
    main()
