"""Evidence on strengths from matches, computed once and shared by all tables of these matches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property

from numpy.typing import ArrayLike

from peerage.ratings.arrays import Ints
from peerage.ratings.claims.proven import Claims, claims
from peerage.ratings.columns.history import Duels, GameColumns
from peerage.ratings.strength.evidence import Evidence, of_duels, of_games
from peerage.ratings.strength.pooling import pooled
from peerage.ratings.strength.posterior import Strengths, strengths

SEED = 20240229


class MatchEvidence(ABC):
    """Matches as evidence of strength: of two as duels, of more as rankings; `players` numbers everybody."""

    players: dict[str, int]

    @property
    @abstractmethod
    def history(self) -> Duels:
        """Every match as duels."""

    @property
    @abstractmethod
    def sources(self) -> Ints | None:
        """The match that each duel of `history` is of; None where every match is one duel."""

    @property
    @abstractmethod
    def tables(self) -> GameColumns:
        """Every match with its ranking, whatever its size."""

    @property
    def clusters(self) -> Ints | None:
        """The label of each match's cluster; None where each is its own."""
        return None

    @cached_property
    def hanging(self) -> Ints | None:
        """The same of each duel of `history`."""
        labels = self.clusters
        return labels if labels is None or self.sources is None else labels[self.sources]

    @cached_property
    def evidence(self) -> Evidence:
        return evidence_of(self._duels_alone, lambda: self.tables, self.clusters)

    @property
    def rest(self) -> Evidence | None:
        """Other matches of the same players, on other tasks, from which their strengths borrow."""
        return None

    @cached_property
    def strengths(self) -> Strengths:
        """The posterior of everybody's strength: the same for the same matches."""
        return self.alone if self.rest is None else pooled([self.evidence, self.rest], seed=SEED)[0]

    @cached_property
    def alone(self) -> Strengths:
        """The same by these matches alone, without what they borrow from others."""
        return strengths(self.evidence, seed=SEED)

    @property
    def tasks(self) -> Sequence[str]:
        """The task of each match, or its sort; empty where they are not known."""
        return ()

    @cached_property
    def claims(self) -> Claims:
        """The proven differences, about these tasks and about tasks like these."""
        by_task = None
        if len(self.tasks):
            by_task = evidence_of(self._duels_alone, lambda: self.tables, self.tasks)
        return claims(self.evidence, by_task)

    @property
    def _duels_alone(self) -> Duels | None:
        return self.history if self.sources is None else None


def evidence_of(
    history: Duels | None, tables: Callable[[], GameColumns], clusters: ArrayLike | None
) -> Evidence:
    """Matches as evidence: as duels, or where there are none by their rankings."""
    return of_games(tables(), clusters) if history is None else of_duels(history, clusters)
