"""`peerage players`: who is there to play."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from peerage.cli.options import HERE, Folder, Format, Shape
from peerage.cli.output import Column, show


def players(folder: Folder = HERE, shape: Shape = Format.table) -> None:
    """List the arena's players and their prices."""
    from datetime import UTC, datetime

    from peerage.settings import load
    from peerage.tables import catalogue

    rows = list(catalogue.players(load(folder, reading=True), datetime.now(UTC).date()))
    columns = [
        Column("player", "Player"),
        Column("model", "Model"),
        Column("family", "Family", str, 2),
        Column("input_usd_per_million", ">$ in / M tokens", "{:g}".format),
        Column("output_usd_per_million", ">$ out / M tokens", "{:g}".format),
        Column("pricing_source", "Prices from", str, 1),
    ]
    unknown = ", ".join(row.player for row in rows if not row.price_known)
    notes = [
        f"No price is known for {unknown}: their matches stay off the cost track, and a budget "
        "refuses them. `price: {input: …, output: …}` states one."
    ]
    noted = [*(notes if unknown else ()), *_on_record(folder)]
    show([row.as_dict() for row in rows], columns, shape, notes=noted)


def _on_record(folder: Path) -> list[str]:
    """Who of the arena's players is benched, and whose provider changed what answers; nobody before the first
    run."""
    from peerage.engine.benches import benched
    from peerage.engine.model_watch import changes, told
    from peerage.ledger import LedgerError, open_ledger
    from peerage.settings import load

    settings = load(folder, reading=True)
    try:
        ledger = open_ledger(settings.ledger, folder, create=False)
    except LedgerError:
        return []
    with closing(ledger):
        names = [player.name for player in settings.players]
        out, models = benched(ledger), changes(ledger)
    return [
        *[f"{name} is {out[name].told}" for name in names if name in out],
        *[f"{name}: {line}" for name in names for line in told(models, name)],
    ]
