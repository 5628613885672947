"""Outside results in tables: alone, or next to the matches of the arena, and always named as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import msgspec
import numpy as np

from peerage.ledger import Ledger
from peerage.ledger.topics.outside import Source, read, sources
from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, GameColumns, as_games, games, pairings, shared
from peerage.ratings.read.histories import Battles, Used
from peerage.reading.results.evidence import MatchEvidence
from peerage.standings.accounts import NOTHING, Account
from peerage.values.figures import counted
from peerage.values.texts import visible


class Outside(MatchEvidence):
    """The outside results of a ledger, before the results of `beside` where that is given.

    `players` maps everybody in either to a number. Raises LedgerError when they cannot be read.
    """

    def __init__(self, ledger: Ledger, beside: MatchEvidence | None = None) -> None:
        self.players: dict[str, int] = dict(beside.players) if beside else {}
        self._beside = beside
        self._found = read(ledger)
        for source, _ in self._found:
            for name in source.players:
                self.players.setdefault(name, len(self.players))

    @cached_property
    def _parts(self) -> list[Duels | GameColumns]:
        """The results of each source, with everybody's number here."""
        parts: list[Duels | GameColumns] = []
        for _, data in self._found:
            places = np.array([self.players[name] for name in data.names], np.int64)
            if isinstance(data, Battles):
                parts.append(_renumbered(data.duels, places, len(self.players)))
            else:
                table = games(len(data.names), data.games, seats="mean")
                parts.append(replace(table, players=len(self.players), seat=places[table.seat]))
        return parts

    @cached_property
    def _all(self) -> tuple[Duels, Ints | None]:
        """Everything as duels, and the result that each is of (None where each is one of its own)."""
        parts = [part for part in self._parts if isinstance(part, Duels)]
        if len(parts) < len(self._parts) or (self._beside is not None and self._beside.sources is not None):
            history, source = pairings(self.tables)
            return history, shared(source)
        if self._beside is not None:
            own = self._beside.history
            parts.append(_renumbered(own, np.arange(own.players), len(self.players)))
        joined = Duels(
            len(self.players),
            np.concatenate([_NOBODY, *[part.first for part in parts]]),
            np.concatenate([_NOBODY, *[part.second for part in parts]]),
            np.concatenate([_NOTHING, *[part.score for part in parts]]),
            np.concatenate([_NOTHING, *[part.weight for part in parts]]),
        )
        return joined, None

    @property
    def history(self) -> Duels:
        """Every result as duels."""
        return self._all[0]

    @property
    def sources(self) -> Ints | None:
        """The result that each duel of `history` is of; None where every result is one duel."""
        return self._all[1]

    @cached_property
    def tables(self) -> GameColumns:
        """Every result with its ranking, whatever its size."""
        parts = [_table(part) for part in self._parts]
        if self._beside is not None:
            parts.append(self._beside.tables)
        return _joined(parts, len(self.players))

    def accounts(self, own: Mapping[str, Account]) -> dict[str, Account]:
        """Results won, drawn and lost, added to what everybody did in the arena."""
        names = list(self.players)
        merged = dict(own)
        for part in self._parts:
            for name, (wins, draws, losses) in zip(names, _tallied(_table(part), len(names)), strict=True):
                if wins + draws + losses:
                    was = merged.get(name, NOTHING)
                    merged[name] = msgspec.structs.replace(
                        was,
                        matches=was.matches + wins + draws + losses,
                        wins=was.wins + wins,
                        draws=was.draws + draws,
                        losses=was.losses + losses,
                    )
        for name, took in self._used():
            was = merged[name]
            merged[name] = msgspec.structs.replace(
                was,
                output_tokens=was.output_tokens + int(took.tokens or 0),
                cost_nano=was.cost_nano + round((took.cost or 0) * 1e9),
                answer_cost=was.answer_cost + (took.cost or 0),
                answers_priced=was.answers_priced + (took.cost is not None),
            )
        return merged

    def _used(self) -> Iterator[tuple[str, Used]]:
        """Yield what the play of each took in each game, teams of one."""
        for _, data in self._found:
            if not isinstance(data, Battles):
                for game, took in zip(data.games, data.used, strict=False):
                    for team, place in zip(game.teams, took, strict=False):
                        if len(team) == 1:
                            yield data.names[team[0]], place

    @cached_property
    def speeds(self) -> Mapping[str, float]:
        """Tokens a second of everybody whose games say it."""
        sums: dict[str, list[float]] = {}
        for name, took in self._used():
            if took.tokens is not None and took.seconds is not None:
                known = sums.setdefault(name, [0.0, 0.0])
                known[0] += took.tokens
                known[1] += took.seconds
        return {name: tokens / seconds for name, (tokens, seconds) in sums.items() if seconds > 0}

    def notes(self) -> tuple[str, ...]:
        """Return what a reader must know: whose results these are."""
        return noted([source for source, _ in self._found], rated=True)


def uncounted(ledger: Ledger) -> tuple[str, ...]:
    """Return what a table of played matches alone says of outside results; nothing when there are none."""
    return noted(sources(ledger), rated=False)


def noted(sources: list[Source], *, rated: bool) -> tuple[str, ...]:
    """Outside results by source, counted in a table or not."""
    if not sources:
        return ("there are no outside results",) if rated else ()
    total = sum(source.results for source in sources)
    if not rated:
        results = counted(total, "outside result is", "outside results are")
        them = "it" if total == 1 else "them"
        return (f"{results} not counted; `leaderboard --source all` counts {them} too",)
    named = [
        f"{visible(source.name)} ({source.results:,}, sha256 {visible(source.sha256[:12])}…)"
        for source in sources
    ]
    more = f" and {len(named) - 5} more" if len(named) > 5 else ""
    return (f"{counted(total, 'outside result')}, not played here: {', '.join(named[:5])}{more}",)


_NOBODY: Ints = np.empty(0, np.int64)
_NOTHING: Floats = np.empty(0)


def _renumbered(duels: Duels, places: Ints, players: int) -> Duels:
    return Duels(players, places[duels.first], places[duels.second], duels.score, duels.weight)


def _table(part: Duels | GameColumns) -> GameColumns:
    return part if isinstance(part, GameColumns) else as_games(part)


def _joined(parts: list[GameColumns], players: int) -> GameColumns:
    game, team = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    for part in parts:
        game.append(part.game[1:] + game[-1][-1])
        team.append(part.team[1:] + team[-1][-1])
    return GameColumns(
        players,
        np.concatenate(game),
        np.concatenate(team),
        np.concatenate([_NOTHING, *[part.rank for part in parts]]),
        np.concatenate([_NOBODY, *[part.seat for part in parts]]),
        np.concatenate([_NOTHING, *[part.share for part in parts]]),
        np.concatenate([_NOTHING, *[part.weight for part in parts]]),
    )


def _tallied(table: GameColumns, players: int) -> list[tuple[int, int, int]]:
    """Wins (the best rank alone), draws (the best shared) and losses of each player."""
    count = len(table)
    if not count:
        return [(0, 0, 0)] * players
    number = np.repeat(np.arange(count), np.diff(table.game))  # of each team's game
    best = table.rank == table.rank[table.game[:-1]][number]
    shared = (np.bincount(number, best) > 1)[number]
    of = np.repeat(np.arange(len(table.rank)), np.diff(table.team))  # of each seat's team
    kinds = (best & ~shared, best & shared, ~best)
    columns = [np.bincount(table.seat[kind[of]], minlength=players).tolist() for kind in kinds]
    return list(zip(*columns, strict=True))
