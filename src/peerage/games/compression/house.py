"""House players who sum up and read: real texts by skill, really read.

The better a player, the less it spells out and the fewer facts it loses; a reader finds an answer only where
the summary holds it, or all that it follows from.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from peerage.formats import Json
from peerage.games.compression.reports import Reports, summarized, words
from peerage.games.compression.rules import Answers
from peerage.games.house import SPREAD, Call

_LOSES, _MISREADS = 0.25, 0.1
"""Chances of a player without skill: to lose a fact it writes, to misread one."""


def house(call: Call, skill: float, rng: Random) -> Any:
    """A summary, or the answers that one holds."""
    quality = min(max(rng.gauss(skill, SPREAD), 0.0), 1.0)
    if isinstance(call.expects, Json):
        drawn, answers, summary = call.oracle
        found = _found(drawn, answers, summary)
        return Answers([one if rng.random() >= _MISREADS * (1 - skill) else "" for one in found])
    drawn, report = call.oracle
    kept = [one if rng.random() >= _LOSES * (1 - quality) ** 2 else "" for one in report.answers]
    return summarized(drawn, kept, 1 - quality, rng) or report.text


def _found(drawn: Reports, answers: Sequence[str], summary: str) -> list[str]:
    """The answers that a summary holds, or from which they follow."""
    held = f" {' '.join(words(summary))} "
    there = [f" {' '.join(words(answer))} " in held for answer in answers]
    return [
        answer
        if there[at] or ((of := drawn.follows.get(str(at), ())) and all(there[one] for one in of))
        else ""
        for at, answer in enumerate(answers)
    ]
