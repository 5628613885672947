"""Tasks of the package `reasoning-gym` as families of puzzles: an allow-list, each proven by solving.

On the list are those whose answers are single and short, so that one rule (`puzzles.parts`) decides,
whose texts say how to answer and leave one answer, which a solver finds that reads the text alone
(`tests/games/gym_solvers.py`), and whose size the level sets.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from random import Random
from typing import Any

import numpy as np

from peerage.game.levels import SLOPE, USUAL_LEVEL
from peerage.games.logic.puzzles import Family, Puzzle

GYM = "reasoning-gym"
TASKS: Mapping[str, Callable[[int], Mapping[str, Any]]] = {
    "base_conversion": lambda level: _between("value", 10 ** (level + 1), 10 ** (level + 2)),
    "basic_arithmetic": lambda level: {
        "operators": ("+", "-", "*"),
        **_between("terms", level + 1, level + 2),
    },
    "binary_alternation": lambda level: _between("n", 8 * level, 8 * level + 8),
    "binary_matrix": lambda level: _between("n", level + 3, level + 4),
    "bitwise_arithmetic": lambda level: {"difficulty": level},
    "chain_sum": lambda level: _between("terms", 2 * level, 2 * level + 1),
    "count_bits": lambda level: _between("n", 64**level, 64 ** (level + 1)),
    "count_primes": lambda level: _between("n", 1, 200 * 4 ** (level - 1)),
    "path_star": lambda level: {"degree": level + 1, **_between("path_length", level + 1, level + 2)},
    "rotate_matrix": lambda level: _between("n", level + 2, level + 3),
    "simple_equations": lambda level: _between("value", 10 ** (level - 1), 10 ** (level + 1)),
    "spell_backward": lambda level: _between("word_len", level + 3, level + 5),
    "spiral_matrix": lambda level: _between("n", level + 2, level + 3),
    "string_insertion": lambda level: _between("string_length", 15 * level, 15 * level + 15),
    "word_sequence_reversal": lambda level: _between("words", 4 * level, 4 * level + 3),
    "word_sorting": lambda level: _between("words", 4 * level, 4 * level + 3),
}
"""The tasks, and the settings that make them as large as a level says.

Not on the list are tasks whose texts leave two answers (`color_cube_rotation`: which way round the bottom
comes to the top; `maze`: whether steps go diagonally; `needle_haystack`: two people of whom the same is said;
`basic_arithmetic` with `/`: whether it rounds) or none (`simple_geometry`: impossible polygons).
"""
HARDEST = 5
"""The level from which on tasks are no larger: their work is not measured, and each level is a size."""
_ITEMS = 10**9


def _between(what: str, low: int, high: int) -> dict[str, int]:
    return {f"min_{what}": low, f"max_{what}": high}


def installed() -> bool:
    return find_spec("reasoning_gym") is not None


def _drawn(task: str, rng: Random, level: int) -> Puzzle:
    """One item of a task's dataset of that level, or of the hardest. ImportError without the library."""
    level = min(level, HARDEST)
    with fenced():
        item = dataset(task, level)[rng.randrange(_ITEMS)]
    text, answer = str(item["question"]).strip(), " ".join(str(item["answer"]).split())
    return Puzzle(f"{GYM}:{task}", text, answer, level, round(SLOPE * (level - USUAL_LEVEL), 2))


@cache
def dataset(task: str, level: int) -> Any:
    """A task's dataset: item n follows from n and the level alone, and is made when it is asked for."""
    from reasoning_gym.factory import create_dataset

    return create_dataset(task, seed=0, size=_ITEMS, **TASKS[task](level))


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
