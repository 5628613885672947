"""What matches are expected to cost: rules and plan of a fixture, and what earlier runs teach about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peerage.engine.budget import Budget, Share, dollars, shares
from peerage.engine.pricing import PlayerRuntime
from peerage.games import plays
from peerage.ledger.codec import by_hex, read_fixture, read_record
from peerage.ledger.store import Ledger
from peerage.match import Fixture
from peerage.scheduling.fixtures import Scheduler

LEARNED_FROM = 64
"""Last matches of earlier runs from which it is known what a match costs."""


class Plans:
    """The plans of matches that `lines` play, by the rules of now or those that a fixture was issued with."""

    def __init__(self, scheduler: Scheduler, lines: Mapping[str, PlayerRuntime]) -> None:
        self._spec = scheduler.spec
        self._now = scheduler
        self._lines = lines
        self._older: dict[str, Any] = {}

    def rules(self, fixture: Fixture) -> Any:
        """The rules a fixture was issued with."""
        if fixture.settings is self._now.settings:
            return self._now.rules
        text = repr(sorted(fixture.settings.items()))
        if text not in self._older:
            self._older[text] = self._spec.rules.model_validate(fixture.settings)
        return self._older[text]

    def playable(self, fixture: Fixture) -> bool:
        """Whether a fixture is of the game and version at hand."""
        return plays(self._spec, fixture.game, fixture.version, fixture.release)

    def of(self, fixture: Fixture) -> Mapping[str, Share]:
        """What a match is planned to cost, by player."""
        return shares(self._spec, self.rules(fixture), fixture, self._lines)

    def learn(self, ledger: Ledger, budget: Budget, last: int) -> None:
        """Tell the budget what the last matches before the first of this run cost."""
        if not budget.bounded or not last:
            return
        first = max(1, last - LEARNED_FROM + 1)
        texts = by_hex(ledger.texts())
        for issued, row in zip(ledger.fixtures(first, last), ledger.records(first, last), strict=True):
            fixture, record = read_fixture(issued.body, texts), read_record(row.body)
            if not record.outcome.void and self.playable(fixture):
                budget.seen(self.of(fixture), {name: paid.cost_nano for name, paid in record.totals.items()})


def one_more(budget: Budget, plan: Mapping[str, Share]) -> str:
    """What it takes for a match of this plan to begin, for people."""
    usual = sum(budget.expected(plan).values())
    reach = max([share.reach for share in plan.values()], default=0)
    return f"one more match costs some {dollars(usual)}, and begins when {dollars(2 * usual + reach)} is free"
