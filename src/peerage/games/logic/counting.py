"""Families about numbers: arithmetic, number theory, sequences, counting and probability. Pure.

Each function draws a puzzle of a level from 1 to 5 and computes its answer in a closed or recursive form.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from math import comb, factorial, prod
from random import Random

from peerage.games.logic.puzzles import listed
from peerage.games.names import NAMES

_PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43)
_COLORS = ("red", "blue", "green", "white", "black", "yellow", "brown", "pink")
_JOBS = ("baker", "doctor", "farmer", "lawyer", "painter", "pilot", "teacher")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def arithmetic(rng: Random, level: int) -> tuple[str, int]:
    """An expression with brackets around every part."""
    text, value = _expression(rng, level + 2)
    return f"What is {text}?", value


def _expression(rng: Random, operations: int) -> tuple[str, int]:
    if not operations:
        number = rng.randint(2, 99)
        return str(number), number
    left = rng.randrange(operations)
    (left_text, a), (other, b) = (_expression(rng, some) for some in (left, operations - 1 - left))
    sign = rng.choice("+-×")
    value = {"+": a + b, "-": a - b, "×": a * b}[sign]
    return " ".join([_bracketed(left_text), sign, _bracketed(other)]), value


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text


def congruences(rng: Random, level: int) -> tuple[str, int]:
    """The least number with given remainders, by the Chinese remainder theorem."""
    moduli = rng.sample(_PRIMES, 2 + level // 2)
    rests = [rng.randrange(1, modulus) for modulus in moduli]
    every = prod(moduli)
    least = sum([
        rest * (every // modulus) * pow(every // modulus, -1, modulus)
        for rest, modulus in zip(rests, moduli, strict=True)
    ])  # fmt: skip
    clues = [f"{rest} when divided by {modulus}" for rest, modulus in zip(rests, moduli, strict=True)]
    asked = f"What is the smallest positive whole number that leaves the remainder {listed(clues)}?"
    return asked, least % every


def polynomial(rng: Random, level: int) -> tuple[str, int]:
    """The next term of a sequence that is a polynomial: so many terms leave one of that degree."""
    degree = 1 + (level + 1) // 2
    factors = [*[rng.randint(-20, 20) for _ in range(degree)], rng.choice((-3, -2, -1, 1, 2, 3))]
    terms = [sum([f * n**power for power, f in enumerate(factors)]) for n in range(1, degree + 4)]
    return (
        f"The term number n of a sequence is a polynomial in n of degree {degree} at most. It begins with "
        f"{', '.join(map(str, terms[:-1]))}. What is the next term?"
    ), terms[-1]


def arrangements(rng: Random, level: int) -> tuple[str, int]:
    """Different orders of letters, some of them equal."""
    kinds = rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2 + (level + 1) // 2)
    counts = Counter(kinds)
    counts.update(rng.choices(kinds, k=2 + level // 2))
    letters = rng.sample([*counts.elements()], counts.total())
    begins = rng.choice(kinds)
    text = (
        f"How many different strings can be made of all of the letters {', '.join(letters)}, each used once"
    )
    match rng.randrange(3):
        case 0:
            return f"{text}?", _orders(counts)
        case 1:
            return f"{text}, that begin with {begins}?", _orders(counts - Counter(begins))
    ends = _orders(counts - Counter(begins))
    return f"{text}, that do not begin with {begins}?", _orders(counts) - ends


def _orders(counts: Counter[str]) -> int:
    return factorial(counts.total()) // prod(map(factorial, counts.values()))


def committees(rng: Random, level: int) -> tuple[str, int]:
    """Numbers of committees, two people not serving together."""
    (first, second), (job, other) = rng.sample(NAMES, 2), rng.sample(_JOBS, 2)
    a, b = rng.randint(4, 8 + level), rng.randint(4, 8 + level)
    size = rng.randint(3, 3 + level // 2)
    least = rng.randint(1, min(a, size - 1))

    def ways(some: int, others: int, free: int, needed: int) -> int:
        return sum([comb(some, k) * comb(others, free - k) for k in range(max(needed, 0), free + 1)])

    text = (
        f"There are {a} {job}s, {first} among them, and {b} {other}s, {second} among them. How many "
        f"different committees of {size} people can be chosen from them that have at least {least} "
        f"{job}{'s' if least > 1 else ''}, when {first} and {second} must not both be on the committee?"
    )
    return text, ways(a, b, size, least) - ways(a - 1, b - 1, size - 2, least - 1)


def grid_paths(rng: Random, level: int) -> tuple[str, int]:
    """Ways over a board with blocked squares."""
    while True:
        columns, rows = rng.randint(4, 5 + level), rng.randint(4, 5 + level)
        inner = [(x, y) for x in range(1, columns + 1) for y in range(1, rows + 1)][1:-1]
        blocked = sorted(rng.sample(inner, min(2 + level, len(inner) // 3)))
        ways = {(1, 0): 1}
        for x in range(1, columns + 1):
            for y in range(1, rows + 1):
                free = (x, y) not in blocked
                ways[x, y] = free * (ways.get((x - 1, y), 0) + ways.get((x, y - 1), 0))
        if ways[columns, rows]:
            return (
                f"A piece stands on square (1, 1) of a board with {columns} columns and {rows} rows. A move "
                "takes it from (x, y) to (x+1, y) or to (x, y+1). The squares "
                f"{listed([f'({x}, {y})' for x, y in blocked])} are blocked and may not be entered. How many "
                f"different ways lead to ({columns}, {rows})?"
            ), ways[columns, rows]


def sets(rng: Random, level: int) -> tuple[str, int]:
    """Numbers of people in none, or in exactly one, of three clubs."""
    most = 8 * level
    only, two, three = ([rng.randint(1, most) for _ in range(many)] for many in (3, 3, 1))
    none, all_three = rng.randint(0, most), three[0]
    clubs = rng.sample(("chess", "tennis", "choir", "robotics", "drama", "rowing", "cooking"), 3)
    pairs = [(0, 1), (0, 2), (1, 2)]
    members = [
        only[at] + all_three + sum([two[p] for p, pair in enumerate(pairs) if at in pair]) for at in range(3)
    ]
    total = none + sum(only) + sum(two) + all_three
    in_clubs = listed([f"{members[at]} are in the {club} club" for at, club in enumerate(clubs)])
    in_both = listed(
        [f"{two[p] + all_three} are in both {clubs[a]} and {clubs[b]}" for p, (a, b) in enumerate(pairs)]
    )
    asked, answer = ("none", none) if rng.random() < 0.5 else ("exactly one", sum(only))
    return (
        f"Of {total} students {in_clubs}; {in_both}; and {all_three} are in all three clubs (and are counted "
        f"in each of the numbers before). How many students are in {asked} of the three clubs?"
    ), answer


def dice(rng: Random, level: int) -> tuple[str, Fraction]:
    """The chance that dice of uncommon faces reach a sum."""
    thrown = [
        sorted(rng.choices(range(1, 10), k=rng.choice((4, 6, 6, 8)))) for _ in range(1 + (level + 2) // 2)
    ]
    sums = Counter({0: 1})
    for faces in thrown:
        more: Counter[int] = Counter()
        for total, ways in sums.items():
            for face in faces:
                more[total + face] += ways
        sums = more
    bound = rng.choice(sorted(sums)[1:])
    sides = [f"die {at} has the faces {', '.join(map(str, faces))}" for at, faces in enumerate(thrown, 1)]
    exactly = rng.random() < 0.4
    good = sums[bound] if exactly else sum([ways for total, ways in sums.items() if total >= bound])
    return (
        f"{len(thrown)} fair dice are thrown once: {'; '.join(sides)}. What is the probability that the sum "
        f"of what they show is {'exactly' if exactly else 'at least'} {bound}? Answer with a fraction."
    ), Fraction(good, sums.total())


def urn(rng: Random, level: int) -> tuple[str, Fraction]:
    """The chance of a draw without replacement."""
    colors = rng.sample(_COLORS, 2 + (level + 1) // 2)
    counts = {color: rng.randint(3, 5 + level) for color in colors}
    wanted = {color: rng.randint(1, 2) for color in colors[:2]}
    drawn = sum(wanted.values()) + rng.randint(0, level // 2) * (len(colors) > 2)
    others = sum(counts.values()) - sum([counts[color] for color in wanted])
    good = prod([comb(counts[color], many) for color, many in wanted.items()])
    good *= comb(others, drawn - sum(wanted.values()))
    balls = listed([f"{many} {color} balls" for color, many in counts.items()])
    exactly = listed([f"exactly {many} {color}" for color, many in wanted.items()])
    return (
        f"A bag holds {balls}. {drawn} balls are drawn at random without being put back. What is the "
        f"probability that {exactly} balls are drawn? Answer with a fraction."
    ), Fraction(good, comb(sum(counts.values()), drawn))


def calendar(rng: Random, level: int) -> tuple[str, str | int]:
    """Weekdays and dates, by the Gregorian calendar."""
    first = date(rng.randint(1990, 2080), 1, 1) + timedelta(rng.randrange(365))
    days = rng.randint(20, 50 * 4**level)
    then = first + timedelta(days)
    by = "By the Gregorian calendar, "
    match rng.randrange(3):
        case 0:
            asked = "which weekday is the day that comes"
            return f"{by}{asked} {days} days after {_long(first)}?", _DAYS[then.weekday()]
        case 1:
            asked = f"{by}which date comes {days} days after {_long(first)}? Answer as YYYY-MM-DD."
            return asked, then.isoformat()
    day = rng.randrange(7)
    count = (days + 7 - (day - first.weekday()) % 7) // 7
    between = f"from {_long(first)} to {_long(then)}, both days included"
    return f"{by}how many {_DAYS[day]}s are there {between}?", count


def _long(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
