"""Arenas for the tests of the site, among them one whose players write what nobody wants on a page."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.engine.arenas import house, play, write_arena

from peerage.players.client import Answer, Call, Client
from peerage.players.house import HouseClient
from peerage.reading.match import Match
from peerage.reading.observations import Observations, observe
from peerage.settings import PlayerSettings
from peerage.views.arena import tables

DECIDED = 45
MATCHES_SERVED = 12

EVIL = (
    "</div></script><script>window.stolen=1</script><img src=x onerror=window.stolen=1>"
    "<a href='javascript:window.stolen=1'>click</a> <style>body{display:none}</style> {{ 7*7 }} "
    "]]> <!-- \u202egnp.evil\u2066 \u200b \x1b[31m \x00 \ufeff \U000e0041"
)
NAMES = (
    "<script>window.stolen=1</script>",
    '" onmouseover=window.stolen=1 x="',
    "../../etc/passwd",
    "javascript:window.stolen=1",
    "名前 é " + "long" * 15,
    "plain",
    "'><svg onload=window.stolen=1>",
)


class Hostile:
    """A house player whose every text begins with `EVIL`, and one of whose answers is very long."""

    def __init__(self, settings: PlayerSettings) -> None:
        self._house = HouseClient(settings)
        self._long = settings.name == "plain"

    async def start(self) -> None:
        await self._house.start()

    async def answer(self, call: Call) -> Answer:
        said = self._house.answer_now(call)
        text = said.text
        if call.role in ("committee", "judge"):
            try:
                reply = json.loads(text)
            except ValueError:
                return said
            text = json.dumps({**reply, "reason": EVIL[:300]}, ensure_ascii=False)
        else:
            text = EVIL + text + ("x" * 150_000 if self._long and call.role == "contestant" else "")
        return msgspec.structs.replace(said, text=text, snapshot=EVIL[:100])

    async def close(self) -> None:
        await self._house.close()


def hostile(settings: PlayerSettings) -> Client:
    return Hostile(settings)


def hostile_arena(folder: Path, matches: int = DECIDED) -> Path:
    """Seven such players and their duels, at a price."""
    players: list[Any] = [
        {"name": name, "model": f"house:{0.2 + 0.1 * place:.1f}", "price": {"input": 1 + place, "output": 4}}
        for place, name in enumerate(NAMES)
    ]
    rules = {
        "committee": 2,
        "judges": 3,
        "topics": ["bridges", "<b onclick=window.stolen=1>tides</b>", "bees"],
        "max_tokens": 50_000,
    }
    write_arena(folder, players, rules=rules, name="An <i>arena</i> & more")
    play(folder, matches, clients=hostile)
    return folder


def sealed_arena(folder: Path, matches: int = 8, players: int = 5, seats: int = 3) -> Path:
    """An exchange of challenges, whose answers are sealed; its blind proofs need no sandbox."""
    settings = {
        "game": "challenge-exchange",
        "seed": 3,
        "players": house(players),
        "rules": {"seats": seats, "proof": "blind", "attempts": 1},
        "pairing": {"window": 2},
    }
    (folder / "arena.yaml").write_text(yaml.safe_dump(settings), "utf-8")
    play(folder, matches)
    return folder


def spans_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """From now on the first and the last match of whatever a site reads for its statistics."""
    read: list[tuple[int, int]] = []

    def noted(matches: Iterable[Match]) -> Observations:
        span = list(matches)
        read.append((span[0].number, span[-1].number))
        return observe(span)

    monkeypatch.setattr(tables, "observe", noted)
    return read


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds, however slow the machine."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it never came to hold")
