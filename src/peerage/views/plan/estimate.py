"""The calls and cost of a run: shown before anything is spent, and by `peerage plan --matches`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec import Struct

from peerage.engine.again.usage import CallSums, OnRecord, Part, Ratios, corrections
from peerage.engine.calls.call_costs import reach, usual_call, usual_cost, worst_of
from peerage.engine.match.plans import first_fixtures, schedulers
from peerage.engine.record.memory import planned
from peerage.game.bounds import CallBound
from peerage.game.match import Fixture
from peerage.ledger import Ledger
from peerage.players.prices import Price
from peerage.playing.requirements import with_meant
from peerage.render.blocks import Rows, numbers, texts
from peerage.scheduling.standing import History
from peerage.settings import ArenaSettings
from peerage.standings.fold import NOBODY, Standings
from peerage.values.figures import counted, dollars, exact_dollars, listed, whole
from peerage.views.shown import Shown

NOTHING = OnRecord()
SAMPLE = 200
"""Matches that are paired to see who is asked how often; longer plans are scaled from them."""
ONCE = 2_000
"""The same where answers are given once, so that later matches ask for fewer."""
Asked: TypeAlias = list[tuple[Part, CallBound]]
"""What one match asks of whom."""


class PlanPart(Struct, frozen=True):
    """The part of one player, of one role (`contestant`, `judge` or another) or of one of several games in a
    plan: the `matches` that ask something of it, and what. Tokens count what is likely to be thought;
    `thinking_tokens` is a player's room to think, for each reply. Dollars are of the players whose price is
    known, None for a player without a price."""

    name: str
    matches: int
    calls: int
    input_tokens: int
    output_tokens: int
    expected_usd: float | None
    worst_usd: float | None
    model: str = ""
    thinking_tokens: int = 0

    @property
    def reply_tokens(self) -> int:
        """The tokens that one reply is likely to take."""
        return round(self.output_tokens / self.calls) if self.calls else 0


class Plan(Shown, frozen=True):
    """The likely cost of `matches` further matches; `players`, `games` and `roles` say how that is divided.

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
    players: tuple[PlanPart, ...]
    games: tuple[PlanPart, ...] = ()
    roles: tuple[PlanPart, ...] = ()
    learned_from: int = 0
    begins_usd: float = 0.0


@dataclass(slots=True)
class _Sum:
    matches: int = 0
    calls: float = 0.0
    input: float = 0.0
    output: float = 0.0
    expected: float = 0.0
    worst: int = 0

    def part(
        self, name: str, scale: float, *, priced: bool = True, model: str = "", thinking: int = 0
    ) -> PlanPart:
        return PlanPart(
            name=name,
            matches=round(self.matches * scale),
            calls=round(self.calls * scale),
            input_tokens=round(self.input * scale),
            output_tokens=round(self.output * scale),
            expected_usd=self.expected * scale / 1e9 if priced else None,
            worst_usd=self.worst * scale / 1e9 if priced else None,
            model=model,
            thinking_tokens=thinking,
        )


def estimate(
    settings: ArenaSettings,
    prices: Mapping[str, Price],
    matches: int,
    standings: Standings = NOBODY,
    issued: Mapping[str, History] = {},
    found: OnRecord = NOTHING,
    ledger: Ledger | None = None,
) -> Plan:
    """Return what `matches` further matches take, paired and staffed from `standings`, after those `issued`
    by game, by what was `found` on record; fewer where players have nothing left to meet on. Answers on
    record in the `ledger` are not asked for again. `prices` are by player's name. Raises SettingsError when
    the game's rules are wrong, Unstaffed when there are too few players for its officials."""
    once = any(planned(game.spec, game.rules) for game in schedulers(settings, "").values())
    sample = min(matches, ONCE if once else SAMPLE)
    fixtures = first_fixtures(settings, standings, sample, issued, ledger)
    ended = once and len(fixtures) < sample
    return of_fixtures(settings, prices, fixtures, len(fixtures) if ended else matches, found)


def of_fixtures(
    settings: ArenaSettings,
    prices: Mapping[str, Price],
    fixtures: Sequence[Fixture],
    matches: int,
    found: OnRecord = NOTHING,
) -> Plan:
    """Return what `matches` matches like these take: `fixtures` are all of them, or a sample to be scaled."""
    thought = {name: _thinking(price, found.probes.get(name)) for name, price in prices.items()}
    asked = _asked(settings, fixtures)
    ratios = corrections(_usual(asked, prices, thought), found)
    by_player = {player.name: _Sum() for player in settings.everyone}
    by_game = {game: _Sum() for game in settings.lineup}
    by_role: dict[str, _Sum] = {}
    least: list[float] = []
    for match in asked:
        before, touched = sum([one.expected for one in by_player.values()]), dict[int, _Sum]()
        for part, bound in match:
            game, role, player = part
            for total in (by_player[player], by_game[game], by_role.setdefault(role, _Sum())):
                _expect(total, bound, prices[player], thought[player], ratios[part])
                touched[id(total)] = total
        for total in touched.values():
            total.matches += 1
        expected = sum([one.expected for one in by_player.values()]) - before
        dearest = max([reach(bound, prices[part[2]]) for part, bound in match], default=0)
        least.append(expected + max(expected, dearest))
    scale = matches / len(fixtures) if fixtures else 0.0
    players = [
        by_player[player.name].part(
            player.name,
            scale,
            priced=prices[player.name].known,
            model=player.public_model,
            thinking=prices[player.name].thinking.tokens,
        )
        for player in settings.everyone
    ]
    return Plan(
        matches=matches,
        calls=sum(player.calls for player in players),
        expected_usd=sum(player.expected_usd or 0.0 for player in players),
        worst_usd=sum(player.worst_usd or 0.0 for player in players),
        unpriced=tuple([player.name for player in players if player.worst_usd is None]),
        players=tuple(players),
        games=_parts(by_game, scale) if len(by_game) > 1 else (),
        roles=_parts(by_role, scale),
        learned_from=found.matches,
        begins_usd=min(least, default=0.0) / 1e9,
    )


def _parts(sums: Mapping[str, _Sum], scale: float) -> tuple[PlanPart, ...]:
    return tuple([total.part(name, scale) for name, total in sums.items()])


def _asked(settings: ArenaSettings, fixtures: Iterable[Fixture]) -> list[Asked]:
    games = {name: (one.spec, one.rules) for name, one in schedulers(settings, "").items()}
    asked: list[Asked] = []
    for fixture in fixtures:
        seats = {seat.label: ("contestant", seat.player) for seat in fixture.seats}
        seats |= {s.label: (role, s.player) for role, held in fixture.officials.items() for s in held}
        spec, rules = games[fixture.game]
        bounds = sorted(spec.bounds(rules, fixture), key=lambda bound: bound.seat)
        asked.append([((fixture.game, *seats[bound.seat]), bound) for bound in bounds])
    return asked


def _usual(
    asked: Iterable[Asked], prices: Mapping[str, Price], thought: Mapping[str, int]
) -> dict[Part, CallSums]:
    """Return what calls of usual length take, by part."""
    planned: dict[Part, CallSums] = {}
    for match in asked:
        for part, _ in dict.fromkeys([(part, bound.seat) for part, bound in match]):
            planned[part] = planned.get(part, CallSums()).plus(1, 0, 0, 0)
        for part, bound in match:
            usual = usual_call(bound, prices[part[2]], thought[part[2]])
            each = (usual.input_tokens, usual.output_tokens)
            planned[part] = planned[part].plus(0, bound.expected, *[bound.expected * one for one in each])
    return planned


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


# --------------------------------------------------------------------------------------------- as a table


def costs(settings: ArenaSettings, plan: Plan, more: Sequence[str] = ()) -> Rows:
    """Return what further matches ask of each player and cost, with notes, `more` of them near the end."""
    columns = [
        *texts(name="Player"),
        *numbers(whole, calls="Calls", input_tokens="Tokens in", output_tokens="out"),
        *numbers(dollars, expected_usd="Likely", worst_usd="At most"),
    ]
    notes = [*_sums(settings, plan), *too_small(settings, plan), *more, *people_asked(settings, plan)]
    notes += _budget(settings, plan)
    return Rows(
        plan.players, columns, title=f"{settings.name}: {counted(plan.matches, 'match')}", notes=notes
    )


def _sums(settings: ArenaSettings, plan: Plan) -> Iterator[str]:
    """Yield what all calls cost, and what that rests on."""
    if len(plan.unpriced) == len(plan.players):
        yield f"{counted(plan.calls, 'call')}, at unknown prices"
    else:
        sums = _bounds(plan.expected_usd, plan.worst_usd)
        if plan.unpriced:
            sums = "at a cost that is unknown" + f", beyond {sums}" * bool(plan.worst_usd)
        yield f"{counted(plan.calls, 'call')}: {sums}"
        yield _assumed(plan)
        if len(plan.roles) > 1 and not plan.unpriced:
            yield "; ".join(map(_role, plan.roles))
        thinkers = [player for player in plan.players if player.thinking_tokens]
        if thinkers:
            room = ", ".join([f"{player.name} {player.thinking_tokens:,}" for player in thinkers])
            yield (
                f"room to think for each reply, in tokens on top of the answer's limit: {room}. A player's "
                "`thinking_tokens` sets it"
            )
        if plan.unpriced:
            yield f"without a known price, and not in any sum: {with_meant(settings, plan.unpriced)}"
    if plan.games:
        games = [f"{part.name} {part.matches:,} ({dollars(part.expected_usd)})" for part in plan.games]
        yield f"matches of each game, and what they are expected to cost: {', '.join(games)}"


def _budget(settings: ArenaSettings, plan: Plan) -> Iterator[str]:
    """Yield what the arena's budget pays for, if it has one."""
    if settings.budget.arena is not None:
        each = plan.expected_usd / max(1, plan.matches)
        pays = int(settings.budget.arena / each) if each else plan.matches
        enough = f"; it is expected to pay for some {counted(pays, 'match')}" * (1 < pays < plan.matches)
        yield f"the budget of {exact_dollars(settings.budget.arena)} over all runs is never exceeded{enough}"


def _role(role: PlanPart) -> str:
    """The part of one role in a plan: `judges: 40 calls, likely $0.10, at most $1.20`."""
    calls = counted(role.calls, "call")
    return f"{_named(role)}: {calls}, {_bounds(role.expected_usd, role.worst_usd)}"


def _bounds(expected: float | None, worst: float | None) -> str:
    return f"likely {dollars(expected)}, at most {dollars(worst)}" if worst else dollars(0)


def _named(role: PlanPart) -> str:
    return role.name if role.name == "committee" else f"{role.name}s"


def _assumed(plan: Plan) -> str:
    """Return what the likely figure rests on."""
    each = [f"{counted(one.reply_tokens, 'token')} by {_named(one)}" for one in plan.roles if one.calls]
    if plan.learned_from:
        return f"likely assumes replies as in {counted(plan.learned_from, 'match')} on record: {listed(each)}"
    return f"likely assumes replies of {listed(each)}, thinking included: a guess until some are on record"


def too_small(settings: ArenaSettings, plan: Plan) -> list[str]:
    """Return a sentence for each budget that pays for no match, with the least that would do."""
    least = exact_dollars(math.ceil(plan.begins_usd * 1e4) / 1e4)
    metered = [bool(player.acp) for player in settings.everyone]
    lower = ["`max_tokens` of players"] * (not all(metered)) + ["`request_budget` of agents"] * any(metered)
    return [
        f"{whose} of {exact_dollars(budget)} is too small for any match: {least} is the least that lets one "
        f"begin; raise it, or lower {' and '.join(lower)}"
        for budget, whose in ((settings.budget.match, "budget.match"), (settings.budget.arena, "the budget"))
        if budget is not None and budget < plan.begins_usd
    ]


def people_asked(settings: ArenaSettings, plan: Plan) -> list[str]:
    """Return how often each person is likely to be asked, one line each."""
    people = {player.name for player in settings.everyone if player.is_person}
    return [
        f"the person {one.name} is to be asked some {counted(one.calls, 'time')} in "
        f"{counted(plan.matches, 'match')}: with `peerage play --as '{one.name}'` or by "
        "a link of `peerage serve`"
        for one in plan.players
        if one.name in people
    ]
