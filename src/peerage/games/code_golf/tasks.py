"""Tasks for programs: families with parameters, each task with public examples and hidden tests. Pure.

    >>> made = task(Random("seed"), ("mask",), examples=1, tests=2)
    >>> made.statement
    'Read a line. Replace its 5-th character, and every 5-th further on, by *, and print it.'

A family is a statement and two programs (`programs.toml`), and here its parameters, its inputs and a
function that knows the answers. Parameters, examples and tests are drawn, so no two tasks are alike.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from math import gcd, inf, prod
from random import Random
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from peerage.games.run_tests import Test

Params: TypeAlias = dict[str, Any]

_VOCABULARY = (
    *("oak", "river", "stone", "maple", "ember", "cloud", "tiger", "amber"),
    *("lemon", "otter", "pebble", "quartz", "violet", "walnut", "zebra"),
)


class Task(Struct, frozen=True):
    """A task as it is embedded in a fixture; `params` and `family` say how it was made."""

    family: str
    params: Params
    statement: str
    examples: tuple[Test, ...]
    tests: tuple[Test, ...]


class Family(NamedTuple):
    """How tasks of a family are drawn: parameters, an input, its answer; `edges` are inputs always tested.

    `inputs_at_most` is how many different ones there are, edges included, where a task could want more.
    """

    params: Callable[[Random], Params]
    inputs: Callable[[Random], str]
    answer: Callable[[Params, str], object]
    edges: tuple[str, ...] = ()
    inputs_at_most: float = inf


def task(rng: Random, names: Sequence[str], examples: int, tests: int) -> Task:
    """Draw a task of one of the families `names`, with so many examples and hidden tests.

    All inputs are different; of the tests' answers at least two are, so that no constant is right: hence two
    tests or more. The family's edge cases are among the tests, as far as there is room beside a drawn input.
    Families without so many inputs are left out; ValueError when that leaves none.
    """
    name = rng.choice(with_inputs(names, examples + tests))
    family = FAMILIES[name]
    params = family.params(rng)
    inputs = dict.fromkeys(family.edges[: tests - 1])
    while True:
        while len(inputs) < examples + tests:
            inputs[family.inputs(rng)] = None
        hidden, shown = list(inputs)[:tests], list(inputs)[tests:]
        answers = [_answer(family, params, one) for one in inputs]
        if len(set(answers[:tests])) > 1:
            break
        inputs = dict.fromkeys(family.edges[: tests - 1])
    rng.shuffle(hidden)
    return Task(
        name,
        params,
        statement(name, params),
        tuple([(one, _answer(family, params, one)) for one in shown]),
        tuple([(one, _answer(family, params, one)) for one in hidden]),
    )


def with_inputs(names: Sequence[str], count: int) -> list[str]:
    """Those of the families `names` that have `count` different inputs. ValueError when none has."""
    found = [name for name in names if FAMILIES[name].inputs_at_most >= count]
    if not found:
        raise ValueError(
            f"{' and '.join(names)} has fewer different inputs than {count} examples and hidden tests; lower "
            "tests or examples, or name another family"
        )
    return found


def statement(name: str, params: Params) -> str:
    """What players read of a task of the family `name`."""
    return filled(_programs()[name]["statement"], params)


def solutions(name: str, params: Params) -> tuple[str, str] | None:
    """A short and a plain program for a task; None for a family that is not known here."""
    if name not in FAMILIES:
        return None
    known = _programs()[name]
    return filled(known["short"], params).strip(), filled(known["plain"], params).strip()


def filled(text: str, params: Params) -> str:
    for name, value in params.items():
        text = text.replace(f"@{name}", str(value))
    return text


def _answer(family: Family, params: Params, given: str) -> str:
    return str(family.answer(params, given))


@cache
def _programs() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(files("peerage.games.code_golf").joinpath("programs.toml").read_text("utf-8"))


# --------------------------------------------------------------------------------- parameters and inputs


def _one(low: int, high: int) -> Callable[[Random], Params]:
    return lambda rng: {"a": rng.randint(low, high)}


def _with_one_less(low: int, high: int) -> Callable[[Random], Params]:
    def params(rng: Random) -> Params:
        a = rng.randint(low, high)
        return {"a": a, "b": a - 1}

    return params


def _two_different(low: int, high: int) -> Callable[[Random], Params]:
    return lambda rng: dict(zip("ab", sorted(rng.sample(range(low, high + 1), 2)), strict=True))


def _number(low: int, high: int) -> Callable[[Random], str]:
    return lambda rng: str(rng.randint(low, high))


def _numbers(low: int, high: int, fewest: int = 3) -> Callable[[Random], str]:
    return lambda rng: " ".join(str(rng.randint(low, high)) for _ in range(rng.randint(fewest, fewest + 12)))


def _words(rng: Random) -> str:
    return " ".join(rng.choices(_VOCABULARY, k=rng.randint(3, 12)))


def _letters(rng: Random) -> str:
    return "".join(rng.choices("abcdefgh", k=rng.randint(5, 30)))


def _runs(rng: Random) -> str:
    return "".join(rng.choice("abcd") * rng.randint(1, 5) for _ in range(rng.randint(2, 9)))


def _digits(rng: Random) -> str:
    return "".join(rng.choices("0123456789", k=rng.randint(3, 14)))


def _fizz(rng: Random) -> Params:
    words = rng.sample(("fizz", "buzz", "zip", "zap", "tick", "tock"), 2)
    return _two_different(2, 9)(rng) | dict(zip("st", words, strict=True))


def _recurrence(rng: Random) -> Params:
    return {"a": rng.randint(0, 9), "b": rng.randint(1, 9), "c": rng.randint(50, 999)}


def _residue(rng: Random) -> Params:
    a = rng.choice((4, 5, 6, 8))
    return {"a": a, "b": rng.choice([b for b in range(1, a) if gcd(a, b) == 1])}


# ----------------------------------------------------------------------------------------------- answers


def _ints(given: str) -> list[int]:
    return [int(word) for word in given.split()]


def _collatz(p: Params, given: str) -> int:
    n, steps = int(given), 0
    while n > p["a"]:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def _based(p: Params, given: str) -> str:
    n = int(given)
    digits = str(n % p["a"])
    while n := n // p["a"]:
        digits = str(n % p["a"]) + digits
    return digits


def _recurring(p: Params, given: str) -> int:
    terms = [p["a"], p["b"]]
    for _ in range(int(given)):
        terms.append(sum(terms[-2:]) % p["c"])
    return int(terms[int(given)])


def _nth_largest(p: Params, given: str) -> object:
    values = sorted(set(_ints(given)))
    return values[-p["a"]] if len(values) >= p["a"] else "none"


def _stretch(p: Params, given: str) -> int:
    return max(
        [len([*run]) for good, run in groupby(_ints(given), lambda x: x % p["a"] == 0) if good], default=0
    )


def _without(p: Params, given: str) -> str:
    left = given.translate({ord(letter): None for letter in p["s"]})
    return f"[{left}]\n{len(given) - len(left)}"


def _caesar(p: Params, given: str) -> str:
    small = "abcdefghijklmnopqrstuvwxyz"
    return given.translate(str.maketrans(small, small[p["a"] :] + small[: p["a"]]))


def _words_with(p: Params, given: str) -> str:
    kept = sorted(word for word in given.split() if p["s"] in word)
    return " ".join(sorted(kept, key=len)) or "none"


FAMILIES: Mapping[str, Family] = {
    "multiples": Family(
        _two_different(3, 13),
        _number(20, 900),
        lambda p, s: sum(i for i in range(1, int(s)) if not i % p["a"] or not i % p["b"]),
        ("1", "2"),
    ),
    "digit-powers": Family(
        _one(2, 6), _number(0, 10**9), lambda p, s: sum(int(c) ** p["a"] for c in s), ("0",)
    ),
    "collatz": Family(_one(1, 9), _number(2, 5_000), _collatz, ("1", "27")),
    "caesar": Family(_one(1, 25), _words, _caesar, ("z", "a z")),
    "base": Family(_one(2, 9), _number(1, 10**7), _based, ("0", "1")),
    "run-lengths": Family(
        lambda rng: {"s": rng.choice("-.+:/")},
        _runs,
        lambda p, s: p["s"].join(f"{k}{len([*g])}" for k, g in groupby(s)),
        ("a", "zzzzzzzzzzzz"),
    ),
    "every-nth-word": Family(
        _with_one_less(2, 5), _words, lambda p, s: " ".join(s.split()[p["a"] - 1 :: p["a"]]), ("oak",)
    ),
    "sort-by-remainder": Family(
        _one(2, 11),
        _numbers(0, 99),
        lambda p, s: " ".join(str(x) for _, x in sorted((x % p["a"], x) for x in _ints(s))),
        ("7",),
    ),
    "window": Family(
        _with_one_less(2, 5),
        _numbers(-40, 60, fewest=5),
        lambda p, s: max(sum(_ints(s)[i : i + p["a"]]) for i in range(len(s.split()) - p["a"] + 1)),
        ("-5 -4 -3 -9 -8",),
    ),
    "nth-largest": Family(_with_one_less(2, 6), _numbers(-9, 12), _nth_largest, ("3 3 3",)),
    "fizz": Family(
        _fizz,
        _number(5, 70),
        lambda p, s: " ".join(
            p["s"] * (not i % p["a"]) + p["t"] * (not i % p["b"]) or str(i) for i in range(1, int(s) + 1)
        ),
        ("1",),
    ),
    "rotate": Family(
        _one(1, 9),
        _words,
        lambda p, s: " ".join((s.split() * (p["a"] + 1))[p["a"] :][: len(s.split())]),
        ("oak", "oak elm"),
    ),
    "mask": Family(
        _one(2, 6),
        _words,
        lambda p, s: "".join("*" if i % p["a"] == 0 else s[i - 1] for i in range(1, len(s) + 1)),
        ("x",),
    ),
    "recurrence": Family(_recurrence, _number(2, 300), _recurring, ("0", "1")),
    "digit-sum": Family(
        _one(3, 17),
        _number(0, 50_000),
        lambda p, s: next(n for n in range(int(s), 10**9) if sum(map(int, str(n))) % p["a"] == 0),
        ("0", "9"),
    ),
    "primes": Family(
        _residue,
        _number(10, 400),
        lambda p, s: sum(
            n % p["a"] == p["b"] and prod(n % d for d in range(2, n)) > 0 for n in range(2, int(s) + 1)
        ),
        ("1", "2"),
    ),
    "remove-letters": Family(
        lambda rng: {"s": "".join(sorted(rng.sample("aeiorstlmn", rng.randint(2, 4))))},
        _words,
        _without,
        ("q",),
    ),
    "columns": Family(
        _one(2, 7),
        _letters,
        lambda p, s: "".join(s[i] for c in range(p["a"]) for i in range(len(s)) if i % p["a"] == c),
        ("a",),
    ),
    "longest-stretch": Family(_one(2, 4), _numbers(0, 40), _stretch, ("1", "0 0")),
    "checksum": Family(
        _one(7, 97), _digits, lambda p, s: sum((i + 1) * int(s[i]) for i in range(len(s))) % p["a"], ("0",)
    ),
    "close-neighbours": Family(
        _one(1, 15),
        _numbers(-30, 30),
        lambda p, s: sum(-p["a"] <= b - a <= p["a"] for a, b in zip(_ints(s), _ints(s)[1:], strict=False)),
        ("4",),
    ),
    "pairs": Family(
        _one(2, 9),
        _numbers(0, 50),
        lambda p, s: sum((a + b) % p["a"] == 0 for i, a in enumerate(_ints(s)) for b in _ints(s)[i + 1 :]),
        ("4", "0 0 0"),
    ),
    "stairs": Family(
        lambda rng: {"a": rng.randint(1, 4), "s": rng.choice("#*+o=")},
        _number(2, 12),
        lambda p, s: "\n".join(p["s"] * p["a"] * i for i in range(1, int(s) + 1)),
        ("1",),
        inputs_at_most=12,
    ),
    "words-with": Family(lambda rng: {"s": rng.choice("aeoirl")}, _words, _words_with, ("zzz",)),
}
"""Every family by name."""
