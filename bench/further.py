"""How often the true number of further matches lies in the range that `peerage plan` states. Arenas of
simulated players, paired by each policy with matches in flight, are asked after so many matches what it
takes to tell each pair apart, to know the best, and (to 50 Elo) the first three, the order of all and the
place of one. Then they play on until it is known, to `MOST` times the matches at most. A range that is open
above `MOST` holds what took longer.

Usage: python -m bench.further [ARENAS [PART PARTS]]    (24: about twenty minutes on one core)
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from bench.arenas import Cell, matches_of
from peerage.ratings.bradley_terry import Pair, fit
from peerage.ratings.claims import gap_needed
from peerage.ratings.kernels import Floats
from peerage.scheduling.aim import BEST, Aim
from peerage.scheduling.further import RatingEstimates, ranges
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import PolicyName

MOST = 16
KINDS = [(kind, closed) for kind in ("pair", "best", "goal") for closed in (True, False)]
STEP = 1.03
POLICIES: tuple[tuple[PolicyName, str], ...] = (
    ("random", "normal"),
    ("swiss", "normal"),
    ("swiss", "even gaps"),
    ("order", "normal"),
    ("certify", "normal"),
    ("top", "normal"),
)
CELLS = [
    (Policy(name), Cell(players, pool, lag=32), start)
    for name, pool in POLICIES
    for players, start in ((6, 100), (12, 300), (12, 60))
]
CELLS += [(Policy(name), Cell(40, "normal", lag=32), 300) for name in ("random", "order", "swiss")]


class Asked(NamedTuple):
    """A range that was stated: of a pair, the best or another goal, whether `closed` within `MOST`, whether
    it `held` the true number, and whether that was `above` what was told as likely, None without any."""

    kind: str
    closed: bool
    held: bool
    above: bool | None


def arena(
    policy: Policy, played: Sequence[tuple[int, int, float]], cell: Cell, start: int, number: int
) -> list[Asked]:
    """What was asked of one arena: of the pairs and the best player that were not known at the start."""
    counts: Counter[tuple[int, int, int]] = Counter()
    matches = iter(played)

    def play(count: int) -> tuple[Floats, Floats, Floats]:
        for a, b, score in islice(matches, count):
            counts[a, b, 0 if score == 1 else 1 if score == 0 else 2] += 1
        met = sorted({(a, b) for a, b, _ in counts})
        table = fit(
            [Pair(a, b, *[counts[a, b, result] for result in range(3)]) for a, b in met], cell.players
        )
        return table.rating, gap_needed(table.covariance), table.covariance

    rating, needed, covariance = play(start)
    met = np.zeros((cell.players, cell.players))
    for (a, b, _), many in counts.items():
        met[[a, b], [b, a]] += many
    down = np.argsort(-rating).tolist()
    pairs = [(a, b) for a, b in combinations(down, 2) if rating[a] - rating[b] <= needed[a, b]]
    within = 50.0  # Elo
    aims = [
        BEST,
        Aim("top", 3, within=within),
        Aim("order", within=within),
        Aim("placed", within=within),
    ]
    loss = policy.loss([f"{at:02}" for at in range(cell.players)])
    spans = ranges(
        RatingEstimates(rating, covariance, loss=loss, often=met, needed=needed), aims, pairs, number
    )
    kinds = ["best", *["goal"] * (len(aims) - 1), *["pair"] * len(pairs)]
    took = [0.0 if aim.reached(rating, needed) else math.inf for aim in aims] + [math.inf] * len(pairs)
    total = start
    while total < MOST * start and math.inf in took:
        more = max(1, int(total * (STEP - 1)))
        rating, needed, _ = play(more)
        total += more
        told = [
            *[bool(aim.reached(rating, needed)) for aim in aims],
            *[abs(rating[a] - rating[b]) > needed[a, b] for a, b in pairs],
        ]
        took = [
            total / start if one == math.inf and now else one for one, now in zip(took, told, strict=True)
        ]
    return [
        Asked(
            kind,
            high <= MOST,
            low <= true and (true <= high or high > MOST),
            None if about > MOST else true > about,
        )
        for kind, true, (low, about, high) in zip(kinds, took, spans, strict=True)
        if true
    ]


def told(name: str, asked: Sequence[Asked]) -> str:
    """A line of the table."""
    kinds = [
        [one.held for one in asked if one.kind == kind and one.closed is closed] for kind, closed in KINDS
    ]
    shares = [f"{np.mean(kind):.0%} of {len(kind)}" if kind else "" for kind in kinds]
    above = [one.above for one in asked if one.above is not None]
    return f"| {' | '.join([name, *shares, f'{np.mean(above):.0%}' if above else ''])} |"


def main(arenas: int = 24, part: int = 1, parts: int = 1) -> None:
    heads = [f"{kind}{'' if closed else ', open'}" for kind, closed in KINDS]
    print(f"| policy, players, pool, asked after | {' | '.join(heads)} | above the likely |")
    print(f"|---|{'--:|' * 7}")
    every: list[Asked] = []
    for policy, cell, start in CELLS[part - 1 :: parts]:
        count = arenas if cell.players < 40 else max(1, arenas // 3)
        played = matches_of(policy, cell, count, MOST * start + start // 2)
        asked = [
            one
            for number, matches in enumerate(played)
            for one in arena(policy, matches, cell, start, number)
        ]
        every += asked
        print(told(f"{policy.name}, {cell.players}, {cell.pool}, {start}", asked), flush=True)
    print(told("all", every))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
