"""`peerage demo`: house players of known skill play."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from peerage.cli.play.plan import EVERY_GAME, say_left_out, with_games
from peerage.cli.play.run import opened, play_to_end, recommend
from peerage.cli.shared.options import HERE, Folder, TableFormat, most_matches, pip

if TYPE_CHECKING:
    from peerage.players.client import Client
    from peerage.settings import ArenaSettings, PlayerSettings

WATCH_SPEED = 80
"""How much faster than life house players answer when somebody watches."""
GAUNTLET_ROUNDS = 12
"""Rounds of each game in the demo of many: every player plays each game so often."""

DemoMatches = Annotated[
    int | None,
    most_matches("Stop when the arena has so many matches with a result.", "300, or the game's own"),
]
DemoGame = Annotated[
    str | None,
    typer.Option(
        help="Which game; `peerage games` lists them. Or `gauntlet`: all that can be played here. Or a "
        "file that holds one: ./auction.py.",
        show_default="duel",
    ),
]


def demo(
    folder: Folder = HERE,
    matches: DemoMatches = None,
    seed: Annotated[int | None, typer.Option(help="Another seed, another arena.", show_default="1")] = None,
    game: DemoGame = None,
) -> None:
    """Watch house players of known skill play: no key, no network.

    Makes an arena in the folder and plays it; on a folder that holds one it goes on where it stopped.
    """
    from peerage.cli.read.leaderboard import show_profile
    from peerage.games import GAMES
    from peerage.settings import FILE_NAME, ArenaSettings, SettingsError, load, with_option
    from peerage.values.outputs import SETTINGS, write

    gauntlet, path = game in EVERY_GAME, folder / FILE_NAME
    game, stated = _demo_game(game, folder)
    if not path.exists():
        number = with_option(ArenaSettings(), "seed", 1 if seed is None else seed, "--seed").seed or 0
        folder.mkdir(parents=True, exist_ok=True)
        if gauntlet:
            made, left_out = gauntlet_text(number)
            say_left_out(left_out)
        else:
            made = demo_text(number, stated, GAMES[game or "duel"].demo.rules)
        write(path, made, SETTINGS)
    with opened(with_games(load(folder)), folder, seed) as arena:
        games = arena.settings.lineup
        if game is not None and (len(games) < 2 if gauntlet else [*games] != [game]):
            raise SettingsError(
                f"{path}: this arena plays {', '.join(map(repr, games))}, and --game says {game!r}; "
                "`--dir FOLDER` makes a demo elsewhere"
            )
        paid = [player.name for player in arena.settings.everyone if player.provider != "house"]
        if paid:
            raise SettingsError(
                f"{path}: the demo plays house players alone, and {paid[0]} is none; `peerage run` plays "
                "this arena, `--dir FOLDER` makes a demo elsewhere"
            )
        limit = matches or _demo_matches(arena.settings)
        code = play_to_end(arena, limit, None, _watchable if sys.stdout.isatty() else None)
        best = arena.verdict().pick if len(games) > 1 else None
        if best and not code:
            typer.echo()
            show_profile(arena, best, TableFormat.table)
    if code:
        raise typer.Exit(code)
    _recommend_after_demo(folder, best)


def _recommend_after_demo(folder: Path, best: str | None) -> None:
    """Say what to look at after a demo; `best` is the player to look at game by game."""
    pages = find_spec("jinja2") is not None
    recommend(
        folder,
        {
            **({f"players {best}": "a player's strength in each game"} if best else {}),
            **({"serve": "the same in a browser"} if pages else {}),
            "match 1": "read a match",
            "stats": "how players and judges did",
            "verify": "check that nothing was altered",
            **({"report": "one file to send to somebody"} if pages else {}),
            "init --dir my-arena": "an arena of your own models",
        },
    )
    if not pages:
        typer.echo(f"{'':6}{pip()} install 'peerage[site]'   for pages in a browser")


def _demo_game(game: str | None, folder: Path) -> tuple[str | None, str]:
    """Return the name of the game that `--game` states, None for none, and how settings in `folder` state it:
    by name, or by its file. Raises SettingsError."""
    from peerage.games import GAMES
    from peerage.settings import SettingsError, suggest
    from peerage.settings.game_file import load_file

    if game is not None and game.endswith(".py"):
        try:
            file = Path(os.path.relpath(game, folder))
        except ValueError:  # another drive
            file = Path(game).resolve()
        try:
            return load_file(Path(game)).name, json.dumps(file.as_posix())
        except ImportError as error:
            raise SettingsError(f"--game: {error}") from None
    if game is not None and game not in GAMES and game not in EVERY_GAME:
        raise SettingsError(f"--game: no game is called {game!r}{suggest(game, (*GAMES, 'gauntlet'))}")
    return game, game or "duel"


def _watchable(player: PlayerSettings) -> Client:
    """A house player slow enough to follow: 300 duels in a quarter of a minute."""
    from peerage.players.house import HouseClient, PacedClient

    return PacedClient(HouseClient(player), lambda call, answer: min(answer.latency_s, 10.0) / WATCH_SPEED)


def _demo_matches(settings: ArenaSettings) -> int:
    """Matches that tell a demo's players apart: in a gauntlet so many rounds of each game."""
    from peerage.games import GAMES
    from peerage.scheduling.fixtures import tables
    from peerage.settings import rules_of

    if len(settings.lineup) == 1:
        return GAMES[settings.game].demo.matches
    players = len(settings.players)
    return GAUNTLET_ROUNDS * sum(
        tables(GAMES[game], rules_of(settings, game), players) for game in settings.lineup
    )


def demo_text(
    seed: int, game: str = "duel", rules: Mapping[str, Any] = {}, games: Mapping[str, Mapping[str, Any]] = {}
) -> str:
    """The `arena.yaml` of a demo: house players whose true order is written on them. `game` is the name of a
    game or of a file that holds one; `games` are several in its place, each with its rules."""
    from peerage.players.prices import OUTPUT, at_play_price, line

    if games:
        stated = {name: json.dumps({"rules": own} if own else {}) for name, own in games.items()}
        played = "".join(["games:\n", *[f"  {name}: {own}\n" for name, own in stated.items()]])
    else:
        played = f"game: {game}\n" + (f"rules: {json.dumps(rules)}\n" if rules else "")
    players = "\n".join(f"  - {line(at_play_price(f'house:{skill}'))}" for skill in sorted(OUTPUT)[::-1])
    return (
        "# The demo: house players, whose names tell their true skill. `peerage demo` made it. Their\n"
        "# prices, in dollars per million tokens, are play prices: nobody is paid anything.\n"
        f"name: demo\nseed: {seed}\n{played}players:\n{players}\n"
    )


def gauntlet_text(seed: int) -> tuple[str, dict[str, str]]:
    """The `arena.yaml` of a demo of every game that can be played here, and why others are left out."""
    from peerage.games import GAMES
    from peerage.playing.requirements import unplayable_here
    from peerage.settings import loads

    games = {name: game.demo.rules for name, game in GAMES.items()}
    every = loads(demo_text(seed, games=games))
    left_out = {name: why for name in games if (why := unplayable_here(every, name))}
    return demo_text(seed, games={name: games[name] for name in games if name not in left_out}), left_out
