"""What another panel's verdicts, or scores, on the same answers change, and how far the ranking moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan
from statistics import StatisticsError, correlation
from typing import Any, Literal, TypeAlias

import numpy as np
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
from peerage.ratings.columns.merging import coded
from peerage.ratings.fits.bradley_terry import fit_duels
from peerage.ratings.fits.regression import fit_clustered
from peerage.ratings.table import quantile, ranks
from peerage.reading.rows import whole_of
from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.settings import ArenaSettings, rules_of
from peerage.values.figures import DASH, counted, hundredths, interval, percent, whole
from peerage.views.judges.measures import named
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


_Bounded: TypeAlias = tuple[float, float | None, float | None]
"""A player's value by one set of judges with its bounds; None: nothing can be claimed."""
_Decided: TypeAlias = tuple[Fixture, Outcome, RecordedAnswers]


def rejudge_report(target: Ledger) -> RejudgeReport:
    """Compare the judges over the matches of a ledger of recorded answers. Raises LedgerError."""
    texts, (issued, judged) = by_hex(target.texts()), target.heads()
    first = [read_fixture(row.body, texts) for row in target.fixtures(1, 1)]
    by: Literal["panel", "scores"] = first[0].settings["by"] if first else "panel"
    of_files = bool(first) and recorded_in(first[0]).source == 0
    report = RejudgeReport(by=by, of_files=of_files, issued=issued, judged=judged)
    decided = [(*one, recorded_in(one[0])) for one in whole_of(target) if not one[1].void]
    return (_by_scores if by == "scores" else _by_panel)(report, decided)


def _compared(
    report: RejudgeReport,
    before: Mapping[str, _Bounded],
    after: Mapping[str, _Bounded],
    compared: Mapping[str, int],
) -> RejudgeReport:
    """Return the report with what both sets of judges say of each player, and how alike the rankings are."""
    ranks, old_ranks = _ranks(after), _ranks(before)
    rows = [
        RejudgedPlayer(
            player=player,
            rank_before=old_ranks.get(player),
            rank_after=ranks[player],
            places=old_ranks[player] - ranks[player] if player in old_ranks else None,
            **named(before=before.get(player, (None, None, None)), after=after[player]),
            compared=compared[player],
        )
        for player in sorted(after, key=lambda player: (ranks[player], player))
    ]
    tau = kendall_tau([*old_ranks.values()], [ranks[player] for player in old_ranks])
    return replace(report, players=tuple(rows), tau=tau)


def _ranks(values: Mapping[str, _Bounded]) -> dict[str, int]:
    return dict(zip(values, ranks(np.array([value for value, _, _ in values.values()])), strict=True))


def _by_panel(report: RejudgeReport, decided: Sequence[_Decided]) -> RejudgeReport:
    judged = [
        (answers, answers.first.get(FIRST), outcome.facts[0]["score"]) for _, outcome, answers in decided
    ]
    both = [duel for duel in judged if duel[1] is not None]
    compared = both or judged
    records = [answers.record for answers, _, _ in compared]
    apart = len({*records}) == len(records)  # else pairs share answers
    pairs = [(answers.authors[FIRST], answers.authors[SECOND]) for answers, _, _ in compared]
    before = _fit(pairs, [score for _, score, _ in both if score is not None], records)
    after = _fit(pairs, [score for _, _, score in compared], records)
    verdicts = alpha(spelt([(_verdict(score or 0.0), _verdict(now)) for _, score, now in both]))
    report = replace(
        report,
        decided=len(judged),
        compared=len(both),
        changed=sum(score != now for _, score, now in both),
        reversed=sum(abs((score or 0.0) - now) == 1 for _, score, now in both),
        agreement=verdicts.value if verdicts else None,
        agreement_lower=verdicts.lower if verdicts and apart else None,
        agreement_upper=verdicts.upper if verdicts and apart else None,
    )
    return _compared(report, before, after, Counter([name for pair in pairs for name in pair]))


def _fit(
    pairs: Sequence[tuple[str, str]], scores: Sequence[float], records: Sequence[str]
) -> dict[str, _Bounded]:
    """Return ratings over duels of these pairs; duels of one record hang together. None without scores."""
    if not scores:
        return {}
    (names, seats), (_, code) = coded([name for pair in pairs for name in pair]), coded(records)
    history = duels(len(names), seats[::2], seats[1::2], scores)
    apart = len({*records}) == len(records)
    table = fit_duels(history) if apart else fit_clustered(history, code)
    return {
        name: (row.rating, _claimed(row.lower), _claimed(row.upper))
        for name, row in zip(names, table.rows, strict=True)
    }


def _verdict(score: float) -> str:
    return TIE if score == 0.5 else FIRST if score > 0.5 else SECOND


def _claimed(bound: float | None) -> float | None:
    return None if bound is None or isnan(bound) else bound


_Answer: TypeAlias = tuple[str, str]
"""An answer: the digest of the record that it comes from, and its id there."""


def _by_scores(report: RejudgeReport, decided: Sequence[_Decided]) -> RejudgeReport:
    first: dict[_Answer, float] = {}
    authors: dict[_Answer, str] = {}
    grades: dict[str, list[Grade]] = {}
    for fixture, outcome, answers in decided:
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
    agreement = None
    with suppress(StatisticsError):  # fewer than two, or all the same
        agreement = correlation([*first.values()], [*again.values()])
    report = replace(report, decided=len(decided), compared=len(again), agreement=agreement)
    answered = Counter([authors[answer] for answer in again])
    return _compared(report, _means(authors, first), _means(authors, again), answered)


def _means(authors: Mapping[_Answer, str], scores: Mapping[_Answer, float]) -> dict[str, _Bounded]:
    """Return each player's mean over its answers, all centered on 5, with its interval over questions."""
    centre = MEAN - of([*scores.values()]).mean if scores else 0.0
    by_player: dict[str, dict[_Answer, list[float]]] = {}
    for (record, answer), score in scores.items():
        questions = by_player.setdefault(authors[record, answer], {})
        questions.setdefault((record, answer.split("/")[0]), []).append(score + centre)
    values: dict[str, _Bounded] = {}
    for player, questions in by_player.items():
        over = of([of(given).mean for given in questions.values()])
        values[player] = over.mean, None, None
        if over.sd is not None:
            half = quantile(0.95, over.judges - 1) * over.sd / over.judges**0.5
            values[player] = over.mean, over.mean - half, over.mean + half
    return values


def kendall_tau(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's τ-b of two rankings of the same things: (concordant - discordant pairs) over √(pairs
    untied in a · pairs untied in b); None when either has no untied pair (Kendall, Biometrika 1945)."""
    in_a, in_b = (np.sign(np.subtract.outer(ranking, ranking)) for ranking in (a, b))
    untied = np.abs(in_a).sum() * np.abs(in_b).sum()
    return float((in_a * in_b).sum() / untied**0.5) if untied else None


def rejudged(report: RejudgeReport, arena: str) -> Rows:
    """Return the ranking by the new judges, with that by the first ones; `arena` is its name."""
    scores = report.by == "scores"
    write = hundredths if scores else whole

    def bounds(title: str, when: str) -> Column:
        def of(row: RejudgedPlayer) -> Any:
            return interval(getattr(row, f"{when}_lower"), getattr(row, f"{when}_upper"), write)

        return Column(f"interval_{when}", title, spare=1 if when == "after" else 2, number=True, value=of)

    columns = [
        *numbers(whole, rank_after=""),
        *texts(player="Player"),
        *numbers(whole, rank_before="Rank before"),
        Column("places", "Moved", _moved, number=True),
        *numbers(write, before="Score before" if scores else "Rating before"),
        bounds("95%", "before"),
        *numbers(write, after="after"),
        bounds("95%", "after"),
        *numbers(whole, compared="Answers ~3" if scores else "Matches ~3"),
    ]
    notes = list(_score_notes(report) if scores else _panel_notes(report))
    if report.tau is not None:
        notes.append(f"Kendall's τ of the two rankings: {report.tau:.2f}")
    return Rows(report.players, columns, title=f"{arena}: {_title(report)}", notes=notes)


def _title(report: RejudgeReport) -> str:
    if report.by == "scores":
        return "scores by the first and by the new judges"
    if not report.compared:
        return "Bradley-Terry by the new panel"
    return f"Bradley-Terry by {'the scores on file' if report.of_files else 'the first'} and by the new panel"


def _score_notes(report: RejudgeReport) -> Iterator[str]:
    yield (
        f"{report.judged} of {counted(report.issued, 'question')} scored again, {report.decided} "
        f"of them with enough scores; {counted(report.compared, 'answer has', 'answers have')} both, "
        "which average 5 on each side"
    )
    if report.agreement is not None:
        yield f"Pearson's r of the answers' two means: {report.agreement:.2f}"


def _panel_notes(report: RejudgeReport) -> Iterator[str]:
    judged, before = "judged again", "were decided by both panels"
    if report.of_files:
        judged, before = "judged", "have scores on file"
    yield (
        f"{report.judged} of {counted(report.issued, 'match')} {judged}, {report.decided} of them "
        f"decided; {report.compared} {before}"
    )
    if any(row.after_lower is None for row in report.players):
        yield (
            "no interval: pairs on one question hang together, and of fewer than ten questions nothing "
            "can be claimed"
        )
    if report.compared and report.changed is not None:
        yield (
            f"{report.changed} of those ({percent(report.changed / report.compared)}) came out "
            f"otherwise, {report.reversed} with the other winner"
        )
    if report.agreement is not None:
        bounds = ""
        if report.agreement_lower is not None:
            bounds = f" (95%: {report.agreement_lower:.2f} to {report.agreement_upper:.2f})"
        whose = "panel's verdicts and the scores" if report.of_files else "two panels' verdicts"
        yield f"Krippendorff's α of the {whose}: {report.agreement:.2f}{bounds}"


def _moved(places: int | None) -> str:
    return DASH if places is None else f"{places:+d}" if places else "0"
