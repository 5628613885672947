"""What another panel's verdicts, or scores, on the same answers change, and how far the ranking moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isnan
from statistics import StatisticsError, correlation
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from peerage.blocks import names
from peerage.games.rejudgement import FIRST, SECOND, item_of
from peerage.games.rejudgement import GAME as REJUDGEMENT
from peerage.games.rescoring import GAME as RESCORING
from peerage.games.rescoring import item_of as scored_item_of
from peerage.judging.agreement import alpha, spelt
from peerage.judging.normalisation import MEAN, Mode
from peerage.judging.panel import TIE
from peerage.judging.scores import Grade, recorded
from peerage.judging.scores_standing import normalised_grades, of, received
from peerage.ledger.codec import by_hex, read_fixture, read_record
from peerage.ledger.store import Ledger
from peerage.ratings.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.history import duels
from peerage.ratings.rows import fit_clustered
from peerage.tables import Shown


class Moved(Struct, frozen=True):
    """One player before and after: Bradley-Terry over the matches that both panels decided, by the first
    panel's verdicts and by the new one's, each with its 95% interval (None where nothing can be claimed).
    `places` is by how many ranks it rose (below 0: fell). Answers of files were judged before by the scores
    recorded with them; where no pair has any, all that is said of before is None."""

    player: str
    rank_before: int | None
    rank_after: int
    places: int | None
    rating_before: float | None
    lower_before: float | None
    upper_before: float | None
    rating_after: float
    lower_after: float | None
    upper_after: float | None
    matches: int


class Rejudged(Shown, frozen=True):
    """What was found.

    `issued` matches are to be judged again and `judged` are done, of which the new panel decided `decided`,
    and both panels `compared`; `changed` of those came out otherwise, `reversed` with the other winner. `tau`
    is Kendall's τ-b between the two rankings, 1 when they are the same, -1 when one is the other upside down,
    None where it is not defined. `agreement` is Krippendorff's α of the two verdicts, with 95% bounds (None
    where one question was judged in several pairs, which hang together).
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
    before: float | None
    after: float
    record: str


def of_answers(game: str) -> bool:
    """Whether an arena of this game holds recorded answers that were judged, or scored, again."""
    return game == REJUDGEMENT.name or of_scores(game)


def of_scores(game: str) -> bool:
    """Whether an arena of this game holds recorded answers that were scored again."""
    return game == RESCORING.name


def of_files(target: Ledger) -> bool:
    """Whether the answers that a ledger of rejudgements holds are of files. Raises LedgerError."""
    texts = by_hex(target.texts())
    return any(item_of(read_fixture(row.body, texts)).source == 0 for row in target.fixtures(1, 1))


def rejudged(target: Ledger) -> Rejudged:
    """Compare the panels over what a ledger of rejudgements holds. Raises LedgerError."""
    texts, (issued, last) = by_hex(target.texts()), target.heads()
    found: list[_Compared] = []
    for row, record in zip(target.fixtures(1, last), target.records(1, last), strict=True):
        outcome = read_record(record.body).outcome
        if not outcome.void:
            item = item_of(read_fixture(row.body, texts))
            first, second = item.authors.values()
            found.append(_Compared(first, second, item.score, outcome.facts[0]["score"], item.record))
    both = [(one.before, one.after) for one in found if one.before is not None]
    compared = [one for one in found if one.before is not None] or found
    names = sorted({name for one in compared for name in (one.first, one.second)})
    after = _fit(names, compared, [one.after for one in compared])
    before = _fit(names, compared, [score for score, _ in both]) if both else None
    verdicts = alpha(spelt([(_verdict(score), _verdict(now)) for score, now in both]))
    bounds = (verdicts.lower, verdicts.upper) if verdicts and _apart(compared) else (None, None)
    return Rejudged(
        issued,
        last,
        len(found),
        len(both),
        sum(score != now for score, now in both),
        sum(abs(score - now) == 1 for score, now in both),
        kendall_tau([row.rank for row in before.rows], [row.rank for row in after.rows]) if before else None,
        verdicts.value if verdicts else None,
        *bounds,
        tuple(_moved(names, before, after)),
    )


def _apart(compared: Sequence[_Compared]) -> bool:
    """Whether no two matches are on one record, or one question of a file, whose pairs share answers."""
    return len({one.record for one in compared}) == len(compared)


def _fit(names: Sequence[str], compared: Sequence[_Compared], scores: Sequence[float]) -> BradleyTerry:
    place = {name: at for at, name in enumerate(names)}
    first, second = [place[one.first] for one in compared], [place[one.second] for one in compared]
    history = duels(len(names), first, second, scores)
    if _apart(compared):
        return fit_duels(history)
    code = {record: at for at, record in enumerate(dict.fromkeys(one.record for one in compared))}
    return fit_clustered(history, [code[one.record] for one in compared])


def _verdict(score: float) -> str:
    return TIE if score == 0.5 else FIRST if score > 0.5 else SECOND


def _moved(names: Sequence[str], before: BradleyTerry | None, after: BradleyTerry) -> list[Moved]:
    rows = []
    for at, (name, now) in enumerate(zip(names, after.rows, strict=True)):
        was = before.rows[at] if before else None
        rows.append(
            Moved(
                name,
                was.rank if was else None,
                now.rank,
                was.rank - now.rank if was else None,
                was.rating if was else None,
                _claimed(was.lower) if was else None,
                _claimed(was.upper) if was else None,
                now.rating,
                _claimed(now.lower),
                _claimed(now.upper),
                round(now.games),
            )
        )
    return sorted(rows, key=lambda row: (row.rank_after, row.player))


def _claimed(bound: float | None) -> float | None:
    """A bound of an interval; None where there is none."""
    return None if bound is None or isnan(bound) else bound


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
