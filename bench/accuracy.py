"""How often intervals of accuracies, and of differences of two, hold the truth: a table of docs/ratings.md.

Tasks are drawn whose chances to be answered rightly vary about the true accuracy, by a Beta distribution with
so much correlation of two answers to one task, or as tasks that are certain or a toss; each is answered once,
2, 5 or 20 times, or 1 to 20 times at random. Credits are 0 or 1, or how many of eight fields are right. Pairs
of players find the same tasks hard, or half of them, or do not.

Usage: python -m bench.accuracy [ARENAS [--write]]    (2,000: about five minutes on one core)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path

import numpy as np

from peerage.ratings.accuracy import beta_quantile, bounds, gap_bounds
from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.table import quantile

PAGE = Path(__file__).parents[1] / "docs" / "ratings.md"
BEGIN, END = "<!-- made by `python -m bench.accuracy 2000 --write` -->", "<!-- to here, accuracy -->"
TASKS = (10, 20, 60)
TRUE = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
ANSWERS = (1, 2, 5, 20, 0)  # 0: from 1 to 20
KINDS = (*(("alike", rho) for rho in (0.0, 0.05, 0.2, 0.5, 1.0)), ("certain or a toss", 0.0), ("fields", 0.2))

Bounds = tuple[Floats, Floats]
Cells = list[tuple[float, float]]


def chances(rng: np.random.Generator, kind: str, rho: float, mean: float, shape: tuple[int, int]) -> Floats:
    """Each task's chance to be answered rightly."""
    if kind == "certain or a toss":
        return np.where(rng.random(shape) < 2 * (1 - mean), 0.5, 1.0)
    if rho in (0.0, 1.0):
        return (rng.random(shape) < mean) * 1.0 if rho else np.full(shape, mean)
    size = 1 / rho - 1
    return rng.beta(mean * size, (1 - mean) * size, shape)


def counts(rng: np.random.Generator, answers: int, shape: tuple[int, int]) -> Ints:
    return np.full(shape, answers) if answers else rng.integers(1, 21, shape)


def ours(means: Floats, answers: Ints) -> Bounds:
    middle = means.mean(axis=1)
    return bounds(middle, means.var(axis=1), np.full(len(middle), means.shape[1]))


def by_answer(means: Floats, answers: Ints) -> Bounds:
    size = answers.sum(axis=1).astype(float)
    return clopper_pearson((means * answers).sum(axis=1), size)


def by_task(means: Floats, answers: Ints) -> Bounds:
    return clopper_pearson(means.sum(axis=1), np.full(len(means), float(means.shape[1])))


def clopper_pearson(right: Floats, size: Floats) -> Bounds:
    lower = np.where(right > 0, beta_quantile(0.025, right, size - right + 1), 0.0)
    return lower, np.where(right < size, beta_quantile(0.975, right + 1, size - right), 1.0)


def student(means: Floats, answers: Ints) -> Bounds:
    tasks = means.shape[1]
    half = quantile(0.95, tasks - 1) * means.std(axis=1, ddof=1) / np.sqrt(tasks)
    return means.mean(axis=1) - half, means.mean(axis=1) + half


METHODS: Mapping[str, Callable[[Floats, Ints], Bounds]] = {
    "**effective tasks (ours)**": ours,
    "every task one answer, Clopper-Pearson": by_task,
    "every answer by itself, Clopper-Pearson": by_answer,
    "Student's t over tasks": student,
}


def measured(arenas: int) -> Iterator[tuple[str, Cells]]:
    """Each interval of single accuracies, by the number of tasks."""
    for tasks in TASKS:
        held: dict[str, Cells] = {name: [] for name in METHODS}
        for at, (mean, (kind, rho), answers) in enumerate(product(TRUE, KINDS, ANSWERS)):
            rng = np.random.default_rng([tasks, at])
            shape = (arenas, tasks)
            asked, chance = counts(rng, answers, shape), chances(rng, kind, rho, mean, shape)
            fields = 8 if kind == "fields" else 1
            means = rng.binomial(asked * fields, chance) / (asked * fields)
            for name, method in METHODS.items():
                held[name].append(_of(method(means, asked), mean))
        for name, cells in held.items():
            yield name, cells


def pairs(arenas: int) -> Iterator[tuple[str, Cells]]:
    """Each interval of differences, by the number of tasks."""
    for tasks in TASKS:
        cells: dict[str, Cells] = {"**ours**": [], "Student's t alone": []}
        settings = product(TRUE, (0.0, 0.02, 0.1), (0.05, 0.5, 0.9), (0.0, 0.5, 1.0), (1, 0))
        for at, (mean, gap, rho, shared, answers) in enumerate(settings):
            rng = np.random.default_rng([tasks, at])
            shape = (arenas, tasks)
            asked = counts(rng, answers, shape)
            better = chances(rng, "alike", rho, mean, shape)
            # The worse player fails where the better one does, and elsewhere as often as the gap asks.
            own = chances(rng, "alike", rho, mean - gap, shape)
            worse = np.where(rng.random(shape) < shared, better * (mean - gap) / mean, own)
            if shared == 1.0 and gap:  # whole tasks are lost, one way alone
                worse = better * (rng.random(shape) < (mean - gap) / mean)
            gaps = (rng.binomial(asked, better) - rng.binomial(asked, worse)) / asked
            middle, size = gaps.mean(axis=1), np.full(len(gaps), tasks)
            cells["**ours**"].append(_of(gap_bounds(middle, (gaps**2).mean(axis=1), size), gap))
            cells["Student's t alone"].append(_of(student(gaps, asked), gap))
        for name, found in cells.items():
            yield f"difference of two, {name}", found


def _of(found: Bounds, true: float) -> tuple[float, float]:
    lower, upper = found
    held = (lower <= true + 1e-12) & (true - 1e-12 <= upper)
    return float(held.mean()), float((upper - lower).mean())


def _figures(cells: Cells) -> tuple[str, ...]:
    held, wide = np.array(cells).T
    few = f"{(held < 0.93).sum()} of {len(held)}"
    return f"{held.min():.1%}", f"{held.mean():.1%}", few, f"{100 * wide.mean():.1f}"


def table(arenas: int) -> str:
    """Return the table: a row for each interval, with its figures for each number of tasks."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for name, cells in [*measured(arenas), *pairs(arenas)]:
        rows.setdefault(name, []).append(_figures(cells))
    head = f"| interval, of {', '.join(map(str, TASKS))} tasks | holds at least | on average "
    lines = [f"{head}| cells below 93% | mean width, points |", "|---|--:|--:|--:|--:|"]
    for name, figures in rows.items():
        columns = [", ".join(column) for column in zip(*figures, strict=True)]
        lines.append(f"| {name} | {' | '.join(columns)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    made = table(int(arguments[0]) if arguments else 2_000)
    print(made)
    if "--write" in arguments:
        text = PAGE.read_text("utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
