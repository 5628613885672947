"""Marks and ballots as columns, one by one."""

from __future__ import annotations

from collections.abc import Iterable

from peerage.judging.marks.ballots import BALLOTS, Ballots, PanelRecord, add_panel, ballots_in
from peerage.judging.marks.marks import MARKS, Mark, MarkRows, Marks, add_marks, marks_in


def tabled(marks: Iterable[Mark]) -> Marks:
    """Marks as columns; in which order they come does not matter."""
    rows = MarkRows(MARKS)
    add_marks(rows, marks)
    return marks_in(rows.columns())


def listed(panels: Iterable[PanelRecord]) -> Ballots:
    """The ballots of panels, in their order."""
    ballots = MarkRows(BALLOTS)
    for number, panel in enumerate(panels):
        add_panel(ballots, f"{number:09}", panel)
    return ballots_in(ballots.columns())
