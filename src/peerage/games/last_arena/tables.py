"""Contents of a tournament's outcome, as rows: the ranking, who scored whom how, scores by sort of question
and by token limit, what marks the judges' reasons. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from peerage.game import Fixture
from peerage.judging.scores.standing import of

Detail = Mapping[str, Any]
Said = TypeVar("Said")


def answers_of(fixture: Fixture, texts: Mapping[str, Said]) -> dict[str, Said]:
    """Return the answers to each question by id: `QUESTION/LABEL`, and a token limit where several were."""
    parts = {key: key.split("/")[1:] for key in texts if key.startswith("answer/")}
    return {"/".join([question, label, *more]): texts[key] for key, (label, question, *more) in parts.items()}


class Place(Struct, frozen=True):
    """One player's line in a tournament.

    `rank` follows the result: a player beats those whom it is ahead of beyond error, `ahead` in number, and
    ties with those within it. `score` is on the scale on which every judge gives 5 on average, `se` its
    standard error; `raw` the mean of the scores as they were given. `public` is the mean that people outside
    gave its answers, each of them brought to an average of 5 too, and `public_scores` how many scores that
    is. `written` counts its questions, `diversity` says how widely they are spread, from 0 to 1. None for
    what is not known; `rank`, `ahead`, `score` and `se` are None in a tournament that rates
    nobody.
    """

    rank: int | None
    player: str
    ahead: int | None
    score: float | None
    se: float | None
    raw: float | None
    public: float | None
    public_scores: int
    answers: Mapping[str, int]
    written: int
    duplicates: int
    diversity: float | None


class Cell(Struct, frozen=True):
    """Grades that one judge gave one author: see `judging.scores.standing.Favour`."""

    judge: str
    author: str
    mean: float
    grades: int
    favour: float | None


class SortRow(Struct, frozen=True):
    """A player's score on one sort of question: plain, meta or trick (its own tricks left out)."""

    player: str
    sort: str
    score: float
    se: float | None
    answers: int


class BudgetRow(Struct, frozen=True):
    """A player's score under one token limit, and the tokens that its answers took on average."""

    player: str
    max_tokens: int
    score: float | None
    se: float | None
    answers: int
    output_tokens: float | None


class ReasonsRow(Struct, frozen=True):
    """A judge's zeros and tens, a few of its reasons, and the words that mark this judge."""

    judge: str
    zeros: int
    tens: int
    for_zero: tuple[str, ...]
    for_ten: tuple[str, ...]
    words: tuple[str, ...]


class FinishedTournament(Struct, frozen=True):
    """A finished tournament on record: number, seats, outcome, and the SHA-256 of its record, in hex."""

    number: int
    players: Mapping[str, str]
    void: str
    detail: Mapping[str, Any]
    record: str

    @property
    def answers(self) -> Sequence[str]:
        """The ids of the answers that peers scored."""
        return tuple(self.detail.get("answers", ()))

    @property
    def questions(self) -> Sequence[Mapping[str, Any]]:
        """The questions, each with its `id` and `text`."""
        return tuple(self.detail.get("questions", ()))

    @property
    def scores(self) -> dict[str, float]:
        """Everybody's score by name; none in a tournament that rates nobody."""
        standings = {} if self.void else self.detail["standings"]
        return {self.players[label]: standing["score"] for label, standing in standings.items()}


def ranking(
    players: Mapping[str, str], detail: Detail, public: Mapping[str, Sequence[float]] = {}
) -> tuple[Place, ...]:
    """The players (by label) of a tournament, best first; `public` are people's scores, normalised."""
    places = [_place(label, player, detail, public.get(label, ())) for label, player in players.items()]
    places.sort(
        key=lambda place: (place.rank or len(players) + 1, -(place.score or place.raw or 0.0), place.player)
    )
    return tuple(places)


def _place(label: str, player: str, detail: Detail, public: Sequence[float]) -> Place:
    standings = detail.get("standings", {})
    standing = standings.get(label, {})
    author = detail["authors"][label]
    better = [other for other in standings.values() if other["result"] > standing.get("result", 0.0)]
    return Place(
        rank=1 + len(better) if standing else None,
        player=player,
        ahead=len(standing["ahead_of"]) if standing else None,
        score=standing.get("score"),
        se=standing.get("se"),
        raw=detail.get("raw", {}).get("received", {}).get(label),
        public=of(public).mean if public else None,
        public_scores=len(public),
        answers=detail.get("statuses", {}).get(label, {}),
        written=author["questions"],
        duplicates=author["duplicates"],
        diversity=detail.get("diversity", {}).get(label),
    )


def matrix(players: Mapping[str, str], detail: Detail) -> tuple[Cell, ...]:
    """Return what every judge gave every author."""
    return tuple(
        Cell(players[judge], players[author], cell["mean"], cell["grades"], cell["favour"])
        for judge, row in detail.get("matrix", {}).items()
        for author, cell in row.items()
    )


def sorts(players: Mapping[str, str], detail: Detail) -> tuple[SortRow, ...]:
    """Every player's score on every sort of question."""
    return tuple(
        SortRow(players[label], sort, cell["score"], cell["se"], cell["answers"])
        for label, row in detail.get("sorts", {}).items()
        for sort, cell in row.items()
    )


def scaling(players: Mapping[str, str], detail: Detail) -> tuple[BudgetRow, ...]:
    """Every player's score under every token limit."""
    return tuple(
        msgspec.convert({"player": players[label], **row}, BudgetRow)
        for label, rows in detail.get("scaling", {}).items()
        for row in rows
    )


def reasons(players: Mapping[str, str], detail: Detail) -> tuple[ReasonsRow, ...]:
    """Every judge's zeros and tens, and what marks its reasons."""
    return tuple(
        msgspec.convert({"judge": players[label], **row}, ReasonsRow)
        for label, row in detail.get("reasons", {}).items()
    )
