"""Tasks of the package `reasoning-gym` as families of puzzles: an allow-list, each proven by test.

On the list are those whose answers are single and short, so that the one rule of `puzzles.READING` decides,
whose texts say how to answer, and which hardly ever come twice. A task's size is the library's own, whatever
the level.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np

from peerage.games.logic.puzzles import Family

GYM = "reasoning-gym"
TASKS = (
    "aiw", "base_conversion", "basic_arithmetic", "binary_alternation", "binary_matrix", "bitwise_arithmetic",
    "calendar_arithmetic", "chain_sum", "color_cube_rotation", "count_bits", "count_primes", "maze",
    "needle_haystack", "path_star", "rotate_matrix", "simple_equations", "simple_geometry", "spell_backward",
    "spiral_matrix", "string_insertion", "string_manipulation", "word_sequence_reversal", "word_sorting",
)  # fmt: skip
_ITEMS = 10**9


def installed() -> bool:
    return find_spec("reasoning_gym") is not None


def _drawn(task: str, rng: Random, level: int) -> tuple[str, str]:
    """One item of a task's dataset. ImportError where the library is not installed."""
    with fenced():
        item = _dataset(task)[rng.randrange(_ITEMS)]
    return str(item["question"]).strip(), " ".join(str(item["answer"]).split())


@cache
def _dataset(task: str) -> Any:
    """A task's dataset: item n follows from n alone, and is made when it is asked for."""
    from reasoning_gym.factory import create_dataset

    return create_dataset(task, seed=0, size=_ITEMS)


@contextmanager
def fenced() -> Iterator[None]:
    """Leave no trace on the random numbers that all share: the library draws some when it is imported."""
    before, numpys = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpys)


GYM_FAMILIES: dict[str, Family] = {f"{GYM}:{task}": partial(_drawn, task) for task in TASKS}
