"""An expert's way through recorded duels: which is next, and its vote. Terminal and browser share it.

    annotator = Annotator(ledger, votes, "ada", rng)
    shown = annotator.draw()                        # blind, in an order drawn at random
    annotator.cast(shown, "first", at_ms)

A duel is drawn by equal chances among those that the expert neither judged nor played in, so that estimates
from the votes stay unbiased. Whatever the expert says, also that it skips the duel, is durable at once, and
it is not shown again unless asked for.
"""

from __future__ import annotations

from random import Random
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from peerage.ledger import Ledger
from peerage.ledger.topics.series import shown
from peerage.ledger.topics.votes import SKIPPED, PeopleVotes, Vote, expert_voter
from peerage.reading.moment import public
from peerage.reading.verdicts.votes import judged_duels
from peerage.reading.verdicts.votes import votes as cast_by_judges
from peerage.site.people.ballots import BlindPair, ballot, chosen
from peerage.site.people.ballots import Verdict as Compared

Verdict: TypeAlias = Literal[Compared, "skipped"]


class CheckpointShown(NamedTuple):
    """A duel before an expert: its texts, the labels in the order of the answers, and which time it is."""

    ballot: BlindPair
    order: tuple[str, str]
    take: int

    @property
    def answers(self) -> tuple[str, str]:
        """The two answers, the first one first."""
        first, second = self.order
        return self.ballot.answers[first], self.ballot.answers[second]


class Annotator:
    """One expert. `again` shows what it judged before once more, in another order. Reads and writes files."""

    def __init__(
        self, ledger: Ledger, votes: PeopleVotes, name: str, random: Random, *, again: bool = False
    ) -> None:
        self.name = name
        self._ledger = ledger
        self._votes = votes
        self._random = random
        self._again = again
        self._read_until = 0
        self._there: set[int] = set()
        self._incomparable: set[int] = set()

    def draw(self) -> CheckpointShown | None:
        """The next duel; None when none is left. Raises LedgerError."""
        take, left = self._left()
        while left:
            number = self._random.choice(left)
            found = ballot(self._ledger, number)
            if found is not None:
                first, second = self._random.sample(sorted(found.answers), 2)
                return CheckpointShown(found, (first, second), take)
            self._incomparable.add(number)
            left.remove(number)
        return None

    def cast(self, duel: CheckpointShown, verdict: Verdict, at_ms: int) -> None:
        """Record what the expert said. Raises VotedAlready, LedgerError."""
        vote = Vote(
            duel.ballot.match,
            duel.ballot.record,
            duel.order,
            SKIPPED if verdict == "skipped" else chosen(verdict, duel.order),
            expert_voter(self.name, duel.take),
            expert=self.name,
            take=duel.take,
        )
        self._votes.cast(vote, at_ms)

    def progress(self) -> tuple[int, int]:
        """Return how many duels the expert has judged or skipped, and how many there are."""
        self._look()
        return len(self._votes.judged_by(expert_voter(self.name)) & self._there), len(self._there)

    def _left(self) -> tuple[int, list[int]]:
        """Return which take is next, and the duels that it may show."""
        self._look()
        there = self._there - self._incomparable
        judged = self._votes.judged_by(expert_voter(self.name))
        if not self._again:
            return 1, sorted(there - judged)
        skipped = {vote.match for vote in self._votes.votes() if self._mine(vote) and vote.verdict == SKIPPED}
        take, there = 2, there & judged - skipped
        while there and not (left := there - self._votes.judged_by(expert_voter(self.name, take))):
            take += 1
        return take, sorted(left) if there else []

    def _mine(self, vote: Vote) -> bool:
        return vote.expert == self.name

    def _look(self) -> None:
        """Take in what was played since."""
        until = shown(self._ledger)
        if until == self._read_until:
            return
        seen = public(self._ledger)
        cast = cast_by_judges(seen, judged_duels(seen), {})
        own = np.zeros(len(cast.matches), np.bool_)
        if self.name in cast.players:
            place, history = cast.players.index(self.name), cast.history
            own |= (history.first == place) | (history.second == place)
        if self.name in cast.judges:
            own |= cast.judge == cast.judges.index(self.name)
        self._there = {*cast.matches.tolist()} - {*cast.matches[own].tolist()}
        self._read_until = until
