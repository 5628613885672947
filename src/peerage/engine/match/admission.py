"""Admission of matches, as far as money goes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from peerage.engine.calls.budget import PLAYER_BUDGET, Affordable, Budget, dollars
from peerage.engine.calls.call_costs import Share
from peerage.engine.match.plans import Plans, one_more
from peerage.game.match import Fixture
from peerage.values.figures import counted


class Admission:
    """Admits matches one by one. `short`: the last one asked about waits for money. `over` says why no more
    can be paid for, while nothing is under way; empty as long as some can. `unpaid` counts the last matches
    in a row that could not be paid for."""

    def __init__(self, budget: Budget, plans: Plans, unpaid: int) -> None:
        self.short = False
        self.over = ""
        self._budget = budget
        self._plans = plans
        self._unpaid = unpaid

    def void_or_begin(
        self, fixture: Fixture, *, begun: bool, alone: bool, stopped: bool, patience: int
    ) -> str | None:
        """Return why a match has no result, "" when it may begin, None when it must wait.

        `begun`: it has begun before. `alone`: none is under way. `stopped`: the arena's limit has stopped
        one. A match that its own or a player's limit cannot pay for is void; beyond what was issued before a
        spent player could be left out, more than `patience` in a row, there is no end to this.
        """
        if impossible := self._plans.impossible(fixture):
            return impossible
        if not self._budget.bounded:
            return ""
        plan = self._plans.of(fixture)
        if not begun:
            if stopped:
                return None
            verdict, player = self._budget.admit(plan, fixture.game)
            if verdict in (Affordable.MATCH, Affordable.PLAYER):
                void = verdict.value if not player else f"{PLAYER_BUDGET}{player}"
                return self._not_begun(plan, void, alone, patience)
            if verdict is Affordable.ARENA and alone:
                self.over = f"{dollars(self._budget.left)} left; {one_more(self._budget, plan)}"
            self.short = verdict is not Affordable.YES
            if self.short:
                return None
        self._unpaid = 0
        self._budget.open(fixture.number, plan, fixture.game)
        return ""

    def _not_begun(self, plan: Mapping[str, Share], void: str, alone: bool, patience: int) -> str | None:
        if self._unpaid < patience:
            self._unpaid += 1
            return void
        if alone:
            why = f"none of the last {counted(self._unpaid, 'match')} could be paid for ({void})"
            self.over = f"{why}; {one_more(self._budget, plan)}"
        return None
