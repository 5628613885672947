"""`peerage rejudge`: another panel's verdicts, or scores, on recorded answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from peerage.cli.options import HERE, Folder, Format, Quiet, Shape, arena_in, say
from peerage.cli.rate import Score
from peerage.clock import now_ms
from peerage.figures import counted

if TYPE_CHECKING:
    from peerage.arena import Arena
    from peerage.engine.recorded_answers import FromFile
    from peerage.engine.rejudge import Issued
    from peerage.ledger.store import Ledger
    from peerage.settings import ArenaSettings, PlayerSettings

INTO = "rejudged"
"""The folder, in that of the arena, which holds the new arena if not told otherwise."""


FILES_INTO = "judged"
"""The same, for answers of files."""


class NoAnswers(ValueError):
    """Files hold nothing that judges can compare; the message says why."""


def rejudge(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Files of recorded answers, such as Inspect's logs, in place of an arena's.",
            show_default="the arena's own",
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            help="A judge of the new panel: the name of a player of the arena, or a model. Repeat it. If not "
            "said, the players of a tournament score again."
        ),
    ] = None,
    folder: Folder = HERE,
    to: Annotated[
        Path | None, typer.Option(help="Folder of the new arena.", show_default="rejudged; of files, judged")
    ] = None,
    max_matches: Annotated[
        int | None,
        typer.Option(
            "--matches",
            "--max-matches",
            min=1,
            help="Judge so many matches again (or questions), drawn at random; if not said, all.",
        ),
    ] = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Dollars at most, over all runs.")] = None,
    score: Score = "",
    report: Annotated[bool, typer.Option("--report", help="Show what was found and ask nobody.")] = False,
    yes: Quiet = False,
    shape: Shape = Format.table,
) -> None:
    """Ask a new panel about recorded answers; how far ranks move.

    Answers of duels are compared again, those of tournaments scored again. Of FILES (logs of Inspect, or rows
    with player, challenge, question, answer) every two players' answers to one question are compared: name
    the logs of all models at once. Only judges are asked, and only they cost. The verdicts make an arena of
    their own, which verify, replay, match, judges and export read like any other; no rating of the first
    arena moves. The same command goes on where it stopped.
    """
    from contextlib import nullcontext

    from peerage.arena import Arena
    from peerage.cli.play import equipped
    from peerage.cli.rejudged import show_rejudged
    from peerage.ledger import open_ledger
    from peerage.ledger.secret import arena_secret
    from peerage.outputs import SETTINGS, write
    from peerage.settings import FILE_NAME, load, loads, rules_of

    if score and not files:
        raise typer.BadParameter("--score names a score of files: name Inspect's logs too")
    target, code = to or folder / (FILES_INTO if files else INTO), 0
    answers = _answers(files, score) if files and not report else ()
    with nullcontext() if files else arena_in(folder) as source:
        if source is not None:
            asked = source.settings
        elif (folder / FILE_NAME).exists():
            asked = load(folder, reading=True)
        else:
            asked = loads("{name: recorded answers, players: []}", "")
        settings, text = _settings(asked, target, judges or (), report, bool(files))
        if not report:
            equipped(settings, folder)
        if answers and (house := [one.name for one in settings.players if one.provider == "house"]):
            say(f"{', '.join(house)}: house players cannot read, and judge answers of files by lot", err=True)
        if text:
            target.mkdir(parents=True, exist_ok=True)
            write(target / FILE_NAME, text, SETTINGS)
        if budget is not None:
            limited = settings.budget.model_copy(update={"arena": budget})
            settings = settings.model_copy(update={"budget": limited})
        # Keys and relative paths of players are those of the arena that is judged again.
        with Arena(folder, settings, open_ledger(settings.ledger, target, create=not report)) as arena:
            if not report:
                with arena.ledger.runner():
                    issued = _issue(
                        source.ledger if source else answers,
                        arena.ledger,
                        rules_of(settings),
                        settings.players,
                        secret=arena_secret(arena.ledger, settings.secret_seed, at_ms=now_ms()),
                        limit=max_matches,
                    )
                code = _judge(arena, issued, target, yes, shape)
            ranked = show_rejudged(arena, shape, files=bool(files))
    raise typer.Exit(code or (0 if ranked else 1))


def _issue(source: Ledger | Sequence[FromFile], *rest: Any, **options: Any) -> Issued:
    """Write down what is to be judged, of an arena's ledger or of files."""
    from peerage.engine.recorded_answers import same_model
    from peerage.engine.rejudge import issue, issue_items

    def wrote(judge: PlayerSettings, author: str) -> bool:
        return judge.name == author or same_model(judge.public_model, author)

    if isinstance(source, Sequence):
        return issue_items(source, wrote, *rest, **options)
    return issue(source, *rest, **options)


def _answers(files: Sequence[str], score: str) -> Sequence[FromFile]:
    """The pairs of recorded answers in files, having said what was left out. Raises NoAnswers."""
    from peerage.cli.rate import named
    from peerage.engine.recorded_answers import paired
    from peerage.inputs import opened
    from peerage.ratings.streams import rows

    def lines() -> Iterator[tuple[str, dict[str, Any]]]:
        for name in dict.fromkeys(named(list(files))):
            with opened(Path(name)) as stream:
                for number, row in rows(stream, name, score):
                    yield f"{name}, row {number}", row

    try:
        found = paired(lines())
    except ValueError as error:
        raise NoAnswers(str(error)) from None
    for note in found.notes:
        say(note, err=True)
    if not found.items:
        raise NoAnswers(
            f"{files[0]}: no two players answered the same question, so there is nothing to judge; name the "
            "logs of several models at once"
        )
    questions = len({item.record for item in found.items})
    say(f"{counted(len(found.items), 'pair')} of answers to {counted(questions, 'question')}", err=True)
    return found.items


def _judged(source: ArenaSettings) -> str:
    """The first of an arena's games whose matches judges decide; else its first game."""
    from peerage.games import GAMES
    from peerage.settings import rules_of

    for game in source.lineup:
        spec = GAMES[game]
        roles = {bench.role for bench in spec.officials(rules_of(source, game))}
        if spec.again is not None or "judge" in roles:
            return game
    return source.game


def _settings(
    source: ArenaSettings, target: Path, judges: Sequence[str], report: bool, files: bool
) -> tuple[ArenaSettings, str]:
    """The settings of the arena of rejudgements, and the text to write them down with when there is none."""
    import yaml

    from peerage.engine.rejudge import rules_like
    from peerage.games.rejudgement import GAME as REJUDGEMENT
    from peerage.games.rejudgement import RejudgementRules
    from peerage.games.rescoring import GAME as RESCORING
    from peerage.games.rescoring import RescoringRules
    from peerage.settings import FILE_NAME, SettingsError, load, loads, rules_of

    path = target / FILE_NAME
    if path.exists():
        settings = load(target)
        if settings.game != REJUDGEMENT.name and (files or settings.game != RESCORING.name):
            raise SettingsError(
                f"{path} is an arena of {settings.game!r}; `--to FOLDER` names another folder"
            )
        named = [player.name for player in settings.players]
        models = [player.model for player in settings.players]
        if judges and any(
            judge not in both for judge, *both in zip_longest(judges, named, models, fillvalue="")
        ):
            raise SettingsError(
                f"{path}: its judges are {', '.join(named)}, and --judges says {', '.join(judges)}. Leave "
                "--judges out to go on with them, or name another folder with --to"
            )
        return settings, ""
    game = _judged(source)
    rules = RejudgementRules() if files else rules_like(game, rules_of(source, game))
    scores = isinstance(rules, RescoringRules)
    if scores and not judges:
        judges = [player.name for player in source.players]
    if report or not judges:
        missing = "nothing was judged again here" if report else "name the new panel with --judges"
        raise SettingsError(f"{path} does not exist yet: {missing}; `peerage rejudge --help` says how")
    known = {player.name: player for player in source.players}
    players: list[Any] = []
    for judge in judges:
        one = known.get(judge)
        priced = {"gpu_hour_price"} if one is not None and one.host else set()  # that of its host
        stated = (
            one.model_dump(mode="json", exclude_defaults=True, exclude=priced) if one else {"model": judge}
        )
        players.append(stated)
    hosts = {
        name: host.model_dump(mode="json", exclude_defaults=True)
        for name, host in source.hosts.items()
        if any(one.get("host") == name for one in players)
    }
    text = "# Recorded answers, judged again. `peerage rejudge` made it.\n" + yaml.safe_dump(
        {
            "name": f"{source.name}, judged{'' if files else ' again'}",
            **({} if source.seed is None else {"seed": source.seed}),
            "game": RESCORING.name if scores else REJUDGEMENT.name,
            "players": players,
            **({"hosts": hosts} if hosts else {}),
            "rules": rules.model_dump(mode="json"),
        },
        sort_keys=False,
        allow_unicode=True,
    )
    return loads(text, "--judges"), text


def _judge(arena: Arena, issued: Issued, target: Path, yes: bool, shape: Format) -> int:
    """Say what it may cost, ask once, and have everything judged that was issued; the exit code."""
    import contextlib

    from peerage.cli.ending import ending, exit_code
    from peerage.cli.live import play
    from peerage.cli.plan import THINKS
    from peerage.cli.streams import READER_LEFT
    from peerage.settings import SettingsError

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
    quiet = shape in (Format.json, Format.csv)  # a table for programs stands alone on standard output
    with contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext():
        _agree(arena, yes)
        report, spectator = play(arena, issued.fixtures, None, replan=lambda: _agree(arena, yes, THINKS))
        for line in ending(arena, report, spectator.void, target):
            typer.echo(line)
    if spectator.reader_left:
        return READER_LEFT
    return exit_code(report, spectator.void)


def _agree(arena: Arena, yes: bool, note: str = "") -> None:
    """Ask before anything is spent on what is still to be judged."""
    from peerage.cli.plan import agree
    from peerage.ledger.codec import by_hex, read_fixture
    from peerage.tables.plan import of_fixtures

    settings = arena.settings
    _, done = arena.ledger.heads()
    texts = by_hex(arena.ledger.texts())
    todo = [read_fixture(row.body, texts) for row in arena.ledger.fixtures(done + 1)]
    if not todo:
        return
    plan = partial(of_fixtures, settings, fixtures=todo, matches=len(todo))
    agree(arena, plan, yes, question="Ask the judges?", note=note)
