"""Chances, bins, tiers and proven differences of a scope, the same in every table of its matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.claims.proven import Claims
from peerage.ratings.strength.posterior import Bin, Strengths, sort_out
from peerage.views.leaderboard.overall import GameStrengths

TIERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LIKELY = 0.95
"""The least chance of an order over several games from which on a proof from all matches is said of it."""


@dataclass(frozen=True, eq=False)
class Chances:
    """Chances of `players`, in their order: to be the `best`, to be `better` than each other one, and the
    share of matches that each `wins` against each other one, 0 to 1; `order` sorts them, the highest first.
    `gives_up` says by how much, in `unit`, a player is below the best one at most, with 95%. `prove` gives
    what is proven of who is above whom."""

    players: tuple[str, ...]
    order: Floats
    best: Floats
    better: Floats
    wins: Floats
    gives_up: Callable[[int], float]
    prove: Callable[[], Claims]
    unit: Literal["points", "percentage points"] = "points"

    @cached_property
    def above(self) -> np.ndarray:
        """The proven differences, [i, j] when i is above j; never against the likelier order."""
        return np.asarray(self.claims.these & (self.better > 0.5))

    @cached_property
    def claims(self) -> Claims:
        return self.prove()

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """Everybody's bin; a player proven below the pick is out."""
        found = sort_out(self.best, self.better)
        below = self.above[found.index("pick")] if found else ()
        return tuple(["out" if worse else bin for bin, worse in zip(found, below, strict=True)])

    @property
    def pick(self) -> str:
        """The player to pick; empty where there is none."""
        return self.players[self.bins.index("pick")] if self.players else ""

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """Everybody's tier, A the highest: nobody is proven below a player of a lower one, nor of its own. In
        the order of players a tier goes on until somebody is proven below one of its players. A player proven
        below one further down goes down with it."""
        tier = np.zeros(len(self.players), np.int64)
        current: list[int] = []
        level = 0
        for player in np.argsort(-self.order, kind="stable").tolist():
            if self.above[current, player].any():
                current, level = [], level + 1
            current.append(player)
            tier[player] = level
        while True:
            least = np.where(self.above, tier[:, None] + 1, 0).max(axis=0, initial=0)
            if (least <= tier).all():
                break
            tier = np.maximum(tier, least)
        taken = np.unique(tier, return_inverse=True)[1]
        return tuple([TIERS[min(one, len(TIERS) - 1)] for one in taken.tolist()])

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The players, the highest first, equals by name."""
        found = sorted(zip((-self.order).tolist(), self.players, strict=True))
        return tuple([player for _, player in found])

    def binned(self, bin: Bin) -> tuple[str, ...]:
        """The players in a bin, the highest first."""
        return tuple([player for player in self.ranked if self.bins[self.of(player)] == bin])

    def below(self, player: str) -> tuple[str, ...]:
        """Those whom a player is proven to be better than, the highest first."""
        proven = self.above[self.of(player)].tolist()
        return tuple([other for other in self.ranked if proven[self.of(other)]])

    def of(self, player: str) -> int:
        """The place of a player by name."""
        return self._places[player]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {player: place for place, player in enumerate(self.players)}

    def only(self, kept: Sequence[int]) -> Chances:
        """The chances of some of the players among themselves."""
        at = np.ix_(kept, kept)
        best = self.best[list(kept)]
        return replace(
            self,
            players=tuple([self.players[one] for one in kept]),
            order=self.order[list(kept)],
            best=best / max(float(best.sum()), 1e-300),
            better=self.better[at],
            wins=self.wins[at],
            gives_up=lambda player: self.gives_up(kept[player]),
            prove=lambda: Claims(self.claims.these[at], self.claims.alike[at]),
        )


def of_strengths(players: Sequence[str], found: Strengths, prove: Callable[[], Claims]) -> Chances:
    """The chances of strengths in one pool of matches."""
    return Chances(
        players=tuple(players),
        order=found.rating,
        best=found.best,
        better=found.better,
        wins=found.wins,
        gives_up=found.gives_up,
        prove=prove,
    )


def of_games(found: GameStrengths, prove: Callable[[], Claims]) -> Chances:
    """The chances over several games, each weighing its part: of shares of wins. What all matches together
    prove is said where it is likely over games too, whose weights may differ from their matches."""
    whole, n = found.whole, len(found.players)

    def likely_too() -> Claims:
        these, alike = (one & (whole.better >= _LIKELY) for one in prove())
        return Claims(these, alike)

    wins = sum([found.parts[game] * one.wins for game, one in found.strengths.items()], np.zeros((n, n)))
    return Chances(
        players=found.players,
        order=whole.share,
        best=whole.best,
        better=whole.better,
        wins=wins,
        gives_up=lambda player: 100 * whole.gives_up(player),
        prove=likely_too,
        unit="percentage points",
    )
