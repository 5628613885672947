"""`peerage init` and `peerage doctor`: from an empty folder to an arena that can run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from peerage.cli.begin.choice import BUDGET, Judges, Players, Rubric, Tasks, Template
from peerage.cli.shared.options import HERE, Folder, at, program, prose

Seed = Annotated[int | None, typer.Option(help="All that is drawn follows from it; for house players alone.")]


def init(
    tasks: Tasks = "",
    players: Players = [],  # noqa: B006
    judge: Judges = [],  # noqa: B006
    rubric: Rubric = None,
    template: Template = None,
    folder: Folder = HERE,
    name: Annotated[str, typer.Option(help="Title on tables. Default: the folder's name.")] = "",
    seed: Seed = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an arena.yaml that is there.")] = False,
) -> None:
    """Write a commented arena.yaml to start from.

    Its players are models of the providers whose keys are found in the environment or in .env; without any,
    house players stand in. An arena.yaml that is there is kept. With a file of tasks and players it writes
    what `peerage choose` would, and plays nothing.
    """
    from peerage.cli.begin.choice import choice_text, stated_choice
    from peerage.settings import FILE_NAME, SettingsError
    from peerage.values.outputs import SETTINGS, write

    path = folder / FILE_NAME
    choice = stated_choice(tasks, players, judge, rubric, template) if tasks else None
    if choice is None and (judge or rubric or template):
        raise SettingsError("--judge, --rubric and --template go with a file of tasks; name it first")
    if choice is not None and not players:
        raise SettingsError(f"name the players too, such as `{program()} init {tasks} openai:gpt-5-mini …`")
    if choice is not None and seed is not None:
        raise SettingsError("--seed is for arenas of house players without tasks; leave it out")
    if path.exists() and not force:
        raise SettingsError(f"{path} exists; `--force` replaces it, `--dir FOLDER` starts an arena elsewhere")
    if choice is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write(path, choice_text(choice, folder, BUDGET, name), SETTINGS, force=force)
        typer.echo(f"wrote {path}\nnext: {program()} choose{at(folder)}, or {program()} run{at(folder)}")
    else:
        _write_first(folder, name, seed, force)


def _write_first(folder: Path, name: str, seed: int | None, force: bool) -> None:
    """Write an arena.yaml of the models whose keys were found, and say which. Raises SettingsError."""
    from peerage.players.keys import found_keys
    from peerage.settings import FILE_NAME, ArenaSettings, SettingsError, with_option
    from peerage.values.environment import databases, environment
    from peerage.values.outputs import SETTINGS, write

    env = environment(folder, os.environ)
    keys, servers = found_keys(env), databases(env)
    if keys and seed is not None:
        raise SettingsError(
            "--seed is for house players alone: other players could know what follows from it. Leave it "
            "out, and the arena draws from a secret of its own"
        )
    with_option(ArenaSettings(), "seed", seed, "--seed")
    title = name or folder.resolve().name or "arena"
    folder.mkdir(parents=True, exist_ok=True)
    text = arena_text(json.dumps(title, ensure_ascii=False), seed, keys, servers=servers)
    write(folder / FILE_NAME, text, SETTINGS, force=force)
    typer.echo(f"wrote {folder / FILE_NAME}")
    for provider, variable in keys.items():
        typer.echo(f"  {provider}: key found in {variable}")
    for variable, kind in servers.items():
        typer.echo(f"  {kind}: address found in {variable}; a line at the end of {FILE_NAME} would use it")
    if not keys:
        typer.echo(
            "  no provider's key found, so house players stand in; put OPENAI_API_KEY=… or another into "
            f"{folder / '.env'} and run `{program()} init{at(folder)} --force`"
        )
    typer.echo(f"next: {program()} doctor{at(folder)}, then {program()} run{at(folder)}")


def doctor(
    folder: Folder = HERE,
    install: Annotated[
        bool, typer.Option("--install", help="Install the extras that the arena lacks.")
    ] = False,
) -> None:
    """Check what is installed, keys, servers and the ledger.

    Says how to fix what does not work, and exits with 1 when something that the arena needs is broken. Keys
    are used to ask their provider whether they work, and never shown.
    """
    from peerage.cli.begin import doctor as examination

    if install:
        examination.install_missing(folder)
    findings = examination.examine(folder)
    for line in examination.report(findings):
        prose(line, hang=4)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


_SEVERAL = 3  # models taken of each provider when there are several
_UNPRICED = ("huggingface", "ollama")  # a budget refuses a player whose price nobody knows

_HEAD = """\
# An arena of Peerage. Every key is optional but `players`; docs/settings.md lists them all.
# `peerage doctor` checks this file, `peerage plan` says what it may cost, `peerage run` plays.

name: {name}
{seed}game: duel               # or several in turn: `games: [duel, trivia]`, or `games: all`

# One line adds a player: `provider:model`, or a mapping with more settings. Keys are read from the
# environment or from a file `.env` next to this one, never from here.
players:
{players}
rules:                     # the duel's own settings
  preset: general          # or `clinical`, or `uner`: UNER as published; take `pairing` out then
  # topics: [cooking, contract law]     # default: the preset's own list
  committee: 5             # peers who approve a drafted challenge
  judges: 3                # two see the answers, in opposite orders, and the third where they split

pairing:
  policy: adaptive         # for who is best, then the order, by few matches; `swiss`: as UNER pairs

budget: {budget}
engine:
  concurrency: 8           # matches under way at once
  calls: 64                # calls in flight at once

# rating:
#   propagation_width: 50  # null switches propagation off
"""

_SERVER = """
# ledger: ${variable}    # {kind}: one ledger for a team, read while it is written
"""

_HOUSE = """\
  # House players need no key and cost nothing; they are here to try things out.
  - house:0.9
  - house:0.75
  - house:0.6
  - house:0.5
  - house:0.4
  - house:0.3
  - house:0.15
  - {model: "house:0.5", name: biased, faults: {position_bias: 0.5}}
"""


def starters() -> Mapping[str, Sequence[str]]:
    """Models to propose, by provider."""
    from importlib.resources import files

    import yaml

    text = files("peerage.cli.begin").joinpath("starters.yaml").read_text("utf-8")
    starters: Mapping[str, Sequence[str]] = yaml.safe_load(text)
    return starters


def arena_text(
    name: str, seed: int | None, keys: Mapping[str, str], servers: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The text of `arena.yaml`; `keys` maps each provider whose key was found to where it was. `servers`
    are the variables that hold addresses for the ledger, and of what."""
    paid = [provider for provider in starters() if provider in keys and provider not in _UNPRICED]
    most = _SEVERAL if len(paid) > 1 else None
    lines: list[str] = []
    for provider in paid:
        lines.append(f"  # {provider}: key found in {keys[provider]}")
        lines += [f"  - {provider}:{model}" for model in starters()[provider][:most]]
    text = "\n".join(lines) + "\n" if lines else _HOUSE
    text += "".join(
        f"  # - {provider}:{models[0]}\n" for provider, models in starters().items() if provider not in paid
    )
    text += (
        "  # - {model: openai:my-model, base_url: http://localhost:8000/v1, name: mine}   # vLLM, llama.cpp\n"
        "  # - {command: [./my-agent, --fast], name: agent}   # a program: JSON in, JSON out\n"
        "  # - {acp: [opencode, acp], model: openai:gpt-5-mini}   # a coding agent, for the game `workshop`\n"
    )
    budget = (
        "5.00             # dollars at most, over all runs"
        if paid
        else "null             # dollars at most, over all runs; null: no limit"
    )
    stated = "" if seed is None else f"seed: {seed}                 # for house players\n"
    head = _HEAD.format(name=name, seed=stated, players=text, budget=budget)
    lines = [_SERVER.format(variable=name, kind=kind) for name, kind in servers.items()]
    return head + "".join(lines)
