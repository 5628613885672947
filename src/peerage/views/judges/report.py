"""The judges of an arena: how they agree, what they favour, how much their votes are worth.

Everything follows from recorded outcomes and the lengths of recorded answers. A game whose panels leave
ballots (`Outcome.detail["ballots"]`) has votes; one whose judges score leaves facts (`scoring.facts`).
Votes and scores have no common unit: in an arena with both, scores are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from peerage.judging.marks.ballots import Ballots, JudgeStatistics, ballots_in, judge_statistics
from peerage.judging.marks.comparisons import errors, in_orders
from peerage.judging.marks.marks import Columns, Marks, marks_in
from peerage.judging.marks.marks import Votes as Cast
from peerage.judging.measures.agreement import ChoicesByUnit, Estimate, alpha, effective_votes
from peerage.judging.measures.favours.search import FEWEST, LEVEL, favours
from peerage.judging.measures.known import KnownVotes, accused, held_in
from peerage.judging.measures.preference import (
    Positions,
    kin_preferences,
    length_bias,
    length_leans,
    one_sided,
    positions,
)
from peerage.judging.scores.standing import normalised
from peerage.ledger.topics.votes import PeopleVotes
from peerage.ratings.arrays import Floats
from peerage.ratings.fits.judges import counted, leaders_without, reliabilities
from peerage.ratings.table import Z95
from peerage.reading.reading import Reading
from peerage.reading.verdicts.people import said
from peerage.views.judges.people import PeopleRow, against_people, people_listed, told_of_people
from peerage.views.judges.remarks import divided, dull, first_without, remarks, speaking
from peerage.views.judges.rows import ChallengeSort, FavourRow, JudgeRow, JudgesReport, Measure
from peerage.views.leaderboard.board import board


def judges(reading: Reading, level: float = LEVEL, people: PeopleVotes | None = None) -> JudgesReport:
    """The judges of all finished matches; `level` is the chance that any of the `favours` found is false.
    `people` are people's votes on the same duels.

    Reads every record and every exchange once. Raises LedgerError.
    """
    return judges_of(reading, level, people, board(reading).verdict.pick)


def judges_of(
    reading: Reading, level: float = LEVEL, people: PeopleVotes | None = None, pick: str | None = None
) -> JudgesReport:
    """`judges`, where the verdict was made before; the report does not contradict its `pick`."""
    read, families = reading.observations, reading.families
    marks, ballots = marks_in(read.marks), ballots_in(read.ballots)
    if len(ballots):
        voted = set(ballots.panels)
        wanted = np.array([name in voted for name in marks.contests], np.bool_)[marks.contest]
        marks = marks if wanted.all() else marks.only(wanted).named()
    found = favours(marks, level=level)
    measures = tuple(_measures(marks, ballots) if len(marks) else ())
    orders = in_orders(marks)
    cast = orders if len(orders.judge) else None
    known = held_in(read.known)
    rows = tuple(_rows(marks, ballots, families, cast, known))
    pairs = tuple([FavourRow(*pair) for pair in found.favours])
    unit = "votes" if len(ballots) else "scores"
    said_first = list(remarks(measures, rows, found.mute, pairs, one_sided(ballots, LEVEL), unit))
    if found.blocks and cast is not None:
        said_first = [divided(found.blocks, cast), *said_first]
    people_rows: tuple[PeopleRow, ...] = ()
    verdicts = said(reading.moment, people.votes()) if people is not None and len(ballots) else []
    if verdicts:
        anchors = against_people(ballots, verdicts)
        people_rows = tuple(people_listed(anchors))
        said_first = [*told_of_people(anchors), *said_first]
    if cast is not None:
        said_first += first_without(
            marks.judges, cast.players, *leaders_without(cast.history, cast.judge, len(marks.judges)), pick
        )
    said_first = [*accused(known), *said_first]
    sorts = tuple(_sorts(marks, cast, read.challenges)) if cast is not None and len(ballots) else ()
    said_first += [*dull(sorts), *speaking(read.spoken)]
    return JudgesReport(tuple(said_first), measures, rows, pairs, sorts, people_rows)


# ----------------------------------------------------------------------------------- all judges together


def _measures(marks: Marks, ballots: Ballots) -> Iterator[Measure]:
    if len(ballots):
        valid = ballots.valid
        votes = ChoicesByUnit(ballots.panel[valid], ballots.vote[valid])
        yield _measure(
            "alpha", alpha(votes), "Krippendorff's α: agreement on the vote, 0 by chance, 1 perfect"
        )
        shares = np.where(ballots.weight[valid] > 0, ballots.weight[valid], 1.0)
        judged, of, names = votes.unit, ballots.judge[valid], ballots.players
        said, size = "votes", "valid votes a match"
    else:
        points = ChoicesByUnit(marks.answer, _levelled(marks))
        shares = np.ones(len(marks))
        judged, of, names = marks.answer, marks.judge, marks.judges
        yield _measure(
            "alpha", alpha(points, "interval"), "Krippendorff's α of the scores, each judge's mean taken away"
        )
        said, size = "scores", "scores an answer"
    units, unit = np.unique(judged, return_inverse=True)
    yield Measure("votes", len(unit) / len(units), None, None, len(units), size)
    wrong = errors(marks)
    place = {name: at for at, name in enumerate(marks.judges)}
    judge = np.array([place.get(name, 0) for name in names], np.int64)[of]  # who cast a vote has marks
    noise = shares * np.maximum(wrong.noise[judge], 1e-9)
    worth = float(effective_votes(unit, noise, wrong.discernment[judge], wrong.correlation).mean())
    about = (
        f"independent {said} of the median judge that these are worth: by weight, discernment, shared errors"
    )
    yield Measure("effective_votes", worth, None, None, len(units), about)
    about = "how far the errors of two judges on one answer go together, 0 where they err apart"
    yield Measure("shared_errors", wrong.correlation, None, None, len(units), about)
    yield _measure(
        "length_bias",
        length_bias(marks),
        "how much more an answer twice as long is given; merit that goes with length is in it",
    )


def _measure(name: str, found: Estimate | None, about: str) -> Measure:
    return Measure(name, *_bounded(found), found.units if found is not None else 0, about)


def _levelled(marks: Marks) -> Floats:
    """Scores, every judge's brought to the same mean."""
    bounds = np.searchsorted(marks.judge, np.arange(1, len(marks.judges)))
    return np.concatenate(
        [np.array(normalised(given.tolist()), np.float64) for given in np.split(marks.value, bounds)]
    )


# ------------------------------------------------------------------------------------ judge by judge


def _rows(
    marks: Marks,
    ballots: Ballots,
    families: Mapping[str, str],
    cast: Cast | None,
    known: Sequence[KnownVotes],
) -> Iterator[JudgeRow]:
    own = kin_preferences(marks, lambda judge, author: judge == author)
    same_family = kin_preferences(
        marks,
        lambda judge, author: judge != author and "" != families.get(judge, "") == families.get(author, ""),
    )
    length, order = length_leans(marks), positions(ballots)
    counted, reliable = judge_statistics(ballots), _reliabilities(marks, cast)
    sizes = np.bincount(marks.judge, minlength=len(marks.judges))
    means = np.bincount(marks.judge, marks.value, len(marks.judges)) / np.maximum(sizes, 1)
    listed = zip(marks.judges, sizes.tolist(), means.tolist(), strict=True)
    given = {judge: (size, mean) for judge, size, mean in listed if size}
    checked = {one.judge: one for one in known}
    for judge in sorted(given.keys() | counted.keys() | checked.keys()):
        on_known = checked.get(judge)
        statistics: JudgeStatistics | None = counted.get(judge)
        position = order.get(judge, Positions(None, None))
        marks_given, mean = given.get(judge, (0, None))
        g, low, high = reliable.get(judge, (None, None, None))
        yield JudgeRow(
            judge=judge,
            family=families.get(judge, ""),
            marks=marks_given,
            mean=mean,
            abstentions=statistics.abstentions if statistics else None,
            agreement=statistics.agreement if statistics else None,
            **_named("flip_share", position.flips),
            **_named("first_share", position.first),
            **_named("self_preference", own.get(judge)),
            **_named("kin_preference", same_family.get(judge)),
            **_named("length_lean", length.get(judge)),
            reliability=g,
            reliability_lower=low,
            reliability_upper=high,
            known=on_known.votes if on_known else 0,
            known_right=on_known.right if on_known else 0,
            known_tied=on_known.tied if on_known else 0,
            known_share=on_known.share if on_known else None,
            known_share_lower=on_known.lower if on_known else None,
            known_share_upper=on_known.upper if on_known else None,
        )


def _named(name: str, found: Estimate | None) -> dict[str, float | None]:
    """An estimate with its bounds, as fields of a row."""
    return dict(zip((name, f"{name}_lower", f"{name}_upper"), _bounded(found), strict=True))


def _bounded(found: Estimate | None) -> tuple[float | None, float | None, float | None]:
    if found is None or found.units < FEWEST:
        return None, None, None
    return found.value, found.lower, found.upper


def _reliabilities(marks: Marks, cast: Cast | None) -> dict[str, tuple[float, float, float]]:
    """How discerning each judge's votes or scores are, with bounds."""
    if cast is None:
        return {}
    nobody = np.zeros((len(marks.judges), len(marks.authors)), np.bool_)
    each = replace(cast.history, weight=np.ones(len(cast.history)) if cast.worth is None else cast.worth)
    found, error = reliabilities(counted(each, cast.judge, len(marks.judges)), nobody)
    return {
        judge: (g, g - w, g + w)
        for judge, g, w in zip(marks.judges, found.tolist(), (Z95 * error).tolist(), strict=True)
    }


def _sorts(marks: Marks, cast: Cast, asked: Columns) -> Iterator[ChallengeSort]:
    """The topics, and the drafters, each by name: a sort of challenges discerns as a judge does."""
    numbers = dict(
        zip([asked.names[at] for at in asked.code(0).tolist()], range(len(asked.code(0))), strict=True)
    )
    matches, match = np.unique(cast.matches, return_inverse=True)
    row = np.array([numbers[marks.contests[at]] for at in matches.tolist()], np.int64)
    score = cast.history.score
    votes = np.bincount(match)
    one_way = np.maximum(np.bincount(match, score == 1), np.bincount(match, score == 0)) == votes
    for kind, column in (("topic", 1), ("drafter", 2)):
        names, code = asked.named(column)
        of = code[row]
        nobody = np.zeros((len(names), cast.history.players), np.bool_)
        found, error = reliabilities(counted(cast.history, of[match], len(names)), nobody)
        size = np.bincount(of, minlength=len(names))
        for at, name in enumerate(names):
            if not name or not size[at]:
                continue
            tell = float(found[at]) if size[at] >= FEWEST and (size > 0).sum() > 1 else None
            wide = Z95 * float(error[at])
            yield ChallengeSort(
                kind=kind,
                name=name,
                matches=int(size[at]),
                ties=float((score[of[match] == at] == 0.5).mean()),
                unanimous=float(one_way[of == at].mean()),
                tell=tell,
                tell_lower=None if tell is None else tell - wide,
                tell_upper=None if tell is None else tell + wide,
            )
