"""Hunts: programs with bugs, and the tests that show which of the bugs are there. Pure.

A witness of a bug is a test that fails in every version of the program that has the bug and passes in every
version that has not, whatever the other bugs. A joint test of two bugs passes in those versions alone that
have neither. A guard passes in all versions.

No version is left out of the proof, though few are run. A run computes the right and the wrong value at
each place that it comes by (`parts.traced`). Where the two are equal each time the bug changes nothing, and
the version without it runs alike. So on an input on which nothing but places of some bugs ever differs, in
any of the versions that have some of these, every other version runs as one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from random import Random
from typing import Any, TypeAlias

from msgspec import Struct

from peerage.game.levels import difficulty
from peerage.game.programs.run_tests import Test
from peerage.games import numbers
from peerage.games.bug_hunt import commands
from peerage.games.parts import (
    AT,
    RAISES,
    DrawnPart,
    Family,
    SlotBug,
    effort,
    outputs,
    places,
    traced,
    work_at,
)

BUGS = (1, 2, 2, 2, 3, 4, 5, 6, 7, 8)
"""Bugs in programs of level 1 to 10."""
JOINT = (0, 0, 0, 0, 1, 1, 1, 2, 2, 2)
"""Pairs of bugs with a joint test."""
USUAL_WORK = 23_000
"""Effort of a program times its bugs, at level 3."""
_COMMANDS_FROM = 5
"""The first level whose programs keep balances; easier ones are about a list of numbers."""
_INPUTS, _LISTS = 160, 80
"""Inputs of programs that keep balances, and of those about a list, from which tests are taken."""
_RELEVANT = 3
"""Bugs on which a test may hang: so many that all versions are run that differ for it."""
_TRIES = 300
"""Choices of bugs that are tried before another program is drawn."""
_KEPT, _FEW = 2, 4
"""Witnesses of each bug where there are few bugs (of more one each), and guards, at most."""


Has: TypeAlias = int
"""The bugs of a version, a bit for each."""


class BuggyTask(Struct, frozen=True):
    """A task as it is embedded in a fixture. `witnesses` are places in `tests`, bug by bug; a joint test has
    the places of its two bugs and its own; the other tests guard. `bugs` are wrong values of slots of
    `parts`.
    `difficulty` is in logits above a usual program of level 3."""

    level: int
    difficulty: float
    statement: str
    source: str
    parts: tuple[DrawnPart, ...]
    bugs: tuple[SlotBug, ...]
    tests: tuple[Test, ...]
    witnesses: tuple[tuple[int, ...], ...]
    joint: tuple[tuple[int, int, int], ...] = ()

    @property
    def goals(self) -> list[tuple[int, ...]]:
        """The tests that must pass for each point: of each bug, then of each pair."""
        return [*self.witnesses, *[(test,) for _, _, test in self.joint]]


def buggy(rng: Random, level: int) -> BuggyTask:
    """Draw a program of a level with its bugs, each at a place of its own."""
    count = BUGS[level - 1]
    wanted = work_at(level, USUAL_WORK) / count
    inputs = _INPUTS if level >= _COMMANDS_FROM else _LISTS
    while True:
        parts = commands.drawn(rng, wanted) if level >= _COMMANDS_FROM else numbers.drawn(rng, wanted, count)
        family = family_of(parts)
        possible = places(parts, family.kinds)
        if family is commands.FAMILY:
            possible = [[rng.choice(bugs)] for bugs in possible]
        if len(possible) < count:
            continue
        lines = list(dict.fromkeys([family.line(rng, parts) for _ in range(inputs)]))
        versions = _Versions(parts, possible, lines)
        for chosen in versions.choices(rng, count):
            if proof := versions.proven(chosen, JOINT[level - 1]):
                bugs = tuple([versions.bugs[bug] for bug in chosen])
                source = family.program(parts, bugs)
                work = effort(family.program(parts)) * count
                tests, witnesses, joint = proof
                return BuggyTask(
                    level=level,
                    difficulty=difficulty(work=work, usual_work=USUAL_WORK),
                    statement=family.says(parts),
                    source=source,
                    parts=parts,
                    bugs=bugs,
                    tests=tests,
                    witnesses=witnesses,
                    joint=joint,
                )


def family_of(parts: Sequence[DrawnPart]) -> Family:
    """Return the family of programs that has these parts."""
    return commands.FAMILY if parts[0].name in commands.KINDS else numbers.FAMILY


_RAISE = object()


def _value(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except RAISES:
        return _RAISE


def _mask(bugs: Iterable[int]) -> Has:
    return sum([1 << bug for bug in bugs])


def _apart(showing: Iterable[Has]) -> list[Has]:
    """Return pairs of bugs that share none."""
    pairs: list[Has] = []
    for causes in showing:
        if causes.bit_count() == 2 and not any(causes & pair for pair in pairs):
            pairs.append(causes)
    return pairs


class _Versions:
    """A program with any of its possible bugs, run on the same inputs."""

    def __init__(
        self, parts: Sequence[DrawnPart], possible: Sequence[Sequence[SlotBug]], inputs: Sequence[str]
    ) -> None:
        family = family_of(parts)
        self.bugs = [bug for bugs in possible for bug in bugs]
        self._places = [place for place, bugs in enumerate(possible) for _ in bugs]
        self._source = family.framed(parts, traced(parts, family.kinds, self.bugs))
        self._runs: dict[tuple[str, Has], tuple[str, Has]] = {}
        self._hanging: dict[tuple[str, Has], tuple[Has, Has | None]] = {}
        self._differ = {given: self.run(given, 0)[1] for given in inputs}
        shown = [sum(differ >> bug & 1 for differ in self._differ.values()) for bug in range(len(self.bugs))]
        self._possible = [bug for bug, many in enumerate(shown) if 0 < many <= len(inputs) / 2]

    def run(self, given: str, has: Has) -> tuple[str, Has]:
        """Return what the version that has these bugs prints, and at which bugs' places the right and the
        wrong value differ."""
        if (given, has) not in self._runs:
            differ = 0

            def at(right: Callable[[], Any], wrong: Mapping[int, Callable[[], Any]]) -> Any:
                nonlocal differ
                value, own = _value(right), None
                for bug, compute in wrong.items():
                    other = _value(compute)
                    if other != value or value is _RAISE:
                        differ |= 1 << bug
                    if own is None and has >> bug & 1:
                        own = (other,)
                if own is not None:
                    (value,) = own
                if value is _RAISE:
                    raise ValueError
                return value

            [printed] = outputs(self._source, [given], {AT: at})
            self._runs[given, has] = (printed, differ)
        return self._runs[given, has]

    def choices(self, rng: Random, count: int) -> Iterator[tuple[int, ...]]:
        """Yield choices of so many bugs in places of their own, such that for each there are inputs on which
        its place alone differs."""
        differ = {*self._differ.values()}
        for _ in range(_TRIES if len(self._possible) >= count else 0):
            bugs = tuple(sorted(rng.sample(self._possible, count)))
            if len({self._places[bug] for bug in bugs}) < count:
                continue
            mask = _mask(bugs)
            if {each & mask for each in differ}.issuperset([1 << bug for bug in bugs]):
                yield bugs

    def proven(self, bugs: Sequence[int], joint: int) -> tuple[Any, Any, Any] | None:
        """Return tests, each bug's witnesses and so many joint tests among them; None where there are not
        enough."""
        chosen = _mask(bugs)
        differ = {given: differ & chosen for given, differ in self._differ.items()}
        showing: dict[Has, list[str]] = {}
        for given in sorted(differ, key=lambda given: differ[given].bit_count()):
            own = differ[given]
            paired = own.bit_count() > 1 and len(_apart(showing)) >= joint
            if paired or own.bit_count() > _RELEVANT or len(showing.get(own, ())) == _KEPT:
                continue
            causes = self._causes(given, chosen)
            if causes is not None and len(showing.setdefault(causes, [])) < _KEPT:
                showing[causes].append(given)
        pairs = _apart(showing)[:joint]
        if len(pairs) < joint or not all(causes in showing for causes in [0, *[1 << bug for bug in bugs]]):
            return None
        each = _KEPT if len(bugs) <= _FEW else 1
        alone = [showing[1 << bug][:each] for bug in bugs]
        goals, guards = [*alone, *[showing[pair][:1] for pair in pairs]], showing[0]
        if any(len({self.run(given, 0)[0] for given in (*goal, *guards)}) == 1 for goal in goals):
            return None  # one that prints the same whatever it reads would have a point
        inputs = [given for group in (*goals, guards) for given in group]
        tests = tuple([(given, self.run(given, 0)[0]) for given in inputs])
        witnesses = tuple([tuple(map(inputs.index, group)) for group in alone])
        at = [
            (*[place for place, bug in enumerate(bugs) if pair >> bug & 1], inputs.index(showing[pair][0]))
            for pair in pairs
        ]
        return tests, witnesses, tuple(at)

    def _causes(self, given: str, bugs: Has) -> Has | None:
        """Return the bugs for which this input comes out wrong in all versions that have any of them, and
        right in all others; None where it is no such thing, or hangs on too many bugs."""
        relevant = 0
        while relevant.bit_count() <= _RELEVANT:
            met, causes = self._told(given, relevant)
            if not met & bugs & ~relevant:
                return causes
            relevant |= met & bugs
        return None

    def _told(self, given: str, relevant: Has) -> tuple[Has, Has | None]:
        """Return all bugs whose places differ in any version that has some of these, and those of these that
        make this input come out wrong; None where others of these hide one."""
        if (given, relevant) not in self._hanging:
            bits = [1 << bug for bug in range(relevant.bit_length()) if relevant >> bug & 1]
            versions = [sum(some) for size in range(len(bits) + 1) for some in combinations(bits, size)]
            runs = {has: self.run(given, has) for has in versions}
            wrong = {has: printed != runs[0][0] for has, (printed, _) in runs.items()}
            causes = sum([bit for bit in bits if wrong[bit]])
            telling = all(bad == bool(causes & has) for has, bad in wrong.items())
            met = reduce(or_, [differ for _, differ in runs.values()])
            self._hanging[given, relevant] = met, causes if telling else None
        return self._hanging[given, relevant]
