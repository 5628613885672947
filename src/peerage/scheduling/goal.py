"""What a run is to find out, and how much of that is known: a fold of matches. Pure.

    >>> known = Known(Goal("top", 1), ("Ada", "Bo"))
    >>> for _ in range(40):
    ...     known.note(Ended("duel", ("Ada", "Bo"), (1.0, 0.0)))
    ...     known.note(Ended("duel", ("Ada", "Bo"), (1.0, 0.0)))
    ...     known.note(Ended("duel", ("Ada", "Bo"), (0.0, 1.0)))
    >>> known.state.pairs, known.state.in_words
    ((1, 1), 'Ada is the best')

A goal is a number of pairs of players whose order it needs. The order of a pair is known when it can be
claimed at every look (`ratings.claims`), or, where a goal has a tolerance, when it is wrong by less than that
if it is wrong. Strengths are those of Bradley and Terry from all decided matches; over several games, the
shares of wins (`ratings.overall`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from peerage.ratings.bradley_terry import Pair, fit, fit_duels
from peerage.ratings.claims import SHARE_UNIT, gap_needed
from peerage.ratings.history import Game, games, pairings
from peerage.ratings.kernels import Floats
from peerage.ratings.overall import GameHistory, combined, shares
from peerage.ratings.regression import fit_clustered
from peerage.ratings.table import POINTS
from peerage.scheduling.standing import Ended, Goal


class State(NamedTuple):
    """How many of the `pairs` that a goal needs are known, and of how many, after so many decided `matches`;
    `in_words` says what is known, or what is not."""

    pairs: tuple[int, int]
    matches: int
    in_words: str

    @property
    def reached(self) -> bool:
        known, needed = self.pairs
        return known == needed


class Known:
    """What is known of a goal among `players`; `weights` say how much each of several games counts."""

    def __init__(self, goal: Goal, players: Sequence[str], weights: Mapping[str, float] = {}) -> None:
        self._goal = goal
        self._players = tuple(players)
        self._weights = weights
        self._matches: list[Ended] = []
        self._place: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], list[int]] = {}
        self._alone = True
        self._state: State | None = None

    def note(self, match: Ended) -> None:
        """Take in the next match; one without a result says nothing."""
        if len({*match.players}) == len(match.scores) > 1:
            self._matches.append(match)
            self._state = None
            for player in match.players:
                self._place.setdefault(player, len(self._place))
            self._alone &= (
                len(match.players) == 2 and not match.series and match.game == self._matches[0].game
            )
            if self._alone:  # counts are enough, and quick
                (a, b), (own, other) = match.players, match.scores
                self._pairs.setdefault((a, b), [0, 0, 0])[0 if own > other else 1 if own < other else 2] += 1

    @property
    def state(self) -> State:
        """After all matches so far."""
        if self._state is None:
            self._state = self._found()
        return self._state

    def _found(self) -> State:
        place = self._place
        here = [player for player in self._players if player in place]
        rating, needed, unit = self._estimates()
        ahead = {
            (a, b): float(rating[place[a]] - rating[place[b]] - needed[place[a], place[b]])
            for a in here
            for b in here
            if a != b
        }
        order = sorted(here, key=lambda player: (-rating[place[player]], player))
        order += [player for player in self._players if player not in place]
        slack = self._goal.within * unit / POINTS
        pairs = [*_pairs(self._goal, order)]
        open_pairs = [
            (a, b) for a, b in pairs if max(ahead.get((a, b), -np.inf), ahead.get((b, a), -np.inf)) <= -slack
        ]
        told = _told(self._goal, order, open_pairs)
        return State((len(pairs) - len(open_pairs), len(pairs)), len(self._matches), told)

    def _estimates(self) -> tuple[Floats, Floats, float]:
        """Ratings, the gaps that claims need, and how many points make one unit of log-odds."""
        if not (self._matches and self._alone):
            return _of_clusters(self._matches, self._place, self._weights)
        counts = [Pair(self._place[a], self._place[b], *found) for (a, b), found in self._pairs.items()]
        table = fit(counts, len(self._place))
        return table.rating, gap_needed(table.covariance), POINTS


def _pairs(goal: Goal, order: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs that a goal needs, the better first, players being in this order."""
    if goal.kind == "order":
        yield from combinations(order, 2)
    elif goal.kind == "placed":
        at = order.index(goal.player)
        yield from [(one, goal.player) for one in order[:at]]
        yield from [(goal.player, one) for one in order[at + 1 :]]
    else:
        yield from [(one, other) for one in order[: goal.places] for other in order[goal.places :]]


def _told(goal: Goal, order: Sequence[str], unknown: Sequence[tuple[str, str]]) -> str:
    within = f", or wrong by less than {goal.within:g} Elo" if goal.within else ""
    if goal.kind == "placed":
        at, above = order.index(goal.player) + 1, sum(b == goal.player for _, b in unknown)
        below = len(unknown) - above
        if unknown:
            return f"{goal.player} is between place {at - above} and {at + below} of {len(order)}"
        return f"{goal.player} is at place {at} of {len(order)}{within}"
    if goal.kind == "order":
        if not unknown:
            return f"the order is known{within}"
        named = ", ".join(f"{a} and {b}" for a, b in unknown[:3])
        return f"the order is not known of {named}" + (
            f" and {len(unknown) - 3} more pairs" * (len(unknown) > 3)
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
    return f"{begin}not known is who is {what} of {_and(maybe)}"


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _of_clusters(
    matches: Sequence[Ended], place: Mapping[str, int], weights: Mapping[str, float]
) -> tuple[Floats, Floats, float]:
    """As `Known._estimates`, where there are several games, or matches of many, or in series."""
    if not matches:
        return np.zeros(0), np.zeros((0, 0)), POINTS
    by_game: dict[str, list[int]] = {}
    for at, one in enumerate(matches):
        by_game.setdefault(one.game, []).append(at)
    histories = []
    for ats in by_game.values():
        ranked = [
            Game(
                tuple([(place[player],) for player in matches[at].players]),
                tuple([-s for s in matches[at].scores]),
            )
            for at in ats
        ]
        history, sources = pairings(games(len(place), ranked))
        labels = np.array([matches[at].series or -at - 1 for at in ats], np.int64)[sources]
        alone = len(np.unique(labels)) == len(labels)
        histories.append(GameHistory(history, None if alone else labels))
    if len(histories) > 1:
        found = [shares(one, len(histories)) for one in histories]
        whole = combined(found, [weights.get(game, 1.0) for game in by_game])
        return whole.share, gap_needed(whole.covariance, unit=SHARE_UNIT), SHARE_UNIT
    alone_game = histories[0]
    if alone_game.sources is None:
        table = fit_duels(alone_game.history)
    else:
        table = fit_clustered(alone_game.history, alone_game.sources)
    return table.rating, gap_needed(table.covariance, table.freedom), POINTS
