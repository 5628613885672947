"""Agreement, flips and favours of the judges, and what corrections of their votes would change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any

from msgspec.structs import replace

from peerage.game.blocks import Heading, Sentence
from peerage.render.blocks import Answer, Column, Fold, Rows, ViewBlock, bounded, explained, numbers, texts
from peerage.values.figures import hundredths, interval, measured, percent, points, signed, whole
from peerage.views.judges.rows import FavourRow, JudgesReport
from peerage.views.leaderboard.corrected import CorrectedRow

MANY = 12
"""Judges from so many on of whom a table by author opens on demand, where it holds nothing of note."""


def judges(
    report: JudgesReport, order: Sequence[str], changed: Sequence[CorrectedRow]
) -> Iterator[ViewBlock]:
    """Yield the whole report. `order` is that of players in tables, `changed` what corrections change."""
    yield Heading("Judges", 1)
    if report.remarks:
        yield Answer(report.remarks)
    if not report.judges:
        yield Sentence("No judge has voted yet, or this arena's games are decided without judges.")
        return
    for part in parts(report):
        if part.name == "favours":
            yield Heading("Favouritism", anchor="favouritism")
            yield Sentence(about_favours(report))
            if report.favours:
                plain = len(report.judges) > MANY and not part.rows
                by_author = favourites(report.favours, order)
                yield Fold("Who prefers whom", [by_author]) if plain else by_author
        elif part.rows:
            yield part
    if changed:
        yield Heading("What would change", anchor="corrected")
        about = "by the judges' votes or scores, as they are and corrected for position, own work, family"
        yield Sentence(f"The players {about}, harshness, favours and reliability.")
        yield corrected(changed)
        about = "corrects for style too: that reads the answers: length, headings, lists, bold"
        yield Sentence(f"`peerage leaderboard --correct style` {about}.", "quiet")


def parts(report: JudgesReport, *, every_pair: bool = False) -> list[Rows]:
    """Return the tables on judges, each under the name of its field. Of pairs of judge and author that were
    tested those found, unless `every_pair` is wanted."""
    return [
        Rows(
            report.people or (),
            [
                Column("who", "Who", link=lambda row: ("player", row.who) if row.kind == "judge" else None),
                *numbers(whole, duels="Duels"),
                *bounded(percent, 1, agreement="Agreement"),
                *bounded(hundredths, 2, kappa="κ"),
            ],
            notes=["κ: agreement beyond chance, 1 perfect; fewer than 20 duels are too few to tell"],
            title="Judges and people: equal verdicts on the same duels, with 95% bounds",
            name="people",
        ),
        Rows(
            report.measures,
            [
                *texts(lambda name: name.replace("_", " "), measure="Measure"),
                *bounded(measured, 1, "", value="Value"),
                *numbers(whole, units="Over ~2"),
                *texts(about="What it is"),
            ],
            title="Judges together",
            name="measures",
        ),
        one_by_one(report),
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
                *bounded(hundredths, 1, tell="Tell apart"),
            ],
            title="Challenges: what judges could tell apart, 1 as a rule",
            name="challenges",
        ),
    ]


def one_by_one(report: JudgesReport) -> Rows:
    """Return the table of judges."""
    rows = report.judges
    counts = numbers(whole, known="Known", known_right="Right", known_tied="Tied")
    known = [replace(column, page=False) for column in counts]
    known += bounded(percent, 10, known_share="Prefers the right")
    columns = [
        Column("judge", "Judge", link=lambda row: ("player", row.judge)),
        *numbers(whole, marks="Marks ~2"),
        *(numbers(hundredths, mean="Mean ~12") if any(row.mean not in (None, 0.5) for row in rows) else ()),
        *(known if any(row.known for row in rows) else ()),
        *numbers(percent, agreement="Agreement ~4"),
        *bounded(percent, flip_share="Flips", first_share="Prefers the first ~5"),
        *bounded(signed, self_preference="Prefers itself ~6"),
        *bounded(signed, 7, kin_preference="Prefers its family"),
        *bounded(signed, 8, length_lean="Prefers length ~3"),
        *bounded(hundredths, 9, reliability="Reliability"),
    ]
    more = "how many points more than the other judges it gives"
    hints = explained(
        [column for column in columns if any(column.of(row) is not None for row in rows)],
        marks="answers that it judged, two in a duel",
        known="its votes on two answers that a check tells apart",
        known_right="those for the right answer",
        known_share="where a check tells the two answers apart; a tie counts as half, a coin has 50%",
        flip_share="the share of its verdicts that changed with the order of the answers",
        first_share="how often it picks the answer shown first; a judge without bias has 50%",
        self_preference=f"{more} its own answers, 0 without bias",
        kin_preference=f"{more} answers by models of its own maker, 0 without bias",
        length_lean=f"{more} an answer twice as long, 0 without bias",
        reliability="1 for a judge of average discernment, 0 for one who tosses a coin",
    )
    return Rows(rows, hints, title="Judges one by one, with 95% bounds", name="judges")


def about_favours(report: JudgesReport, level: float = 0.05) -> str:
    """Return what the test of favours says of all pairs of judge and author; `level` is the one it was made
    at."""
    if not report.judges:
        return "No judge has voted yet."
    pairs = len(report.favours)
    if not pairs:
        return "Too few marks to tell whether a judge favours an author."
    beyond = sum(pair.found for pair in report.favours)
    return (
        f"{pairs} pairs of judge and author tested, {beyond} beyond chance and taste; the chance that any "
        f"is false is {percent(level)} at most, for tastes as in docs/judging-figures.md."
    )


def favourites(pairs: Sequence[FavourRow], order: Sequence[str]) -> Rows:
    """Return which judge prefers which author by how much, those first in `order` first."""
    at = {(pair.judge, pair.author): pair for pair in pairs}

    def sort(names: Iterable[str]) -> list[str]:
        return sorted({*names}, key=lambda name: (order.index(name) if name in order else len(order), name))

    def by(place: int, author: str) -> Column:
        def of(write: Callable[[FavourRow], Any]) -> Callable[[str], Any]:
            return lambda judge: write(at[judge, author]) if (judge, author) in at else None

        return Column(
            str(place),
            author,
            number=True,
            value=of(lambda pair: points(100 * pair.excess)),
            order=of(lambda pair: round(pair.excess, 5)),
            shade=of(lambda pair: float(pair.excess > 0) if pair.found else None),
            tip=of(lambda pair: f"{whole(pair.marks)} marks, p {pair.p:.3f}, q {pair.q:.3f}"),
        )

    first = Column("judge", "Judge", value=str, link=lambda judge: ("player", judge))
    columns = [first, *starmap(by, enumerate(sort([pair.author for pair in pairs])))]
    note = (
        "By how much more (+) or less (-) often than expected, in percent of the comparisons, a judge "
        "prefers an author's answers. Without a colour: no more than chance explains. With one: beyond "
        "it, tested over all pairs together; that may be taste too."
    )
    return Rows(sort([pair.judge for pair in pairs]), columns, notes=[note], name="favouritism")


def corrected(rows: Sequence[CorrectedRow], title: str = "") -> Rows:
    """Return what corrections would change."""
    columns = [
        *numbers(str, corrected_rank="Rank"),
        Column("player", "Player", link=lambda row: ("player", row.player)),
        *numbers(whole, rating="Rating"),
        *bounded(whole, ends="", corrected="Corrected"),
        Column("interval", "95%", number=True, page=False, value=_interval),
        *numbers(points, difference="Difference ~2"),
        *numbers(str, rank="Rank before ~1"),
    ]
    return Rows(rows, columns, title=title, notes=rows[0].notes if rows else (), name="corrected")


def _interval(row: CorrectedRow) -> str | None:
    return interval(row.lower, row.upper, whole)
