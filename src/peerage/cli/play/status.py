"""`peerage status`: who runs an arena, and what it is doing now."""

from __future__ import annotations

from typing import Annotated

import typer

from peerage.cli.shared.options import HERE, MOST_MATCHES, Folder, Shape, TableFormat, ledger_in
from peerage.cli.shared.output import show_blocks, show_json
from peerage.values.clock import now_ms


def status(
    drop: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_MATCHES,
            metavar="MATCH",
            help="End a match that waits, without a result; what was asked stays on record.",
        ),
    ] = None,
    folder: Folder = HERE,
    shape: Shape = TableFormat.table,
) -> None:
    """Show who runs the arena, how far matches are, and which wait.

    It only reads, from any machine that reaches the ledger, and holds up nobody. A match waits while a player
    pauses for long or asks to be asked later; others go on meanwhile, and the next `peerage run` takes it up
    first. CSV holds the matches under way.
    """
    from peerage.views.status import blocks, tables
    from peerage.views.status import status as status_of

    with ledger_in(folder) as ledger:
        if drop is not None:
            from peerage.engine.again.dropping import BY_OWNER
            from peerage.engine.again.dropping import drop as end

            end(ledger, drop, now_ms())
            typer.echo(f"match {drop} ended without a result: {BY_OWNER}")
            return
        state = status_of(ledger, folder)
    if shape is TableFormat.json:
        show_json(state.as_dict())
    else:
        show_blocks(blocks(state), tables(state)[0], shape)
