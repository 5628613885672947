"""What another panel's verdicts, or scores, on the same answers change, and how far the ranking moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan
from statistics import StatisticsError, correlation
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from peerage.game.blocks import player_names
from peerage.game.match import Fixture, Outcome
from peerage.games.rejudge import FIRST, GAME, SECOND, RecordedAnswers, author_of, recorded_in
from peerage.judging.measures.agreement import alpha, spelt
from peerage.judging.panels.panel import TIE
from peerage.judging.scores.scoring import Grade, recorded
from peerage.judging.scores.standing import MEAN, normalised_grades, of, received
from peerage.ledger import Ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ratings.columns.history import duels
from peerage.ratings.fits.bradley_terry import BradleyTerry, fit_duels
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.table import quantile
from peerage.reading.rows import whole_of
from peerage.settings import ArenaSettings, rules_of
from peerage.views.shown import Shown


class RejudgedPlayer(Struct, frozen=True):
    """One player by the first judges and by the new ones, on the same answers; each value with its 95%
    interval (None where nothing can be claimed).

    By a panel a value is the Bradley-Terry rating over the matches that both panels decided, by scores the
    mean over the answers that both scored, each judge, and then all answers, brought to an average of 5, with
    its interval over questions. `places` is the number of ranks that the player rose (below 0: fell);
    `compared` counts its matches, or its answers. Answers of files were judged before by the scores recorded
    with them; where no pair has any, all that is of before is None.
    """

    player: str
    rank_before: int | None
    rank_after: int
    places: int | None
    before: float | None
    before_lower: float | None
    before_upper: float | None
    after: float
    after_lower: float | None
    after_upper: float | None
    compared: int


class RejudgeReport(Shown, frozen=True):
    """How new judges and the first ones differ on recorded answers.

    `by` is panel (duels, and answers of files) or scores (tournaments), `of_files` true for answers of files.
    `issued` matches are to be judged again and `judged` are done, of which the new judges decided `decided`;
    `compared` matches were decided by both panels, or answers scored by both. By a panel `changed` of the
    compared have another result, `reversed` another winner (by scores None). `tau` is Kendall's τ-b between
    the two rankings, 1 when they are the same, -1 when one is the other upside down, None where it is not
    defined. `agreement` is by a panel Krippendorff's α of the two verdicts, with 95% bounds (None where one
    question was judged in several pairs, which hang together), by scores Pearson's r of the answers' two
    means.
    """

    by: Literal["panel", "scores"]
    of_files: bool
    issued: int
    judged: int
    decided: int = 0
    compared: int = 0
    changed: int | None = None
    reversed: int | None = None
    tau: float | None = None
    agreement: float | None = None
    agreement_lower: float | None = None
    agreement_upper: float | None = None
    players: tuple[RejudgedPlayer, ...] = ()


def of_answers(game: str) -> bool:
    """Return whether an arena of this game holds recorded answers that were judged again."""
    return game == GAME.name


def of_scores(settings: ArenaSettings) -> bool:
    """Return whether an arena holds recorded answers that were scored again."""
    return of_answers(settings.game) and rules_of(settings).by == "scores"


class _Value(NamedTuple):
    """A player's value by one set of judges, with its interval (None: nothing can be claimed)."""

    rank: int
    value: float
    lower: float | None
    upper: float | None


_NONE: Final = (None, None, None, None)
_Values: TypeAlias = Mapping[str, _Value]


class _Decided(NamedTuple):
    fixture: Fixture
    outcome: Outcome
    answers: RecordedAnswers


def rejudge_report(target: Ledger) -> RejudgeReport:
    """Compare the judges over the matches of a ledger of recorded answers. Raises LedgerError."""
    texts, (issued, judged) = by_hex(target.texts()), target.heads()
    first = [read_fixture(row.body, texts) for row in target.fixtures(1, 1)]
    by: Literal["panel", "scores"] = first[0].settings["by"] if first else "panel"
    of_files = bool(first) and recorded_in(first[0]).source == 0
    report = RejudgeReport(by=by, of_files=of_files, issued=issued, judged=judged)
    return (_by_scores if by == "scores" else _by_panel)(report, _decided(target))


def _players(before: _Values, after: _Values, compared: Mapping[str, int]) -> tuple[RejudgedPlayer, ...]:
    rows = []
    for player, now in after.items():
        rank, value, lower, upper = before.get(player, _NONE)
        rows.append(
            RejudgedPlayer(
                player=player,
                rank_before=rank,
                rank_after=now.rank,
                places=None if rank is None else rank - now.rank,
                before=value,
                before_lower=lower,
                before_upper=upper,
                after=now.value,
                after_lower=now.lower,
                after_upper=now.upper,
                compared=compared[player],
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.rank_after, row.player)))


def _tau(before: _Values, after: _Values) -> float | None:
    return kendall_tau([before[player].rank for player in before], [after[player].rank for player in before])


def _decided(target: Ledger) -> Iterator[_Decided]:
    for fixture, outcome in whole_of(target):
        if not outcome.void:
            yield _Decided(fixture, outcome, recorded_in(fixture))


# ------------------------------------------------------------------------------------------- by a panel


class _Duel(NamedTuple):
    first: str
    second: str
    before: float | None
    after: float
    record: str


def _by_panel(report: RejudgeReport, decided: Iterator[_Decided]) -> RejudgeReport:
    judged = [
        _Duel(
            first=answers.authors[FIRST],
            second=answers.authors[SECOND],
            before=answers.first.get(FIRST),
            after=outcome.facts[0]["score"],
            record=answers.record,
        )
        for _, outcome, answers in decided
    ]
    both = [(duel.before, duel.after) for duel in judged if duel.before is not None]
    compared = [duel for duel in judged if duel.before is not None] or judged
    apart = len({duel.record for duel in compared}) == len(compared)  # else pairs share answers
    players = sorted({name for duel in compared for name in (duel.first, duel.second)})
    table = _fit(players, compared, [duel.after for duel in compared], apart)
    after = _ratings(players, table)
    before = _ratings(players, _fit(players, compared, [score for score, _ in both], apart)) if both else {}
    verdicts = alpha(spelt([(_verdict(score), _verdict(now)) for score, now in both]))
    return replace(
        report,
        decided=len(judged),
        compared=len(both),
        changed=sum(score != now for score, now in both),
        reversed=sum(abs(score - now) == 1 for score, now in both),
        tau=_tau(before, after),
        agreement=verdicts.value if verdicts else None,
        agreement_lower=verdicts.lower if verdicts and apart else None,
        agreement_upper=verdicts.upper if verdicts and apart else None,
        players=_players(
            before,
            after,
            {name: round(row.games) for name, row in zip(players, table.rows, strict=True)},
        ),
    )


def _fit(
    players: Sequence[str], compared: Sequence[_Duel], scores: Sequence[float], apart: bool
) -> BradleyTerry:
    place = {name: at for at, name in enumerate(players)}
    first, second = [place[duel.first] for duel in compared], [place[duel.second] for duel in compared]
    history = duels(len(players), first, second, scores)
    if apart:
        return fit_duels(history)
    code = {record: at for at, record in enumerate(dict.fromkeys(duel.record for duel in compared))}
    return fit_clustered(history, [code[duel.record] for duel in compared])


def _verdict(score: float) -> str:
    return TIE if score == 0.5 else FIRST if score > 0.5 else SECOND


def _ratings(players: Sequence[str], table: BradleyTerry) -> _Values:
    return {
        name: _Value(row.rank, row.rating, _claimed(row.lower), _claimed(row.upper))
        for name, row in zip(players, table.rows, strict=True)
    }


def _claimed(bound: float | None) -> float | None:
    return None if bound is None or isnan(bound) else bound


# -------------------------------------------------------------------------------------------- by scores

_Answer: TypeAlias = tuple[str, str]
"""An answer: the digest of the record that it comes from, and its id there."""


def _by_scores(report: RejudgeReport, decided: Iterator[_Decided]) -> RejudgeReport:
    matches = 0
    first: dict[_Answer, float] = {}
    authors: dict[_Answer, str] = {}
    grades: dict[str, list[Grade]] = {}
    for fixture, outcome, answers in decided:
        matches += 1
        judges = player_names(fixture)
        of_record = grades.setdefault(answers.record, [])
        for grade in recorded(outcome, "judge"):
            of_record.append(grade._replace(judge=judges[grade.judge]))
            first[answers.record, grade.item] = answers.first[grade.item]
            authors[answers.record, grade.item] = answers.authors[author_of(grade.item)]
    again = {
        (record, answer): given.mean
        for record, of_record in grades.items()
        for answer, given in received(normalised_grades(of_record)).items()
    }
    first = {answer: first[answer] for answer in again}
    before, after = _means(authors, first), _means(authors, again)
    return replace(
        report,
        decided=matches,
        compared=len(again),
        tau=_tau(before, after),
        agreement=_correlation(list(first.values()), list(again.values())),
        players=_players(before, after, Counter([authors[answer] for answer in again])),
    )


def _means(authors: Mapping[_Answer, str], scores: Mapping[_Answer, float]) -> _Values:
    """Return each player's mean over its answers, all centered on 5, with its interval over questions."""
    centre = MEAN - of(list(scores.values())).mean if scores else 0.0
    by_player: dict[str, dict[_Answer, list[float]]] = {}
    for (record, answer), score in scores.items():
        questions = by_player.setdefault(authors[record, answer], {})
        questions.setdefault((record, answer.split("/")[0]), []).append(score + centre)
    means = {
        player: of([of(given).mean for given in questions.values()])
        for player, questions in by_player.items()
    }
    values = {}
    for player, over in means.items():
        rank = 1 + sum(other.mean > over.mean for other in means.values())
        half = None
        if over.sd is not None:
            half = quantile(0.95, over.judges - 1) * over.sd / over.judges**0.5
        bounds = (None, None) if half is None else (over.mean - half, over.mean + half)
        values[player] = _Value(rank, over.mean, *bounds)
    return values


def _correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    try:
        return correlation(a, b)
    except StatisticsError:  # fewer than two, or all the same
        return None


def kendall_tau(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's τ-b of two rankings of the same things: (concordant - discordant pairs) over √(pairs
    untied in a · pairs untied in b); None when either has no untied pair (Kendall, Biometrika 1945)."""
    score = untied_a = untied_b = 0
    for i, j in combinations(range(len(a)), 2):
        in_a = (a[i] > a[j]) - (a[i] < a[j])
        in_b = (b[i] > b[j]) - (b[i] < b[j])
        score += in_a * in_b
        untied_a += bool(in_a)
        untied_b += bool(in_b)
    return score / (untied_a * untied_b) ** 0.5 if untied_a and untied_b else None
