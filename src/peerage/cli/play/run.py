"""`peerage run`, and what other commands that play share with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.cli.play.plan import THINKS, agree_to_matches, with_games
from peerage.cli.shared.options import (
    HERE,
    MOST_MATCHES,
    Folder,
    Quiet,
    TableFormat,
    at,
    command_in,
    most_matches,
    program,
    prose,
    say,
    speak_of,
)

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.players.client import Client
    from peerage.settings import ArenaSettings, PlayerSettings

Level = Literal["debug", "info", "warning", "error", "critical"]
MaxMatches = Annotated[int | None, most_matches("Stop when the arena has so many matches with a result.")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="Dollars at most, over all runs; instead of the settings'.")
]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Matches under way at once.")]
More = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_MATCHES,
        help="Stop after so many more matches with a result than there are now, whatever is known.",
    ),
]
BatchSize = Annotated[
    int | None, typer.Option(min=1, max=MOST_MATCHES, help="Say how it stands every so many matches.")
]
Games = Annotated[
    str,
    typer.Option(
        help="Other games than the settings name: one, several with commas, or `all` that can be played "
        "here, in turn.",
        show_default="the settings'",
    ),
]
NoProbe = Annotated[bool, typer.Option("--no-probe", help="Do not ask each player one small question first.")]
LogLevel = Annotated[
    Level,
    typer.Option(case_sensitive=False, help="How much is logged; `info` tells every call, retry and wait."),
]
MorePlayers = Annotated[
    list[str],
    typer.Option(
        metavar="MODEL",
        help="One more player than the settings name; `human:NAME` is you, at this terminal.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        help="Stop when this is proven: `best known`, `first 3 known`, `order known to 50`, `NAME placed`.",
        show_default="the settings'",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Play by workers of this Ray cluster; `auto` for that of this machine.",
        show_default="the settings'",
    ),
]


def run(
    folder: Folder = HERE,
    max_matches: MaxMatches = None,
    more: More = None,
    batch_size: BatchSize = None,
    budget: Budget = None,
    concurrency: Concurrency = None,
    seed: Annotated[int | None, typer.Option(help="The arena's seed; fixed by the first run.")] = None,
    game: Games = "",
    stats: Annotated[bool, typer.Option("--stats", help="Show statistics at the end.")] = False,
    no_probe: NoProbe = False,
    log_level: LogLevel = "warning",
    player: MorePlayers = [],  # noqa: B006
    until: Until = None,
    address: Cluster = None,
    yes: Quiet = False,
) -> None:
    """Play the arena, or go on where it stopped.

    Runs until the limit, the budget or Ctrl+C, or until what `until` says is proven; the same command
    resumes, and no reply on record is asked for again. Before money can be spent it shows a plan and asks;
    again, when a probe of the players finds what the plan did not know.
    """
    from peerage.cli.play.logs import log_to_stderr
    from peerage.cli.read import tables
    from peerage.engine.again.recovery import decided
    from peerage.settings import SettingsError, load
    from peerage.values.environment import environment

    if more is not None and max_matches is not None:
        raise SettingsError(
            "--matches counts all matches of the arena, --more those from now on; give one of them"
        )
    stated = with_games(with_players(load(folder), player), game)
    log_to_stderr(log_level.upper(), stated.everyone, environment(folder, os.environ))
    if until is not None:
        stated = with_goal(stated, until)
    elif more is not None:  # so many more matches, whatever is known already
        stated = stated.model_copy(update={"until": None})
    prepared(stated, folder)
    where = {} if address is None else {"kind": "ray", "address": address}
    stated = stated.model_copy(update={"engine": stated.engine.model_copy(update=where)})
    with opened(stated, folder, seed, budget=budget, concurrency=concurrency, probe=not no_probe) as arena:
        if more is not None:
            max_matches = decided(arena.ledger) + more
        code = agreed_and_played(arena, max_matches, yes, batch_size, player)
        if not code:
            recommend(folder, {"serve": "the arena in a browser", "report": "one file to send to somebody"})
        if stats:
            tables.show_stats(arena, TableFormat.table)
    raise typer.Exit(code)


def prepared(settings: ArenaSettings, folder: Path) -> None:
    """Refuse, before anything is made or planned, what an arena lacks to be played."""
    from peerage.settings import enough_players, extra_installed

    extra_installed(settings)
    enough_players(settings)
    equipped(settings, folder)


def agreed_and_played(
    arena: Arena, limit: int | None, yes: bool, batch: int | None = None, players: Sequence[str] = ()
) -> int:
    """Show the plan, ask, play until `limit` matches have a result, say how it ended; the exit code.

    `players` joined on the command line; a person among them has the seat at this terminal.
    """
    from peerage.engine.again.recovery import decided
    from peerage.ledger import LedgerError

    refuse_unplaceable(arena)
    with suppress(LedgerError):  # the run holds the whole ledger against its log, and says more
        for notice in arena.ready():
            say(notice)

    if known := known_already(arena, limit):
        more = f"{program()} run{at(arena.folder)} --more 20"
        say(f"until {arena.settings.until}: {known} already; `{more}` plays 20 more")
        limit = decided(arena.ledger)

    def agreed(note: str = "") -> None:
        if not known:
            agree_to_matches(arena, limit, yes, note)

    agreed()
    seat = seated(players) if sys.stdin.isatty() and sys.stdout.isatty() else ""
    return play_to_end(arena, limit, batch, replan=lambda: agreed(THINKS), seat=seat)


def known_already(arena: Arena, limit: int | None) -> str:
    """Return what the matches on record say of the goal where that is known, so that nobody is asked, probed
    or paid to find it out; empty where it is not, or the limit leaves nothing to play."""
    from peerage.engine.again.recovery import decided
    from peerage.engine.record.seeing import seated
    from peerage.ledger.topics.series import clusters_of
    from peerage.scheduling.goal import Known
    from peerage.standings.looks import ended

    goal, there = arena.settings.goal, decided(arena.ledger)
    if goal is None or not there or (limit is not None and limit <= there):
        return ""
    known, series = Known(goal, seated(arena.settings, arena.ledger)), clusters_of(arena.ledger)
    for match in arena.ledger.summaries():
        known.note(ended(match, series.get(match.number, 0)))
    return known.state.in_words if known.state.reached else ""


def recommend(folder: Path, todo: Mapping[str, str]) -> None:
    """Say what to do next: commands, each with what it is for."""
    there = {words if "--dir" in words else f"{words}{at(folder)}": about for words, about in todo.items()}
    wide, lead = max(map(len, there)), "next:"
    longest = 9 + len(program()) + wide + max(map(len, todo.values()))
    apart = sys.stdout.isatty() and longest > get_terminal_size().columns
    for words, about in there.items():
        command = f"{lead:6}{program()} {words}"
        typer.echo(
            f"{command}\n{'':10}{about}" if apart else f"{command:<{7 + len(program()) + wide}}  {about}"
        )
        lead = ""


def play_to_end(
    arena: Arena,
    limit: int | None,
    batch: int | None,
    clients: Callable[[PlayerSettings], Client] | None = None,
    replan: Callable[[], None] | None = None,
    seat: str = "",
) -> int:
    """Play, show the table, say how it ended; the exit code. `seat` names the person at this terminal."""
    from peerage.cli.play.live import play
    from peerage.cli.read.leaderboard import show_standings
    from peerage.cli.shared.streams import READER_LEFT
    from peerage.views.ending import ending, exit_code

    report, spectator = play(arena, limit, batch, clients, replan, seat)
    if not spectator.reader_left:
        speak_of(arena.reading.names)
        show_standings(arena)
    tell = partial(typer.echo, err=True) if spectator.reader_left else prose
    for line in ending(arena.ledger, report, spectator.void, arena.settings.until, command_in(arena.folder)):
        tell(line)
    if spectator.reader_left:
        return READER_LEFT
    return exit_code(report, spectator.void)


def opened(
    settings: ArenaSettings,
    folder: Path,
    seed: int | None,
    *,
    budget: float | None = None,
    concurrency: int | None = None,
    probe: bool = True,
) -> Arena:
    """The arena in `folder`, with what the command line says in place of its settings. Raises
    SettingsError."""
    from peerage.arena import Arena
    from peerage.ledger import open_ledger
    from peerage.settings import with_option

    limits, engine = settings.budget, settings.engine.model_copy(update={} if probe else {"probe": False})
    if budget is not None:
        limits = with_option(limits, "arena", budget, "--budget")
    if concurrency is not None:
        engine = with_option(engine, "concurrency", concurrency, "--concurrency")
    if seed is not None:
        settings = with_option(settings, "seed", seed, "--seed")
    settings = settings.model_copy(update={"budget": limits, "engine": engine})
    return Arena(folder, settings, open_ledger(settings.ledger, folder, create=True))


def with_goal(settings: ArenaSettings, until: str) -> ArenaSettings:
    """The settings with what a run is to find out; a player is placed by matches of its own alone. Raises
    SettingsError."""
    from peerage.settings import SettingsError
    from peerage.settings.until import goal_of

    try:
        goal = goal_of(until, [player.name for player in settings.players])
    except ValueError as error:
        raise SettingsError(f"--until: {error}") from None
    pairing = settings.pairing
    if goal.kind == "placed":
        pairing = pairing.model_copy(update={"policy": "adaptive"})
    return settings.model_copy(update={"until": until, "pairing": pairing})


def refuse_unplaceable(arena: Arena) -> None:
    """Raise SettingsError where nobody can be placed: nothing was played, or there is nothing to play."""
    from peerage.engine.match.plans import policy_of
    from peerage.engine.record.challenges import pool, pools
    from peerage.settings import SettingsError

    settings = arena.settings
    if not policy_of(settings).player:
        return
    if not arena.ledger.heads()[1]:
        raise SettingsError(
            "no match is on record, so there is no place yet; `peerage run` without `NAME placed` plays the "
            "arena"
        )
    if drawing := next(filter(pools, settings.lineup), ""):
        known = pool(arena.ledger).entries.values()
        if not any(entry.in_use for entry in known):
            raise SettingsError(
                f"{drawing} has no challenge in its pool that may come up ({len(known)} are on record), and "
                "while somebody is placed nobody writes any. `peerage run` without `NAME placed` plays the "
                "arena, which writes some; `peerage challenges import` enters those of other arenas"
            )


def with_players(settings: ArenaSettings, models: Sequence[str]) -> ArenaSettings:
    """The settings with one more player for each of `models` that is not among them. Raises SettingsError."""
    from pydantic import ValidationError

    from peerage.players.prices import newcomer
    from peerage.settings import SettingsError

    players = {player.name: player for player in settings.players}
    for model in models:
        try:
            player = newcomer(model, settings)
        except ValidationError as error:
            raise SettingsError(
                f"--player: {error.errors()[0]['msg'].removeprefix('Value error, ')}"
            ) from None
        judge = any(player.name == other.name for other in settings.judges)
        if judge or players.setdefault(player.name, player).model != player.model:
            raise SettingsError(
                f"--player {model}: the arena has {'a judge' if judge else 'another player'} called "
                f"{player.name!r}; name one of them differently"
            )
    return settings.model_copy(update={"players": tuple(players.values())})


def seated(models: Sequence[str]) -> str:
    """The person who is at this terminal; empty where none of `models` is a person. Raises SettingsError."""
    from peerage.settings import PlayerSettings, SettingsError

    names = [player.name for player in [PlayerSettings(model=model) for model in models] if player.is_person]
    if len(names) > 1:
        raise SettingsError(
            f"--player: one person has this terminal, not {' and '.join(names)}; the others go into "
            "arena.yaml and take their seats with `peerage play --as NAME`"
        )
    return names[0] if names else ""


def equipped(settings: ArenaSettings, folder: Path) -> None:
    """Refuse, before anything is made or planned, players whose library or key is missing."""
    from peerage.players.checks import missing_extra
    from peerage.players.keys import find_key, key_names
    from peerage.settings import SettingsError
    from peerage.values.environment import environment

    env = environment(folder, os.environ)
    lacking: dict[str, list[str]] = {}
    for player in settings.everyone:
        names = key_names(player)
        if extra := missing_extra(player):
            command = f"{program()} doctor --install{at(folder)}"
            fix = f"the extra `{extra}` is not installed; `{command}` installs it"
            lacking.setdefault(fix, []).append(player.name)
        elif names and not find_key(player, env):
            fix = f"{names[0]} is not set; write {names[0]}=... into {folder / '.env'}"
            lacking.setdefault(fix, []).append(player.name)
    if lacking:
        raise SettingsError("\n".join(f"{', '.join(names)}: {fix}" for fix, names in lacking.items()))
