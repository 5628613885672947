"""Results that others recorded, kept in the ledger as entries on a topic of their own.

A file that is imported becomes a **source**: one amendment that names it (file name, SHA-256 of its bytes,
what it holds, who plays), followed by its results, as rows that `ratings.read` reads like those of any file.
They are no matches: nobody can replay them, and tables that count them say so. `peerage verify` covers them,
and that each source is complete.
"""

from __future__ import annotations

import io
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Raw, Struct

from peerage.ledger.forms.rows import Amendment, LedgerError
from peerage.ledger.ledger import Ledger, amend
from peerage.ratings.read.answers import Answers
from peerage.ratings.read.forms import GivenForm, Layout
from peerage.ratings.read.histories import Battles, PlayedGames
from peerage.ratings.read.results import read as read_files
from peerage.ratings.read.words import BOTH_BAD, WINNERS
from peerage.values.figures import counted

TOPIC = "outside"
LABELS = ("judge", "question", "category", "language", "is_code")
"""The labels of battles that are kept."""

_PART = 1_000


class Source(Struct, frozen=True):
    """A file that was imported. `sha256` is that of its bytes, in hex. `players` are everybody in it;
    `results` counts its results. `notes` say what was done to the data when they were read."""

    name: str
    sha256: str
    layout: Layout
    players: tuple[str, ...]
    results: int
    notes: tuple[str, ...] = ()


class _Entry(Struct, omit_defaults=True):
    """The body of an amendment: a source begins, or some rows of the one before it."""

    source: Source | None = None
    rows: list[Raw] = []


_decode = msgspec.json.Decoder(_Entry).decode


def enter(ledger: Ledger, source: Source, data: Battles | PlayedGames, at_ms: int) -> bool:
    """Write a source down, all of it or nothing; return False, and write nothing, where its digest is there.
    The caller holds the runner's lock. Raises LedgerError."""
    if any(known.sha256 == source.sha256 for known in sources(ledger)):
        return False
    written = [Raw(msgspec.json.encode(row)) for row in _rows(data)]
    parts = [_Entry(rows=written[at : at + _PART]) for at in range(0, len(written), _PART)]
    amend(ledger, TOPIC, [_Entry(source), *parts], at_ms)
    return True


def sources(ledger: Ledger) -> list[Source]:
    """Return every source, in the order in which they were imported."""
    every = [
        _decode(row.body).source for row in ledger.amendments(TOPIC) if row.body.startswith(b'{"source":')
    ]
    return [source for source in every if source is not None]


def read(ledger: Ledger) -> list[tuple[Source, Battles | PlayedGames]]:
    """Return every source with its results as they were read from the file. Raises LedgerError when they
    cannot be read, or name somebody who is not there."""
    every: list[tuple[Source, Battles | PlayedGames]] = []
    for source, written, _ in _joined(ledger.amendments(TOPIC)):
        try:
            body = io.BytesIO(b"\n".join(written))
            data = read_files([("", body)], kept=LABELS, given=GivenForm(strict=True))
            strangers = {*data.names} - {*source.players}
            if isinstance(data, Answers) or strangers:
                raise ValueError(f"they are no results of its {len(source.players)} players")
        except ValueError as error:
            raise LedgerError(
                f"outside results of {source.name}: {error}; `peerage verify` says what still stands"
            ) from None
        every.append((source, replace(data, layout=source.layout, notes=source.notes)))
    return every


def problems(amendments: Iterable[Amendment], altered: Container[int]) -> list[str]:
    """Return how sources differ from the log: results missing, surplus, or in `altered` entries."""
    wrong: list[str] = []
    try:
        for source, written, positions in _joined(amendments):
            if len(written) != source.results:
                there = f"{len(written)} are there, {source.results} were imported"
                wrong.append(f"outside results of {source.name}: {there}")
            if changed := [at for at in positions if at in altered]:
                entries = f"{counted(len(changed), 'entry')} of the log, from {changed[0]} on,"
                wrong.append(f"outside results of {source.name}: {entries} changed since the import")
    except msgspec.MsgspecError as error:
        wrong.append(f"outside results cannot be read: {error}")
    return wrong


def _joined(amendments: Iterable[Amendment]) -> Iterator[tuple[Source, list[Raw], list[int]]]:
    """Yield every source with its rows, and the positions of its entries."""
    source, written, positions = None, list[Raw](), list[int]()
    for row in amendments:
        entry = _decode(row.body)
        if entry.source is not None:
            if source is not None:
                yield source, written, positions
            source, written, positions = entry.source, [], []
        written += entry.rows
        positions.append(row.position)
    if source is not None:
        yield source, written, positions


def counts(source: Source, data: Battles | PlayedGames) -> dict[str, int]:
    """Return how many results a source has, by noun; of answers to a question each counts."""
    if isinstance(data, Battles):
        return {"vote": len(data.duels)}
    answers = source.layout == "answers"
    return {"answer": sum([len(game.teams) for game in data.games])} if answers else {"game": len(data.games)}


def texts(ledger: Ledger) -> Iterator[tuple[Source, list[str]]]:
    """Yield every source with its results as lines of JSON that `peerage rate` and `peerage import` read,
    each marked with the source."""
    for source, written, _ in _joined(ledger.amendments(TOPIC)):
        mark = {"source": source.name, "sha256": source.sha256}
        mark |= {"layout": "answers"} if source.layout == "answers" else {}  # games of a question each
        rows = (mark | msgspec.json.decode(row) for row in written)
        yield source, [f"{msgspec.json.encode(row).decode()}\n" for row in rows]


def _rows(data: Battles | PlayedGames) -> Iterator[dict[str, Any]]:
    """Yield the results of a history as rows, without columns that say nothing."""
    results = _games(data) if isinstance(data, PlayedGames) else _battles(data)
    for number, (row, weight) in enumerate(results):
        if weight != 1:
            row["weight"] = weight
        if data.times is not None:
            row["timestamp"] = float(data.times[number])
        yield row


def _games(data: PlayedGames) -> Iterator[tuple[dict[str, Any], float]]:
    for number, game in enumerate(data.games):
        teams = [[data.names[player] for player in team] for team in game.teams]
        row: dict[str, Any] = {"players": [team[0] if len(team) == 1 else team for team in teams]}
        row["ranks"] = list(game.ranks)
        if data.used and data.used[number]:
            took = map(list, zip(*data.used[number], strict=True))
            row.update(zip(("costs", "tokens", "seconds"), took, strict=True))
        yield row, game.weight


def _battles(data: Battles) -> Iterator[tuple[dict[str, Any], float]]:
    history = data.duels
    for number, score in enumerate(history.score.tolist()):
        bad = data.both_bad is not None and data.both_bad[number]
        row = {
            "model_a": data.names[history.first[number]],
            "model_b": data.names[history.second[number]],
            "winner": BOTH_BAD if bad else WINNERS.get(score, ""),
        }
        row |= {"share": score} if score not in WINNERS else {}
        row |= {label: values[number] for label, values in data.labels.items() if values[number]}
        yield row, float(history.weight[number])
