"""Families to be solved by calculating: number theory, sequences, dates, a circle that is counted out. Pure.

Each draws a puzzle of the sizes that `levels.toml` gives a level, and counts the steps to its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

from peerage.games.logic.puzzles import Drawn, digits_of, listed

_PRIMES = tuple([n for n in range(5, 1000) if all(n % d for d in range(2, 32) if d < n)])
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def arithmetic(rng: Random, *, digits: int, operations: int, times: int) -> Drawn:
    """Remainders of expressions that are fed back, with no value twice. Work: operations on digits."""
    while True:
        modulus = rng.randrange(10 ** (digits - 1) + 2, 10**digits)
        even, odd = (_expression(rng, operations, modulus) for _ in range(2))
        value = rng.randrange(2, modulus)
        values, work = [value], 0
        for _ in range(times):
            cost, value = (odd if value % 2 else even)[1](value)
            values.append(value)
            work += cost
        if len({*values}) == len(values) and all("x" in text for text, _ in (even, odd)):
            break
    return Drawn(
        f"A machine turns a number x into a remainder: an even x into what {even[0]} leaves when divided by "
        f"{modulus}, and an odd x into what {odd[0]} leaves when divided by {modulus}. It is fed with "
        f"{values[0]} first, and then with what came out before, until it has been fed {times} "
        f"time{'s' * (times > 1)}. What comes out last?",
        value,
        work,
    )


_Expression = tuple[str, Callable[[int], tuple[int, int]]]


def _expression(rng: Random, operations: int, modulus: int) -> _Expression:
    """An expression in x, and a function that gives its cost and its remainder for a value of x."""
    if not operations:
        number = rng.randrange(2, modulus)
        return ("x", lambda x: (0, x)) if rng.random() < 0.5 else (str(number), lambda x: (0, number))
    before = rng.randrange(operations)
    (left, of_left), (right, of_right) = (
        _expression(rng, some, modulus) for some in (before, operations - 1 - before)
    )
    sign = rng.choice("+×")

    def value(x: int) -> tuple[int, int]:
        (cost, a), (more, b) = of_left(x), of_right(x)
        digits = digits_of(a) * digits_of(b) if sign == "×" else max(digits_of(a), digits_of(b))
        result = a * b if sign == "×" else a + b
        reduced = (digits_of(result // modulus) * digits_of(modulus)) * (result >= modulus)
        return cost + more + digits + reduced, result % modulus

    return " ".join([_bracketed(left), sign, _bracketed(right)]), value


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text


def congruences(rng: Random, *, moduli: int, rests: int) -> Drawn:
    """The least number with given remainders, by a sieve. Work: the numbers that it tries, or those that
    counting up by the greatest modulus does, whichever are fewer."""
    clues = {
        modulus: sorted(rng.sample(range(1, modulus), rests))
        for modulus in sorted(rng.sample(_PRIMES[: moduli + 5], moduli))
    }
    fitting, step, work = [0], 1, 0
    for modulus, allowed in clues.items():
        tried = [number + turn * step for number in fitting for turn in range(modulus)]
        fitting = [number for number in tried if number % modulus in allowed]
        step *= modulus
        work += len(tried)
    said = [
        f"{' or '.join(map(str, allowed))} when divided by {modulus}" for modulus, allowed in clues.items()
    ]
    asked = f"What is the smallest positive whole number that leaves the remainder {listed(said)}?"
    counted = min(fitting) * rests // max(clues) + 1
    return Drawn(asked, min(fitting), min(work, counted))


def polynomial(rng: Random, *, degree: int, digits: int, gaps: int) -> Drawn:
    """A term of a polynomial's remainders, by Lagrange's formula: so many known terms leave one polynomial of
    that degree. Work: operations on digits."""
    count = degree + 1 + gaps
    prime = rng.choice([p for p in _PRIMES if p > count + 1 and digits_of(p) == digits])
    factors = [*[rng.randrange(prime) for _ in range(degree)], rng.randrange(1, prime)]
    start = rng.randint(1, 99)
    terms = [
        sum([factor * pow(n, power, prime) for power, factor in enumerate(factors)]) % prime
        for n in range(start, start + count + 1)
    ]
    hidden = rng.sample(range(1, count - 1), gaps)
    shown = ["?" if at in hidden else str(term) for at, term in enumerate(terms[:-1])]
    work = (degree + 1) * 2 * degree * digits_of(prime) ** 2
    return Drawn(
        f"The term number n of a sequence is the remainder, when divided by {prime}, of a polynomial in n of "
        f"degree {degree} at most with whole coefficients. The terms from number {start} on are "
        f"{', '.join(shown)}{' (a question mark stands for a term that is not given)' * bool(gaps)}. What is "
        "the next term?",
        terms[-1],
        work,
    )


def calendar(rng: Random, *, rules: int, times: int) -> Drawn:
    """A day that is reached from day to day by rules. Work: rules looked at, and months that are passed."""
    stated = [_rule(rng) for _ in range(rules)]
    other = rng.randint(5, 40)
    begins = date(rng.randint(1990, 2050), 1, 1) + timedelta(rng.randrange(365))
    day, work = begins, 0
    for _ in range(times):
        ahead = other
        for _, applies, days in stated:
            work += 1
            if applies(day):
                ahead = days
                break
        then = day + timedelta(ahead)
        work += 1 + abs((then.year - day.year) * 12 + then.month - day.month)
        day = then
    said = [f"if {text}, go {days} days ahead" for text, _, days in stated]
    return Drawn(
        f"Begin with {begins.day} {MONTHS[begins.month - 1]} {begins.year}. By the Gregorian calendar, do "
        f"this {times} times: {'; else, '.join(said)}; else, go {other} days ahead. Which day do you "
        "reach in the end? Answer as YYYY-MM-DD.",
        day.isoformat(),
        work,
    )


def _rule(rng: Random) -> tuple[str, Callable[[date], bool], int]:
    """A condition on a day, and how many days ahead it sends."""
    days, n = rng.randint(2, 40), rng.randrange(7)
    match rng.randrange(5):
        case 0:
            return f"it is a {_DAYS[n]}", lambda day: day.weekday() == n, days
        case 1:
            return f"the number of the day in its month is below {n + 3}", lambda day: day.day < n + 3, days
        case 2:
            return f"the number of the day in its month is above {n + 22}", lambda day: day.day > n + 22, days
        case 3:
            return (
                f"the number of the day in its month can be divided by {n + 2}",
                lambda day: day.day % (n + 2) == 0,
                days,
            )
    return f"the month is {MONTHS[n]}", lambda day: day.month == n + 1, days


def circle(rng: Random, *, people: int, step: int) -> Drawn:
    """The last of a circle, who leave by a count that each of them changes. Work: people counted."""
    factor, more, least = rng.randint(2, 99), rng.randint(1, 99), rng.randint(2, step)
    left, first = [*range(1, people + 1)], rng.randint(1, people)
    at, count, ahead, work = first - 1, least, 1, 0
    while len(left) > 1:
        at = (at + ahead * (count - 1)) % len(left)
        gone = left.pop(at)
        work += count
        count = least + (factor * gone + more) % step
        ahead = 1 if gone % 2 else -1
        at = (at if ahead == 1 else at - 1) % len(left)
    return Drawn(
        f"People with the numbers 1 to {people} stand in a circle in this order, and after {people} comes 1 "
        f"again. They count from 1 to {least}, beginning with person {first} and going on to higher numbers; "
        f"whoever is counted last leaves. Then they count to {least} plus the remainder that {factor} times "
        f"the number of the person who left and {more} more leave when divided by {step}. They begin with "
        "1 at the next person who is still there: after an odd number left, at the next higher one, going on "
        "to higher numbers; after an even one, at the next lower one, going on to lower numbers. They go on "
        "until one person is left. Which number is it?",
        left[0],
        work,
    )
