"""Families to be solved by counting: arrangements, choices, ways, sets, probabilities. Pure.

Each draws a puzzle of the sizes that `levels.toml` gives a level, and counts the steps to its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, prod
from random import Random
from typing import TypeAlias

from peerage.games.logic.puzzles import Drawn, digits_of, listed
from peerage.games.names import NAMES

_COLORS = (
    "red", "blue", "green", "white", "black", "yellow", "brown", "pink", "orange", "purple", "gray", "silver",
)  # fmt: skip
_JOBS = ("baker", "doctor", "farmer", "lawyer", "painter", "pilot", "teacher")
_CLUBS = ("chess", "tennis", "choir", "robotics", "drama", "rowing", "cooking")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def arrangements(rng: Random, *, kinds: int, letters: int, apart: int) -> Drawn:
    """Orders of letters in which some are never next to each other, counted from the first letter on by what
    is left. Work: additions."""
    while True:
        used = sorted(rng.sample(_LETTERS, kinds))
        counts = [1] * kinds
        for at in rng.choices(range(kinds), k=letters - kinds):
            counts[at] += 1
        never = {
            (a, b)
            for a, b in rng.sample([(a, b) for a in range(kinds) for b in range(kinds) if a != b], apart)
        }
        allowed = [[b for b in range(kinds) if b != a and (a, b) not in never] for a in range(kinds)]
        ways, work = _orders(counts, allowed)
        if ways > 1:
            break
    order = rng.sample(
        [letter for letter, many in zip(used, counts, strict=True) for _ in range(many)], letters
    )
    never_said = [f"{used[a]} never stands directly before {used[b]}" for a, b in sorted(never)]
    return Drawn(
        f"How many different strings can be made of all of the letters {', '.join(order)}, each used once, "
        f"in which {listed(['no two equal letters stand side by side', *never_said])}?",
        ways,
        work,
    )


def _orders(counts: Sequence[int], allowed: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The ways to use so many of each kind when a kind is followed only by some; and the additions made."""
    unit = [prod([many + 1 for many in counts[:at]]) for at in range(len(counts))]
    ends: dict[tuple[int, int], int] = {
        (sum([many * u for many, u in zip(counts, unit, strict=True)]) - u, at): 1
        for at, u in enumerate(unit)
    }
    work = 0
    for _ in range(sum(counts) - 1):
        longer: dict[tuple[int, int], int] = {}
        for (left, last), ways in ends.items():
            for at in allowed[last]:
                if left // unit[at] % (counts[at] + 1):
                    state = left - unit[at], at
                    longer[state] = longer.get(state, 0) + ways
                    work += 1
        ends = longer
    return sum(ends.values()), work + 1


def committees(rng: Random, *, named: int, rules: int, size: int) -> Drawn:
    """Numbers of committees on which named people serve under conditions, by all choices among these: they
    are the work."""
    while True:
        names, (job, other) = sorted(rng.sample(NAMES, named)), rng.sample(_JOBS, 2)
        is_a = [*[True] * (named // 2), *[False] * (named - named // 2)]
        rng.shuffle(is_a)
        many = {kind: is_a.count(kind) + rng.randint(3, 6) for kind in (True, False)}
        least = rng.randint(1, min(many[True], size - 1))
        pairs = rng.sample([*combinations(range(named), 2)], rules)
        needs = [(*rng.sample(pair, 2), rng.random() < 0.4) for pair in pairs]
        some, work = [0], 0  # choices among those before, as bits
        for at in range(named):
            some = [*some, *[bits | 1 << at for bits in some if bits.bit_count() < size]]
            for a, b, both in needs:
                if max(a, b) == at:
                    some = [bits for bits in some if not bits >> a & 1 or bits >> b & 1 == both]
            work += len(some)
        first = sum([1 << at for at in range(named) if is_a[at]])
        taken = Counter([((bits & first).bit_count(), (bits & ~first).bit_count()) for bits in some])
        free, others = (many[kind] - is_a.count(kind) for kind in (True, False))
        ways = sum([
            times * comb(free, k - a) * comb(others, size - k - b)
            for (a, b), times in taken.items()
            for k in range(max(least, a), size - b + 1)
        ])  # fmt: skip
        if ways:
            break
    groups = [
        f"{many[kind]} {title}s, {listed([names[at] for at in range(named) if is_a[at] == kind])} among them"
        for title, kind in ((job, True), (other, False))
    ]
    said = [
        f"{names[a]} serves only if {names[b]} does"
        if both
        else f"{names[a]} and {names[b]} do not both serve"
        for a, b, both in needs
    ]
    return Drawn(
        f"There are {', and '.join(groups)}. How many different committees of {size} people can be chosen "
        f"from them that have at least {least} {job}{'s' * (least > 1)}, when {listed(said)}?",
        ways,
        work,
    )


def grid_paths(rng: Random, *, side: int, blocked: int, gold: int, run: int) -> Drawn:
    """Ways over a board with blocked and golden squares, added up square by square. Work: digits added."""
    while True:
        columns, rows = rng.randint(side, side + 1), rng.randint(side, side + 1)
        inner = [(x, y) for x in range(1, columns + 1) for y in range(1, rows + 1)][1:-1]
        special = rng.sample(inner, blocked + gold)
        walls, golden = sorted(special[:blocked]), sorted(special[blocked:])
        ends, work = _ways(columns, rows, {*walls}, {*golden}, run)
        if ends:
            break
    wanted = max(ends, key=lambda gold: ends[gold])  # else the answer is small, and guessed
    return Drawn(
        f"A piece stands on square (1, 1) of a board with {columns} columns and {rows} rows. A move "
        "takes it from (x, y) to (x+1, y) or to (x, y+1)"
        + f", and it never makes more than {run} moves in the same direction one after another" * (run < side)
        + f". The squares {_squares(walls)} are blocked and may not be entered."
        + (f" The squares {_squares(golden)} are golden." if gold else "")
        + f" How many different ways lead to ({columns}, {rows})"
        + (f" over exactly {wanted} golden square{'s' * (wanted != 1)}?" if gold else "?"),
        ends[wanted],
        work,
    )


def _squares(squares: Sequence[tuple[int, int]]) -> str:
    return listed([f"({x}, {y})" for x, y in squares])


def _ways(
    columns: int, rows: int, walls: set[tuple[int, int]], golden: set[tuple[int, int]], run: int
) -> tuple[dict[int, int], int]:
    """Golden squares on a way to the last square → ways; and the digits that were added."""
    work = 0
    ways: dict[tuple[int, int], dict[tuple[int, int, int], int]] = {(1, 1): {(0, 0, 0): 1}}
    for x in range(1, columns + 1):
        for y in range(1, rows + 1):
            if (x, y) in walls or (x, y) == (1, 1):
                continue
            here: dict[tuple[int, int, int], int] = {}
            for turn, before in enumerate(((x - 1, y), (x, y - 1))):
                for (last, length, gold), many in ways.get(before, {}).items():
                    longer = length + 1 if last == turn else 1
                    if longer <= run:
                        state = turn, longer if run < columns else 0, gold + ((x, y) in golden)
                        here[state] = here.get(state, 0) + many
                        work += digits_of(many)
            ways[x, y] = here
    ends: Counter[int] = Counter()
    for (_, _, gold), many in ways.get((columns, rows), {}).items():
        ends[gold] += many
    return ends, work


def sets(rng: Random, *, clubs: int, without: int) -> Drawn:
    """Numbers of people in clubs, as many independent ones as there are unknowns. Work: multiplications of an
    elimination."""
    names = sorted(rng.sample(_CLUBS, clubs))
    apart = rng.sample([*combinations(range(clubs), 2)], without)
    regions = [r for r in range(1 << clubs) if not any(r >> a & 1 and r >> b & 1 for a, b in apart)]
    counts = [rng.randint(1, 6 * clubs) for _ in regions]
    asked, wanted = _people(rng, names, rng.choice((1, 2)))
    rows: dict[int, list[int]] = {}
    said, work = list[tuple[int, str]](), 0
    while len(rows) < len(regions):
        text, fits = (
            ("students there are", lambda r: True) if not said else _people(rng, names, rng.randint(1, clubs))
        )
        row = [int(fits(region)) for region in regions]
        many = sum([is_in * count for is_in, count in zip(row, counts, strict=True)])
        reduced, cost = _reduced(row, rows)
        pivot = next((at for at, factor in enumerate(reduced) if factor), None)
        if pivot is None or text == asked:
            continue
        inverse = pow(reduced[pivot], -1, _FIELD)
        rows[pivot] = [factor * inverse % _FIELD for factor in reduced]
        said.append((many, text))
        work += cost + 1
    answer = sum([count for region, count in zip(regions, counts, strict=True) if wanted(region)])
    total, *others = said
    return Drawn(
        f"There are {total[0]} students."
        + "".join([f" Nobody is both in {names[a]} and in {names[b]}." for a, b in sorted(apart)])
        + "".join([f" {many} are {text}." for many, text in rng.sample(others, len(others))])
        + f" How many are {asked}?",
        answer,
        work,
    )


_FIELD = 2**31 - 1
"""A prime: rows that are independent modulo it are independent."""


def _reduced(row: Sequence[int], rows: Mapping[int, Sequence[int]]) -> tuple[list[int], int]:
    """A row without what `rows` (by their first factor, which is 1) make up; and the multiplications made."""
    left, cost = [*row], 0
    for pivot in sorted(rows):
        if factor := left[pivot]:
            left = [(a - factor * b) % _FIELD for a, b in zip(left, rows[pivot], strict=True)]
            cost += len(rows[pivot]) - rows[pivot].count(0)
    return left, cost


def _people(rng: Random, names: Sequence[str], some: int) -> tuple[str, Callable[[int], bool]]:
    """A text about clubs, and whether it is true of somebody in the clubs that bits say."""
    which = sorted(rng.sample(range(len(names)), min(some, len(names))))
    bits = sum([1 << at for at in which])
    clubs = [names[at] for at in which]
    match rng.randrange(3) if len(which) > 1 else 2:
        case 0:
            exactly = rng.randint(0 if len(names) == len(which) else 1, len(which))
            text = f"in exactly {exactly} of {listed(clubs)}"
            return text, lambda r: (r & bits).bit_count() == exactly
        case 1:
            return f"in at least 1 of {listed(clubs)}", lambda r: bool(r & bits)
    wanted = sum([1 << at for at in which if rng.random() < 0.6])
    text = listed([f"{'' if wanted >> at & 1 else 'not '}in {names[at]}" for at in which])
    return text, lambda r: r & bits == wanted


def dice(rng: Random, *, dice: int, faces: int, top: int) -> Drawn:
    """The chance that dice of uncommon faces reach a sum, by a table of sums. Work: additions."""
    thrown = [sorted(rng.sample(range(1, top + 1), faces)) for _ in range(dice)]
    sums, work = Counter({0: 1}), 0
    for shown in thrown:
        more: Counter[int] = Counter()
        for total, ways in sums.items():
            for face in shown:
                more[total + face] += ways
        work += len(sums) * len(shown)
        sums = more
    likely = sorted(sums)
    bound = rng.choice(likely[len(likely) // 4 : -len(likely) // 4] or likely[1:])
    sides = [f"die {at} has the faces {', '.join(map(str, shown))}" for at, shown in enumerate(thrown, 1)]
    exactly = rng.random() < 0.4
    good = sums[bound] if exactly else sum([ways for total, ways in sums.items() if total >= bound])
    return Drawn(
        f"{dice} fair dice are thrown once: {'; '.join(sides)}. What is the probability that the sum "
        f"of what they show is {'exactly' if exactly else 'at least'} {bound}? Answer with a fraction.",
        Fraction(good, sums.total()),
        work,
    )


def urn(rng: Random, *, colors: int, most: int, drawn: int) -> Drawn:
    """The chance of a draw without replacement, with conditions from each color to the next. Work: numbers of
    balls of a color, by how many there are of the color before and in all."""
    while True:
        names, counts = rng.sample(_COLORS, colors), [rng.randint(2, most) for _ in range(colors)]
        said, rules, work = list[str](), list[_Rule](), 0
        for a, b in pairwise(names):
            text, rule = _rule(rng, a, b, max(1, drawn // 2))
            said.append(text)
            rules.append(rule)
        ways = {(some, some): comb(counts[0], some) for some in range(min(counts[0], drawn) + 1)}
        for count, rule in zip(counts[1:], rules, strict=True):
            more: Counter[tuple[int, int]] = Counter()
            for (before, total), many in ways.items():
                for some in range(min(count, drawn - total) + 1):
                    work += 1
                    if rule(before, some):
                        more[some, total + some] += many * comb(count, some)
            ways = more
        good = sum([many for (_, total), many in ways.items() if total == drawn])
        every = comb(sum(counts), drawn)
        if 0 < good < every:
            break
    balls = listed([f"{many} {color} balls" for many, color in zip(counts, names, strict=True)])
    return Drawn(
        f"A bag holds {balls}. {drawn} balls are drawn at random without being put back. What is the "
        f"probability that, of these, {listed(rng.sample(said, len(said)))}? Answer with a fraction.",
        Fraction(good, every),
        work,
    )


_Rule: TypeAlias = Callable[[int, int], bool]


def _rule(rng: Random, first: str, other: str, most: int) -> tuple[str, _Rule]:
    """A condition on how many balls there are of two colors."""
    bound = rng.randint(1, most)
    match rng.randrange(4):
        case 0:
            return f"more are {first} than {other}", lambda a, b: a > b
        case 1:
            return f"more are {other} than {first}", lambda a, b: a < b
        case 2:
            return f"at least {bound} are {first} or {other}", lambda a, b: a + b >= bound
    return f"at most {bound} are {first} or {other}", lambda a, b: a + b <= bound
