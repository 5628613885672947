"""House players who write challenges and solve them: real ones, as hard as their author can solve itself.

A solver gets right what is easier than its day's form, else it passes or makes the mistake that everybody
makes there. An author on a bad day believes in that mistake: a program then gives it away, and blind attempts
may not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import comb
from random import Random
from typing import Any, NamedTuple

from peerage.game import HouseCall, HouseReply, Json
from peerage.game.house import DRAFT_SPREAD, SPREAD, worth
from peerage.games.challenge_exchange.creation import Proposed

UNKNOWN = 0.45
"""Difficulty of a challenge that no house player wrote."""
_SAFE = 0.76
"""Difficulty, as a share of its skill, of the hardest challenge that an author dares to write."""
_SURE = 0.3
"""Below this quality an author's own answer is the common mistake."""


class _Family(NamedTuple):
    """Challenges of one form: how hard, the text, the ranges of its numbers, the answer, a program."""

    hardness: float
    text: str
    ranges: tuple[tuple[int, int], ...]
    answer: Callable[..., int]
    program: str


def _primes(most: int) -> int:
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(2, most + 1))


def _ways(total: int) -> int:
    ways = [1] + [0] * total
    for coin in (1, 2, 5, 10, 20, 50):
        for at in range(coin, total + 1):
            ways[at] += ways[at - coin]
    return ways[total]


def _partitions(total: int) -> int:
    ways = [1] + [0] * total
    for part in range(1, total + 1):
        for at in range(part, total + 1):
            ways[at] += ways[at - part]
    return ways[total]


def _collatz(start: int) -> int:
    steps = 0
    while start != 1:
        start = start // 2 if start % 2 == 0 else 3 * start + 1
        steps += 1
    return steps


_FAMILIES = (
    _Family(
        0.12,
        "Add up all whole numbers from {} to {}, both included. What is the sum?",
        ((1, 90), (100, 999)),
        lambda a, b: (a + b) * (b - a + 1) // 2,
        "print(sum(range({}, {} + 1)))",
    ),
    _Family(
        0.22,
        "How many whole numbers from 1 to {} are multiples of {} or of {}?",
        ((200, 999), (3, 9), (11, 17)),
        lambda n, a, b: sum(not (k % a and k % b) for k in range(1, n + 1)),
        "print(sum(not (k % {1} and k % {2}) for k in range(1, {0} + 1)))",
    ),
    _Family(
        0.32,
        "Take the squares of the odd numbers below {}. What is their sum?",
        ((50, 400),),
        lambda n: sum(k * k for k in range(1, n, 2)),
        "print(sum(k * k for k in range(1, {}, 2)))",
    ),
    _Family(
        0.42,
        "What remains when {} to the power of {} is divided by {}?",
        ((2, 99), (20, 200), (101, 997)),
        lambda a, b, m: pow(a, b, m),
        "print(pow({}, {}, {}))",
    ),
    _Family(
        0.52,
        "How many prime numbers are there up to {}?",
        ((100, 999),),
        _primes,
        "print(sum(all(n % d for d in range(2, int(n ** .5) + 1)) for n in range(2, {} + 1)))",
    ),
    _Family(
        0.6,
        "Start at {}. Halve an even number, triple an odd one and add 1. After how many steps is it 1?",
        ((20, 999),),
        _collatz,
        "n, s = {}, 0\nwhile n != 1:\n    n, s = (n // 2 if n % 2 == 0 else 3 * n + 1), s + 1\nprint(s)",
    ),
    _Family(
        0.68,
        "In how many ways can {} cents be paid with coins of 1, 2, 5, 10, 20 and 50 cents?",
        ((30, 150),),
        _ways,
        "w = [1] + [0] * {0}\nfor c in (1, 2, 5, 10, 20, 50):\n    for i in range(c, {0} + 1):\n"
        "        w[i] += w[i - c]\nprint(w[{0}])",
    ),
    _Family(
        0.76,
        "A robot walks on a grid from corner to corner, {} steps east and {} steps north in any order. "
        "How many ways are there?",
        ((5, 12), (5, 12)),
        lambda a, b: comb(a + b, a),
        "from math import comb\nprint(comb({0} + {1}, {0}))",
    ),
    _Family(
        0.84,
        "In how many ways can {} be written as a sum of positive whole numbers, order not counted?",
        ((15, 60),),
        _partitions,
        "w = [1] + [0] * {0}\nfor p in range(1, {0} + 1):\n    for i in range(p, {0} + 1):\n"
        "        w[i] += w[i - p]\nprint(w[{0}])",
    ),
)
_READ = tuple([re.compile(re.escape(family.text).replace(r"\{\}", r"(\d{1,4})")) for family in _FAMILIES])


def house(call: HouseCall, skill: float, rng: Random) -> Any:
    """A challenge, or an answer to one; votes are those of any house judge."""
    if isinstance(call.expects, Json):
        quality = rng.gauss(skill, DRAFT_SPREAD)
        return HouseReply(challenge(skill, quality, rng), worth(quality))
    asked = call.oracle or {}
    return solve(asked.get("description", ""), asked.get("answer"), rng.gauss(skill, SPREAD), rng)


def challenge(skill: float, quality: float, rng: Random) -> Proposed:
    """A draft of that quality by an author of that skill: as hard as it can solve with some certainty."""
    within = [family for family in _FAMILIES if family.hardness < _SAFE * skill] or _FAMILIES[:1]
    family = rng.choice(within[-2:])
    numbers = [rng.randint(*most) for most in family.ranges]
    true = family.answer(*numbers)
    text = family.text.format(*numbers)
    answer = true if quality >= _SURE or rng.random() < 1 / 3 else _mistaken(text, true)
    return Proposed(text, answer, family.program.format(*numbers) if rng.random() < 0.6 else "")


def solve(description: str, answer: int | None, quality: float, rng: Random) -> int | None:
    """An answer, None for a pass; `answer` is the reference, for challenges that no house player wrote."""
    hardness, true = _known(description) or (UNKNOWN, answer)
    if true is not None and quality > hardness:
        return true
    return None if true is None or rng.random() < 0.55 else _mistaken(description, true)


def _known(description: str) -> tuple[float, int] | None:
    """Return how hard a challenge of ours is, and its true answer."""
    for family, form in zip(_FAMILIES, _READ, strict=True):
        match = form.fullmatch(description)
        if match:
            return family.hardness, family.answer(*map(int, match.groups()))
    return None


def _mistaken(description: str, true: int) -> int:
    """The answer of everybody who goes wrong."""
    return true + 1 + sum(map(ord, description)) % 3
