"""Results that others recorded, kept in the ledger as entries on a topic of their own.

A file that is imported becomes a **source**: one amendment that names it (file name, SHA-256 of its bytes,
what it holds, who plays), followed by its results in parts. They are no matches: nobody can replay them, and
no table counts them unless it says so. `peerage verify` covers them, and that each source is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from peerage.ledger.store import Amendment, Ledger, LedgerError, amend
from peerage.ratings.history import Game, duels
from peerage.ratings.kernels import Floats
from peerage.ratings.read.forms import Layout
from peerage.ratings.read.histories import BOTH_BAD, Battles, PlayedGames, Used

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
    is 1; `time` is in seconds since 1970, `used` what each team's play in a game took, `bad` whether it tied
    two answers said to be bad.
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
    used: list[tuple[Used, ...]] = []
    bad: list[bool] = []

    def __len__(self) -> int:
        return len(self.first) + len(self.teams)


class _Entry(Struct, omit_defaults=True):
    """The body of an amendment: a source begins, or a part of its results."""

    source: Source | None = None
    part: _Part | None = None


_decode = msgspec.json.Decoder(_Entry).decode


def enter(ledger: Ledger, source: Source, data: Battles | PlayedGames, at_ms: int) -> bool:
    """Write a source down, all of it or nothing; return False, and write nothing, where its digest is there.

    The caller holds the runner's lock. Raises LedgerError.
    """
    if any(known.sha256 == source.sha256 for known in sources(ledger)):
        return False
    amend(ledger, TOPIC, [_Entry(source), *[_Entry(part=part) for part in _parts(data)]], at_ms)
    return True


SCORED_BY = "score {} of each sample"
"""The note of a source of which score counts, where one was named."""


def scored_by(source: Source) -> str:
    """That note of a source; empty where no score was named."""
    before, after = SCORED_BY.split("{}")
    return next((note for note in source.notes if note.startswith(before) and note.endswith(after)), "")


def _parts(data: Battles | PlayedGames) -> Iterator[_Part]:
    if isinstance(data, PlayedGames):
        weight = [game.weight for game in data.games]
        whole = _Part(teams=[game.teams for game in data.games], ranks=[game.ranks for game in data.games])
        whole.used = list(data.used)
    else:
        history, weight = data.duels, data.duels.weight.tolist()
        whole = _Part(history.first.tolist(), history.second.tolist())
        whole.points = (history.score * 2).astype(np.int64).tolist()
        whole.bad = [] if data.both_bad is None else data.both_bad.tolist()
        for label in LABELS:
            if any(data.labels.get(label, ())):
                setattr(whole, label, list(data.labels[label]))
    whole.weight = weight if any(each != 1 for each in weight) else []
    whole.time = [] if data.times is None else data.times.tolist()
    for start in range(0, len(whole), _PART):
        yield _Part(*[column[start : start + _PART] for column in astuple(whole)])


def sources(ledger: Ledger) -> list[Source]:
    """Every source, in the order in which they were imported."""
    return list(_sources(ledger.amendments(TOPIC)))


def _sources(said: Iterable[Amendment]) -> Iterator[Source]:
    for row in said:
        if row.body.startswith(b'{"source":'):
            entry = _decode(row.body)
            if entry.source is not None:
                yield entry.source


def read(ledger: Ledger) -> list[tuple[Source, Battles | PlayedGames]]:
    """Every source with its results as they were read from the file. Raises LedgerError when one is not
    complete, or its results name somebody who is not there.
    """
    found: list[tuple[Source, Battles | PlayedGames]] = []
    for source, whole in _joined(ledger.amendments(TOPIC)):
        try:
            found.append((source, (_battles if whole.first else _games)(source, whole)))
        except (ValueError, IndexError) as error:
            raise LedgerError(
                f"outside results of {source.name}: {error}; `peerage verify` says what still stands"
            ) from None
    return found


def problems(said: Iterable[Amendment]) -> list[str]:
    """What is wrong with the sources beside what the log holds: results missing, or too many."""
    found: list[str] = []
    try:
        for source, whole in _joined(said):
            if len(whole) != source.results:
                there = f"{len(whole)} are there, {source.results} were imported"
                found.append(f"outside results of {source.name}: {there}")
    except msgspec.MsgspecError as error:
        found.append(f"outside results cannot be read: {error}")
    return found


def _joined(said: Iterable[Amendment]) -> Iterator[tuple[Source, _Part]]:
    """Every source with the parts of its results as one."""
    source, whole = None, _Part()
    for row in said:
        entry = _decode(row.body)
        if entry.source is not None:
            if source is not None:
                yield source, whole
            source, whole = entry.source, _Part()
        if entry.part is not None:
            for column, more in zip(astuple(whole), astuple(entry.part), strict=True):
                column.extend(more)
    if source is not None:
        yield source, whole


def _battles(source: Source, whole: _Part) -> Battles:
    score = np.array(whole.points, np.float64) / 2
    history = duels(len(source.players), whole.first, whole.second, score, whole.weight or None)
    if len(whole.bad) not in (0, len(history)):
        raise ValueError(f"{len(whole.bad)} results say whether both answers were bad, of {len(history)}")
    labels = {label: tuple(getattr(whole, label)) for label in LABELS if getattr(whole, label)}
    return Battles(
        source.players,
        history,
        labels,
        notes=source.notes,
        layout=source.layout,
        times=_times(whole),
        both_bad=np.array(whole.bad, np.bool_) if whole.bad else None,
    )


def _games(source: Source, whole: _Part) -> PlayedGames:
    everybody = range(len(source.players))
    if any(player not in everybody for teams in whole.teams for team in teams for player in team):
        raise ValueError(f"a player is not from 0 to {len(everybody) - 1}")
    weights = whole.weight or [1.0] * len(whole.teams)
    games = [
        Game(teams, ranks, None, weight)
        for teams, ranks, weight in zip(whole.teams, whole.ranks, weights, strict=True)
    ]
    return PlayedGames(
        source.players, tuple(games), source.notes, source.layout, _times(whole), tuple(whole.used)
    )


def _times(whole: _Part) -> Floats | None:
    return np.array(whole.time, np.float64) if whole.time else None


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


def _results(data: Battles | PlayedGames) -> Iterator[dict[str, Any]]:
    names = data.names
    if isinstance(data, PlayedGames):
        for number, game in enumerate(data.games):
            teams = [[names[player] for player in team] for team in game.teams]
            players = [team[0] if len(team) == 1 else team for team in teams]
            took = data.used[number] if data.used else ()
            columns = dict(
                zip(("costs", "tokens", "seconds"), map(list, zip(*took, strict=True)), strict=False)
            )
            yield {"players": players, "ranks": list(game.ranks), "weight": game.weight, **columns}
        return
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    history = data.duels
    bad = np.zeros(len(history), np.bool_) if data.both_bad is None else data.both_bad
    for number, score in enumerate(history.score.tolist()):
        yield {
            "model_a": names[history.first[number]],
            "model_b": names[history.second[number]],
            "winner": BOTH_BAD if bad[number] else words[score],
            "weight": float(history.weight[number]),
            **{label: values[number] for label, values in data.labels.items()},
        }
