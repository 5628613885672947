"""What another panel's verdicts, or scores, on recorded answers changed, as `peerage rejudge` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peerage.cli.options import Format, say
from peerage.cli.output import OutputColumn, hundredths, interval, numbers, show, show_json, texts
from peerage.figures import DASH, counted, percent, whole

if TYPE_CHECKING:
    from peerage.arena import Arena


def show_rejudged(arena: Arena, shape: Format, *, files: bool) -> bool:
    """Write what was found to standard output; `files` where the answers are not an arena's. False, and said,
    where all that was judged came to nothing."""
    from peerage.tables.rejudged import of_scores, rejudged, rescored

    scores = of_scores(arena.settings.game)
    found = (rescored if scores else rejudged)(arena.ledger).as_dict()
    ranked = bool(found["decided"] or not found["judged"])
    if not ranked:
        what = counted(
            found["judged"], "question" if scores else "match", "questions" if scores else "matches"
        )
        say(f"the new panel decided none of {what}, so there is nothing to rank", err=True)
    if shape is Format.json:
        show_json(found)
    if shape is Format.json or (shape.for_people and not ranked):
        return ranked
    columns = [
        *numbers(whole, rank_after=""),
        *texts(player="Player"),
        *numbers(whole, rank_before="Rank before"),
        OutputColumn("places", ">Moved", _moved),
    ]
    rows = found["players"]
    if scores:
        title = "scores by the first and by the new judges"
        columns += [
            *numbers(hundredths, score_before="Score before", se_before="± ~1"),
            *numbers(hundredths, score_after="after", se_after="± ~1"),
            *numbers(whole, answers="Answers ~2"),
        ]
        notes = [
            f"{found['judged']} of {counted(found['issued'], 'question')} scored again, {found['decided']} "
            f"of them with enough scores; {counted(found['answers'], 'answer has', 'answers have')} both, "
            "which average 5 on each side"
        ]
        if found["correlation"] is not None:
            notes.append(f"Pearson's r of the answers' two means: {found['correlation']:.2f}")
    else:
        title = (
            f"Bradley-Terry by {'the scores on file' if files else 'the first'} and by the new panel"
            if found["compared"]
            else "Bradley-Terry by the new panel"
        )
        columns += [
            *numbers(whole, rating_before="Rating before"),
            *numbers(str, interval_before="95% ~2"),
            *numbers(whole, rating_after="after"),
            *numbers(str, interval_after="95% ~1"),
            *numbers(whole, matches="Matches ~3"),
        ]
        if shape is not Format.csv:
            for row in rows:
                for when in ("before", "after"):
                    row[f"interval_{when}"] = interval(row[f"lower_{when}"], row[f"upper_{when}"], whole)
        judged, before = "judged again", "were decided by both panels"
        if files:
            judged, before = "judged", "have scores on file"
        notes = [
            f"{found['judged']} of {counted(found['issued'], 'match')} {judged}, {found['decided']} of them "
            f"decided; {found['compared']} {before}"
        ]
        if any(row["lower_after"] is None for row in rows):
            notes.append(
                "no interval: pairs on one question hang together, and of fewer than ten questions nothing "
                "can be claimed"
            )
        if found["compared"]:
            notes.append(
                f"{found['changed']} of those ({percent(found['changed'] / found['compared'])}) came out "
                f"otherwise, {found['reversed']} with the other winner"
            )
        if found["agreement"] is not None:
            bounds = ""
            if found["agreement_lower"] is not None:
                bounds = f" (95%: {found['agreement_lower']:.2f} to {found['agreement_upper']:.2f})"
            whose = "panel's verdicts and the scores" if files else "two panels' verdicts"
            notes.append(f"Krippendorff's α of the {whose}: {found['agreement']:.2f}{bounds}")
    if found["tau"] is not None:
        notes.append(f"Kendall's τ of the two rankings: {found['tau']:.2f}")
    show(rows, columns, shape, title=f"{arena.settings.name}: {title}", notes=notes)
    return ranked


def _moved(places: int | None) -> str:
    return DASH if places is None else f"{places:+d}" if places else "0"
