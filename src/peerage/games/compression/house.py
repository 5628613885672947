"""How house players sum up, read, encode and decode: real texts by skill, really read.

The better a player, the less it spells out and the fewer facts it loses; a reader finds an answer only where
the summary holds it, or all that it follows from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from peerage.formats import Json
from peerage.games.compression.reports import Reports, summarized, words
from peerage.games.compression.rules import Answers
from peerage.games.house import SPREAD, Call

_LOSES, _MISREADS, _SLIPS = 0.25, 0.1, 0.2
"""Chances of a player without skill: to lose a fact it writes, to misread one, to spoil a text."""
_LOST = "ø"
_SAME = re.compile(r"=(\d{1,4})")


def house(call: Call, skill: float, rng: Random) -> Any:
    """A summary, answers, a message or the text, by what the oracle knows."""
    quality = min(max(rng.gauss(skill, SPREAD), 0.0), 1.0)
    if isinstance(call.expects, Json):
        drawn, answers, summary = call.oracle
        found = _found(drawn, answers, summary)
        return Answers([one if rng.random() >= _MISREADS * (1 - skill) else "" for one in found])
    if len(call.oracle) == 2:
        drawn, message = call.oracle
        slip = rng.random() < _SLIPS * (1 - skill)
        return decode(message, drawn.spare.text) + (" And so on." if slip else "")
    drawn, report, lossless = call.oracle
    if lossless:
        return encode(report.text, drawn.spare.text, quality, _SLIPS * (1 - quality) ** 2, rng)
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


def encode(text: str, earlier: str, share: float, slip: float = 0.0, rng: Random | None = None) -> str:
    """The words of `text`; in a share of it "=3" stands for the same three words as in `earlier`."""
    new, old = text.split(), earlier.split()
    upto, told, same = round(share * len(new)), list[str](), 0
    for at, word in enumerate([*new, ""]):
        if at < upto and at < len(old) and word == old[at]:
            same += 1
            continue
        told += [f"={same}"] * (same > 0)
        same = 0
        told.append(_LOST if rng and rng.random() < slip else word)
    return " ".join(told).rstrip()


def decode(message: str, earlier: str) -> str:
    """The text that `encode` made the message of."""
    old, text = earlier.split(), list[str]()
    for word in message.split():
        same = _SAME.fullmatch(word)
        text += old[len(text) : len(text) + int(same[1])] if same else [word]
    return " ".join(text)
