"""Finished matches as pages tell them: what was asked in which order, what each seat saw and said.

Like `tables.transcript`, for thousands of matches: a request is told by what filled it, which the pages link
to, and is not rendered word for word; its templates stand once, on the page of methods. House answers' hidden
quality never appears.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from peerage.ledger.codec import read_form, read_templates
from peerage.ledger.store import Ledger
from peerage.match import Seat
from peerage.protocol import Role
from peerage.tables.finished import Finished, Matches, Step

FORM = '{"role":'
"""How a stored form begins."""


class Form(NamedTuple):
    """What many requests share: the digest that they name it by (hex), and its messages with their places."""

    digest: str
    role: Role
    messages: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Story:
    """A finished match as it is told."""

    match: Finished

    @property
    def number(self) -> int:
        return self.match.record.number

    @cached_property
    def steps(self) -> dict[str, Step]:
        """What was asked, in that order, by key: of several attempts the answered one."""
        found: dict[str, Step] = {}
        for step in self.match.steps:
            known = found.get(step.key)
            if known is None or known.said is None:
                found[step.key] = step
        return found

    @cached_property
    def attempts(self) -> Counter[str]:
        """How often each request was sent, by key."""
        return Counter([step.key for step in self.match.steps])

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each step, counted from 1, by its request's key."""
        return {key: place for place, key in enumerate(self.steps, 1)}

    @property
    def task(self) -> str:
        """What was drawn for the match or given by the user, where nobody wrote it."""
        drawn = self.match.fixture.drawn
        return next((str(drawn[what]) for what in ("statement", "prompt") if what in drawn), "")

    @property
    def programs(self) -> list[tuple[str, int | None, str, list[str]]]:
        """Contestants' programs: player, bytes (None without one), what came of it, each test's verdict."""
        found: dict[str, Any] = self.match.record.outcome.detail.get("programs", {})
        players = self.match.players
        return [(players[label], one["bytes"], one["result"], one["tests"]) for label, one in found.items()]

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """What judges' replies said, by key: the preferred contestant by its own label, whatever label the
        judge saw it under."""
        players = self.match.players
        return {
            f"{ballot.judge}/{order}": f"for {verdict}, {players[verdict]}" if verdict in players else verdict
            for ballot in self.match.ballots
            for order, verdict in ballot.verdicts.items()
        }

    @property
    def verdict(self) -> str:
        """What the match came to, in words."""
        outcome = self.match.record.outcome
        if outcome.void:
            return f"void: {outcome.void}"
        if not self.contestants:  # nobody plays where recorded answers are judged
            authors = [f"{player} ({label})" for label, player in self.match.fixture.drawn["authors"].items()]
            found = f"{100 * float(outcome.detail['share']):.0f} % for the first"
            return f"answers of {' and '.join(authors)} judged again: {found}"
        winners = [seat.player for seat in self.contestants if outcome.scores.get(seat.label) == self.best]
        what = f"{winners[0]} wins" if len(winners) == 1 else f"a tie of {' and '.join(winners)}"
        if lost := self.unranked:
            is_are = "is" if len(lost) == 1 else "are"
            what += f" ({' and '.join(lost)} {is_are} unranked: the provider failed)"
        decided, share = outcome.detail.get("decided"), outcome.detail.get("share")
        if isinstance(share, float) and len(self.match.fixture.seats) == 2:
            share = max(share, 1 - share)
            return f"{what}, {decided} with {100 * share:.0f} % of their weight"
        return f"{what}, {decided}" if decided else what

    @cached_property
    def best(self) -> float:
        """The best score."""
        return max(self.match.record.outcome.scores.values(), default=0.0)

    @cached_property
    def contestants(self) -> tuple[Seat, ...]:
        """The contestants, the best score first, those without one last."""
        scores = self.match.record.outcome.scores
        worst = float("-inf")
        return tuple(sorted(self.match.fixture.seats, key=lambda seat: -scores.get(seat.label, worst)))

    @cached_property
    def unranked(self) -> list[str]:
        """The players without whom a decided match went on."""
        outcome = self.match.record.outcome
        return [
            seat.player
            for seat in self.match.fixture.seats
            if not outcome.void and seat.label not in outcome.scores
        ]


class Reader:
    """Reads stories from a ledger whose texts it holds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._matches = Matches(ledger)
        self._first = 1
        self._held: list[Finished] = []

    def hold(self, first: int, last: int) -> None:
        """Read these matches now and keep them, until others are held: whatever is told of them comes from
        there."""
        self._held = []
        self._first, self._held = first, list(self._matches.read(first, last))

    def matches(self, first: int, last: int) -> Iterable[Finished]:
        """The finished matches first..last. Raises LedgerError when rows are missing."""
        if self._first <= first and last < self._first + len(self._held):
            return self._held[first - self._first : last - self._first + 1]
        return self._matches.read(first, last)

    def stories(self, first: int, last: int) -> Iterator[Story]:
        """The stories of the finished matches first..last. Raises LedgerError when rows are missing."""
        return map(Story, self.matches(first, last))

    def forms(self) -> list[Form]:
        """Every form of request on record, by role."""
        found: list[Form] = []
        for digest, text in self._ledger.texts().items():
            if text.startswith(FORM):
                with suppress(msgspec.MsgspecError):  # something else that begins like one
                    found.append(Form(digest.hex(), read_form(text)[0], read_templates(text)))
        return sorted(found, key=attrgetter("role", "digest"))
