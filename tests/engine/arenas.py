"""Small arenas for the tests of the engine: made, played in virtual time, and read back."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from tests import virtual

from peerage.arena import open_arena
from peerage.engine.run.report import RunReport
from peerage.engine.run.runner import Runner
from peerage.ledger import Ledger, open_ledger
from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient, PacedClient
from peerage.settings import PlayerSettings

patience = partial(patch.multiple, "peerage.engine.calls.pauses")
"""Runs whose patience is another one: `@patience(BENCH_AFTER=1000)`, or with a `with`."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C, where there is libyaml

SMALL: Mapping[str, Any] = {
    "committee": 2,
    "judges": 3,
    "topics": ["bridges", "tides", "bees"],
}


def house(count: int, **more: Any) -> list[dict[str, Any]]:
    """House players of evenly spread skill, each with `more` settings."""
    return [
        {"name": f"p{place}", "model": f"house:{0.2 + 0.7 * place / max(1, count - 1):.2f}", **more}
        for place in range(count)
    ]


def write_arena(folder: Path, players: int | list[Any] = 7, seed: int = 1, **sections: Any) -> Path:
    """Write (or rewrite) `arena.yaml` in `folder`; players are not probed unless `engine` says so."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = {"probe": False, **sections.pop("engine", {})}
    settings = {
        "seed": seed,
        "players": house(players) if isinstance(players, int) else players,
        "rules": SMALL,
        "pairing": {"window": 24},
        "engine": engine,
        **sections,
    }
    (folder / "arena.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")
    return folder


def paced(latency_seed: int = 0, scale: float = 1.0) -> Callable[[PlayerSettings], Client]:
    """House players with random latency that has nothing to do with what is on record."""
    rng = random.Random(latency_seed)

    def seconds(call: Call, answer: Answer) -> float:
        return scale * rng.lognormvariate(0.0, 0.8)

    return lambda settings: PacedClient(HouseClient(settings), seconds)


def play(
    folder: Path,
    matches: int | None,
    *,
    clients: Callable[[PlayerSettings], Client] | None = None,
    beside: Callable[[Runner], Any] | None = None,
) -> RunReport:
    """Play in virtual time; house players wait for their virtual latency unless `clients` says otherwise."""
    with open_arena(folder) as arena:
        return virtual.run(
            arena.play(matches, clients=clients or paced(), beside=beside, inline=True),
        )


def play_stopping_at(
    folder: Path,
    matches: int,
    seconds: float,
    clients: Callable[[PlayerSettings], Client],
    times: int = 2,
) -> RunReport:
    """Play, but stop after so many virtual seconds; `times` 2 gives up what is in flight, as a crash does."""

    async def stop(runner: Runner) -> None:
        await asyncio.sleep(seconds)
        for _ in range(times):
            runner.stop()

    return play(folder, matches, clients=clients, beside=stop)


def ledger_of(folder: Path) -> Ledger:
    stated = folder / "arena.yaml"
    settings = yaml.load(stated.read_text("utf-8"), _LOADER) if stated.exists() else {}
    return open_ledger(settings.get("ledger", "sqlite:///arena.db"), folder, create=False)


def head(folder: Path) -> tuple[int, str]:
    """(number, chain) of the last record."""
    ledger = ledger_of(folder)
    try:
        number = ledger.heads()[1]
        return number, next(iter(ledger.records(number))).chain.hex() if number else ""
    finally:
        ledger.close()


def statuses(folder: Path) -> list[str]:
    """The status of every match on record, in order."""
    ledger = ledger_of(folder)
    try:
        return [summary.status for summary in ledger.summaries()]
    finally:
        ledger.close()


def asked_again(folder: Path) -> int:
    """Intents written for a request that already had a reply: there must be none, ever."""
    ledger = ledger_of(folder)
    try:
        answered: set[tuple[int, str]] = set()
        again = 0
        for exchange in ledger.exchanges(1):
            again += (exchange.match, exchange.key) in answered
            if exchange.reply is not None:
                answered.add((exchange.match, exchange.key))
        return again
    finally:
        ledger.close()


def total_spent(folder: Path) -> int:
    """What the whole arena cost at most, in 1e-9 dollars, from the ledger alone."""
    ledger = ledger_of(folder)
    try:
        return sum(ledger.spent_by().values())
    finally:
        ledger.close()


def spent_by_match(folder: Path) -> Counter[int]:
    """What each match cost at most, in 1e-9 dollars."""
    ledger = ledger_of(folder)
    try:
        spent: Counter[int] = Counter()
        for exchange in ledger.exchanges(1):
            spent[exchange.match] += exchange.cost_nano or 0
        for lost in ledger.exchanges(1, unanswered=True):
            spent[lost.match] += lost.lost_nano or 0
        return spent
    finally:
        ledger.close()
