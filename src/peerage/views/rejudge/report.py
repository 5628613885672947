"""The ranking of recorded answers by other judges, next to the first ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from peerage.render.blocks import Column, Rows, numbers, texts
from peerage.values.figures import DASH, counted, hundredths, interval, percent, whole
from peerage.views.rejudge.compared import RejudgedPlayer, RejudgeReport


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
