"""Answers to tasks of reasoning-gym, found from their texts alone: nothing of the library is used here."""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any


def _last(text: str) -> str:
    return text.strip().splitlines()[-1]


def _digits(number: int, base: int) -> str:
    found = ""
    while number:
        found, number = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base] + found, number // base
    return found or "0"


def base_conversion(text: str) -> Iterator[Any]:
    named = _last(text).replace("binary", "base-2").replace("hexadecimal", "base-16")
    base, number, other = re.search(r"the base-(\d+) number (\w+) to base-(\d+)", named).groups()  # type: ignore[union-attr]
    yield _digits(int(number, int(base)), int(other))


def _value(expression: str, **names: Any) -> Any:
    assert re.fullmatch(r"[\w\s.()+*/<>&|^~-]+", expression), expression
    exact = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"F(\1)", expression)
    return eval(exact, {"__builtins__": {}}, {"F": Fraction, **names})


def basic_arithmetic(text: str) -> Iterator[Any]:
    yield _value(re.search(r"([-(\d][\d\s()+*/-]*[\d)])", text)[1])  # type: ignore[index]


chain_sum = basic_arithmetic


def binary_alternation(text: str) -> Iterator[Any]:
    bits = text.split()[-1]
    costs = []
    for first in "01":
        wanted = "".join("01"[(int(first) + at) % 2] for at in range(len(bits)))
        if wanted.count("1") == bits.count("1"):
            costs.append(sum(a != b for a, b in zip(bits, wanted, strict=True)) // 2)
    yield min(costs, default=-1)


def _matrix(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if re.fullmatch(r"\d+( \d+)+", line.strip())]


def _lines(rows: Any) -> str:
    return " ".join(" ".join(map(str, row)) for row in rows)


def binary_matrix(text: str) -> Iterator[Any]:
    rows = _matrix(text)
    zeros = [(x, y) for x, row in enumerate(rows) for y, one in enumerate(row) if one == "0"]
    yield _lines(
        [min(abs(x - a) + abs(y - b) for a, b in zeros) for y, _ in enumerate(row)]
        for x, row in enumerate(rows)
    )


def bitwise_arithmetic(text: str) -> Iterator[Any]:
    expression = _last(text)
    assert re.fullmatch(r"[0-9a-fx\s()+*<>&|^~-]+", expression), expression
    yield hex(eval(expression, {"__builtins__": {}}))


def count_bits(text: str) -> Iterator[Any]:
    yield int(re.search(r"(\d+)\?$", text)[1]).bit_count()  # type: ignore[index]


def count_primes(text: str) -> Iterator[Any]:
    low, high = map(int, re.search(r"between (\d+) and (\d+) \(inclusive", text).groups())  # type: ignore[union-attr]
    yield sum(one > 1 and all(one % by for by in range(2, int(one**0.5) + 1)) for one in range(low, high + 1))


def path_star(text: str) -> Iterator[Any]:
    edges, ends = re.search(r"\|([\d |]+)/(.*) =", text.partition("task:")[2]).groups()  # type: ignore[union-attr]
    start, goal = ends.split()
    ways: dict[str, list[str]] = {}
    for edge in edges.split("|"):
        one, other = edge.split()
        ways.setdefault(one, []).append(other)

    def paths(path: list[str]) -> Iterator[str]:
        if path[-1] == goal:
            yield " ".join(path)
        for one in ways.get(path[-1], ()):
            if one not in path:
                yield from paths([*path, one])

    yield from paths([start])


def rotate_matrix(text: str) -> Iterator[Any]:
    rows: Any = _matrix(text)
    for _ in range(int(re.search(r"by (\d+) degrees clockwise", text)[1]) // 90):  # type: ignore[index]
        rows = [*zip(*rows[::-1], strict=True)]
    yield _lines(rows)


def simple_equations(text: str) -> Iterator[Any]:
    left, right = re.search(r": ([^:]*?) = (-?\d+)", text).groups()  # type: ignore[union-attr]
    [name] = set(re.findall(r"[a-z]", left))
    zero, one, two = (_value(left, **{name: Fraction(n)}) - int(right) for n in range(3))
    assert one - zero == two - one != 0, "not linear"
    yield -zero / (one - zero)


def spell_backward(text: str) -> Iterator[Any]:
    yield text.split()[-1][::-1]


def spiral_matrix(text: str) -> Iterator[Any]:
    rows: Any = _matrix(text)
    found: list[str] = []
    while rows:
        found += rows[0]
        rows = [*zip(*rows[1:], strict=True)][::-1]
    yield " ".join(found)


def string_insertion(text: str) -> Iterator[Any]:
    rules = dict(re.findall(r"substring (\w{4}) in the string, insert the character (\w)", text))
    given, found = text.split()[-1], ""
    while given:
        if given[:4] in rules:
            found, given = found + given[:4] + rules[given[:4]], given[4:]
        else:
            found, given = found + given[0], given[1:]
    yield found


def word_sequence_reversal(text: str) -> Iterator[Any]:
    yield ", ".join(reversed(text.rsplit(": ", 1)[1].split(", ")))


def word_sorting(text: str) -> Iterator[Any]:
    order = re.search(r"these words in (ascending|descending) order", text)[1]  # type: ignore[index]
    words = text.rsplit(": ", 1)[1].split(", ")
    for at in range(len(words)):
        for one, other in pairwise(range(len(words) - at)):
            if words[one] > words[other]:
                words[one], words[other] = words[other], words[one]
    yield ", ".join(words if order == "ascending" else words[::-1])


SOLVERS: dict[str, Callable[[str], Iterator[Any]]] = {
    "base_conversion": base_conversion, "basic_arithmetic": basic_arithmetic,
    "binary_alternation": binary_alternation, "binary_matrix": binary_matrix,
    "bitwise_arithmetic": bitwise_arithmetic, "chain_sum": chain_sum,
    "count_bits": count_bits, "count_primes": count_primes,
    "path_star": path_star,
    "rotate_matrix": rotate_matrix, "simple_equations": simple_equations,
    "spell_backward": spell_backward, "spiral_matrix": spiral_matrix,
    "string_insertion": string_insertion, "word_sequence_reversal": word_sequence_reversal,
    "word_sorting": word_sorting,
}  # fmt: skip
