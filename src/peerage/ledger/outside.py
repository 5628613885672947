"""Results that others recorded, kept in the ledger as entries on a topic of their own.

A file that is imported becomes a **source**: one amendment that names it (file name, SHA-256 of its bytes,
what it holds, who plays), followed by its results in parts. They are no matches: nobody can replay them, and
no table counts them unless it says so. `peerage verify` covers them, and that each source is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from peerage.ledger.store import Amendment, Ledger, LedgerError, amend
from peerage.ratings.data import Battles, Layout, Played
from peerage.ratings.history import Game, duels

TOPIC = "outside"
LABELS = ("judge", "question")
"""The labels of battles that are kept."""

_PART = 5_000


class Source(Struct, frozen=True):
    """A file that was imported.

    `sha256` is that of its bytes, in hex. `players` are everybody in it, by whose place its results name
    them; `results` counts them. `notes` say what was done to the data when they were read.
    """

    name: str
    sha256: str
    layout: Layout
    players: tuple[str, ...]
    results: int
    notes: tuple[str, ...] = ()


class _Part(Struct, omit_defaults=True):
    """Some results of the source before it, as columns.

    Battles have `first`, `second` and `points` of the first (2 won, 1 tied, 0 lost); games have `teams` and
    `ranks` (lower is better). What follows is empty where the source has no such column, or every weight
    is 1; `time` is in seconds since 1970.
    """

    first: list[int] = []
    second: list[int] = []
    points: list[int] = []
    teams: list[tuple[tuple[int, ...], ...]] = []
    ranks: list[tuple[float, ...]] = []
    weight: list[float] = []
    time: list[float] = []
    judge: list[str] = []
    question: list[str] = []

    def __len__(self) -> int:
        return len(self.first) + len(self.teams)


class _Entry(Struct, omit_defaults=True):
    """The body of an amendment: a source begins, or a part of its results."""

    source: Source | None = None
    part: _Part | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def enter(ledger: Ledger, source: Source, data: Battles | Played, at_ms: int) -> bool:
    """Write a source down, all of it or nothing; False, and nothing happens, if its digest is there already.

    The caller holds the runner's lock. Raises LedgerError.
    """
    if any(known.sha256 == source.sha256 for known in sources(ledger)):
        return False
    amend(ledger, TOPIC, [_Entry(source), *[_Entry(part=part) for part in _parts(data)]], at_ms)
    return True


def _parts(data: Battles | Played) -> Iterator[_Part]:
    weight = _weights(data)
    time = [] if data.times is None else data.times.tolist()
    if isinstance(data, Played):
        for start in range(0, len(data.games), _PART):
            part = slice(start, start + _PART)
            games = data.games[part]
            yield _Part(
                teams=[game.teams for game in games],
                ranks=[game.ranks for game in games],
                weight=weight[part],
                time=time[part],
            )
        return
    history = data.duels
    judge, question = (list(data.labels.get(label, ())) for label in LABELS)
    for start in range(0, len(history), _PART):
        part = slice(start, start + _PART)
        yield _Part(
            first=history.first[part].tolist(),
            second=history.second[part].tolist(),
            points=(history.score[part] * 2).astype(np.int64).tolist(),
            weight=weight[part],
            time=time[part],
            judge=judge[part] if any(judge) else [],
            question=question[part] if any(question) else [],
        )


def _weights(data: Battles | Played) -> list[float]:
    weight: list[float] = (
        [game.weight for game in data.games] if isinstance(data, Played) else data.duels.weight.tolist()
    )
    return [] if all(each == 1 for each in weight) else weight


def sources(ledger: Ledger) -> list[Source]:
    """Every source, in the order in which they were imported."""
    return list(_sources(ledger.amendments(TOPIC)))


def _sources(said: Iterable[Amendment]) -> Iterator[Source]:
    for row in said:
        if row.body.startswith(b'{"source":'):
            entry = _decode(row.body)
            if entry.source is not None:
                yield entry.source


def read(ledger: Ledger) -> list[tuple[Source, Battles | Played]]:
    """Every source with its results as they were read from the file. Raises LedgerError when one is not
    complete, or its results name somebody who is not there.
    """
    found: list[tuple[Source, Battles | Played]] = []
    for source, parts in _grouped(ledger.amendments(TOPIC)):
        try:
            found.append(
                (source, _battles(source, parts) if parts and parts[0].first else _games(source, parts))
            )
        except (ValueError, IndexError) as error:
            raise LedgerError(
                f"outside results of {source.name}: {error}; `peerage verify` says what still stands"
            ) from None
    return found


def problems(said: Iterable[Amendment]) -> list[str]:
    """What is wrong with the sources beside what the log holds: results missing, or too many."""
    found: list[str] = []
    try:
        for source, parts in _grouped(said):
            there = sum([len(part) for part in parts])
            if there != source.results:
                found.append(
                    f"outside results of {source.name}: {there} are there, {source.results} were imported"
                )
    except msgspec.MsgspecError as error:
        found.append(f"outside results cannot be read: {error}")
    return found


def _grouped(said: Iterable[Amendment]) -> Iterator[tuple[Source, list[_Part]]]:
    source: Source | None = None
    parts: list[_Part] = []
    for row in said:
        entry = _decode(row.body)
        if entry.source is not None:
            if source is not None:
                yield source, parts
            source, parts = entry.source, []
        if entry.part is not None:
            parts.append(entry.part)
    if source is not None:
        yield source, parts


def _battles(source: Source, parts: Sequence[_Part]) -> Battles:
    def column(name: str) -> list[Any]:
        return [value for part in parts for value in getattr(part, name)]

    weight, time = column("weight"), column("time")
    labels = {label: tuple(column(label)) for label in LABELS}
    history = duels(
        len(source.players),
        column("first"),
        column("second"),
        np.array(column("points"), np.float64) / 2,
        weight or None,
    )
    return Battles(
        source.players,
        history,
        {label: values for label, values in labels.items() if values},
        notes=source.notes,
        layout=source.layout,
        times=np.array(time, np.float64) if time else None,
    )


def _games(source: Source, parts: Sequence[_Part]) -> Played:
    games: list[Game] = []
    time: list[float] = []
    everybody = range(len(source.players))
    for part in parts:
        if any(player not in everybody for teams in part.teams for team in teams for player in team):
            raise ValueError(f"a player is not from 0 to {len(everybody) - 1}")
        weights = part.weight or [1.0] * len(part.teams)
        games += [
            Game(teams, ranks, None, weight)
            for teams, ranks, weight in zip(part.teams, part.ranks, weights, strict=True)
        ]
        time += part.time
    return Played(
        source.players,
        tuple(games),
        source.notes,
        source.layout,
        np.array(time, np.float64) if time else None,
    )


def rows(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Every outside result as a row that `peerage rate` and `peerage import` read, marked with its source."""
    for source, data in read(ledger):
        mark = {"source": source.name, "sha256": source.sha256}
        for number, result in enumerate(_results(data)):
            when = {} if data.times is None else {"timestamp": float(data.times[number])}
            yield mark | result | when


def lines(ledger: Ledger) -> Iterator[str]:
    """`rows` as JSON lines."""
    for row in rows(ledger):
        yield f"{msgspec.json.encode(row).decode()}\n"


def _results(data: Battles | Played) -> Iterator[dict[str, Any]]:
    names = data.names
    if isinstance(data, Played):
        for game in data.games:
            teams = [[names[player] for player in team] for team in game.teams]
            players = [team[0] if len(team) == 1 else team for team in teams]
            yield {"players": players, "ranks": list(game.ranks), "weight": game.weight}
        return
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    history = data.duels
    columns = (
        history.first.tolist(),
        history.second.tolist(),
        history.score.tolist(),
        history.weight.tolist(),
    )
    for number, (a, b, score, weight) in enumerate(zip(*columns, strict=True)):
        yield {
            "model_a": names[a],
            "model_b": names[b],
            "winner": words[score],
            "weight": weight,
            **{label: values[number] for label, values in data.labels.items()},
        }
