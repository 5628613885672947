"""`peerage verdict`: what a table comes to, in words."""

from __future__ import annotations

from typing import Annotated

import typer

from peerage.cli.leaderboard import Game, Topic, Track, told_scope
from peerage.cli.options import HERE, Folder, Report, Written, arena_in, say
from peerage.cli.output import show_json


def verdict(
    folder: Folder = HERE,
    track: Annotated[
        Track | None,
        typer.Option(help="By another table.", show_default="the game's, of several games overall"),
    ] = None,
    game: Game = "",
    topic: Topic = "",
    shape: Written = Report.text,
) -> None:
    """Say who is best, at what price, and how sure that is.

    The same words head the leaderboard, its pages and the report.
    """
    with arena_in(folder) as arena, told_scope():
        found = arena.verdict(track or "", game=game, topic=topic)
    if shape is Report.json:
        show_json(found.as_dict())
        return
    for line in found.lines:
        say(line)
