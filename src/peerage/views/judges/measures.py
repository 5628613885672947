"""Numbers about all judges together: how they agree, and what their votes or scores are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from peerage.judging.marks.ballots import Ballots
from peerage.judging.marks.comparisons import errors
from peerage.judging.marks.marks import Marks
from peerage.judging.measures.agreement import ChoicesByUnit, Estimate, alpha, effective_votes
from peerage.judging.measures.favours.search import FEWEST
from peerage.judging.measures.preference import length_bias
from peerage.judging.scores.standing import normalised
from peerage.ratings.arrays import Floats
from peerage.render.blocks import Column, Rows, bounded, numbers, texts
from peerage.values.figures import measured, whole

Bounds: TypeAlias = tuple[float | None, float | None, float | None]
"""A value, and its lower and upper bound at 95%."""
_WORTH = 0.75  # of their number: votes worth less are worth a remark


class Measure(Struct, frozen=True):
    """One number about all judges together, with 95% bounds where there are honest ones; None from fewer
    than five units. Counts are whole. `units` are the matches (or answers) that it rests on, `about` says
    what it is."""

    measure: str
    value: float | int | None
    lower: float | None
    upper: float | None
    units: int
    about: str


def measures(marks: Marks, ballots: Ballots) -> Iterator[Measure]:
    """Yield the measures of votes where there are ballots, or else of scores."""
    if not len(marks):
        return
    if len(ballots):
        valid = ballots.compared
        votes = ChoicesByUnit(ballots.panel[valid], ballots.vote[valid])
        agree = alpha(votes), "Krippendorff's α: agreement on the vote, 0 by chance, 1 perfect"
        shares = np.where(ballots.weight[valid] > 0, ballots.weight[valid], 1.0)
        judged, of, names = votes.unit, ballots.judge[valid], ballots.players
        given, size = "votes", "valid votes a match"
    else:
        points = ChoicesByUnit(marks.answer, _levelled(marks))
        agree = alpha(points, "interval"), "Krippendorff's α of the scores, each judge's mean taken away"
        shares = np.ones(len(marks))
        judged, of, names = marks.answer, marks.judge, marks.judges
        given, size = "scores", "scores an answer"
    yield _estimated("alpha", *agree)
    units, unit = np.unique(judged, return_inverse=True)
    yield Measure("votes", len(unit) / len(units), None, None, len(units), size)
    wrong = errors(marks)
    place = {name: at for at, name in enumerate(marks.judges)}
    judge = np.array([place.get(name, 0) for name in names], np.int64)[of]  # who cast a vote has marks
    noise = shares * np.maximum(wrong.noise[judge], 1e-9)
    worth = float(effective_votes(unit, noise, wrong.discernment[judge], wrong.correlation).mean())
    about = (
        f"independent {given} of the median judge that these are worth: by weight, discernment, shared errors"
    )
    yield Measure("effective_votes", worth, None, None, len(units), about)
    about = "how far the errors of two judges on one answer go together, 0 where they err apart"
    yield Measure("shared_errors", wrong.correlation, None, None, len(units), about)
    about = "how much more an answer twice as long is given; merit that goes with length is in it"
    yield _estimated("length_bias", length_bias(marks), about)


def _estimated(name: str, found: Estimate | None, about: str) -> Measure:
    return Measure(name, *bounds(found), found.units if found is not None else 0, about)


def bounds(found: Estimate | None) -> Bounds:
    """Return an estimate with its bounds; nothing where too little was counted."""
    return (None, None, None) if found is None or found.units < FEWEST else found[:3]


def named(**estimates: Bounds) -> dict[str, Any]:
    """Return values with their bounds as fields of a row."""
    ends = ("", "_lower", "_upper")
    return {f"{name}{end}": of[at] for name, of in estimates.items() for at, end in enumerate(ends)}


def _levelled(marks: Marks) -> Floats:
    """Scores, every judge's brought to the same mean."""
    ends = np.searchsorted(marks.judge, np.arange(1, len(marks.judges)))
    return np.concatenate(
        [np.array(normalised(given.tolist()), np.float64) for given in np.split(marks.value, ends)]
    )


def table(rows: Sequence[Measure]) -> Rows:
    """Return the table of measures."""
    columns: list[Column] = [
        *texts(lambda name: name.replace("_", " "), measure="Measure"),
        *bounded(measured, 1, "", value="Value"),
        *numbers(whole, units="Over ~2"),
        *texts(about="What it is"),
    ]
    return Rows(rows, columns, title="Judges together", name="measures")


def remarks(rows: Sequence[Measure], unit: str) -> Iterator[str]:
    """Yield by how much less votes, or scores, are worth than their number."""
    figures = {row.measure: row.value for row in rows}
    votes, effective = figures.get("votes"), figures.get("effective_votes")
    if votes is not None and effective is not None and effective < _WORTH * votes and votes > 1:
        apart = 1 / (1 + (votes - 1) * max(figures.get("shared_errors") or 0.0, 0.0))
        alike = apart <= effective / votes / apart
        why = "the judges err alike" if alike else "some hardly tell answers apart, or weigh little"
        yield f"{votes:.3g} {unit} tell as much as {effective:.1f} of judges who err independently: {why}."
