"""How often two groups of players should meet, such as open and proprietary models: arenas in which pairing
keeps at least a share of matches between the groups (`pairing.across`), and what that does to the order. Six
players are in each group; those of the second cost a tenth, are as strong on average or 200 Elo weaker, and
can be paired in every round or in one of four, as where their host is not always up. After so many matches,
or so many dollars, the table has the ordering loss of all pairs and that of pairs between the groups, in Elo,
each with its standard error, and the share of matches that were between them.

Usage: python -m bench.across [ARENAS]    (200: about ten minutes on one core)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from bench.arenas import POINTS, Cell, Counts, played
from peerage.ratings.arrays import Floats
from peerage.scheduling import adaptive, strengths
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import Goal

MATCHES, DOLLARS = 480, 40.0
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
WAYS = (("adaptive", False), ("adaptive", True), ("swiss", False), ("random", False))
CELLS = tuple(
    [
        Cell(12, "normal", groups=True, weaker=weaker, window=window)
        for weaker in (0.0, 200.0)
        for window in (1, 4)
    ]
)


def loss(rating: Floats, skill: Floats) -> Floats:
    """Return the mean gap, over all pairs, of those in the wrong order; Elo."""
    gap = skill[:, :, None] - skill[:, None, :]
    wrong = (rating[:, :, None] - rating[:, None, :]) * gap <= 0
    pairs = skill.shape[1] * (skill.shape[1] - 1)
    return np.asarray(POINTS * (np.abs(gap) * wrong).sum(axis=(1, 2)) / pairs)


def between(rating: Floats, skill: Floats, cell: Cell) -> Floats:
    """The ordering loss of pairs between the groups."""
    one, other = np.flatnonzero(~cell.second), np.flatnonzero(cell.second)
    found = [loss(rating[:, [a, b]], skill[:, [a, b]]) for a in one for b in other]
    return np.asarray(np.mean(found, axis=0))


def after(policy: Policy, cell: Cell, arenas: int, *, per_dollar: bool) -> tuple[Floats, Floats, float]:
    """The loss of all pairs and between groups, of each arena, and the share of matches between groups."""
    counts, skills = Counts(arenas, cell.players), cell.skills(arenas)
    matches, dollars, apart = 0, 0.0, 0
    for seated, scores in played(policy, cell, arenas, per_dollar=per_dollar):
        counts.add(seated, scores)
        matches += seated.shape[1]
        dollars += float(cell.prices[seated].sum()) / arenas
        apart += int((cell.second[seated].sum(axis=2) == 1).sum())
        if dollars >= DOLLARS if per_dollar else matches >= MATCHES:
            break
    rating = counts.strengths()
    return loss(rating, skills), between(rating, skills, cell), apart / (matches * arenas)


def table(arenas: int) -> Iterator[str]:
    yield "| policy | second group | paired | at least | between | loss | between groups |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for name, per_dollar in WAYS:
        for cell in CELLS:
            for share in SHARES:
                policy = Policy(name, goal=Goal("order"), across=share)
                every, apart, met = after(policy, cell, arenas, per_dollar=per_dollar)
                told = [f"{x.mean():.2f} ± {x.std() / arenas**0.5:.2f}" for x in (every, apart)]
                kind = f"{cell.weaker:g} Elo weaker" if cell.weaker else "as strong"
                when = "always" if cell.window == 1 else f"1 round of {cell.window}"
                way = name + " per dollar" * per_dollar
                yield f"| {' | '.join([way, kind, when, f'{share:.0%}', f'{met:.0%}', *told])} |"


def main(arenas: int = 200) -> None:
    adaptive.product, strengths.inverse = np.matmul, np.linalg.inv
    for line in table(arenas):
        print(line, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
