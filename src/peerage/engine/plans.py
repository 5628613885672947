"""What matches are expected to cost: rules and plan of a fixture, and what earlier runs teach about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from peerage.engine.budget import Budget, dollars
from peerage.engine.call_costs import Share, shares
from peerage.engine.player_runtime import PlayerRuntime
from peerage.engine.policy import policy_of
from peerage.games import GAMES, plays
from peerage.games.game import GameSpec
from peerage.ledger.codec import by_hex, read_fixture, read_record
from peerage.ledger.store import Ledger
from peerage.match import Fixture
from peerage.scheduling.fixtures import Scheduler
from peerage.settings import ArenaSettings, rules_of

LEARNED_FROM = 64
"""Last matches of earlier runs from which it is known what a match costs."""


def schedulers(settings: ArenaSettings, secret: str) -> dict[str, Scheduler]:
    """What pairs each game of an arena, by name. Raises SettingsError where a game's rules are wrong."""
    pairing, policy = settings.pairing, policy_of(settings)
    return {
        name: Scheduler.of(
            GAMES[name],
            GAMES[name].frozen(rules_of(settings, name)) if policy.player else rules_of(settings, name),
            secret,
            policy,
            pairing.series,
            one.weight,
            pairing.slots,
        )
        for name, one in settings.lineup.items()
    }


class Plans:
    """The plans of matches that `runtimes` play, by the rules of now or those a fixture was issued with."""

    def __init__(self, games: Mapping[str, Scheduler], runtimes: Mapping[str, PlayerRuntime]) -> None:
        self._games = games
        self._runtimes = runtimes
        self._older: dict[tuple[str, str], Any] = {}

    def spec(self, fixture: Fixture) -> GameSpec[Any]:
        """The game of a fixture."""
        return self._games[fixture.game].spec

    def rules(self, fixture: Fixture) -> Any:
        """The rules a fixture was issued with."""
        now = self._games[fixture.game]
        if fixture.settings is now.settings:
            return now.rules
        older = fixture.game, repr(sorted(fixture.settings.items()))
        if older not in self._older:
            self._older[older] = now.spec.rules.model_validate(fixture.settings)
        return self._older[older]

    def playable(self, fixture: Fixture) -> bool:
        """Whether a fixture is of a game and version at hand."""
        now = self._games.get(fixture.game)
        return now is not None and plays(now.spec, fixture.game, fixture.version, fixture.release)

    def impossible(self, fixture: Fixture) -> str:
        """Why a fixture cannot be played, whatever it costs; empty: it can."""
        if not self.playable(fixture):
            return f"not playable here: {fixture.game} version {fixture.version}"
        withdrawn = [seat.player for seat in fixture.seats if seat.player not in self._runtimes]
        return f"withdrawn: {', '.join(withdrawn)}" if withdrawn else ""

    def of(self, fixture: Fixture) -> Mapping[str, Share]:
        """What a match is planned to cost, by player."""
        return shares(self.spec(fixture), self.rules(fixture), fixture, self._runtimes)

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
