"""`peerage players`, `peerage games`: what is there to play with."""

from __future__ import annotations

from typing import Any

from peerage.cli.options import HERE, Folder, Format, Shape
from peerage.cli.output import Column, show


def players(folder: Folder = HERE, shape: Shape = Format.table) -> None:
    """List the arena's players and their prices."""
    from datetime import UTC, datetime

    from peerage.players.prices import price_of
    from peerage.settings import load

    today = datetime.now(UTC).date()
    rows: list[dict[str, Any]] = []
    unknown: list[str] = []
    for player in load(folder).players:
        price = price_of(player, today)
        if not price.known:
            unknown.append(player.name)
        rows.append(
            {
                "player": player.name,
                "model": player.public_model,
                "family": player.family,
                "architecture": player.architecture,
                "base_url": player.base_url,
                "input_usd_per_million": price.input[0].femto / 1e9 if price.input else None,
                "output_usd_per_million": price.output[0].femto / 1e9 if price.output else None,
                "gpu_hour_usd": player.gpu_hour_price,
                "pricing_source": price.source,
            }
        )
    columns = [
        Column("player", "Player"),
        Column("model", "Model"),
        Column("family", "Family"),
        Column("input_usd_per_million", ">$ in / M tokens", "{:g}".format),
        Column("output_usd_per_million", ">$ out / M tokens", "{:g}".format),
        Column("pricing_source", "Prices from"),
    ]
    notes = [
        f"No price is known for {', '.join(unknown)}: their matches stay off the cost track, and a budget "
        "refuses them. `price: {input: …, output: …}` states one."
    ]
    show(rows, columns, shape, notes=notes if unknown else ())


def games(shape: Shape = Format.table) -> None:
    """List the games, and who is needed for a match."""
    from peerage.games import GAMES

    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    for name in GAMES:
        try:
            game = GAMES[name]
        except ImportError as error:
            broken.append(str(error))
            continue
        fewest, most = game.contestants
        officials = game.officials(game.rules())
        rows.append(
            {
                "game": game.name,
                "version": game.version,
                "contestants": list(game.contestants),
                "officials": {bench.role: [bench.minimum, bench.wanted] for bench in officials},
                "about": game.about,
                "seats": f"{fewest}" if fewest == most else f"{fewest}–{most}",
            }
        )
    columns = [
        Column("game", "Game"),
        Column("version", ">Version"),
        Column("seats", ">Contestants"),
        Column("officials", "Officials", _benches),
        Column("about", "About"),
    ]
    show(rows, columns, shape, notes=broken)


def _benches(officials: dict[str, list[int]]) -> str:
    return ", ".join(
        f"{fewest} {role}" if fewest == most else f"{fewest}–{most} {role}"
        for role, (fewest, most) in officials.items()
    )
