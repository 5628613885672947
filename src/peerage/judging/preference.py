"""Whom and what judges favour: their own work, their kin, what stands first, what is long.

What a judge gave an answer is a `Mark`, whatever the game: in a duel the points of a vote (1, ½ or 0), in a
tournament a rating. A mark is compared with those of the other judges of the same answer, so that good work
is not taken for favour; a bias that all judges share is invisible in that comparison.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from peerage.judging.estimates import Estimate, jackknife, ratio
from peerage.judging.panel import ABSTAIN, TIE
from peerage.judging.statistics import PanelRecord

LONGER = math.log2(1.1)
"""Doublings by which answers must differ in length to say anything about it: a tenth."""
UNUSABLE = ("invalid", "refused", "void")


class Mark(NamedTuple):
    """What `judge` gave `author`'s answer in `contest` (a match, or one question of it), players by name.

    `chars` is how long the answer was, None where that is not known.
    """

    judge: str
    author: str
    contest: str
    value: float
    chars: int | None = None


class Deviation(NamedTuple):
    """A mark, and by how much it exceeds the mean of the other judges' marks for the same answer."""

    mark: Mark
    excess: float


def marks_of(panel: PanelRecord, contest: str, chars: Mapping[str, int]) -> list[Mark]:
    """The marks that the valid votes of a panel come to; `chars` are the answers' lengths by label."""
    return [
        Mark(
            panel.players[ballot.judge],
            panel.players[label],
            contest,
            0.5 if ballot.vote == TIE else float(ballot.vote == label),
            chars.get(label),
        )
        for ballot in panel.ballots
        if ballot.vote != ABSTAIN
        for label in panel.contestants
    ]


Kin = Callable[[str, str], bool]
"""Whether a judge and an author are kin, by their names."""


def deviations(marks: Iterable[Mark], kin: Kin = lambda judge, author: False) -> list[Deviation]:
    """Each mark against the others for the same answer; judges who are the author's kin are no measure.

    A mark without another to compare it with is left out.
    """
    answers: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        answers[mark.contest, mark.author].append(mark)
    found: list[Deviation] = []
    for given in answers.values():
        strangers = [mark for mark in given if not kin(mark.judge, mark.author)]
        total = math.fsum(mark.value for mark in strangers)
        for mark in given:
            counted = not kin(mark.judge, mark.author)
            others = len(strangers) - counted
            if others:
                found.append(Deviation(mark, mark.value - (total - counted * mark.value) / others))
    return found


def kin_preferences(marks: Iterable[Mark], kin: Kin) -> dict[str, Estimate]:
    """By how much each judge marks its kin above others, in the marks' unit; 0 is even-handed.

    The mean excess of its marks for kin, less its mean excess overall: strictness cancels. Only contests with
    both kin and others in them count, and judges who had such a contest appear. Self-preference with `kin`
    the judge itself, kin-preference with its family. Other kin of the author are no measure here, while the
    `kin_lean` of `judging.statistics` compares with the rest of the panel, whoever sits there.
    """
    sums: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0] * 4))
    for mark, excess in deviations(marks, kin):
        row = sums[mark.judge][mark.contest]
        mine = kin(mark.judge, mark.author)
        row[0] += mine * excess
        row[1] += mine
        row[2] += excess
        row[3] += 1
    found: dict[str, Estimate] = {}
    for judge, contests in sorted(sums.items()):
        mixed = [row for row in contests.values() if 0 < row[1] < row[3]]
        preference = jackknife(mixed, lambda total: total[:, 0] / total[:, 1] - total[:, 2] / total[:, 3])
        if preference is not None:
            found[judge] = preference
    return found


def length_slope(values: Iterable[tuple[Mark, float]]) -> Estimate | None:
    """By how much `value` rises with each doubling of an answer's length, within contests; see `length_bias`.

    The least-squares slope on log2 of the length with an intercept for every contest and judge. Where the
    longest answer that a judge marked in a contest is not a tenth longer than the shortest, these marks say
    nothing of length; None when none do.
    """
    cells: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for mark, value in values:
        if mark.chars is not None:
            cells[mark.contest, mark.judge].append((math.log2(max(mark.chars, 1)), value))
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (contest, _), points in cells.items():
        if max(points)[0] - min(points)[0] < LONGER:
            continue
        length = math.fsum(at for at, _ in points) / len(points)
        sums[contest][0] += math.fsum((at - length) * value for at, value in points)
        sums[contest][1] += math.fsum((at - length) ** 2 for at, _ in points)
    return ratio(list(sums.values()))


def length_bias(marks: Iterable[Mark]) -> Estimate | None:
    """How much more judges give an answer twice as long, whether for its length or for what comes with it."""
    return length_slope((mark, mark.value) for mark in marks)


def length_leans(marks: Iterable[Mark]) -> dict[str, Estimate]:
    """How much more than the other judges of the same answers each judge gives one twice as long."""
    by_judge: dict[str, list[tuple[Mark, float]]] = defaultdict(list)
    for mark, excess in deviations(marks):
        by_judge[mark.judge].append((mark, excess))
    found = {judge: length_slope(values) for judge, values in sorted(by_judge.items())}
    return {judge: slope for judge, slope in found.items() if slope is not None}


class Positions(NamedTuple):
    """What the order of two answers does to a judge: `flips`, the share of ballots seen in both orders whose
    verdicts differ, and `first`, the share of verdicts for one answer that chose the one shown first (½ is
    even-handed)."""

    flips: Estimate | None
    first: Estimate | None


def positions(panels: Iterable[PanelRecord]) -> dict[str, Positions]:
    """How each judge took the order of answers, by name."""
    flips: dict[str, list[tuple[float, float]]] = defaultdict(list)
    firsts: dict[str, list[tuple[float, float]]] = defaultdict(list)
    judges: set[str] = set()
    for panel in panels:
        for ballot in panel.ballots:
            judge = panel.players[ballot.judge]
            judges.add(judge)
            usable = {order: said for order, said in ballot.verdicts.items() if said not in UNUSABLE}
            decided = [order.startswith(f"{said}-") for order, said in usable.items() if said != TIE]
            if len(usable) == 2:
                flips[judge].append((ballot.flipped, 1))
            if decided:
                firsts[judge].append((sum(decided), len(decided)))
    return {
        judge: Positions(ratio(flips[judge], 0, 1), ratio(firsts[judge], 0, 1)) for judge in sorted(judges)
    }
