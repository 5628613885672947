"""`peerage place`: a newcomer finds its place in an arena that has been played."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from peerage.cli.options import HERE, Folder, Quiet, ledger_in, say
from peerage.cli.plan import THINKS, agree_to_matches, with_games
from peerage.cli.play import Concurrency, equipped, opened, play_to_end, with_goal, with_players
from peerage.figures import dollars


def place(
    player: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A newcomer, such as `openai:gpt-5-mini`, or a player by name."),
    ],
    folder: Folder = HERE,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, help="Dollars at most for this, on top of what was spent; else the settings' budget."
        ),
    ] = None,
    max_matches: Annotated[
        int | None, typer.Option("--matches", "--max-matches", min=1, help="So many more matches at most.")
    ] = None,
    concurrency: Concurrency = None,
    no_probe: Annotated[bool, typer.Option("--no-probe", help="Ask no small question first.")] = False,
    yes: Quiet = False,
) -> None:
    """Find a newcomer's place, by matches of its own alone.

    Its opponents are those that say most about its place. Nothing new comes into the pool of challenges. It
    ends when the place is known with 95% confidence, any order next to it being wrong by less than 50 Elo, or
    when the budget is spent, and says between which places the newcomer is and what that cost. Its matches
    count for its opponents too, as all matches do.
    """
    from peerage.cli.logs import log_to_stderr
    from peerage.engine.recovery import decided, spent
    from peerage.environment import environment
    from peerage.ledger import LedgerMissing
    from peerage.players.play_prices import line
    from peerage.settings import FILE_NAME, SettingsError, extra_installed, load
    from peerage.tables.challenges import arena_pool, pools

    settings = load(folder)
    try:
        with ledger_in(folder) as ledger:
            had = decided(ledger)
    except LedgerMissing:
        had = 0
    if not had:
        raise SettingsError("no match is on record, so there is no place yet; `peerage run` plays the arena")
    known = {one.name for one in settings.players}
    settings = with_games(settings if player in known else with_players(settings, [player]))
    stated = settings.players[-1]
    name = player if player in known else stated.name
    pairing = settings.pairing.model_copy(update={"policy": "place"})
    settings = with_goal(settings, f"{name} placed").model_copy(update={"pairing": pairing})
    log_to_stderr("WARNING", settings.players, environment(folder, os.environ))
    extra_installed(settings)
    equipped(settings, folder)
    with opened(settings, folder, None, concurrency=concurrency, probe=not no_probe) as arena:
        before = spent(arena.ledger)
        if drawing := next(filter(pools, settings.lineup), ""):
            there = arena_pool(arena.ledger, settings).entries.values()
            if not any(entry.in_use for entry in there):
                raise SettingsError(
                    f"{drawing} has no challenge in its pool that may come up ({len(there)} are on record), "
                    f"and while {name} is placed nobody writes any. `peerage run` plays the arena, which "
                    "writes some; `peerage challenges import` enters those of other arenas"
                )
        if budget is not None:
            limits = settings.budget.model_copy(update={"arena": before / 1e9 + budget})
            arena.settings = settings.model_copy(update={"budget": limits})
        for notice in arena.ready():
            say(notice)
        limit = None if max_matches is None else had + max_matches

        def agreed(note: str = "") -> None:
            agree_to_matches(arena, limit, yes, note)

        agreed()
        code = play_to_end(arena, limit, None, replan=lambda: agreed(THINKS))
        more = decided(arena.ledger) - had
        say(
            f"placing {name} took {more:,} {'match' if more == 1 else 'matches'} and "
            f"{dollars((spent(arena.ledger) - before) / 1e9)}"
        )
        if name not in known:
            say(f"to keep it in the arena, add `- {line(stated)}` to `players` in {folder / FILE_NAME}")
    raise typer.Exit(code)
