"""How often the true number of further matches lies in the range that `peerage plan` states. Arenas of
simulated players, paired by each policy with matches in flight, are asked after so many matches what it takes
to prove who is best, to have a clear pick, and to prove the order of two neighbours in the middle. Then they
play on until it is proven, to `MOST` times the matches at most. A range that is open above `MOST` holds what
took longer.

Usage: python -m bench.further [ARENAS]    (40: about fifteen minutes on one core)
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bench.arenas import Cell, matches_of
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import duels
from peerage.ratings.strength.evidence import Evidence, of_duels
from peerage.ratings.strength.posterior import AS_GOOD, strengths
from peerage.scheduling.further import forecast
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import BEST, PolicyName

MOST = 16
STEP, SLACK = 1.06, 1.03
KINDS = ("best proven", "pick clear", "two proven")
POLICIES: tuple[PolicyName, ...] = ("random", "swiss", "adaptive")
CELLS = (
    *(
        (Cell(players, "prior", lag=lag), start)
        for players, lag, start in ((2, 2, 10), (4, 8, 24), (8, 16, 64))
    ),
    (Cell(12, "prior", lag=32), 150),
    (Cell(2, "one ahead", lag=2, spread=300.0), 6),
    (Cell(3, "normal", lag=4, spread=80.0), 24),
    (Cell(4, "one ahead", lag=8, spread=400.0), 24),
    (Cell(8, "one ahead", lag=16, spread=400.0), 64),
    (Cell(8, "normal", lag=16, spread=150.0), 64),
    (Cell(8, "normal", lag=32, spread=300.0), 80),
)
"""Arenas as the posterior's prior has them, and of stated truths, some of which surprise it."""


class Asked(NamedTuple):
    """A question that was open: its kind, whether the range held the true number, and whether that was above
    the middle, None where both are beyond what was played."""

    kind: int
    inside: bool
    above: bool | None


def _evidence(matches: Sequence[tuple[int, int, float]], players: int) -> Evidence:
    first, second, score = zip(*matches, strict=True)
    return of_duels(duels(players, first, second, score))


def took(
    played: Sequence[tuple[int, int, float]], players: int, start: int, two: tuple[int, int]
) -> list[float]:
    """Return how many times the matches at the start more it took to each of `KINDS`."""
    found, many, look = [math.inf] * 3, 1.0, 0
    while many < MOST and math.inf in found:
        many, look = many * STEP, look + 1
        then = _evidence(played[: int(many * start)], players)
        above = proven(then)
        now = [(above.sum(axis=1) == players - 1).any(), False, above[two] or above[two[::-1]]]
        if found[1] == math.inf and look % 4 == 0:  # a posterior takes longest
            later = strengths(then, seed=0)
            pick = int(later.best.argmax())
            now[1] = (np.delete(later.better[:, pick], pick) < AS_GOOD).all()
        found = [many - 1 if yes and at == math.inf else at for at, yes in zip(found, now, strict=True)]
    return found


def asked(policy: Policy, cell: Cell, start: int, arenas: int) -> Iterator[Asked]:
    """Yield what arenas were asked after so many matches, and what it came to."""
    for played in matches_of(policy, cell, arenas, MOST * start + start):
        now = _evidence(played[:start], cell.players)
        found = strengths(now, seed=0)
        order = np.argsort(-found.rating)[[cell.players // 2 - 1, cell.players // 2]].tolist()
        two = (order[0], order[1])
        told = forecast(found, now, policy, BEST, pairs=[two])
        true = took(played, cell.players, start, two)
        for kind, (span, many) in enumerate(zip((told.proven, told.clear, *told.pairs), true, strict=True)):
            if span.matches == 0:
                continue
            about, high = [math.inf if end is None else end / start for end in (span.matches, span.at_most)]
            beyond = high >= MOST - 1 if many == math.inf else many / SLACK <= high
            inside = span.at_least / start <= many * SLACK and beyond
            yield Asked(kind, inside, None if min(many, about) >= MOST - 1 else many > about)


def told(some: Sequence[Asked]) -> str:
    """Return the cells of a row."""
    cells = []
    for kind in range(len(KINDS)):
        inside = [one.inside for one in some if one.kind == kind]
        above = [one.above for one in some if one.kind == kind and one.above is not None]
        cells += [
            f"{np.mean(inside):.0%} of {len(inside)}" if inside else "",
            f"{np.mean(above):.0%}" if above else "",
        ]
    return " | ".join(cells)


def main(arenas: int = 40) -> None:
    print("| policy | players | pool | asked after |" + "".join(f" {kind} | took more |" for kind in KINDS))
    print("|---|--:|---|--:|" + "--:|--:|" * len(KINDS))
    every: list[Asked] = []
    for name in POLICIES:
        for cell, start in CELLS:
            some = [*asked(Policy(name), cell, start, arenas)]
            every += some if cell.pool == "prior" else []
            pool = cell.pool if cell.pool == "prior" else f"{cell.pool}, {cell.spread:g}"
            print(f"| {name} | {cell.players} | {pool} | {start} | {told(some)} |", flush=True)
    print(f"| all of the prior | | | | {told(every)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
