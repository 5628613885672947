"""Each family of puzzles: its text alone leaves one answer, found here in another way than where it is drawn.

`SOLVERS` read a puzzle as a player would, from its text, and list every answer that fits by trying everything
(or, where that is too much, by another method). They must find exactly one, and it must be the answer.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, prod
from random import Random
from statistics import median
from typing import Any

import numpy as np
import pytest

from peerage.game.levels import LEVELS, SLOPE, USUAL_LEVEL
from peerage.games.logic.play import FAMILIES
from peerage.games.logic.puzzles import Puzzle, solves

TRIES, AT_HARDEST = 8, 20
WEEKDAYS = ["Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"-?\d+", text)]


def names(text: str) -> list[str]:
    return re.split(r", | and ", text)


def arithmetic(text: str) -> Iterator[Any]:
    even, modulus, odd, same = re.search(
        r"even x into what (.*?) leaves when divided by (\d+), and an odd x into what (.*?) leaves when "
        r"divided by (\d+)\.",
        text,
    ).groups()  # type: ignore[union-attr]
    assert modulus == same
    number, times = map(int, re.search(r"fed with (\d+) first.* (\d+) times?\.", text).groups())  # type: ignore[union-attr]
    for _ in range(times):
        expression = (odd if number % 2 else even).replace("×", "*")
        number = eval(expression, {"__builtins__": {}}, {"x": number}) % int(modulus)
    yield number


def congruences(text: str) -> Iterator[Any]:
    """By the Chinese remainder theorem, for every choice of remainders."""
    clues = re.findall(r"(\d+(?: or \d+)*) when divided by (\d+)", text)
    every = prod(int(modulus) for _, modulus in clues)
    terms = [
        [int(rest) * (every // int(m)) * pow(every // int(m), -1, int(m)) for rest in rests.split(" or ")]
        for rests, m in clues
    ]
    yield min(sum(chosen) % every or every for chosen in product(*terms))


def polynomial(text: str) -> Iterator[Any]:
    """The factors by an elimination modulo the prime, then the value."""
    prime, degree = map(int, re.search(r"divided by (\d+), .* degree (\d+)", text).groups())  # type: ignore[union-attr]
    terms = re.search(r"on are ([\d?, ]+)", text)[1].rstrip(", ").split(", ")
    start = int(re.search(r"from number (\d+) on", text)[1])
    known = [(n, int(term)) for n, term in enumerate(terms, start) if term != "?"]
    assert len(known) > degree, "fewer terms leave more than one polynomial"
    assert len(terms) + 1 < prime
    rows = [[*[pow(n, power, prime) for power in range(degree + 1)], term] for n, term in known]
    for at in range(degree + 1):
        pivot = next(row for row in rows[at:] if row[at])
        rows.remove(pivot)
        inverse = pow(pivot[at], -1, prime)
        pivot = [factor * inverse % prime for factor in pivot]
        rows = [
            [(a - row[at] * b) % prime for a, b in zip(row, pivot, strict=True)] if row[at] else row
            for row in rows
        ]
        rows.insert(at, pivot)
    assert all(row[-1] == 0 for row in rows[degree + 1 :])
    yield (
        sum(row[-1] * pow(start + len(terms), power, prime) for power, row in enumerate(rows[: degree + 1]))
        % prime
    )


def arrangements(text: str) -> Iterator[Any]:
    letters = "".join(sorted(re.findall(r"\b[A-Z]\b", text.partition("letters ")[2].partition(", each")[0])))
    assert "no two equal letters stand side by side" in text
    never = {a + b for a, b in re.findall(r"([A-Z]) never stands directly before ([A-Z])", text)}
    never |= {letter * 2 for letter in letters}

    @cache
    def orders(left: str, last: str) -> int:
        """By what letters are left and the one before."""
        ways = (orders(left.replace(one, "", 1), one) for one in {*left} if last + one not in never)
        return sum(ways) if left else 1

    if len(letters) < 8:
        every = {"".join(order) for order in permutations(letters)}
        assert orders(letters, "") == sum(not any(pair in order for pair in never) for order in every)
    yield orders(letters, "")


def committees(text: str) -> Iterator[Any]:
    groups = re.findall(r"(\d+) (\w+)s, ([\w, ]+?) among them", text)
    size, least, named = re.search(r"of (\d+) people .* at least (\d+) (\w+?)s?, when", text).groups()  # type: ignore[union-attr]
    assert named == groups[0][1]
    members = [names(group) for _, _, group in groups]
    people = [*members[0], *members[1]]
    chosen = np.arange(1 << len(people))
    on = {name: chosen >> at & 1 == 1 for at, name in enumerate(people)}
    fits = np.full(len(chosen), True)
    for one, other in re.findall(r"(\w+) and (\w+) do not both serve", text):
        fits &= ~(on[one] & on[other])
    for one, other in re.findall(r"(\w+) serves only if (\w+) does", text):
        fits &= ~on[one] | on[other]
    counted = [sum([on[name][fits].astype(int) for name in group]) for group in members]
    free = [int(group[0]) - len(own) for group, own in zip(groups, members, strict=True)]
    pairs, times = np.unique(np.stack(counted), axis=1, return_counts=True)
    yield sum(
        int(many) * comb(free[0], some - int(a)) * comb(free[1], int(size) - some - int(b))
        for a, b, many in zip(*pairs, times, strict=True)
        for some in range(max(int(least), int(a)), int(size) - int(b) + 1)
    )


def grid_paths(text: str) -> Iterator[Any]:
    """From the last square back, move by move."""
    columns, rows = map(int, re.findall(r"(\d+) (?:columns|rows)", text))
    blocked = _squares(text, "are blocked")
    golden = _squares(text, "are golden")
    longest = int((re.search(r"more than (\d+) moves in the same direction", text) or [0, columns + rows])[1])
    wanted = int((re.search(r"over exactly (\d+) golden", text) or [0, 0])[1])

    @cache
    def ways(x: int, y: int, last: str, length: int, gold: int) -> int:
        """Ways to the goal from a square that was entered by so many moves of the same kind."""
        if x > columns or y > rows or (x, y) in blocked or length > longest:
            return 0
        gold += (x, y) in golden
        if (x, y) == (columns, rows):
            return int(gold == wanted)
        return ways(x + 1, y, "right", length + 1 if last == "right" else 1, gold) + ways(
            x, y + 1, "up", length + 1 if last == "up" else 1, gold
        )

    assert f"lead to ({columns}, {rows})" in text
    yield ways(1, 1, "", 0, 0)


def _squares(text: str, what: str) -> set[tuple[int, int]]:
    said = [part for part in text.split(". ") if what in part]
    return {(int(x), int(y)) for x, y in re.findall(r"\((\d+), (\d+)\)", "".join(said))}


def sets(text: str) -> Iterator[Any]:
    """By the matrix of who is counted where."""
    asked_of = re.search(r"How many are (.*)\?", text)[1]  # type: ignore[index]
    total = int(re.match(r"There are (\d+) students", text)[1])
    apart = re.findall(r"Nobody is both in (\w+) and in (\w+)\.", text)
    clues = re.findall(r"(\d+) are ((?:not )?in [^.]*)\.", text)
    every = " ".join([asked_of, *[said for _, said in clues], *[" ".join(pair) for pair in apart]])
    clubs = sorted(
        {*re.findall(r"\w+", every)}
        - {"not", "in", "and", "of", "at", "least", "exactly"}
        - {*map(str, range(9))}
    )
    regions = [
        {*some}
        for size in range(len(clubs) + 1)
        for some in combinations(clubs, size)
        if not any({*pair} <= {*some} for pair in apart)
    ]

    def counted(said: str) -> list[int]:
        if many := re.match(r"in (exactly|at least) (\d+) of (.*)", said):
            number, of = int(many[2]), {*names(many[3])}
            return [
                (len(r & of) == number) if many[1] == "exactly" else len(r & of) >= number for r in regions
            ]
        parts = names(said)
        return [all((part.split()[-1] in r) != part.startswith("not") for part in parts) for r in regions]

    rows = np.array([[1] * len(regions), *[counted(said) for _, said in clues]], float)
    right = np.array([total, *[int(many) for many, _ in clues]], float)
    assert np.linalg.matrix_rank(rows) == len(regions)
    asked = np.array(counted(asked_of), float)
    yield round(float(asked @ np.linalg.lstsq(rows, right, rcond=None)[0]))


def dice(text: str) -> Iterator[Any]:
    """By products of generating functions."""
    thrown = [numbers(faces) for faces in re.findall(r"has the faces ([\d, ]+)", text)]
    bound, exactly = numbers(text)[-1], "exactly" in text
    ways = np.ones(1, np.int64)
    for faces in thrown:
        ways = np.convolve(ways, np.bincount(faces))
    good = int(ways[bound]) if exactly else int(ways[bound:].sum())
    yield Fraction(good, prod(map(len, thrown)))


def urn(text: str) -> Iterator[Any]:
    """Ball after ball: orders in which they may come, by how many of each color there are so far."""
    bag = {
        color: int(many) for many, color in re.findall(r"(\d+) (\w+) balls(?! are)", text.partition(".")[0])
    }
    drawn = int(re.search(r"\. (\d+) balls", text)[1])
    more = re.findall(r"more are (\w+) than (\w+)", text)
    bounds = re.findall(r"at (least|most) (\d+) are (\w+) or (\w+)", text)
    order = [*bag]

    def fits(some: dict[str, int]) -> bool:
        return all(some[a] > some[b] for a, b in more if a in some and b in some) and all(
            some[a] + some[b] >= int(n) if kind == "least" else some[a] + some[b] <= int(n)
            for kind, n, a, b in bounds
            if a in some and b in some
        )

    near = {frozenset(pair) for pair in more} | {frozenset(bound[2:]) for bound in bounds}
    first = next(color for color in order if sum(color in pair for pair in near) == 1)
    path = [first]
    while len(path) < len(order):
        path.append(next(c for c in order if c not in path and frozenset((path[-1], c)) in near))

    @cache
    def ways(at: int, before: int, left: int) -> int:
        """Choices of the colors from place `at` on, after so many of the one before."""
        if at == len(path):
            return int(not left)
        return sum(
            comb(bag[path[at]], some) * ways(at + 1, some, left - some)
            for some in range(min(left, bag[path[at]]) + 1)
            if at == 0 or fits({path[at - 1]: before, path[at]: some})
        )

    yield Fraction(ways(0, 0, drawn), comb(sum(bag.values()), drawn))


def calendar(text: str) -> Iterator[Any]:
    """Day after day, with the lengths of months alone."""
    day, month, year = re.match(r"Begin with (\d+) ([A-Z]\w+) (\d{4})\.", text).groups()  # type: ignore[union-attr]
    now = [int(year), MONTHS.index(month[:3]) + 1, int(day)]
    weekday = date(*now).weekday()
    rules = re.findall(r"if ([^;]*?), go (\d+) days ahead", text)
    other = int(re.search(r"else, go (\d+) days ahead\.", text)[1])

    def applies(said: str) -> bool:
        if found := re.match(r"it is a (\w+)day$", said):
            return WEEKDAYS[weekday] == found[1]
        if found := re.match(r"the month is (\w+)$", said):
            return MONTHS[now[1] - 1] == found[1][:3]
        number = numbers(said)[-1]
        if "divided by" in said:
            return now[2] % number == 0
        return now[2] < number if "below" in said else now[2] > number

    for _ in range(int(re.search(r"do this (\d+) times", text)[1])):
        ahead = next((int(days) for said, days in rules if applies(said)), other)
        weekday = (weekday + ahead) % 7
        now[2] += ahead
        while now[2] > (length := _length(now[0], now[1])):
            now = [now[0] + (now[1] == 12), now[1] % 12 + 1, now[2] - length]
    yield "{:04}-{:02}-{:02}".format(*now)


def _length(year: int, month: int) -> int:
    if month == 2:
        return 28 + (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    return 30 if month in (4, 6, 9, 11) else 31


def knights(text: str) -> Iterator[Any]:
    """Every world at once: an array says of each who is a knight in it."""
    people = names(re.match(r"Each of (.*?) is either", text)[1])
    said = re.findall(r'(\w+) says: "(.*?)\."', text)
    assert [name for name, _ in said] == people
    worlds = np.arange(1 << len(people))
    knight = {name: worlds >> at & 1 == 1 for at, name in enumerate(people)}

    def true(claim: str) -> Any:
        claim = claim[0].lower() + claim[1:] if claim.split()[0] not in knight else claim
        if parts := re.fullmatch(r"if (.*), then (.*)", claim):
            return ~true(parts[1]) | true(parts[2])
        if parts := re.fullmatch(r"either (.*), or (.*), but not both", claim):
            return true(parts[1]) != true(parts[2])
        if parts := re.fullmatch(r"(\w+) would say that (.*)", claim):
            return knight[parts[1]] == true(parts[2])
        if parts := re.fullmatch(r"exactly (\d+) of (.*) (?:is a knight|are knights)", claim):
            return sum(knight[name].astype(int) for name in names(parts[2])) == int(parts[1])
        if parts := re.fullmatch(r"at least one of (.*) is a knave", claim):
            return ~np.all([knight[name] for name in names(parts[1])], axis=0)
        if parts := re.fullmatch(r"(\w+) and (\w+) are of (the same kind|different kinds)", claim):
            return (knight[parts[1]] == knight[parts[2]]) == (parts[3] == "the same kind")
        name, kind = re.fullmatch(r"(\w+) is a (knight|knave)", claim).groups()  # type: ignore[union-attr]
        return knight[name] == (kind == "knight")

    fits = np.all([knight[name] == true(claim) for name, claim in said], axis=0)
    for world in worlds[fits]:
        yield ", ".join(name for at, name in enumerate(people) if world >> at & 1)


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
    if len(people) < 8:
        for places in _arrangements([("", people)], clues, "slot"):
            yield ", ".join(name for (_, name), _ in sorted(places.items(), key=lambda one: one[1]))
        return
    yield from _in_slots(
        people, [_clue(clue, {name: ("", name) for name in people}, "slot") for clue in clues]
    )


def _in_slots(people: list[str], clues: list[Any]) -> Iterator[str]:
    """Orders of people, a pair of slots being ruled out as soon as no clue allows it."""
    slots = range(1, len(people) + 1)
    may: dict[tuple[str, str], Any] = {}
    open_to = {name: np.full(len(people), True) for name in people}
    for items, holds in clues:
        a, b = items[0][1], items[-1][1]
        if a == b:
            open_to[a] &= np.array([holds({items[0]: p}) for p in slots])
            continue
        table = np.array([[p != q and holds({items[0]: p, items[-1]: q}) for q in slots] for p in slots])
        may[a, b] = may.get((a, b), True) & table
        may[b, a] = may[a, b].T
    start = np.stack([open_to[name] for name in people])
    at = {name: n for n, name in enumerate(people)}
    tables = [(at[a], at[b], table) for (a, b), table in may.items()]

    def orders(left: Any) -> Iterator[str]:
        while True:
            before = left.sum()
            for a, b, table in tables:
                left[b] &= table[left[a]].any(axis=0)
            for one in np.flatnonzero(left.sum(axis=1) == 1):
                others = left[one] & (np.arange(len(people))[:, None] != one)
                left &= ~others
            if not left.any(axis=1).all() or not left.any(axis=0).all():
                return
            if left.sum() == before:
                break
        counts = left.sum(axis=1)
        if counts.max() == 1:
            yield ", ".join(people[one] for one in left.argmax(axis=0))
            return
        one = int(np.where(counts > 1, counts, 99).argmin())
        for slot in np.flatnonzero(left[one]):
            supposed = left.copy()
            supposed[one] = np.arange(len(people)) == slot
            yield from orders(supposed)

    return orders(start)


def _arrangements(
    rows: list[tuple[str, list[str]]], clues: list[str], place: str
) -> Iterator[dict[tuple[str, str], int]]:
    """Every arrangement in which all clues hold, by the orders that are left of each row."""
    words = {item: (kind, item) for kind, items in rows for item in items}
    size = len(rows[0][1])
    where = {(kind, item): (row, n) for row, (kind, items) in enumerate(rows) for n, item in enumerate(items)}
    tables = []
    for items, holds in [_clue(clue, words, place) for clue in clues]:
        one, other = items[0], items[-1]
        pairs = product(range(1, size + 1), repeat=2)
        allowed = [(one != other or p == q) and holds({one: p, other: q}) for p, q in pairs]
        tables.append((*where[one], *where[other], np.array(allowed).reshape(size, size)))
    orders = np.array([*permutations(range(size))], np.int8)

    def narrowed(left: list[Any]) -> Iterator[list[Any]]:
        """The only arrangements that are left of these orders of rows."""
        while True:
            before = [len(some) for some in left]
            for i, a, j, b, table in tables:
                if i == j:
                    left[i] = left[i][table[left[i][:, a], left[i][:, b]]]
                    continue
                reached = table[np.bincount(left[i][:, a], minlength=size) > 0].any(axis=0)
                left[j] = left[j][reached[left[j][:, b]]]
                reached = table[:, np.bincount(left[j][:, b], minlength=size) > 0].any(axis=1)
                left[i] = left[i][reached[left[i][:, a]]]
            if not all(map(len, left)):
                return
            if before == [len(some) for some in left]:
                break
        if all(len(some) == 1 for some in left):
            yield left
            return
        row = min((n for n, some in enumerate(left) if len(some) > 1), key=lambda n: len(left[n]))
        item = next(n for n in range(size) if len({*left[row][:, n]}) > 1)
        for at in {*left[row][:, item].tolist()}:
            yield from narrowed([*left[:row], left[row][left[row][:, item] == at], *left[row + 1 :]])

    for found in narrowed([orders] * len(rows)):
        yield {key: int(found[row][0][n]) + 1 for key, (row, n) in where.items()}


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
    """Half of the letters against the other half: what each makes of the sum must cancel out."""
    *addends, total = re.findall(r"\b[A-Z]{2,}\b", text.partition(" each letter")[0])
    told = {letter: int(digit) for letter, digit in re.findall(r"\b([A-Z]) stands for (\d)", text)}
    letters = sorted({*"".join(addends), *total} - told.keys())
    free = [digit for digit in range(10) if digit not in told.values()]
    assert text.endswith(f"Which number is {total}?")
    weights = dict.fromkeys([*letters, *told], 0)
    for word, sign in (*[(word, 1) for word in addends], (total, -1)):
        for at, letter in enumerate(reversed(word)):
            weights[letter] += sign * 10**at
    known = sum(weights[letter] * digit for letter, digit in told.items())
    half = len(letters) // 2
    factors = np.array([weights[letter] for letter in letters])
    for digits in combinations(free, half):
        rest = [digit for digit in free if digit not in digits]
        here, there = [*permutations(digits)], [*permutations(rest, len(letters) - half)]
        sums = np.array(here, int).reshape(len(here), half) @ factors[:half] + known
        others = -(np.array(there, int).reshape(len(there), len(letters) - half) @ factors[half:])
        for a in np.flatnonzero(np.isin(sums, others)):
            for b in np.flatnonzero(others == sums[a]):
                means = told | dict(zip(letters, [*here[a], *there[b]], strict=True))
                if all(means[word[0]] for word in (*addends, total)):
                    yield int("".join(str(means[letter]) for letter in total))


def weighing(text: str) -> Iterator[Any]:
    """Each half of the weights, and what the other half must make up."""
    weights = numbers(text.partition(".")[0].removeprefix("There is one"))
    total = int(re.search(r"exactly (\d+) g", text)[1])
    halves = [
        [some for size in range(len(half) + 1) for some in combinations(half, size)]
        for half in (weights[::2], weights[1::2])
    ]
    others: dict[int, list[tuple[int, ...]]] = {}
    for some in halves[1]:
        others.setdefault(sum(some), []).append(some)
    for some in halves[0]:
        for other in others.get(total - sum(some), ()):
            yield ", ".join(map(str, sorted([*some, *other])))


def roads(text: str) -> Iterator[Any]:
    """Shortest ways between all towns, then every order of the towns to pass."""
    lengths = {frozenset((a, b)): int(n) for a, b, n in re.findall(r"(\w+)-(\w+) (\d+) km", text)}
    start, goal, over = re.search(
        r"from (\w+) to (\w+)(?: that passes through (.*), in whatever order)?\?", text
    ).groups()  # type: ignore[union-attr]
    towns = sorted({town for pair in lengths for town in pair})
    best = {(a, b): lengths.get(frozenset((a, b)), 10**6) * (a != b) for a in towns for b in towns}
    for way, a, b in product(towns, repeat=3):
        best[a, b] = min(best[a, b], best[a, way] + best[way, b])

    @cache
    def shortest(town: str, left: frozenset[str]) -> int:
        if not left:
            return best[town, goal]
        return min(best[town, other] + shortest(other, left - {other}) for other in left)

    yield shortest(start, frozenset(names(over) if over else ()))


def circle(text: str) -> Iterator[Any]:
    """By turning the circle, so that who counts next stands in front."""
    read = re.search(
        r"numbers 1 to (\d+) stand.* count from 1 to (\d+), beginning with person (\d+) .* that (\d+) times "
        r".* left and (\d+) more leave when divided by (\d+)\.",
        text,
    )
    assert read
    people, least, first, factor, more, step = map(int, read.groups())
    ring, count, up = deque(range(1, people + 1)), least, True
    ring.rotate(1 - first)
    while len(ring) > 1:
        ring.rotate(-(count - 1) if up else count - 1)
        gone = ring.popleft()
        count, up = least + (factor * gone + more) % step, gone % 2 == 1
        if not up:
            ring.rotate(1)
    yield ring[0]


SOLVERS: dict[str, Callable[[str], Iterator[Any]]] = {
    solver.__name__.replace("_", "-"): solver
    for solver in (
        *(arithmetic, congruences, polynomial, arrangements),
        *(committees, grid_paths, sets, dice, urn, calendar),
        *(knights, zebra, schedule, cryptarithm, weighing, roads, circle),
    )
}


@cache
def puzzle(family: str, level: int, seed: int) -> Puzzle:
    return FAMILIES[family](Random(f"{family}/{seed}"), level)


def unproven(family: str, level: int, seeds: range) -> list[str]:
    """The texts of the puzzles to which a solver finds another answer, several or none."""
    return [
        drawn.text
        for drawn in (puzzle(family, level, seed) for seed in seeds)
        for answers in [{str(one) for one in SOLVERS[family](drawn.text)}]
        if len(answers) != 1 or not solves(answers.pop(), drawn.answer)
    ]


@pytest.mark.parametrize("level", range(1, LEVELS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_leaves_one_answer(family: str, level: int) -> None:
    assert unproven(family, level, range(AT_HARDEST if level == LEVELS else TRIES)) == []


@pytest.mark.slow
@pytest.mark.parametrize("level", range(1, LEVELS + 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_text_leaves_one_answer_in_many(family: str, level: int) -> None:
    assert unproven(family, level, range(AT_HARDEST, 100)) == []


def test_no_cryptarithm_tells_every_letter() -> None:
    for seed in range(200):
        text = FAMILIES["cryptarithm"](Random(seed), 1 + seed % 6).text
        used = {*"".join(re.findall(r"\b[A-Z]{2,}\b", text))}
        assert used > {*re.findall(r"\b([A-Z]) stands for", text)}, text


def test_nobody_lives_between_two_people() -> None:
    """The clue said "Nobody lives between X and Y", which is true too where X is Y."""
    texts = [FAMILIES["zebra"](Random(seed), 4).text for seed in range(20)]
    changed = [
        re.sub(r"(?<=[.] )(\S[^.]*) and ([^.]*) are two people, and nobody lives between them",
               r"Nobody lives between \1 and \2", text)
        for text in texts
    ]  # fmt: skip
    assert any(len({*zebra(text)}) > 1 for text in changed)


@pytest.mark.parametrize(("level", "many"), [(USUAL_LEVEL, 400), (LEVELS, AT_HARDEST)])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_puzzle_comes_twice_and_answers_cannot_be_guessed(family: str, level: int, many: int) -> None:
    drawn = [puzzle(family, level, seed) for seed in range(many)]
    assert len({each.text for each in drawn}) == many
    answers = [each.answer for each in drawn]
    assert max(map(answers.count, {*answers})) <= many / 4, "one answer is right too often"


@pytest.mark.parametrize("family", FAMILIES)
def test_each_level_is_as_much_harder_as_levels_are(family: str) -> None:
    """The difficulty that puzzles measure is that of their level, within 0.4 logits in the median."""
    for level in range(1, LEVELS + 1):
        drawn = [puzzle(family, level, seed) for seed in range(AT_HARDEST)]
        assert {each.level for each in drawn} == {level}
        assert abs(median(each.difficulty for each in drawn) - SLOPE * (level - USUAL_LEVEL)) < 0.4
        assert max(len(each.text) for each in drawn) < 3_000
