"""Exports of an arena: in one text, or as files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from peerage.games import GAMES
from peerage.games.challenge_exchange.valyrian import files as valyrian
from peerage.interchange.battles import battles
from peerage.interchange.challenges import finished
from peerage.interchange.evaluations import eval_results, every_eval_ever
from peerage.ledger import Ledger
from peerage.ledger.out.export import documents, export
from peerage.ledger.topics.outside import texts
from peerage.reading.reading import Reading
from peerage.reading.scope import Scope
from peerage.settings import FILE_NAME, ArenaSettings, load
from peerage.version import __version__
from peerage.views.leaderboard.board import board


def pieces(ledger: Ledger, shape: str) -> Iterator[str]:
    """Return an export, piece by piece."""
    if shape == "votes":
        return battles(ledger)
    if shape == "outside":
        return (line for _, lines in texts(ledger) for line in lines)
    originals = {game.original.layout: game.original for game in GAMES.values() if game.original}
    if shape in originals:
        return originals[shape].write(documents(ledger))
    return export(ledger, shape)  # type: ignore[arg-type]


def files(ledger: Ledger, shape: str, folder: Path, dataset: str, at_ms: int) -> Iterator[tuple[str, str]]:
    """Yield the files of an export that fills a folder, by name."""
    if shape == "valyrian":
        yield from valyrian(finished(ledger))
        return
    if shape == "outside":
        for number, (source, lines) in enumerate(texts(ledger), 1):
            yield f"{number:03}-{source.sha256[:12]}.jsonl", "".join(lines)
        return
    settings = load(folder, reading=True) if (folder / FILE_NAME).exists() else ArenaSettings()
    scope = Scope(source="played" if shape == "eee" else "all")  # whose matches are written beside
    table, name = board(Reading(settings, ledger), scope=scope), settings.name or folder.resolve().name
    if shape == "eee":
        yield from every_eval_ever(ledger, name, table, __version__, at_ms)
    else:
        yield from eval_results(name, table, dataset, datetime.fromtimestamp(at_ms / 1000, UTC))
