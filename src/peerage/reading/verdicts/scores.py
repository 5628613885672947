"""The scores that judges gave in matches of a scope, as votes: which of two answers each gave more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from peerage.game.match import Fixture, Outcome
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import MARKS, Mark, MarkRows, Marks, Votes, add_marks, marks_in
from peerage.judging.scores.scoring import recorded
from peerage.ledger import Ledger, Summary
from peerage.reading.rows import whole_of


class AllMarks(NamedTuple):
    """All marks, with those that the rules give to `unjudged` answers: a 0 by every judge to what was
    unusable or refused. These are flagged by contest and author, shape (contests, authors)."""

    marks: Marks
    unjudged: np.ndarray

    @property
    def votes(self) -> Votes:
        return in_orders(self.marks, self.unjudged)


def scored(ledger: Ledger, decided: Sequence[Summary]) -> AllMarks:
    """The scores given in decided matches, in number order. Raises LedgerError."""
    rows, missing = MarkRows(MARKS), list[Mark]()
    wanted = {summary.number: summary for summary in decided}
    for fixture, outcome in whole_of(ledger, wanted, (b'"scores":"judge"',)):
        given = list(scores(fixture, outcome, {}))
        add_marks(rows, given)
        missing += _unjudged(fixture, outcome, dict.fromkeys([mark.judge for mark in given]))
    add_marks(rows, missing)
    marks = marks_in(rows.columns())
    unjudged = np.zeros((len(marks.contests), len(marks.authors)), np.bool_)
    contests, authors = (
        {name: at for at, name in enumerate(names)} for names in (marks.contests, marks.authors)
    )
    for mark in missing:
        unjudged[contests[mark.contest], authors[mark.author]] = True
    return AllMarks(marks, unjudged)


def _unjudged(fixture: Fixture, outcome: Outcome, judges: Sequence[str] | dict[str, None]) -> Iterator[Mark]:
    """Yield what the rules give each answer that no judge was asked about: 0 by everybody but its author."""
    players = {seat.label: seat.player for seat in fixture.seats}
    asked = {grade.item for grade in recorded(outcome, "judge")}
    for item in outcome.detail.get("answers", ()):
        if item not in asked:
            author = item.split("/")[1]
            contest = f"{fixture.number}/{contest_of(item, author)}"
            for judge in judges:
                if judge != players[author]:
                    yield Mark(judge, players[author], contest, 0.0)


def scores(fixture: Fixture, outcome: Outcome, chars: Mapping[str, int]) -> Iterator[Mark]:
    """The scores that judges gave; an item is named QUESTION/LABEL, with more after it where one author
    answered a question more than once."""
    players = {seat.label: seat.player for seat in fixture.all_seats()} | fixture.authors
    for grade in recorded(outcome, "judge"):
        on, length = f"{fixture.number}/{contest_of(grade.item, grade.author)}", chars.get(grade.item)
        yield Mark(players[grade.judge], players[grade.author], on, grade.raw, length)


def contest_of(item: str, author: str) -> str:
    """Return what all answers to compare an item with have in common: its name without its author's label."""
    question, _, more = item.partition(f"/{author}")
    return f"{question}{more}"
