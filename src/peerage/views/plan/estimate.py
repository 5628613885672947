"""The calls and cost of a run: shown before anything is spent, and by `peerage plan --matches`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from peerage.engine.again.usage import OnRecord, Part, Ratios, Usage, corrections
from peerage.engine.calls.call_costs import reach, usual_call, usual_cost, worst_of
from peerage.engine.match.plans import first_fixtures, schedulers
from peerage.game.match import Fixture
from peerage.game.spec import CallBound
from peerage.players.prices import Price
from peerage.scheduling.standing import History
from peerage.settings import ArenaSettings, PlayerSettings
from peerage.standings import NOBODY, Standings
from peerage.views.shown import Shown

NOTHING = OnRecord()
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
    price is known. `output_tokens` are what one reply is likely to take, thinking included."""

    role: str
    calls: int
    output_tokens: int
    expected_usd: float
    worst_usd: float


class Plan(Shown, frozen=True):
    """The likely cost of `matches` further matches; `games` and `roles` say how that is divided.

    `expected_usd` is for replies as in the last `learned_from` matches on record, and before there are any
    for usual ones; `worst_usd` for every draft rejected, every reply as long as allowed,
    cut there and asked for again with twice the tokens, which no run without failed calls exceeds: a call
    that fails after it may have been charged is made again. Both sum the players whose price is known;
    `unpriced` names the others. The cheapest of these matches
    begins when `begins_usd` of a budget are free.
    """

    matches: int
    calls: int
    expected_usd: float
    worst_usd: float
    unpriced: tuple[str, ...]
    players: tuple[PlayerPlan, ...]
    games: tuple[GamePlan, ...] = ()
    roles: tuple[RolePlan, ...] = ()
    learned_from: int = 0
    begins_usd: float = 0.0


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
    found: OnRecord = NOTHING,
) -> Plan:
    """Return what `matches` further matches take, paired and staffed from `standings`, after those `issued`
    by game, by what was `found` on record.

    `prices` are by player's name. Raises SettingsError when the game's rules are wrong, Unstaffed when
    there are too few players for its officials.
    """
    fixtures = first_fixtures(settings, standings, min(matches, SAMPLE), issued)
    return of_fixtures(settings, prices, fixtures, matches, found)


def of_fixtures(
    settings: ArenaSettings,
    prices: Mapping[str, Price],
    fixtures: Sequence[Fixture],
    matches: int,
    found: OnRecord = NOTHING,
) -> Plan:
    """What `matches` matches like these take: `fixtures` are all of them, or a sample to be scaled."""
    games = {name: (one.spec, one.rules) for name, one in schedulers(settings, "").items()}
    lines = {player.name: _Priced(player, prices[player.name]) for player in settings.everyone}
    sums = {name: _Sum() for name in lines}
    by_game = {name: _Sum() for name in games}
    by_role: dict[str, _Sum] = {}
    asked: list[list[tuple[Part, CallBound]]] = []
    planned: dict[Part, Usage] = {}
    thought = {name: _thinking(one.price, found.probes.get(name)) for name, one in lines.items()}
    for fixture in fixtures:
        seats = {seat.label: (seat.player, "contestant") for seat in fixture.seats}
        seats |= {s.label: (s.player, role) for role, held in fixture.officials.items() for s in held}
        spec, rules = games[fixture.game]
        by_game[fixture.game].matches += 1
        asked.append([])
        for seat, bounds in groupby(sorted(spec.bounds(rules, fixture)), key=lambda one: one.seat):
            player, role = seats[seat]
            part = (fixture.game, role, player)
            planned[part] = planned.get(part, Usage()).plus(1, 0, 0, 0)
            for bound in bounds:
                usual = usual_call(bound, lines[player].price, thought[player])
                each = (usual.input_tokens, usual.output_tokens)
                planned[part] = planned[part].plus(0, bound.expected, *[bound.expected * one for one in each])
                asked[-1].append((part, bound))
    ratios = corrections(planned, found)
    least: list[float] = []
    for match in asked:
        before = sum([one.expected for one in sums.values()])
        for part, bound in match:
            game, role, player = part
            for total in (sums[player], by_game[game], by_role.setdefault(role, _Sum())):
                _expect(total, bound, lines[player].price, thought[player], ratios[part])
        expected = sum([one.expected for one in sums.values()]) - before
        dearest = max([reach(bound, lines[part[2]].price) for part, bound in match], default=0)
        least.append(expected + max(expected, dearest))
    scale = matches / len(fixtures) if fixtures else 0.0
    players = tuple([_player(lines[name], total, scale) for name, total in sums.items()])
    parts = [
        GamePlan(name, round(one.matches * scale), round(one.calls * scale), one.expected * scale / 1e9)
        for name, one in by_game.items()
    ]
    shares = [
        RolePlan(
            role=role,
            calls=round(one.calls * scale),
            output_tokens=round(one.output / one.calls) if one.calls else 0,
            expected_usd=one.expected * scale / 1e9,
            worst_usd=one.worst * scale / 1e9,
        )
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
        learned_from=found.matches,
        begins_usd=min(least, default=0.0) / 1e9,
    )


def _thinking(price: Price, probed: int | None) -> int:
    """Return the tokens that a reply's thinking is likely to take: where a probe took so many in all, halfway
    to these in proportion."""
    usual = price.thinking.usual
    return usual if probed is None else min(usual, round((usual * probed) ** 0.5))


def _expect(total: _Sum, bound: CallBound, price: Price, thinking: int, ratios: Ratios) -> None:
    usual = usual_call(bound, price, thinking)
    calls, asked = bound.expected * ratios.calls, usual.input_tokens * ratios.input_tokens
    replied = usual.output_tokens * ratios.output_tokens
    total.calls += calls
    total.input += calls * asked
    total.output += calls * replied
    total.expected += calls * (usual_cost(price, round(asked), round(replied)) or 0)
    total.worst += worst_of(bound, price)


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
