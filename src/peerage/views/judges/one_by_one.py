"""Judges one by one: how each agrees, what it prefers, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec import Struct, structs

from peerage.judging.marks.ballots import Ballots, judge_statistics
from peerage.judging.marks.marks import Marks, Votes
from peerage.judging.measures.favours.evidence import Mute
from peerage.judging.measures.favours.search import LEVEL
from peerage.judging.measures.known import KnownVotes
from peerage.judging.measures.preference import (
    ONE_SIDED,
    Positions,
    kin_preferences,
    length_leans,
    one_sided,
    positions,
)
from peerage.ratings.fits.judges import counted, reliabilities
from peerage.ratings.table import Z95
from peerage.render.blocks import Column, Rows, bounded, explained, numbers
from peerage.values.figures import hundredths, percent, signed, whole
from peerage.views.judges.measures import bounds, named


class JudgeRow(Struct, frozen=True):
    """One judge. `marks` are the answers it marked: two by a valid vote on a duel. Each number with its 95%
    bounds; None where fewer than five matches (or questions) were there to count.

    - `mean`: of its marks, 0 to 1 for votes (always ½), 0 to 10 for scores: how generous it is.
    - `abstentions`, `agreement`, `flip_share`, `first_share`: see `judging.ballots.JudgeStatistics`.
    - `self_preference`, `kin_preference`: by how much more than the others it gives its own work, and
      that of its family.
    - `length_lean`: by how much more than the others it gives an answer twice as long.
    - `reliability`: of its votes, 1 for a judge of average discernment, 0 for one who tosses a coin (see
      `ratings.judges`).
    - `known`: its votes where a check tells the two answers apart, of which `known_right` preferred the right
      one and `known_tied` neither; `known_share` counts a tie as half (see `judging.known`).
    """

    judge: str
    family: str
    marks: int
    mean: float | None
    abstentions: int | None
    agreement: float | None
    flip_share: float | None
    flip_share_lower: float | None
    flip_share_upper: float | None
    first_share: float | None
    first_share_lower: float | None
    first_share_upper: float | None
    self_preference: float | None
    self_preference_lower: float | None
    self_preference_upper: float | None
    kin_preference: float | None
    kin_preference_lower: float | None
    kin_preference_upper: float | None
    length_lean: float | None
    length_lean_lower: float | None
    length_lean_upper: float | None
    reliability: float | None
    reliability_lower: float | None
    reliability_upper: float | None
    known: int = 0
    known_right: int = 0
    known_tied: int = 0
    known_share: float | None = None
    known_share_lower: float | None = None
    known_share_upper: float | None = None


def rows_of(
    marks: Marks,
    ballots: Ballots,
    families: Mapping[str, str],
    cast: Votes | None,
    known: Sequence[KnownVotes],
) -> Iterator[JudgeRow]:
    """Yield a row for each judge of these marks or ballots, or whose votes are known, in order of names."""
    own = kin_preferences(marks, lambda judge, author: judge == author)
    same_family = kin_preferences(
        marks,
        lambda judge, author: judge != author and "" != families.get(judge, "") == families.get(author, ""),
    )
    length, order = length_leans(marks), positions(ballots)
    statistics, reliable = judge_statistics(ballots), _reliabilities(marks, cast)
    sizes = np.bincount(marks.judge, minlength=len(marks.judges))
    means = np.bincount(marks.judge, marks.value, len(marks.judges)) / np.maximum(sizes, 1)
    listed = zip(marks.judges, sizes.tolist(), means.tolist(), strict=True)
    given = {judge: (size, mean) for judge, size, mean in listed if size}
    checked = {votes.judge: votes for votes in known}
    for judge in sorted(given.keys() | statistics.keys() | checked.keys()):
        cast_by, on_known = statistics.get(judge), checked.get(judge)
        right = (on_known.votes, on_known.right, on_known.tied) if on_known else (0, 0, 0)
        share = (on_known.share, on_known.lower, on_known.upper) if on_known else (None, None, None)
        position = order.get(judge, Positions(None, None))
        marks_given, mean = given.get(judge, (0, None))
        yield JudgeRow(
            judge=judge,
            family=families.get(judge, ""),
            marks=2 * (cast_by.votes - cast_by.abstentions) if cast_by else marks_given,
            mean=mean,
            abstentions=cast_by.abstentions if cast_by else None,
            agreement=cast_by.agreement if cast_by else None,
            known=right[0],
            known_right=right[1],
            known_tied=right[2],
            **named(
                flip_share=bounds(position.flips),
                first_share=bounds(position.first),
                self_preference=bounds(own.get(judge)),
                kin_preference=bounds(same_family.get(judge)),
                length_lean=bounds(length.get(judge)),
                reliability=reliable.get(judge, (None, None, None)),
                known_share=share,
            ),
        )


def _reliabilities(marks: Marks, cast: Votes | None) -> dict[str, tuple[float, float, float]]:
    """Return how discerning each judge's votes or scores are, with bounds."""
    if cast is None:
        return {}
    nobody = np.zeros((len(marks.judges), len(marks.authors)), np.bool_)
    each = replace(cast.history, weight=np.ones(len(cast.history)) if cast.worth is None else cast.worth)
    found, error = reliabilities(counted(each, cast.judge, len(marks.judges)), nobody)
    return {
        judge: (g, g - w, g + w)
        for judge, g, w in zip(marks.judges, found.tolist(), (Z95 * error).tolist(), strict=True)
    }


def table(rows: Sequence[JudgeRow]) -> Rows:
    """Return the table of judges."""
    known = [
        structs.replace(column, page=False)
        for column in numbers(whole, known="Known", known_right="Right", known_tied="Tied")
    ]
    known += bounded(percent, 10, known_share="Prefers the right")
    columns = [
        Column("judge", "Judge", link=lambda row: ("player", row.judge)),
        *numbers(whole, marks="Marks ~2"),
        *(numbers(hundredths, mean="Mean ~12") if any(row.mean not in (None, 0.5) for row in rows) else ()),
        *(known if any(row.known for row in rows) else ()),
        *numbers(percent, agreement="Agreement ~4"),
        *bounded(percent, flip_share="Flips", first_share="Prefers the first ~5"),
        *bounded(signed, self_preference="Prefers itself ~6"),
        *bounded(signed, 7, kin_preference="Prefers its family"),
        *bounded(signed, 8, length_lean="Prefers length ~3"),
        *bounded(hundredths, 9, reliability="Reliability"),
    ]
    more = "how many points more than the other judges it gives"
    hints = explained(
        [column for column in columns if any(column.of(row) is not None for row in rows)],
        marks="answers that it judged, two in a duel",
        known="its votes on two answers that a check tells apart",
        known_right="those for the right answer",
        known_share="where a check tells the two answers apart; a tie counts as half, a coin has 50%",
        flip_share="the share of its verdicts that changed with the order of the answers, where it saw both",
        first_share="how often it picks the answer shown first; a judge without bias has 50%",
        self_preference=f"{more} its own answers, 0 without bias",
        kin_preference=f"{more} answers by models of its own maker, 0 without bias",
        length_lean=f"{more} an answer twice as long, 0 without bias",
        reliability="1 for a judge of average discernment, 0 for one who tosses a coin",
    )
    return Rows(rows, hints, title="Judges one by one, with 95% bounds", name="judges")


_MUTE: Mapping[Mute, str] = {
    "alike": "finds all answers alike: its {} say nothing. Exclude it?",
    "tied": "has found all answers alike so far, in too few {} to say that it always will.",
    "coin": "judges as if it tossed a coin: its {} say nothing. Exclude it?",
    "contrary": "prefers the worse answer by the measure of all other judges. Exclude it?",
}
_LEANING = 0.6  # share of verdicts for one place


def remarks(rows: Sequence[JudgeRow], mute: Mapping[str, Mute], ballots: Ballots, unit: str) -> Iterator[str]:
    """Yield which judges say nothing, or pick by place."""
    leaning = one_sided(ballots, LEVEL)
    for row in rows:
        share = row.first_share if row.judge in leaning else None
        place = "" if share is None else "first" if share > 0.5 else "second"
        of_verdicts = 0.0 if share is None else max(share, 1 - share)
        if of_verdicts >= ONE_SIDED:
            yield f"{row.judge} picks the {place} answer in {of_verdicts:.0%} of its verdicts. Exclude it?"
        elif row.judge in mute:
            yield f"{row.judge} {_MUTE[mute[row.judge]].format(unit)}"
        elif of_verdicts >= _LEANING:
            yield f"{row.judge} leans to the answer shown {place}: {of_verdicts:.0%} of its verdicts."
