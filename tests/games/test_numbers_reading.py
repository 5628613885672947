"""A second reading of tasks about lists of numbers: it follows the printed statement alone, and must come to
what the reference program prints. Where a word were missing, or taken in another way, they would come apart.
"""

import re
from collections.abc import Callable
from itertools import combinations, groupby, pairwise
from operator import eq, ge, gt, le, lt, ne
from random import Random
from typing import Any

import pytest

from peerage.games import numbers
from peerage.games.bug_hunt.tasks import buggy
from peerage.games.code_golf.tasks import golf_task
from peerage.games.parts import DrawnPart, drawn_part, outputs

Numbers = list[int]
WORDS: dict[str, Callable[[int, int], bool]] = {
    "greater than": gt, "less than": lt, "smaller than": lt, "at least as great as": ge, "equal to": eq,
    "at most as great as": le, "at least": ge, "at most": le,
    "different from": ne,
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


def primes(given: Numbers, which: str) -> Numbers:
    sieve = {n for n in range(2, 1000) if not any(n != m and n % m == 0 for m in range(2, 32))}
    return [n for n in given if (n in sieve) == (which == "prime")]


def factors(given: Numbers, which: str) -> Numbers:
    def of(n: int) -> Numbers:
        least = next(d for d in range(2, n + 1) if n % d == 0)
        return [least, *(of(n // least) if n > least else [])]

    split = [of(n) if n > 1 else [n] for n in given]
    return [f for own in split for f in (own if which == "smallest" else reversed(own))]


def divisors(given: Numbers, least: str, most: str) -> Numbers:
    return [len([d for d in range(int(least), int(most) + 1) if abs(n) // d * d == abs(n)]) for n in given]


def halved(given: Numbers, odd: str) -> Numbers:
    def times(n: int) -> int:
        rest = {"three times it plus 1": 3 * n + 1, "it plus 1": n + 1, "it minus 1": n - 1}[odd]
        return 0 if n == 1 else 1 + times(rest if n & 1 else n >> 1)

    return [times(n) if n > 0 else n for n in given]


def records(given: Numbers, word: str) -> Numbers:
    return [n for at, n in enumerate(given) if not [m for m in given[:at] if not WORDS[word](n, m)]]


def rising(given: Numbers, word: str) -> Numbers:
    rows: list[list[Numbers]] = []
    for n in given:
        ending = [row for own in rows for row in own if WORDS[word](n, row[-1])]
        longest = max(map(len, ending), default=0)
        rows.append([*[[*row, n] for row in ending if len(row) == longest][:1], [n]])
    return [max(map(len, own)) for own in rows]


def table(given: Numbers, width: str) -> list[Numbers]:
    return [given[at : at + int(width)] for at in range(0, len(given), int(width))]


def columns(given: Numbers, width: str, first: str) -> Numbers:
    rows = table(given, width)
    read = [[row[at] for row in rows if len(row) > at] for at in range(int(width))]
    return [n for column in read for n in (column if first == "top" else column[::-1])]


def snake(given: Numbers, width: str, which: str) -> Numbers:
    rows = enumerate(table(given, width), 1)
    return [n for at, row in rows for n in (row[::-1] if (at % 2 == 1) == (which == "odd") else row)]


def cells(given: Numbers, width: str) -> dict[tuple[int, int], int]:
    return {(y, x): n for y, row in enumerate(table(given, width)) for x, n in enumerate(row)}


def beside(at: tuple[int, int]) -> set[tuple[int, int]]:
    y, x = at
    return {(y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)}


def around(given: Numbers, width: str, what: str) -> Numbers:
    board = cells(given, width)
    return [MANY[what]([board[near] for near in [at, *beside(at)] if near in board]) for at in board]


def regions(given: Numbers, width: str, where: str) -> Numbers:
    board = cells(given, width)

    def same(a: int, b: int) -> bool:
        return (a ^ b) & 1 == 0 if "even" in where else abs(a - b) <= int(re.findall(r"\d", where)[0])

    sizes = []
    for at in board:
        region, edge = {at}, [at]
        while edge:
            here = edge.pop()
            new = {near for near in beside(here) & {*board} if same(board[near], board[here])} - region
            region |= new
            edge += new
        sizes.append(len(region))
    return sizes


def stretches(given: Numbers, how: str) -> Numbers:
    pairs = [(n, len([*same])) for n, same in groupby(given)]
    return [n for pair in pairs for n in (pair if how.startswith("the number") else pair[::-1])]


def counted(given: Numbers, word: str) -> Numbers:
    return [len([m for m in given if WORDS[word](m, n)]) for n in given]


def later(given: Numbers, word: str, otherwise: str) -> Numbers:
    fitting = [[m for m in given[at + 1 :] if WORDS[word](m, n)] for at, n in enumerate(given)]
    return [own[0] if own else int(otherwise) for own in fitting]


def based(given: Numbers, base: str, first: str) -> Numbers:
    def digits_of(n: int) -> Numbers:
        return [*(digits_of(n // int(base)) if n >= int(base) else []), n % int(base)]

    return [d for n in given for d in (digits_of(abs(n))[:: 1 if first == "most" else -1])]


def folded(given: Numbers, what: str) -> Numbers:
    left, sign = [*given], 1 if what == "the sum" else -1
    found = []
    while len(left) > 1:
        first, *left, last = left
        found.append(first + sign * last)
    return found + left


def coins(given: Numbers, second: str, third: str) -> Numbers:
    b, c = int(second), int(third)
    return [
        len(
            [
                1
                for y in range(n // b + 1)
                for z in range(n // c + 1)
                if n - b * y - c * z in range(0, n + 1, 2)
            ]
        )
        for n in given
    ]


def mirrored(given: Numbers, what: str) -> Numbers:
    base, form = (10, "d") if what == "decimal" else (2, "b")
    return [int(format(abs(n), form)[::-1], base) * (-1 if n < 0 else 1) for n in given]


def parted(given: Numbers, word: str) -> Numbers:
    return sorted(given, key=lambda n: not WORDS[word](n, given[0]))


def stretch_sum(given: Numbers, what: str, least: str) -> Any:
    cuts = combinations(range(len(given) + 1), 2)
    sums = [sum(given[i:j]) for i, j in cuts if j - i >= int(least)]
    return MANY[what](sums) if sums else "none"


def apart(given: Numbers, gap: str) -> int:
    if not given:
        return 0
    return max(apart(given[1:], gap), given[0] + apart(given[int(gap) :], gap))


def common(given: Numbers, how: str) -> int:
    other = given[::-1] if "opposite" in how else sorted(given, reverse="greatest" in how)
    row = [0] * (len(other) + 1)
    for n in given:
        row = _next(row, n, other)
    return row[-1]


def _next(row: Numbers, n: int, other: Numbers) -> Numbers:
    after = [0]
    for at, m in enumerate(other):
        after.append(max(row[at] + (n == m), row[at + 1], after[at]))
    return after


def remainders(given: Numbers, by: str) -> int:
    reached = {0}
    for n in given:
        reached = {(rest + more) % int(by) for rest in reached for more in (0, n)}
    return len(reached)


def disorder(given: Numbers, word: str) -> int:
    return len([1 for a, b in combinations(given, 2) if WORDS[word](a, b)])


def letters(given: Numbers, by: str, which: str) -> str:
    word = "".join("abcdefghijklmnopqrstuvwxyz"[n % int(by)] for n in given)
    return (word if "first number" in which else word[::-1]) or "none"


def mirror(given: Numbers, which: str) -> int:
    cuts = [given[i:j] for i, j in combinations(range(len(given) + 1), 2)]
    same = [len(cut) for cut in cuts if all(a == b for a, b in zip(cut, reversed(cut), strict=True))]
    return max([size for size in same if (size % 2 == 1) == (which == "odd")], default=0)


def in_rows(given: Numbers, width: str, which: str) -> str:
    rows = [" ".join(map(str, row)) for row in table(given, width)]
    return "\n".join(rows if which == "first" else rows[::-1]) or "none"


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
    r"Keep only the numbers that are ((?:not )?prime)\. Prime numbers are .*": primes,
    r"Replace every number greater than 1 by its prime factors, the (\w+) first, each .* stay\.": factors,
    r"Replace every number by how many of the whole numbers from (\d) to (\d+) divide it .*": divisors,
    r"Replace every number greater than 0 by how .* is odd, replace it by (.*)\. The .*": halved,
    rf"Keep only the numbers that are ({COMPARED}) every number before them, so always the first\.": records,
    rf"Replace every number by the length of the longest row .* so that each is ({COMPARED}) .*": rising,
    r"Write the numbers into rows of (\d), .* column by column, .* each from the (\w+)\.": columns,
    r"Write the numbers into rows of (\d), .* whose place, counted from 1, is (\w+), and read .*": snake,
    r"Write the numbers into rows of (\d), .* by the (\w+) .*": around,
    r"Write the numbers into rows of (\d), .* in one region where (.*); so are .*": regions,
    r"Replace every stretch of equal neighbouring numbers .* two numbers: (.*)\.": stretches,
    rf"Replace every number by how many numbers of the list are ({COMPARED}) it\.": counted,
    rf"Replace every number by the first later number that is ({COMPARED}) it, .*; by (\d) .*": later,
    r"Replace every number by its digits in base (\d), its sign left out, the (\w+) significant .*": based,
    r"Replace the first number by (.*?)(?: \(it minus the other\))? of it and the last one, .*": folded,
    r"Replace every number by how many ways .* coins of 2, (\d) and (\d), .*": coins,
    r"Replace every number by what its (\w+) .*": mirrored,
    rf"Move the numbers that are ({COMPARED}) the first number of the list to the front; .*": parted,
    r"Print the (\w+) sum that a stretch of neighbouring numbers, of length (\d) .*": stretch_sum,
    r"Choose any of the numbers, or none, so that any two chosen ones are at least (\d) places .*": apart,
    r"Take a copy of the numbers, (.*)\. Print how many .* can be left at most .*": common,
    r"Add up any of the numbers, .* when divided by (\d+) .*": remainders,
    rf"Print how many pairs of them, .* in which the earlier number is ({COMPARED}) .*": disorder,
    r"Print a word .* remainder when divided by (\d+) .* and so on, (.*); print the word .*": letters,
    r"Print the length of the longest stretch of neighbouring numbers, of (\w+) length, .*": mirror,
    r"Cut them into rows of (\d), .* the (\w+) row first; print .*": in_rows,
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


@pytest.mark.parametrize("level", [1, 3, 6, 10])
def test_a_reader_of_the_words_of_a_task_prints_what_its_tests_want(level: int) -> None:
    for seed in range(20):
        task = golf_task(Random(f"read/{seed}"), level, 2, 6)
        for given, wanted in (*task.examples, *task.tests):
            assert follow(task.statement, given) == wanted, f"{task.statement}\n{given}"


@pytest.mark.parametrize("level", [1, 2, 4])
def test_a_reader_of_the_words_of_a_hunt_passes_its_tests_and_the_given_program_does_not(level: int) -> None:
    for seed in range(15):
        task = buggy(Random(f"read/{seed}"), level)
        inputs = [given for given, _ in task.tests]
        assert [follow(task.statement, given) for given in inputs] == [wanted for _, wanted in task.tests]
        assert outputs(task.source, inputs) != [wanted for _, wanted in task.tests]


def test_every_sentence_is_read_as_programs_do_it() -> None:
    rng = Random("sentences")
    endings = [name for name in numbers.KINDS if "print(" in numbers.KINDS[name]["plain"]]
    for name in [*numbers.KINDS] * 12:
        last = name if name in endings else "list"
        steps = [] if name in endings else [name]
        plan: list[DrawnPart] = [drawn_part(each, numbers.KINDS[each], rng) for each in (*steps, last)]
        inputs = ["5 -3 12 12 8 21 -7 0", "4", *[numbers.line(rng) for _ in range(4)]]
        printed = outputs(numbers.program(plan), inputs)
        for given, wanted in zip(inputs, printed, strict=True):
            assert follow(numbers.statement(plan), given) == wanted, numbers.statement(plan)
    assert seen == {*SENTENCES}
