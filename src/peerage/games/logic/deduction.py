"""Families to be solved by searching: who lies, letters for digits, weights, roads. Pure.

Each draws a puzzle of the sizes that `levels.toml` gives a level, and counts as its work the steps of a
search through all that is possible, which proves that one solution is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from math import inf
from random import Random
from typing import NamedTuple

import numpy as np

from peerage.games.logic.puzzles import Drawn, listed
from peerage.games.names import NAMES


class _Claim(NamedTuple):
    """A sentence, whether it holds (a bit for each world), and about whom it speaks."""

    text: str
    worlds: int
    people: frozenset[int]


def knights(rng: Random, *, people: int, about: int, nested: float) -> Drawn:
    """Knights who tell the truth among knaves. Work: suppositions, when claims are taken in the order that
    leaves the fewest. A world says of everybody whether they are a knight; claims are sets of worlds, as bits
    of an integer."""
    names = sorted(rng.sample(NAMES, people))
    knight, every = _worlds(people)
    while True:
        truth = rng.randrange(1, 1 << people)
        claims, possible = [], every
        for speaker in range(people):
            others = [at for at in range(people) if at != speaker]
            while True:
                claim = _claim(rng, names, others, about, nested)
                said = ~(claim.worlds ^ knight[speaker]) & every
                if said >> truth & 1:
                    break
            claims.append((claim.text, said, claim.people | {speaker}))
            possible &= said
        if possible == 1 << truth:
            break
    speech = " ".join(
        [
            f'{name} says: "{text[0].upper()}{text[1:]}."'
            for name, (text, _, _) in zip(names, claims, strict=True)
        ]
    )
    return Drawn(
        f"Each of {listed(names)} is either a knight, who always tells the truth, or a knave, who always "
        f"lies. {speech} Who are the knights? List their names in alphabetical order, separated by commas.",
        ", ".join([name for at, name in enumerate(names) if truth >> at & 1]),
        _suppositions([(said, about) for _, said, about in claims], every, people),
    )


@cache
def _worlds(people: int) -> tuple[list[int], int]:
    """The worlds in which each is a knight, and all worlds: world w is bit w, whose bits are the knights."""
    knight, every = list[int](), 1
    for at in range(people):
        width = 1 << at
        knight = [worlds | worlds << width for worlds in knight] + [every << width]
        every |= every << width
    return knight, every


def _suppositions(claims: Sequence[tuple[int, frozenset[int]]], every: int, people: int) -> int:
    """The assignments looked at, claim by claim; next comes always the one about the fewest new people."""
    left, known, possible, work = [*claims], set[int](), every, 0
    while left:
        claim = min(left, key=lambda claim: len(claim[1] - known))
        left.remove(claim)
        known |= claim[1]
        work += possible.bit_count() >> (people - len(known))
        possible &= claim[0]
    return work


def _claim(rng: Random, names: Sequence[str], others: Sequence[int], about: int, nested: float) -> _Claim:
    """Something that can be said of others."""
    knight, every = _worlds(len(names))
    if rng.random() >= nested:
        return _simple(rng, names, others, about)
    first, other = _simple(rng, names, others, about), _simple(rng, names, others, about)
    people = first.people | other.people
    match rng.randrange(3):
        case 0:
            return _Claim(f"if {first.text}, then {other.text}", every & ~first.worlds | other.worlds, people)
        case 1:
            text = f"either {first.text}, or {other.text}, but not both"
            return _Claim(text, first.worlds ^ other.worlds, people)
    at = rng.choice(others)
    text = f"{names[at]} would say that {first.text}"
    return _Claim(text, every & ~(knight[at] ^ first.worlds), first.people | {at})


def _simple(rng: Random, names: Sequence[str], others: Sequence[int], about: int) -> _Claim:
    knight, every = _worlds(len(names))
    some = rng.sample(others, rng.randint(max(1, about - 2), about))
    many = [every, *[0] * len(some)]  # of them are knights → worlds
    for at in some:
        many = [
            (worlds & ~knight[at]) | (many[count - 1] & knight[at] if count else 0)
            for count, worlds in enumerate(many)
        ]
    said, people = listed([names[at] for at in some]), frozenset(some)
    if len(some) == 1:
        kind = rng.randrange(2)
        return _Claim(f"{said} is a {('knave', 'knight')[kind]}", many[kind], people)
    if len(some) == 2 and rng.random() < 0.5:
        kind = rng.randrange(2)
        worlds = many[1] if kind else many[0] | many[2]
        return _Claim(f"{said} are of {('the same kind', 'different kinds')[kind]}", worlds, people)
    count = rng.randrange(len(some))
    if count == 0:
        return _Claim(f"at least one of {said} is a knave", every & ~many[-1], people)
    are = "is a knight" if count == 1 else "are knights"
    return _Claim(f"exactly {count} of {said} {are}", many[count], people)


def cryptarithm(rng: Random, *, addends: int, digits: int, hidden: int) -> Drawn:
    """Letters stand for digits; some digits are given, so that one reading is left. Work: digits tried."""
    while True:
        letters = rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10)
        numbers = [rng.randrange(10 ** (digits - 1), 10**digits) for _ in range(addends)]
        words = ["".join([letters[int(d)] for d in str(number)]) for number in (*numbers, sum(numbers))]
        used = sorted({*"".join(words)})
        order = rng.sample(used, len(used))
        given = {letter: letters.index(letter) for letter in order[min(len(order) - 1, hidden) :]}
        while True:
            sums = _Addition(words)
            readings = sums.readings(given)
            if next(readings) and next(readings, None) is None:
                break
            unknown = [letter for letter in order if letter not in given]
            given[unknown[-1]] = letters.index(unknown[-1])
        if not {*words[-1]} <= given.keys():
            break
    known = "".join([f" {letter} stands for {given[letter]}." for letter in sorted(given)])
    return Drawn(
        f"In the sum {' + '.join(words[:-1])} = {words[-1]} each letter stands for one digit, different "
        f"letters for different digits, and no number begins with 0.{known} Which number is {words[-1]}?",
        sum(numbers),
        sums.work,
    )


class _Addition:
    """A sum of words, the last of which is the total, read column by column from the right."""

    def __init__(self, words: Sequence[str]) -> None:
        *addends, total = words
        self.leading = {word[0] for word in words}
        self.columns = [
            ([word[-1 - at] for word in addends if at < len(word)], total[-1 - at])
            for at in range(len(total))
        ]
        self.work = 0
        """Digits tried so far."""

    def readings(self, given: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """Yield every assignment of digits under which the sum holds."""
        digits = dict(given)
        yield from self._filled(0, 0, 0, digits, {*range(10)} - {*given.values()})

    def _filled(
        self, at: int, row: int, carry: int, digits: dict[str, int], free: set[int]
    ) -> Iterator[dict[str, int]]:
        """From a row of a column on, with what its digits above make."""
        while at < len(self.columns):
            addends, total = self.columns[at]
            if row < len(addends):
                letter = addends[row]
                if letter in digits:
                    carry, row = carry + digits[letter], row + 1
                    continue
                follows = [(at, row + 1, carry + digit, digit) for digit in free]
            else:
                letter, (more, digit) = total, divmod(carry, 10)
                if digits.get(letter) == digit:
                    at, row, carry = at + 1, 0, more
                    continue
                follows = [(at + 1, 0, more, digit)] if letter not in digits and digit in free else []
            for column, below, above, digit in follows:
                self.work += 1
                if digit or letter not in self.leading:
                    digits[letter] = digit
                    free.discard(digit)
                    yield from self._filled(column, below, above, digits, free)
                    del digits[letter]
                    free.add(digit)
            return
        if not carry:
            yield dict(digits)


def weighing(rng: Random, *, weights: int, top: int) -> Drawn:
    """Weights that are on the pan. Work: choices that a search, from the heaviest on, cannot rule out yet."""
    while True:
        grams = np.sort(np.array(rng.sample(range(top // 8, top), weights)))
        sums = np.zeros(1, np.int64)  # bit `at` of a place: whether that weight is on the pan
        for gram in grams:
            sums = np.concatenate([sums, sums + gram])
        values, counts = np.unique(sums, return_counts=True)
        once = {*values[counts == 1].tolist()}
        bits = rng.randrange(1 << weights)
        if int(sums[bits]) in once and weights // 3 <= bits.bit_count() < weights:
            break
    total, left, work = int(sums[bits]), int(grams.sum()), 0
    tried = np.zeros(1, np.int64)
    for gram in grams[::-1].tolist():
        left -= gram
        tried = np.concatenate([tried, tried + gram])
        work += len(tried)
        tried = tried[(tried <= total) & (tried + left >= total)]
    chosen = [str(gram) for at, gram in enumerate(grams.tolist()) if bits >> at & 1]
    return Drawn(
        f"There is one weight each of {listed([f'{gram} g' for gram in grams.tolist()])}. Some of them "
        f"together weigh exactly {total} g, and no other choice of them does. Which? List the numbers from "
        "the smallest to the greatest, separated by commas.",
        ", ".join(chosen),
        work,
    )


def roads(rng: Random, *, towns: int, over: int) -> Drawn:
    """The shortest way between two towns over others. Work: roads looked at, by what was visited before."""
    names = rng.sample(NAMES, towns)
    lengths = {(at, rng.randrange(at)): rng.randint(2, 60) for at in range(1, towns)}
    while len(lengths) < min(2 * towns, towns * (towns - 1) // 2):
        a, b = rng.sample(range(towns), 2)
        if (b, a) not in lengths:
            lengths.setdefault((a, b), rng.randint(2, 60))
    near: list[list[tuple[int, int]]] = [[] for _ in names]
    for (a, b), length in lengths.items():
        near[a].append((b, length))
        near[b].append((a, length))
    goal, *visited = rng.sample(range(1, towns), over + 1)
    flag = [1 << visited.index(at) if at in visited else 0 for at in range(towns)]
    queue, best, work = [(0, 0, 0)], {(0, 0): 0}, 0
    while True:
        so_far, at, seen = heappop(queue)
        if at == goal and seen + 1 == 1 << over:
            break
        if so_far > best[at, seen]:
            continue
        for town, length in near[at]:
            state, further = (town, seen | flag[town]), so_far + length
            work += 1
            if further < best.get(state, inf):
                best[state] = further
                heappush(queue, (further, *state))
    lines = rng.sample([f"{names[a]}-{names[b]} {km} km" for (a, b), km in lengths.items()], len(lengths))
    return Drawn(
        f"Roads, all of which may be used in both directions and again and again, join these towns: "
        f"{', '.join(lines)}. How many kilometers long is the shortest way from {names[0]} to {names[goal]}"
        + (
            f" that passes through {listed([names[at] for at in visited])}, in whatever order?"
            if over
            else "?"
        ),
        so_far,
        work,
    )
