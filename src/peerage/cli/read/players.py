"""`peerage players`: who is there to play."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from peerage.cli.shared.options import (
    HERE,
    Folder,
    Format,
    Shape,
    arena_in,
)
from peerage.cli.shared.output import show
from peerage.render.blocks import numbers, texts
from peerage.values.clock import now_ms
from peerage.values.figures import moment


def players(
    name: Annotated[
        str,
        typer.Argument(help="One of them: how strong it is in each game.", show_default="all"),
    ] = "",
    folder: Folder = HERE,
    shape: Shape = Format.table,
) -> None:
    """List players and prices, or show how strong one is, by game."""
    if name:
        from peerage.cli.read.leaderboard import told_scope
        from peerage.cli.read.strengths import show_profile

        with arena_in(folder) as arena, told_scope():
            show_profile(arena, name, shape)
        return
    from datetime import UTC, datetime

    from peerage.settings import load
    from peerage.settings.players.hours import closed_until, read_hours
    from peerage.views import catalogue

    settings = load(folder, reading=True)
    rows = list(catalogue.players(settings, datetime.now(UTC).date()))
    columns = [
        *texts(player="Player", model="Model", family="Family ~2"),
        *numbers("{:g}".format, input_usd_per_million="$ in", output_usd_per_million="$ out"),
        *texts(pricing_source="Prices from ~1"),
    ]
    notes = [
        f"{player.name} is available {player.available}"
        + (f"; out of hours until {moment(until)}" if until else "")
        for player in settings.everyone
        if player.available
        for until in (closed_until(read_hours(player.available), now_ms()),)
    ]
    notes += _on_record(folder)
    if unknown := ", ".join(row.player for row in rows if not row.price_known):
        notes.insert(
            0,
            f"No price is known for {unknown}: their matches stay off the cost track, and a budget "
            "refuses them. `price: {input: …, output: …}` states one.",
        )
    notes.append("$ in, $ out: dollars per million tokens")
    show([row.as_dict() for row in rows], columns, shape, notes=notes)


def _on_record(folder: Path) -> list[str]:
    """Who of the arena's players is benched, and whose provider changed what answers; nobody before the first
    run."""
    from peerage.engine.record.model_watch import in_words
    from peerage.ledger import LedgerError, open_ledger
    from peerage.reading.reading import Reading
    from peerage.settings import load

    settings = load(folder, reading=True)
    try:
        ledger = open_ledger(settings.ledger, folder, create=False)
    except LedgerError:
        return []
    with closing(ledger):
        names = [player.name for player in settings.everyone]
        reading = Reading(settings, ledger)
        out, models = reading.benched, reading.models
    return [
        *[f"{name} is {out[name].in_words}" for name in names if name in out],
        *[f"{name}: {line}" for name in names for line in in_words(models, name)],
    ]
