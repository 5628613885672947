"""Anybody's results, read into histories: battles, games, answers, and the two recorded formats.

- **battles**: `model_a`, `model_b`, `winner` (`model_a`, `model_b`, `tie`, `tie (bothbad)`: LMArena's
  words), and if there are any `judge`, `weight`, `question` (or `question_id`), `timestamp` (or `tstamp`,
  `date`), `battle_id`, `cost_a` and `cost_b`; for `--control length` the columns `length_a` and `length_b`;
  for prediction-powered ratings `human`, a person's verdict beside the model's, empty where there is none.
- **games**: one row a game with lists, `players` and `ranks` (lower is better) or `scores` (higher is
  better), a player being a name or a team's list of names; or one row a seat with `game`, `player`, `rank`
  or `score`, and `team` where several play together. Optional `weight`, `timestamp`, and lists
  of what each team's play took: `costs` (dollars), `tokens`, `seconds`. Matches that `peerage export` wrote
  are games too.
- **answers**: one row an answer, with `player` (or `model`), `challenge` (or `item`, `question`) and `solved`
  (or `score`, `correct`): true or false, or a part from 0 to 1.
- **fastchat**: the votes in FastChat's own conversation logs, other lines of which are left out and counted.
- **valyrian**: a tournament of ValyrianTech/ValyrianGamesLeaderboard.
- **cob**: battles of 10decikelvin/cob.

Whatever cannot be read stops with the file, the row and the column; nothing is skipped in silence.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from peerage.ratings.answers import Answers, AnswersRead
from peerage.ratings.exports import as_game, exported
from peerage.ratings.fastchat import one_hot, vote_of
from peerage.ratings.fields import (
    amount,
    as_name,
    columns,
    control_of,
    first_of,
    name_of,
    needed,
    number_of,
    short,
    time_of,
)
from peerage.ratings.history import Duels, Game, duels
from peerage.ratings.kernels import Floats
from peerage.ratings.rows import contrast
from peerage.ratings.streams import DataError, rows

Layout = Literal["auto", "battles", "games", "answers", "valyrian", "cob", "fastchat"]

BOTH_BAD = ("tie (bothbad)", "bothbad", "both_bad", "both bad")
"""The words of a tie of two answers that are both bad, the usual one first."""
_WORDS = {
    "model_a": 1.0,
    "a": 1.0,
    "model_b": 0.0,
    "b": 0.0,
    **dict.fromkeys(("tie", "draw", "both", *BOTH_BAD), 0.5),
}


@dataclass(frozen=True, eq=False)
class Battles:
    """Duels with what was recorded beside them; every column has one element a duel.

    `labels` has the clusters (`judge`, `question`), `controls` the differences of what was asked to be held
    equal, `costs` (shape (2, duels), nan unknown) what each answer cost, `times` the seconds since 1970 at
    which they happened (None unless all are known), `human` a person's verdict as a score (nan where nobody
    gave one), `both_bad` which ties were of two answers said to be bad (None without any). `notes` say what
    was done to the data.
    """

    names: tuple[str, ...]
    duels: Duels
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: Mapping[str, Floats] = field(default_factory=dict)
    costs: Floats | None = None
    notes: tuple[str, ...] = ()
    layout: Layout = "battles"
    times: Floats | None = None
    human: Floats | None = None
    both_bad: np.ndarray | None = None


class Used(NamedTuple):
    """What a team's play in a game took: dollars, tokens, seconds; None where it is not known."""

    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Played:
    """Games between any number of players, in order; `times` as those of `Battles`. `used` has for each game
    what each team's play took, empty where no game says."""

    names: tuple[str, ...]
    games: tuple[Game, ...]
    notes: tuple[str, ...] = ()
    layout: Layout = "games"
    times: Floats | None = None
    used: tuple[tuple[Used, ...], ...] = ()


def read(
    streams: Iterable[tuple[str, BinaryIO]],
    layout: Layout = "auto",
    *,
    labels: Sequence[str] = (),
    controls: Sequence[str] = (),
    kept: Sequence[str] = (),
    human: bool = False,
) -> Battles | Played | Answers:
    """Read opened files, each with the name that errors give it, as one history.

    `labels` and `controls` name columns that must be there, `kept` labels that need not (empty where they
    are missing); `human` reads people's verdicts too. With `auto` the first row decides. Rows with timestamps
    are put in their order, and so are games with dates.
    """
    battles, played, answers = _Battles(labels, controls, kept, human), _Games(), AnswersRead()
    found: Layout | None = None if layout == "auto" else layout
    for name, stream in streams:
        for number, row in rows(stream, name):
            if found is None:
                found = layout_of(row, name)
            where = f"{name}, row {number}"
            if found == "battles":
                battles.add(row, where)
            elif found == "cob":
                battles.add(_cob(row, where), where)
            elif found == "fastchat":
                battles.add_vote(row, where)
            elif found == "valyrian":
                names = needed(row, "participants", where)
                played.add({**_measured(row, names), **row, "players": names}, where)
            elif found == "answers":
                answers.add(row, where)
            else:
                played.add(row, where)
        played.close()
    if found is None:
        raise DataError("there are no rows to rate: every file is empty")
    if found == "answers":
        return answers.made()
    return battles.made(found) if found in ("battles", "cob", "fastchat") else played.made(found)


def layout_of(row: Mapping[str, Any], name: str) -> Layout:
    """What the first row says that the data are. Raises DataError when it is nothing we know."""
    if "participants" in row:
        return "valyrian"
    if "battle_outcome" in row:
        return "cob"
    if "model_a" in row or "model_b" in row:
        return "battles"
    if "type" in row and "tstamp" in row and row.keys() & {"states", "state"}:
        return "fastchat"
    if exported(row) or "players" in row or ("game" in row and "player" in row):
        return "games"
    if first_of(row, "challenge") is not None and first_of(row, "solved") is not None:
        return "answers"
    raise DataError(
        f"{name}: expected battles (model_a, model_b, winner), games (players, ranks; or game, player, rank) "
        f"or answers (player, challenge, solved); its columns are {columns(row)}"
    )


class _Battles:
    """Battles as they are read: compact columns that grow."""

    def __init__(
        self, labels: Sequence[str], controls: Sequence[str], kept: Sequence[str], human: bool
    ) -> None:
        self.players: dict[str, int] = {}
        self.first, self.second = array("q"), array("q")
        self.score, self.weight, self.time = array("d"), array("d"), array("d")
        self.costs = (array("d"), array("d"))
        self.label_names, self.control_names = (*labels, *kept), tuple(controls)
        self.needed_labels = frozenset(labels)
        self.labels: dict[str, list[str]] = {label: [] for label in self.label_names}
        self.human = array("d") if human else None
        self.controls = {control: (array("d"), array("d")) for control in controls}
        self.known: dict[str, tuple[str, str, float]] = {}
        self.repeated = self.no_vote = 0
        self.people: dict[str, str] = {}
        self.bad = array("b")

    def add_vote(self, row: Mapping[str, Any], where: str) -> None:
        """A line of a FastChat log, where it is a vote."""
        battle = vote_of(row, where)
        if battle is None:
            self.no_vote += 1
            return
        # An address is personal: it becomes a number, in order of appearance.
        person = battle.pop("ip")
        battle["judge"] = self.people.setdefault(person, f"person {len(self.people) + 1}") if person else ""
        self.add(battle, where)

    def add(self, row: Mapping[str, Any], where: str) -> None:
        a, b = name_of(row, "model_a", where), name_of(row, "model_b", where)
        if a == b:
            raise DataError(f"{where}: {a!r} plays against itself; model_a and model_b must differ")
        said = one_hot(row)
        score = _winner(said, "winner", a, b, where)
        identity = first_of(row, "id" if "evaluation_session_id" in row else "battle_id")
        if identity not in (None, ""):
            before = self.known.get(str(identity))
            if before is not None and before != (a, b, score):
                raise DataError(f"{where}: battle_id {identity!r} stands before with another result")
            if before is not None:
                self.repeated += 1
                return
            self.known[str(identity)] = (a, b, score)
        self.first.append(self.players.setdefault(a, len(self.players)))
        self.second.append(self.players.setdefault(b, len(self.players)))
        self.score.append(score)
        self.bad.append(score == 0.5 and str(said["winner"]).strip().lower() in BOTH_BAD)
        self.weight.append(amount(row, "weight", where, 1.0))
        self.time.append(time_of(first_of(row, "timestamp"), where))
        for costs, column in zip(self.costs, ("cost_a", "cost_b"), strict=True):
            costs.append(amount(row, column, where, math.nan))
        for label in self.label_names:
            value = row.get(label) if label in row else first_of(row, label)
            if label in self.needed_labels and value in (None, ""):
                raise DataError(f"{where}: there is no {label}; the columns are {columns(row)}")
            self.labels[label].append("" if value is None else str(value))
        for control in self.control_names:
            for values, side in zip(self.controls[control], "ab", strict=True):
                values.append(control_of(row, control, side, where))
        if self.human is not None:
            if "human" not in row:
                raise DataError(
                    f"{where}: there is no column human (people's verdicts); the columns are {columns(row)}"
                )
            given = row["human"] not in (None, "")
            self.human.append(_winner(row, "human", a, b, where) if given else math.nan)

    def made(self, layout: Layout) -> Battles:
        notes = [f"{self.repeated} rows repeat a battle_id and count once"] if self.repeated else []
        if self.no_vote:
            notes.append(f"{self.no_vote} lines are no votes between two models, and are left out")
        bad = sum(self.bad)
        if bad:
            notes.append(f"{bad} of {self.score.count(0.5)} ties are of answers said to be both bad")
        time = np.array(self.time)
        order = np.arange(len(time))
        if not np.isnan(time).any():
            order = np.argsort(time, kind="stable")
        elif not np.isnan(time).all():
            notes.append("some rows have no timestamp: the order of the files is kept")
        costs = np.array([list(column) for column in self.costs]).reshape(2, -1)[:, order]
        return Battles(
            tuple(self.players),
            duels(
                len(self.players),
                np.array(self.first, np.int64)[order],
                np.array(self.second, np.int64)[order],
                np.array(self.score)[order],
                np.array(self.weight)[order],
            ),
            {label: tuple([values[i] for i in order]) for label, values in self.labels.items()},
            {
                name: contrast(np.array(a)[order], np.array(b)[order])
                for name, (a, b) in self.controls.items()
            },
            None if np.isnan(costs).all() else costs,
            tuple(notes),
            layout,
            None if np.isnan(time).any() else time[order],
            None if self.human is None else np.array(self.human)[order],
            np.array(self.bad, np.bool_)[order] if bad else None,
        )


class _Games:
    """Games as they are read; one in rows of seats stays open until the file ends."""

    def __init__(self) -> None:
        self.players: dict[str, int] = {}
        self.games: list[tuple[float, Game, tuple[Used, ...]]] = []
        self.seats: dict[str, list[tuple[Mapping[str, Any], str]]] = {}
        self.known: dict[str, str] = {}
        self.repeated = self.undecided = 0

    def add(self, row: Mapping[str, Any], where: str) -> None:
        if exported(row):
            game = as_game(row, where)
            if game is None:
                self.undecided += 1
                return
            row = game
        if "players" not in row:
            for column in ("game", "player"):
                needed(row, column, where)
            self.seats.setdefault(str(row["game"]), []).append((row, where))
            return
        identity = row.get("game_id")
        if identity is not None:
            content = repr([row.get(key) for key in ("players", "ranks", "scores", "teams", "date")])
            before = self.known.get(str(identity))
            if before is not None and before != content:
                raise DataError(f"{where}: game_id {identity!r} stands before with another result")
            if before is not None:
                self.repeated += 1
                return
            self.known[str(identity)] = content
        listed = row["players"]
        if not isinstance(listed, list) or len(listed) < 2:
            raise DataError(f"{where}: players is {short(listed)}, expected a list of two or more")
        teams = [entry if isinstance(entry, list) else [entry] for entry in listed]
        ranks = _ranks(row, len(teams), where)
        weight, time = amount(row, "weight", where, 1.0), first_of(row, "timestamp")
        self._append(teams, ranks, weight, time, where, _used(row, len(teams), where))

    def close(self) -> None:
        """The end of a file: games in rows of seats are whole."""
        for seats in self.seats.values():
            teams: dict[str, list[Any]] = {}
            placed: dict[str, float] = {}
            by_score = all(row.get("rank") in (None, "") for row, _ in seats)
            for row, where in seats:
                team = str(row["team"]) if row.get("team") not in (None, "") else f"\0{len(teams)}"
                column = "score" if by_score else "rank"
                value = number_of(needed(row, column, where), column, where) * (-1 if by_score else 1)
                if placed.setdefault(team, value) != value:
                    raise DataError(f"{where}: team {team!r} has two different {column}s in this game")
                teams.setdefault(team, []).append(row["player"])
            row, where = seats[0]
            if len(teams) < 2:
                raise DataError(f"{where}: game {row['game']!r} has one side only, expected two or more")
            weight = amount(row, "weight", where, 1.0)
            self._append(
                list(teams.values()), list(placed.values()), weight, first_of(row, "timestamp"), where
            )
        self.seats = {}

    def made(self, layout: Layout) -> Played:
        notes = [f"{self.repeated} rows repeat a game_id and count once"] if self.repeated else []
        if self.undecided:
            notes.append(f"{self.undecided} rows of matches without a result are left out")
        times = [time for time, _, _ in self.games]
        ordered = self.games
        if not any(math.isnan(time) for time in times):
            ordered = sorted(self.games, key=lambda timed: timed[0])
        elif not all(math.isnan(time) for time in times):
            notes.append("some games have no date: the order of the files is kept")
        sorted_times = np.array([time for time, _, _ in ordered])
        return Played(
            tuple(self.players),
            tuple([game for _, game, _ in ordered]),
            tuple(notes),
            layout,
            None if np.isnan(sorted_times).any() else sorted_times,
            tuple([used for _, _, used in ordered]) if any(used for _, _, used in ordered) else (),
        )

    def _append(
        self,
        teams: list[list[Any]],
        ranks: list[float],
        weight: float,
        time: Any,
        where: str,
        used: tuple[Used, ...] = (),
    ) -> None:
        if not all(teams):
            raise DataError(f"{where}: a team has no players")
        named = [[as_name(member, f"{where}, players") for member in team] for team in teams]
        counted = Counter(member for team in named for member in team)
        name, times = counted.most_common(1)[0]
        if len(counted) == 1:
            raise DataError(f"{where}: {name!r} plays against itself alone, expected two players or more")
        if times > 1 and any(len(team) > 1 for team in named):
            raise DataError(f"{where}: {name!r} plays in two teams, or twice in one")
        seated = tuple(
            tuple(self.players.setdefault(member, len(self.players)) for member in team) for team in named
        )
        self.games.append((time_of(time, where), Game(seated, tuple(ranks), None, weight), used))


_MEASURES = {"costs": "total_cost", "tokens": "total_tokens", "seconds": "total_time"}
"""Columns of what each team's play took, and their names in a published tournament."""


def _measured(row: Mapping[str, Any], names: Any) -> dict[str, Any]:
    """What each player's play took in a published tournament, as columns of ours."""
    found: Any = row.get("additional_info")
    found = found.get("performance_metrics") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(names, list):
        return {}
    each = [found.get(name) if isinstance(name, str) else None for name in names]
    known = [one if isinstance(one, dict) else {} for one in each]
    return {column: [one.get(name) for one in known] for column, name in _MEASURES.items()}


def _used(row: Mapping[str, Any], teams: int, where: str) -> tuple[Used, ...]:
    listed: list[list[float | None]] = []
    for column in _MEASURES:
        values = row.get(column)
        if values is None:
            listed.append([None] * teams)
            continue
        if not isinstance(values, list) or len(values) != teams:
            raise DataError(f"{where}: {column} is {short(values)}, expected a list of {teams}")
        listed.append([None if one is None else amount({column: one}, column, where, 0.0) for one in values])
    used = tuple([Used(*each) for each in zip(*listed, strict=True)])
    return used if any(one != Used() for one in used) else ()


def _cob(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A battle of 10decikelvin/cob; its order in the file is kept, as its own Elo keeps it."""
    names = []
    for side in ("model_A_info", "model_B_info"):
        info = needed(row, side, where)
        if not isinstance(info, dict) or "name" not in info:
            raise DataError(f"{where}: {side} is {short(info)}, expected an object with a name")
        names.append(info["name"])
    outcome = str(needed(row, "battle_outcome", where))
    words = {"tie": "tie", f"{names[0]}_wins": "model_a", f"{names[1]}_wins": "model_b"}
    if outcome not in words:
        raise DataError(f"{where}: battle_outcome is {outcome!r}, expected one of {', '.join(words)}")
    return {
        "model_a": names[0],
        "model_b": names[1],
        "winner": words[outcome],
        "battle_id": row.get("battle_id"),
    }


def _ranks(row: Mapping[str, Any], teams: int, where: str) -> list[float]:
    both = {}
    for column in ("ranks", "scores"):
        if row.get(column) is not None:
            listed = row[column]
            if not isinstance(listed, list) or len(listed) != teams:
                raise DataError(f"{where}: {column} is {short(listed)}, expected a list of {teams}")
            both[column] = [number_of(value, column, where) for value in listed]
    if not both:
        raise DataError(f"{where}: neither ranks nor scores; the columns are {columns(row)}")
    if len(both) == 2:
        for i in range(teams):
            for j in range(i):
                by_rank = (both["ranks"][i] > both["ranks"][j]) - (both["ranks"][i] < both["ranks"][j])
                by_score = (both["scores"][i] < both["scores"][j]) - (both["scores"][i] > both["scores"][j])
                if by_rank != by_score:
                    raise DataError(
                        f"{where}: ranks and scores disagree about players {j + 1} and {i + 1} "
                        f"(ranks {row['ranks'][j]} and {row['ranks'][i]}, "
                        f"scores {row['scores'][j]} and {row['scores'][i]}); leave one of them out"
                    )
    return both["ranks"] if "ranks" in both else [-score for score in both["scores"]]


def _winner(row: Mapping[str, Any], column: str, a: str, b: str, where: str) -> float:
    word = str(needed(row, column, where)).strip()
    if word == a:
        return 1.0
    if word == b:
        return 0.0
    if word.lower() not in _WORDS:
        raise DataError(
            f"{where}, {column}: found {short(word)}, expected model_a, model_b, tie, tie (bothbad) or a name"
        )
    return _WORDS[word.lower()]


def as_games(answers: Answers) -> Played:
    """Each challenge that two or more players answered as a game between them, ranked by what they solved."""
    games = []
    for column in answers.solved.T:
        known = np.flatnonzero(~np.isnan(column))
        if len(known) > 1:
            teams = tuple([(int(player),) for player in known])
            games.append(Game(teams, tuple((-column[known]).tolist()), None, 1.0))
    left = len(answers.challenges) - len(games)
    notes = (f"{left} challenges were answered by one player alone, and are left out",) if left else ()
    return Played(answers.names, tuple(games), (*answers.notes, *notes), "answers")
