"""Families to be solved by reasoning: each is drawn with as many clues as leave one solution. Pure.

Each function draws a puzzle of a level from 1 to 5. Where clues lead to the
answer, all that is possible is listed, and clues are added until one possibility is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import permutations, product
from random import Random
from typing import NamedTuple, TypeAlias

from peerage.games.logic.puzzles import listed
from peerage.games.names import NAMES

Roles: TypeAlias = tuple[bool, ...]
"""Of each person: a knight?"""
Places: TypeAlias = tuple[tuple[int, ...], ...]
"""Of each row of items (names, drinks, …): the place of each item, from 1."""


class _Clue(NamedTuple):
    """A sentence, and whether it holds in an arrangement."""

    text: str
    holds: Callable[[Places], bool]


class _Claim(NamedTuple):
    text: str
    holds: Callable[[Roles], bool]


def knights(rng: Random, level: int) -> tuple[str, str]:
    """Knights who tell the truth among knaves."""
    people = sorted(rng.sample(NAMES, 2 + level))
    every = [*product((False, True), repeat=len(people))]
    while True:
        truth = rng.choice(every[1:])
        claims = [_claim(rng, people, truth, speaker) for speaker in range(len(people))]
        possible = [
            roles
            for roles in every
            if all(claim.holds(roles) == is_knight for claim, is_knight in zip(claims, roles, strict=True))
        ]
        if possible == [truth]:
            break
    speech = " ".join([f'{name} says: "{claim.text}"' for name, claim in zip(people, claims, strict=True)])
    honest = [name for name, is_knight in zip(people, truth, strict=True) if is_knight]
    return (
        f"Each of {listed(people)} is either a knight, who always tells the truth, or a knave, who always "
        f"lies. {speech} Who are the knights? List their names in alphabetical order, separated by commas."
    ), ", ".join(honest)


def _claim(rng: Random, people: Sequence[str], truth: Roles, speaker: int) -> _Claim:
    """Something that a person of that role can say."""
    while True:
        a, b = rng.sample([at for at in range(len(people)) if at != speaker], 2)
        chosen = rng.choice(_claims(people, a, b, rng.randint(1, len(people) - 1)))
        if chosen.holds(truth) == truth[speaker]:
            return chosen


def _claims(people: Sequence[str], a: int, b: int, count: int) -> tuple[_Claim, ...]:
    first, other = people[a], people[b]
    are = "is a knight" if count == 1 else "are knights"
    return (
        _Claim(f"{first} is a knave.", lambda roles: not roles[a]),
        _Claim(f"{first} is a knight.", lambda roles: roles[a]),
        _Claim(f"{first} and {other} are of the same kind.", lambda roles: roles[a] == roles[b]),
        _Claim(f"{first} and {other} are of different kinds.", lambda roles: roles[a] != roles[b]),
        _Claim(f"At least one of {first} and {other} is a knave.", lambda roles: not (roles[a] and roles[b])),
        _Claim(f"Exactly {count} of all of us {are}.", lambda roles: sum(roles) == count),
    )


class _Kind(NamedTuple):
    """Things of which everybody has one, and a name for their holder."""

    name: str
    holder: str
    items: tuple[str, ...]


_KINDS = (
    _Kind("drinks", "the {} drinker", ("tea", "coffee", "milk", "juice", "water")),
    _Kind("pets", "the owner of the {}", ("cat", "dog", "fish", "hamster", "parrot")),
    _Kind("games", "the {} player", ("chess", "tennis", "golf", "hockey", "billiards")),
)


class _Words(NamedTuple):
    """Words in which clues speak of places."""

    place: str
    verb: str
    many: str
    below: str
    above: str


_HOUSES = _Words("house", "lives", "live", "to the left of", "to the right of")
_SLOTS = _Words("slot", "speaks", "speak", "before", "after")


def zebra(rng: Random, level: int) -> tuple[str, str]:
    """Neighbours, and what each of them has."""
    houses, rows = ((3, 2), (4, 2), (3, 3), (4, 3), (5, 2))[level - 1]
    names = rng.sample(NAMES, houses)
    kinds = rng.sample(_KINDS, rows - 1)
    items = [rng.sample(kind.items, houses) for kind in kinds]
    holders = [[kind.holder.format(item) for item in row] for kind, row in zip(kinds, items, strict=True)]
    truth, clues = _proven(rng, [names, *holders], _HOUSES)
    has = listed(
        [f"one of the {kind.name} {listed(sorted(row))}" for kind, row in zip(kinds, items, strict=True)]
    )
    last = [item for _, item in sorted(zip(truth[-1], items[-1], strict=True))]
    return (
        f"{listed(sorted(names))} live in a row of {houses} houses, numbered from 1 to {houses} from left to "
        f"right, one person in each house. Everybody has {has}, and no two people have the same. "
        f"{' '.join(clues)} List the {kinds[-1].name} in the order of the houses, from house 1 to house "
        f"{houses}, separated by commas."
    ), ", ".join(last)


def schedule(rng: Random, level: int) -> tuple[str, str]:
    """In which order do people speak?"""
    names = rng.sample(NAMES, (4, 5, 6, 6, 7)[level - 1])
    (truth,), clues = _proven(rng, [names], _SLOTS)
    order = [name for _, name in sorted(zip(truth, names, strict=True))]
    return (
        f"{listed(sorted(names))} each give one talk, one after another, in slots 1 to {len(names)}. "
        f"{' '.join(clues)} List the names in the order of their talks, separated by commas."
    ), ", ".join(order)


def _proven(rng: Random, attributes: Sequence[Sequence[str]], words: _Words) -> tuple[Places, list[str]]:
    """An arrangement of rows of items on places, and clues that leave it alone of all."""
    orders = [*permutations(range(1, len(attributes[0]) + 1))]
    possible: list[Places] = [*product(orders, repeat=len(attributes))]
    truth = rng.choice(possible)
    clues: list[str] = []
    while len(possible) > 1:
        clue = _clue(rng, attributes, truth, words)
        left = [places for places in possible if clue.holds(places)]
        if clue.holds(truth) and len(left) < len(possible):
            possible = left
            clues.append(clue.text[0].upper() + clue.text[1:])
    return truth, clues


def _clue(rng: Random, attributes: Sequence[Sequence[str]], truth: Places, words: _Words) -> _Clue:
    """A clue about one or two items; as a rule a true one."""
    every = [(row, item) for row in range(len(attributes)) for item in range(len(attributes[0]))]
    (i, a), (j, b) = rng.sample(every, 2)
    first, other = attributes[i][a], attributes[j][b]
    position, gap = truth[i][a], truth[i][a] - truth[j][b]
    if gap == 0:
        return _Clue(f"{first} is {other}.", lambda p: p[i][a] == p[j][b])
    side, sign = (words.above, 1) if gap > 0 else (words.below, -1)
    wrong = rng.randint(1, len(attributes[0]))
    match rng.randrange(8):
        case 0:
            return _Clue(f"{first} {words.verb} in {words.place} {position}.", lambda p: p[i][a] == position)
        case 1 | 2:
            text = f"{first} does not {words.many} in {words.place} {wrong}."
            return _Clue(text, lambda p: p[i][a] != wrong)
        case 3 | 4:
            return _Clue(
                f"{first} {words.verb} somewhere {side} {other}.", lambda p: (p[i][a] - p[j][b]) * sign > 0
            )
        case 5:
            text = f"{first} {words.verb} directly {side} {other}."
            return _Clue(text, lambda p: p[i][a] - p[j][b] == sign)
        case 6 if i != j:
            return _Clue(f"{first} is not {other}.", lambda p: p[i][a] != p[j][b])
    between = abs(gap) - 1
    if between == 0 and i != j:  # without the first words it would be true of one person
        text = f"{first} and {other} are two people, and nobody {words.verb} between them."
        return _Clue(text, lambda p: abs(p[i][a] - p[j][b]) == 1)
    who = (
        f"Exactly {between} people {words.many}"
        if between > 1
        else f"{('Nobody', 'Exactly 1 person')[between]} {words.verb}"
    )
    return _Clue(f"{who} between {first} and {other}.", lambda p: abs(p[i][a] - p[j][b]) == abs(gap))


def cryptarithm(rng: Random, level: int) -> tuple[str, int]:
    """Letters stand for digits; some digits are given, so that one reading is left."""
    digits = 2 + (level + 1) // 2
    while True:
        letters = rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10)
        a, b = (rng.randrange(10 ** (digits - 1), 10**digits) for _ in range(2))
        words = ["".join([letters[int(digit)] for digit in str(number)]) for number in (a, b, a + b)]
        used = sorted({*"".join(words)})
        hidden = rng.sample(used, len(used))
        given = {letter: letters.index(letter) for letter in hidden[min(len(hidden) - 1, 3 + level) :]}
        while len([*_readings(words, given)]) > 1:
            unknown = [letter for letter in hidden if letter not in given]
            given[unknown[-1]] = letters.index(unknown[-1])
        if len(given) < len(used):  # else the sum holds whatever one of the letters stands for
            break
    known = "".join([f" {letter} stands for {given[letter]}." for letter in sorted(given)])
    return (
        f"In the sum {words[0]} + {words[1]} = {words[2]} each letter stands for one digit, different "
        f"letters for different digits, and no number begins with 0.{known} Which number is {words[2]}?"
    ), a + b


def _readings(words: Sequence[str], given: dict[str, int]) -> Iterator[dict[str, int]]:
    """Every assignment of digits under which the sum holds, found column by column from the right."""
    leading = {word[0] for word in words}
    columns = [[word[-1 - at] if at < len(word) else "" for word in words] for at in range(len(words[2]))]

    def filled(at: int, carry: int, known: dict[str, int]) -> Iterator[dict[str, int]]:
        if at == len(columns):
            if not carry:
                yield known
            return
        top, other, total = columns[at]
        for first in _with(known, top, leading):
            for both in _with(first, other, leading):
                carried, digit = divmod(both.get(top, 0) + both.get(other, 0) + carry, 10)
                if both.get(total, digit) != digit or (total in leading and digit == 0):
                    continue
                if total in both or digit not in both.values():
                    yield from filled(at + 1, carried, {**both, total: digit})

    yield from filled(0, 0, given)


def _with(known: dict[str, int], letter: str, leading: set[str]) -> Iterator[dict[str, int]]:
    """Yield what is known, with each digit that a letter may yet stand for."""
    if not letter or letter in known:
        yield known
        return
    taken = {*known.values()}
    for digit in range(letter in leading, 10):
        if digit not in taken:
            yield {**known, letter: digit}


def weighing(rng: Random, level: int) -> tuple[str, str]:
    """Weights that are on the pan."""
    while True:
        weights = sorted(rng.sample(range(3, 30 + 15 * level), 5 + level))
        ways = {0: [0, 0]}  # sum → how many choices make it, and one of them as bits
        for at, weight in enumerate(weights):
            for total, (count, bits) in [*ways.items()]:
                way = ways.setdefault(total + weight, [0, 0])
                way[0] += count if total else 1
                way[1] = bits | 1 << at
            ways[0] = [0, 0]
        single = sorted(
            [total for total, (count, bits) in ways.items() if count == 1 and bits.bit_count() > 2]
        )
        if single:
            break
    total = rng.choice(single)
    chosen = [str(weight) for at, weight in enumerate(weights) if ways[total][1] >> at & 1]
    return (
        f"There is one weight each of {listed([f'{weight} g' for weight in weights])}. Some of them together "
        f"weigh exactly {total} g, and no other choice of them does. Which? List the numbers from the "
        "smallest to the greatest, separated by commas."
    ), ", ".join(chosen)


def roads(rng: Random, level: int) -> tuple[str, int]:
    """The shortest way between two towns."""
    towns = rng.sample(NAMES, 4 + level)
    lengths = {(a, rng.choice(towns[:at])): rng.randint(2, 60) for at, a in enumerate(towns) if at}
    while len(lengths) < 2 * len(towns):
        a, b = rng.sample(towns, 2)
        if (a, b) not in lengths and (b, a) not in lengths:
            lengths[a, b] = rng.randint(2, 60)
        if len(towns) * (len(towns) - 1) // 2 == len(lengths):
            break
    start, goal = towns[0], towns[-1]
    queue, best = [(0, start)], dict[str, int]()
    while goal not in best:
        so_far, town = heappop(queue)
        if best.setdefault(town, so_far) == so_far:
            for (a, b), length in lengths.items():
                if town in (a, b):
                    heappush(queue, (so_far + length, b if town == a else a))
    lines = rng.sample([f"{a}-{b} {length} km" for (a, b), length in lengths.items()], len(lengths))
    return (
        f"Roads, all of which may be used in both directions, join these towns: {', '.join(lines)}. How many "
        f"kilometers long is the shortest way from {start} to {goal}?"
    ), best[goal]


def circle(rng: Random, level: int) -> tuple[str, str]:
    """The last of a circle whom each time the k-th leaves."""
    names = rng.sample(NAMES, 4 + 2 * level)
    step = rng.randint(3, 5 + 4 * level)
    left, at = [*names], 0
    while len(left) > 1:
        at = (at + step - 1) % len(left)
        left.pop(at)
    return (
        f"{listed(names)} stand in a circle in this order, and after {names[-1]} comes {names[0]} again. "
        f"They count round the circle from 1 to {step}, beginning with {names[0]}; whoever is number {step} "
        "leaves the circle, and the next person after the one who left begins again with 1. They go on until "
        "one person is left. Who is it?"
    ), left[0]
