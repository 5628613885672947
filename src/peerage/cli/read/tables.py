"""`peerage stats` and `match`: what players did, and a match as it was played."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.cli.read.leaderboard import Game, Topic, explained_scope
from peerage.cli.shared.options import (
    HERE,
    MOST_MATCHES,
    Folder,
    Shape,
    TableFormat,
    arena_in,
    at,
    program,
    prose,
    short_names,
)
from peerage.cli.shared.output import show_blocks, show_json, show_parts, show_table
from peerage.cli.shared.streams import exact
from peerage.render.blocks import Conclusion, Rows
from peerage.render.data import plain

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.reading.scope import Scope

Telling = Literal["text", "json", "markdown"]
Notable = Literal["upset", "split", "flipped", "tied", "undecided"]
Part = Literal[
    "players",
    "judges",
    "people",
    "measures",
    "favours",
    "challenges",
    "authors",
    "outside",
    "probes",
    "unfinished",
    "hosted",
    "costs",
    "kinds",
    "tasks",
]
OF_JUDGES = ("judges", "people", "measures", "favours", "challenges")
"""The values of `--of` for the report on judges, and for one table of it."""


def stats(
    folder: Folder = HERE,
    of: Annotated[
        Part | None, typer.Option("--of", help="One table alone, or what is known of judges (CSV: players).")
    ] = None,
    game: Game = "",
    topic: Topic = "",
    level: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Chance that any of the favours found is false.")
    ] = 0.05,
    shape: Shape = TableFormat.table,
) -> None:
    """Show what players, judges and authors did.

    `--of judges` shows how judges agree, flip and favour, in sentences and all its tables; `people`,
    `measures`, `favours` and `challenges` are tables of it, over all games and topics. `--of tasks` shows
    each player on each of your own tasks, the hardest first.

    JSON holds everything as one object, and so does `--of judges`; of any other table it is the list.
    `favours` then lists every judge and author tested, found or not.
    """
    from peerage.reading.scope import Scope

    if of in OF_JUDGES and (game or topic):
        raise typer.BadParameter(f"--of {of} is about all games and topics: leave --game and --topic out")
    with arena_in(folder) as arena, explained_scope():
        if of in OF_JUDGES:
            _show_judges(arena, shape, of, level)
        elif of == "tasks":
            _show_tasks(arena, shape, Scope(game, topic))
        else:
            show_stats(arena, shape, of, Scope(game, topic))


def _show_judges(arena: Arena, shape: TableFormat, of: Part | None, level: float) -> None:
    """Write what is known of judges, or one table of it."""
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.views.judges.favours import summary
    from peerage.views.judges.report import judges, parts
    from peerage.views.judges.report import summary as summary_of

    report = judges(arena.reading, level, PeopleVotes(arena.ledger.address, arena.folder))
    of = None if of == "judges" else of
    if report.judges and of is None and shape.for_people:
        show_blocks(summary_of(report), Rows((), ()), shape)
    if report.remarks and of is None and shape.for_people:
        for remark in report.remarks:
            prose(remark)
        if any(remark.endswith("Exclude it?") for remark in report.remarks):
            command = f"{program()} leaderboard{at(arena.folder)} --without-judge NAME"
            prose(f"`{command}` shows the table without a judge")
        typer.echo()
    if of != "favours" or not shape.for_people or any(pair.found for pair in report.favours):
        show_parts(report, parts(report, every_pair=not shape.for_people), of, shape, "judges")
    if of in (None, "favours") and shape.for_people:
        prose(summary(report.favours, judges=bool(report.judges), level=level))


def _show_tasks(arena: Arena, shape: TableFormat, scope: Scope) -> None:
    from peerage.views.stats.tasks import table, task_rows

    rows = task_rows(arena.reading.within(scope).credits)
    if shape is TableFormat.json:
        show_json(plain(rows))
    elif not rows and shape.for_people:
        sys.stdout.write("No match about a task of your own has a result yet.\n")
    else:
        show_table(table(rows), shape)


def show_stats(
    arena: Arena, shape: TableFormat = TableFormat.table, of: Part | None = None, scope: Scope | None = None
) -> None:
    """Write the statistics to standard output."""
    from peerage.reading.scope import EVERYTHING
    from peerage.views.stats.report import parts, remarks, summary
    from peerage.views.stats.report import stats as counted

    report = counted(arena.reading, scope or EVERYTHING)
    if of is None and shape.for_people:
        show_blocks([Conclusion(summary(report))], Rows((), ()), shape)
        typer.echo()
    show_parts(report, parts(report), of, shape, "players")
    for line in remarks(report) if of in (None, "players") and shape.for_people else ():
        prose(line)
    if report.judges and of is None and shape.for_people:
        command = f"{program()} stats{at(arena.folder)} --of judges"
        prose(f"`{command}` shows how judges agree and what they favour")


def _list_matches(folder: Path, wanted: tuple[str, str, str, str], shape: Telling) -> None:
    """Write the newest matches that a filter lets pass."""
    from peerage.reading.moment import public
    from peerage.reading.reading import Reading
    from peerage.values.clock import now_ms
    from peerage.views.leaderboard.board import board
    from peerage.views.match.finder import LISTED, MatchFilter, find, headline, outcome, table

    with arena_in(folder) as arena:
        reading, words = Reading(arena.settings, public(arena.ledger)), MatchFilter(*wanted)
        rows, chances = [*reading.moment.summaries()], board(reading).chances
        matches = find(reading, rows, chances, words, LISTED)
        head = headline(rows, chances)
    lines = table(matches.lines, now_ms())
    shown = TableFormat.table if shape == "text" else TableFormat(shape)
    show_blocks([Conclusion([head, outcome(matches, words)]), *[lines] * bool(matches.lines)], lines, shown)


def match(
    number: Annotated[
        int | None,
        typer.Argument(min=1, max=MOST_MATCHES, help="The number of the match.", show_default="list matches"),
    ] = None,
    folder: Folder = HERE,
    search: Annotated[
        str, typer.Option(metavar="WORDS", help="List matches with these words in prompts, answers or names.")
    ] = "",
    only: Annotated[Notable | None, typer.Option(help="List matches notable for this.")] = None,
    game: Annotated[str, typer.Option(help="List matches of this game.")] = "",
    topic: Annotated[str, typer.Option(help="List matches on this topic.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Every request too, word for word.")] = False,
    seat: Annotated[
        str, typer.Option("--as", metavar="SEAT", help="What this seat could see: its letter, or its player.")
    ] = "",
    shape: Annotated[Telling, typer.Option("--format", help="How to write it.")] = "text",
) -> None:
    """Read a match as it was played, or list matches.

    A match has its question, answers, verdicts and result. The list has the newest first, and takes --search,
    --only, --game and --topic; words in quotes stand together.

    Where a game hides things, everything is shown with who could see it; --as leaves out what one seat could
    not see, or shows what it was sent, word for word, where the game marks nothing.
    """
    from peerage.views.match.match import as_seen, match_view, transcript

    wanted = (search, game, topic, only or "")
    if number is None:
        if full or seat:
            raise typer.BadParameter("--full and --as show one match: name its number")
        _list_matches(folder, wanted, shape)
        return
    if any(wanted):
        raise typer.BadParameter("--search, --only, --game and --topic list matches: leave the number out")
    with arena_in(folder) as arena:
        view = match_view(arena.ledger, number)
        if seat:
            view = as_seen(view, short_names().whole(seat))
            full = full or not view.blocks
        unit = arena.reading.rating.cost_unit.name
    if shape == "json":
        show_json(view.as_dict())
        return
    if shape == "markdown":
        from peerage.render.markdown import markdown

        exact(sys.stdout).write(markdown([transcript(view, unit, requests=full)]))
        return
    from peerage.render.terminal import write

    write([transcript(view, unit, cut=not full, requests=full)], sys.stdout, names=short_names())
    if not full:
        sys.stdout.write("\n`--full` shows texts whole, and each request word for word.\n")
