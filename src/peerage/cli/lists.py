"""`peerage players` and `judges`: who is there to play, and how the judges agree."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from peerage.blocks import numbers, texts
from peerage.cli.options import (
    HERE,
    Folder,
    Format,
    Shape,
    arena_in,
    at,
    program,
    prose,
)
from peerage.cli.output import show, show_parts
from peerage.clock import now_ms
from peerage.figures import moment


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
        from peerage.cli.leaderboard import told_scope
        from peerage.cli.strengths import show_profile

        with arena_in(folder) as arena, told_scope():
            show_profile(arena, name, shape)
        return
    from datetime import UTC, datetime

    from peerage.settings import load
    from peerage.settings.hours import closed_until, read_hours
    from peerage.tables import catalogue

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
    from peerage.engine.model_watch import in_words
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


def judges(
    folder: Folder = HERE,
    of: Annotated[
        Literal["people", "measures", "judges", "favours", "challenges"] | None,
        typer.Option("--of", help="One table alone (CSV: judges, if not said)."),
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Chance that any of the favours found is false.")
    ] = 0.05,
    shape: Shape = Format.table,
) -> None:
    """Show how judges agree and what they favour.

    JSON holds all tables as one object, or with --of as the list of one; `favours` then lists every judge and
    author tested, found or not.
    """
    from peerage.ledger.votes import PeopleVotes
    from peerage.tables.judges import judges as counted
    from peerage.views.judges import about_favours, parts

    with arena_in(folder) as arena:
        people = PeopleVotes(arena.ledger.address, arena.folder)
        report = counted(arena.reading, level, people)
    if report.remarks and of is None and shape.for_people:
        for remark in report.remarks:
            prose(remark)
        if any(remark.endswith("Exclude it?") for remark in report.remarks):
            prose(
                f"`{program()} leaderboard{at(folder)} --without-judge NAME` shows the table without a judge"
            )
        typer.echo()
    if of != "favours" or not shape.for_people or any(pair.found for pair in report.favours):
        show_parts(report, parts(report, every_pair=not shape.for_people), of, shape, "judges")
    if of in (None, "favours") and shape.for_people:
        prose(about_favours(report, level))
