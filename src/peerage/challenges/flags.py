"""What is wrong with a challenge, as its attempts show it. Pure.

| flag | when |
|---|---|
| trivial | everybody else solved it, each time |
| unsolvable | nobody else solved it |
| wrong reference | strong players agree on one other answer, and none of them found the reference answer |
| ambiguous | strong players agree on one other answer, and some of them found the reference answer |
| leaked | the description states the answer; or late attempts succeed far more often than early ones did |

Attempts by its author do not count. All but the first reason for `leaked` need a least number of attempts,
the second one that number in each half: twice as many. A player's strength is the share that it solved of all
challenges by others it ever attempted, withdrawn ones left out; strong players have at least the median.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Protocol

FLAGS = ("ambiguous", "unsolvable", "trivial", "leaked", "wrong reference")
AGREEING = 3
"""Strong players who must give the same other answer."""
_AGREEMENT = 0.5
"""Share of the strong players' answers that it must be."""
_LEAP = 0.5
"""By how much the share of successes must have risen from the first half of the attempts to the second."""
_TELLING_DIGITS = 3
"""An answer of fewer digits stands in many descriptions by chance."""


class Tried(Protocol):
    """What a flag needs of an attempt by another player than the author."""

    @property
    def llm_id(self) -> str: ...
    @property
    def answer(self) -> int | None: ...
    @property
    def result(self) -> str: ...


def found_flags(
    description: str,
    reference: int | None,
    attempts: Sequence[Tried],
    strengths: Mapping[str, float],
    least: int,
) -> tuple[str, ...]:
    """The flags that a challenge has earned; `attempts` by others, in their order. `reference` is None where
    it is sealed, and then no flag can rest on answers."""
    flags: list[str] = []
    if reference is not None and _states(description, reference):
        flags.append("leaked")
    if len(attempts) < least:
        return tuple(flags)
    solved = [attempt.result == "correct" for attempt in attempts]
    if all(solved):
        flags.append("trivial")
    if not any(solved):
        flags.append("unsolvable")
    half = len(solved) // 2
    if half >= least and sum(solved[-half:]) - sum(solved[:half]) >= _LEAP * half and "leaked" not in flags:
        flags.append("leaked")
    if reference is not None:
        flags += _disagreement(reference, attempts, strengths)
    return tuple(flags)


def _states(description: str, reference: int) -> bool:
    numbers = re.findall(r"[0-9]+", re.sub(r"(?<=[0-9])[,_' ](?=[0-9]{3}\b)", "", description))
    return abs(reference) >= 10 ** (_TELLING_DIGITS - 1) and str(abs(reference)) in numbers


def _disagreement(reference: int, attempts: Sequence[Tried], strengths: Mapping[str, float]) -> list[str]:
    line = median(strengths.values()) if strengths else 0.0
    last = {
        attempt.llm_id: attempt.answer
        for attempt in attempts
        if attempt.answer is not None and strengths.get(attempt.llm_id, line) >= line
    }
    others = Counter(answer for answer in last.values() if answer != reference)
    if not others:
        return []
    _, agreeing = others.most_common(1)[0]
    if agreeing < AGREEING or agreeing < _AGREEMENT * len(last):
        return []
    return ["ambiguous" if reference in last.values() else "wrong reference"]
