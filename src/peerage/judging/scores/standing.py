"""From grades to a ranking: normalised judge by judge, averaged, with standard errors and ties within error.

    gains = normalised_grades(grades)                      # each judge gives 5 on average
    answers = received(gains)                              # each answer's mean and standard deviation
    standings({"A": {"q1": 6.0, "q2": 5.5}, "B": {…}})     # each player's score, error and open ranks

Questions are the sample: errors say how far scores would move with other questions of the same kind before
the same judges. Two players are compared question by question, so that hard questions do not blur them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from peerage.judging.scores.scoring import Grade
from peerage.ratings.table import quantile
from peerage.values import grouped

MEAN = 5.0
"""Average that every judge gives, once normalised."""


def normalised(ratings: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the ratings that one judge gave, in the same order, each plus `MEAN` less the judge's own mean:
    differences keep their size, and strict and generous judges say the same.

    A missing rating (None: invalid, refused, void, or not asked for) stays missing and does not count. A
    judge that gave everything the same made no difference, and gives 5 throughout. Nothing is clamped: a
    normalised rating may lie outside of 0 to 10. Raises ValueError for a rating that is not finite.

    Judges that skip their own work are centred over different items. With n players who rate all the others
    and differ only in strictness, this shrinks the players' differences by 1 - 1/(n - 1)² and keeps their
    order. With two players nothing is left of them: each judge sees one author alone.
    """
    given = [rating for rating in ratings if rating is not None]
    if not all(map(math.isfinite, given)):
        raise ValueError(f"found the ratings {given}: expected finite numbers")
    if len(set(given)) < 2:
        return tuple([None if rating is None else MEAN for rating in ratings])
    own = math.fsum(given) / len(given)
    return tuple([None if rating is None else rating - own + MEAN for rating in ratings])


class Gain(NamedTuple):
    """A grade and what it is once its judge gives 5 on average."""

    grade: Grade
    value: float


def normalised_grades(grades: Iterable[Grade]) -> list[Gain]:
    """All grades, each judge's normalised over all that it gave."""
    return [
        Gain(grade, value)
        for own in _by_judge(grades).values()
        for grade, value in zip(own, normalised([grade.raw for grade in own]), strict=True)
        if value is not None
    ]


def zeros(grades: Iterable[Grade]) -> dict[str, float]:
    """The worth of a raw 0 from each judge, outside of its mean: that of unusable or refused work."""
    return {
        judge: MEAN - math.fsum([grade.raw for grade in own]) / len(own)
        for judge, own in _by_judge(grades).items()
    }


def _by_judge(grades: Iterable[Grade]) -> dict[str, list[Grade]]:
    return grouped((grade.judge, grade) for grade in grades)


class Received(NamedTuple):
    """Grades of one item: mean over judges, standard deviation (n - 1; None for a single one), how many."""

    mean: float
    sd: float | None
    judges: int


def received(gains: Iterable[Gain]) -> dict[str, Received]:
    """Return what each item was given, by id."""
    values = grouped((gain.grade.item, gain.value) for gain in gains)
    return {item: of(given) for item, given in values.items()}


def of(values: Sequence[float]) -> Received:
    """Mean, standard deviation and number of some values, at least one."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return Received(mean, None, 1)
    squares = math.fsum([(value - mean) ** 2 for value in values])
    return Received(mean, math.sqrt(squares / (len(values) - 1)), len(values))


class ScoreStanding(Struct, frozen=True):
    """One player's result. `score` is the weighted mean over `questions`, `se` its standard error (None for
    fewer than two). `rank` is 1 + the number of players who are ahead beyond error, so that equals share one;
    `ahead_of` lists those whom this one is ahead of. `result` is the share of the others it is ahead of, a
    tie counting half."""

    score: float
    se: float | None
    questions: int
    rank: int
    ahead_of: tuple[str, ...]
    result: float


def standings(
    scores: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float] | None = None,
    bonus: Mapping[str, float] | None = None,
) -> dict[str, ScoreStanding]:
    """Rank players by their `scores`, each a mapping from question to score, at least one question each.

    `weights` are those of the questions (all 1 where not given; only their ratios count), `bonus` is added
    to a player's mean. A player is ahead of another when the mean of the differences, over the questions that
    both have, plus the difference of their bonuses, exceeds t · SE at 95%, two-sided; with fewer
    than two common questions nobody is ahead.
    """
    extra = bonus or {}
    ahead: dict[str, list[str]] = {player: [] for player in scores}
    for player, own in scores.items():
        for other, theirs in scores.items():
            common = [question for question in own if question in theirs]
            if player == other or len(common) < 2:
                continue
            lead, error = _weighted(
                [own[question] - theirs[question] for question in common], _weights(common, weights)
            )
            lead += extra.get(player, 0.0) - extra.get(other, 0.0)
            if lead > _EQUAL and lead > quantile(0.95, len(common) - 1) * error:
                ahead[player].append(other)
    table: dict[str, ScoreStanding] = {}
    for player, own in scores.items():
        mean, error = _weighted(list(own.values()), _weights(list(own), weights))
        behind = sum(player in better for better in ahead.values())
        ties = len(scores) - 1 - len(ahead[player]) - behind
        table[player] = ScoreStanding(
            mean + extra.get(player, 0.0),
            error if len(own) > 1 else None,
            len(own),
            1 + behind,
            tuple(ahead[player]),
            (len(ahead[player]) + ties / 2) / (len(scores) - 1),
        )
    return table


_EQUAL = 1e-9  # sums of the same numbers in another order differ by less


def _weights(questions: Sequence[str], weights: Mapping[str, float] | None) -> list[float]:
    """The questions' weights; equal ones where none of them weighs anything."""
    chosen = [1.0 if weights is None else weights[question] for question in questions]
    return chosen if any(chosen) else [1.0] * len(chosen)


def _weighted(values: Sequence[float], weights: Sequence[float]) -> tuple[float, float]:
    """The weighted mean, and its standard error √(n/(n-1) · Σ w²(x - m)²) / Σ w, that of a ratio of sums (W.
    Cochran, Sampling Techniques, 1977, section 6.4); 0 for a single value."""
    total = math.fsum(weights)
    mean = math.fsum([weight * value for weight, value in zip(weights, values, strict=True)]) / total
    squares = math.fsum(
        [(weight * (value - mean)) ** 2 for weight, value in zip(weights, values, strict=True)]
    )
    n = len(values)
    return mean, math.sqrt(squares * n / (n - 1)) / total if n > 1 else 0.0


class MatrixCell(Struct, frozen=True):
    """One cell of the matrix: the mean of what a judge gave an author, once normalised, over `grades` grades.
    `favour` is the mean, over these, of what the judge gave above the other judges of the same item, less the
    same over everybody it judged: who favours whom, whatever the judge's strictness and the work's worth.
    None where no other judged."""

    mean: float
    grades: int
    favour: float | None


def matrix(gains: Sequence[Gain]) -> dict[str, dict[str, MatrixCell]]:
    """Judge → author → what the one gave the other."""
    by_item = grouped((gain.grade.item, gain.value) for gain in gains)
    totals = {item: (math.fsum(values), len(values)) for item, values in by_item.items()}
    cells: dict[str, dict[str, list[Gain]]] = {}
    for gain in gains:
        cells.setdefault(gain.grade.judge, {}).setdefault(gain.grade.author, []).append(gain)
    rows: dict[str, dict[str, MatrixCell]] = {}
    for judge, row in cells.items():
        above = {author: _above(own, totals) for author, own in row.items()}
        usual = _mean([value for values in above.values() for value in values])
        rows[judge] = {
            author: MatrixCell(
                math.fsum([gain.value for gain in own]) / len(own),
                len(own),
                None if (mean := _mean(above[author])) is None or usual is None else mean - usual,
            )
            for author, own in row.items()
        }
    return rows


def _above(own: Sequence[Gain], totals: Mapping[str, tuple[float, int]]) -> list[float]:
    """By how much each grade exceeds the mean of the other judges' for the same item, where there are any."""
    gains: list[float] = []
    for gain in own:
        total, judges = totals[gain.grade.item]
        if judges > 1:
            gains.append(gain.value - (total - gain.value) / (judges - 1))
    return gains


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def plain(value: Any) -> Any:
    """Numbers rounded to six decimals, all the way down: what is on record need not carry rounding noise."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value
