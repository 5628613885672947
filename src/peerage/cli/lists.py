"""`peerage players`, `queue` and `judges`: who is there to play, which matches wait, how the judges agree."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.blocks import numbers, texts
from peerage.cli.options import (
    HERE,
    MOST_MATCHES,
    Folder,
    Format,
    Shape,
    arena_in,
    at,
    ledger_in,
    program,
    prose,
)
from peerage.cli.output import Titled, show, show_parts, titled
from peerage.clock import now_ms
from peerage.figures import counted, hundredths, measured, moment, percent, signed, whole

if TYPE_CHECKING:
    from peerage.tables.judge_rows import JudgesReport


def players(
    name: Annotated[
        str,
        typer.Argument(help="One of them: how strong it is in each game.", show_default="all"),
    ] = "",
    folder: Folder = HERE,
    shape: Shape = Format.table,
) -> None:
    """List players and prices, or show how strong one is, by game."""
    if name:
        from peerage.cli.leaderboard import told_scope
        from peerage.cli.strengths import show_profile

        with arena_in(folder) as arena, told_scope():
            show_profile(arena, name, shape)
        return
    from datetime import UTC, datetime

    from peerage.settings import load
    from peerage.settings.hours import closed_until, read_hours
    from peerage.tables import catalogue

    settings = load(folder, reading=True)
    rows = list(catalogue.players(settings, datetime.now(UTC).date()))
    columns = [
        *texts(player="Player", model="Model", family="Family ~2"),
        *numbers("{:g}".format, input_usd_per_million="$ in", output_usd_per_million="$ out"),
        *texts(pricing_source="Prices from ~1"),
    ]
    notes = [
        f"{player.name} is available {player.available}"
        + (f"; out of hours until {moment(until)}" if until else "")
        for player in settings.everyone
        if player.available
        for until in (closed_until(read_hours(player.available), now_ms()),)
    ]
    notes += _on_record(folder)
    if unknown := ", ".join(row.player for row in rows if not row.price_known):
        notes.insert(
            0,
            f"No price is known for {unknown}: their matches stay off the cost track, and a budget "
            "refuses them. `price: {input: …, output: …}` states one.",
        )
    notes.append("$ in, $ out: dollars per million tokens")
    show([row.as_dict() for row in rows], columns, shape, notes=notes)


def _on_record(folder: Path) -> list[str]:
    """Who of the arena's players is benched, and whose provider changed what answers; nobody before the first
    run."""
    from peerage.engine.model_watch import in_words
    from peerage.ledger import LedgerError, open_ledger
    from peerage.reading.reading import Reading
    from peerage.settings import load

    settings = load(folder, reading=True)
    try:
        ledger = open_ledger(settings.ledger, folder, create=False)
    except LedgerError:
        return []
    with closing(ledger):
        names = [player.name for player in settings.everyone]
        reading = Reading(settings, ledger)
        out, models = reading.benched, reading.models
    return [
        *[f"{name} is {out[name].in_words}" for name in names if name in out],
        *[f"{name}: {line}" for name in names for line in in_words(models, name)],
    ]


def queue(
    drop: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_MATCHES,
            metavar="MATCH",
            help="End this match without a result; what was asked stays on record.",
        ),
    ] = None,
    folder: Folder = HERE,
    shape: Shape = Format.table,
) -> None:
    """List the matches that wait, and for whom; or end one.

    A match waits while a player pauses for long or asks to be asked later; others go on meanwhile, and the
    next `peerage run` takes it up first.
    """
    from peerage.tables.queue import queue as rows

    with ledger_in(folder) as ledger:
        if drop is not None:
            from peerage.engine.dropping import BY_OWNER
            from peerage.engine.dropping import drop as end

            end(ledger, drop, now_ms())
            typer.echo(f"match {drop} ended without a result: {BY_OWNER}")
            return
        found = [row.as_dict() for row in rows(ledger)]
    if not found and shape is Format.table:
        typer.echo("no match waits")
        return
    columns = [
        *numbers(str, match="Match"),
        *texts(" and ".join, players="Between"),
        *texts(player="Waits for", why="Why ~1"),
        *texts(moment, since_ms="Since", until_ms="Until ~2"),
    ]
    show(found, columns, shape, title=counted(len(found), "match waits", "matches wait"))


def judges(
    folder: Folder = HERE,
    of: Annotated[
        Literal["people", "measures", "judges", "favours", "challenges"] | None,
        typer.Option("--of", help="One table alone (CSV: judges, if not said)."),
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Chance that any of the favours found is false.")
    ] = 0.05,
    shape: Shape = Format.table,
) -> None:
    """Show how judges agree and what they favour.

    JSON holds all tables as one object, or with --of as the list of one; `favours` then lists every judge and
    author tested, found or not.
    """
    from peerage.ledger.votes import PeopleVotes
    from peerage.tables.judges import judges as counted

    with arena_in(folder) as arena:
        people = PeopleVotes(arena.ledger.address, arena.folder)
        report = counted(arena.reading, level, people)
        found = report.as_dict()
    if found["remarks"] and of is None and shape.for_people:
        for remark in found["remarks"]:
            prose(remark)
        if any(remark.endswith("Exclude it?") for remark in found["remarks"]):
            prose(
                f"`{program()} leaderboard{at(folder)} --without-judge NAME` shows the table without a judge"
            )
        typer.echo()
    beyond = [row for row in found["favours"] if row["found"] or not shape.for_people]
    if beyond or of != "favours" or not shape.for_people:
        show_parts(found | {"favours": beyond}, _JUDGES, of, shape, "judges")
    if of in (None, "favours") and shape.for_people:
        prose(told_of_favours(report, level))


def told_of_favours(report: JudgesReport, level: float = 0.05) -> str:
    """What the test of favours says of all pairs of judge and author; `level` is the one it was made at."""
    if not report.judges:
        return "No judge has voted yet."
    tested = len(report.favours)
    if not tested:
        return "Too few marks to tell whether a judge favours an author."
    beyond = sum(pair.found for pair in report.favours)
    return (
        f"{tested} pairs of judge and author tested, {beyond} beyond chance and taste; the chance that any "
        f"is false is {percent(level)} at most, for tastes as in docs/judging-figures.md."
    )


_JUDGES: Mapping[str, Titled] = {
    "people": titled(
        "Judges and people: equal verdicts on the same duels, with 95% bounds",
        *texts(who="Who"),
        *numbers(whole, duels="Duels"),
        *numbers(percent, agreement="Agreement", agreement_lower="from ~1", agreement_upper="to ~1"),
        *numbers(hundredths, kappa="κ", kappa_lower="from ~2", kappa_upper="to ~2"),
    ),
    "measures": titled(
        "Judges together",
        *texts(lambda name: name.replace("_", " "), measure="Measure"),
        *numbers(measured, value="Value"),
        *numbers(hundredths, lower="from ~1", upper="to ~1"),
        *numbers(whole, units="Over ~2"),
        *texts(about="What it is"),
    ),
    "judges": titled(
        "Judges one by one, with 95% bounds",
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
        notes=(
            "Marks: answers that it judged, two in a duel.",
            "Known: its votes on two answers that a check tells apart; Right: those for the right answer; "
            "Right of known: a tie counts as half, a coin has 50%.",
            "Flips: the share of its verdicts that changed with the order of the answers.",
            "Prefers the first: how often it picks the answer shown first; a judge without bias has 50%.",
            "Prefers itself: how many points more than the other judges it gives its own answers, 0 without "
            "bias.",
            "Prefers its family: how many points more than the other judges it gives answers by models of "
            "its own maker, 0 without bias.",
            "Prefers length: how many points more than the other judges it gives an answer twice as long, 0 "
            "without bias.",
            "Reliability: 1 for a judge of average discernment, 0 for one who tosses a coin.",
        ),
    ),
    "favours": titled(
        "Favours: who prefers whom more, or less, than quality explains",
        *texts(judge="Judge", author="Author"),
        *numbers(signed, excess="Favour"),
        *numbers(whole, marks="Marks ~1"),
        *numbers("{:.4f}".format, q="q"),
    ),
    "challenges": titled(
        "Challenges: what judges could tell apart, 1 as a rule",
        *texts(kind="By", name="Name"),
        *numbers(whole, matches="Matches"),
        *numbers(percent, ties="Ties", unanimous="Unanimous ~2"),
        *numbers(hundredths, tell="Tell apart", tell_lower="from ~1", tell_upper="to ~1"),
    ),
}
