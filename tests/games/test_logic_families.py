"""Each family of puzzles: its text alone leaves one answer, found here in another way than where it is drawn.

`SOLVERS` read a puzzle as a player would, from its text, and list every answer that fits by trying everything
(or, where that is too much, by another method). They must find exactly one, and it must be the answer.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from peerage.games.logic.play import FAMILIES
from peerage.games.logic.puzzles import LEVELS, solves

TRIES = 40
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"-?\d+", text)]


def names(text: str) -> list[str]:
    return re.split(r", | and ", text)


def arithmetic(text: str) -> Iterator[Any]:
    yield eval(text[len("What is ") : -1].replace("×", "*"), {"__builtins__": {}})


def _in_base(number: int, base: int, size: int) -> Iterator[str]:
    """The digits found from the left, if so many are enough."""
    if number < base**size:
        digits = ""
        for place in range(size - 1, -1, -1):
            digit = max(d for d in range(base) if d * base**place <= number)
            digits, number = f"{digits}{digit}", number - digit * base**place
        yield digits


def congruences(text: str) -> Iterator[Any]:
    found = numbers(text)
    pairs = [*zip(found[::2], found[1::2], strict=True)]
    rest, modulus = pairs[0]
    steps = range(rest, 10**7, modulus)
    yield next(number for number in steps if all(number % m == r for r, m in pairs))


def _by_primes(number: int) -> list[int]:
    found, prime = [1], 2
    while number > 1:
        if prime * prime > number:
            prime = number
        powers = [1]
        while number % prime == 0:
            number, powers = number // prime, [*powers, powers[-1] * prime]
        found, prime = [a * b for a in found for b in powers], prime + 1
    return found


def polynomial(text: str) -> Iterator[Any]:
    degree, *terms = numbers(text)
    assert len(terms) > degree, "fewer terms leave more than one polynomial"
    rows = [terms]
    while len(rows) <= degree:
        rows.append([b - a for a, b in zip(rows[-1], rows[-1][1:], strict=False)])
    assert len({*rows[-1]}) == 1
    yield sum(row[-1] for row in rows)


def arrangements(text: str) -> Iterator[Any]:
    letters = re.findall(r"\b[A-Z]\b", text.partition("letters ")[2].partition(", each")[0])
    orders = _by_first("".join(sorted(letters)))
    if len(letters) < 8:
        assert sum(orders.values()) == len({*permutations(letters)})
    if begin := re.search(r"(do not )?begin with ([A-Z])", text):
        orders = {first: many for first, many in orders.items() if (first == begin[2]) != bool(begin[1])}
    yield sum(orders.values())


@cache
def _by_first(letters: str) -> dict[str, int]:
    """The first letter of an order → how many different orders begin with it."""
    rests = {letter: letters.replace(letter, "", 1) for letter in letters}
    return {letter: sum(_by_first(rest).values()) if rest else 1 for letter, rest in rests.items()}


def committees(text: str) -> Iterator[Any]:
    (some, job, first), (others, other, second) = re.findall(r"(\d+) (\w+)s, (\w+) among", text)
    size, least, named = re.search(r"of (\d+) people .* at least (\d+) (\w+?)s?, when", text).groups()  # type: ignore[union-attr]
    assert named == job
    assert f"when {first} and {second} must not both be" in text
    people = [(job, at) for at in range(int(some))] + [(other, at) for at in range(int(others))]
    both = {(job, 0), (other, 0)}
    chosen = [{*found} for found in combinations(people, int(size))]
    yield sum(sum(is_a == job for is_a, _ in of) >= int(least) and not both <= of for of in chosen)


def grid_paths(text: str) -> Iterator[Any]:
    columns, rows = map(int, re.findall(r"(\d+) (?:columns|rows)", text))
    blocked = {*re.findall(r"\(\d+, \d+\)", text.partition("The squares")[2].partition("are blocked")[0])}

    def ways(x: int, y: int) -> int:
        if x > columns or y > rows or f"({x}, {y})" in blocked:
            return 0
        return 1 if (x, y) == (columns, rows) else ways(x + 1, y) + ways(x, y + 1)

    assert text.endswith(f"({columns}, {rows})?")
    yield ways(1, 1)


def sets(text: str) -> Iterator[Any]:
    total, a, b, c, ab, ac, bc, abc = numbers(text)
    clubs = re.findall(r"in the (\w+) club", text)
    assert re.findall(r"both (\w+) and (\w+)", text) == [*combinations(clubs, 2)]
    only = [a - ab - ac + abc, b - ab - bc + abc, c - ac - bc + abc]
    assert min(*only, ab - abc, ac - abc, bc - abc) >= 0
    yield sum(only) if "exactly one" in text else total - (a + b + c - ab - ac - bc + abc)


def dice(text: str) -> Iterator[Any]:
    thrown = [numbers(faces) for faces in re.findall(r"has the faces ([\d, ]+)", text)]
    bound, exactly = numbers(text)[-1], "exactly" in text
    sums = [sum(shown) for shown in product(*thrown)]
    yield Fraction(sum(total == bound if exactly else total >= bound for total in sums), len(sums))


def urn(text: str) -> Iterator[Any]:
    bag = {
        color: int(many) for many, color in re.findall(r"(\d+) (\w+) balls(?! are)", text.partition(".")[0])
    }
    many = int(re.search(r"\. (\d+) balls", text)[1])
    wanted = {color: int(n) for n, color in re.findall(r"exactly (\d+) (\w+)", text)}

    @cache
    def chance(bag: tuple[int, ...], many: int, wanted: tuple[int | None, ...]) -> Fraction:
        """Ball by ball: how many there are of each color, and how many of it are to come (None: any)."""
        if not many:
            return Fraction(not any(wanted))
        return sum(
            Fraction(left, sum(bag)) * chance(_less(bag, at), many - 1, _less(wanted, at))
            for at, left in enumerate(bag)
            if left and wanted[at] != 0
        ) + Fraction(0)

    yield chance((*bag.values(),), many, tuple(wanted.get(color) for color in bag))


def _less(some: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    """One less at that place, if there is a number."""
    return tuple(n - 1 if place == at and n is not None else n for place, n in enumerate(some))


def calendar(text: str) -> Iterator[Any]:
    dates = [
        date(int(year), MONTHS.index(month[:3]) + 1, int(day))
        for day, month, year in re.findall(r"(\d+) ([A-Z]\w+) (\d{4})", text)
    ]
    if asked := re.search(r"how many (\w+)s are", text):
        between = (dates[0] + timedelta(days) for days in range((dates[1] - dates[0]).days + 1))
        yield sum(f"{day:%A}" == asked[1] for day in between)
        return
    then = date.fromordinal(dates[0].toordinal() + int(re.search(r"(\d+) days after", text)[1]))
    yield str(then) if "YYYY" in text else f"{then:%A}"


def knights(text: str) -> Iterator[Any]:
    people = names(re.match(r"Each of (.*?) is either", text)[1])
    said = re.findall(r'(\w+) says: "(.*?)"', text)
    assert [name for name, _ in said] == people

    def true(claim: str, knight: set[str]) -> bool:
        named = [name for name in re.findall(r"[A-Z]\w+", claim) if name in people]
        if claim.startswith("Exactly"):
            return len(knight) == numbers(claim)[0]
        if claim.startswith("At least one of"):
            return not {*named} <= knight
        if " are of " in claim:
            return ((named[0] in knight) == (named[1] in knight)) == ("the same kind" in claim)
        return (named[0] in knight) == claim.endswith("a knight.")

    for size in range(len(people) + 1):
        for some in combinations(people, size):
            if all(true(claim, {*some}) == (name in some) for name, claim in said):
                yield ", ".join(sorted(some))


def zebra(text: str) -> Iterator[Any]:
    people = names(re.match(r"(.*?) live in a row", text)[1])
    rows = [("", people)]
    rows += [(kind, names(row)) for kind, row in re.findall(r"one of the (\w+) ([\w, ]+? and \w+)", text)]
    clues = text.partition("the same. ")[2].partition(" List the ")[0].split(". ")
    asked = re.search(r"List the (\w+)", text)[1]
    for places in _arrangements(rows, clues, "house"):
        order = {place: item for (kind, item), place in places.items() if kind == asked}
        yield ", ".join(order[place] for place in sorted(order))


def schedule(text: str) -> Iterator[Any]:
    people = names(re.match(r"(.*?) each give", text)[1])
    clues = re.search(r"in slots 1 to \d+\. (.*) List the", text)[1].rstrip(".").split(". ")
    for places in _arrangements([("", people)], clues, "slot"):
        yield ", ".join(name for (_, name), _ in sorted(places.items(), key=lambda one: one[1]))


def _arrangements(
    rows: list[tuple[str, list[str]]], clues: list[str], place: str
) -> Iterator[dict[tuple[str, str], int]]:
    """Every arrangement in which all clues hold, row by row."""
    words = {item: (kind, item) for kind, items in rows for item in items}
    read = [_clue(clue, words, place) for clue in clues]

    def placed(at: int, so_far: dict[tuple[str, str], int]) -> Iterator[dict[tuple[str, str], int]]:
        if at == len(rows):
            yield so_far
            return
        kind, items = rows[at]
        for order in permutations(range(1, len(items) + 1)):
            now = {**so_far, **{(kind, item): order[n] for n, item in enumerate(items)}}
            if all(holds(now) for items_of, holds in read if all(item in now for item in items_of)):
                yield from placed(at + 1, now)

    return placed(0, {})


def _clue(
    clue: str, words: dict[str, tuple[str, str]], place: str
) -> tuple[list[Any], Callable[[Any], bool]]:
    """The items that a clue names, and whether it holds."""
    items = [words[word] for word in re.findall(r"\w+", clue) if word in words]
    clue = clue.rstrip(".")
    at = re.search(rf"in {place} (\d+)$", clue)
    one, other = items[0], items[-1]
    if at:
        number = int(at[1])
        return items, lambda p: (p[one] == number) != (" does not " in clue)
    if between := re.search(r"([Nn]obody|Exactly (\d+)) .* between", clue):
        many, two = int(between[2] or 0), " are two people, " in clue
        return items, lambda p: max(abs(p[one] - p[other]) - 1, 0) == many and (not two or p[one] != p[other])
    if side := re.search(r"(somewhere|directly) (to the left of|to the right of|before|after)", clue):
        lower, upper = (one, other) if side[2] in ("to the left of", "before") else (other, one)
        if side[1] == "directly":
            return items, lambda p: p[upper] == p[lower] + 1
        return items, lambda p: p[lower] < p[upper]
    assert re.search(r" is (not )?", clue)
    return items, lambda p: (p[one] == p[other]) != (" is not " in clue)


def cryptarithm(text: str) -> Iterator[Any]:
    one, other, total = re.search(r"(\w+) \+ (\w+) = (\w+)", text).groups()  # type: ignore[union-attr]
    told = {letter: int(digit) for letter, digit in re.findall(r"\b([A-Z]) stands for (\d)", text)}
    letters = sorted({*one, *other, *total} - told.keys())
    free = [digit for digit in range(10) if digit not in told.values()]
    assert text.endswith(f"Which number is {total}?")
    weights = dict.fromkeys([*letters, *told], 0)
    for word, sign in ((one, 1), (other, 1), (total, -1)):
        for at, letter in enumerate(reversed(word)):
            weights[letter] += sign * 10**at
    known = sum(weights[letter] * digit for letter, digit in told.items())
    tried = np.array(free, np.uint8)[_orders_of(len(free), len(letters))]
    columns = zip(letters, tried.T.astype(np.int32), strict=True)
    for digits in tried[sum([weights[letter] * column for letter, column in columns]) == -known].tolist():
        means = told | dict(zip(letters, digits, strict=True))
        if all(means[word[0]] for word in (one, other, total)):
            yield int("".join(str(means[letter]) for letter in total))


@cache
def _orders_of(many: int, some: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Every way to choose some of so many in order, a row each."""
    found = np.zeros((1, 0), np.uint8)
    for _ in range(some):
        longer = [np.insert(found, found.shape[1], one, axis=1) for one in range(many)]
        found = np.concatenate([rows[(rows[:, :-1] != one).all(axis=1)] for one, rows in enumerate(longer)])
    return found


def weighing(text: str) -> Iterator[Any]:
    weights = numbers(text.partition(".")[0].removeprefix("There is one"))
    total = int(re.search(r"exactly (\d+) g", text)[1])
    for size in range(1, len(weights) + 1):
        for some in combinations(weights, size):
            if sum(some) == total:
                yield ", ".join(map(str, sorted(some)))


def roads(text: str) -> Iterator[Any]:
    lengths = {frozenset((a, b)): int(n) for a, b, n in re.findall(r"(\w+)-(\w+) (\d+) km", text)}
    start, goal = re.search(r"from (\w+) to (\w+)\?", text).groups()  # type: ignore[union-attr]
    towns = sorted({town for pair in lengths for town in pair})
    best = {(a, b): lengths.get(frozenset((a, b)), 10**6) * (a != b) for a in towns for b in towns}
    for over, a, b in product(towns, repeat=3):
        best[a, b] = min(best[a, b], best[a, over] + best[over, b])
    yield best[start, goal]


def circle(text: str) -> Iterator[Any]:
    people = names(text.partition(" stand in")[0])
    step, first = int(re.search(r"from 1 to (\d+), beginning with (\w+)", text)[1]), 0
    assert f"beginning with {people[first]};" in text
    place = 0  # of the one left, by Josephus' recursion over the size of the circle
    for size in range(2, len(people) + 1):
        place = (place + step) % size
    yield people[place]


SOLVERS: dict[str, Callable[[str], Iterator[Any]]] = {
    solver.__name__.replace("_", "-"): solver
    for solver in (
        *(arithmetic, congruences, polynomial, arrangements),
        *(committees, grid_paths, sets, dice, urn, calendar),
        *(knights, zebra, schedule, cryptarithm, weighing, roads, circle),
    )
}


def unproven(family: str, level: int, seeds: range) -> list[str]:
    """The texts of the puzzles to which a solver finds another answer, several or none."""
    puzzles = [FAMILIES[family](Random(f"{family}/{seed}"), level) for seed in seeds]
    return [
        text
        for text, answer in puzzles
        for answers in [{str(one) for one in SOLVERS[family](text)}]
        if len(answers) != 1 or not solves(answers.pop(), str(answer))
    ]


@pytest.mark.parametrize("level", range(1, LEVELS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_leaves_one_answer(family: str, level: int) -> None:
    assert unproven(family, level, range(TRIES)) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", range(1, LEVELS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_leaves_one_answer_in_many(family: str, level: int) -> None:
    assert unproven(family, level, range(TRIES, 100)) == []


def test_no_cryptarithm_tells_every_letter() -> None:
    for seed in range(400):
        text, _ = FAMILIES["cryptarithm"](Random(seed), 1 + seed % LEVELS)
        used = {*"".join(re.findall(r"\b[A-Z]{2,}\b", text))}
        assert used > {*re.findall(r"\b([A-Z]) stands for", text)}, text


def test_nobody_lives_between_two_people() -> None:
    """The clue said "Nobody lives between X and Y", which is true too where X is Y."""
    text, _ = FAMILIES["zebra"](Random("3/1"), 3)
    assert "two people, and nobody lives between them" in text
    assert len({*zebra(text)}) == 1
    assert len({*zebra(re.sub(r"(?<=[.] )(\S[^.]*) and ([^.]*) are two people, and nobody lives between them",
                              r"Nobody lives between \1 and \2", text))}) > 1  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_no_puzzle_comes_twice_and_answers_cannot_be_guessed(family: str) -> None:
    drawn = [FAMILIES[family](Random(f"{family}/{seed}"), 3) for seed in range(400)]
    assert len({text for text, _ in drawn}) == 400
    answers = [str(answer) for _, answer in drawn]
    assert max(map(answers.count, {*answers})) <= 100, "one answer is right too often"


@pytest.mark.parametrize("family", FAMILIES)
def test_higher_levels_are_larger(family: str) -> None:
    sizes = []
    for level in (1, 5):
        drawn = [FAMILIES[family](Random(f"{family}/{seed}"), level) for seed in range(30)]
        sizes.append(sum(len(text) + 10 * len(str(answer)) for text, answer in drawn))
    assert sizes[0] < sizes[1]
