"""Outside results as evidence: alone, or together with the matches of the arena, and always named as such."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec
import numpy as np

from peerage.ledger import Ledger
from peerage.ledger.topics.outside import Source, counts, read
from peerage.ratings.arrays import Ints
from peerage.ratings.columns.history import Duels, GameColumns, as_games, games, pairings, shared
from peerage.ratings.read.histories import Battles, PlayedGames, Used
from peerage.ratings.strength.evidence import Evidence, joined, of_duels, of_games
from peerage.reading.results.evidence import MatchEvidence
from peerage.reading.results.played import PlayedMatches
from peerage.reading.results.tally import Record
from peerage.standings.accounts import NOTHING, Account
from peerage.values.figures import counted, listed
from peerage.values.texts import visible

_NAMED = 5


def in_words(results: Mapping[str, int]) -> str:
    """Return numbers of results in words, by their noun: `3,000 votes, 300 games and 12 matches`."""
    found = [counted(number, noun) for noun, number in results.items() if number]
    return listed(found or [counted(0, [*results][-1])])


class Imported:
    """The results of one file: its `names`, and `results` between them, of which `counts` has how many there
    are by noun; `used` is what the play of each took in each game, teams of one."""

    def __init__(self, source: Source, data: Battles | PlayedGames) -> None:
        self.source, self.names, self.counts = source, data.names, counts(source, data)
        self.results: Duels | GameColumns
        self.used: list[tuple[str, Used]] = []
        if isinstance(data, Battles):
            self.results = data.duels
            return
        self.results = games(len(data.names), data.games, seats="mean")
        for game, took in zip(data.games, data.used, strict=False):
            teams = zip(game.teams, took, strict=False)
            self.used += [(data.names[team[0]], use) for team, use in teams if len(team) == 1]

    def against(self, player: str) -> dict[str, Record]:
        """Return the record of one player against each other that it met, by name."""
        if player not in self.names:
            return {}
        duels = self._duels
        sides = ((duels.first, duels.second, duels.score), (duels.second, duels.first, 1 - duels.score))
        met: Ints = np.zeros((3, len(self.names)), np.int64)
        for own, other, score in sides:
            mine = own == self.names.index(player)
            np.add.at(met, (1 - np.sign(score[mine] - 0.5).astype(np.int64), other[mine]), 1)
        columns = zip(self.names, *met.tolist(), strict=True)
        return {other: Record(*results) for other, *results in columns if any(results)}

    @cached_property
    def _duels(self) -> Duels:
        return self.results if isinstance(self.results, Duels) else pairings(self.results)[0]


def imported(ledger: Ledger) -> list[Imported]:
    """Return the outside results of a ledger by file. Raises LedgerError when they cannot be read."""
    return [Imported(source, data) for source, data in read(ledger)]


def total(files: Iterable[Imported]) -> dict[str, int]:
    """Return how many results files hold, by noun."""
    found: dict[str, int] = {}
    for noun, number in [pair for file in files for pair in file.counts.items()]:
        found[noun] = found.get(noun, 0) + number
    return found


class Outside(MatchEvidence):
    """The results of these files, before the matches `beside` where those are given. `players` maps everybody
    in either to a number."""

    def __init__(self, files: Sequence[Imported], beside: PlayedMatches | None = None) -> None:
        self.files = files
        self.beside = beside
        self.players: dict[str, int] = dict(beside.players) if beside else {}
        for file in files:
            for name in file.names:
                self.players.setdefault(name, len(self.players))

    @cached_property
    def _parts(self) -> list[Duels | GameColumns]:
        """The results of each file, and the matches beside them last, with everybody's number here."""
        given = [(file.names, file.results) for file in self.files]
        if self.beside is not None:
            own = self.beside.history if self.beside.sources is None else self.beside.tables
            given.append((tuple(self.beside.players), own))
        parts: list[Duels | GameColumns] = []
        for names, part in given:
            places, n = np.array([self.players[name] for name in names], np.int64), len(self.players)
            if isinstance(part, Duels):
                parts.append(Duels(n, places[part.first], places[part.second], part.score, part.weight))
            else:
                parts.append(replace(part, players=n, seat=places[part.seat]))
        return parts

    @property
    def counts(self) -> dict[str, int]:
        """Return how many outside results there are, by noun."""
        return total(self.files)

    @property
    def of_many(self) -> bool:
        """Return whether more than two met in any outside result."""
        return any(
            isinstance(file.results, GameColumns) and file.results.widest[0] > 2 for file in self.files
        )

    @cached_property
    def evidence(self) -> Evidence:
        clusters = [*[None for _ in self.files], *([self.beside.clusters] if self.beside else [])]
        return joined(
            [
                of_duels(part, cluster) if isinstance(part, Duels) else of_games(part, cluster)
                for part, cluster in zip(self._parts, clusters, strict=True)
            ]
        )

    @cached_property
    def _all(self) -> tuple[Duels, Ints | None]:
        """Everything as duels, and the result that each is of (None where each is one of its own)."""
        pairs = [
            (part, np.arange(len(part))) if isinstance(part, Duels) else pairings(part)
            for part in self._parts
        ]
        columns = [
            np.concatenate([getattr(duels, column) for duels, _ in pairs])
            for column in ("first", "second", "score", "weight")
        ]
        starts = np.cumsum([0, *map(len, self._parts)])
        sources = [start + source for start, (_, source) in zip(starts, pairs, strict=False)]
        return Duels(len(self.players), *columns), shared(np.concatenate(sources))

    @property
    def history(self) -> Duels:
        """Every result as duels."""
        return self._all[0]

    @property
    def sources(self) -> Ints | None:
        """The result that each duel of `history` is of; None where every result is one duel."""
        return self._all[1]

    @property
    def clusters(self) -> Ints | None:
        """The series of each match; an outside result is by itself."""
        own = self.beside.clusters if self.beside else None
        return None if own is None else np.append(-1 - np.arange(sum(map(len, self._parts[:-1]))), own)

    @cached_property
    def tables(self) -> GameColumns:
        """Every result with its ranking, whatever its size."""
        return _joined([*map(_table, self._parts)], len(self.players))

    def accounts(self, own: Mapping[str, Account]) -> dict[str, Account]:
        """Results won, drawn and lost, and what they cost, added to what everybody did in the arena."""
        names = list(self.players)
        merged = dict(own)
        for part in self._parts[: len(self.files)]:
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
        for name, took in [used for file in self.files for used in file.used]:
            was = merged[name]
            merged[name] = msgspec.structs.replace(
                was,
                output_tokens=was.output_tokens + int(took.tokens or 0),
                cost_nano=was.cost_nano + round((took.cost or 0) * 1e9),
                answer_cost=was.answer_cost + (took.cost or 0),
                answers_priced=was.answers_priced + (took.cost is not None),
            )
        return merged

    @cached_property
    def speeds(self) -> Mapping[str, float]:
        """Tokens a second of everybody whose games say it."""
        sums: dict[str, list[float]] = {}
        for name, took in [used for file in self.files for used in file.used]:
            if took.tokens is not None and took.seconds is not None:
                known = sums.setdefault(name, [0.0, 0.0])
                known[0] += took.tokens
                known[1] += took.seconds
        return {name: tokens / seconds for name, (tokens, seconds) in sums.items() if seconds > 0}

    @property
    def note(self) -> str:
        """Return what a reader must know: whose results these are."""
        named = []
        for file in self.files:
            digest = visible(file.source.sha256[:12])
            named.append(f"{visible(file.source.name)} ({in_words(file.counts)}, sha256 {digest}…)")
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        return f"{in_words(self.counts)} of others, not played here: {', '.join(named[:_NAMED])}{more}"


def _table(part: Duels | GameColumns) -> GameColumns:
    return part if isinstance(part, GameColumns) else as_games(part)


def _joined(parts: list[GameColumns], players: int) -> GameColumns:
    game, team = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    for part in parts:
        game.append(part.game[1:] + game[-1][-1])
        team.append(part.team[1:] + team[-1][-1])
    columns = [
        np.concatenate([getattr(part, column) for part in parts])
        for column in ("rank", "seat", "share", "weight")
    ]
    return GameColumns(players, np.concatenate(game), np.concatenate(team), *columns)


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
