"""Families of clues about places: who lives where with what, in which order people speak. Pure.

Each is drawn with as many clues as leave one arrangement, which a search through all of them proves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import combinations, product
from operator import or_
from random import Random
from typing import NamedTuple

from peerage.games.logic.puzzles import Drawn, listed
from peerage.games.names import NAMES


class _Kind(NamedTuple):
    """Things of which everybody has one, and a name for their holder."""

    name: str
    holder: str
    items: tuple[str, ...]


_KINDS = (
    _Kind("drinks", "the {} drinker", ("tea", "coffee", "milk", "juice", "water", "cocoa", "lemonade")),
    _Kind("pets", "the owner of the {}", ("cat", "dog", "fish", "hamster", "parrot", "rabbit", "tortoise")),
    _Kind("games", "the {} player", ("chess", "tennis", "golf", "hockey", "billiards", "rugby", "cricket")),
    _Kind("hats", "the wearer of the {} hat", ("red", "blue", "green", "white", "black", "yellow", "pink")),
    _Kind("cars", "the driver of the {}", ("Ford", "Fiat", "Honda", "Skoda", "Volvo", "Toyota", "Mazda")),
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


def zebra(rng: Random, *, houses: int, rows: int, sparse: float) -> Drawn:
    """Neighbors, and what each of them has. Work: pairs of places compared with clues."""
    names = rng.sample(NAMES, houses)
    kinds = rng.sample(_KINDS, rows - 1)
    items = [rng.sample(kind.items, houses) for kind in kinds]
    holders = [[kind.holder.format(item) for item in row] for kind, row in zip(kinds, items, strict=True)]
    truth, clues, work = _proven(rng, [names, *holders], _HOUSES, sparse)
    has = listed(
        [f"one of the {kind.name} {listed(sorted(row))}" for kind, row in zip(kinds, items, strict=True)]
    )
    return Drawn(
        f"{listed(sorted(names))} live in a row of {houses} houses, numbered from 1 to {houses} from left to "
        f"right, one person in each house. Everybody has {has}, and no two people have the same. "
        f"{' '.join(clues)} List the {kinds[-1].name} in the order of the houses, from house 1 to house "
        f"{houses}, separated by commas.",
        ", ".join([item for _, item in sorted(zip(truth[-houses:], items[-1], strict=True))]),
        work,
    )


def schedule(rng: Random, *, people: int, sparse: float) -> Drawn:
    """In which order do people speak? Work: pairs of places compared with clues."""
    names = rng.sample(NAMES, people)
    truth, clues, work = _proven(rng, [names], _SLOTS, sparse)
    return Drawn(
        f"{listed(sorted(names))} each give one talk, one after another, in slots 1 to {len(names)}. "
        f"{' '.join(clues)} List the names in the order of their talks, separated by commas.",
        ", ".join([name for _, name in sorted(zip(truth, names, strict=True))]),
        work,
    )


class _Clue(NamedTuple):
    """A sentence, and what it says of the places, from 0, of two items (or twice the same)."""

    text: str
    relation: str
    value: int
    first: int
    other: int

    def holds(self, places: Sequence[int]) -> bool:
        return _RELATIONS[self.relation](places[self.first], places[self.other], self.value)


_RELATIONS: Mapping[str, Callable[[int, int, int], bool]] = {
    "at": lambda p, q, value: p == value and q == value,
    "not at": lambda p, q, value: p == q != value,
    "same": lambda p, q, value: p == q,
    "different": lambda p, q, value: p != q,
    "side": lambda p, q, value: (p - q) * value > 0,
    "next": lambda p, q, value: p - q == value,
    "apart": lambda p, q, value: abs(p - q) == value,
}


class _Reached(dict[int, int]):
    """Places, as bits, of an item → the places that another one may have by a relation, or that the first may
    have when `back`."""

    def __init__(self, size: int, relation: str, value: int, back: bool) -> None:
        holds = _RELATIONS[relation]
        reached = [[0] * size, [0] * size]
        for p, q in product(range(size), repeat=2):
            if holds(p, q, value):
                reached[0][p] |= 1 << q
                reached[1][q] |= 1 << p
        self._each = reached[back]

    def __missing__(self, places: int) -> int:
        self[places] = sum_of = reduce(or_, [one for at, one in enumerate(self._each) if places >> at & 1], 0)
        return sum_of


_reached = cache(_Reached)


class _Search:
    """A search for the places of items, given clues; items of a row have places of their own."""

    def __init__(self, rows: int, size: int, clues: Sequence[_Clue]) -> None:
        self.rows = [slice(row * size, (row + 1) * size) for row in range(rows)]
        self.size = size
        self.clues = [
            (
                clue.first,
                clue.other,
                _reached(size, clue.relation, clue.value, False),
                _reached(size, clue.relation, clue.value, True),
            )
            for clue in clues
        ]
        self.work = 0
        """Pairs of places compared so far with clues, until none rules out more, at each supposition."""

    def solutions(self, possible: list[int]) -> Iterator[list[int]]:
        """Yield the place of each item, for every solution; `possible` are their places as bits."""
        if not self._narrowed(possible):
            return
        open_items = [at for at, places in enumerate(possible) if places & (places - 1)]
        if not open_items:
            yield [places.bit_length() - 1 for places in possible]
            return
        at = min(open_items, key=lambda at: possible[at].bit_count())
        left = possible[at]
        while left:
            place = left & -left
            left ^= place
            yield from self.solutions([*possible[:at], place, *possible[at + 1 :]])

    def _narrowed(self, possible: list[int]) -> bool:
        """Rule out places until no clue rules out more; return whether every item has one left."""
        done: list[list[int]] = [[] for _ in self.rows]
        was: list[int] = []
        while possible != was:
            was = [*possible]
            for first, other, reached, back in self.clues:
                a, b = possible[first], possible[other]
                self.work += a.bit_count() * b.bit_count()
                possible[other] = b = b & reached[a]
                possible[first] = a = possible[first] & back[b]
                if not a:
                    return False
            for at, row in enumerate(self.rows):
                if possible[row] == done[at]:
                    continue
                once = more = single = 0
                for places in possible[row]:
                    more |= once & places
                    once |= places
                    if not places & (places - 1):
                        single |= places
                if once.bit_count() < self.size:
                    return False
                only = once & ~more
                possible[row] = done[at] = [
                    (places & ~single & only or places & ~single) if places & (places - 1) else places
                    for places in possible[row]
                ]
        return all(possible)


def _proven(
    rng: Random, attributes: Sequence[Sequence[str]], words: _Words, sparse: float
) -> tuple[list[int], list[str], int]:
    """Places of the items, row by row, clues that leave these alone, and the work of finding them."""
    size, names = len(attributes[0]), [name for row in attributes for name in row]
    truth = [place for _ in attributes for place in rng.sample(range(size), size)]
    every = [(1 << size) - 1] * len(names)
    others = [
        [truth[{a: b, b: a}.get(at, at)] for at in range(len(names))]
        for row in range(len(attributes))
        for a, b in combinations(range(row * size, (row + 1) * size), 2)
    ]  # first what differs by two items: a clue against each of these leaves little to search for
    clues, work = list[_Clue](), 0

    def other(clues: Sequence[_Clue]) -> tuple[list[int] | None, int]:
        """Another arrangement in which they hold, if there is one, and the work of the search for it."""
        search = _Search(len(attributes), size, clues)
        return next((places for places in search.solutions([*every]) if places != truth), None), search.work

    while others:
        able: list[_Clue] = []
        while len(able) < 3:
            clue = _clue(rng, names, truth, size, words, sparse > 0.5)
            if clue.holds(truth) and not clue.holds(others[0]):
                able.append(clue)
        clues.append(min(able, key=lambda clue: sum([clue.holds(places) for places in others])))
        others = [places for places in others if clues[-1].holds(places)]
        if not others:
            found, work = other(clues)
            others = [found] if found else []
    for clue in rng.sample(clues, int(len(clues) * sparse)):
        found, less = other(fewer := [each for each in clues if each is not clue])
        if found is None:
            clues, work = fewer, less
    return truth, [clue.text[0].upper() + clue.text[1:] for clue in clues], work


def _clue(
    rng: Random, names: Sequence[str], truth: Sequence[int], size: int, words: _Words, indirect: bool
) -> _Clue:
    """A clue about one or two items, as a rule a true one."""
    i, j = rng.sample(range(len(names)), 2)
    first, other, gap, alike = names[i], names[j], truth[i] - truth[j], i // size == j // size
    if gap == 0:
        return _Clue(f"{first} is {other}.", "same", 0, i, j)
    side, sign = (words.above, 1) if gap > 0 else (words.below, -1)
    wrong = rng.randrange(size)
    match rng.randrange(indirect, 8):
        case 0:
            text = f"{first} {words.verb} in {words.place} {truth[i] + 1}."
            return _Clue(text, "at", truth[i], i, i)
        case 1 | 2:
            text = f"{first} does not {words.many} in {words.place} {wrong + 1}."
            return _Clue(text, "not at", wrong, i, i)
        case 3 | 4:
            return _Clue(f"{first} {words.verb} somewhere {side} {other}.", "side", sign, i, j)
        case 5:
            return _Clue(f"{first} {words.verb} directly {side} {other}.", "next", sign, i, j)
        case 6 if not alike:
            return _Clue(f"{first} is not {other}.", "different", 0, i, j)
    between = abs(gap) - 1
    if between == 0 and not alike:  # without the first words it would be true of one person
        text = f"{first} and {other} are two people, and nobody {words.verb} between them."
        return _Clue(text, "apart", 1, i, j)
    who = (
        f"Exactly {between} people {words.many}"
        if between > 1
        else f"{('Nobody', 'Exactly 1 person')[between]} {words.verb}"
    )
    return _Clue(f"{who} between {first} and {other}.", "apart", abs(gap), i, j)
