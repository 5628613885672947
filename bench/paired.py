"""Coverage of the interval of a paired difference: a table of docs/ratings.md.

Two models answer the same samples, drawn with difficulties of SD 1.5 log-odds and each model's own luck on a
sample of SD 0.5. Answers are right or wrong, given once, three or five times; graded in thirds; or graded
finely. Models score 50, 75 or 90% on average, and are 0, 0.7 or 1.5 log-odds apart. The true difference is
that over all samples that could be drawn.

Usage: python -m bench.paired [ARENAS]    (2,000: about a minute on one core)
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np

from peerage.ratings.accuracy import gap_bounds
from peerage.ratings.arrays import Floats
from peerage.ratings.paired import bounds
from peerage.ratings.table import quantile

SAMPLES = (10, 30, 100)
KINDS = ("right or wrong", "the same, 3 epochs", "the same, 5 epochs", "three grades", "fine grades")
LEVELS, APART = (0.5, 0.75, 0.9), (0.0, 0.7, 1.5)
WAYS = ("`--method paired`", "Student's t alone", "as for accuracies (three pseudo-tasks)")


def gaps(rng: np.random.Generator, kind: str, level: float, apart: float, shape: tuple[int, int]) -> Floats:
    """Differences of scores, sample by sample; shape (arenas, samples)."""
    difficulty = rng.normal(0, 1.5, shape)
    middle = 1.4 * np.log(level / (1 - level))
    scores = []
    for side in (0.5, -0.5):
        chance = 1 / (1 + np.exp(difficulty - middle - side * apart - rng.normal(0, 0.5, shape)))
        if kind == "fine grades":
            scores.append(rng.beta(8 * chance + 0.05, 8 * (1 - chance) + 0.05))
        else:
            tries = {"right or wrong": 1, "three grades": 2}.get(kind) or int(kind.split()[-2])
            scores.append(rng.binomial(tries, chance) / tries)
    return np.asarray(scores[0] - scores[1])


def intervals(found: Floats) -> list[tuple[Floats, Floats]]:
    """Bounds by each way, arena by arena."""
    n, mean = found.shape[1], found.mean(axis=1)
    ours = np.array([bounds(row) for row in found])
    half = quantile(0.95, n - 1) * found.std(axis=1, ddof=1) / np.sqrt(n)
    return [
        (ours[:, 0], ours[:, 1]),
        (mean - half, mean + half),
        gap_bounds(mean, (found**2).mean(axis=1), n),
    ]


def main(arenas: int) -> None:
    print(f"| interval | {' | '.join(f'{n} samples' for n in SAMPLES)} | cells, lowest to highest |")
    print("|---|" + "--:|" * (len(SAMPLES) + 1))
    held = np.zeros((len(WAYS), len(SAMPLES), len(KINDS), len(LEVELS) * len(APART)))
    for (kind_at, kind), (cell, (level, apart)) in product(
        enumerate(KINDS), enumerate(product(LEVELS, APART))
    ):
        truth = gaps(np.random.default_rng([1, kind_at, cell]), kind, level, apart, (4_000, 500)).mean()
        for at, samples in enumerate(SAMPLES):
            rng = np.random.default_rng([2, kind_at, cell, samples])
            found = gaps(rng, kind, level, apart, (arenas, samples))
            for way, (low, high) in enumerate(intervals(found)):
                holds = (low <= truth + 1e-12) & (truth <= high + 1e-12)
                held[way, at, kind_at, cell] = holds.mean()
    for name, rows in [*zip(WAYS, held, strict=True), *zip(KINDS, held[0].transpose(1, 0, 2), strict=True)]:
        means = " | ".join(f"{row.mean():.1%}" for row in rows)
        label = name if name in WAYS else f"of these: {name}"
        print(f"| {label} | {means} | {rows.min():.1%} to {rows.max():.1%} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2_000)
