"""Simulated arenas: how narrow intervals are after so many matches, and how well the order agrees with the
truth. Everything follows from a setup and a seed.

    log-odds of judge j for a over b = g_j (s_a - s_b + noise of the match)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import Duels, Game, GameColumns, duels, games, pairings
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.strength.evidence import of_duels, of_games
from peerage.ratings.table import POINTS

_NOISE = 0.5
"""Standard deviation, in log-odds, by which answers are better or worse than their authors."""


class Setup(Struct, frozen=True):
    """An arena to simulate. `players` have skills with a standard deviation of `spread` points, or those of
    `skills` (log-odds), and differ in `discernment`, or have that. `panel` judges, players themselves, vote
    on each duel in both orders, or in one where `once`. Where `seats` is not 0 nobody judges: tables of so
    many are ranked by a referee. Who meets whom is drawn at random."""

    players: int
    matches: int
    spread: float = 150.0
    panel: int = 5
    once: bool = False
    seats: int = 0
    skills: tuple[float, ...] = ()
    discernment: tuple[float, ...] = ()
    seed: int = 0


class Precision(NamedTuple):
    """One simulated arena: the mean half-width of its 95% intervals, in points (infinite or nan where results
    do not tell), Kendall's tau of the order with the truth, and 1 or 0 for whether the `first` is the best
    player and whether it is `proven` to be; tau and first are nan where all are equal."""

    half_width: float
    tau: float
    first: float
    proven: float


def simulated(setup: Setup, number: int) -> Precision:
    """Return what arena `number` of a setup comes to."""
    rng = np.random.default_rng([setup.seed, number])
    drawn = rng.normal(0, setup.spread / POINTS, setup.players), rng.uniform(0.5, 2, setup.players)
    skill, discernment = np.array(setup.skills or drawn[0]), np.array(setup.discernment or drawn[1])
    if setup.seats:
        played = _ranked(setup, rng, skill)
        (history, match), evidence = pairings(played), of_games(played)
    else:
        history, match = _judged(setup, rng, skill, discernment)
        evidence = of_duels(history, match)
    table = fit_clustered(history, match)
    return Precision(
        half_width=float((table.upper - table.lower).mean() / 2),
        tau=tau(table.rating, skill),
        first=float(skill[table.rating.argmax()] == skill.max()) if skill.any() else math.nan,
        proven=float(proven(evidence).sum(axis=1).max() == setup.players - 1),
    )


def _judged(setup: Setup, rng: np.random.Generator, skill: Floats, discernment: Floats) -> tuple[Duels, Ints]:
    """Draw votes of panels, a match's as one. A judge whose verdict flips with the order calls a tie."""
    panel = min(setup.panel, setup.players - 2)
    seated = _seated(setup, rng, panel + 2)
    match = np.repeat(np.arange(setup.matches), panel)
    first, second, judge = seated[match, 0], seated[match, 1], seated[:, 2:].ravel()
    gap = discernment[judge] * (skill[first] - skill[second] + rng.normal(0, _NOISE, setup.matches)[match])
    votes = rng.random((1 if setup.once else 2, len(gap))) < 1 / (1 + np.exp(-gap))
    weight = np.full(len(gap), 1 / panel)
    return duels(setup.players, first, second, votes.mean(axis=0), weight), match


def _ranked(setup: Setup, rng: np.random.Generator, skill: Floats) -> GameColumns:
    """Draw tables ranked by a referee: each pair as in Bradley-Terry (Plackett 1975)."""
    seated = _seated(setup, rng, min(setup.seats, setup.players))
    places = -(skill[seated] + rng.gumbel(size=seated.shape))
    rows = zip(seated.tolist(), places.tolist(), strict=True)
    return games(
        setup.players, [Game(tuple([(seat,) for seat in who]), tuple(how), None, 1.0) for who, how in rows]
    )


def _seated(setup: Setup, rng: np.random.Generator, seats: int) -> Ints:
    return rng.permuted(np.tile(np.arange(setup.players), (setup.matches, 1)), axis=1)[:, :seats]


def tau(rating: Floats, skill: Floats) -> float:
    """Return Kendall's tau of two orders; nan where all are equal in `skill`."""
    upper = np.triu_indices(len(skill), 1)
    signs = [np.sign(each[:, None] - each[None, :])[upper] for each in (rating, skill)]
    return float((signs[0] * signs[1]).mean()) if signs[1].any() else np.nan
