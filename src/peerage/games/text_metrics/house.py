"""How house players put texts into form: a reference, with fewer words spoilt the better the player."""

from __future__ import annotations

from random import Random
from typing import Any

from peerage.games.house import SPREAD, Call
from peerage.games.text_metrics.tasks import TextTask

_SPOILS = 0.45
"""The share of words that a player without skill spoils."""


def house(call: Call, skill: float, rng: Random) -> Any:
    """A text as near to a reference as the player's day allows."""
    task: TextTask = call.oracle
    quality = min(max(rng.gauss(skill, SPREAD), 0.0), 1.0)
    lines = []
    for line in rng.choice(task.references).split("\n"):
        words: list[str] = []
        for word in line.split(" "):
            if rng.random() >= _SPOILS * (1 - quality):
                words.append(word)
            elif rng.random() < 0.5:
                words.insert(rng.randrange(len(words) + 1), word[::-1])
        lines.append(" ".join(words))
    return "\n".join(lines).strip() or task.source
