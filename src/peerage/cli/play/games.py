"""`peerage games`: what there is to play, and help for those who write a game."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from peerage.cli.shared.options import Shape, TableFormat
from peerage.cli.shared.output import show_table

if TYPE_CHECKING:
    from peerage.game.spec import GameSpec

app = typer.Typer(help="List the games; write one, and check it.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def games(
    context: typer.Context,
    all: Annotated[bool, typer.Option("--all", help="The games of other libraries too.")] = False,
    shape: Shape = TableFormat.table,
) -> None:
    """List the games, and who is needed for a match."""
    if context.invoked_subcommand is not None:
        return
    from peerage.views import catalogue

    listed = list(catalogue.games(all=all))
    rows = [row for row in listed if isinstance(row, catalogue.GameRow)]
    block = catalogue.games_table(rows, [str(row) for row in listed if isinstance(row, ImportError)], all=all)
    show_table(block, shape)


@app.command()
def about(game: Annotated[str, typer.Argument(help="A game's file, or its name.")]) -> None:
    """Show a game's page: its rules, settings and an example."""
    from importlib.resources import files

    from rich.console import Console
    from rich.markdown import Markdown

    from peerage.game.texts import preset_page

    spec = _spec(game)
    page = files("peerage.games").joinpath(spec.name.replace("-", "_"), "README.md")
    if page.is_file():
        text = page.read_text("utf-8")
    else:
        more = spec.page or inspect.getdoc(inspect.getmodule(spec.play)) or ""
        text = f"# {spec.name}\n\n{spec.about}\n\n{more}"
    if spec.presets:
        text = f"{text.rstrip()}\n\n## What a preset stands for\n\n{preset_page(spec.presets)}"
    if sys.stdout.isatty():
        Console().print(Markdown(text, hyperlinks=False))
    else:
        typer.echo(text.rstrip())


@app.command()
def texts(game: Annotated[str, typer.Argument(help="A game's file, or its name.")]) -> None:
    """Print the texts of a game's prompts as TOML, for an arena to change: `rules: {texts: FILE}`."""
    from peerage.game.texts import texts_page
    from peerage.settings import SettingsError

    spec = _spec(game)
    if not spec.texts:
        raise SettingsError(f"{spec.name} has no texts that others could replace")
    typer.echo(texts_page(spec.texts).rstrip())


@app.command()
def new(name: Annotated[str, typer.Argument(help="The game's name, such as auction.")]) -> None:
    """Write NAME.py: a short game that can be played at once, to start from."""
    from importlib.resources import files

    from peerage.games import GAMES
    from peerage.settings import SettingsError
    from peerage.values.outputs import GAME_FILE, write

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise SettingsError(f"{name!r} is no name of a game: small letters, digits and single hyphens")
    if name in GAMES:
        raise SettingsError(f"there is a game {name!r} already; choose another name")
    path = Path(f"{name.replace('-', '_')}.py")
    text = files("peerage.testing").joinpath("example.py").read_text("utf-8")
    write(path, text.replace('name="example"', f'name="{name}"'), GAME_FILE)
    typer.echo(f"wrote {path}\nnext: peerage games check {path}\n      peerage demo --game ./{path}")


@app.command()
def check(
    game: Annotated[str, typer.Argument(help="A game's file, or its name.")],
    rules: Annotated[
        str | None, typer.Option(help="Settings of the game, as JSON; if not said, those of its demo.")
    ] = None,
) -> None:
    """Hold a game against what every game must hold, and say what is wrong with it.

    Plays it offline with house players: in every order of replies, with failures and hostile replies in every
    place, and with every word that players write marked and followed. Exits with 1 when something is wrong.
    """
    import json

    from peerage.game.texts import text_faults
    from peerage.settings import SettingsError
    from peerage.testing import findings

    spec = _spec(game)
    try:
        stated = spec.demo.rules if rules is None else json.loads(rules)
        spec.rules.model_validate(stated)
        if faults := list(text_faults(spec.texts, stated.get("texts", {}))):
            raise ValueError("\n".join(faults))
    except ValueError as error:
        raise SettingsError(f"--rules: {error}") from None
    if extra := spec.needs.extra(spec.rules.model_validate(stated)):
        raise SettingsError(f'{spec.name} needs the extra `{extra}`; run `pip install "peerage[{extra}]"`')
    wrong = 0
    for finding in findings(spec, stated):
        typer.echo(f"{'wrong' if finding.problem else 'ok':5}  {finding.what}")
        if finding.problem:
            wrong += 1
            typer.echo(f"       {finding.problem}")
    typer.echo(f"{spec.name}: {f'{wrong} to fix' if wrong else 'holds all that a game must hold'}")
    if wrong:
        raise typer.Exit(1)


def _spec(game: str) -> GameSpec[Any]:
    from peerage.games import GAMES, candidates
    from peerage.settings import SettingsError, suggest
    from peerage.settings.game_file import load_file

    try:
        spec = load_file(Path(game)) if game.endswith(".py") else GAMES.get(game)
    except ImportError as error:
        raise SettingsError(str(error)) from None
    if spec is None:
        raise SettingsError(
            f"no game is called {game!r}{suggest(game, candidates(game))}\n`peerage games --all` lists "
            "those of other libraries; the name of a game in a file ends in .py"
        )
    return spec
