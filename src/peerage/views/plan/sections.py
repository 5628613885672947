"""The matches it takes to be sure, and what further matches ask and cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from peerage.game.blocks import Sentence
from peerage.playing.requirements import with_meant
from peerage.render.blocks import Rows, numbers, texts
from peerage.settings import ArenaSettings
from peerage.values.figures import counted, dollars, listed, whole
from peerage.views.plan.estimate import Plan, RolePlan
from peerage.views.plan.outlook import Outlook


def outlook(found: Outlook) -> tuple[list[Sentence], Rows]:
    """Return a forecast in sentences, and as rows: one for each thing that is to be proven."""
    further = {f"proven: {found.goal}": found.proven, "nobody else may be as good": found.clear}
    if found.pair:
        further[f"proven: {found.pair.one} is better than {found.pair.other}"] = found.pair.proven
    rows = [{"until": until, **asdict(takes)} for until, takes in further.items()]
    columns = [
        *texts(until="Until"),
        *numbers(whole, matches="Matches", at_least="At least", at_most="At most"),
        *numbers(dollars, usd="Cost"),
    ]
    return [Sentence(line) for line in found.lines], Rows(rows, columns)


def costs(settings: ArenaSettings, plan: Plan, more: Sequence[str] = ()) -> Rows:
    """Return what further matches ask of each player and cost, with notes, `more` of them near the end."""
    columns = [
        *texts(player="Player"),
        *numbers(whole, calls="Calls", input_tokens="Tokens in", output_tokens="out"),
        *numbers(dollars, expected_usd="Likely", worst_usd="At most"),
    ]
    notes = [*_sums(settings, plan), *too_small(settings, plan), *more, *asked(settings, plan)]
    notes += _budget(settings, plan)
    return Rows(
        plan.players, columns, title=f"{settings.name}: {counted(plan.matches, 'match')}", notes=notes
    )


def _sums(settings: ArenaSettings, plan: Plan) -> Iterator[str]:
    """Return what all calls cost, and what that rests on."""
    if len(plan.unpriced) == len(plan.players):
        yield f"{counted(plan.calls, 'call')}, at unknown prices"
    else:
        sums = f"likely {dollars(plan.expected_usd)}, at most {dollars(plan.worst_usd)}"
        if plan.unpriced:
            sums = "at a cost that is unknown" + f", beyond {sums}" * bool(plan.worst_usd)
        yield f"{counted(plan.calls, 'call')}: {sums}"
        yield _assumed(plan)
        if len(plan.roles) > 1 and not plan.unpriced:
            yield "; ".join(map(_role, plan.roles))
        thinkers = [player for player in plan.players if player.thinking_tokens]
        if thinkers:
            room = ", ".join([f"{player.player} {player.thinking_tokens:,}" for player in thinkers])
            yield (
                f"room to think for each reply, in tokens on top of the answer's limit: {room}. A player's "
                "`thinking_tokens` sets it"
            )
        if plan.unpriced:
            yield f"without a known price, and not in any sum: {with_meant(settings, plan.unpriced)}"
    if plan.games:
        games = [f"{part.game} {part.matches:,} ({dollars(part.expected_usd)})" for part in plan.games]
        yield f"matches of each game, and what they are expected to cost: {', '.join(games)}"


def _budget(settings: ArenaSettings, plan: Plan) -> Iterator[str]:
    """Return what the arena's budget pays for, if it has one."""
    if settings.budget.arena is not None:
        each = plan.expected_usd / max(1, plan.matches)
        pays = int(settings.budget.arena / each) if each else plan.matches
        enough = f"; it is expected to pay for some {counted(pays, 'match')}" * (1 < pays < plan.matches)
        yield f"the budget of {dollars(settings.budget.arena)} over all runs is never exceeded{enough}"


def _role(role: RolePlan) -> str:
    """The part of one role in a plan: `judges: 40 calls, likely $0.10, at most $1.20`."""
    calls = counted(role.calls, "call")
    return f"{_named(role)}: {calls}, likely {dollars(role.expected_usd)}, at most {dollars(role.worst_usd)}"


def _named(role: RolePlan) -> str:
    return role.role if role.role == "committee" else f"{role.role}s"


def _assumed(plan: Plan) -> str:
    """Return what the likely figure rests on."""
    each = [f"{counted(one.output_tokens, 'token')} by {_named(one)}" for one in plan.roles if one.calls]
    if plan.learned_from:
        return f"likely assumes replies as in {counted(plan.learned_from, 'match')} on record: {listed(each)}"
    return f"likely assumes replies of {listed(each)}, thinking included: a guess until some are on record"


def too_small(settings: ArenaSettings, plan: Plan) -> list[str]:
    """Return a sentence for each budget that pays for no match, with the least that would do."""
    least = dollars(math.ceil(plan.begins_usd * 1e4) / 1e4)
    return [
        f"{whose} of {dollars(limit)} is too small for any match: {least} is the least that lets one begin; "
        "raise it, or lower `max_tokens` of players"
        for limit, whose in ((settings.budget.match, "budget.match"), (settings.budget.arena, "the budget"))
        if limit is not None and limit < plan.begins_usd
    ]


def asked(settings: ArenaSettings, plan: Plan) -> list[str]:
    """Return how often each person is likely to be asked, one line each."""
    people = {player.name for player in settings.everyone if player.is_person}
    return [
        f"{one.player} is a person, to be asked some {counted(one.calls, 'time')} in "
        f"{counted(plan.matches, 'match')}: with `peerage play --as '{one.player}'` or by "
        "a link of `peerage serve`"
        for one in plan.players
        if one.player in people
    ]
