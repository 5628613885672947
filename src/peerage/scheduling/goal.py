"""The goal of a run, and how much of it is known: a fold of matches. Pure.

    >>> known = Known(Goal("top", 1), ("Ada", "Bo"))
    >>> for _ in range(12):
    ...     known.note(EndedMatch("duel", ("Ada", "Bo"), (1.0, 0.0)))
    >>> known.state.pairs, known.state.in_words
    ((1, 1), 'Ada is the best')

A goal needs the order of some pairs of players. The order of a pair is known when it is proven
(`ratings.claims.proven`) or, where a goal has a tolerance, when an error is hardly larger (`settled`). All
decided matches count alike, of whatever game; those of a series are one bet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from peerage.ratings.arrays import Floats
from peerage.ratings.claims.proven import proven
from peerage.ratings.columns.history import Game, duels, games
from peerage.ratings.strength.evidence import Evidence, of_duels, of_games
from peerage.ratings.strength.posterior import Strengths, strengths
from peerage.ratings.table import POINTS
from peerage.scheduling.adaptive import between
from peerage.scheduling.standing import EndedMatch, Goal, Results
from peerage.scheduling.strengths import fit, won_and_tied
from peerage.values.figures import counted

ERROR = 0.05
"""The chance that an order which is known to a tolerance is wrong by more than that."""
_SEED = 1


class GoalState(NamedTuple):
    """The number of `pairs` that a goal needs and that are known, and of how many, after so many decided
    `matches`; `in_words` states the goal reached, or what it lacks."""

    pairs: tuple[int, int]
    matches: int
    in_words: str

    @property
    def reached(self) -> bool:
        known, needed = self.pairs
        return known == needed


def settled(above: np.ndarray, goal: Goal, fitted: Strengths | None) -> np.ndarray:
    """Return for which pairs it is known who is better, both ways round: it is proven (`above`), or the goal
    has a tolerance and the strengths that were `fitted` say that the order is wrong by more than that with 5%
    at most for all pairs of a player together."""
    known = above | above.T
    if goal.within and fitted is not None and fitted.players > 1:
        gap = np.abs(fitted.rating[:, None] - fitted.rating) + goal.within
        known |= gap > POINTS * far_enough(fitted.players) * np.sqrt(
            between(np.cov(fitted.draws, rowvar=False))
        )
    return np.asarray(known)


def far_enough(players: int) -> float:
    """Return how many standard deviations an error beyond a tolerance must be away."""
    return NormalDist().inv_cdf(1 - ERROR / max(players - 1, 1))


class Decided:
    """Decided matches as evidence of strength. Those of a series are one bet; games count alike."""

    def __init__(self, players: Sequence[str] = ()) -> None:
        self.players = {player: at for at, player in enumerate(players)}
        """Everybody's number."""
        self._seats: list[tuple[int, ...]] = []
        self._scores: list[tuple[float, ...]] = []
        self._series: list[int] = []

    def __len__(self) -> int:
        return len(self._seats)

    def note(self, match: EndedMatch) -> bool:
        """Take in the next match; return whether it says anything, which one without a result does not."""
        if not len({*match.players}) == len(match.scores) > 1:
            return False
        number = self.players
        self._seats.append(tuple([number.setdefault(player, len(number)) for player in match.players]))
        self._scores.append(match.scores)
        self._series.append(match.series or -len(self._seats))
        return True

    def met(self) -> set[int]:
        """Return who played."""
        return {player for seats in self._seats for player in seats}

    def evidence(self) -> Evidence:
        """Return all of it."""
        clusters = self._series if len({*self._series}) < len(self._series) else None
        if {2} >= {len(seats) for seats in self._seats}:  # the usual case, and quick
            first, second = np.array(self._seats, np.int64).reshape(-1, 2).T
            lead = np.array([own - other for own, other in self._scores], np.float64)
            return of_duels(duels(len(self.players), first, second, (np.sign(lead) + 1) / 2), clusters)
        played = [
            Game(tuple([(seat,) for seat in seats]), tuple([-score for score in scores]))
            for seats, scores in zip(self._seats, self._scores, strict=True)
        ]
        return of_games(games(len(self.players), played), clusters)


class Known:
    """The state of a goal among `players`, match by match."""

    def __init__(self, goal: Goal, players: Sequence[str]) -> None:
        self._goal = goal
        self._players = tuple(players)
        self._decided = Decided(players)
        self._results = Results()
        self._state: GoalState | None = None

    def note(self, match: EndedMatch) -> None:
        """Take in the next match."""
        if self._decided.note(match):
            self._results.note(match.players, match.scores)
            self._state = None

    @property
    def state(self) -> GoalState:
        """After all matches so far."""
        if self._state is None:
            self._state = self._goal_state()
        return self._state

    def _goal_state(self) -> GoalState:
        place, played = self._decided.players, self._decided.evidence()
        above = proven(played)
        fitted = strengths(played, seed=_SEED) if self._goal.within else None
        known = settled(above, self._goal, fitted)
        rating = fitted.rating if fitted is not None else self._fitted()
        met = self._decided.met()
        here = [player for player in self._players if place[player] in met]
        order = sorted(here, key=lambda player: (-rating[place[player]], player))
        order += [player for player in self._players if place[player] not in met]
        pairs = [*_pairs(self._goal, order)]
        unknown = [
            (a, b) for a, b in pairs if not ({place[a], place[b]} <= met and known[place[a], place[b]])
        ]
        words = _in_words(self._goal, order, unknown)
        return GoalState((len(pairs) - len(unknown), len(pairs)), len(self._decided), words)

    def _fitted(self) -> Floats:
        wins, ties = won_and_tied([*self._decided.players], self._results)
        return fit(wins, ties, np.zeros_like(wins)).mean


def _pairs(goal: Goal, order: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs that a goal needs, the better first, players being in this order."""
    if goal.kind == "order":
        yield from combinations(order, 2)
    elif goal.kind == "placed":
        at = order.index(goal.player)
        yield from [(other, goal.player) for other in order[:at]]
        yield from [(goal.player, other) for other in order[at + 1 :]]
    else:
        yield from [(first, other) for first in order[: goal.places] for other in order[goal.places :]]


def _in_words(goal: Goal, order: Sequence[str], unknown: Sequence[tuple[str, str]]) -> str:
    within = f", or wrong by less than {goal.within:g} Elo" if goal.within else ""
    if goal.kind == "placed":
        at, above = order.index(goal.player) + 1, sum(b == goal.player for _, b in unknown)
        below = len(unknown) - above
        if unknown:
            return f"{goal.player} is between place {at - above} and {at + below} of {len(order)}"
        return f"{goal.player} is at place {at} of {len(order)}{within}"
    if goal.kind == "order":
        if not unknown:
            return f"the order is proven{within}"
        named = ", ".join(f"{a} and {b}" for a, b in unknown[:3])
        return f"the order is not proven yet of {named}" + (
            f" and {counted(len(unknown) - 3, 'more pair')}" * (len(unknown) > 3)
        )
    if not unknown:
        first = order[: goal.places]
        return (
            f"{first[0]} is the best{within}" if len(first) == 1 else f"the first are {_and(first)}{within}"
        )
    there = {player for pair in unknown for player in pair}
    sure = [player for player in order[: goal.places] if player not in there]
    maybe = [player for player in order if player in there]
    begin = (
        f"{_and(sure)} {'is' if len(sure) == 1 else 'are'} among the first {goal.places}; " if sure else ""
    )
    what = "the best" if goal.places == 1 else f"among the first {goal.places}"
    return f"{begin}it is not proven yet who is {what} of {_and(maybe)}"


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
