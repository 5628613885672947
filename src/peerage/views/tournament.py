"""Tournaments of Humanity's Last Arena as tables: one of them, or how players did over all.

Everything follows from recorded outcomes, and the public's scores from their entries in the log.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from peerage.game.protocol import first_key
from peerage.games.last_arena import GAME as LAST_ARENA
from peerage.games.last_arena.rules import answer_chars
from peerage.games.last_arena.tables import (
    BudgetRow,
    Cell,
    FinishedTournament,
    Place,
    ReasonsRow,
    SortRow,
    answers_of,
    matrix,
    ranking,
    reasons,
    scaling,
    sorts,
)
from peerage.judging.scores.scoring import Grade
from peerage.judging.scores.standing import normalised_grades, of
from peerage.ledger import Ledger, LedgerError
from peerage.ledger.forms.codec import by_hex, read_fixture, read_issued, read_record, read_reply
from peerage.ledger.topics.public import Opinion, opinions, read_opinion
from peerage.reading.rows import rows_of
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import hundredths, percent, signed, whole
from peerage.values.inputs import opened
from peerage.views.judges.favours import summary
from peerage.views.judges.report import JudgesReport
from peerage.views.shown import Shown

MOST_SAVED = 1_000_000
"""Bytes of a file that the audience's page saves."""


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
    """One player over all tournaments that rated it.

    `score` is the mean, `sd` its standard deviation (how consistent it is), `first` and `last` the scores of
    the first and the last. `trend` is the least-squares slope per tournament, `trend_se` its standard error.
    None where there are too few: two for `sd` and `trend`, three for `trend_se`.
    """

    player: str
    tournaments: int
    score: float
    sd: float | None
    first: float
    last: float
    trend: float | None
    trend_se: float | None


def played(ledger: Ledger, first: int = 1, last: int | None = None) -> Iterator[FinishedTournament]:
    """The finished tournaments of an arena, in order."""
    summaries = ledger.summaries(first, last)
    wanted = {summary.number: None for summary in summaries if summary.game == LAST_ARENA.name}
    for issued, record in rows_of(ledger, wanted):
        outcome = read_record(record.body).outcome
        players = {seat.label: seat.player for seat in read_issued(issued.body).seats}
        digest = sha256(record.body).hexdigest()
        yield FinishedTournament(record.number, players, outcome.void, outcome.detail, digest)


def find(ledger: Ledger, number: int | None = None) -> FinishedTournament:
    """The tournament of that number, or the last one. Raises LedgerError when it is none, or not finished."""
    if number is None:
        for one in range(ledger.heads()[1], 0, -1):
            for newest in played(ledger, one, one):
                return newest
        raise LedgerError("no tournament of Humanity's Last Arena is on record here; see `peerage run`")
    rows, at = ledger.match(number, exchanges=False), ledger.place(number)
    found = next(played(ledger, at, at), None) if rows and rows.record else None
    if found is None:
        raise LedgerError(f"match {number} is no finished tournament of Humanity's Last Arena")
    return found


def answers(ledger: Ledger, match: FinishedTournament) -> dict[str, str]:
    """The usable answers of a tournament by their ids on record, cut as their judges saw them."""
    rows = ledger.match(match.number)
    if rows is None:
        raise LedgerError(f"{ledger.address} lacks match {match.number}; `peerage verify` says more")
    fixture = read_fixture(rows.fixture.body, by_hex(ledger.texts()))
    limit, scored = (
        answer_chars(fixture.settings["max_tokens"], fixture.settings["answer_budgets"]),
        frozenset(match.answers),
    )
    said = {
        first_key(one.key): raw.text
        for one in rows.exchanges
        if one.reply is not None and (raw := read_reply(one)).status == "ok"
    }
    return {
        answer: text[:limit]
        for answer, text in answers_of(fixture, said).items()
        if text.strip() and answer in scored
    }


def token(match: FinishedTournament, answer: str) -> str:
    """What stands for an answer where people judge it: the same for everybody, and it tells nothing."""
    return sha256(f"audience\0{match.record}\0{answer}".encode()).hexdigest()[:16]


def tokens(match: FinishedTournament) -> dict[str, str]:
    """The id of every answer that was scored by peers, by its token."""
    return {token(match, answer): answer for answer in match.answers}


class VotesRefused(Exception):
    """A file of votes cannot be entered; the message says why."""


def opinion(ledger: Ledger, file: Path) -> Opinion:
    """What somebody saved on the audience's page, with the answers named as they are on record.

    Raises VotesRefused, LedgerError when there is no such tournament, and OSError.
    """
    with opened(file) as stream:
        body = stream.read(MOST_SAVED + 1)
    if len(body) > MOST_SAVED:
        raise VotesRefused(f"{file} has more than {MOST_SAVED:,} bytes: no file that the page saves")
    try:
        saved = read_opinion(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise VotesRefused(f"{file} is no file that the page saved: {error}") from None
    match = find(ledger, saved.match)
    if match.record != saved.record:
        raise VotesRefused(f"{file} judges another record of match {saved.match} than this arena's")
    known = tokens(match)
    unknown = [one for one in saved.scores if one not in known]
    if unknown:
        raise VotesRefused(
            f"{file} scores the answer {unknown[0]!r}, which match {saved.match} does not have"
        )
    return msgspec.structs.replace(saved, scores={known[one]: points for one, points in saved.scores.items()})


def tournament(ledger: Ledger, number: int | None = None) -> TournamentReport:
    """One tournament, by default the last. Raises LedgerError."""
    match = find(ledger, number)
    players, detail = match.players, match.detail
    return TournamentReport(
        match.number,
        match.void or "done",
        ranking(players, detail, _public(ledger, match)),
        matrix(players, detail),
        sorts(players, detail),
        scaling(players, detail),
        reasons(players, detail),
    )


def _public(ledger: Ledger, match: FinishedTournament) -> dict[str, list[float]]:
    """What people outside gave each label's answers, each person's scores brought to an average of 5."""
    known = frozenset(match.answers)
    grades = [
        Grade(opinion.voter, item.split("/")[1], item, points)
        for opinion in opinions(ledger)
        if opinion.record == match.record
        for item, points in opinion.scores.items()
        if item in known
    ]
    found: dict[str, list[float]] = {}
    for gain in normalised_grades(grades):
        found.setdefault(gain.grade.author, []).append(gain.value)
    return found


def progress(ledger: Ledger) -> list[ProgressRow]:
    """How every player did over all tournaments, the best first."""
    courses: dict[str, list[tuple[int, float]]] = {}
    for at, match in enumerate(one for one in played(ledger) if not one.void):
        for player, score in match.scores.items():
            courses.setdefault(player, []).append((at, score))
    rows = [_progress(player, course) for player, course in courses.items()]
    return sorted(rows, key=lambda row: (-row.score, row.player))


def _progress(player: str, course: Sequence[tuple[int, float]]) -> ProgressRow:
    scores = [score for _, score in course]
    mean = of(scores)
    trend, error = _slope(course)
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


def _slope(course: Sequence[tuple[int, float]]) -> tuple[float | None, float | None]:
    """The least-squares slope of a score on the tournament's place, and its standard error."""
    n = len(course)
    if n < 2:
        return None, None
    middle = math.fsum([at for at, _ in course]) / n
    mean = math.fsum([score for _, score in course]) / n
    width = math.fsum([(at - middle) ** 2 for at, _ in course])
    slope = math.fsum([(at - middle) * score for at, score in course]) / width
    if n < 3:
        return slope, None
    rest = math.fsum([(score - mean - slope * (at - middle)) ** 2 for at, score in course])
    return slope, math.sqrt(rest / (n - 2) / width)


_BEYOND = "beyond chance by the judges' test, over all matches on record"


def parts(found: TournamentReport, tests: JudgesReport | None = None) -> list[Rows]:
    """Return the tables of one tournament, each under the name of its field; with the judges' `tests` the
    matrix as people read it."""
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
