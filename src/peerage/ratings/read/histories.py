"""Battles, games and answers, as they are kept and as they are read, row by row."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from peerage.ratings.arrays import Floats, Ints
from peerage.ratings.columns.history import Duels, Game, duels
from peerage.ratings.columns.merging import ascending
from peerage.ratings.fits.regression import contrast
from peerage.ratings.read.forms import FORMULA, Form, Layout, at, labelled
from peerage.ratings.read.report import (
    ColumnMissing,
    DataError,
    ReadingReport,
    Row,
    RowError,
    amount,
    as_name,
    needed,
    number_of,
    plain,
    short,
    time_of,
)  # fmt: skip
from peerage.ratings.read.words import (
    BOTH_BAD,
    NO_RESULT,
    NO_WINNER,
    SCORES,
    WinnerCode,
    meanings,
    verdict_of,
)
from peerage.values.figures import counted

AMOUNTS = {"weight": 1.0, "cost_a": math.nan, "cost_b": math.nan}
"""Columns of amounts, and what is meant where there is none."""
_BESIDE = frozenset(("timestamp", "at_ms", *AMOUNTS))
_MISSING = [math.nan, *AMOUNTS.values()]


@dataclass(frozen=True, eq=False)
class Battles:
    """Duels with what was recorded next to them; every column has one element a duel.

    `labels` has the clusters (`judge`, `question`), `controls` the differences of what was asked to be held
    equal, `costs` (shape (2, duels), nan unknown) what each answer cost, `times` the seconds since 1970 at
    which they happened (None unless all are known), `both_bad` which ties were of two answers said to be bad
    (None without any). `notes` say what was done to the data.
    """

    names: tuple[str, ...]
    duels: Duels
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: Mapping[str, Floats] = field(default_factory=dict)
    costs: Floats | None = None
    notes: tuple[str, ...] = ()
    layout: Layout = "battles"
    times: Floats | None = None
    both_bad: np.ndarray | None = None

    def only(self, kept: np.ndarray) -> Battles:
        """Return the battles that a mask keeps."""
        return replace(
            self,
            duels=self.duels.only(kept),
            labels={label: tuple(compress(values, kept)) for label, values in self.labels.items()},
            controls={name: column[kept] for name, column in self.controls.items()},
            costs=None if self.costs is None else self.costs[:, kept],
            times=None if self.times is None else self.times[kept],
            both_bad=None if self.both_bad is None else self.both_bad[kept],
        )


class BattlesRead:
    """Battles as they are read: compact columns that grow."""

    def __init__(self, labels: Sequence[str], controls: Sequence[str], kept: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        self._players: dict[str, int] = {}
        self._people: dict[str, str] = {}
        self.controls, self.needed = tuple(controls), frozenset(labels)
        self.labels: dict[str, list[str]] = {label: [] for label in (*labels, *kept)}  # as far as there are
        self._outcomes: dict[tuple[int, int, str | float], int] = {}
        self._codes: dict[str, str] = {}
        self._bare = not (labels or controls)
        self._telling = _BESIDE | {"battle_id", "share", *kept}
        self._form: Form | None = None
        self._alike: dict[tuple[Any, ...], int] = {}  # rows that say nothing else, to their outcome
        self._which = array("q")  # which of the outcomes each row has: a million rows have few
        self._beside = array("d")  # what else is known, a row behind the one before; empty where nothing is

    def add(self, row: Row, form: Form, report: ReadingReport) -> None:
        """Take one row in. Raises RowError that names what is missing or cannot be."""
        if form is not self._form:
            self._form, self._alike = form, {}
        tabled = report.fixed and report.unit == "line"  # all cells of such a row are texts
        bare = tabled and self._bare and not (form.counted or self._beside)
        alike: tuple[Any, ...] | None = None
        if bare and self._telling.isdisjoint(row):
            alike = row.get("model_a"), row.get("model_b"), row.get("winner")
            if (known := self._alike.get(alike)) is not None:  # of a million rows nearly all
                self._which.append(known)
                return
        if form.counted and (
            str(at(row, form.counted[0])) not in form.counted[1:] or row.get("model_a") == row.get("model_b")
        ):
            end = "between two models, and left out"
            report.leave((f"line is no vote {end}", f"lines are no votes {end}"))
            return
        a, b = self._name(row, "model_a"), self._name(row, "model_b")
        if a == b:
            raise RowError(f"{a!r} plays against itself; model_a and model_b must differ")
        verdict = verdict_of(row, a, b, form.words, form.ending)
        values = () if _BESIDE.isdisjoint(row) and not self.controls else self._values(row, form)
        labels = [self._label(row, label, form) for label in self.labels] if self.labels else ()
        if verdict == NO_RESULT:
            report.leave(NO_WINNER, plain(row.get("winner")).lower() or "empty", column="winner")
            return
        identity = row.get("battle_id")
        if identity is not None and report.repeats("battle_id", identity, (a, b, verdict)):
            return
        players = self._players
        first, second = players.setdefault(a, len(players)), players.setdefault(b, len(players))
        outcome = first, second, verdict
        number = self._outcomes.setdefault(outcome, len(self._outcomes))
        self._which.append(number)
        if alike is not None:
            self._alike[alike] = number
        if values and not self._beside:
            self._beside.extend(_MISSING * (len(self._which) - 1))
        if self._beside or values:
            self._beside.extend(values or _MISSING)
        for texts, label in zip(self.labels.values(), labels, strict=True):
            if label:
                texts += [""] * (len(self._which) - 1 - len(texts))
                texts.append(label)

    def take(
        self, kinds: BattlesRead, which: Ints, beside: Floats | None, labels: Mapping[str, Sequence[str]]
    ) -> None:
        """Take in as many rows as `which` says, each like a row of `kinds`, with what else is known of them:
        `beside` (shape (rows, values)), and labels."""
        before, names, players = len(self), [*kinds._players], self._players
        numbers = np.zeros(len(kinds._outcomes), np.int64)
        for number, (first, second, word) in enumerate(kinds._outcomes):
            a, b = [players.setdefault(names[at], len(players)) for at in (first, second)]
            numbers[number] = self._outcomes.setdefault((a, b, word), len(self._outcomes))
        self._which.frombytes(_bytes(numbers[np.array(kinds._which)][which]))
        if self._beside or beside is not None:
            row = [*_MISSING, *[math.nan] * (2 * len(self.controls))]
            self._beside.extend(row * (before * (not self._beside)))
            self._beside.frombytes(_bytes(np.tile(row, (len(which), 1)) if beside is None else beside))
        for label, own in labels.items():
            self.labels[label] += [""] * (before - len(self.labels[label]))
            self.labels[label] += own

    def __len__(self) -> int:
        return len(self._which)

    def _values(self, row: Row, form: Form) -> list[float]:
        values = [time_of(row)]
        values += [amount(row[name], name, none) if name in row else none for name, none in AMOUNTS.items()]
        return values + [_control(row, control, side, form) for control in self.controls for side in "ab"]

    def _name(self, row: Row, column: str) -> str:
        value: Any = row.get(column)
        known = self._names.get(value) if isinstance(value, str) else None
        return known or self._names.setdefault(value, as_name(needed(row, column), column))

    def _label(self, row: Row, label: str, form: Form) -> str:
        value = row.get(label)
        if value is None or value == "":
            return str(needed(row, label)) if label in self.needed else ""
        if label == form.private:  # an address, say, is nobody's business
            return self._people.setdefault(str(value), f"person {len(self._people) + 1}")
        return labelled(value)

    @property
    def usable(self) -> int:
        """Return how many battles have a result."""
        return sum(rows for rows, score in zip(self._rows(), self._scores(), strict=True) if score == score)

    def _rows(self) -> list[int]:
        which = np.array(self._which, np.int64)
        return list(map(int, np.bincount(which, minlength=len(self._outcomes))))

    def _scores(self) -> list[float]:
        """Return the score of each outcome; nan where its number has no meaning."""
        verdicts = [
            verdict if isinstance(verdict, float) else self._codes.get(verdict, verdict)
            for *_, verdict in self._outcomes
        ]
        return [each if isinstance(each, float) else SCORES.get(each, math.nan) for each in verdicts]

    def close(self, report: ReadingReport) -> None:
        """Take the end of all files in: numbers for winners have the meaning that all of them leave. Raises
        DataError where they have none, or several."""
        counts, decided = Counter[str](), 0
        for (*_, verdict), rows in zip(self._outcomes, self._rows(), strict=True):
            if isinstance(verdict, WinnerCode):
                counts[verdict] += rows
            decided += rows * (verdict in ("model_a", "model_b", 0.0, 1.0))
        self._codes = dict(meanings(counts, decided, report))

    def made(self, layout: Layout, notes: tuple[str, ...]) -> Battles:
        """All battles, in the order of their times where all have one."""
        for texts in self.labels.values():
            texts += [""] * (len(self._which) - len(texts))
        beside = np.frombuffer(self._beside or array("d", _MISSING * len(self)))
        beside = beside.reshape(-1, len(_MISSING) + 2 * len(self.controls))
        order, times, note = _in_order(beside[:, 0], "some rows have no timestamp")
        which, scores = np.array(self._which), np.array(self._scores())
        if np.isnan(scores).any():
            counting = ~np.isnan(scores[which[order]])
            order, times = order[counting], None if times is None else times[counting]
        moved = len(order) < len(which) or not ascending(order)
        if moved:
            beside, which = beside[order], which[order]
        first, second, words = zip(*self._outcomes, strict=True) if self._outcomes else ((), (), ())
        bad = np.array([word == BOTH_BAD for word in words], bool)
        a, b, score, bad = (np.array(column)[which] for column in (first, second, scores, bad))
        _, weight, *costs_and_controls = beside.T
        costs, controls = costs_and_controls[:2], costs_and_controls[2:]
        if bad.any():
            ties = int((score == 0.5).sum())
            notes += (f"{int(bad.sum())} of {ties} ties are of answers said to be both bad",)
        return Battles(
            names=tuple(self._players),
            duels=duels(len(self._players), a, b, score, weight),
            labels={
                label: tuple([values[i] for i in order] if moved else values)
                for label, values in self.labels.items()
            },
            controls=dict(zip(self.controls, map(contrast, controls[::2], controls[1::2]), strict=True)),
            costs=None if all(np.isnan(column).all() for column in costs) else np.stack(costs),
            notes=(*notes, *note),
            layout=layout,
            times=times,
            both_bad=bad if bad.any() else None,
        )


def _bytes(column: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(column).data).cast("B")


def _control(row: Row, control: str, side: str, form: Form) -> float:
    """Return the amount of a control on one side: a column of its own, or where the form has it nested, as a
    number or as counts by kind."""
    column, place = f"{control}_{side}", form.controls.get(control, "").format(side)
    if column in row or place.partition(".")[0] not in row:
        return number_of(needed(row, column), column)
    value = needed({place: at(row, place)}, place)
    counts = value.values() if isinstance(value, dict) else [value]
    return sum([number_of(count, place) for count in counts if count is not None])


class Used(NamedTuple):
    """The dollars, tokens and seconds that a team's play in a game took; None where they are not known."""

    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Games between any number of players, in order; `times` as those of `Battles`. `used` has for each game
    what each team's play took, empty where no game says."""

    names: tuple[str, ...]
    games: tuple[Game, ...]
    notes: tuple[str, ...] = ()
    layout: Layout = "games"
    times: Floats | None = None
    used: tuple[tuple[Used, ...], ...] = ()


class PlayedRead:
    """Games as they are read; one in rows of seats stays open until all is read."""

    def __init__(self) -> None:
        self._players: dict[str, int] = {}
        self._games: list[tuple[float, Game, tuple[Used, ...]]] = []
        self._seats: dict[tuple[str, str], list[tuple[str, int, Row]]] = {}
        self._undecided: set[tuple[str, str]] = set()

    def add(self, row: Row, form: Form, report: ReadingReport) -> None:
        """Take one row in. Raises RowError."""
        if form.counted:
            state = at(row, form.counted[0])
            if state is None:
                raise ColumnMissing(form.counted[0])
            if str(state) not in form.counted[1:]:
                self._undecided.add((report.file, str(row.get("game"))))
                return
        if "players" not in row:
            player, game = needed(row, "player"), needed(row, "game")
            if form.counted and isinstance(game, str) and FORMULA.match(str(player)):
                player = str(player).removeprefix("'")  # put before it in CSV, against spreadsheets
            kept = {column: row[column] for column in _SEAT if column in row}
            file = "" if form.layout == "answers" else report.file  # those are in a file of each player
            seats = self._seats.setdefault((file, str(game)), [])
            seats.append((report.file, report.number, {**kept, "player": player}))
            return
        content = repr([row.get(key) for key in ("players", "ranks", "scores", "teams", "date")])
        if report.repeats("game_id", row.get("game_id"), content):
            return
        listed = at(row, "players.*")
        if not isinstance(listed, list) or len(listed) < 2:
            raise RowError(
                f"found {short(needed(row, 'players'))}, expected a list of two or more", "players"
            )
        self._append([entry if isinstance(entry, list) else [entry] for entry in listed], row)

    @property
    def usable(self) -> int:
        """Return how many games there are."""
        return len(self._games)

    def close(self, report: ReadingReport) -> None:
        """Take the end of all files in: games in rows of seats are whole. Raises DataError."""
        for (file, game), seats in self._seats.items():
            teams: dict[str, list[Any]] = {}
            placed: dict[str, float] = {}
            column = "score" if all(row.get("rank") in (None, "") for *_, row in seats) else "rank"
            with report:
                for report.file, report.number, row in seats:
                    team = str(row["team"]) if row.get("team") not in (None, "") else f"\0{len(teams)}"
                    value = number_of(needed(row, column), column)
                    if placed.setdefault(team, value) != value:
                        raise RowError(f"team {team!r} has two different {column}s in this game")
                    teams.setdefault(team, []).append(row["player"])
                report.file, report.number, row = seats[0]
                if len(teams) < 2 and not file:
                    report.leave(_ALONE)
                    continue
                if len(teams) < 2:
                    raise RowError(f"game {game!r} has one side only, expected two or more")
                self._append([*teams.values()], {**row, f"{column}s": [*placed.values()]})
        if self._seats and not self._games and not report.problems:
            raise DataError("no match has two of its players here: name the files of all, or their folder")

    def made(self, layout: Layout, notes: tuple[str, ...]) -> PlayedGames:
        """Return all games, in the order of their times where all have one."""
        left = len(self._undecided)
        words = ("match without a result is left out", "matches without a result are left out")
        order, times, note = _in_order([time for time, _, _ in self._games], "some games have no date")
        games = [self._games[at] for at in order]
        return PlayedGames(
            tuple(self._players),
            tuple([game for _, game, _ in games]),
            (*notes, *[counted(left, *words)] * bool(left), *note),
            layout,
            times,
            tuple([used for _, _, used in games]) if any(used for _, _, used in games) else (),
        )

    def _append(self, teams: list[list[Any]], row: Row) -> None:
        if not all(teams):
            raise RowError("a team has no players", "players")
        ranks = _ranks(row, len(teams))
        named = [[as_name(member, "players") for member in team] for team in teams]
        seats = Counter(member for team in named for member in team)
        name, times = seats.most_common(1)[0]
        if len(seats) == 1:
            raise RowError(f"{name!r} plays against itself alone, expected two players or more")
        if times > 1 and any(len(team) > 1 for team in named):
            raise RowError(f"{name!r} plays in two teams, or twice in one")
        used, time, weight = _used(row, len(teams)), time_of(row), amount(row.get("weight"), "weight", 1.0)
        number = {member: self._players.setdefault(member, len(self._players)) for member in seats}
        seated = tuple([tuple([number[member] for member in team]) for team in named])
        self._games.append((time, Game(seated, tuple(ranks), None, weight), used))


_ALONE = (
    "match has one of its players here and is left out",
    "matches have one of their players here and are left out",
)
_SEAT = ("rank", "score", "team", "weight", "timestamp", "at_ms")


def _used(row: Row, teams: int) -> tuple[Used, ...]:
    """Return the use of each team's play; empty where no column has it."""
    took = [
        [None if value is None else amount(value, column, 0.0) for value in _listed(row, column, teams)]
        or [None] * teams
        for column in ("costs", "tokens", "seconds")
    ]
    used = tuple(map(Used, *took))
    return used if any(each != Used() for each in used) else ()


def _listed(row: Row, column: str, teams: int) -> list[Any]:
    """A list with an element for each team; empty where there is no such column."""
    listed = at(row, f"{column}.*")
    if row.get(column) not in (None, "") and len(listed or ()) != teams:
        raise RowError(f"found {short(row[column])}, expected a list of {teams}", column)
    return listed or []


def _places(values: list[float]) -> list[int]:
    order = sorted(set(values))
    return [order.index(value) for value in values]


def _ranks(row: Row, teams: int) -> list[float]:
    """Return the ranks, which scores may give or confirm."""
    ranks, scores = [
        [number_of(value, column) for value in _listed(row, column, teams)] for column in ("ranks", "scores")
    ]
    if not (ranks or scores):
        raise ColumnMissing("ranks or scores")
    by_score = [-score for score in scores]
    if ranks and scores and _places(ranks) != _places(by_score):
        raise RowError(
            f"ranks and scores disagree ({short(row['ranks'])}, {short(row['scores'])}); leave one out"
        )
    return ranks or by_score


def _in_order(times: ArrayLike, note: str) -> tuple[np.ndarray, Floats | None, list[str]]:
    """The order of rows by their times, those in it where all have one, and a note where only some have."""
    known = np.asarray(times)
    if np.isnan(known).any():
        kept = f"{note}: the order of the files is kept"
        return np.arange(len(known)), None, [kept] * (not np.isnan(known).all())
    order = np.argsort(known, kind="stable")
    return order, known[order], []
