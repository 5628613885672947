"""Whether a match may begin and a call be sent: the fixture playable here, the budget large enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from peerage.engine.admission import usual_cost, worst_cost
from peerage.engine.answers import Line
from peerage.engine.budget import Budget, Verdict
from peerage.engine.pending import Pending
from peerage.engine.recovery import MATCH_BUDGET, PLAYER_BUDGET
from peerage.games.game import GameSpec
from peerage.ledger.store import Exchange
from peerage.match import Fixture


class Gate:
    """Lets matches in by what they may cost. `ended(note)` is called when the budget ends the run.

    `settings` are those that fixtures are issued with now, already read as `rules`. `patience` is how many
    matches in a row may be void for want of money before that, too, ends the run; `unaffordable` of them
    were so when the run began.
    """

    def __init__(
        self,
        spec: GameSpec[Any],
        rules: Any,
        settings: Mapping[str, Any],
        lines: Mapping[str, Line],
        budget: Budget,
        patience: int,
        unaffordable: int,
        ended: Callable[[str], None],
    ) -> None:
        self._spec = spec
        self._rules = rules
        self._settings = settings
        self._lines = lines
        self._budget = budget
        self._patience = patience
        self._unaffordable = unaffordable
        self._ended = ended
        self._rules_of: dict[str, Any] = {}

    def rules_of(self, fixture: Fixture) -> Any:
        """The rules a fixture was issued with."""
        if fixture.settings is self._settings:
            return self._rules
        text = repr(sorted(fixture.settings.items()))
        if text not in self._rules_of:
            self._rules_of[text] = self._spec.rules.model_validate(fixture.settings)
        return self._rules_of[text]

    def admit(self, fixture: Fixture, recorded: Iterable[Exchange], *, alone: bool) -> str | None:
        """Why a match is void, "" when it may start, None when it must wait. `alone`: no other runs."""
        unplayable = self._unplayable(fixture)
        if unplayable or not self._budget.bounded:
            return unplayable
        return self._afford(fixture, recorded, alone)

    def _unplayable(self, fixture: Fixture) -> str:
        """Why a fixture of an earlier run can no longer be played, or ""."""
        if (fixture.game, fixture.version) != (self._spec.name, self._spec.version):
            return f"not playable here: {fixture.game} version {fixture.version}"
        withdrawn = [seat.player for seat in fixture.seats if seat.player not in self._lines]
        return f"withdrawn: {', '.join(withdrawn)}" if withdrawn else ""

    def _afford(self, fixture: Fixture, recorded: Iterable[Exchange], alone: bool) -> str | None:
        """Set the match's worst cost aside, or nothing when it may only be played call by call."""
        number, rules = fixture.number, self.rules_of(fixture)
        worst = worst_cost(self._spec, rules, fixture, self._lines, recorded)
        verdict, player = self._budget.may_start(number, worst)
        if verdict is Verdict.YES:
            self._unaffordable = 0
            self._budget.hold(number, worst)
            return ""
        most = sum(worst.values())
        if verdict in (Verdict.MATCH, Verdict.PLAYER, Verdict.ARENA):
            usual = usual_cost(self._spec, rules, fixture, self._lines)
            most = sum(usual.values())
            verdict, player = self._budget.may_start_lean(number, usual)
            if verdict is Verdict.YES:
                self._unaffordable = 0
                self._budget.hold_nothing(number)
                return ""
        if verdict in (Verdict.MATCH, Verdict.PLAYER):
            void = MATCH_BUDGET if verdict is Verdict.MATCH else f"{PLAYER_BUDGET}{player}"
            # Beyond what was issued before a spent player could be left out, there is no end to this.
            if self._unaffordable < self._patience:
                self._unaffordable += 1
                return void
            if alone:
                note = f"none of the last {self._unaffordable} matches could be paid for ({void})"
                self._ended(f"{note}; one more may cost up to {_dollars(most)}")
        elif verdict is Verdict.ARENA:
            self._ended(f"{self._left()} left; one more match may cost up to {_dollars(most)}")
        return None

    def cover(self, pending: Pending, worst_nano: Callable[[Pending], int]) -> Verdict:
        """Whether the budget covers a call; a match that is not lean was covered when it began."""
        if not self._budget.lean(pending.match):
            return Verdict.YES
        worst = worst_nano(pending)
        verdict = self._budget.cover(pending.match, pending.player, worst)
        if verdict is Verdict.ARENA:
            call = f"the next call of match {pending.match}"
            self._ended(f"{self._left()} left; {call} may cost up to {_dollars(worst)}")
        return verdict

    def _left(self) -> str:
        return _dollars(max(0, (self._budget.limit or 0) - self._budget.spent))


def _dollars(nano: int) -> str:
    return f"${nano / 1e9:.4f}"
