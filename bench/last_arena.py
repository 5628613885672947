"""A whole tournament as one match: 5 players × 100 questions, one item a call, zero-latency players.

2,000 ratings, 2,500 answers and 10,000 judgements, each durable before what depends on it, in SQLite with
full sync; then recomputed by `replay`. Usage: python -m bench.last_arena [QUESTIONS]
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from peerage.arena import open_arena
from peerage.formats import Questions, Score
from peerage.players.client import Answer, Call
from peerage.settings import PlayerSettings

PLAYERS = 5
ANSWER = "The deck sways because wind sheds vortices at a rate near its own frequency. " * 8


class Pupil:
    """Answers at once: questions that have nothing in common, answers of 600 characters, points by key."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, call: Call) -> Answer:
        return self.answer_now(call)

    def answer_now(self, call: Call) -> Answer:
        if isinstance(call.expects, Questions):
            named = [self._digest(f"{call.key}/{at}") for at in range(call.expects.count)]
            text = json.dumps({"questions": [f"What is {name}, and why?" for name in named]})
        elif isinstance(call.expects, Score):
            text = f"{int(self._digest(call.key)[:4], 16) % 11}/10"
        else:
            text = ANSWER
        return Answer(text, 0.0, input_tokens=200, output_tokens=len(text) // 4)

    def _digest(self, text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()


def pupil(settings: PlayerSettings) -> Pupil:
    return Pupil()


def write_arena(folder: Path, questions: int) -> None:
    players = "".join(f"  - {{model: 'house:0.5', name: p{at}}}\n" for at in range(PLAYERS))
    (folder / "arena.yaml").write_text(
        f"game: last-arena\nplayers:\n{players}"
        f"rules: {{questions: {questions}, quality: none, per_call: 1}}\n",
        encoding="utf-8",
    )


def megabytes() -> float:
    """The most memory that this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def main(questions: int = 100) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_arena(folder, questions)
        with open_arena(folder) as arena:
            began = time.perf_counter()
            report = arena.run(1, clients=pupil)
            played = time.perf_counter() - began
            most = megabytes()
            began = time.perf_counter()
            same = arena.replay().ok
            replayed = time.perf_counter() - began
        size = (folder / "arena.db").stat().st_size / 2**20
    print(f"a tournament of {PLAYERS} players × {questions} questions, one item a call")
    print(f"  calls        {report.calls:10,}")
    print(
        f"  played       {played:10.1f} s, {report.calls / played:,.0f} calls/s, {most:.0f} MB at most (300)"
    )
    print(
        f"  replayed     {replayed:10.1f} s, {'the same' if same else 'NOT the same'}, {megabytes():.0f} MB"
    )
    print(f"  on disk      {size:10.1f} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
