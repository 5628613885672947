"""The judges of an arena: how they agree, what they favour, how much their votes are worth.

Everything follows from recorded outcomes and the lengths of recorded answers. A game whose panels leave
ballots (`Outcome.detail["ballots"]`) has votes; one whose judges score leaves facts (`judging.scores.facts`).
Votes and scores have no common unit: in an arena with both, scores are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from msgspec import Struct

from peerage.engine.registration import families_of
from peerage.judging.agreement import Votes, alpha, effective_votes, fleiss_kappa
from peerage.judging.ballots import Ballots, ballots_in
from peerage.judging.columns import Columns
from peerage.judging.comparisons import errors, in_orders
from peerage.judging.estimates import Estimate
from peerage.judging.evidence import Mute
from peerage.judging.favours import FEWEST, LEVEL, favours
from peerage.judging.marks import Marks, marks_in
from peerage.judging.normalisation import normalised
from peerage.judging.preference import (
    ONE_SIDED,
    Positions,
    kin_preferences,
    length_bias,
    length_leans,
    one_sided,
    positions,
)
from peerage.judging.statistics import JudgeStatistics, judge_statistics
from peerage.judging.votes import Votes as Cast
from peerage.ledger.store import Ledger
from peerage.ledger.votes import Votes as PeoplesVotes
from peerage.ratings.circles import Circles, circles
from peerage.ratings.influence import Flip, fewest_to_flip, shifts
from peerage.ratings.judges import counted, reliabilities
from peerage.ratings.kernels import Floats, Ints
from peerage.ratings.merging import coded
from peerage.ratings.table import Z95
from peerage.settings import ArenaSettings
from peerage.tables import Shown
from peerage.tables.anchors import PeopleRow, anchored, people_listed, told_of_people
from peerage.tables.matches import Matches
from peerage.tables.people_votes import said
from peerage.tables.told import Told, told


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


class JudgeRow(Struct, frozen=True):
    """One judge. `marks` are the answers it marked: two by a valid vote on a duel. Each number with its 95%
    bounds; None where fewer than five matches (or questions) were there to count.

    - `mean`: of its marks, 0 to 1 for votes (always ½), 0 to 10 for scores: how generous it is.
    - `abstentions`, `agreement`, `flip_share`, `first_share`: see `judging.statistics.JudgeStatistics`.
    - `self_preference`, `kin_preference`: by how much more than the others it gives its own, its kin's work.
    - `length_lean`: by how much more than the others it gives an answer twice as long.
    - `reliability`: of its votes, 1 for a judge of average discernment, 0 for one who tosses a coin (see
      `ratings.judges`).
    - `influence`: by how many points its votes move the rating that they move most, `influence_on` whose:
      Bradley-Terry on all votes against the same without this judge's; None where they compare nobody.
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
    influence: float | None
    influence_on: str | None


class FavourRow(Struct, frozen=True):
    """A judge and an author: `excess` is by how much more often than expected it prefers its answers to
    another's, below 0 where it does it down; `found` whether that is beyond chance. See
    `judging.favours.Favour`."""

    judge: str
    author: str
    marks: int
    excess: float
    p: float
    q: float
    found: bool


class ChallengeSort(Struct, frozen=True):
    """Challenges of one `kind` (topic or drafter) and `name`, on `matches` that judges voted on: the share of
    votes that are `ties`, that of matches whose votes are `unanimous` and no tie, and how much they `tell`
    players apart: 1 for challenges as a rule, 0 where verdicts do not follow strength at all, with 95%
    bounds; None from fewer than five matches, or where there is but one."""

    kind: str
    name: str
    matches: int
    ties: float
    unanimous: float
    tell: float | None
    tell_lower: float | None
    tell_upper: float | None


class JudgesReport(Shown, frozen=True):
    """Everything about an arena's judges: `remarks` say in words what is wrong with whom; `favours` are all
    pairs tested, the most suspicious first; `challenges` say what judges could tell apart on which; `people`
    hold judges against people who judged the same duels, empty where nobody did."""

    remarks: tuple[str, ...]

    measures: tuple[Measure, ...]
    judges: tuple[JudgeRow, ...]
    favours: tuple[FavourRow, ...]
    challenges: tuple[ChallengeSort, ...]
    people: tuple[PeopleRow, ...] = ()


def judges(
    ledger: Ledger, settings: ArenaSettings, level: float = LEVEL, people: PeoplesVotes | None = None
) -> JudgesReport:
    """The judges of all finished matches; `level` is the chance that any of the `favours` found is false.
    `people` are people's votes on the same duels.

    Reads every record and every exchange once. Raises LedgerError.
    """
    return judges_of(ledger, settings, told(Matches(ledger).read(1, ledger.heads()[1])), level, people)


def judges_of(
    ledger: Ledger,
    settings: ArenaSettings,
    read: Told,
    level: float = LEVEL,
    people: PeoplesVotes | None = None,
) -> JudgesReport:
    """`judges`, where what the matches of `ledger` tell was read before."""
    families = families_of(ledger, settings.players)
    marks, ballots = marks_in(read.marks), ballots_in(read.ballots, read.seated)
    if len(ballots):
        voted = set(ballots.panels)
        wanted = np.array([name in voted for name in marks.contests], np.bool_)[marks.contest]
        marks = marks if wanted.all() else marks.only(wanted).named()
    found = favours(marks, level=level)
    measures = tuple(_measures(marks, ballots) if len(marks) else ())
    orders = in_orders(marks)
    cast = orders if len(orders.judge) else None
    rows = tuple(_rows(marks, ballots, families, cast))
    pairs = tuple([FavourRow(*pair) for pair in found.favours])
    unit = "votes" if len(ballots) else "scores"
    remarks = list(_remarks(measures, rows, found.mute, pairs, one_sided(ballots, LEVEL), unit))
    people_rows: tuple[PeopleRow, ...] = ()
    verdicts = said(ledger, people.votes()) if people is not None and len(ballots) else []
    if verdicts:
        anchors = anchored(ballots, verdicts)
        people_rows = tuple(people_listed(anchors))
        remarks = [*told_of_people(anchors), *remarks]
    if cast is not None and len(ballots):
        going = circles(cast.history, coded(cast.matches)[1])
        measures += (Measure("circles", going.round, None, None, going.threes, _ROUND),)
        remarks += _circling(going, cast.players)
    if cast is not None:
        for flip, whose, many, of in _hanging(marks, cast, unit):
            about = f"the fewest {of} found without which another is first, by Bradley-Terry on the {unit}"
            measures += (Measure(f"{of}_to_flip", len(flip.rows), None, None, many, about),)
            remarks += _flipped(flip, marks, whose, many, of)
    sorts = tuple(_sorts(marks, cast, read.challenges)) if cast is not None and len(ballots) else ()
    remarks += [
        f"Challenges of {one.kind} {one.name} tell nobody apart: {one.ties:.0%} of their votes are ties."
        for one in sorts
        if one.tell_upper is not None and one.tell_upper < _TELLS
    ]
    return JudgesReport(tuple(remarks), measures, rows, pairs, sorts, people_rows)


# ------------------------------------------------------------------------------------------- in words

_MUTE: Mapping[Mute, str] = {
    "alike": "finds all answers alike: its {} say nothing. Exclude it?",
    "tied": "has found all answers alike so far, in too few {} to say that it always will.",
    "coin": "judges as if it tossed a coin: its {} say nothing. Exclude it?",
    "contrary": "prefers the worse answer by the measure of all other judges. Exclude it?",
}


def _remarks(
    measures: Iterable[Measure],
    rows: Iterable[JudgeRow],
    mute: Mapping[str, Mute],
    pairs: Iterable[FavourRow],
    leaning: Set[str],
    unit: str = "votes",
) -> Iterator[str]:
    """What a reader should know first, the gravest first; judges gave so many of `unit`."""
    for row in rows:
        even = row.first_share is None or row.judge not in leaning
        place = "" if even or row.first_share is None else "first" if row.first_share > 0.5 else "second"
        share = 0.0 if row.first_share is None else max(row.first_share, 1 - row.first_share)
        if place and share >= ONE_SIDED:
            yield f"{row.judge} picks the {place} answer in {share:.0%} of its verdicts. Exclude it?"
        elif row.judge in mute:
            yield f"{row.judge} {_MUTE[mute[row.judge]].format(unit)}"
        elif place and share >= _LEANING:
            yield f"{row.judge} leans to the answer shown {place}: {share:.0%} of its verdicts."
    for pair in pairs:
        if pair.found:
            what = "favours" if pair.excess > 0 else "does down"
            yield (
                f"{pair.judge} {what} {pair.author}: by {abs(pair.excess):.0%} of {pair.marks} marks more "
                "than the other judges explain. It may be taste: read its {unit}."
            )
    figures = {one.measure: one.value for one in measures}
    votes, effective = figures.get("votes"), figures.get("effective_votes")
    if votes is not None and effective is not None and effective < _WORTH * votes:
        apart = 1 / (1 + (votes - 1) * max(figures.get("shared_errors") or 0.0, 0.0))
        told = "the judges err alike" if apart <= effective / votes / apart else _UNEQUAL
        yield f"{votes:.3g} {unit} are worth {effective:.2g} independent ones of the median judge: {told}."


_LEANING = 0.6  # share of verdicts for one place
_UNEQUAL = "some hardly tell answers apart, or weigh little"
_WORTH = 0.75  # of their number: votes worth less are worth a remark


_TELLS = 0.5  # of what challenges tell as a rule: surely less than that is worth a remark


def _flipped(flip: Flip, marks: Marks, judges: Ints, total: int, unit: str = "votes") -> Iterator[str]:
    """What first place hangs on, where that is little; `judges` are those of what is left out."""
    leader, rival = marks.authors[flip.leader], marks.authors[flip.rival]
    count = len(flip.rows)
    if unit == "judges":
        if count == 1:
            alone = marks.judges[int(flip.rows[0])]
            yield f"Without the judge {alone} {rival} is ahead of {leader}, who is first by all {total}."
    elif not count:
        yield f"{leader} and {rival} are first together by these {unit}."
    elif count <= max(_FEW_VOTES, _SMALL_SHARE * total):
        names, votes = np.unique(judges, return_counts=True)
        mostly = marks.judges[names[np.argmax(votes)]]
        some = f"these {count:,} of {total:,} {unit}" if count > 1 else f"one of {total:,} {unit}"
        whose = f"{votes.max():,} of them are {mostly}'s" if count > 1 else f"It is {mostly}'s"
        yield f"Without {some} {rival} is ahead of {leader}, who is first by all. {whose}."


_ROUND = (
    "threes of players whose results go round: each won most of its matches with the next, and the last with "
    "the first; among close players some do by chance"
)


def _circling(going: Circles, players: Sequence[str]) -> Iterator[str]:
    """The surest circle beyond chance, if any, and how many more there are."""
    for circle in going.found[:1]:
        a, b, c = (players[at] for at in circle.players)
        more = len(going.found) - 1
        others = f", and {more:,} more circle{'s' if more > 1 else ''}" if more else ""
        yield (
            f"Results go round: {a} beats {b}, {b} beats {c} and {c} beats {a}, beyond chance{others}. "
            "No rating can show that: compare those two by two."
        )


_FEW_VOTES, _SMALL_SHARE = 3, 0.01  # so few votes are worth a remark


# ----------------------------------------------------------------------------------- all judges together


def _hanging(marks: Marks, cast: Cast, unit: str) -> Iterator[tuple[Flip, Ints, int, str]]:
    """What first place hangs on: the fewest votes or scores, and the fewest judges, with the judge of each,
    how many there are, and what they are."""
    heard = len(np.unique(cast.judge))
    if unit == "votes":
        flip, of, many = fewest_to_flip(cast.history), cast.judge, len(cast.judge)
    else:
        contests, authors = len(marks.contests), len(marks.authors)
        sheet = (cast.judge * contests + cast.matches) * authors
        flip = fewest_to_flip(cast.history, [sheet + cast.history.first, sheet + cast.history.second])
        of, many = np.repeat(np.arange(len(marks.judges)), contests * authors), len(marks)
    if flip is not None:
        yield flip, of[flip.rows], many, unit
    flip = fewest_to_flip(cast.history, [cast.judge])
    if flip is not None and len(flip.rows):
        yield flip, flip.rows, heard, "judges"


def _measures(marks: Marks, ballots: Ballots) -> Iterator[Measure]:
    if len(ballots):
        valid = ballots.valid
        votes = Votes(ballots.panel[valid], ballots.vote[valid])
        yield _measure(
            "alpha", alpha(votes), "Krippendorff's α: agreement on the vote, 0 by chance, 1 perfect"
        )
        yield _measure("kappa", fleiss_kappa(votes), "Fleiss' κ: the same with chance counted in another way")
        shares = np.where(ballots.weight[valid] > 0, ballots.weight[valid], 1.0)
        judged, of, names = votes.unit, ballots.judge[valid], ballots.players
        said, size = "votes", "valid votes a match"
    else:
        points = Votes(marks.answer, _levelled(marks))
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
    marks: Marks, ballots: Ballots, families: Mapping[str, str], cast: Cast | None
) -> Iterator[JudgeRow]:
    own = kin_preferences(marks, lambda judge, author: judge == author)
    kin = kin_preferences(
        marks,
        lambda judge, author: judge != author and "" != families.get(judge, "") == families.get(author, ""),
    )
    length, order = length_leans(marks), positions(ballots)
    counted, reliable = judge_statistics(ballots, families), _reliabilities(marks, cast)
    influence = _influence(marks, cast)
    sizes = np.bincount(marks.judge, minlength=len(marks.judges))
    means = np.bincount(marks.judge, marks.value, len(marks.judges)) / np.maximum(sizes, 1)
    listed = zip(marks.judges, sizes.tolist(), means.tolist(), strict=True)
    given = {judge: (size, mean) for judge, size, mean in listed if size}
    for judge in sorted(given.keys() | counted.keys()):
        statistics: JudgeStatistics | None = counted.get(judge)
        position = order.get(judge, Positions(None, None))
        yield JudgeRow(
            judge,
            families.get(judge, ""),
            *given.get(judge, (0, None)),
            statistics.abstentions if statistics else None,
            statistics.agreement if statistics else None,
            *_bounded(position.flips),
            *_bounded(position.first),
            *_bounded(own.get(judge)),
            *_bounded(kin.get(judge)),
            *_bounded(length.get(judge)),
            *reliable.get(judge, (None, None, None)),
            *influence.get(judge, (None, None)),
        )


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
            bounds = (None, None) if tell is None else (tell - wide, tell + wide)
            ties = float((score[of[match] == at] == 0.5).mean())
            yield ChallengeSort(
                kind, name, int(size[at]), ties, float(one_way[of == at].mean()), tell, *bounds
            )


def _influence(marks: Marks, cast: Cast | None) -> dict[str, tuple[float, str]]:
    """By how many points what each judge said moves the rating that it moves most, and whose."""
    if cast is None:
        return {}
    found = {}
    for judge, without in zip(marks.judges, shifts(cast.history, cast.judge, len(marks.judges)), strict=True):
        if without is not None:
            most = int(np.argmax(np.abs(without)))
            found[judge] = -float(without[most]), marks.authors[most]
    return found
