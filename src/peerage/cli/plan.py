"""`peerage estimate`, and the plan that is shown before money can be spent: what matches may cost."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.options import HERE, MOST_MATCHES, Folder, Format, Shape, at, program, say

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.players.prices import Price
    from peerage.settings import ArenaSettings
    from peerage.tables.plan import Plan, RolePlan

PLANNED = 100
"""Matches that a plan is made for when no number is given."""
THINKS = "A probe showed that a player thinks before it answers; this plan has room for that."
EVERY_GAME = ("all", "gauntlet")
"""What `--game` takes for every game that can be played here."""


def estimate(
    folder: Folder = HERE,
    max_matches: Annotated[
        int, typer.Option("--matches", "--max-matches", min=1, max=MOST_MATCHES, help="Matches to plan for.")
    ] = PLANNED,
    shape: Shape = Format.table,
) -> None:
    """Say what matches may cost, player by player.

    Likely is for replies as long as those on record, before there are any of usual length; at most is for
    every draft rejected, every reply cut at its limit and asked for again with twice the tokens. Asks nobody
    and writes nothing.
    """
    from peerage.engine.registration import prices
    from peerage.engine.usage import OnRecord, on_record
    from peerage.ledger import LedgerMissing, open_ledger
    from peerage.players.prices import price_of
    from peerage.requirements import too_dear
    from peerage.settings import enough_players, extra_installed, load
    from peerage.standings import NOBODY
    from peerage.tables.plan import estimate as planned

    settings, today = with_games(load(folder)), datetime.now(UTC).date()
    extra_installed(settings)
    enough_players(settings)
    try:
        with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
            found, priced = on_record(ledger), prices(ledger, settings.everyone, today)
    except LedgerMissing:
        found, priced = OnRecord(), {player.name: price_of(player, today) for player in settings.everyone}
    plan = planned(settings, priced, max_matches, NOBODY, {}, found)
    _write(settings, plan, shape, too_dear(settings, priced))


def _write(settings: ArenaSettings, plan: Plan, shape: Format, more: Sequence[str] = ()) -> None:
    """Write a plan to standard output."""
    from peerage.blocks import numbers, texts
    from peerage.cli.output import show, show_json
    from peerage.figures import counted, dollars, whole
    from peerage.requirements import with_meant

    if shape is Format.json:
        show_json(plan.as_dict())
        return
    columns = [
        *texts(player="Player"),
        *numbers(whole, calls="Calls", input_tokens="Tokens in", output_tokens="out"),
        *numbers(dollars, expected_usd="Likely", worst_usd="At most"),
    ]
    expected, worst = dollars(plan.expected_usd), dollars(plan.worst_usd)
    if len(plan.unpriced) == len(plan.players):
        notes = [f"{counted(plan.calls, 'call')}, at unknown prices"]
    else:
        sums = f"likely {expected}, at most {worst}"
        if plan.unpriced:
            sums = "at a cost that is unknown" + f", beyond {sums}" * bool(plan.worst_usd)
        notes = [f"{counted(plan.calls, 'call')}: {sums}", _assumed(plan)]
        if len(plan.roles) > 1 and not plan.unpriced:
            notes.append("; ".join(map(_role, plan.roles)))
        if thinkers := [player for player in plan.players if player.thinking_tokens]:
            room = ", ".join([f"{one.player} {one.thinking_tokens:,}" for one in thinkers])
            notes.append(
                f"room to think for each reply, in tokens on top of the answer's limit: {room}. A player's "
                "`thinking_tokens` sets it"
            )
        if plan.unpriced:
            unpriced = with_meant(settings, plan.unpriced)
            notes.append(f"without a known price, and not in any sum: {unpriced}")
    if plan.games:
        told = [f"{one.game} {one.matches:,} ({dollars(one.expected_usd)})" for one in plan.games]
        notes.append(f"matches of each game, and what they are expected to cost: {', '.join(told)}")
    notes += too_small(settings, plan)
    notes += [*more, *asked(settings, plan)]
    if settings.budget.arena is not None:
        each = plan.expected_usd / max(1, plan.matches)
        pays = int(settings.budget.arena / each) if each else plan.matches
        enough = f"; it is expected to pay for some {counted(pays, 'match')}" * (1 < pays < plan.matches)
        notes.append(
            f"the budget of {dollars(settings.budget.arena)} over all runs is never exceeded{enough}"
        )
    title = f"{settings.name}: {counted(plan.matches, 'match')}"
    show(plan.as_dict()["players"], columns, shape, title=title, notes=notes)


def _role(role: RolePlan) -> str:
    """The part of one role in a plan: `judges: 40 calls, likely $0.10, at most $1.20`."""
    from peerage.figures import counted, dollars

    calls = counted(role.calls, "call")
    return f"{_named(role)}: {calls}, likely {dollars(role.expected_usd)}, at most {dollars(role.worst_usd)}"


def _named(role: RolePlan) -> str:
    return role.role if role.role == "committee" else f"{role.role}s"


def _assumed(plan: Plan) -> str:
    """What the likely figure rests on."""
    from peerage.figures import counted, listed

    each = [f"{counted(one.output_tokens, 'token')} by {_named(one)}" for one in plan.roles if one.calls]
    if plan.learned_from:
        return f"likely assumes replies as in {counted(plan.learned_from, 'match')} on record: {listed(each)}"
    return f"likely assumes replies of {listed(each)}, thinking included: a guess until some are on record"


def too_small(settings: ArenaSettings, plan: Plan) -> list[str]:
    """Return a sentence for each budget that pays for no match, with the least that would do."""
    from peerage.figures import dollars

    least = dollars(math.ceil(plan.begins_usd * 1e4) / 1e4)
    return [
        f"{whose} of {dollars(limit)} is too small for any match: {least} is the least that lets one begin; "
        "raise it, or lower `max_tokens` of players"
        for limit, whose in ((settings.budget.match, "budget.match"), (settings.budget.arena, "the budget"))
        if limit is not None and limit < plan.begins_usd
    ]


def with_games(settings: ArenaSettings, stated: str = "") -> ArenaSettings:
    """The settings with the games that `--game` states, and for `all` those that can be played here; says
    which are left out, and why."""
    from peerage.requirements import with_games as chosen
    from peerage.requirements import with_playable
    from peerage.settings import EVERY

    if EVERY in settings.games or stated in EVERY_GAME:
        settings, left_out = with_playable(settings)
        say_left_out(left_out)
        return settings
    return chosen(settings, stated) if stated else settings


def say_left_out(games: Mapping[str, str]) -> None:
    for why in games.values():
        say(f"left out: {why}")


def asked(settings: ArenaSettings, plan: Plan) -> list[str]:
    """How often each person is likely to be asked, one line each."""
    from peerage.figures import counted

    people = {player.name for player in settings.everyone if player.is_person}
    return [
        f"{one.player} is a person, to be asked some {counted(one.calls, 'time')} in "
        f"{counted(plan.matches, 'match')}: with `peerage play --as '{one.player}'` or by "
        "a link of `peerage serve`"
        for one in plan.players
        if one.player in people
    ]


def agree(
    arena: Arena, plan: Callable[[Mapping[str, Price]], Plan], yes: bool, *, question: str, note: str = ""
) -> None:
    """Show the plan at today's prices and ask once, unless nothing can be spent or `--yes` was given.

    Raises ArenaError when a budget could not be kept, SettingsError when there is no terminal to ask at;
    leaves the program when the answer is no.
    """
    from peerage.engine.probes import to_probe, worst_probe
    from peerage.engine.registration import prices
    from peerage.figures import dollars, listed
    from peerage.requirements import refuse_too_dear, refuse_unpriced
    from peerage.settings import ArenaError, SettingsError

    settings = arena.settings
    if all(player.provider == "house" for player in settings.everyone):
        return
    priced = prices(arena.ledger, settings.everyone, datetime.now(UTC).date())
    made = plan(priced)
    if all(player.provider == "house" or player.is_person for player in settings.everyone):
        for line in asked(settings, made):
            say(line)
        return
    if note:
        typer.echo(note)
    if small := too_small(settings, made):
        raise ArenaError("\n".join(small))
    _write(settings, made, Format.table)
    refuse_unpriced(settings, made.unpriced)
    refuse_too_dear(settings, priced)
    probed = to_probe(arena.ledger, settings.everyone, priced) if settings.engine.probe else []
    if probed and note != THINKS:
        worst = {name: worst_probe(priced[name]) for name in probed}
        most = dollars(sum(nano or 0 for nano in worst.values()) / 1e9)
        unknown = [name for name, nano in worst.items() if nano is None]
        parts = [f"for at most {most} in all"] if len(unknown) < len(worst) else []
        parts += [f"{', '.join(unknown)} at an unknown price"] * bool(unknown)
        whom = "each player" if len(probed) == len(settings.everyone) else listed(probed)
        typer.echo(f"First {whom} is asked one small question, {', and '.join(parts)}.")
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingsError("no terminal to confirm the plan at; pass `--yes` to accept it")
    if not typer.confirm(question, default=False):
        typer.echo("stopped; no match was played")
        raise typer.Exit(0)


def agree_to_matches(arena: Arena, matches: int | None, yes: bool, note: str = "") -> None:
    """Ask before anything is spent on so many matches; None: on as many as there will be."""
    from peerage.engine.recovery import decided, histories
    from peerage.engine.usage import on_record
    from peerage.figures import counted
    from peerage.standings import NOBODY
    from peerage.tables.plan import estimate as planned

    settings = arena.settings
    issued = histories(arena.ledger) if len(settings.lineup) > 1 else {}
    there = decided(arena.ledger)
    to_play = PLANNED if matches is None else matches - there
    if to_play <= 0:
        more = f"{program()} run{at(arena.folder)} --more 20"
        say(f"the arena has {counted(there, 'match')} with a result already; `{more}` plays 20 more")
        return
    if matches is None and not note:
        ends = [f"{settings.until}"] if settings.until else []
        ends += ["the budget"] if settings.budget.arena is not None else []
        end = " or ".join([", ".join(ends), "Ctrl+C"] if ends else ["Ctrl+C"])
        note = f"No --matches: it plays on until {end}; the plan is for {PLANNED}."

    def plan(prices: Mapping[str, Price]) -> Plan:
        return planned(settings, prices, to_play, NOBODY, issued, on_record(arena.ledger))

    agree(arena, plan, yes, question="Play?", note=note)
