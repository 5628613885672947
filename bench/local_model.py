"""Players for benches: they answer with 2 KB in the asked format, at once or after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from peerage.game.protocol import Choice
from peerage.players.client import Answer, Call
from peerage.settings import PlayerSettings

REPLY_CHARS = 2_000
_WORDS = "the deck of a long bridge sways because wind sheds vortices at a rate near its own frequency and "


class Talker:
    """Answers at once."""

    def __init__(self, name: str, reason_chars: int = REPLY_CHARS - 40) -> None:
        self._text = (name + ": " + _WORDS * 40)[:REPLY_CHARS]
        self._reason = self._text[:reason_chars]

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        return self.answer_now(call)

    def answer_now(self, call: Call) -> Answer:
        return self.said(call)

    def said(self, call: Call) -> Answer:
        kind = call.expects
        if isinstance(kind, Choice):
            choice = kind.options[0] if len(kind.options) == 2 else kind.options[len(call.key) % 2]
            text = f'{{"reason": "{self._reason}", "{kind.field}": "{choice}"}}'
        else:
            text = self._text
        return Answer(text, 0.0, input_tokens=1_000, output_tokens=500)


class SlowTalker:
    """Answers after `seconds(call)` on the loop's clock, and votes with a reason of usual length."""

    def __init__(self, name: str, seconds: Callable[[Call], float]) -> None:
        self._talker = Talker(name, 300)
        self._seconds = seconds

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        await asyncio.sleep(self._seconds(call))
        return self._talker.said(call)


def write_arena(folder: Path, *, players: int, concurrency: int, calls: int = 64) -> None:
    """An arena of `players` named p0, p1, …, its pairing window six times the concurrency."""
    lines = "".join(f"  - {{model: 'house:0.5', name: p{i}}}\n" for i in range(players))
    (folder / "arena.yaml").write_text(
        f"pairing: {{window: {6 * concurrency}}}\nengine: {{concurrency: {concurrency}, calls: {calls}}}\n"
        f"players:\n{lines}",
        encoding="utf-8",
    )


def talker(settings: PlayerSettings) -> Talker:
    return Talker(settings.name)
