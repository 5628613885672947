"""What another panel's verdicts, or scores, on the same answers change, and how far the ranking moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import StatisticsError, correlation
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from peerage.blocks import names
from peerage.games.rejudgement import FIRST, SECOND, item_of
from peerage.games.rescoring import item_of as scored_item_of
from peerage.judging.agreement import alpha, spelt
from peerage.judging.normalisation import MEAN, Mode
from peerage.judging.panel import TIE
from peerage.judging.scores import Grade, recorded
from peerage.judging.scores_standing import normalised_grades, of, received
from peerage.ledger.codec import by_hex, read_fixture, read_record
from peerage.ledger.store import Ledger
from peerage.ratings.bradley_terry import BradleyTerry, Pair, fit
from peerage.tables import Shown


class Moved(Struct, frozen=True):
    """One player before and after: Bradley-Terry over the matches that both panels decided, by the first
    panel's verdicts and by the new one's, each with its 95% interval. `places` is by how many ranks it rose
    (below 0: fell)."""

    player: str
    rank_before: int
    rank_after: int
    places: int
    rating_before: float
    lower_before: float
    upper_before: float
    rating_after: float
    lower_after: float
    upper_after: float
    matches: int


class Rejudged(Shown, frozen=True):
    """What was found.

    `issued` matches are to be judged again and `judged` are done, of which the new panel decided `decided`,
    and both panels `compared`; `changed` of those came out otherwise, `reversed` with the other winner. `tau`
    is Kendall's τ-b between the two rankings, 1 when they are the same, -1 when one is the other upside down,
    None where it is not defined. `agreement` is Krippendorff's α of the two verdicts, with 95% bounds.
    """

    issued: int
    judged: int
    decided: int
    compared: int
    changed: int
    reversed: int
    tau: float | None
    agreement: float | None
    agreement_lower: float | None
    agreement_upper: float | None
    players: tuple[Moved, ...]


class _Compared(NamedTuple):
    first: str
    second: str
    before: float
    after: float


def rejudged(target: Ledger) -> Rejudged:
    """Compare the panels over what a ledger of rejudgements holds. Raises LedgerError."""
    texts, (issued, last) = by_hex(target.texts()), target.heads()
    compared: list[_Compared] = []
    decided = 0
    for row, record in zip(target.fixtures(1, last), target.records(1, last), strict=True):
        outcome = read_record(record.body).outcome
        if outcome.void:
            continue
        decided += 1
        item = item_of(read_fixture(row.body, texts))
        if item.score is not None:
            first, second = item.authors.values()
            compared.append(_Compared(first, second, item.score, outcome.facts[0]["score"]))
    names = sorted({name for one in compared for name in (one.first, one.second)})
    places = {name: at for at, name in enumerate(names)}
    before, after = (
        fit([_pair(places, one, score) for one, score in zip(compared, scores, strict=True)], len(names))
        for scores in ([one.before for one in compared], [one.after for one in compared])
    )
    verdicts = alpha(spelt([(_verdict(one.before), _verdict(one.after)) for one in compared]))
    return Rejudged(
        issued,
        last,
        decided,
        len(compared),
        sum(one.before != one.after for one in compared),
        sum(abs(one.before - one.after) == 1 for one in compared),
        kendall_tau([row.rank for row in before.rows], [row.rank for row in after.rows]),
        verdicts.value if verdicts else None,
        verdicts.lower if verdicts else None,
        verdicts.upper if verdicts else None,
        tuple(_moved(names, before, after)),
    )


def _pair(places: Mapping[str, int], one: _Compared, score: float) -> Pair:
    return Pair(places[one.first], places[one.second], score > 0.5, score < 0.5, score == 0.5)


def _verdict(score: float) -> str:
    return TIE if score == 0.5 else FIRST if score > 0.5 else SECOND


def _moved(names: Sequence[str], before: BradleyTerry, after: BradleyTerry) -> list[Moved]:
    rows = [
        Moved(
            name,
            was.rank,
            now.rank,
            was.rank - now.rank,
            was.rating,
            was.lower,
            was.upper,
            now.rating,
            now.lower,
            now.upper,
            round(now.games),
        )
        for name, was, now in zip(names, before.rows, after.rows, strict=True)
    ]
    return sorted(rows, key=lambda row: (row.rank_after, row.player))


class ScoreMoved(Struct, frozen=True):
    """One player before and after: the mean of its answers by the first judges and by the new ones, each
    judge, and then all answers that both scored, brought to an average of 5; `se` are standard errors over
    questions, None for a single one. `places` is by how many ranks it rose (below 0: fell)."""

    player: str
    rank_before: int
    rank_after: int
    places: int
    score_before: float
    se_before: float | None
    score_after: float
    se_after: float | None
    answers: int


class Rescored(Shown, frozen=True):
    """What was found of tournaments.

    `issued` questions are to be scored again and `judged` are done, of which `decided` got enough scores;
    `answers` of theirs have scores by both. `tau` is Kendall's τ-b between the two rankings, `correlation`
    Pearson's r between the answers' two means; None where they are not defined.
    """

    issued: int
    judged: int
    decided: int
    answers: int
    tau: float | None
    correlation: float | None
    players: tuple[ScoreMoved, ...]


Scored: TypeAlias = tuple[str, str]
"""An answer: the digest of the record that it comes from, and its id there."""


def rescored(target: Ledger) -> Rescored:
    """Compare the judges over what a ledger of rescorings holds. Raises LedgerError."""
    texts, (issued, last) = by_hex(target.texts()), target.heads()
    decided = 0
    first: dict[Scored, float] = {}
    authors: dict[Scored, str] = {}
    grades: dict[tuple[str, Mode], list[Grade]] = {}
    for row, record in zip(target.fixtures(1, last), target.records(1, last), strict=True):
        outcome = read_record(record.body).outcome
        if outcome.void:
            continue
        decided += 1
        fixture = read_fixture(row.body, texts)
        item, judges = scored_item_of(fixture), names(fixture)
        mine = grades.setdefault((item.record, fixture.settings["normalisation"]), [])
        for grade in recorded(outcome, "judge"):
            mine.append(grade._replace(judge=judges[grade.judge]))
            first[item.record, grade.item] = item.first[grade.item]
            authors[item.record, grade.item] = item.authors[grade.author]
    again = {
        (record, answer): given.mean
        for (record, mode), mine in grades.items()
        for answer, given in received(normalised_grades(mine, mode)).items()
    }
    before, after = (_by_player(authors, means) for means in (first, again))
    players = sorted(after, key=lambda player: (-after[player].mean, player))
    return Rescored(
        issued,
        last,
        decided,
        len(again),
        kendall_tau([before[player].mean for player in players], [after[player].mean for player in players]),
        _correlation([first[answer] for answer in again], list(again.values())),
        tuple([_score_moved(player, before, after) for player in players]),
    )


class _Mean(NamedTuple):
    mean: float
    error: float | None
    answers: int


def _by_player(authors: Mapping[Scored, str], means: Mapping[Scored, float]) -> dict[str, _Mean]:
    """Each player's mean over its answers, all centered on 5, and its standard error over questions."""
    centre = MEAN - of(list(means.values())).mean if means else 0.0
    questions: dict[str, dict[Scored, list[float]]] = {}
    for (record, answer), mean in means.items():
        mine = questions.setdefault(authors[record, answer], {})
        mine.setdefault((record, answer.split("/")[0]), []).append(mean + centre)
    found = {}
    for player, mine in questions.items():
        over = of([of(given).mean for given in mine.values()])
        error = None if over.sd is None else over.sd / over.judges**0.5
        found[player] = _Mean(over.mean, error, sum(len(given) for given in mine.values()))
    return found


def _score_moved(player: str, before: Mapping[str, _Mean], after: Mapping[str, _Mean]) -> ScoreMoved:
    rank, now = (1 + sum(one.mean > some[player].mean for one in some.values()) for some in (before, after))
    (was, was_error, _), (score, error, answers) = before[player], after[player]
    return ScoreMoved(player, rank, now, rank - now, was, was_error, score, error, answers)


def _correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    try:
        return correlation(a, b)
    except StatisticsError:  # fewer than two, or all the same
        return None


def kendall_tau(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Kendall's τ-b of two rankings of the same things: (concordant - discordant pairs) over √(pairs untied
    in a · pairs untied in b); None when either has no untied pair (Kendall, Biometrika 1945)."""
    score = untied_a = untied_b = 0
    for i, j in combinations(range(len(a)), 2):
        in_a = (a[i] > a[j]) - (a[i] < a[j])
        in_b = (b[i] > b[j]) - (b[i] < b[j])
        score += in_a * in_b
        untied_a += bool(in_a)
        untied_b += bool(in_b)
    return score / (untied_a * untied_b) ** 0.5 if untied_a and untied_b else None
