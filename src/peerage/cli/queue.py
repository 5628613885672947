"""`peerage queue`: the matches that wait, and what ends one of them."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from peerage.cli.options import HERE, Folder, Format, Shape

Drop = Annotated[
    int | None,
    typer.Option(metavar="MATCH", help="End this match without a result; what was asked stays on record."),
]
Why = Annotated[str, typer.Option(help="Why it is dropped; kept on record.")]


def queue(
    drop: Drop = None,
    why: Why = "dropped by the arena's owner",
    folder: Folder = HERE,
    shape: Shape = Format.table,
) -> None:
    """List the matches that wait, and for whom; or end one.

    A match waits while a player pauses for long or asks to be asked later; others go on meanwhile, and the
    next `peerage run` takes it up first.
    """
    from peerage.cli.output import Column, show
    from peerage.ledger import open_ledger
    from peerage.settings import load
    from peerage.tables.queue import queue as rows

    settings = load(folder, reading=True)
    with closing(open_ledger(settings.ledger, folder, create=False)) as ledger:
        if drop is not None:
            from peerage.engine.dropping import drop as end
            from peerage.protocol import storable

            end(ledger, drop, storable(why)[:500], time.time_ns() // 1_000_000)
            typer.echo(f"match {drop} ended without a result: {why}")
            return
        found = [row.as_dict() for row in rows(ledger)]
    if not found and shape is Format.table:
        typer.echo("no match waits")
        return
    columns = [
        Column("match", ">Match"),
        Column("players", "Between", " and ".join),
        Column("player", "Waits for"),
        Column("why", "Why", str, 1),
        Column("since_ms", "Since", moment),
        Column("until_ms", "Until", moment, 2),
    ]
    counted = "1 match waits" if len(found) == 1 else f"{len(found)} matches wait"
    show(found, columns, shape, title=counted)


def moment(ms: int | None) -> str:
    """A time to the minute, UTC; a dash where it is not known."""
    return "–" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
