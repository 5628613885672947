"""What a track of the leaderboard gives: everybody's rating with its interval, and what to know of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.fits.bradley_terry import BradleyTerry
from peerage.ratings.fits.clusters import FEWEST
from peerage.ratings.fits.judges import JudgeAware
from peerage.ratings.table import Z95, known
from peerage.reading.results.played import ELSEWHERE

Value = TypeVar("Value")

NO_COST = "neither cost nor the spread of ratings to neighbours (propagation) enters"
NO_ORDER = f"neither the order of matches nor {NO_COST.removeprefix('neither ')}"


@dataclass(frozen=True)
class Ratings:
    """A track's ratings of `players`, in their order, with the `lower` and `upper` bounds of their 95%
    intervals, NaN where too little is known; these are of `center`, or without one of the ratings.

    `mu` and `sigma` are the method's own scale, where it has one. `start` is where a player without a match
    stands.
    """

    players: tuple[str, ...]
    rating: Floats
    lower: Floats
    upper: Floats
    notes: tuple[str, ...]
    start: float = 1500.0
    mu: Floats | None = None
    sigma: Floats | None = None
    center: Floats | None = None

    @property
    def middle(self) -> Floats:
        """What the intervals are of."""
        return self.rating if self.center is None else self.center

    @property
    def bounded(self) -> tuple[list[float], list[float | None], list[float | None]]:
        """Ratings, and the lower and upper bounds of their intervals, None where too little is known."""
        return self.rating.tolist(), known(self.lower), known(self.upper)


def around(center: Floats, error: Floats) -> tuple[Floats, Floats]:
    """The bounds of 95% intervals around these values, from their standard errors."""
    return center - Z95 * error, center + Z95 * error


def of_odds(players: Iterable[str], table: BradleyTerry | JudgeAware, notes: Iterable[str]) -> Ratings:
    """A table of Bradley-Terry as a track's ratings."""
    lower, upper = (table.lower, table.upper) if isinstance(table, BradleyTerry) else table.bounds
    return Ratings(tuple(players), table.rating, lower, upper, (*notes, NO_ORDER))


def too_few(table: BradleyTerry, clusters: str) -> list[str]:
    """A warning where there are too few clusters, named in the plural, for intervals."""
    if not table.clusters or min(table.clusters) >= FEWEST:
        return []
    return [f"fewer than {FEWEST} {clusters} cannot tell how far off ratings are: no intervals"]


def here(found: Mapping[str, Value]) -> dict[str, Value]:
    """What is known of players on the side asked for (`played.by_side`)."""
    return {name: value for name, value in found.items() if ELSEWHERE not in name}


def on_side(rated: Ratings) -> Ratings:
    """The ratings of those on the side asked for, rated together with the others."""
    kept = sided(rated.players)

    def some(values: Any) -> Any:
        return None if values is None else np.asarray(values)[kept]

    return replace(
        rated,
        players=tuple([rated.players[at] for at in kept]),
        **{
            name: some(getattr(rated, name)) for name in ("rating", "lower", "upper", "mu", "sigma", "center")
        },
    )


def sided(players: Iterable[str]) -> list[int]:
    """The places of those on the side asked for."""
    return [at for at, name in enumerate(players) if ELSEWHERE not in name]
