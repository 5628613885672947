"""`peerage judges`: how the judges of an arena agree, and what they favour."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from peerage.cli.options import HERE, Folder, Format, Shape
from peerage.cli.output import Column, hundredths, percent, show_parts, signed, whole

Part = Literal["measures", "judges", "favours"]
"""Which table."""


def judges(
    folder: Folder = HERE,
    of: Annotated[
        Part | None, typer.Option("--of", help="One table alone (CSV: judges, if not said).")
    ] = None,
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Share of the favours found that may be false.")
    ] = 0.05,
    shape: Shape = Format.table,
) -> None:
    """Show how judges agree and what they favour.

    JSON holds all tables as one object, or with --of as the list of one; `favours` then lists every judge and
    author tested, found or not.
    """
    from peerage.arena import open_arena
    from peerage.tables.judges import judges as counted

    with open_arena(folder, create=False) as arena:
        found = counted(arena.ledger, arena.settings, level).as_dict()
    people = shape in (Format.table, Format.markdown)
    beyond = [row for row in found["favours"] if row["found"] or not people]
    show_parts(found | {"favours": beyond}, _HEADINGS, _COLUMNS, of, shape, "judges")
    if of is None and people:
        typer.echo(_favour_note(found, level))


def _favour_note(found: dict[str, Any], level: float) -> str:
    if not found["judges"]:
        return "no judge has voted yet"
    tested = len(found["favours"])
    if not tested:
        return "too few marks to tell whether a judge favours an author"
    beyond = sum(row["found"] for row in found["favours"])
    return (
        f"{tested} pairs of judge and author tested, {beyond} beyond chance; of those found some "
        f"{percent(level)} may be false. Favour may be taste: see docs/judging.md"
    )


_HEADINGS = {
    "measures": "Judges together",
    "judges": "Judges one by one, with 95% bounds",
    "favours": "Favours: who gives whom more than quality explains",
}


_COLUMNS = {
    "measures": [
        Column("measure", "Measure"),
        Column("value", ">Value", hundredths),
        Column("lower", ">from", hundredths, 3),
        Column("upper", ">to", hundredths, 3),
        Column("units", ">Over", whole, 2),
        Column("about", "What it is", str, 1),
    ],
    "judges": [
        Column("judge", "Judge"),
        Column("marks", ">Marks", whole, 2),
        Column("mean", ">Mean", hundredths, 12),
        Column("agreement", ">Agreement", percent, 4),
        Column("flip_share", ">Flips", percent),
        Column("first_share", ">For the first", percent, 5),
        Column("self_preference", ">For itself", signed, 6),
        Column("kin_preference", ">For family", signed),
        Column("kin_preference_lower", ">from", signed, 7),
        Column("kin_preference_upper", ">to", signed, 7),
        Column("length_lean", ">Length bias", signed, 3),
        Column("length_lean_lower", ">from", signed, 8),
        Column("length_lean_upper", ">to", signed, 8),
        Column("reliability", ">Reliability", hundredths),
        Column("reliability_lower", ">from", hundredths, 9),
        Column("reliability_upper", ">to", hundredths, 9),
    ],
    "favours": [
        Column("judge", "Judge"),
        Column("author", "favours"),
        Column("excess", ">by", signed),
        Column("marks", ">Marks", whole, 1),
        Column("q", ">q", "{:.4f}".format),
    ],
}
