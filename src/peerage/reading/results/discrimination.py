"""Measures of how well a game tells players apart: solved shares, ties, matches that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from peerage.game.levels import AUTO, LEVELS, LevelRules, TaskCredits, read_task_facts
from peerage.games import installed
from peerage.ledger import Ledger, Summary
from peerage.ledger.forms.codec import read_header
from peerage.ratings.strength.posterior import Strengths
from peerage.reading.rows import records_of
from peerage.values.figures import percent

RECENT = 60
"""Newest matches of a game that are looked at."""
FEW_TASKS, FEW_MEETINGS = 10, 60
"""Tasks of a player, and meetings of two, from which on something is said."""
ALL, NONE = 0.98, 0.02
"""Shares of tasks from which on a player solves everything, and up to which nothing."""
SATURATED, TIED = 0.5, 0.7
"""Shares of players who solve everything, and of ties, from which on a game no longer tells them apart."""
SURE = 1.645
"""Standard normal deviate that 5% exceed."""


class Discrimination(NamedTuple):
    """Of so many `players`, those who solved `all_tasks` or `no_task` in the newest matches of a game; 0 of a
    game whose tasks have no levels. `ties` is the share of tied meetings, None of too few."""

    players: int = 0
    all_tasks: int = 0
    no_task: int = 0
    ties: float | None = None

    def remark(self, game: str, rules: Mapping[str, Any]) -> str:
        """Return what is wrong with a game under its rules as stated; empty where it tells players apart."""
        stated = rules.get("difficulty", AUTO)
        if self.players and self.all_tasks >= SATURATED * self.players:
            cure = "raise its `difficulty`" if stated not in (AUTO, LEVELS) else "its tasks go no higher"
            what = f"{self.all_tasks} of {self.players} solve everything"
        elif self.players and self.no_task >= SATURATED * self.players:
            cure = "lower its `difficulty`" if stated not in (AUTO, 1) else "its tasks go no lower"
            what = f"{self.no_task} of {self.players} solve nothing"
        elif self.ties is not None and self.ties >= TIED:
            cure, what = "other games tell more", f"{percent(self.ties)} of its meetings were tied"
        else:
            return ""
        return f"{game} hardly tells players apart any more ({what}): {cure}"


def discrimination(ledger: Ledger, newest: Sequence[Summary]) -> Discrimination:
    """Return how well a game told players apart in its `newest` decided matches. Raises LedgerError."""
    met = [a == b for row in newest for a, b in combinations(row.scores, 2)]
    ties = sum(met) / len(met) if len(met) >= FEW_MEETINGS else None
    spec = installed(newest[-1].game) if newest else None
    if spec is None or not issubclass(spec.rules, LevelRules):
        return Discrimination(ties=ties)
    tasks: dict[str, list[float]] = {}
    for told in _credits(ledger, newest):
        for player, credits in told.credits.items():
            tasks.setdefault(player, []).extend(credits)
    means = [sum(own) / len(own) for own in tasks.values() if len(own) >= FEW_TASKS]
    solved, failed = sum(mean >= ALL for mean in means), sum(mean <= NONE for mean in means)
    return Discrimination(len(means), solved, failed, ties)


def _credits(ledger: Ledger, matches: Sequence[Summary]) -> Iterator[TaskCredits]:
    for record in records_of(ledger, {row.number: row for row in matches}):
        yield from read_task_facts(read_header(record.body).outcome.facts)


def matches_to_tell(strengths: Strengths, matches: int) -> float | None:
    """Return about how many matches tell two typical players apart with 95%, by what `matches` did. A match
    adds as much to the squared ratio of a difference to its error as one did in the mean, of all pairs: their
    sum over pairs, less the 1 that luck adds to each, by match. None where nothing is seen yet."""
    if matches < 1 or strengths.players < 2:
        return None
    first, second = np.triu_indices(strengths.players, 1)
    gaps = strengths.draws[:, first] - strengths.draws[:, second]
    gained = float((gaps.mean(axis=0) ** 2 / np.maximum(gaps.var(axis=0), 1e-12)).mean()) - 1
    return SURE**2 * matches / gained if gained > 0 else None
