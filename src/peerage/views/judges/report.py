"""The report on the judges of an arena: how they agree, what they favour, how much their votes are worth.

Everything follows from recorded outcomes and the lengths of recorded answers. A game whose panels leave
ballots (`Outcome.detail["ballots"]`) has votes; one whose judges score leaves facts (`judging.scores.facts`).
Votes and scores have no common unit: in an arena with both, scores are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from peerage.game.blocks import Heading, Sentence
from peerage.judging.marks.ballots import ballots_in
from peerage.judging.marks.comparisons import in_orders
from peerage.judging.marks.marks import marks_in
from peerage.judging.measures.favours.search import LEVEL, Favour
from peerage.judging.measures.favours.search import favours as search
from peerage.judging.measures.known import accused, held_in
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ratings.fits.judges import leaders_without
from peerage.reading.reading import Reading
from peerage.reading.verdicts.people import verdicts_of
from peerage.render.blocks import Conclusion, Fold, Rows, ViewBlock
from peerage.views.judges import challenges, favours, measures, one_by_one, people
from peerage.views.judges.challenges import ChallengeSort
from peerage.views.judges.measures import Measure
from peerage.views.judges.one_by_one import JudgeRow
from peerage.views.judges.people import PeopleRow
from peerage.views.judges.remarks import divided, first_without, speaking
from peerage.views.leaderboard.board import board
from peerage.views.shown import Shown

MANY = 12
"""Judges from so many on of whom a table by author opens on demand, where it holds nothing of note."""


class JudgesReport(Shown, frozen=True):
    """Everything about an arena's judges: `remarks` say in words what is wrong with whom; `favours` are all
    pairs tested, the most suspicious first; `challenges` say what judges could tell apart on which; `people`
    hold judges against people who judged the same duels, empty where nobody did."""

    remarks: tuple[str, ...]

    measures: tuple[Measure, ...]
    judges: tuple[JudgeRow, ...]
    favours: tuple[Favour, ...]
    challenges: tuple[ChallengeSort, ...]
    people: tuple[PeopleRow, ...] = ()


def judges(reading: Reading, level: float = LEVEL, people: PeopleVotes | None = None) -> JudgesReport:
    """Return the report on all finished matches; `level` is the chance that any of the `favours` found is
    false. `people` are people's votes on the same duels.

    Reads every record and every exchange once. Raises LedgerError.
    """
    return judges_of(reading, level, people, board(reading).verdict.pick)


def judges_of(
    reading: Reading, level: float = LEVEL, voters: PeopleVotes | None = None, pick: str | None = None
) -> JudgesReport:
    """Return the report, where the verdict was made before; it does not contradict its `pick`."""
    read = reading.observations
    marks, ballots = marks_in(read.marks), ballots_in(read.ballots)
    if len(ballots):
        voted = set(ballots.panels)
        wanted = np.array([name in voted for name in marks.contests], np.bool_)[marks.contest]
        marks = marks if wanted.all() else marks.only(wanted).named()
    unit = "votes" if len(ballots) else "scores"
    found, orders, known = search(marks, level=level), in_orders(marks), held_in(read.known)
    cast = orders if len(orders.judge) else None
    figures = tuple(measures.measures(marks, ballots))
    rows = tuple(one_by_one.rows_of(marks, ballots, reading.families, cast, known))
    sorts = tuple(challenges.sorts(marks, cast, read.challenges)) if cast is not None and len(ballots) else ()
    remarks = [*accused(known)]  # the gravest first
    people_rows: tuple[PeopleRow, ...] = ()
    if verdicts := verdicts_of(reading.moment, voters.votes() if voters is not None and len(ballots) else ()):
        anchors = people.against_people(ballots, verdicts)
        people_rows = tuple(people.rows_of(anchors))
        remarks += people.remarks(anchors)
    if cast is not None and found.blocks:
        remarks.append(divided(found.blocks, cast))
    remarks += one_by_one.remarks(rows, found.mute, ballots, unit)
    remarks += favours.remarks(found.favours, unit)
    remarks += measures.remarks(figures, unit)
    if cast is not None:
        leaders = leaders_without(cast.history, cast.judge, len(marks.judges))
        remarks += first_without(marks.judges, cast.players, *leaders, pick)
    remarks += [*challenges.remarks(sorts), *speaking(read.spoken)]
    return JudgesReport(tuple(remarks), figures, rows, tuple(found.favours), sorts, people_rows)


def parts(report: JudgesReport, *, every_pair: bool = False) -> list[Rows]:
    """Return the tables on judges, each under the name of its field. Of pairs of judge and author that were
    tested those found, unless `every_pair` is wanted."""
    return [
        people.table(report.people),
        measures.table(report.measures),
        one_by_one.table(report.judges),
        favours.table([pair for pair in report.favours if pair.found or every_pair]),
        challenges.table(report.challenges),
    ]


def blocks(report: JudgesReport, order: Sequence[str], changed: Rows) -> Iterator[ViewBlock]:
    """Yield the whole report. `order` is that of players in tables, `changed` what corrections change."""
    yield Heading("Judges", 1)
    if report.remarks:
        yield Conclusion(report.remarks)
    if not report.judges:
        yield Sentence("No judge has voted yet, or this arena's games are decided without judges.")
        return
    for part in parts(report):
        if part.name == "favours":
            yield Heading("Favouritism", anchor="favouritism")
            yield Sentence(favours.summary(report.favours, judges=True))
            if report.favours:
                plain = len(report.judges) > MANY and not part.rows
                by_author = favours.by_author(report.favours, order)
                yield Fold("Who prefers whom", [by_author]) if plain else by_author
        elif part.rows:
            yield part
    if changed.rows:
        yield Heading("What would change", anchor="corrected")
        about = "by the judges' votes or scores, as they are and corrected for position, own work, family"
        yield Sentence(f"The players {about}, harshness, favours and reliability.")
        yield changed
        about = "corrects for style too: that reads the answers: length, headings, lists, bold"
        yield Sentence(f"`peerage leaderboard --correct style` {about}.", "quiet")
