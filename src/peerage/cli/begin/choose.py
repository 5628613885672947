"""`peerage choose`: from a file of tasks and some players to a decision, in one command."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.begin.choice import (
    BUDGET,
    FROM_FILE,
    Judges,
    Players,
    Rubric,
    StatedChoice,
    Tasks,
    Template,
    choice_text,
    player_stated,
    stated_choice,
)
from peerage.cli.shared.options import HERE, MOST_MATCHES, Quiet, at, program, say

if TYPE_CHECKING:
    from peerage.settings import ArenaSettings, PlayerSettings

PER_TASK = 10
"""Matches of each player on each task, on average, after which a choice ends where nothing else ends it."""
FEWEST, MOST_MOCK = 200, 300
"""Matches of a choice at least, and of mock answers at most."""
MOCK = "-mock"
"""The ending of the name of a folder of mock answers."""
MOCK_SKILLS = (0.95, 0.85, 0.75, 0.65, 0.55, 0.45, 0.35, 0.2)
MOCK_JUDGE = 0.85
MOCK_PLAYERS = 4


def dollars_stated(text: str) -> float:
    """Return what `--budget` states. Raises BadParameter, which says how to write it."""
    try:
        return float(text.strip().removeprefix("$").removesuffix("$"))
    except ValueError:
        raise typer.BadParameter(f"found {text!r}; expected a number of dollars, such as 5") from None


ChoiceBudget = Annotated[
    float | None,
    typer.Option(
        parser=dollars_stated,
        metavar="DOLLARS",
        help="Dollars at most, over all runs.",
        show_default=f"{BUDGET:g}, or what arena.yaml says",
    ),
]
ChoiceMatches = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_MATCHES,
        help="Stop when there are so many matches with a result.",
        show_default=f"{PER_TASK} of each player on each task, {FEWEST} at least",
    ),
]
ChoiceFolder = Annotated[
    Path | None,
    typer.Option("--dir", help="The arena's folder.", show_default="named after TASKS", file_okay=False),
]


def choose(
    tasks: Tasks = "",
    players: Players = [],  # noqa: B006
    judge: Judges = [],  # noqa: B006
    rubric: Rubric = None,
    template: Template = None,
    budget: ChoiceBudget = None,
    matches: ChoiceMatches = None,
    folder: ChoiceFolder = None,
    yes: Quiet = False,
) -> None:
    """Choose a model or a prompt for your own tasks.

    Writes a folder with an arena.yaml that you can edit, checks keys, shows a plan in calls and dollars,
    asks, plays, and ends with a verdict. Run it again to go on; in its folder it needs no arguments. It ends
    when the best is known, or at the budget or the last match. Where no player has a key, house players of
    known skill give mock answers, right or wrong by `expected`.
    """
    from peerage.cli.play.run import agreed_and_played, opened, prepared, recommend
    from peerage.settings import FILE_NAME, BudgetSettings, SettingsError, load, with_option

    if budget is not None:
        with_option(BudgetSettings(), "arena", budget, "--budget")
    if tasks:
        usual = folder or Path(_folder_name(tasks))
        places = (usual, _mock_folder(tasks, usual))
        begun = next((place for place in places if (place / FILE_NAME).exists()), None)
        choice = stated_choice(tasks, players, judge, rubric, template, begun)
        folder = _with_arena(choice, folder, BUDGET if budget is None else budget)
    elif not ((folder or HERE) / FILE_NAME).exists():
        raise SettingsError(
            "name a file of tasks and players, such as `peerage choose tasks.csv openai:gpt-5-mini "
            "anthropic:claude-haiku-4-5`; to go on, name the folder of an earlier choice with --dir"
        )
    else:
        folder = folder or HERE
    settings = load(folder)
    mock = all(player.provider == "house" for player in settings.everyone)
    if mock and not players and not (tasks and folder.name.endswith(MOCK)):
        say("mock answers: house players of known skill answer here")
    prepared(settings, folder)
    if not mock:
        _look_at(settings, folder)
    with opened(settings, folder, None, budget=None if mock else budget) as arena:
        code = agreed_and_played(arena, matches or _usual_matches(settings, mock), yes)
    if not code:
        recommend(folder, {"report": "one page to show", "serve": "the arena in a browser"})
    raise typer.Exit(code)


def _folder_name(tasks: str) -> str:
    """The name of the folder of a choice: that of its tasks without their ending."""
    path = Path(tasks)
    return path.stem if path.stem != path.name else f"{path.name}-arena"


def _with_arena(stated: StatedChoice, folder: Path | None, budget: float | None) -> Path:
    """The folder with the arena of a choice, written where it is not there yet. Raises SettingsError where
    another one is there."""
    from peerage.players.keys import find_key, key_names
    from peerage.settings import FILE_NAME, SettingsError
    from peerage.values.environment import environment
    from peerage.values.outputs import SETTINGS, write

    usual = folder is None
    folder = Path(_folder_name(str(stated.tasks))) if folder is None else folder
    env = environment(folder, os.environ)
    everyone = [*stated.players, *stated.judges]
    keyed = [player for player in everyone if not key_names(player) or find_key(player, env)]
    lacking = dict.fromkeys([key_names(player)[0] for player in everyone if player not in keyed])
    if lacking and (nearby := lacking.keys() & environment(HERE, {}).keys()):
        raise SettingsError(
            f"{', '.join(sorted(nearby))}: set in .env here, which the arena in {folder} does not read; run "
            f"`mkdir -p {shlex.quote(str(folder))} && cp .env {shlex.quote(str(folder))}/`"
        )
    begun = (folder / FILE_NAME).exists()
    if not begun and not (stated.players and keyed):
        why = f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not set" if lacking else ""
        say(
            f"mock answers: {why or 'no player is named'}, so house players of known skill answer, right or "
            f"wrong by `expected`. For real ones {_for_real(stated)}"
        )
        stated, folder, budget = _mock(stated), _mock_folder(str(stated.tasks), folder), None
    elif stated.players and all(player.provider == "house" for player in everyone):
        say("mock answers: house players of known skill answer here")
    path = folder / FILE_NAME
    if path.exists():
        _refuse_different(stated, folder)
        return folder
    if folder.is_file() or (usual and folder.is_dir() and {*os.listdir(folder)} - {".env"}):
        raise SettingsError(f"{folder} is there already and holds no arena; name another folder with --dir")
    folder.mkdir(parents=True, exist_ok=True)
    write(path, choice_text(stated, folder, budget), SETTINGS)
    say(f"wrote {path}: {len(stated.lines)} players, {stated.task_count:,} tasks")
    return folder


def _for_real(stated: StatedChoice) -> str:
    if not stated.players:
        return "name players, such as openai:gpt-5-mini anthropic:claude-haiku-4-5"
    return "set them, as by `export NAME=KEY`, and run the same again"


def _mock_folder(tasks: str, folder: Path) -> Path:
    """The folder of mock answers, next to that of real ones; of a folder without a name, in it."""
    folder = Path(os.path.normpath(folder))
    if folder.name in ("", ".."):
        return folder / f"{_folder_name(tasks)}{MOCK}"
    return folder.with_name(f"{folder.name}{MOCK}")


def _mock(stated: StatedChoice) -> StatedChoice:
    """The same choice among house players: as many as were named."""
    from peerage.players.prices import at_play_price, line

    count = min(max(len(stated.players), 2), len(MOCK_SKILLS)) if stated.players else MOCK_PLAYERS
    players = [at_play_price(f"house:{skill}") for skill in MOCK_SKILLS[:count]]
    judges = [
        f"{{model: house:{MOCK_JUDGE}, name: mock judge {place}}}" for place, _ in enumerate(stated.judges, 1)
    ]
    return stated._replace(
        players=players,
        lines=[line(player) for player in players],
        judges=[player_stated(judge, "--judge") for judge in judges],
        judge_lines=judges,
    )


def _refuse_different(stated: StatedChoice, folder: Path) -> None:
    """Raise SettingsError where arena.yaml says something else than the command line."""
    from peerage.settings import FILE_NAME, SettingsError, load
    from peerage.settings.source import parsed, text_of

    path = folder / FILE_NAME
    data, _ = parsed(text_of(path), str(path))
    settings = load(folder)
    differ: list[str] = []
    tasks = data.get("tasks")
    judging = data.get("judging")
    for what, there, named in (
        ("tasks", tasks.get("file") if isinstance(tasks, dict) else tasks, stated.tasks),
        ("template", _file(tasks, "template"), stated.template),
        ("rubric", _file(judging, "rubric"), stated.rubric),
    ):
        same = named and isinstance(there, str) and (folder / there).resolve() == named.resolve()
        if named is not None and not same:
            differ.append(f"{what} {there if isinstance(there, str) else 'of its own'}, not {named}")
    for what, held, stated_here in (
        ("players", settings.players, stated.players),
        ("judges", settings.judges, stated.judges),
    ):
        there = {player.name: player for player in held}
        if stated.players and there.keys() != {player.name for player in stated_here}:
            lists = [", ".join([player.name for player in side]) or "none" for side in (held, stated_here)]
            differ.append(f"{what} {lists[0]}, not {lists[1]}")
        elif stated.players:
            differ += [other for player in stated_here if (other := _otherwise(player, there[player.name]))]
    if differ:
        raise SettingsError(
            f"{path} says {'; '.join(differ)}. Edit it and run `{program()} choose{at(folder)}` to go on "
            "there, or choose elsewhere with --dir FOLDER"
        )


def _otherwise(stated: PlayerSettings, held: PlayerSettings) -> str:
    """The settings of a player that the command line states and arena.yaml does not have; empty for none."""
    here = stated.model_dump(exclude_unset=True)
    whole, there = stated.model_dump(), held.model_dump()
    keys = [key for key, value in here.items() if value != FROM_FILE and whole[key] != there[key]]
    return f"another {' and '.join(keys)} of {stated.name}" if keys else ""


def _file(holder: object, key: str) -> object:
    """The file that a mapping names under a key as `{file: …}`; None for none."""
    named = holder.get(key) if isinstance(holder, Mapping) else None
    return named.get("file") if isinstance(named, Mapping) else None


def _look_at(settings: ArenaSettings, folder: Path) -> None:
    """Ask servers for their models, as `peerage doctor` does; leave with 1 where a player cannot be asked.
    Raises ArenaError where a budget could not be kept."""
    import asyncio
    from datetime import UTC, datetime

    from peerage.cli.begin import doctor
    from peerage.players.prices import price_of
    from peerage.playing.requirements import refuse_unpriced
    from peerage.values.environment import environment

    today = datetime.now(UTC).date()
    unpriced = [player.name for player in settings.everyone if not price_of(player, today).known]
    refuse_unpriced(settings, unpriced)
    env = environment(folder, os.environ)
    findings = asyncio.run(doctor.look_at_players(settings.everyone, env, folder))
    if broken := [finding for finding in findings if finding.state == "broken"]:
        for finding in broken:
            say(f"{finding.what}: {finding.about}{f'; {finding.fix}' if finding.fix else ''}", err=True)
        say(
            f"correct {folder / 'arena.yaml'} or the key, and run the same again; nothing was asked", err=True
        )
        raise typer.Exit(1)


def _usual_matches(settings: ArenaSettings, mock: bool) -> int:
    """The matches after which a choice ends where nothing else ends it."""
    from peerage.settings import rules_of

    tasks = len(getattr(rules_of(settings), "tasks", ()))
    matches = max(FEWEST, PER_TASK * tasks * len(settings.players) // 2)
    return min(matches, MOST_MOCK) if mock else matches
