"""The arenas that are killed: a small one of every game, and players behind a provider that keeps books."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.engine.arenas import ledger_of, write_arena
from tests.engine.clients import Scripted

from peerage.arena import open_arena
from peerage.engine.calls import pauses
from peerage.engine.record.benches import Benches
from peerage.games import GAMES
from peerage.ledger import Batch
from peerage.ledger.topics.places import Bench
from peerage.players.client import Answer, Call, Client, PlayerError
from peerage.players.house import HouseClient
from peerage.players.prices import price_of
from peerage.sandbox import image
from peerage.settings import PlayerSettings

DEAD = "dead"
"""A player on the bench that nothing ever gets through to: each run tries it when it starts."""
SHAKY = "p1"
"""The player that fails now and then, and whose replies are now and then cut, where an arena has such."""
SOMETIMES = 0.25
"""The share of its requests that fail at first, and of its replies that are cut."""
BOOK = "book.jsonl"
FEW = (1, 2, 4, 32)
"""Matches at once where one match asks little: or all would be asked in the first moment."""


class Trial(NamedTuple):
    """An arena to be killed, and with how many matches at once its runs play. `slow` is how much longer than
    others it takes to start: a sandbox takes its time. `games` are several in place of `game` and `rules`.
    No reply takes longer than `longest_s`, most take far less."""

    game: str
    matches: int
    players: int
    rules: Mapping[str, Any]
    concurrency: tuple[int, ...] = (1, 8, 32, 128, 512)
    slow: float = 1.0
    sandbox: bool = False
    benched: bool = False
    budget: bool = False
    failing: bool = False
    cut: bool = False
    faults: Mapping[str, float] = {}
    games: Mapping[str, Any] = {}
    longest_s: float = 0.05
    judging: Mapping[str, Any] = {}


TRIALS = {
    "duel": Trial(
        "duel",
        100,
        10,
        {"committee": 2, "judges": 3, "topics": ["bridges", "tides", "bees"]},
        benched=True,
        faults={"refusing": 0.03, "malformed": 0.05},
    ),
    "own-prompts": Trial(
        "tasks", 40, 6, {"tasks": "mine.jsonl"}, budget=True, cut=True, judging={"judges": 3}
    ),
    "color-obfuscation": Trial("color-obfuscation", 60, 6, {}, failing=True),
    "several": Trial(
        "duel",
        60,
        8,
        {},
        failing=True,
        cut=True,
        games={
            "duel": {"rules": {"committee": 2, "judges": 3, "topics": ["bridges", "tides", "bees"]}},
            "color-obfuscation": {},
            "challenge-exchange": {"rules": {"seats": 3, "proof": "blind"}, "weight": 2},
        },
    ),
    "last-arena": Trial(
        "last-arena",
        2,
        4,
        {"preset": "development", "questions": 3, "quality": "none", "per_call": 1},
        cut=True,
    ),
    "challenge-exchange": Trial(
        "challenge-exchange", 12, 5, {"seats": 3, "tools": "python"}, concurrency=FEW, slow=5, sandbox=True
    ),
    "code-golf": Trial(
        "code-golf", 24, 5, {"seats": 3, "tasks": 2}, concurrency=FEW, slow=5, sandbox=True, failing=True
    ),
    "bug-hunt": Trial("bug-hunt", 16, 5, {"seats": 3}, concurrency=FEW, slow=5, sandbox=True, cut=True),
}


_ALONE = {game for trial in TRIALS.values() for game in (trial.game, *trial.games)}
TRIALS["others"] = Trial(
    "",
    60,
    8,
    {},
    failing=True,
    cut=True,
    games={name: {"rules": dict(spec.demo.rules)} for name, spec in GAMES.items() if name not in _ALONE},
)
"""Every game that has no trial of its own, in one arena."""


def playable() -> list[str]:
    """The names of those that can be played here: without the extra there is no sandbox."""
    return [name for name, trial in TRIALS.items() if not trial.sandbox or image.installed()]


def arena(
    trial: Trial,
    folder: Path,
    concurrency: int,
    dollars: float | None = None,
    *,
    engine: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """Write (or rewrite) the arena's settings."""
    one = {"price": {"input": 1, "output": 4}, "faults": dict(trial.faults)}
    players = [
        {"name": f"p{at}", "model": f"house:{0.3 + at / 20:.2f}", **one} for at in range(trial.players)
    ]
    if trial.benched:
        players.append({"model": "house:0.5", "name": DEAD})
    stated = {
        "concurrency": concurrency,
        "calls": 512 if dollars is None else 64,
        **(engine or {}),
    }
    folder.mkdir(parents=True, exist_ok=True)
    mine = [json.dumps({"prompt": f"Name river number {at}, and say why it matters."}) for at in range(20)]
    (folder / "mine.jsonl").write_text("\n".join(mine), "utf-8")
    write_arena(
        folder,
        players,
        **({"games": dict(trial.games)} if trial.games else {"game": trial.game}),
        rules=dict(trial.rules),
        judging=dict(trial.judging),
        engine=stated,
        pairing={"window": 96},
        budget=dollars,
        **more,
    )
    if trial.benched and not (folder / "arena.db").exists():
        with open_arena(folder) as opened, opened.ledger.runner():
            entry = Bench(DEAD, "benched", 1, 0, "no such model (404)")
            opened.ledger.write(Batch(amendments=[Benches().enter(entry, 0)]))


class Booking:
    """A house player behind a provider that books each request, and what it bills, before it answers.

    `told` is a file descriptor that hears of each request. Where the trial says so, the first try of some
    requests fails in each process, half of them with the work done; and some replies are cut. What is on
    record in the end depends on none of these failures.
    """

    def __init__(self, settings: PlayerSettings, trial: Trial, folder: Path, told: int) -> None:
        # Each run is a process of its own, at the latest here.
        pauses.BACKOFF_S, pauses.PAUSE_MAX_S, pauses.BENCH_AFTER = 0.01, 0.05, 1_000
        self._house = HouseClient(settings)
        self._price = price_of(settings, datetime.now(UTC).date())
        shaky = settings.name == SHAKY
        self._failing, self._cut = shaky and trial.failing, shaky and trial.cut
        self._tries: Counter[tuple[str, str]] = Counter()
        self._book = os.open(folder / BOOK, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._told = told
        self._longest_s = trial.longest_s

    async def start(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """The book stays open as long as the process."""

    async def answer(self, call: Call) -> Answer:
        answer = self._house.answer_now(call)
        if self._cut and not call.more_room and luck(call, "cut") < SOMETIMES:
            half = answer.text[: len(answer.text) // 2]
            answer = msgspec.structs.replace(answer, text=half, truncated=True, hidden=None)
        self._tries[call.seed, call.key] += 1
        fails = self._failing and self._tries[call.seed, call.key] == 1 and luck(call, "fail") < SOMETIMES
        worked = not fails or luck(call, "worked") < 0.5
        cost = self._price.cost_nano(answer.input_tokens, answer.output_tokens, 0) if worked else 0
        os.write(self._book, msgspec.json.encode([call.seed, call.key, cost]) + b"\n")
        os.write(self._told, b".")
        await asyncio.sleep(self._longest_s * min(1.0, answer.latency_s * 0.06))
        if fails:
            raise PlayerError("overloaded (503)", maybe_paid=worked)
        return answer


def luck(call: Call, what: str) -> float:
    """A number below 1 that follows from the request alone."""
    return int.from_bytes(sha256(f"{call.seed}/{call.key}/{what}".encode()).digest()[:6], "big") / 2**48


def player(settings: PlayerSettings, trial: Trial, folder: Path, told: int) -> Client:
    if settings.name == DEAD:
        return Scripted(
            settings, lambda *_: PlayerError("no such model (404)", kind="permanent"), lambda: 0.0
        )
    return Booking(settings, trial, folder, told)


class Booked(NamedTuple):
    """What the provider's book holds by (match's seed, key): requests received, bills in 1e-9 dollars."""

    requests: Counter[tuple[str, str]]
    bills: Counter[tuple[str, str]]


def booked(folder: Path) -> Booked:
    path = folder / BOOK
    lines = path.read_bytes().splitlines() if path.exists() else []
    rows = [msgspec.json.decode(line) for line in lines]
    bills: Counter[tuple[str, str]] = Counter()
    for seed, key, cost in rows:
        bills[seed, key] += cost
    return Booked(Counter((seed, key) for seed, key, _ in rows), bills)


def spent(folder: Path) -> int:
    """What the arena cost at most so far, open calls at their worst, in 1e-9 dollars."""
    with closing(ledger_of(folder)) as ledger:
        return sum(ledger.spent_by().values())
