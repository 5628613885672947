"""Anybody's results, read into histories: battles, games and answers; docs/ratings.md has the columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from peerage.ratings.read import columnar
from peerage.ratings.read.answers import Answers, AnswersRead
from peerage.ratings.read.forms import Form, Layout, Mapper, form_of
from peerage.ratings.read.histories import Battles, BattlesRead, PlayedGames, PlayedRead
from peerage.ratings.read.report import ColumnMissing, DataError, ReadingReport, Row, RowError
from peerage.ratings.read.source import records


def rows(
    stream: BinaryIO, name: str, report: ReadingReport, layout: Layout = "auto", score: str = ""
) -> Iterator[tuple[Row, Form]]:
    """Yield the rows of a file by our columns, with their form, one for all; `report` has the place of each.

    `score` names the column of answers that says what was solved. Raises DataError for a file of no form that
    is known; bad rows are added to `report`.
    """
    report.file = name
    mapper: Mapper | None = None
    for record in records(stream, name, report):
        if not isinstance(record, dict):
            report.add(RowError(f"found {type(record).__name__}, expected an object with named fields"))
            continue
        if mapper is None:
            mapper = _mapper(name, layout, score, record, fixed=report.fixed)
        report.row, report.titles = record, mapper.titles
        if score and score not in record and record.get("solved", "") is not None:
            report.add(ColumnMissing(score))
            continue
        yield mapper(record), mapper.form


def _mapper(name: str, layout: Layout, score: str, record: Row, *, fixed: bool = True) -> Mapper:
    form = form_of(record, name, "answers" if score else layout)
    return Mapper(form, score, tuple(record) if fixed else ())


def read(
    streams: Iterable[tuple[str, BinaryIO | columnar.Frame]],
    layout: Layout = "auto",
    *,
    labels: Sequence[str] = (),
    controls: Sequence[str] = (),
    kept: Sequence[str] = (),
    by: str = "",
    score: str = "",
) -> Battles | PlayedGames | Answers:
    """Read opened files or frames, each with the name that errors give it, as one history.

    `labels` and `controls` name columns that must be there, `kept` labels that need not (empty where they
    are missing), `by` one that some row has; `score` names the column of answers that says what was solved.
    With `auto` the first row of a file decides. Rows with timestamps are put in their order, and so are games
    with dates. Raises DataError.
    """
    battles, played = BattlesRead(labels, controls, (*kept, *[by] * bool(by))), PlayedRead()
    kinds: dict[str, BattlesRead | PlayedRead | AnswersRead] = {
        "battles": battles,
        "games": played,
        "answers": AnswersRead(),
    }
    report = ReadingReport()
    first: Form | None = None
    files = [*streams]
    for name, file in files:
        mapper_of = partial(_mapper, name, layout, score)
        if (not first or first.kind == "battles") and (
            whole := columnar.take(file, mapper_of, battles, report, alone=len(files) == 1)
        ):
            first = first or whole
            continue
        stream = file.lines() if isinstance(file, columnar.Frame) else file
        for row, form in rows(stream, name, report, layout, score):
            first = first or form
            try:  # a context for each row would take longer
                if form.kind != first.kind:
                    raise RowError(f"found {form.kind}, and {first.kind} before; rate them apart")
                kinds[form.kind].add(row, form, report)
            except RowError as error:
                report.add(error)
    played.close(report)
    if first is None:
        raise DataError("there are no rows to rate: every file is empty")
    if by and first.kind == "battles" and not any(battles.labels[by]):
        raise DataError(f"no battle has a {by}; the columns are {', '.join(map(str, report.row)):.2000}")
    return kinds[first.kind].made(first.layout, report.notes)


def layout_of(stream: BinaryIO, name: str, score: str = "") -> Layout | None:
    """The layout of a file by its first row; None where it has no row. Raises DataError."""
    report = ReadingReport()
    for _, form in rows(stream, name, report, score=score):
        return form.layout
    report.check()
    return None
