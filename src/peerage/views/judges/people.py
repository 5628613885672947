"""Judges held against people who judged the same duels, in figures and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct

from peerage.judging.marks.ballots import Ballots
from peerage.judging.measures.agreement import FEWEST, Agreement, ScoredPair, agreement, among
from peerage.ratings.arrays import Flags, Floats
from peerage.reading.verdicts.people import PersonVerdict
from peerage.render.blocks import Column, Rows, bounded, numbers
from peerage.values import grouped
from peerage.values.figures import counted, hundredths, percent, whole
from peerage.views.judges.measures import bounds, named


class Anchors(NamedTuple):
    """Agreement with people of each of the `judges`, by name; of `people` with each other; of experts with
    themselves when shown a duel `again`. `votes` are people's, on `duels` of `judged`."""

    judges: dict[str, Agreement]
    people: Agreement
    again: Agreement
    votes: int
    duels: int
    judged: int


FEWEST_OF_A_SORT = 5
"""Annotated duels of a sort, those on which judges split or the others, from which on it is told apart."""


def against_people(ballots: Ballots, verdicts: Iterable[PersonVerdict]) -> Anchors:
    """Return judges' ballots next to what people said of the same answers. What people were shown was drawn
    more often where judges split, so each duel weighs by one over the share of its sort that they judged."""
    said = grouped((str(verdict.match), verdict) for verdict in verdicts)
    valid = np.flatnonzero(ballots.compared)
    panel = ballots.panel[valid]
    score = ballots.points("A")[valid]  # of the answer that people's scores are of
    judged = np.bincount(panel, minlength=len(ballots.panels))
    mean = np.bincount(panel, score, len(ballots.panels)) / np.maximum(judged, 1)
    known = judged > 0
    known &= [any(verdict.take == 1 for verdict in said.get(name, ())) for name in ballots.panels]
    weight = _inverse_share((mean > 0) & (mean < 1), known, judged > 0)
    pairs: dict[str, list[ScoredPair]] = {}
    for at, given in zip(valid[known[panel]].tolist(), score[known[panel]].tolist(), strict=True):
        duel = int(ballots.panel[at])
        pairs.setdefault(ballots.players[ballots.judge[at]], []).extend(
            ScoredPair(duel, given, verdict.score, float(weight[duel]))
            for verdict in said[ballots.panels[duel]]
            if verdict.take == 1
        )
    each: list[ScoredPair] = []
    again: list[ScoredPair] = []
    votes = 0
    for duel in np.flatnonzero(known).tolist():
        takes = {(verdict.person, verdict.take): verdict.score for verdict in said[ballots.panels[duel]]}
        first = [verdict.score for verdict in said[ballots.panels[duel]] if verdict.take == 1]
        votes += len(first)
        each += among(duel, first, float(weight[duel]))
        again += [
            ScoredPair(duel, takes[person, take - 1], score, 1.0)
            for (person, take), score in takes.items()
            if (person, take - 1) in takes
        ]
    judges = {judge: agreement(mine) for judge, mine in sorted(pairs.items())}
    people, selves = agreement(each), agreement(again)
    return Anchors(judges, people, selves, votes, int(known.sum()), int((judged > 0).sum()))


def _inverse_share(split: Flags, known: Flags, judged: Flags) -> Floats:
    """One over the share of its sort that people judged, of each duel that they judged; all are one sort
    where one of the two has too few annotated duels."""
    sort = split.astype(np.int64)
    there = np.bincount(sort, known, minlength=2)
    if ((np.bincount(sort, judged, minlength=2) > 0) & (there < FEWEST_OF_A_SORT)).any():
        sort = np.zeros_like(sort)
    size, there = np.bincount(sort, judged), np.bincount(sort, known)
    return np.where(known, size[sort] / np.maximum(there[sort], 1), 0.0)


class PeopleRow(Struct, frozen=True):
    """How far one side agrees with people on `duels` that both judged, with 95% bounds: a `judge`, `people`
    with each other, or an `expert` who was shown a duel once more with itself. `agreement` is the share of
    equal verdicts (first, second, tie), `kappa` what of it is beyond chance; None below twenty duels."""

    kind: Literal["judge", "people", "expert"]
    who: str
    duels: int
    agreement: float | None
    agreement_lower: float | None
    agreement_upper: float | None
    kappa: float | None
    kappa_lower: float | None
    kappa_upper: float | None


def rows_of(anchors: Anchors) -> Iterator[PeopleRow]:
    """Yield people with each other and with themselves, then the judges, who agree most first."""
    if anchors.people.duels:
        yield _row("people", "people with each other", anchors.people)
    if anchors.again.duels:
        yield _row("expert", "the same expert again", anchors.again)
    judges = [_row("judge", *each) for each in anchors.judges.items()]
    yield from sorted(judges, key=lambda row: (1 if row.agreement is None else -row.agreement, row.who))


def _row(kind: Literal["judge", "people", "expert"], who: str, found: Agreement) -> PeopleRow:
    return PeopleRow(
        kind, who, found.duels, **named(agreement=bounds(found.share), kappa=bounds(found.kappa))
    )


def table(rows: Sequence[PeopleRow]) -> Rows:
    """Return the table of judges and people."""
    columns = [
        Column("who", "Who", link=lambda row: ("player", row.who) if row.kind == "judge" else None),
        *numbers(whole, duels="Duels"),
        *bounded(percent, 1, agreement="Agreement"),
        *bounded(hundredths, 2, kappa="κ"),
    ]
    title = "Judges and people: equal verdicts on the same duels, with 95% bounds"
    note = "κ: agreement beyond chance, 1 perfect; fewer than 20 duels are too few to tell"
    return Rows(rows, columns, notes=[note], title=title, name="people")


def remarks(anchors: Anchors) -> Iterator[str]:
    """Yield who judges as people do, and who does not."""
    people = anchors.people
    yield (
        f"People gave {counted(anchors.votes, 'vote')} on {anchors.duels:,} of "
        f"{counted(anchors.judged, 'duel')}."
        + ("" if people.share is None else f" They agree with each other in {_in_words(people)}.")
    )
    apart = people.kappa is not None and people.kappa.value < _LITTLE
    if apart:
        yield "People hardly agree with each other, so that judges agree with them says little."
    far: list[str] = []
    thin: list[str] = []
    for judge, found in anchors.judges.items():
        if found.share is None:
            thin.append(judge)
        elif not apart and found.kappa is not None and (found.kappa.upper or found.kappa.value) < _LITTLE:
            yield f"{judge} hardly agrees with people: in {_in_words(found)}. Exclude it?"
        elif people.share is not None and (found.share.upper or 1.0) < (people.share.lower or 0.0):
            far.append(f"{judge} ({found.share.value:.0%})")
    if far:
        yield f"These agree with people less than people with each other: {', '.join(far)}."
    if thin:
        yield f"Too few to tell (below {FEWEST} duels that people judged too): {', '.join(thin)}."


_LITTLE = 0.2  # of κ: slight agreement at best (Landis and Koch 1977)


def _in_words(found: Agreement) -> str:
    share, kappa = found.share, found.kappa
    assert share is not None
    more = [] if share.lower is None else [f"95% within {share.lower:.0%} to {share.upper:.0%}"]
    more += [] if kappa is None else [f"κ {kappa.value:.2f}"]
    return f"{share.value:.0%} of {counted(found.duels, 'duel')} ({'; '.join(more)})"
