"""Faults of a challenge, as its attempts show them. Pure.

| flag | when |
|---|---|
| trivial | everybody else solved it, each time |
| unsolvable | nobody else solved it |
| wrong reference | strong players agree on one other answer, and none of them found the reference answer |
| ambiguous | strong players agree on one other answer, and some of them found the reference answer |
| leaked | the description states the answer; or late attempts succeed far more often than early ones did |

Attempts by its author do not count. All but the first reason for `leaked` need a least number of attempts,
or twice as many as there are other players where the arena is so small; the second one that number in each
half. A player's strength is the share that it solved of all challenges by others that it attempted, withdrawn
ones left out; strong players have at least the median.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Protocol

from peerage.values.texts import lazy

FLAGS = ("ambiguous", "unsolvable", "trivial", "leaked", "wrong reference")
AGREEING = 3
"""Strong players who must give the same other answer; two where there are no more others."""
_AGREEMENT = 0.5
"""Share of the strong players' answers that it must be."""
_LEAP = 0.5
"""By how much the share of successes must have risen from the first half of the attempts to the second."""
_STATED = lazy(
    r"\b(?:answer|password|result|solution|it|code|key)\b"
    r"(?:\s+(?:is|equals|should be|must be|will be)\b|['’]s\b|\s*[=:])"
    r"[\s*_`\"'(]*(-?[0-9]{1,60})(?=[\s*_`\"')]*(?:[!?;,\n]|\.(?![0-9])|$))"
)
_STATED_FIRST = lazy(
    r"(?<![0-9.])(-?[0-9]{1,60})[\s*_`\"')]*\s(?:is|equals|will be)\s+(?:the|your|its|our)\s+"
    r"(?:(?:final|right|correct)\s+)?(?:answer|password|result|solution|code|key)\b"
)
_ALONE = lazy(r"(?<![0-9A-Za-z.])[0-9]+(?![0-9A-Za-z]|\.[0-9])")
_LONG, _ROUND = 5, 3
"""A number of so many digits, more of them before its last zeros than that, is no bound of a challenge by
chance; shorter ones are: the 100th, up to 1000, in base 256."""


class FlaggedAttempt(Protocol):
    """Part of an attempt that flags need, by another player than the author."""

    @property
    def llm_id(self) -> str: ...
    @property
    def answer(self) -> int | None: ...
    @property
    def result(self) -> str: ...


def found_flags(
    description: str,
    reference: int | None,
    attempts: Sequence[FlaggedAttempt],
    strengths: Mapping[str, float],
    least: int,
    others: int = 1_000_000,
) -> tuple[str, ...]:
    """The flags that a challenge has earned; `attempts` by others, in their order. `reference` is None where
    it is sealed, and then no flag can rest on answers. `others` is how many players could have tried it."""
    least = max(2, min(least, 2 * others))
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
        flags += _disagreement(reference, attempts, strengths, max(2, min(AGREEING, others)))
    return tuple(flags)


def _states(description: str, reference: int) -> bool:
    """Return whether a text gives its answer: says that it is the answer, or holds it, too long to be a
    bound."""
    text = re.sub(r"(?<=[0-9])[,_' ](?=[0-9]{3}\b)", "", description)
    text = text.casefold()
    stated = (*_STATED.findall(text), *_STATED_FIRST.findall(text))
    if any(int(number) in (reference, abs(reference)) for number in stated):
        return True
    answer = str(abs(reference))
    return len(answer) >= _LONG and len(answer.rstrip("0")) > _ROUND and answer in _ALONE.findall(text)


def _disagreement(
    reference: int, attempts: Sequence[FlaggedAttempt], strengths: Mapping[str, float], agree: int
) -> list[str]:
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
    if agreeing < agree or agreeing < _AGREEMENT * len(last):
        return []
    return ["ambiguous" if reference in last.values() else "wrong reference"]
