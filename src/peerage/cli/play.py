"""`peerage run`, `peerage demo`, `peerage estimate`: playing, and what it may cost."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.options import HERE, Folder, Format, Quiet, Shape

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.engine.report import RunReport
    from peerage.players.client import Client
    from peerage.settings import ArenaSettings, PlayerSettings

DEMO_MATCHES = 300
WATCH_SPEED = 80
"""How much faster than life house players answer when somebody watches."""
PLANNED = 100
"""Matches that a plan is made for when no number is given."""


class Level(StrEnum):
    """How much of what libraries say is shown."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


MaxMatches = Annotated[int | None, typer.Option(min=1, help="Stop when the arena has so many matches.")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="Dollars at most, over all runs; instead of the settings'.")
]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Matches under way at once.")]


def run(
    folder: Folder = HERE,
    max_matches: MaxMatches = None,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Say how it stands every so many matches.")
    ] = None,
    budget: Budget = None,
    concurrency: Concurrency = None,
    seed: Annotated[int | None, typer.Option(help="The arena's seed; fixed by the first run.")] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Show statistics at the end.")] = False,
    stats_only: Annotated[
        bool, typer.Option("--stats-only", help="Show statistics and play nothing.")
    ] = False,
    log_level: Annotated[
        Level, typer.Option(help="How much of what libraries say is shown.")
    ] = Level.warning,
    yes: Quiet = False,
) -> None:
    """Play the arena, or go on where it stopped.

    Runs until the limit, the budget or Ctrl+C; the same command resumes, and no reply on record is asked
    for again. Before money can be spent it shows a plan and asks once.
    """
    import logging

    from peerage.cli import tables
    from peerage.cli.live import play

    logging.basicConfig(level=log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
    with _opened(folder, budget, concurrency, seed) as arena:
        if not stats_only:
            _agree(arena, max_matches, yes)
            report = play(arena, max_matches, batch_size)
            tables.show_leaderboard(arena)
            _tell(report, arena.ledger.address)
        if stats or stats_only:
            tables.show_stats(arena, Format.table)
    if not stats_only and report.reason == "interrupted":
        raise typer.Exit(130)


def demo(
    folder: Folder = HERE,
    matches: Annotated[int, typer.Option(min=1, help="Stop when the arena has so many.")] = DEMO_MATCHES,
    seed: Annotated[int | None, typer.Option(help="Another seed, another arena.", show_default="1")] = None,
    concurrency: Concurrency = None,
    game: Annotated[
        str | None, typer.Option(help="Which game; `peerage games` lists them.", show_default="duel")
    ] = None,
) -> None:
    """Watch house players of known skill play: no key, no network.

    Makes an arena in the folder and plays it; on a folder that holds one it goes on where it stopped.
    """
    from peerage.cli import tables
    from peerage.cli.live import play
    from peerage.cli.starter import demo_text
    from peerage.games import GAMES
    from peerage.settings import FILE_NAME, SettingsError, suggest

    if game is not None and game not in GAMES:
        raise SettingsError(f"--game: no game is called {game!r}{suggest(game, GAMES)}")
    path = folder / FILE_NAME
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(demo_text(1 if seed is None else seed, game or "duel"), "utf-8")
    with _opened(folder, None, concurrency, seed) as arena:
        if game not in (None, arena.settings.game):
            raise SettingsError(
                f"{path}: this arena plays {arena.settings.game!r}, and --game says {game!r}; "
                "`--dir FOLDER` makes a demo elsewhere"
            )
        paid = [player.name for player in arena.settings.players if player.provider != "house"]
        if paid:
            raise SettingsError(
                f"{path}: the demo plays house players alone, and {paid[0]} is none; `peerage run` plays "
                "this arena, `--dir FOLDER` makes a demo elsewhere"
            )
        report = play(arena, matches, None, _watchable if sys.stdout.isatty() else None)
        tables.show_leaderboard(arena)
        _tell(report, arena.ledger.address)
    if report.reason == "interrupted":
        raise typer.Exit(130)
    there = "" if folder == HERE else f" --dir {folder}"
    todo = {
        f"match 1{there}": "read a match",
        f"stats{there}": "how players and judges did",
        f"verify{there}": "check that nothing was altered",
        f"replay{there}": "recompute every outcome and rating",
        "init --dir my-arena": "an arena of your own models",
    }
    wide = max(map(len, todo))
    for lead, (words, about) in zip(["next:", *[""] * len(todo)], todo.items(), strict=False):
        typer.echo(f"{lead:6}peerage {words:<{wide}}  {about}")


def _watchable(player: PlayerSettings) -> Client:
    """A house player slow enough to follow: 300 duels in a quarter of a minute."""
    from peerage.players.house import HouseClient
    from peerage.players.paced import PacedClient

    return PacedClient(HouseClient(player), lambda call, answer: min(answer.latency_s, 10.0) / WATCH_SPEED)


def estimate(
    folder: Folder = HERE,
    max_matches: Annotated[int, typer.Option(min=1, help="Matches to plan for.")] = PLANNED,
    shape: Shape = Format.table,
) -> None:
    """Say what matches may cost, player by player.

    Expected is for replies of usual length; worst for every draft rejected, every reply as long as it may be
    and repaired once. Asks nobody and writes nothing.
    """
    from peerage.settings import enough_players, load

    settings = load(folder)
    enough_players(settings)
    show_plan(settings, max_matches, shape)


def show_plan(settings: ArenaSettings, matches: int, shape: Format) -> None:
    """Write what so many matches may cost to standard output."""
    from datetime import UTC, datetime

    from peerage.cli.output import Column, dollars, show, show_json, whole
    from peerage.players.prices import price_of
    from peerage.tables.plan import estimate as planned

    today = datetime.now(UTC).date()
    plan = planned(settings, {player.name: price_of(player, today) for player in settings.players}, matches)
    if shape is Format.json:
        show_json(plan.as_dict())
        return
    columns = [
        Column("player", "Player"),
        Column("calls", ">Calls", whole),
        Column("input_tokens", ">Tokens in", whole),
        Column("output_tokens", ">out", whole),
        Column("expected_usd", ">Expected", dollars),
        Column("worst_usd", ">Worst", dollars),
    ]
    expected, worst = dollars(plan.expected_usd), dollars(plan.worst_usd)
    notes = [f"{plan.calls:,} calls, {expected} expected, {worst} at the very worst"]
    if plan.unpriced:
        notes.append(f"without a known price, and not in these sums: {', '.join(plan.unpriced)}")
    if settings.budget.match is not None and plan.worst_usd > settings.budget.match * plan.matches:
        notes.append(
            f"a match may cost {dollars(plan.worst_usd / plan.matches)} at its worst; with budget.match at "
            f"{dollars(settings.budget.match)} such a match is void before it begins"
        )
    if settings.budget.arena is not None:
        notes.append(f"the budget of {dollars(settings.budget.arena)} over all runs is never exceeded")
    title = f"{settings.name}: {plan.matches} matches"
    show(plan.as_dict()["players"], columns, shape, title=title, notes=notes)


def _opened(folder: Path, budget: float | None, concurrency: int | None, seed: int | None) -> Arena:
    """The arena in `folder`, with what the command line says in place of its settings."""
    from peerage.arena import Arena
    from peerage.ledger import open_ledger
    from peerage.settings import load

    settings = load(folder)
    if budget is not None:
        settings = settings.model_copy(
            update={"budget": settings.budget.model_copy(update={"arena": budget})}
        )
    if concurrency is not None:
        engine = settings.engine.model_copy(update={"concurrency": concurrency})
        settings = settings.model_copy(update={"engine": engine})
    if seed is not None:
        settings = settings.model_copy(update={"seed": seed})
    return Arena(folder, settings, open_ledger(settings.ledger, folder, create=True))


def _agree(arena: Arena, matches: int | None, yes: bool) -> None:
    """Show the plan and ask once, unless nothing can be spent or `--yes` was said."""
    from peerage.settings import SettingsError

    if all(player.provider == "house" for player in arena.settings.players):
        return
    played = arena.ledger.heads()[1]
    show_plan(arena.settings, PLANNED if matches is None else max(0, matches - played), Format.table)
    if matches is None:
        typer.echo(f"No --max-matches: it plays on until the budget or Ctrl+C; the plan is for {PLANNED}.")
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingsError("nobody is there to agree to the plan above; `--yes` agrees beforehand")
    if not typer.confirm("Play?", default=False):
        raise typer.Exit(0)


def _tell(report: RunReport, ledger: str) -> None:
    """How a run ended."""
    from peerage.cli.output import dollars

    ended = {
        "limit": "done",
        "budget": "the budget is spent",
        "interrupted": "stopped",
    }.get(report.reason, report.reason)
    note = f": {report.note}" if report.note else ""
    typer.echo(
        f"{ended}{note}\n{report.settled} matches, {report.played} of them now, {report.calls} calls, "
        f"{dollars(report.spent_nano / 1e9)} spent in all"
    )
    if report.possibly_paid_twice:
        typer.echo(
            f"{report.possibly_paid_twice} calls that a crash had left open were asked again; at most "
            f"{dollars(report.possibly_paid_nano / 1e9)} was paid twice"
        )
    typer.echo(f"ledger: {ledger}")
