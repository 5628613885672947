"""A second reading of tasks about lists of numbers: it follows the printed statement alone, and must come to
what the reference program prints. Where a word were missing, or taken in another way, they would come apart.
"""

import re
from collections.abc import Callable
from itertools import combinations, groupby, pairwise
from operator import eq, ge, gt, le, lt
from random import Random
from typing import Any

import pytest

from peerage.games import numbers
from peerage.games.bug_hunt.tasks import buggy
from peerage.games.code_golf.play import task

Numbers = list[int]
WORDS: dict[str, Callable[[int, int], bool]] = {
    "greater than": gt, "less than": lt, "smaller than": lt, "at least as great as": ge, "equal to": eq,
    "at most as great as": le, "at least": ge, "at most": le,
}  # fmt: skip
COMPARED = "|".join(WORDS)
MANY = {"sums": sum, "sum": sum, "greatest": max, "smallest": min}


def compared(given: Numbers, word: str, bound: str) -> Numbers:
    return [n for n in given if WORDS[word](n, int(bound))]


def divisible(given: Numbers, word: str, by: str) -> Numbers:
    return [n for n in given if (n / int(by)).is_integer() == (word == "not divisible")]


def clamped(given: Numbers, side: str, bound: str, again: str) -> Numbers:
    assert bound == again
    return [
        int(bound) if WORDS[f"{'less' if side == 'below' else 'greater'} than"](n, int(bound)) else n
        for n in given
    ]


def distinct(given: Numbers, which: str) -> Numbers:
    listed = given if which == "first" else given[::-1]
    kept = list(dict.fromkeys(listed))
    return kept if which == "first" else kept[::-1]


def by_remainder(given: Numbers, by: str, which: str, equals: str) -> Numbers:
    found: Numbers = []
    rests = range(int(by)) if which == "smallest" else reversed(range(int(by)))
    for rest in rests:
        same = [n for n in given if (n - rest) % int(by) == 0]
        found += same if equals == "keep their order" else same[::-1]
    return found


def neighbours(given: Numbers, what: str) -> Numbers:
    sign = 1 if "sum" in what else -1
    return given[:1] + [given[at] + sign * given[at - 1] for at in range(1, len(given))]


def running(given: Numbers, which: str, where: str) -> Numbers:
    parts = [given[: at + 1] if "up to it" in where else given[at:] for at in range(len(given))]
    return [MANY[which](part) for part in parts]


def places(given: Numbers, what: str, by: str) -> Numbers:
    return [given[at - 1] for at in range(1, len(given) + 1) if (at % int(by) == 0) == (what == "Keep only")]


def rotated(given: Numbers, times: str, what: str) -> Numbers:
    listed = [*given]
    for _ in range(int(times) * bool(given)):
        listed = [*listed[1:], listed[0]] if what.startswith("first") else [listed[-1], *listed[:-1]]
    return listed


def woven(given: Numbers, which: str) -> Numbers:
    at = [place for place in range(1, len(given) + 1) if place % 2 == (which == "odd")]
    turned = dict(zip(at, reversed(at), strict=True))
    return [given[turned.get(place, place) - 1] for place in range(1, len(given) + 1)]


def scaled(given: Numbers, word: str, bound: str, by: str) -> Numbers:
    return [n * int(by) if WORDS[word](n, int(bound)) else n for n in given]


def stepping(given: Numbers, word: str) -> Numbers:
    return [n for at, n in enumerate(given) if not at or not WORDS[word](n, given[at - 1])]


def windows(given: Numbers, what: str, width: str) -> Numbers:
    size, found = int(width), []
    while len(given) >= size:
        found.append(MANY[what](given[:size]))
        given = given[1:]
    return found


def digits(given: Numbers, what: str) -> Numbers:
    return [MANY[what]([int(one) for one in re.findall(r"\d", str(n))]) for n in given]


def divided(given: Numbers, sign: str, by: str, what: str) -> Numbers:
    listed = [abs(n) for n in given] if sign else given
    quotients = [next(q for q in range(-9999, 9999) if q * int(by) <= n < (q + 1) * int(by)) for n in listed]
    return (
        quotients
        if what.startswith("quotient")
        else [n - q * int(by) for n, q in zip(listed, quotients, strict=True)]
    )


def alternating(given: Numbers, first: str) -> int:
    return (sum(given[::2]) - sum(given[1::2])) * (1 if first == "plus" else -1)


def count_neighbours(given: Numbers, word: str) -> int:
    return sum(WORDS[word](given[at], given[at - 1]) for at in range(1, len(given)))


def pairs(given: Numbers, word: str, bound: str) -> int:
    return sum(WORDS[word](a + b, int(bound)) for a, b in combinations(given, 2))


def stretch(given: Numbers, word: str) -> int:
    breaks = [0] + [int(not WORDS[word](b, a)) for a, b in pairwise(given)]
    runs = [sum(breaks[: at + 1]) for at in range(len(given))]
    return max([len([*same]) for _, same in groupby(runs)], default=0)


def place(given: Numbers, which: str, what: str) -> int:
    at = [at for at, n in enumerate(given, 1) if n == MANY[what](given)]
    return (at[0] if which == "first" else at[-1]) if at else 0


def listed(given: Numbers, order: str) -> str:
    return " ".join(map(str, given if order == "in their order" else reversed(given))) or "none"


def checksum(given: Numbers, start: str, which: str, by: str) -> int:
    total = int(start)
    for n in given if which == "first" else reversed(given):
        total = total * int(by) + n
        total -= 97 * (total // 97)
    return total


def second(given: Numbers, what: str) -> Any:
    left = [n for n in given if n != MANY[what](given)] if given else []
    return MANY[what](left) if left else "none"


SENTENCES: dict[str, Callable[..., Any]] = {
    rf"Keep only the numbers that are ({COMPARED}) (-?\d+)\.": compared,
    r"Leave out the numbers that are ((?:not )?divisible) by (\d+)\.": divisible,
    r"Replace every number (below|above) (-?\d+) by (-?\d+)\.": clamped,
    r"Of equal numbers keep only the (first|last)\.": distinct,
    r"Sort the numbers by their remainder when divided by (\d+) \(it is never negative\), the (\w+) "
    r"remainder first; numbers with equal remainders (.*)\.": by_remainder,
    r"Replace every number but the first by (.*), both as they were\.": neighbours,
    r"Replace every number by the (\w+) of all numbers (from .*), itself included\.": running,
    r"(Keep only|Leave out) the numbers whose place, counted from 1, is a multiple of (\d+)\.": places,
    r"Do this (\d+) times: move the (.*)\.": rotated,
    r"Reverse the order of the numbers at (odd|even) places, .*": woven,
    rf"Multiply every number that is ({COMPARED}) (\d+) by (\d+); the others stay\.": scaled,
    rf"Leave out every number that is ({COMPARED}) the number just before it, also where .* too\.": stepping,
    r"Replace the numbers by the (\w+) of each (\d+) neighbouring ones, .*": windows,
    r"Replace every number by the (\w+) of its decimal digits, its sign left out\.": digits,
    r"Divide every number(, its sign left out,)? by (\d+), and put the (.*) in its place\.": divided,
    r"Print their sum, where numbers count with plus and minus in turn, the first with (\w+).*": alternating,
    rf"Print how many numbers are ({COMPARED}) the number just before them\.": count_neighbours,
    rf"Print how many pairs of them, neighbours or not, have a sum that is ({COMPARED}) (\d+)\.": pairs,
    rf"Print how long the longest stretch .* in which each is ({COMPARED}) the one before; 0 .*": stretch,
    r"Print the place of the (first|last) (\w+) of them, counted from 1; 0 where none is left\.": place,
    r"Print them (.*), separated by single spaces, or the word none where none is left\.": listed,
    r"Start with (\d+)\. For each number, from the (\w+) on, multiply by (\d+), add the number, and take the "
    r"remainder when divided by 97 \(it is never negative\)\. Print what you have in the end\.": checksum,
    r"Print the second (\w+) of the different numbers among them, or the word none .* than two\.": second,
}
seen: set[str] = set()


def follow(statement: str, given: str) -> str:
    first, *steps = statement.split("\n")
    assert first == "Read a line of integers, separated by single spaces. Then, in this order:"
    value: Any = [int(word) for word in given.split()]
    for step in steps:
        [(says, does, words)] = [
            (says, does, found.groups())
            for says, does in SENTENCES.items()
            if (found := re.fullmatch(rf"\d+\. {says}", step))
        ]
        seen.add(says)
        value = does(value, *words)
    return str(value)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_whoever_follows_the_words_of_a_task_prints_what_its_tests_want(steps: int) -> None:
    for seed in range(50):
        made = task(Random(f"read/{seed}"), steps, 2, 8)
        for given, wanted in (*made.examples, *made.tests):
            assert follow(made.statement, given) == wanted, f"{made.statement}\n{given}"


def test_whoever_follows_the_words_of_a_hunt_passes_its_tests_and_the_given_program_does_not() -> None:
    for seed in range(25):
        made = buggy(Random(f"read/{seed}"), 3, 2)
        assert [follow(made.statement, given) for given, _ in made.tests] == [
            wanted for _, wanted in made.tests
        ]
        printed = numbers.outputs(made.source, [given for given, _ in made.tests])
        assert printed != tuple(wanted for _, wanted in made.tests)


def test_every_sentence_is_read() -> None:
    for seed in range(300):
        follow(numbers.statement(numbers.drawn(Random(seed), 4)), "5 -3 12 12 8 21 -7 0")
    assert seen == {*SENTENCES}
