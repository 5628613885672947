"""Plans of what matches will cost: rules and plan of a fixture, and what earlier runs teach about them."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from itertools import product
from typing import Any

from msgspec.structs import replace

from peerage.engine.calls.budget import Budget, dollars
from peerage.engine.calls.call_costs import Share, reach, shares
from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.record.memory import planned
from peerage.engine.record.seeing import left_out
from peerage.game.match import Fixture
from peerage.game.media import with_marks
from peerage.game.spec import GameSpec
from peerage.games import GAMES, plays
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture, read_record
from peerage.players.prices import Price
from peerage.scheduling.fixtures import Scheduler, by_need, next_round, remember
from peerage.scheduling.policies import Policy
from peerage.scheduling.standing import BEST_FIRST, History
from peerage.settings import ArenaSettings, rules_of
from peerage.settings.lineup import series_of
from peerage.settings.players.sessions import session_tokens
from peerage.standings.fold import NOBODY, Standings

LEARNED_FROM = 64
"""Last matches of earlier runs from which it is known what a match costs."""


def _rules(settings: ArenaSettings, game: str, *, frozen: bool) -> Any:
    rules, memory = rules_of(settings, game), GAMES[game].memory
    return memory.frozen(rules) if frozen and memory is not None else rules


def _sessions(settings: ArenaSettings, spec: GameSpec[Any], rules: Any) -> Mapping[str, int]:
    """Return who remembers a match, with the most tokens: none where rules let nobody do so who could, unless
    the game itself keeps apart what must not be known together."""
    converses = spec.converses(rules)
    if not converses and spec.secrecy.forgets(rules):
        return {}
    tokens = {
        player.name: session_tokens(player.session, player.provider, usual=converses)
        for player in settings.players
    }
    return {player: most for player, most in tokens.items() if most}


def schedulers(settings: ArenaSettings, secret: str, ledger: Ledger | None = None) -> dict[str, Scheduler]:
    """Return what pairs each game of an arena, by name, without players of which the ledger knows that they
    do not take what it shows. Raises SettingsError where a game's rules are wrong."""
    lacking = left_out(settings, ledger)
    policy = policy_of(settings)
    rules = {name: _rules(settings, name, frozen=bool(policy.player)) for name in settings.lineup}
    return {
        name: Scheduler(
            spec=GAMES[name],
            rules=rules[name],
            secret=secret,
            policy=policy,
            series=series_of(settings, name),
            weight=game.weight,
            judges=settings.judging.judges,
            sessions=_sessions(settings, GAMES[name], rules[name]),
            hands=frozenset(
                [player.name for player in settings.players if player.acp or player.provider == "command"]
            ),
            without=lacking.get(name, ()),
        )
        for name, game in settings.lineup.items()
    }


def as_issued(game: Scheduler, fixture: Fixture) -> tuple[Fixture, dict[str, bytes]]:
    """Return a fixture as it is written, with a mark for each data URL that its game drew, and the bytes of
    these by digest. What a memory draws may hold players' texts, which show nothing (one of levels holds
    none), and what an arena's owner lists comes in as marks, or is a text."""
    memory = game.spec.memory
    texts = memory is not None and not memory.late and game.spec.remembers(game.rules)
    if game.spec.files or texts:
        return fixture, {}
    drawn, media = with_marks(fixture.drawn)
    return (replace(fixture, drawn=drawn), media) if media else (fixture, media)


def first_fixtures(
    settings: ArenaSettings,
    standings: Standings,
    count: int,
    issued: Mapping[str, History] = {},
    ledger: Ledger | None = None,
) -> list[Fixture]:
    """The first `count` matches of rounds paired from `standings`, after those `issued` by game; fewer for
    fewer than two players, none of a game whose fixtures are made and not paired. Answers on record in the
    `ledger`, and those that these matches ask for, are given to later ones. Raises SettingsError and
    Unstaffed."""
    games = [
        scheduler
        for scheduler in schedulers(settings, f"{settings.seed or 0}", ledger).values()
        if scheduler.spec.contestants[1]
    ]
    pool, judges = (
        [standings.before_pairing(player, settings.rating.initial) for player in listed]
        for listed in (settings.players, settings.judges)
    )
    histories = {played.spec.name: deepcopy(issued.get(played.spec.name, History())) for played in games}
    fixtures: list[Fixture] = []
    played = standings.number if ledger is None else ledger.heads()[0]
    memories = {game.spec.name: planned(game.spec, game.rules, ledger) for game in games}
    while games and len(fixtures) < count:
        game = by_need(games, histories)[0]
        history = histories[game.spec.name]
        number = played + len(fixtures) + 1
        paired = next_round(
            game,
            pool,
            history,
            number=number,
            round=number,
            snapshot=standings.number,
            memory=memories[game.spec.name],
            judges=judges,
        )
        if not paired:
            games.remove(game)
            continue
        remember(history, paired)
        if (memory := memories[game.spec.name]) is not None:
            for fixture in paired:
                memory.presume(fixture.number)
        fixtures += [as_issued(game, fixture)[0] for fixture in paired]
    return fixtures[:count]


def costliest_calls(settings: ArenaSettings, prices: Mapping[str, Price]) -> dict[str, int]:
    """Return what one call of usual length may cost at most in the games of an arena, by player, in 1e-9
    dollars."""
    games = schedulers(settings, "")
    costliest: dict[str, int] = {}
    for fixture in first_fixtures(settings, NOBODY, len(games)):
        game = games[fixture.game]
        for bound, (player, price) in product(game.spec.bounds(game.rules, fixture), prices.items()):
            costliest[player] = max(costliest.get(player, 0), reach(bound, price))
    return costliest


class Plans:
    """The plans of matches that `runtimes` play, by the rules of now or those a fixture was issued with."""

    def __init__(self, games: Mapping[str, Scheduler], runtimes: Mapping[str, PlayerRuntime]) -> None:
        self._games = games
        self._runtimes = runtimes
        self._older: dict[tuple[str, str], Any] = {}

    def spec(self, fixture: Fixture) -> GameSpec[Any]:
        """The game of a fixture."""
        return self._games[fixture.game].spec

    def issued(self, fixture: Fixture) -> tuple[Fixture, dict[str, bytes]]:
        """A new fixture as it is written: see `as_issued`."""
        return as_issued(self._games[fixture.game], fixture)

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
        """Return whether a fixture is of a game and version at hand."""
        now = self._games.get(fixture.game)
        return now is not None and plays(now.spec, fixture.game, fixture.version, fixture.release)

    def impossible(self, fixture: Fixture) -> str:
        """Return why a fixture cannot be played, whatever it costs; empty: it can."""
        if not self.playable(fixture):
            return f"not playable here: {fixture.game} version {fixture.version}"
        withdrawn = [seat.player for seat in fixture.seats if seat.player not in self._runtimes]
        return f"withdrawn: {', '.join(withdrawn)}" if withdrawn else ""

    def of(self, fixture: Fixture) -> Mapping[str, Share]:
        """Return what a match is planned to cost, by player."""
        return shares(self.spec(fixture), self.rules(fixture), fixture, self._runtimes)

    def learn(self, ledger: Ledger, budget: Budget, last: int) -> None:
        """Give the budget the costs of the last matches before this run."""
        if not budget.bounded or not last:
            return
        first = max(1, last - LEARNED_FROM + 1)
        texts = by_hex(ledger.texts())
        for issued, row in zip(ledger.fixtures(first, last), ledger.records(first, last), strict=True):
            fixture, record = read_fixture(issued.body, texts), read_record(row.body)
            if not record.outcome.void and self.playable(fixture):
                paid = {name: total.cost_nano for name, total in record.totals.items()}
                budget.seen(self.of(fixture), paid, fixture.game)


def one_more(budget: Budget, plan: Mapping[str, Share]) -> str:
    """Return what it takes for a match of this plan to begin, for people."""
    usual = sum(budget.expected(plan).values())
    reach = max([share.reach for share in plan.values()], default=0)
    return f"one more match costs some {dollars(usual)}, and begins when {dollars(2 * usual + reach)} is free"


def policy_of(settings: ArenaSettings) -> Policy:
    """Return how an arena pairs players."""
    pairing = settings.pairing
    return Policy(
        name=pairing.policy,
        width=pairing.width,
        goal=settings.goal or BEST_FIRST,
        per_dollar=pairing.per == "dollar",
    )
