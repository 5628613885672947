"""`peerage rejudge`: another panel's verdicts, or scores, on recorded answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.data.rate import Score
from peerage.cli.shared.options import (
    HERE,
    Folder,
    Quiet,
    Shape,
    TableFormat,
    arena_in,
    command_in,
    most_matches,
    say,
)
from peerage.values.clock import now_ms
from peerage.values.figures import counted

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.engine.again.rejudge import Issued
    from peerage.games.rejudge import RecordedAnswers
    from peerage.settings import PlayerSettings

INTO = "rejudged"
"""The folder, in that of the arena, which holds the new arena if not told otherwise."""
FILES_INTO = "judged"
"""The same, for answers of files."""

AnswerFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE...",
        help="Files of recorded answers, such as Inspect's logs, in place of an arena's.",
        show_default="the arena's own",
    ),
]
Panel = Annotated[
    list[str] | None,
    typer.Option(
        help="A judge of the new panel: the name of a player of the arena, or a model. Repeat it. If not "
        "said, the players of a tournament score again."
    ),
]
NewFolder = Annotated[
    Path | None, typer.Option(help="Folder of the new arena.", show_default="rejudged; of files, judged")
]
SoMany = Annotated[
    int | None, most_matches("Judge so many matches again (or questions), drawn at random; if not said, all.")
]


def rejudge(
    files: AnswerFiles = None,
    judges: Panel = None,
    folder: Folder = HERE,
    to: NewFolder = None,
    max_matches: SoMany = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Dollars at most, over all runs.")] = None,
    score: Score = "",
    report: Annotated[bool, typer.Option("--report", help="Show what was found and ask nobody.")] = False,
    yes: Quiet = False,
    shape: Shape = TableFormat.table,
) -> None:
    """Ask a new panel about recorded answers; how far ranks move.

    Answers of duels are compared again, those of tournaments scored again. Of FILES (logs of Inspect, or rows
    with player, challenge, question, answer) every two players' answers to one question are compared: name
    the logs of all models at once. Only judges are asked, and only they cost. The verdicts make an arena of
    their own, which verify, replay, match, stats and export read like any other; no rating of the first
    arena moves. The same command goes on where it stopped.
    """
    from contextlib import nullcontext

    from peerage.arena import Arena
    from peerage.cli.play.run import equipped
    from peerage.cli.read.leaderboard import show_rejudged
    from peerage.engine.again.panel import settings_of_panel
    from peerage.ledger import open_ledger
    from peerage.settings import FILE_NAME, load, loads
    from peerage.values.outputs import SETTINGS, write

    if score and not files:
        raise typer.BadParameter("--score names a column of answers in files: name those files too")
    target, code = to or folder / (FILES_INTO if files else INTO), 0
    pairs = _pairs(files, score) if files and not report else ()
    with nullcontext() if files else arena_in(folder) as source:
        if source is not None:
            asked = source.settings
        elif (folder / FILE_NAME).exists():
            asked = load(folder, reading=True)
        else:
            asked = loads("{name: recorded answers, players: []}", "")
        settings, text = settings_of_panel(asked, target, judges or (), report, bool(files))
        if not report:
            equipped(settings, folder)
        if pairs and (house := [judge.name for judge in settings.players if judge.provider == "house"]):
            say(f"{', '.join(house)}: house players cannot read, so they judge at random", err=True)
        if text:
            target.mkdir(parents=True, exist_ok=True)
            write(target / FILE_NAME, text, SETTINGS)
        if budget is not None:
            from peerage.settings import with_option

            limited = with_option(settings.budget, "arena", budget, "--budget")
            settings = settings.model_copy(update={"budget": limited})
        # Keys and relative paths of players are those of the arena that is judged again.
        with Arena(folder, settings, open_ledger(settings.ledger, target, create=not report)) as arena:
            if not report:
                code = _judge(arena, _issue(source, pairs, arena, max_matches), target, yes, shape)
            ranked = show_rejudged(arena, shape)
    raise typer.Exit(code or (0 if ranked else 1))


def _issue(source: Arena | None, pairs: Sequence[RecordedAnswers], arena: Arena, limit: int | None) -> Issued:
    """Write down what is to be judged, of an arena or else of files."""
    from peerage.engine.again.rejudge import authors_in, issue, recorded_answers
    from peerage.games.rejudge.files import same_model
    from peerage.ledger.topics.secret import arena_secret
    from peerage.settings import rules_of

    def named_alike(judge: PlayerSettings, author: str) -> bool:
        return judge.name == author or same_model(judge.public_model, author)

    settings, rules = arena.settings, rules_of(arena.settings)
    with arena.ledger.runner():
        return issue(
            recorded_answers(source.ledger, rules) if source else pairs,
            authors_in(source.ledger) if source else named_alike,
            arena.ledger,
            rules,
            settings.players,
            secret=arena_secret(arena.ledger, settings.secret_seed, at_ms=now_ms()),
            limit=limit,
            shown=source.ledger if source else None,
        )


def _pairs(files: Sequence[str], score: str) -> Sequence[RecordedAnswers]:
    """Return the pairs of recorded answers in files, having said what was left out."""
    from peerage.interchange.answers import NoAnswers, pairs_in
    from peerage.ratings.frames import named

    pairs = pairs_in(named(list(files)), score)
    for note in pairs.notes:
        say(note, err=True)
    if not pairs.items:
        raise NoAnswers(
            f"{files[0]}: no two players answered the same question, so there is nothing to judge; name the "
            "logs of several models at once"
        )
    questions = len({pair.record for pair in pairs.items})
    say(f"{counted(len(pairs.items), 'pair')} of answers to {counted(questions, 'question')}", err=True)
    return pairs.items


def _judge(arena: Arena, issued: Issued, target: Path, yes: bool, shape: TableFormat) -> int:
    """Say what it may cost, ask once, and have everything judged that was issued; the exit code."""
    import contextlib

    from peerage.cli.play.live import play
    from peerage.cli.play.plan import THINKS
    from peerage.cli.shared.streams import READER_LEFT
    from peerage.settings import SettingsError
    from peerage.views.ending import ending, exit_code

    if not issued.judged:
        raise SettingsError(
            f"{arena.folder}: no match on record holds answers that judges compared or scored, so there is "
            "nothing to judge again"
        )
    if issued.unjudgeable:
        typer.echo(
            f"{counted(issued.unjudgeable, 'match is', 'matches are')} left out: every judge wrote "
            "what is to be judged",
            err=True,
        )
    quiet = not shape.for_people  # a table for programs stands alone on standard output
    with contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext():
        _agree(arena, yes)
        report, spectator = play(arena, issued.fixtures, None, replan=lambda: _agree(arena, yes, THINKS))
        for line in ending(arena.ledger, report, spectator.void, arena.settings.until, command_in(target)):
            typer.echo(line)
    if spectator.reader_left:
        return READER_LEFT
    return exit_code(report, spectator.void)


def _agree(arena: Arena, yes: bool, note: str = "") -> None:
    """Ask before anything is spent on what is still to be judged."""
    from peerage.cli.play.plan import agree
    from peerage.engine.again.usage import on_record
    from peerage.ledger.forms.codec import by_hex, read_fixture
    from peerage.views.plan.estimate import of_fixtures

    settings = arena.settings
    _, done = arena.ledger.heads()
    texts = by_hex(arena.ledger.texts())
    todo = [read_fixture(row.body, texts) for row in arena.ledger.fixtures(done + 1)]
    if not todo:
        return
    found = on_record(arena.ledger)
    plan = partial(of_fixtures, settings, fixtures=todo, matches=len(todo), found=found)
    agree(arena, plan, yes, question="Ask the judges?", note=note)
