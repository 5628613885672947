"""What a run will ask and cost: shown before anything is spent, and by `peerage estimate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from peerage.engine.call_costs import usual_call, worst_of
from peerage.engine.plans import first_fixtures, schedulers
from peerage.games.game import CallBound
from peerage.match import Fixture
from peerage.players.prices import Price
from peerage.scheduling.standing import History
from peerage.settings import ArenaSettings, PlayerSettings
from peerage.standings import NOBODY, Standings
from peerage.tables import Shown

SAMPLE = 200
"""Matches that are paired to see who is asked how often; longer plans are scaled from them."""


class PlayerPlan(Struct, frozen=True):
    """What one player is likely to be asked, over the whole plan; dollars are None without a price.

    `output_tokens` count what it is likely to think; `thinking_tokens` is its room to, for each reply.
    """

    player: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    expected_usd: float | None
    worst_usd: float | None
    thinking_tokens: int


class GamePlan(Struct, frozen=True):
    """The part of one of several games in a plan; dollars are of the players whose price is known."""

    game: str
    matches: int
    calls: int
    expected_usd: float


class RolePlan(Struct, frozen=True):
    """The part of one role in a plan, `contestant`, `judge` or another; dollars are of the players whose
    price is known."""

    role: str
    calls: int
    expected_usd: float
    worst_usd: float


class Plan(Shown, frozen=True):
    """The likely cost of `matches` further matches; `games` and `roles` say how that is divided.

    `expected_usd` is for usual replies; `worst_usd` for every draft rejected, every reply as long as allowed,
    cut there and asked for again with twice the tokens, which no run without failed calls exceeds: a call
    that fails after it may have been charged is made again. Both sum the players whose price is known;
    `unpriced` names the others.
    """

    matches: int
    calls: int
    expected_usd: float
    worst_usd: float
    unpriced: tuple[str, ...]
    players: tuple[PlayerPlan, ...]
    games: tuple[GamePlan, ...] = ()
    roles: tuple[RolePlan, ...] = ()


class _Priced(NamedTuple):
    settings: PlayerSettings
    price: Price


class _Sum:
    __slots__ = ("calls", "expected", "input", "matches", "output", "worst")

    def __init__(self) -> None:
        self.calls = self.input = self.output = self.expected = 0.0
        self.matches = self.worst = 0


def estimate(
    settings: ArenaSettings,
    prices: Mapping[str, Price],
    matches: int,
    standings: Standings = NOBODY,
    issued: Mapping[str, History] = {},
) -> Plan:
    """What `matches` further matches take, paired and staffed from `standings`, after those `issued` by game.

    `prices` are by player's name. Raises SettingsError when the game's rules are wrong, Unstaffed when
    there are too few players for its officials.
    """
    fixtures = first_fixtures(settings, standings, min(matches, SAMPLE), issued)
    return of_fixtures(settings, prices, fixtures, matches)


def of_fixtures(
    settings: ArenaSettings, prices: Mapping[str, Price], fixtures: Sequence[Fixture], matches: int
) -> Plan:
    """What `matches` matches like these take: `fixtures` are all of them, or a sample to be scaled."""
    games = {name: (one.spec, one.rules) for name, one in schedulers(settings, "").items()}
    lines = {player.name: _Priced(player, prices[player.name]) for player in settings.everyone}
    sums = {name: _Sum() for name in lines}
    by_game = {name: _Sum() for name in games}
    by_role: dict[str, _Sum] = {}
    for fixture in fixtures:
        seats = {seat.label: (seat.player, "contestant") for seat in fixture.seats}
        seats |= {s.label: (s.player, role) for role, held in fixture.officials.items() for s in held}
        spec, rules = games[fixture.game]
        by_game[fixture.game].matches += 1
        for bound in spec.bounds(rules, fixture):
            player, role = seats[bound.seat]
            for total in (sums[player], by_game[fixture.game], by_role.setdefault(role, _Sum())):
                _expect(total, bound, lines[player])
    scale = matches / len(fixtures) if fixtures else 0.0
    players = tuple([_player(lines[name], total, scale) for name, total in sums.items()])
    parts = [
        GamePlan(name, round(one.matches * scale), round(one.calls * scale), one.expected * scale / 1e9)
        for name, one in by_game.items()
    ]
    shares = [
        RolePlan(role, round(one.calls * scale), one.expected * scale / 1e9, one.worst * scale / 1e9)
        for role, one in by_role.items()
    ]
    return Plan(
        matches=matches,
        calls=sum(player.calls for player in players),
        expected_usd=sum(player.expected_usd or 0.0 for player in players),
        worst_usd=sum(player.worst_usd or 0.0 for player in players),
        unpriced=tuple([player.player for player in players if player.worst_usd is None]),
        players=players,
        games=tuple(parts) if len(parts) > 1 else (),
        roles=tuple(shares),
    )


def _expect(total: _Sum, bound: CallBound, line: _Priced) -> None:
    usual = usual_call(bound, line.price)
    total.calls += bound.expected
    total.input += bound.expected * usual.input_tokens
    total.output += bound.expected * usual.output_tokens
    total.expected += bound.expected * (usual.nano or 0)
    total.worst += worst_of(bound, line.price)


def _player(line: _Priced, total: _Sum, scale: float) -> PlayerPlan:
    known = line.price.known
    return PlayerPlan(
        player=line.settings.name,
        model=line.settings.public_model,
        calls=round(total.calls * scale),
        input_tokens=round(total.input * scale),
        output_tokens=round(total.output * scale),
        expected_usd=total.expected * scale / 1e9 if known else None,
        worst_usd=total.worst * scale / 1e9 if known else None,
        thinking_tokens=line.price.thinking.tokens,
    )
