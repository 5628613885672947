"""`peerage verdict` and `compare`: what a table comes to, in words, and two players next to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from peerage.cli.read.leaderboard import OWN, Game, Source, Topic, Track, explained_scope
from peerage.cli.shared.options import HERE, Folder, Force, ReportFormat, Written, arena_in
from peerage.cli.shared.output import show_whole
from peerage.reading.scope import Scope

OfTable = Annotated[
    Track | None, typer.Option(help="By another table.", show_default="the game's, of several games overall")
]


def verdict(
    folder: Folder = HERE,
    track: OfTable = None,
    game: Game = "",
    topic: Topic = "",
    source: Source = "all",
    shape: Written = ReportFormat.text,
) -> None:
    """Say whom to pick, who may be as good, and what is proven.

    Of your own tasks also everybody's price, accuracy, wins and weakest category, what would change the pick,
    and telling matches. The same words head the leaderboard, its pages and the report.
    """
    from peerage.views.decision.decision import shown

    with arena_in(folder) as arena, explained_scope():
        decision = arena.verdict(track or "", game=game, topic=topic, source=source)
    show_whole(decision, shown(decision), shape)


Margin = Annotated[
    str | None,
    typer.Option(
        metavar="3%", help="A gate: may ONE be worse by no more than so much?", show_default="no gate"
    ),
]
EloMargin = Annotated[
    float | None,
    typer.Option(min=1, max=1000, help="A gate whose margin is in Elo points.", show_default="no gate"),
]
GateMeasure = Annotated[
    Literal["wins", "accuracy"] | None,
    typer.Option(
        help="What a gate compares.", show_default="accuracy where every answer is checked, else wins"
    ),
]
TheseTasks = Annotated[
    bool, typer.Option("--these-tasks", help="A gate about these tasks alone, not about tasks like these.")
]
ByTopic = Annotated[
    Literal["topic"] | None,
    typer.Option(help="A gate for each topic (category of tasks) too.", show_default="no"),
]
Junit = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the gate as JUnit XML.", show_default="no file")
]
Github = Annotated[
    bool, typer.Option("--github", help="Write the gate to the summary and annotations of a GitHub workflow.")
]


def compare(
    one: Annotated[str, typer.Argument(help="A player; of a gate the new one.")],
    other: Annotated[str, typer.Argument(help="Another one; of a gate the old one.")],
    folder: Folder = HERE,
    track: OfTable = None,
    game: Game = "",
    topic: Topic = "",
    source: Source = "all",
    not_worse_by: Margin = None,
    elo: EloMargin = None,
    of: GateMeasure = None,
    these_tasks: TheseTasks = False,
    by: ByTopic = None,
    junit: Junit = None,
    github: Github = False,
    force: Force = False,
    shape: Written = ReportFormat.text,
) -> None:
    """Compare two players, or hold one to the other by a gate.

    Shows records, chances, topics and prices of both.

    A gate (`--not-worse-by 3%`, `--elo 30`) exits with 0 where it is shown that ONE is not worse than OTHER
    by more, with 1 where it is proven that it is, with 3 where neither can be told yet, and says how many
    more tasks or matches that takes. It holds at every look, so look after every match if you like.
    """
    if not_worse_by is not None or elo is not None:
        from peerage.cli.read.gate import show_gate

        if track or source not in OWN:
            option = "--track" if track else "--source"
            raise typer.BadParameter(f"a gate counts matches, or checked answers: leave {option} out")
        show_gate(
            folder,
            (one, other),
            not_worse_by,
            elo=elo,
            of=of,
            game=game,
            topic=topic,
            these=these_tasks,
            by_topic=bool(by),
            junit=junit,
            github=github,
            force=force,
            shape=shape,
        )
        return
    options = {"--of": of, "--these-tasks": these_tasks, "--by": by, "--junit": junit}
    options |= {"--github": github, "--force": force}
    if stated := [name for name, value in options.items() if value]:
        raise typer.BadParameter(f"{stated[0]} is of a gate: add its margin, such as --not-worse-by 3%")
    _compare(folder, (one, other), track or "", Scope(game, topic, source=source), shape)


def _compare(folder: Path, names: tuple[str, str], track: str, scope: Scope, shape: ReportFormat) -> None:
    """Write two players next to each other to standard output."""
    from peerage.ledger.check.held import hold_replies
    from peerage.reading.speed import speeds_of
    from peerage.views.decision import compare as tables
    from peerage.views.decision.compare import compared
    from peerage.views.leaderboard.board import board

    with arena_in(folder) as arena, explained_scope():
        reading = arena.reading
        hold_replies(arena.ledger)
        table = board(reading, track, scope)
        player, other = (reading.meant(name, table.chances.players) for name in names)
        speeds = speeds_of(reading, scope, (player, other)) if scope.own else {}
        decided = reading.within(scope).decided if scope.own else []
        pair = tables.compare(table, decided, player, other, speeds)
        matches = [*tables.shared(reading, table, decided, player, other)]
    show_whole(pair, compared(table, pair, matches, texts=False), shape)
