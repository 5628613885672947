"""How hard a challenge is and how well it tells players apart, as attempts by others show. Pure.

The two-parameter logistic model of `ratings.irt`, over everybody's attempts at everything: who solves much is
able, what able players fail is hard. A pass is a challenge not solved. Several attempts of one player at one
challenge count as their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Estimate(NamedTuple):
    """`difficulty` and `discrimination` are b and a of `ratings.irt`, with their standard errors."""

    difficulty: float
    difficulty_error: float
    discrimination: float
    discrimination_error: float


def estimates(answers: Mapping[str, Mapping[str, Sequence[bool]]]) -> dict[str, Estimate]:
    """Estimate from challenge → player → whether it solved it, attempt by attempt."""
    if not answers:
        return {}
    # A command that reads no pool must not wait for NumPy.
    import numpy as np

    from peerage.ratings.irt import fit

    players = {name: at for at, name in enumerate(sorted({name for met in answers.values() for name in met}))}
    matrix = np.full((len(players), len(answers)), np.nan)
    for column, met in enumerate(answers.values()):
        for name, solved in met.items():
            matrix[players[name], column] = sum(solved) / len(solved)
    fitted = fit(matrix)
    columns = zip(
        fitted.difficulty,
        fitted.difficulty_error,
        fitted.discrimination,
        fitted.discrimination_error,
        strict=True,
    )
    return {name: Estimate(*map(float, column)) for name, column in zip(answers, columns, strict=True)}
