"""Anybody's results, read into histories: battles, games and answers; docs/ratings.md has the columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

from peerage.ratings.read import columnar
from peerage.ratings.read.answers import Answers, AnswersRead
from peerage.ratings.read.forms import AS_WRITTEN, Form, GivenForm, Layout, Mapper, held
from peerage.ratings.read.histories import Battles, BattlesRead, PlayedGames, PlayedRead
from peerage.ratings.read.report import (
    ColumnMissing,
    DataError,
    NoSingleResults,
    ReadingReport,
    Row,
    RowError,
)
from peerage.ratings.read.source import records


def rows(
    stream: BinaryIO,
    name: str,
    report: ReadingReport,
    layout: Layout = "auto",
    score: str = "",
    *,
    given: GivenForm = AS_WRITTEN,
    answers: bool = False,
) -> Iterator[tuple[Row, Form]]:
    """Yield the rows of a file by our columns, with their form, one for all; `report` has the place of each.
    `score` names the column of answers that says what was solved; `answers` adds what judges of answers need.
    Raises DataError for a file of no form that is known; bad rows are added to `report`."""
    report.file = name
    mapper: Mapper | None = None
    unknown: DataError | None = None
    for record in _unfolded(records(stream, name, report, western=True), report):
        if not isinstance(record, dict):
            report.add(RowError(f"found {json.dumps(record):.60}, expected an object with named fields"))
            continue
        if mapper is None:
            try:
                mapper = Mapper(record, report, given, layout, score=score, answers=answers)
            except DataError as error:
                if report.fixed or report.unit != "line" or unknown:
                    raise unknown or error from None
                unknown = error  # one bad line at the beginning
                report.add(RowError(str(error).removeprefix(f"{name}: ")))
                continue
        report.row, report.titles = record, mapper.titles
        if score and score not in record and record.get("solved", "") is not None:
            report.add(ColumnMissing(score))
        elif mapper.form.verdicts:
            for row in mapper.battles(record):
                yield row, mapper.form
        else:
            yield mapper(record), mapper.form
    if mapper is None and unknown:
        raise unknown


def _unfolded(found: Iterable[Any], report: ReadingReport) -> Iterator[Any]:
    """Yield records, and in place of a first that holds all rows of its file in a list those rows."""
    for count, record in enumerate(found):
        inside = None if count else held(record)
        if inside is None:
            yield record
            continue
        unit, number = report.unit, report.number
        for at, row in enumerate(inside, 1):
            report.unit, report.number = f"{unit} {number}, row", at
            yield row
        report.unit, report.number = unit, number


def read(
    streams: Iterable[tuple[str, BinaryIO | columnar.Frame]],
    layout: Layout = "auto",
    *,
    labels: Sequence[str] = (),
    controls: Sequence[str] = (),
    kept: Sequence[str] = (),
    by: str = "",
    score: str = "",
    given: GivenForm = AS_WRITTEN,
) -> Battles | PlayedGames | Answers:
    """Read opened files or frames, each with the name that errors give it, as one history.

    `labels` and `controls` name columns that must be there, `kept` labels that need not (empty where they
    are missing), `by` one that some row has; `score` names the column of answers that says what was solved;
    `given` is what the user states about the files.
    With `auto` the first row of a file decides. Rows with timestamps are put in their order, and so are games
    with dates. Rows that cannot be used are left out, with notes, where they are fewer than the results and
    reading is not strict. Raises DataError.
    """
    battles = BattlesRead(labels, controls, (*kept, *[by] * bool(by)))
    kinds: dict[str, BattlesRead | PlayedRead | AnswersRead] = {
        "battles": battles,
        "games": PlayedRead(),
        "answers": AnswersRead(),
    }
    report = ReadingReport(strict=given.strict)
    first: Form | None = None
    files = [*streams]

    def mapper_of(record: dict[str, Any]) -> Mapper:
        report.fixed = True
        return Mapper(record, report, given, layout, score=score)

    for name, file in files:
        report.file = name
        if (not first or first.kind == "battles") and (
            whole := columnar.take(file, mapper_of, battles, report, alone=len(files) == 1)
        ):
            first = first or whole
            continue
        stream = file.lines() if isinstance(file, columnar.Frame) else file
        found = rows(stream, name, report, layout, score, given=given)
        for row, form in found if len(files) == 1 else _single(found, report):
            first = first or form
            if form.kind != first.kind:
                raise DataError(
                    f"{name} holds {form.kind}, and a file before it {first.kind}: take them apart"
                )
            try:  # a context for each row would take longer
                kinds[form.kind].add(row, form, report)
            except RowError as error:
                report.add(error)
    if first is None:
        report.check()
        raise DataError("there are no rows to rate: every file is empty")
    reader = kinds[first.kind]
    reader.close(report)
    report.settle(reader.usable)
    if not reader.usable and report.left_out:
        raise DataError("\n  ".join(["no row has a result that counts", *report.notes]))
    if by and first.kind == "battles" and not any(battles.labels[by]):
        raise DataError(f"no battle has a {by}; the columns are {', '.join(map(str, report.row)):.2000}")
    return reader.made(first.layout, report.notes)


def _single(found: Iterator[tuple[Row, Form]], report: ReadingReport) -> Iterator[tuple[Row, Form]]:
    """Yield the rows of one file of several, none of a file of means."""
    try:
        yield from found
    except NoSingleResults as error:
        report.guess(f"left out: {error}")


def layout_of(stream: BinaryIO, name: str, score: str = "", given: GivenForm = AS_WRITTEN) -> Layout | None:
    """The layout of a file by its first row; None where it has no row. Raises DataError."""
    report = ReadingReport()
    for _, form in rows(stream, name, report, score=score, given=given):
        return form.layout
    report.check()
    return None
