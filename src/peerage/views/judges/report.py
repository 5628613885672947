"""The report on the judges of an arena: how they agree, what they favour, how much their votes are worth.

Everything follows from recorded outcomes and the lengths of recorded answers. A game whose panels leave
ballots (`Outcome.detail["ballots"]`) has votes; one whose judges score leaves facts (`judging.scores.facts`).
Votes and scores have no common unit: in an arena with both, scores are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

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
from peerage.render.blocks import Conclusion, Facts, Fold, LoneFigure, Notes, Rows, ViewBlock
from peerage.values.figures import counted
from peerage.views.judges import challenges, favours, measures, one_by_one, people, trust
from peerage.views.judges.challenges import ChallengeSort
from peerage.views.judges.measures import Measure
from peerage.views.judges.one_by_one import JudgeRow
from peerage.views.judges.people import PeopleRow
from peerage.views.judges.remarks import divided, first_without, speaking, without_whom
from peerage.views.leaderboard.board import board
from peerage.views.shown import Shown

MANY = 12
"""Judges at most whose table stands open."""


class JudgesReport(Shown, frozen=True):
    """Everything about an arena's judges: `answer` says whether the ranking can be trusted, `cards` are the
    four numbers that say most about it; `remarks` say in words what is wrong with whom; `favours` are all
    pairs tested, the most suspicious first; `challenges` say what judges could tell apart on which; `people`
    hold judges against people who judged the same duels, empty where nobody did."""

    answer: str
    cards: tuple[LoneFigure, ...]
    remarks: tuple[str, ...]

    measures: tuple[Measure, ...]
    judges: tuple[JudgeRow, ...]
    favours: tuple[Favour, ...]
    challenges: tuple[ChallengeSort, ...]
    people: tuple[PeopleRow, ...] = ()


def judges(reading: Reading, level: float = LEVEL, people: PeopleVotes | None = None) -> JudgesReport:
    """Return the report on all finished matches; `level` is the chance that any of the `favours` found is
    false. `people` are people's votes on the same duels. Reads every record and every exchange once. Raises
    LedgerError."""
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
    changing: list[tuple[str, str]] = []
    leader: int | None = None
    if cast is not None:
        leader, others = leaders_without(cast.history, cast.judge, len(marks.judges))
        changing = without_whom(marks.judges, cast.players, leader, others)
        remarks += first_without(marks.judges, cast.players, leader, others, pick)
    remarks += [*challenges.remarks(sorts), *speaking(read.spoken)]
    first = cast.players[leader] if cast is not None and leader is not None else ""
    answer = trust.answer(
        changing,
        figures,
        ballots,
        found.favours,
        found.mute,
        compared=bool(first),
        contradicting=cast is not None and bool(found.blocks),
        otherwise=first if pick not in (None, "", first) else "",
    )
    return JudgesReport(
        answer=answer,
        cards=tuple(trust.cards(figures, ballots, found.favours)),
        remarks=tuple(remarks),
        measures=figures,
        judges=rows,
        favours=tuple(found.favours),
        challenges=sorts,
        people=people_rows,
    )


def summary(report: JudgesReport) -> list[ViewBlock]:
    """Return whether the ranking can be trusted, and the four numbers that say most about it."""
    if not report.judges:
        return []
    return [Conclusion([report.answer]), Facts(report.cards)]


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
    yield Heading(trust.QUESTION, 1)
    if not report.judges:
        yield Sentence("No judge has voted yet, or this arena's games are decided without judges.")
        return
    yield from summary(report)
    if any(row.corrected_rank == 1 != row.rank for row in changed.rows):
        yield Sentence(
            "Corrected for what sways judges, another player would be first: see what would change."
        )
    opened = len(report.judges) <= MANY
    if report.remarks and not opened:
        yield _remarks(report)
    for part in sorted(parts(report), key=lambda part: part.name != "judges"):
        if part.name == "favours":
            found: list[ViewBlock] = [Heading("Favouritism", anchor="favouritism")]
            found.append(Sentence(favours.summary(report.favours, judges=True)))
            found += [favours.by_author(report.favours, order)] if report.favours else []
            yield Fold("Who prefers whom", [*found, *[part] * bool(part.rows)])
        elif part.rows:
            title, _, about = part.title.partition(": ")
            table: list[ViewBlock] = [Heading(about.capitalize() or title), replace(part, title="")]
            if part.name == "judges" and opened:
                yield from [*table, *[_remarks(report)] * bool(report.remarks)]
            else:
                yield Fold(title, table)
    if changed.rows:
        about = "by the judges' votes or scores, uncorrected and corrected for position, own work, family"
        style = "corrects for style too: that reads the answers: length, headings, lists, bold"
        shown = [
            Heading("What would change", anchor="corrected"),
            Sentence(f"This table ranks players {about}, harshness, favours and reliability."),
            changed,
            Sentence(f"`peerage leaderboard --correct style` {style}.", "quiet"),
        ]
        yield Fold("What corrections would change", shown)


def _remarks(report: JudgesReport) -> Fold:
    return Fold(
        f"Everything that was found: {counted(len(report.remarks), 'remark')}", [Notes(report.remarks)]
    )
