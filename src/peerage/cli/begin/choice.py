"""A choice as the command line states it, for `peerage choose` and `peerage init`: read, and written as an
arena.yaml."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from peerage.cli.shared.options import at, program

if TYPE_CHECKING:
    from peerage.settings import PlayerSettings

BUDGET = 5.0
"""Dollars that a choice may cost where nobody says."""

Tasks = Annotated[
    str,
    typer.Argument(
        help="Your tasks: a file (CSV, JSON lines, JSON, promptfoo YAML, a dataset or log of Inspect).",
        show_default=False,
    ),
]
Players = Annotated[
    list[str],
    typer.Argument(
        metavar="PLAYER",
        help="A model such as openai:gpt-5-mini, or a player as in arena.yaml: '{model: openai:gpt-5-mini, "
        "name: v2, system_prompt: {file: v2.md}}'.",
        show_default=False,
    ),
]
Judges = Annotated[
    list[str],
    typer.Option(
        "--judge", metavar="MODEL", help="A model that only judges; once for each.", show_default=False
    ),
]
Rubric = Annotated[
    Path | None, typer.Option(help="A file that says what judges look for.", show_default=False)
]
Template = Annotated[
    Path | None,
    typer.Option(
        help="A file with the prompt, its places {{name}} filled from columns of TASKS.", show_default=False
    ),
]


class StatedChoice(NamedTuple):
    """A choice as the command line states it; `lines` and `judge_lines` are players and judges as typed. Of
    its tasks so many are `judged`: they have a rubric, or no check."""

    tasks: Path
    players: Sequence[PlayerSettings]
    lines: Sequence[str]
    judges: Sequence[PlayerSettings]
    judge_lines: Sequence[str]
    rubric: Path | None
    template: Path | None
    task_count: int
    judged: int


_JUDGES = (
    "anthropic:claude-haiku-4-5",
    "openai:gpt-5-mini",
    "google:gemini-2.5-flash",
    "anthropic:claude-sonnet-4-5",
)
"""Examples of judges: one more than there are players where a judge must be named."""


def stated_choice(
    tasks: str,
    lines: Sequence[str],
    judges: Sequence[str],
    rubric: Path | None,
    template: Path | None,
    begun: Path | None = None,
) -> StatedChoice:
    """Read what the command line states; pictures as the arena that was `begun` takes them, if one was, and
    from where it keeps them. Raises SettingsError for the first thing that cannot be."""
    from peerage.settings import SettingsError

    path = Path(tasks)
    _refuse_missing(path, tasks)
    for file, option in ((rubric, "--rubric"), (template, "--template")):
        if file is not None and not file.is_file():
            raise SettingsError(f"{option}: {file} does not exist{_near(file)}")
    players = [player_stated(line, "PLAYER") for line in lines]
    judging = [player_stated(line, "--judge") for line in judges]
    for names, what in ((players, "players"), (judging, "judges")):
        for name, count in Counter([player.name for player in names]).items():
            if count > 1:
                raise SettingsError(
                    f"{name} is named {count} times among the {what}; name it once, or one by another name: "
                    f"'{{model: {name}, name: v2, system_prompt: {{file: v2.md}}}}'"
                )
    if both := {(player.model, player.base_url) for player in players} & {
        (player.model, player.base_url) for player in judging
    }:
        raise SettingsError(
            f"{min(both)[0]} is a player and a judge, and would judge its own answers; name another model as "
            "--judge"
        )
    if len(players) == 1:
        raise SettingsError(
            f"{players[0].name} is the only player, and a choice needs two; name another model, or the same "
            f"with another prompt: '{{model: {players[0].model}, name: v2, system_prompt: {{file: v2.md}}}}'"
        )
    count, unchecked, judged = _read(path, template, begun)
    if unchecked and not judging and 0 < len(players) < 4:
        which = "no task has" if unchecked == count else f"{unchecked} of {count} tasks have neither"
        playing = {player.model for player in players}
        example = next(model for model in _JUDGES if model not in playing)
        raise SettingsError(
            f"{path}: {which} `expected` {'or' if unchecked == count else 'nor'} a check, so somebody has to "
            f"judge the answers; name a model that does not play itself as --judge, such as --judge {example}"
        )
    if rubric is not None and not (judging or judged):
        raise SettingsError(
            f"--rubric is for judges, and checks decide all tasks of {path}; name a judge with --judge, or "
            "leave it out"
        )
    return StatedChoice(
        tasks=path,
        players=players,
        lines=lines,
        judges=judging,
        judge_lines=judges,
        rubric=rubric,
        template=template,
        task_count=count,
        judged=judged,
    )


_SHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def _refuse_missing(path: Path, stated: str) -> None:
    """Raise SettingsError where the first argument is no file of tasks."""
    from peerage.settings import FILE_NAME, SettingsError
    from peerage.settings.players.model_names import known_scheme

    if path.is_dir():
        arena = (path / FILE_NAME).exists()
        do = f"`{program()} choose{at(path)}` goes on there" if arena else "name the file of tasks in it"
        raise SettingsError(f"{stated} is a folder; {do}")
    if not path.exists():
        if stated.startswith("{") or known_scheme(stated.partition(":")[0]):
            raise SettingsError(
                f"found the player {stated} where the file of tasks is expected; write `peerage choose "
                "tasks.csv PLAYER PLAYER`"
            )
        raise SettingsError(f"{stated} does not exist{_near(path)}")
    if path.suffix.lower() in _SHEETS:
        raise SettingsError(
            f"{stated} is a spreadsheet's own file; save it as CSV (File, Save as, CSV UTF-8), and name that"
        )


def _near(path: Path) -> str:
    """A file in the same folder that may be meant, to end a sentence; what to check where there is none."""
    from difflib import get_close_matches

    folder = path.parent
    there = [file.name for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
    near = get_close_matches(path.name, there, n=1, cutoff=0.6)
    return f"; did you mean {folder / near[0]}?" if near else f" in {folder.resolve()}; check the path"


FROM_FILE = "text"
"""The stand-in for a text that a player of the command line has in a file."""


def player_stated(line: str, place: str) -> PlayerSettings:
    """A player as the command line states it. Raises SettingsError."""
    from pydantic import ValidationError

    from peerage.settings import PlayerSettings, SettingsError
    from peerage.settings.mistakes import explain
    from peerage.settings.players.model_names import known_scheme
    from peerage.settings.source import SettingsSource, parsed

    stated: dict[str, Any] = {"model": line}
    several = [word for word in line.replace(" ", "").split(",") if known_scheme(word.partition(":")[0])]
    if line.lstrip().startswith("{"):
        stated, _ = parsed(line, f"{place} {line}")
        if not stated.keys() & {"model", "command", "acp"}:
            raise SettingsError(
                f"{place} {line} names no model; write the model alone, or '{{model: openai:gpt-5-mini, "
                "name: v2}'"
            )
        for key, value in stated.items():
            if isinstance(value, dict) and value.keys() == {"file"}:
                file = Path(str(value["file"]))
                if not file.is_file():
                    raise SettingsError(f"{place} {line}: {file} does not exist{_near(file)}")
                stated = stated | {key: FROM_FILE}
    elif len(several) > 1:
        between = f" {place} " if place.startswith("-") else " "
        raise SettingsError(
            f"{place} {line}: each player is a word of its own; write {between.join(several)}"
        )
    elif Path(line).is_file():
        raise SettingsError(
            f"{line} is a file, where a player is expected; one file holds all tasks, and a prompt's file is "
            f"named as '{{model: openai:gpt-5-mini, name: v2, system_prompt: {{file: {line}}}}}'"
        )
    try:
        return PlayerSettings.model_validate(stated)
    except ValidationError as error:
        mistakes = explain(error, PlayerSettings, (), SettingsSource(""))
        problems = [mistake.partition(": ") for mistake in mistakes]
        reasons = "; ".join(
            [f"{key.strip(', ')}: {why}" if key.strip(", ") else why for key, _, why in problems]
        )
        raise SettingsError(f"{place} {line}: {reasons}") from None


def _read(path: Path, template: Path | None, begun: Path | None) -> tuple[int, int, int]:
    """Count the tasks in a file, those without a check, and those that judges decide without further ado.
    Raises SettingsError with all that is wrong with them."""
    from tempfile import TemporaryDirectory

    from peerage.game.media import OPENER
    from peerage.games.tasks.files import read_tasks
    from peerage.settings import FILE_NAME, SettingsError
    from peerage.settings.reading import media_folder
    from peerage.settings.source import bytes_of, parsed, text_of

    rules = {"template": template.read_text("utf-8-sig")} if template is not None else {}
    file = begun / FILE_NAME if begun else None
    stated = parsed(text_of(file), str(file))[0] if file else {}
    try:
        with (
            TemporaryDirectory(prefix="peerage-") as made,
            media_folder(stated, begun or made).opener(path.parent) as opener,
        ):
            tasks = read_tasks(bytes_of(path), path.name, {**rules, OPENER: opener})
    except ValueError as error:
        why = str(error).removeprefix(f"{path.name} ")
        raise SettingsError(f"{path}: {why}") from None
    unchecked = [not task.get("checks") for task in tasks]
    judged = [none or bool(task.get("rubric")) for none, task in zip(unchecked, tasks, strict=True)]
    return len(tasks), sum(unchecked), sum(judged)


_TEXT = """\
# Which of these players for your tasks? Edit this file, and run `peerage choose` in this folder to go on.
# docs/settings.md lists every key.

name: {name}
tasks: {tasks}

players:                     # who is to be chosen from
{players}
  # - {{model: openai:gpt-5-mini, name: v2, system_prompt: {{file: v2.md}}}}  # a prompt of its own

{judges}
{judging}

pairing: {{policy: adaptive}}  # the matches that soonest prove who is best
until: best known            # or: first 3 known
budget: {budget}                 # dollars at most, over all runs; never exceeded
"""


def choice_text(stated: StatedChoice, folder: Path, budget: float | None, name: str = "") -> str:
    """The text of the arena.yaml of a choice in `folder`, to which its files are relative; `name` is its
    title, by default that of the tasks' file."""
    tasks = _flow(_relative(stated.tasks, folder))
    rules: dict[str, object] = {}
    if stated.template is not None:
        rules["template"] = {"file": _relative(stated.template, folder)}
    if stated.judges and not stated.judged:  # who names a judge wants it asked
        rules["then"] = "judges"
    if rules:
        tasks = _flow({"file": _relative(stated.tasks, folder), **rules})
    judges = "# judges: [anthropic:claude-haiku-4-5]   # models that only judge, where no check decides"
    if stated.judge_lines:
        lines = [f"  - {_line(line, folder)}" for line in stated.judge_lines]
        judges = "\n".join(["judges:                      # they only judge", *lines])
    judging = "# judging: {rubric: {file: rubric.md}}     # what judges look for"
    if stated.rubric is not None:
        judging = f"judging: {{rubric: {{file: {_flow(_relative(stated.rubric, folder))}}}}}"
    return _TEXT.format(
        name=_flow(name or stated.tasks.stem),
        tasks=tasks,
        players="\n".join([f"  - {_line(line, folder)}" for line in stated.lines]),
        judges=judges,
        judging=judging,
        budget="null" if budget is None else f"{budget:g}",
    )


def _relative(file: Path, folder: Path) -> str:
    """The path of a file from a folder; the whole path where it is on another drive."""
    try:
        return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(folder))).as_posix()
    except ValueError:
        return Path(os.path.realpath(file)).as_posix()


def _line(player: str, folder: Path) -> str:
    """A player as arena.yaml has it: its files relative to `folder`."""
    if not player.lstrip().startswith("{"):
        return _flow(player)
    from peerage.settings.source import parsed

    stated, _ = parsed(player, player)
    for key, value in stated.items():
        if isinstance(value, dict) and value.keys() == {"file"}:
            stated[key] = {"file": _relative(Path(str(value["file"])), folder)}
    return _flow(stated)


def _flow(value: object) -> str:
    """Return a value as YAML in one line, with quotes only where they are needed."""
    import yaml

    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")
