"""Accuracy of players on tasks with a check: averages, intervals, and how often these hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import beta

from peerage.ratings.accuracy import (
    Accuracy,
    OnTask,
    accuracies,
    beta_quantile,
    bounds,
    difference,
    gap_bounds,
)


def of(*means: float, answers: int = 1, weights: Sequence[float] = ()) -> Accuracy:
    each = [
        OnTask(mean * answers, answers, weight)
        for mean, weight in zip(means, weights or [1.0] * len(means), strict=True)
    ]
    (found,) = accuracies([each])
    assert found is not None
    return found


def test_answers_to_one_task_are_averaged_first_and_tasks_by_weight() -> None:
    (found,) = accuracies([[OnTask(1.0, 1), OnTask(2.0, 8)]])
    assert found is not None
    assert (found.accuracy, found.tasks, found.answers) == (0.625, 2, 9)
    assert of(1.0, 0.0, weights=(3, 1)).accuracy == 0.75
    assert of(1.0, 0.0, 0.5, weights=(2, 2, 2)) == of(1.0, 0.0, 0.5)


def test_who_answered_nothing_has_no_accuracy() -> None:
    assert accuracies([[], [OnTask()], [OnTask(1, 1)]])[:2] == [None, None]
    assert accuracies([]) == []


@pytest.mark.parametrize(
    ("right", "tasks"), [(0, 10), (10, 10), (7, 10), (57, 60), (1, 1), (0, 1), (999, 1000)]
)
def test_one_answer_to_each_task_has_the_exact_interval(right: int, tasks: int) -> None:
    found = of(*[1.0] * right, *[0.0] * (tasks - right))
    low = beta.ppf(0.025, right, tasks - right + 1) if right else 0.0
    high = beta.ppf(0.975, right + 1, tasks - right) if right < tasks else 1.0
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-10)


def test_many_answers_to_few_tasks_stay_few_tasks() -> None:
    once, often = of(*[1.0] * 10), of(*[1.0] * 10, answers=20)
    assert (often.lower, often.upper) == (once.lower, once.upper)
    same = of(*[1.0] * 7, *[0.0] * 3, answers=20)
    assert (same.lower, same.upper) == pytest.approx((0.3475, 0.9333), abs=1e-3)
    spread = of(*[0.7] * 10, answers=20)
    assert spread.upper - spread.lower < 0.6 * (same.upper - same.lower)


def test_heavy_tasks_are_fewer_tasks() -> None:
    even, uneven = of(*[1.0] * 10), of(*[1.0] * 10, weights=[50] + [1] * 9)
    assert uneven.lower < even.lower - 0.2


def test_the_interval_holds_its_accuracy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        tasks = int(rng.integers(1, 9))
        found = of(*rng.random(tasks).tolist(), weights=rng.integers(1, 9, tasks).tolist())
        assert 0 <= found.lower <= found.accuracy <= found.upper <= 1


@pytest.mark.parametrize(
    ("tasks", "true", "rho", "answers"),
    [(60, 0.95, 0.5, 20), (60, 0.98, 0.5, 20), (20, 0.9, 0.5, 20), (10, 0.9, 0.5, 20), (60, 0.5, 0.05, 5)],
)
def test_intervals_hold_in_the_hardest_cells_of_the_bench(
    tasks: int, true: float, rho: float, answers: int
) -> None:
    rng = np.random.default_rng(tasks + answers)
    size = 1 / rho - 1
    chances = rng.beta(true * size, (1 - true) * size, (3_000, tasks))
    means = rng.binomial(answers, chances) / answers
    middle = means.mean(axis=1)
    lower, upper = bounds(middle, means.var(axis=1), np.full(len(middle), tasks))
    held = ((lower <= true) & (true <= upper)).mean()
    assert held >= 0.925
    # Every task as one answer would hold as well, and be wider.
    cautious, _ = bounds(middle, middle * (1 - middle), np.full(len(middle), tasks))
    assert lower.mean() > cautious.mean() + 0.01


def test_the_difference_is_paired_by_task() -> None:
    hard = {str(at): OnTask(0.0, 1) for at in range(20)}
    easy = {str(at): OnTask(1.0, 1) for at in range(20, 40)}
    found = difference(hard | easy, hard | easy)
    assert found is not None
    assert (found.difference, found.tasks) == (0.0, 40)
    assert 0.04 < found.upper == -found.lower < 0.08
    better = difference(hard | easy, hard | {key: OnTask(0.0, 1) for key in easy})
    assert better is not None
    assert better.difference == 0.5
    assert 0.25 < better.lower < 0.5 < better.upper < 0.7


def test_only_tasks_of_both_count_in_a_difference() -> None:
    assert difference({"a": OnTask(1, 1)}, {"b": OnTask(1, 1)}) is None
    assert difference({"a": OnTask(1, 1), "b": OnTask()}, {"b": OnTask(1, 1)}) is None
    alone = difference({"a": OnTask(1, 1), "c": OnTask(0, 1)}, {"a": OnTask(0, 1), "b": OnTask(1, 1)})
    assert alone is not None
    assert (alone.difference, alone.lower, alone.upper, alone.tasks) == (1.0, -1.0, 1.0, 1)


def test_a_difference_of_one_way_wins_is_held() -> None:
    rng = np.random.default_rng(5)
    gaps = (rng.random((4_000, 20)) < 0.1) * 1.0
    middle = gaps.mean(axis=1)
    lower, upper = gap_bounds(middle, (gaps**2).mean(axis=1), np.full(len(middle), 20))
    assert ((lower <= 0.1) & (upper >= 0.1)).mean() >= 0.93


def test_quantiles_of_beta_are_scipys() -> None:
    rng = np.random.default_rng(2)
    a, b = 10 ** rng.uniform(-1.5, 3.5, (2, 400))
    for chance in (0.025, 0.5, 0.975):
        assert beta_quantile(chance, a, b) == pytest.approx(beta.ppf(chance, a, b), abs=1e-9)
