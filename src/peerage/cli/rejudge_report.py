"""The table of recorded answers before other judges, as `peerage rejudge` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from peerage.blocks import Column, numbers, texts
from peerage.cli.options import Format, say
from peerage.cli.output import show, show_json
from peerage.figures import DASH, counted, hundredths, interval, percent, whole

if TYPE_CHECKING:
    from peerage.arena import Arena


def show_report(arena: Arena, shape: Format) -> bool:
    """Write how the judges differ to standard output. False, and said, where all that was judged came to
    nothing."""
    from peerage.tables.rejudge import rejudge_report

    report = rejudge_report(arena.ledger).as_dict()
    scores = report["by"] == "scores"
    ranked = bool(report["decided"] or not report["judged"])
    if not ranked:
        matches = counted(
            report["judged"], "question" if scores else "match", "questions" if scores else "matches"
        )
        say(f"the new panel decided none of {matches}, so there is nothing to rank", err=True)
    if shape is Format.json:
        show_json(report)
    if shape is Format.json or (shape.for_people and not ranked):
        return ranked
    write = hundredths if scores else whole
    rows = report["players"]
    if shape is not Format.csv:
        for row in rows:
            for when in ("before", "after"):
                row[f"interval_{when}"] = interval(row[f"{when}_lower"], row[f"{when}_upper"], write)
    columns = [
        *numbers(whole, rank_after=""),
        *texts(player="Player"),
        *numbers(whole, rank_before="Rank before"),
        Column("places", "Moved", _moved, number=True),
        *numbers(write, before="Score before" if scores else "Rating before"),
        *numbers(str, interval_before="95% ~2"),
        *numbers(write, after="after"),
        *numbers(str, interval_after="95% ~1"),
        *numbers(whole, compared="Answers ~3" if scores else "Matches ~3"),
    ]
    notes = list(_score_notes(report) if scores else _panel_notes(report))
    if report["tau"] is not None:
        notes.append(f"Kendall's τ of the two rankings: {report['tau']:.2f}")
    show(rows, columns, shape, title=f"{arena.settings.name}: {_title(report)}", notes=notes)
    return ranked


def _title(report: Mapping[str, Any]) -> str:
    if report["by"] == "scores":
        return "scores by the first and by the new judges"
    if not report["compared"]:
        return "Bradley-Terry by the new panel"
    return (
        f"Bradley-Terry by {'the scores on file' if report['of_files'] else 'the first'} and by the new panel"
    )


def _score_notes(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{report['judged']} of {counted(report['issued'], 'question')} scored again, {report['decided']} "
        f"of them with enough scores; {counted(report['compared'], 'answer has', 'answers have')} both, "
        "which average 5 on each side"
    )
    if report["agreement"] is not None:
        yield f"Pearson's r of the answers' two means: {report['agreement']:.2f}"


def _panel_notes(report: Mapping[str, Any]) -> Iterator[str]:
    judged, before = "judged again", "were decided by both panels"
    if report["of_files"]:
        judged, before = "judged", "have scores on file"
    yield (
        f"{report['judged']} of {counted(report['issued'], 'match')} {judged}, {report['decided']} of them "
        f"decided; {report['compared']} {before}"
    )
    if any(row["after_lower"] is None for row in report["players"]):
        yield (
            "no interval: pairs on one question hang together, and of fewer than ten questions nothing "
            "can be claimed"
        )
    if report["compared"]:
        yield (
            f"{report['changed']} of those ({percent(report['changed'] / report['compared'])}) came out "
            f"otherwise, {report['reversed']} with the other winner"
        )
    if report["agreement"] is not None:
        bounds = ""
        if report["agreement_lower"] is not None:
            bounds = f" (95%: {report['agreement_lower']:.2f} to {report['agreement_upper']:.2f})"
        whose = "panel's verdicts and the scores" if report["of_files"] else "two panels' verdicts"
        yield f"Krippendorff's α of the {whose}: {report['agreement']:.2f}{bounds}"


def _moved(places: int | None) -> str:
    return DASH if places is None else f"{places:+d}" if places else "0"
