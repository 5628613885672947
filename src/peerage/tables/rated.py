"""What a track of the leaderboard gives: everybody's rating with its interval, and what to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from peerage.ratings.bradley_terry import BradleyTerry
from peerage.ratings.claims import gap_needed, told_apart
from peerage.ratings.clusters import FEWEST
from peerage.ratings.history import Duels, met_by_pair
from peerage.ratings.judges import JudgeAware
from peerage.ratings.kernels import Floats
from peerage.ratings.table import Z95, known
from peerage.tables.played import ELSEWHERE

Value = TypeVar("Value")

NO_COST = "neither cost nor the spread of ratings to neighbours (propagation) enters"
NO_ORDER = f"neither the order of matches nor {NO_COST.removeprefix('neither ')}"


@dataclass(frozen=True)
class Ratings:
    """A track's ratings of `players`, in their order, with standard errors: the 95% interval is `center`, or
    without one the rating, give or take 1.96 of these, within `limits`, NaN where too little is known.

    `apart` gives `above`, a boolean matrix, [i, j] when i is better than j at 95%, for all pairs together and
    at every look (`ratings.claims`): what follows ratings through time has no use for it. `mu` and `sigma`
    are the method's own scale, where it has one. `start` is where a player without a match stands.
    Of ratings which vary together, where it is known: `covariance` is theirs, `met` how often each two met,
    and `needed` gives how far apart a claim needs them.
    """

    players: tuple[str, ...]
    rating: Floats
    error: Floats
    apart: Callable[[], np.ndarray]
    notes: tuple[str, ...]
    start: float = 1500.0
    mu: Floats | None = None
    sigma: Floats | None = None
    center: Floats | None = None
    limits: tuple[float, float] = (-np.inf, np.inf)
    covariance: Floats | None = None
    met: Floats | None = None
    needed: Callable[[], Floats] | None = None

    @cached_property
    def above(self) -> np.ndarray:
        return self.apart()

    @property
    def middle(self) -> Floats:
        """What the intervals are of."""
        return self.rating if self.center is None else self.center

    @property
    def bounded(self) -> tuple[list[float], list[float | None], list[float | None]]:
        """Ratings, and the lower and upper bounds of their intervals, None where too little is known."""
        lower, upper = self.middle - Z95 * self.error, self.middle + Z95 * self.error
        return self.rating.tolist(), known(np.clip(lower, *self.limits)), known(np.clip(upper, *self.limits))


def of_odds(
    players: Iterable[str],
    table: BradleyTerry | JudgeAware,
    upper: Floats,
    notes: Iterable[str],
    history: Duels | None = None,
) -> Ratings:
    """A table of Bradley-Terry as a track's ratings; `upper` bounds them at 95%. `history` says who met whom,
    where that is simple."""
    error = (upper - table.rating) / Z95
    apart = partial(told_apart, table.rating, table.covariance, table.freedom)
    return Ratings(
        tuple(players),
        table.rating,
        error,
        apart,
        (*notes, NO_ORDER),
        covariance=table.covariance,
        met=None if history is None else met_by_pair(history, history.weight),
        needed=partial(gap_needed, table.covariance, table.freedom),
    )


def too_few(table: BradleyTerry, clusters: str) -> list[str]:
    """A warning where there are too few clusters, named in the plural, for intervals."""
    if not table.clusters or min(table.clusters) >= FEWEST:
        return []
    return [
        f"fewer than {FEWEST} {clusters} cannot tell how far off ratings are: no intervals, and every rank "
        "stays possible"
    ]


def here(found: Mapping[str, Value]) -> dict[str, Value]:
    """What is known of players on the side asked for (`played.by_side`)."""
    return {name: value for name, value in found.items() if ELSEWHERE not in name}


def on_side(rated: Ratings) -> Ratings:
    """The ratings of those on the side asked for, rated together with the others."""
    kept = [at for at, name in enumerate(rated.players) if ELSEWHERE not in name]

    def some(values: Any) -> Any:
        return None if values is None else np.asarray(values)[kept]

    return replace(
        rated,
        players=tuple([rated.players[at] for at in kept]),
        rating=some(rated.rating),
        error=some(rated.error),
        apart=lambda: rated.above[np.ix_(kept, kept)],
        mu=some(rated.mu),
        sigma=some(rated.sigma),
        center=some(rated.center),
    )
