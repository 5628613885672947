"""Recorded answers of files, paired for judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from peerage.games.rejudge.files import RejudgedPairs, paired
from peerage.ratings.read.report import ReadingReport, Row
from peerage.ratings.read.results import rows
from peerage.values.inputs import opened


class NoAnswers(ValueError):
    """Files hold nothing that judges can compare; the message says why."""


def pairs_in(files: Iterable[str], score: str) -> RejudgedPairs:
    """Return every two players' answers to one question in files, of which the column `score` counts, with
    notes about what was left out. Raises NoAnswers."""
    report = ReadingReport()
    try:
        pairs = paired((row for _, row in answer_rows(files, report, score)), report)
        return pairs._replace(notes=(*report.notes, *pairs.notes))
    except ValueError as error:
        raise NoAnswers(str(error)) from None


def answer_rows(files: Iterable[str], report: ReadingReport, score: str = "") -> Iterator[tuple[str, Row]]:
    """Yield the answers in files, each with its file, whose places `report` then knows."""
    for name in files:
        with opened(Path(name)) as stream:
            for row, form in rows(stream, name, report, score=score, answers=True):
                yield from [(name, each) for each in (_of_battle(row) if form.kind == "battles" else [row])]


def _of_battle(row: Row) -> list[Row]:
    """Return the two answers of a battle, of which the first turn counts."""
    asked = row.get("prompt")
    shared = {"challenge": row.get("question") or asked, "question": asked}
    sides = [side for side in "ab" if f"answer_{side}" in row]
    given: list[Row] = [
        {**shared, "player": row.get(f"model_{side}"), "answer": row[f"answer_{side}"]} for side in sides
    ]
    return given or [{**row, **shared, "player": row.get("model_a")}]  # a vote alone, which is refused
