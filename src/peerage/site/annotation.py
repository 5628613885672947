"""An expert's way through recorded duels: which is next, and its vote. Terminal and browser share it.

    annotator = Annotator(ledger, votes, "ada", rng)
    shown = annotator.draw()                        # blind, in an order drawn by lot
    annotator.cast(shown, "first", at_ms)

A duel is drawn with a known probability among those that the expert neither judged nor played in, so that
estimates from the votes stay unbiased: by equal chances, or three times in four one on which judges split
or tied. Whatever the expert says, also that it skips the duel, is durable at once, and it is not shown again
unless asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from peerage.ledger.series import shown
from peerage.ledger.store import Ledger, LedgerError
from peerage.ledger.votes import BOTH_BAD, SKIPPED, TIE, PeopleVotes, Sampling, Vote, expert_voter
from peerage.site.ballots import BlindPair, ballot
from peerage.site.ledger_at import public
from peerage.tables.people_votes import split
from peerage.tables.votes import judged_duels
from peerage.tables.votes import votes as cast_by_judges

Verdict: TypeAlias = Literal["first", "second", "tie", "both bad", "skipped"]
TELLING = 0.75
"""How often the most telling are drawn from, while there are both."""


class Shown(NamedTuple):
    """A duel before an expert: its texts, the labels in the order of the answers, and how it was drawn."""

    ballot: BlindPair
    order: tuple[str, str]
    sampling: Sampling
    chance: float | None
    take: int

    @property
    def answers(self) -> tuple[str, str]:
        """The two answers, the first one first."""
        first, second = self.order
        return self.ballot.answers[first], self.ballot.answers[second]


class Annotator:
    """One expert. `telling` prefers the duels on which judges split; `again` shows once more, in another
    order, what the expert judged before. Reads and writes files."""

    def __init__(
        self,
        ledger: Ledger,
        votes: PeopleVotes,
        name: str,
        random: Random,
        *,
        telling: bool = False,
        again: bool = False,
    ) -> None:
        self.name = name
        self._ledger = ledger
        self._votes = votes
        self._random = random
        self._sampling: Sampling = "telling" if telling else "random"
        self._again = again
        self._read_until = 0
        self._split: dict[int, bool] = {}
        self._own: set[int] = set()
        self._incomparable: set[int] = set()

    def draw(self) -> Shown | None:
        """The next duel; None when none is left. Raises LedgerError."""
        take, left = self._left()
        while left:
            number, chance = self._pick(left)
            found = ballot(self._ledger, number)
            if found is not None:
                return self._shown(found, self._sampling, chance, take)
            self._incomparable.add(number)
            left.remove(number)
        return None

    def at(self, number: int) -> Shown:
        """Match `number`, picked by hand. Raises LedgerError where there is nothing to compare, the expert
        took part in it, or judged it before."""
        self._look()
        if number in self._own:
            raise LedgerError(
                f"{self.name} played or judged match {number} itself: it is for others to judge"
            )
        found = ballot(self._ledger, number) if number in self._split else None
        if found is None:
            raise LedgerError(
                f"match {number} is no finished duel of two answers on which judges voted; "
                "`peerage match` shows what it is"
            )
        take = 1
        while self._votes.given(expert_voter(self.name, take), number) is not None:
            if not self._again:
                raise LedgerError(f"{self.name} has judged match {number} before; --again shows it once more")
            take += 1
        return self._shown(found, "chosen", None, take)

    def cast(self, duel: Shown, verdict: Verdict, at_ms: int) -> None:
        """Record what the expert said. Raises VotedAlready, LedgerError."""
        words = {"tie": TIE, "both bad": BOTH_BAD, "skipped": SKIPPED}
        chosen = words.get(verdict) or duel.order[verdict == "second"]
        vote = Vote(
            duel.ballot.match,
            duel.ballot.record,
            duel.order,
            chosen,
            expert_voter(self.name, duel.take),
            expert=self.name,
            take=duel.take,
            sampling=duel.sampling,
            chance=duel.chance,
        )
        self._votes.cast(vote, at_ms)

    def progress(self) -> tuple[int, int]:
        """How many duels the expert has judged or skipped, and how many there are."""
        self._look()
        return len(self._votes.judged_by(expert_voter(self.name)) & self._split.keys()), len(self._split)

    def _left(self) -> tuple[int, list[int]]:
        """Which take is next, and the duels that it may show."""
        self._look()
        there = self._split.keys() - self._incomparable
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

    def _pick(self, left: Sequence[int]) -> tuple[int, float]:
        """A duel, and with what probability it was this one."""
        telling = [number for number in left if self._split[number]]
        others = [number for number in left if not self._split[number]]
        if self._sampling == "random" or not telling or not others:
            return self._random.choice(left), 1 / len(left)
        if self._random.random() < TELLING:
            return self._random.choice(telling), TELLING / len(telling)
        return self._random.choice(others), (1 - TELLING) / len(others)

    def _shown(self, found: BlindPair, sampling: Sampling, chance: float | None, take: int) -> Shown:
        first, second = self._random.sample(sorted(found.answers), 2)
        return Shown(found, (first, second), sampling, chance, take)

    def _look(self) -> None:
        """Take in what was played since."""
        until = shown(self._ledger)
        if until == self._read_until:
            return
        seen = public(self._ledger)
        cast = cast_by_judges(seen, judged_duels(seen), {})
        match, row = np.unique(cast.matches, return_inverse=True)
        mean = np.bincount(row, cast.history.score) / np.bincount(row)
        told = zip(match.tolist(), split(mean).astype(bool).tolist(), strict=True)
        self._own = set[int]()
        if self.name in cast.players:
            place, history = cast.players.index(self.name), cast.history
            self._own.update(cast.matches[(history.first == place) | (history.second == place)].tolist())
        if self.name in cast.judges:
            self._own.update(cast.matches[cast.judge == cast.judges.index(self.name)].tolist())
        self._split = {number: telling for number, telling in told if number not in self._own}
        self._read_until = until
