"""Ratings: a library that stands alone. Arrays or data frames in, tables out; no model, arena or ledger.

    >>> from peerage import ratings
    >>> report = ratings.rate([{"model_a": "ann", "model_b": "bob", "winner": "model_a"}] * 3)
    >>> [(row["player"], row["rank"]) for row in report.rows]
    [('ann', 1), ('bob', 2)]
    >>> history = ratings.duels(players=2, first=[0] * 20, second=[1] * 20, score=[1] * 17 + [0] * 3)
    >>> [row.rank for row in ratings.fit_duels(history).rows]
    [1, 2]
    >>> bool(ratings.strengths(ratings.of_duels(history), seed=1).best[0] > 0.98)
    True
    >>> bool(ratings.proven(ratings.of_duels(history))[0, 1])
    True

In arrays players are numbers from 0; the caller keeps their names. Folders: `columns` (histories),
`sequential` (Elo, TrueSkill, Glicko-2), `fits` (Bradley-Terry, judges, item response), `strength` (what is
likely), `claims` (what is proven), `read` (files). Needs NumPy, and of ours nothing but `values`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from peerage.ratings.claims.proven import proven
    from peerage.ratings.columns.history import duels, free_for_all, games
    from peerage.ratings.fits.bradley_terry import fit_duels
    from peerage.ratings.fits.regression import fit_clustered, fit_covariates
    from peerage.ratings.frames import history, rate
    from peerage.ratings.methods import Options
    from peerage.ratings.strength.evidence import of_duels, of_games
    from peerage.ratings.strength.posterior import strengths

_HOME = {
    "Options": "methods",
    "duels": "columns.history",
    "fit_clustered": "fits.regression",
    "fit_covariates": "fits.regression",
    "fit_duels": "fits.bradley_terry",
    "free_for_all": "columns.history",
    "games": "columns.history",
    "history": "frames",
    "of_duels": "strength.evidence",
    "of_games": "strength.evidence",
    "proven": "claims.proven",
    "rate": "frames",
    "strengths": "strength.posterior",
}
__all__ = [
    "Options", "duels", "fit_clustered", "fit_covariates", "fit_duels", "free_for_all", "games", "history",
    "of_duels", "of_games", "proven", "rate", "strengths",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a function when it is first asked for: the import alone costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"peerage.ratings.{_HOME[name]}"), name)
