"""How the judges agree, flip and favour, as tables."""

from __future__ import annotations

from peerage.blocks import Rows, explained, numbers, texts
from peerage.figures import hundredths, measured, percent, signed, whole
from peerage.tables.judge_rows import JudgesReport


def parts(report: JudgesReport, *, every_pair: bool = False) -> list[Rows]:
    """Return the tables on judges, each under the name of its field. Of pairs of judge and author that were
    tested those found, unless `every_pair` is wanted."""
    return [
        Rows(
            report.people or (),
            [
                *texts(who="Who"),
                *numbers(whole, duels="Duels"),
                *numbers(percent, agreement="Agreement", agreement_lower="from ~1", agreement_upper="to ~1"),
                *numbers(hundredths, kappa="κ", kappa_lower="from ~2", kappa_upper="to ~2"),
            ],
            title="Judges and people: equal verdicts on the same duels, with 95% bounds",
            name="people",
        ),
        Rows(
            report.measures,
            [
                *texts(lambda name: name.replace("_", " "), measure="Measure"),
                *numbers(measured, value="Value"),
                *numbers(hundredths, lower="from ~1", upper="to ~1"),
                *numbers(whole, units="Over ~2"),
                *texts(about="What it is"),
            ],
            title="Judges together",
            name="measures",
        ),
        _one_by_one(report),
        Rows(
            [row for row in report.favours if row.found or every_pair],
            [
                *texts(judge="Judge", author="Author"),
                *numbers(signed, excess="Favour"),
                *numbers(whole, marks="Marks ~1"),
                *numbers("{:.4f}".format, q="q"),
            ],
            title="Favours: who prefers whom more, or less, than quality explains",
            name="favours",
        ),
        Rows(
            report.challenges,
            [
                *texts(kind="By", name="Name"),
                *numbers(whole, matches="Matches"),
                *numbers(percent, ties="Ties", unanimous="Unanimous ~2"),
                *numbers(hundredths, tell="Tell apart", tell_lower="from ~1", tell_upper="to ~1"),
            ],
            title="Challenges: what judges could tell apart, 1 as a rule",
            name="challenges",
        ),
    ]


def _one_by_one(report: JudgesReport) -> Rows:
    columns = [
        *texts(judge="Judge"),
        *numbers(whole, marks="Marks ~2"),
        *numbers(hundredths, mean="Mean ~12"),
        *numbers(whole, known="Known", known_right="Right", known_tied="Tied"),
        *numbers(percent, known_share="Right of known", known_share_lower="from ~10"),
        *numbers(percent, known_share_upper="to ~10"),
        *numbers(percent, agreement="Agreement ~4", flip_share="Flips", first_share="Prefers the first ~5"),
        *numbers(signed, self_preference="Prefers itself ~6", kin_preference="Prefers its family"),
        *numbers(signed, kin_preference_lower="from ~7", kin_preference_upper="to ~7"),
        *numbers(signed, length_lean="Prefers length ~3", length_lean_lower="from ~8"),
        *numbers(signed, length_lean_upper="to ~8"),
        *numbers(hundredths, reliability="Reliability", reliability_lower="from ~9"),
        *numbers(hundredths, reliability_upper="to ~9"),
    ]
    points = "how many points more than the other judges it gives"
    hints = explained(
        columns,
        marks="answers that it judged, two in a duel",
        known="its votes on two answers that a check tells apart",
        known_right="those for the right answer",
        known_share="a tie counts as half, a coin has 50%",
        flip_share="the share of its verdicts that changed with the order of the answers",
        first_share="how often it picks the answer shown first; a judge without bias has 50%",
        self_preference=f"{points} its own answers, 0 without bias",
        kin_preference=f"{points} answers by models of its own maker, 0 without bias",
        length_lean=f"{points} an answer twice as long, 0 without bias",
        reliability="1 for a judge of average discernment, 0 for one who tosses a coin",
    )
    return Rows(report.judges, hints, title="Judges one by one, with 95% bounds", name="judges")
