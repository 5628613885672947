"""`peerage players`: who is there to play, and how strong one of them is."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from peerage.cli.shared.options import HERE, Folder, Shape, TableFormat, arena_in, speak_of, speak_of_players
from peerage.cli.shared.output import show_blocks
from peerage.render.blocks import Conclusion
from peerage.values.clock import now_ms


def players(
    name: Annotated[
        str, typer.Argument(help="One of them: how strong it is in each game.", show_default="all")
    ] = "",
    folder: Folder = HERE,
    shape: Shape = TableFormat.table,
) -> None:
    """List players and prices, or show how strong one is, by game."""
    if name:
        from peerage.cli.read.leaderboard import explained_scope, show_profile

        with arena_in(folder) as arena, explained_scope():
            show_profile(arena, name, shape)
        return
    from datetime import UTC, datetime

    from peerage.ledger import LedgerMissing, open_ledger
    from peerage.reading.reading import Reading
    from peerage.settings import load
    from peerage.views import catalogue
    from peerage.views.players import hours, players_table, summary, troubles

    settings = load(folder, reading=True)
    notes, outside = [*hours(settings, now_ms())], list[str]()
    try:
        with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
            reading = Reading(settings, ledger)
            speak_of(reading.names)
            notes += troubles(reading)
            outside = [*reading.outsiders]
    except LedgerMissing:
        speak_of_players(settings)
    rows = list(catalogue.players(settings, datetime.now(UTC).date(), outside))
    table = players_table(rows, notes, "")
    show_blocks([Conclusion([summary(rows)]), table], table, shape)
