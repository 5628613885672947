"""`peerage tournament`: tournaments of Humanity's Last Arena in full, over time, and before an audience."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from peerage.cli.shared import output
from peerage.cli.shared.options import (
    HERE,
    MOST_MATCHES,
    Folder,
    Force,
    Format,
    Shape,
    arena_in,
    drawing,
    group,
    say,
)
from peerage.render.blocks import Column, numbers, texts
from peerage.values.clock import now_ms
from peerage.values.figures import counted, hundredths, percent, signed, whole

app = group("Tournaments of the last arena: results, progress, audience.")

Number = Annotated[
    int | None,
    typer.Argument(min=1, max=MOST_MATCHES, help="The tournament's number; if not said, the last."),
]


class NothingToDraw(Exception):
    """A tournament lacks what was to be drawn; the message says what would be needed."""


Part = Literal["ranking", "matrix", "sorts", "scaling", "reasons"]


@app.command()
def show(
    number: Number = None,
    folder: Folder = HERE,
    of: Annotated[
        Part | None, typer.Option("--of", help="One table alone (CSV: ranking, if not said).")
    ] = None,
    shape: Shape = Format.table,
) -> None:
    """Show one tournament: ranking with errors, who favours whom.

    The matrix has what each judge gave each author, and its favour: what it gave above the other judges of
    the same answers, its strictness set aside. Tables of questions by sort, of token limits and of reasons
    follow where the rules asked for them. JSON holds all as one object.
    """
    from peerage.views.tournament import tournament

    with arena_in(folder) as arena:
        found = tournament(arena.ledger, number).as_dict()
        tests = None
        if of in (None, "matrix") and shape.for_people and found["matrix"]:
            from peerage.views.judges.report import judges

            tests = judges(arena.reading)
    if shape is Format.json and of is None:
        output.show_json(found)
        return
    if shape is Format.csv and of is None:
        of = "ranking"
    for part, (heading, columns) in _PARTS.items():
        rows = found[part]
        one_sort = of is None and part == "sorts" and len({row["sort"] for row in rows}) < 2
        if of not in (None, part) or one_sort:
            continue
        notes = _notes(part, found)
        if part == "matrix" and tests is not None:
            from peerage.views.judges.favours import summary

            beyond = {(pair.judge, pair.author) for pair in tests.favours if pair.found}
            rows, columns = _grid(found, beyond)
            notes += [f"* {_BEYOND}"] * bool(beyond) + [summary(tests.favours, judges=bool(tests.judges))]
        if rows or of == part:
            title = f"Tournament {found['number']}: {heading}"
            output.show(rows, columns, shape, title=title, notes=notes)


_BEYOND = "beyond chance by the judges' test, over all matches on record"


def _grid(
    found: dict[str, Any], beyond: Collection[tuple[str, str]]
) -> tuple[list[dict[str, Any]], list[Column]]:
    """The matrix as people read it: a line for each judge, a column for each author; a star for what the
    judges' test finds `beyond` chance."""
    players = [row["player"] for row in found["ranking"]]
    cells = {
        (cell["judge"], cell["author"]): {**cell, "star": "*" * ((cell["judge"], cell["author"]) in beyond)}
        for cell in found["matrix"]
    }
    rows = [
        {"judge": judge} | {f"to {author}": cells.get((judge, author)) for author in players}
        for judge in players
    ]
    return rows, [
        *texts(judge="Judge"),
        *[Column(f"to {author}", f"to {author}", _mean_and_favour, number=True) for author in players],
    ]


def _mean_and_favour(cell: dict[str, Any]) -> str:
    favour = "" if cell["favour"] is None else f" {round(cell['favour'], 1) + 0.0:+.1f}"
    return f"{cell['mean']:.1f}{favour}{cell['star']}"


def _notes(part: Part, found: dict[str, Any]) -> list[str]:
    if part == "matrix":
        return ["the mean of what a judge gave, and how much more it favours an author than others do"]
    if part != "ranking":
        return []
    notes = [] if found["status"] == "done" else [f"{found['status']}: nobody is rated"]
    if any(row["public_scores"] for row in found["ranking"]):
        notes.append("public: people outside, each of them brought to an average of 5; peer scores stay")
    return notes


_PARTS: Mapping[Part, tuple[str, Sequence[Column]]] = {
    "ranking": (
        "each judge gives 5 on average; ranks by whom a player beats beyond error",
        [
            *numbers(whole, rank="Rank"),
            *texts(player="Player"),
            *numbers(whole, ahead="Beats ~1"),
            *numbers(hundredths, score="Score", se="±", raw="As given ~1", public="Public ~2"),
            *numbers(whole, public_scores="of ~3", written="Questions ~4", duplicates="Dropped ~6"),
            *numbers(percent, diversity="Diversity ~5"),
        ],
    ),
    "matrix": (
        "who gave whom how much",
        [
            *texts(judge="Judge", author="gave"),
            *numbers(hundredths, mean="Mean"),
            *numbers(whole, grades="Grades ~1"),
            *numbers(signed, favour="Favour"),
        ],
    ),
    "sorts": (
        "by sort of question",
        [
            *texts(player="Player", sort="Sort"),
            *numbers(hundredths, score="Score", se="±"),
            *numbers(whole, answers="Answers ~1"),
        ],
    ),
    "scaling": (
        "what more tokens are worth",
        [
            *texts(player="Player"),
            *numbers(whole, max_tokens="At most", output_tokens="Used"),
            *numbers(hundredths, score="Score", se="±"),
            *numbers(whole, answers="Answers ~1"),
        ],
    ),
    "reasons": (
        "reasons for 0 and 10",
        [
            *texts(judge="Judge"),
            *numbers(whole, zeros="Zeros", tens="Tens"),
            *texts(", ".join, words="Its words"),
        ],
    ),
}


@app.command()
def progress(folder: Folder = HERE, shape: Shape = Format.table) -> None:
    """Show how players did over all tournaments: better or not, steady or not."""
    from peerage.views.tournament import progress as courses

    with arena_in(folder) as arena:
        rows = [row.as_dict() for row in courses(arena.ledger)]
    columns = [
        *texts(player="Player"),
        *numbers(whole, tournaments="Tournaments"),
        *numbers(hundredths, score="Mean score", sd="Spread", first="First ~1", last="Last ~1"),
        *numbers(signed, trend="Trend"),
        *numbers(hundredths, trend_se="±"),
    ]
    note = "scores are against who took part: an average opponent is worth 5; trend is per tournament"
    output.show(rows, columns, shape, title="Over all tournaments", notes=[note])


@app.command()
def plot(
    file: Annotated[Path, typer.Argument(help="The SVG file to write.")],
    number: Number = None,
    folder: Folder = HERE,
    force: Force = False,
) -> None:
    """Draw what more tokens are worth, as an SVG file."""
    from peerage.values.outputs import PLOT, arena_files, refuse, write
    from peerage.views.tournament import tournament

    with arena_in(folder) as arena:
        kept = arena_files(folder, arena.ledger.address)
        refuse(file, PLOT, kept, force=force)
        found = tournament(arena.ledger, number)
    if not found.scaling:
        raise NothingToDraw(
            f"tournament {found.number} was played under one token limit; set `answer_budgets` for several"
        )
    with drawing():  # the library is imported when it draws
        from peerage.render.charts.planes import picture, scaling

        drawn = picture(scaling(found.as_dict()["scaling"]), "Scores under several token limits")
    write(file, drawn.replace("<svg ", PLOT.mark.decode(), 1), PLOT, kept, force=force)
    typer.echo(f"{file}: scores under {len({row.max_tokens for row in found.scaling})} token limits")


@app.command()
def page(
    file: Annotated[Path, typer.Argument(help="The HTML file to write.")],
    number: Number = None,
    folder: Folder = HERE,
    sample: Annotated[
        int, typer.Option(min=1, max=MOST_MATCHES, help="So many answers, over as many questions as can be.")
    ] = 20,
    force: Force = False,
) -> None:
    """Write a page on which people score answers, blind.

    The file holds everything and sends nothing. A person who has scored saves a small file; `peerage
    tournament votes` enters it.
    """
    from peerage.values.outputs import SCORING_PAGE, arena_files, write
    from peerage.views.tournament import answers, find

    with drawing():
        from peerage.site.people.score_page import page as made
        from peerage.site.people.score_page import sample as drawn

    with arena_in(folder) as arena:
        kept = arena_files(folder, arena.ledger.address)
        match = find(arena.ledger, number)
        exhibits = drawn(match, answers(arena.ledger, match), sample)
        title = f"{arena.settings.name}: tournament {match.number}"
    if not exhibits:
        raise NothingToDraw(f"tournament {match.number} has no answers that could be shown")
    write(file, made(match, exhibits, title), SCORING_PAGE, kept, force=force)
    shown = counted(sum(len(one.answers) for one in exhibits), "answer")
    typer.echo(f"{file}: {shown} to {counted(len(exhibits), 'question')}")


@app.command()
def votes(
    files: Annotated[list[Path], typer.Argument(help="Files that people saved.")], folder: Folder = HERE
) -> None:
    """Enter points that people outside gave; peer scores stay as they are."""
    from peerage.ledger.topics.public import enter
    from peerage.views.tournament import opinion as read

    with arena_in(folder) as arena:
        found = [(file, read(arena.ledger, file)) for file in files]
        with arena.ledger.runner():
            for file, opinion in found:
                new = enter(arena.ledger, opinion, now_ms())
                what = counted(len(opinion.scores), "score") if new else "entered before, nothing done"
                say(f"{file}: {what}")
