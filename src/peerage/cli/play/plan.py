"""`peerage plan`, and the plan that is shown before money can be spent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.read.leaderboard import explained_scope
from peerage.cli.shared.options import (
    HERE,
    Folder,
    Shape,
    TableFormat,
    arena_in,
    at,
    most_matches,
    program,
    prose,
    say,
    speak_of,
    speak_of_players,
)

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.players.prices import Price
    from peerage.settings import ArenaSettings
    from peerage.views.plan.estimate import Plan

PLANNED = 100
"""Matches that a plan is made for when no number is given."""
THINKS = "A probe showed that a player thinks before it answers; this plan has room for that."
EVERY_GAME = ("all", "gauntlet")
"""What `--game` takes for every game that can be played here."""


def plan(
    one: Annotated[str, typer.Argument(help="A player.", show_default="who is best")] = "",
    other: Annotated[str, typer.Argument(help="The player to tell it from.", show_default="")] = "",
    folder: Folder = HERE,
    until: Annotated[
        str | None,
        typer.Option(
            help="What is to be proven: `best`, `first 3`, `order to 50`, `NAME placed`.",
            show_default="what arena.yaml says",
        ),
    ] = None,
    matches: Annotated[
        int | None,
        most_matches(
            "What so many further matches ask and cost, player by player.",
            f"{PLANNED} before the first match",
        ),
    ] = None,
    shape: Shape = TableFormat.table,
) -> None:
    """Say how many more matches it takes to be sure, and the cost.

    The brackets hold the true number with 80%. With --matches, and before the first match, it says what is
    asked of each player and what that may cost: likely is for replies as long as those on record, before
    there are any of usual length; at most is for every draft rejected, every reply cut at its limit and asked
    for again with twice the tokens. Asks nobody and writes nothing.
    """
    from peerage.cli.shared.output import show_blocks, show_json, show_table
    from peerage.views.plan import estimate, outlook

    asks = {"a player": one, "--until": until}
    if stated := [name for name, value in asks.items() if value and matches]:
        raise typer.BadParameter(f"{stated[0]} asks what it takes to be sure: leave --matches out")
    if matches or not (one or until or _decided(folder)):
        settings, cost, more = _costs(folder, matches or PLANNED)
        if shape is TableFormat.json:
            show_json(cost.as_dict())
        else:
            show_table(estimate.costs(settings, cost, more), shape)
        return
    with arena_in(folder) as arena, explained_scope():
        answer = arena.outlook(one, other, until)
    if shape is TableFormat.json:
        show_json(answer.as_dict())
    elif shape is TableFormat.table:
        for line in answer.lines:
            prose(line)
    else:
        show_blocks(*outlook.rows(answer), shape)


def _decided(folder: Path) -> bool:
    """Return whether the arena in `folder` has a result, an outside one or a match's."""
    from peerage.engine.again.recovery import decided
    from peerage.ledger import LedgerMissing, open_ledger
    from peerage.ledger.topics.outside import TOPIC
    from peerage.settings import load

    settings = load(folder, reading=True)
    try:
        with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
            return decided(ledger) > 0 or TOPIC in ledger.topics()
    except LedgerMissing:
        return False


def _costs(folder: Path, matches: int) -> tuple[ArenaSettings, Plan, list[str]]:
    """The settings with the games that can be played here, what so many further matches cost, and which
    players no budget can pay."""
    from peerage.engine.again.usage import on_record
    from peerage.engine.record.registration import prices
    from peerage.engine.record.seeing import left_out_in_words, refuse_too_blind
    from peerage.ledger import LedgerMissing, open_ledger
    from peerage.players.prices import price_of
    from peerage.playing.requirements import too_expensive
    from peerage.reading.reading import Reading
    from peerage.settings import enough_players, extra_installed, load
    from peerage.standings.fold import NOBODY
    from peerage.views.plan.estimate import estimate

    settings, today = with_games(load(folder)), datetime.now(UTC).date()
    extra_installed(settings)
    enough_players(settings)
    try:
        with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
            refuse_too_blind(settings, ledger)
            past, priced = on_record(ledger), prices(ledger, settings.everyone, today)
            more = left_out_in_words(settings, ledger)
            speak_of(Reading(settings, ledger).names)
            cost = estimate(settings, priced, matches, NOBODY, {}, past, ledger)
    except LedgerMissing:
        refuse_too_blind(settings, None)
        priced = {player.name: price_of(player, today) for player in settings.everyone}
        more = left_out_in_words(settings, None)
        speak_of_players(settings)
        cost = estimate(settings, priced, matches)
    return settings, cost, [*more, *too_expensive(settings, priced)]


def with_games(settings: ArenaSettings, stated: str = "") -> ArenaSettings:
    """The settings with the games that `--game` states, and for `all` those that can be played here; says
    which are left out, and why."""
    from peerage.playing.requirements import with_games as chosen
    from peerage.playing.requirements import with_playable
    from peerage.settings import EVERY

    if EVERY in settings.games or stated in EVERY_GAME:
        settings, left_out = with_playable(settings)
        say_left_out(left_out)
        return settings
    return chosen(settings, stated) if stated else settings


def say_left_out(games: Mapping[str, str]) -> None:
    for why in games.values():
        say(f"left out: {why}")


def agree(
    arena: Arena, plan: Callable[[Mapping[str, Price]], Plan], yes: bool, *, question: str, note: str = ""
) -> None:
    """Show the plan at today's prices and ask once, unless nothing can be spent or `--yes` was given.

    Raises ArenaError when a budget could not be kept, SettingsError when there is no terminal to ask at;
    leaves the program when the answer is no.
    """
    from peerage.cli.shared.output import show_table
    from peerage.engine.record.registration import prices
    from peerage.engine.record.seeing import media_to_ask
    from peerage.engine.run.probes import to_probe, worst_probe
    from peerage.playing.requirements import refuse_too_expensive, refuse_unpriced
    from peerage.settings import ArenaError, SettingsError
    from peerage.values.figures import dollars, listed
    from peerage.views.plan.estimate import costs, people_asked, too_small

    settings = arena.settings
    if all(player.provider == "house" for player in settings.everyone):
        return
    speak_of(arena.reading.names)
    priced = prices(arena.ledger, settings.everyone, datetime.now(UTC).date())
    made = plan(priced)
    if all(player.provider == "house" or player.is_person for player in settings.everyone):
        for line in people_asked(settings, made):
            prose(line)
        return
    if note:
        typer.echo(note)
    if small := too_small(settings, made):
        raise ArenaError("\n".join(small))
    show_table(costs(settings, made), TableFormat.table)
    refuse_unpriced(settings, made.unpriced)
    refuse_too_expensive(settings, priced)
    media = media_to_ask(settings, arena.ledger)
    probed = to_probe(arena.ledger, settings.everyone, priced, media) if settings.engine.probe else []
    if probed and note != THINKS:
        worst = {name: worst_probe(priced[name], media.get(name, ())) for name in probed}
        most = sum(nano or 0 for nano in worst.values()) / 1e9
        unknown = [name for name, nano in worst.items() if nano is None]
        price = f"for at most {dollars(most)} in all" if most else "free"
        parts = [price] if len(unknown) < len(worst) else []
        parts += [f"{', '.join(unknown)} at an unknown price"] * bool(unknown)
        whom = "each player" if len(probed) == len(settings.everyone) else listed(probed)
        what = "one small question, and whether it sees or hears" if media else "one small question"
        prose(f"First {whom} is asked {what}, {', and '.join(parts)}.")
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingsError("no terminal to confirm the plan at; pass `--yes` to accept it")
    if not typer.confirm(question, default=False):
        typer.echo("stopped; no match was played")
        raise typer.Exit(0)


def agree_to_matches(arena: Arena, matches: int | None, yes: bool, note: str = "") -> None:
    """Ask before anything is spent on so many matches; None: on as many as there will be."""
    from peerage.engine.again.recovery import decided, histories
    from peerage.engine.again.usage import on_record
    from peerage.standings.fold import NOBODY
    from peerage.values.figures import counted
    from peerage.views.plan.estimate import estimate as planned

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
        return planned(settings, prices, to_play, NOBODY, issued, on_record(arena.ledger), arena.ledger)

    agree(arena, plan, yes, question="Play?", note=note)
