"""Tournaments of Humanity's Last Arena as tables: one of them, or how players did over all.

Everything follows from recorded outcomes, and the public's scores from their entries in the log.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import linear_regression, variance

from peerage.games.last_arena.tables import (
    BudgetRow,
    Cell,
    Place,
    ReasonsRow,
    SortRow,
    matrix,
    ranking,
    reasons,
    scaling,
    sorts,
)
from peerage.judging.scores.standing import of
from peerage.ledger import Ledger
from peerage.reading.tournaments import find, played, public_scores
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values import grouped
from peerage.values.figures import hundredths, percent, signed, whole
from peerage.views.judges.favours import summary
from peerage.views.judges.report import JudgesReport
from peerage.views.shown import Shown


class TournamentReport(Shown, frozen=True):
    """One tournament. `status` is `done`, or why it rates nobody."""

    number: int
    status: str
    ranking: tuple[Place, ...]
    matrix: tuple[Cell, ...]
    sorts: tuple[SortRow, ...]
    scaling: tuple[BudgetRow, ...]
    reasons: tuple[ReasonsRow, ...]


class ProgressRow(Shown, frozen=True):
    """One player over all tournaments that rated it. `score` is the mean, `sd` its standard deviation (how
    consistent it is), `first` and `last` the scores of the first and the last. `trend` is the least-squares
    slope per tournament, `trend_se` its standard error. None where there are too few: two for `sd` and
    `trend`, three for `trend_se`."""

    player: str
    tournaments: int
    score: float
    sd: float | None
    first: float
    last: float
    trend: float | None
    trend_se: float | None


def tournament(ledger: Ledger, number: int | None = None) -> TournamentReport:
    """One tournament, by default the last. Raises LedgerError."""
    match = find(ledger, number)
    players, detail = match.players, match.detail
    return TournamentReport(
        match.number,
        match.void or "done",
        ranking(players, detail, public_scores(ledger, match)),
        matrix(players, detail),
        sorts(players, detail),
        scaling(players, detail),
        reasons(players, detail),
    )


def progress(ledger: Ledger) -> list[ProgressRow]:
    """Return how every player did over all tournaments, the best first."""
    matches = enumerate(match for match in played(ledger) if not match.void)
    courses = grouped((name, (at, score)) for at, match in matches for name, score in match.scores.items())
    rows = [_progress(player, course) for player, course in courses.items()]
    return sorted(rows, key=lambda row: (-row.score, row.player))


def _progress(player: str, course: Sequence[tuple[int, float]]) -> ProgressRow:
    scores = [score for _, score in course]
    mean = of(scores)
    trend, error = _slope([at for at, _ in course], scores)
    return ProgressRow(
        player=player,
        tournaments=len(course),
        score=mean.mean,
        sd=mean.sd,
        first=scores[0],
        last=scores[-1],
        trend=trend,
        trend_se=error,
    )


def _slope(places: Sequence[int], scores: Sequence[float]) -> tuple[float | None, float | None]:
    """The least-squares slope of a score on the tournament's place, and its standard error."""
    if len(places) < 2:
        return None, None
    slope, base = linear_regression(places, scores)
    if len(places) < 3:
        return slope, None
    rest = math.fsum([(score - base - slope * at) ** 2 for at, score in zip(places, scores, strict=True)])
    return slope, math.sqrt(rest / (len(places) - 2) / (variance(places) * (len(places) - 1)))


_BEYOND = "beyond chance by the judges' test, over all matches on record"


def parts(found: TournamentReport, tests: JudgesReport | None = None) -> list[Rows]:
    """Return a tournament's tables, each under its field's name; with judges' `tests` a matrix for people."""
    title = f"Tournament {found.number}: "
    sorts = found.sorts if len({row.sort for row in found.sorts}) > 1 else ()
    return [
        Rows(found.ranking, _RANKING, title=title + _RANKED, name="ranking", notes=_notes(found)),
        _matrix(found, title, tests),
        Rows(sorts, _SORTS, title=f"{title}by sort of question", name="sorts"),
        Rows(found.scaling, _SCALING, title=f"{title}what more tokens are worth", name="scaling"),
        Rows(found.reasons, _REASONS, title=f"{title}reasons for 0 and 10", name="reasons"),
    ]


def progress_table(rows: Sequence[ProgressRow]) -> Rows:
    """Return how players did over all tournaments."""
    columns = [
        *texts(player="Player"),
        *numbers(whole, tournaments="Tournaments"),
        *numbers(hundredths, score="Mean score", sd="Spread", first="First ~1", last="Last ~1"),
        *numbers(signed, trend="Trend"),
        *numbers(hundredths, trend_se="±"),
    ]
    note = "scores are against who took part: an average opponent is worth 5; trend is per tournament"
    return Rows(rows, columns, title="Over all tournaments", notes=[note])


_RANKED = "each judge gives 5 on average; ranks by whom a player beats beyond error"
_RANKING = (
    *numbers(whole, rank="Rank"),
    *texts(player="Player"),
    *numbers(whole, ahead="Beats ~1"),
    *numbers(hundredths, score="Score", se="±", raw="As given ~1", public="Public ~2"),
    *numbers(whole, public_scores="of ~3", written="Questions ~4", duplicates="Dropped ~6"),
    *numbers(percent, diversity="Diversity ~5"),
)
_MATRIX = (
    *texts(judge="Judge", author="gave"),
    *numbers(hundredths, mean="Mean"),
    *numbers(whole, grades="Grades ~1"),
    *numbers(signed, favour="Favour"),
)
_SORTS = (
    *texts(player="Player", sort="Sort"),
    *numbers(hundredths, score="Score", se="±"),
    *numbers(whole, answers="Answers ~1"),
)
_SCALING = (
    *texts(player="Player"),
    *numbers(whole, max_tokens="At most", output_tokens="Used"),
    *numbers(hundredths, score="Score", se="±"),
    *numbers(whole, answers="Answers ~1"),
)
_REASONS = (
    *texts(judge="Judge"),
    *numbers(whole, zeros="Zeros", tens="Tens"),
    *texts(", ".join, words="Its words"),
)


def _notes(found: TournamentReport) -> list[str]:
    notes = [] if found.status == "done" else [f"{found.status}: nobody is rated"]
    if any(row.public_scores for row in found.ranking):
        notes.append("public: people outside, each of them brought to an average of 5; peer scores stay")
    return notes


def _matrix(found: TournamentReport, title: str, tests: JudgesReport | None) -> Rows:
    """Return who gave whom how much: for people a line for each judge and a column for each author, a star
    for what the judges' tests find beyond chance."""
    title += "who gave whom how much"
    notes = ["the mean of what a judge gave, and how much more it favours an author than others do"]
    if tests is None:
        return Rows(found.matrix, _MATRIX, title=title, name="matrix", notes=notes)
    beyond = {(pair.judge, pair.author) for pair in tests.favours if pair.found}
    cells = {(cell.judge, cell.author): cell for cell in found.matrix}
    players = [row.player for row in found.ranking]

    def gave(place: int, author: str) -> Column:
        def written(cell: Cell) -> str:
            favour = "" if cell.favour is None else f" {round(cell.favour, 1) + 0.0:+.1f}"
            return f"{cell.mean:.1f}{favour}{'*' * ((cell.judge, cell.author) in beyond)}"

        return Column(
            str(place), f"to {author}", written, number=True, value=lambda judge: cells.get((judge, author))
        )

    columns = [
        Column("judge", "Judge", value=str),
        *[gave(place, name) for place, name in enumerate(players)],
    ]
    notes += [f"* {_BEYOND}"] * bool(beyond) + [summary(tests.favours, judges=bool(tests.judges))]
    return Rows(players, columns, title=title, name="matrix", notes=notes)
