"""How often a gate (`peerage compare --not-worse-by`) is wrong, how much it takes, how well it says how much.

Two players meet again and again; after every match the gate is looked at, until it is shown that the new one
is not worse than the old one by more than the margin, or proven that it is. `errors`: the new one is worse by
exactly the margin, where both answers are wrong: each in 5% of the runs at most. `power`: they are alike; in
how many matches that is shown. `forecasts`: how often what was said after so many matches holds the number
that it then took (80% are meant), the truth drawn anew in each run.

Usage: python -m bench.gate [RUNS [--write]]    (1,000: about 15 minutes on one core)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.claims.not_worse import PROVEN, Lead, bets, further

PAGE = Path(__file__).parents[1] / "docs" / "gate.md"
BEGIN, END = "<!-- made by `python -m bench.gate 1000 --write` -->", "<!-- to here -->"
Rng = np.random.Generator
Played = list[Lead]


class Cell(NamedTuple):
    """A kind of two players: what they do, in a run of its own, of this `bound`; see `not_worse`."""

    name: str
    bound: float
    played: Callable[[Rng], Played]
    single: bool = False


def free(bound: float, ties: float, matches: int) -> Callable[[Rng], Played]:
    """Matches on a task of their own each; the new player has `bound` of the wins."""
    chances = [1 - bound - ties / 2, ties, bound - ties / 2]
    return lambda rng: [
        Lead(str(place), value)
        for place, value in enumerate(rng.choice([0.0, 0.5, 1.0], matches, p=chances).tolist())
    ]


def blocks(rng: Rng, tasks: int, answers: int) -> Ints:
    """Tasks in blocks that hold each once."""
    return np.concatenate([rng.permutation(tasks) for _ in range(answers)])


def by_task(
    bound: float, tasks: int, answers: int, alike: float, *, fixed: bool = False
) -> Callable[[Rng], Played]:
    """Matches on `tasks` done `answers` times, on each of which the new player has another share of the
    wins: `alike` is the correlation of two matches on one. `fixed`: these tasks have
    the mean `bound` themselves."""

    def played(rng: Rng) -> Played:
        if alike == 1:
            share = (rng.random(tasks) < bound).astype(float)
        elif alike:
            lent = 1 / alike - 1
            share = rng.beta(bound * lent, (1 - bound) * lent, tasks)
        else:
            share = np.full(tasks, bound)
        if fixed:
            share = moved(share, bound)
        drawn = blocks(rng, tasks, answers)
        won = rng.random(len(drawn)) < share[drawn]
        return [Lead(str(task), float(win)) for task, win in zip(drawn.tolist(), won, strict=True)]

    return played


def moved(share: Floats, mean: float) -> Floats:
    """Shares from 0 to 1 with this mean exactly."""
    for _ in range(200):
        share = np.clip(share + mean - share.mean(), 0.0, 1.0)
    return share


def accuracies(
    old: float, margin: float, tasks: int, answers: int, hard: float, *, parts: int = 1
) -> Callable[[Rng], Played]:
    """Credits of both on each task, in so many `parts`: the new player's accuracy is lower by `margin`. The
    share `hard` of what goes wrong is tasks that both get wrong whatever they answer."""

    def played(rng: Rng) -> Played:
        failing = rng.random(tasks) < hard * (1 - old)
        rest = 1 - hard * (1 - old)
        drawn = blocks(rng, tasks, answers)
        first, second = (
            np.where(failing[drawn], 0, rng.binomial(parts, right / rest, len(drawn))) / parts
            for right in (old - margin, old)
        )
        return [
            Lead(str(task), value)
            for task, value in zip(drawn.tolist(), ((1 + first - second) / 2).tolist(), strict=True)
        ]

    return played


def adaptive(bound: float, tasks: int, matches: int) -> Callable[[Rng], Played]:
    """The pair meets when the new player is behind, else mostly others meet, who take their tasks too."""

    def played(rng: Rng) -> Played:
        share = rng.beta(2 * bound, 2 * (1 - bound), tasks)
        found: Played = []
        lead = 0.0
        queue: list[int] = []
        for _ in range(matches):
            queue = queue or rng.permutation(tasks).tolist()
            task = queue.pop()
            if lead > 0 and rng.random() < 0.8:
                continue
            won = float(rng.random() < share[task])
            lead += won - 0.5
            found.append(Lead(str(task), won))
        return found

    return played


ERRORS = [
    Cell("no ties, margin 3%", 0.47, free(0.47, 0.0, 3000)),
    Cell("30% ties", 0.47, free(0.47, 0.3, 3000)),
    Cell("60% ties", 0.47, free(0.47, 0.6, 3000)),
    Cell("no ties, margin 10%", 0.40, free(0.40, 0.0, 1500)),
    Cell("lopsided: 5% of wins, margin 45%", 0.05, free(0.05, 0.0, 1500)),
    Cell("lopsided, 5% ties", 0.05, free(0.05, 0.05, 1500)),
    *[
        Cell(
            f"{tasks} tasks, {answers} answers, alike {alike:g}", bound, by_task(bound, tasks, answers, alike)
        )
        for tasks, answers, alike, bound in (
            (20, 40, 0.0, 0.40),
            (20, 40, 0.3, 0.40),
            (60, 20, 0.0, 0.40),
            (60, 20, 0.1, 0.40),
            (60, 20, 0.3, 0.40),
            (60, 20, 1.0, 0.40),
            (400, 5, 0.0, 0.47),
            (400, 5, 0.3, 0.47),
        )
    ],
    Cell("adaptive pairing, 60 tasks", 0.40, adaptive(0.40, 60, 2500)),
    Cell("adaptive pairing, 1,000 tasks", 0.47, adaptive(0.47, 1000, 4000)),
    *[
        Cell(
            f"accuracy {old:g}, margin {margin:.0%}, {tasks} tasks, {answers} answers, {hard:.0%} hard",
            (1 - margin) / 2,
            accuracies(old, margin, tasks, answers, hard),
        )
        for old, margin, tasks, answers, hard in (
            (0.99, 0.03, 60, 20, 0.0),
            (0.99, 0.03, 2000, 1, 0.0),
            (1.0, 0.03, 2000, 1, 0.0),
            (0.98, 0.05, 200, 5, 1.0),
            (0.8, 0.05, 200, 5, 0.5),
            (0.6, 0.1, 60, 10, 0.5),
        )
    ],
    Cell("the same, credit in fifths", 0.45, accuracies(0.6, 0.1, 60, 10, 0.5, parts=5)),
    *[
        Cell(
            f"these 60 tasks, 20 answers, alike {alike:g}",
            0.45,
            by_task(0.45, 60, 20, alike, fixed=True),
            True,
        )
        for alike in (0.0, 0.3, 0.9)
    ],
    Cell("these 10 tasks, 100 answers, alike 0.9", 0.45, by_task(0.45, 10, 100, 0.9, fixed=True), True),
]


OFTEN = 0.02  # errors below this are printed, and only counted on the page


def errors(runs: int, seed: int) -> Iterator[str]:
    """Yield the table of errors: the kinds with an error from `OFTEN` on, and how many others there are."""
    yield "| cell | shown wrongly | worse wrongly |"
    yield "|---|---|---|"
    rare = 0
    for number, cell in enumerate(ERRORS):
        rng = np.random.default_rng([seed, number])
        found = [bets(cell.played(rng), cell.bound, single=cell.single) for _ in range(runs)]
        wrong = [sum(one[place] >= PROVEN for one in found) / runs for place in (0, 1)]
        row = f"| {cell.name} | {wrong[0]:.1%} | {wrong[1]:.1%} |"
        if max(wrong) < OFTEN:
            rare += 1
            print(row, flush=True)
        else:
            yield row
    yield f"| {rare} other kinds, each | below {OFTEN:.1%} | below {OFTEN:.1%} |"


def told_after(differences: Sequence[Lead], bound: float, *, single: bool, place: int | None = 0) -> float:
    """The number of differences after which a claim is proven (`place` of `Bets`, None: either)."""

    def proven(size: int) -> bool:
        found = bets(differences[:size], bound, single=single)
        return max(found) >= PROVEN if place is None else found[place] >= PROVEN

    low, high = 0, len(differences)
    if not proven(high):
        return inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proven(middle) else (middle, high)
    return high


POWER = [
    *[
        Cell(f"wins, margin {margin:.0%}, {ties:.0%} ties", 0.5 - margin, free(0.5, ties, int(9 / margin**2)))
        for margin in (0.03, 0.05, 0.10)
        for ties in (0.0, 0.3, 0.6)
    ],
    *[
        Cell(
            f"accuracy {old:.0%}, margin {margin:.0%}, {hard:.0%} hard",
            (1 - margin) / 2,
            accuracies(old, 0.0, int(3 / margin**2), 1, hard),
        )
        for old, margin, hard in ((0.9, 0.03, 0.5), (0.9, 0.05, 0.5), (0.9, 0.10, 0.5), (0.98, 0.03, 0.5))
    ],
    *[
        Cell(
            f"the same, about these 60 tasks, margin {margin:.0%}",
            (1 - margin) / 2,
            accuracies(0.9, 0.0, 60, int(0.06 / margin**2) + 1, 0.5),
            True,
        )
        for margin in (0.03, 0.05)
    ],
]


def power(runs: int, seed: int) -> Iterator[str]:
    yield "| both alike | shown after, median | in 80% of the runs |"
    yield "|---|---|---|"
    for number, cell in enumerate(POWER):
        rng = np.random.default_rng([seed, number])
        # No task is done twice where the file is as long as it takes.
        single = cell.single or cell.name.startswith("wins")
        times = [told_after(cell.played(rng), cell.bound, single=single) for _ in range(runs)]
        middle, most = np.quantile(times, [0.5, 0.8], method="inverted_cdf").tolist()
        yield f"| {cell.name} | {middle:,.0f} | {most:,.0f} |"


def forecasts(runs: int, seed: int) -> Iterator[str]:
    """Draw the new player's share of the wins from 50% ± 5% (standard deviation); margin 5%."""
    yield "| said after | range holds | median above the truth | open ranges |"
    yield "|---|---|---|---|"
    for number, at in enumerate((0, 10, 40, 160)):
        rng = np.random.default_rng([seed, number])
        held, above, opened, counted = 0, 0, 0, 0
        while counted < runs:
            share, ties = 0.5 + 0.05 * rng.standard_normal(), rng.choice([0.0, 0.3, 0.6])
            played = free(min(max(share, 0.35), 0.65), ties, 20_000)(rng)
            needed = told_after(played, 0.45, single=True, place=None) - at
            if needed <= 0:
                continue
            more = further(played[:at], 0.45, single=True)
            counted += 1
            held += more.at_least <= needed <= (more.at_most or inf)
            above += (more.about or inf) >= needed
            opened += more.at_most is None
        yield f"| {at} matches | {held / runs:.0%} | {above / runs:.0%} | {opened / runs:.0%} |"


HEADS = (
    "How often each answer is wrong where the new player is worse by exactly the margin, looked at after\n"
    "every match (5% are allowed). *Alike* is the correlation of two answers to one task; margins are 10%\n"
    "of wins unless stated. The other kinds, all printed by the bench, are among them accuracies from 0.6\n"
    "to 1 (some in fifths), 10 to 2,000 tasks, and 60% ties.",
    "How many tasks (of wins matches, about these tasks answers of each) it takes until it is shown, where\n"
    "both are alike (*hard* is the share of mistakes that both make):",
    "How often the range of further matches holds the number that it then took, where the share of wins is\n"
    "drawn from 50% ± 5% and the margin is 5%. 80% are meant, 90% where the range is open above:",
)


def main(arguments: list[str]) -> None:
    runs = int(arguments[0]) if arguments else 1000
    made = []
    for head, table in zip(
        HEADS, (errors(runs, 1), power(runs // 5, 2), forecasts(runs // 5, 3)), strict=True
    ):
        made.append(f"{head}\n\n" + "\n".join(table))
        print(made[-1], flush=True)
    if "--write" in arguments:
        text = PAGE.read_text("utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text("\n\n".join([before + BEGIN, *made, END + after]), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
