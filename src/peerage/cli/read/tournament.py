"""`peerage tournament`: tournaments of Humanity's Last Arena in full, over time, and before an audience."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from peerage.cli.shared.options import (
    HERE,
    MOST_MATCHES,
    CommandRefused,
    Folder,
    Force,
    Shape,
    TableFormat,
    arena_in,
    drawing,
    group,
    say,
)
from peerage.cli.shared.output import show_parts, show_table
from peerage.values.clock import now_ms
from peerage.values.figures import counted

app = group("Tournaments of the last arena: results, progress, audience.")

Number = Annotated[
    int | None,
    typer.Argument(min=1, max=MOST_MATCHES, help="The tournament's number; if not said, the last."),
]


Part = Literal["ranking", "matrix", "sorts", "scaling", "reasons"]


@app.command()
def show(
    number: Number = None,
    folder: Folder = HERE,
    of: Annotated[
        Part | None, typer.Option("--of", help="One table alone (CSV: ranking, if not said).")
    ] = None,
    shape: Shape = TableFormat.table,
) -> None:
    """Show one tournament: ranking with errors, who favours whom.

    The matrix has what each judge gave each author, and its favour: what it gave above the other judges of
    the same answers, its strictness set aside. Tables of questions by sort, of token limits and of reasons
    follow where the rules asked for them. JSON holds all as one object.
    """
    from peerage.views.judges.report import judges
    from peerage.views.tournament import parts, tournament

    with arena_in(folder) as arena:
        view = tournament(arena.ledger, number)
        tested = of in (None, "matrix") and shape.for_people and view.matrix
        tables = parts(view, judges(arena.reading) if tested else None)
    show_parts(view, tables, of, shape, "ranking")


@app.command()
def progress(folder: Folder = HERE, shape: Shape = TableFormat.table) -> None:
    """Show how players did over all tournaments: better or not, steady or not."""
    from peerage.views.tournament import progress as courses
    from peerage.views.tournament import progress_table

    with arena_in(folder) as arena:
        show_table(progress_table(courses(arena.ledger)), shape)


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
        view = tournament(arena.ledger, number)
    if not view.scaling:
        raise CommandRefused(
            f"tournament {view.number} was played under one token limit; set `answer_budgets` for several"
        )
    with drawing():  # the library is imported when it draws
        from peerage.render.charts.planes import picture, scaling

        drawn = picture(scaling(view.as_dict()["scaling"]), "Scores under several token limits")
    write(file, drawn.replace("<svg ", PLOT.mark.decode(), 1), PLOT, kept, force=force)
    typer.echo(f"{file}: scores under {len({row.max_tokens for row in view.scaling})} token limits")


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
    from peerage.reading.tournaments import answers, find
    from peerage.values.outputs import SCORING_PAGE, arena_files, write

    with drawing():
        from peerage.site.people.score_page import page as made
        from peerage.site.people.score_page import sample as drawn

    with arena_in(folder) as arena:
        kept = arena_files(folder, arena.ledger.address)
        match = find(arena.ledger, number)
        exhibits = drawn(match, answers(arena.ledger, match), sample)
        title = f"{arena.settings.name}: tournament {match.number}"
    if not exhibits:
        raise CommandRefused(f"tournament {match.number} has no answers that could be shown")
    write(file, made(match, exhibits, title), SCORING_PAGE, kept, force=force)
    shown = counted(sum(len(exhibit.answers) for exhibit in exhibits), "answer")
    typer.echo(f"{file}: {shown} to {counted(len(exhibits), 'question')}")


@app.command()
def votes(
    files: Annotated[list[Path], typer.Argument(help="Files that people saved.")], folder: Folder = HERE
) -> None:
    """Enter points that people outside gave; peer scores stay as they are."""
    from peerage.ledger.topics.public import enter
    from peerage.reading.tournaments import opinion as read

    with arena_in(folder) as arena:
        opinions = [(file, read(arena.ledger, file)) for file in files]
        with arena.ledger.runner():
            for file, opinion in opinions:
                new = enter(arena.ledger, opinion, now_ms())
                what = counted(len(opinion.scores), "score") if new else "entered before, nothing done"
                say(f"{file}: {what}")
