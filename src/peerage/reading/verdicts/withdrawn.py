"""Withdrawn challenges, and the narrow table as a withdrawal changes it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from peerage.challenges.pool import read_challenge_detail
from peerage.game.match import by_rank
from peerage.ledger import Columns, Ledger, Summary
from peerage.ledger.forms.codec import read_header
from peerage.ledger.forms.columns import of_summaries
from peerage.ledger.out.disclosure import acted


def withdrawn(ledger: Ledger) -> frozenset[str]:
    """Return the ids of the challenges that people have withdrawn."""
    return acted(ledger, "withdraw")


def match_points(ledger: Ledger) -> dict[int, tuple[float, ...]]:
    """Each finished match's points in seat order, without attempts at withdrawn challenges. A match of which
    only withdrawn challenges were attempted is left out, and so is one without points."""
    gone = withdrawn(ledger)
    points_of: dict[int, tuple[float, ...]] = {}
    for row in ledger.records():
        detail = read_challenge_detail(read_header(row.body).outcome.detail)
        counted = [attempt for attempt in detail.attempts if attempt.challenge_id not in gone]
        if counted:
            points = dict.fromkeys(detail.points, 0.0)
            for attempt in counted:
                points[attempt.label] += attempt.points
            points_of[row.number] = tuple(points.values())
    return points_of


def amended(ledger: Ledger) -> Iterator[Summary]:
    """The narrow table as tables count it: results without attempts at withdrawn challenges. A match of which
    nothing is left is void: withdrawn."""
    if not (gone := withdrawn(ledger)):
        yield from ledger.summaries()
        return
    touched: dict[int, tuple[float, ...] | None] = {}
    points = match_points(ledger)
    for row in ledger.records():
        attempted = read_challenge_detail(read_header(row.body).outcome.detail).attempts
        if any(attempt.challenge_id in gone for attempt in attempted):
            touched[row.number] = points.get(row.number)
    for summary in ledger.summaries():
        if summary.number not in touched or not summary.scores:
            yield summary
            continue
        left = touched[summary.number]
        if left is None:
            yield msgspec.structs.replace(summary, status="withdrawn", scores=())
            continue
        ranked = by_rank({str(seat): round(total, 9) for seat, total in enumerate(left)})
        yield msgspec.structs.replace(summary, scores=tuple(ranked.values()))


def amended_columns(ledger: Ledger) -> Columns:
    """The same in columns."""
    return of_summaries(amended(ledger)) if withdrawn(ledger) else ledger.columns()
