"""`peerage init` and `peerage doctor`: from an empty folder to an arena that can run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import typer

from peerage.cli.begin.choice import BUDGET, Judges, Players, Rubric, Tasks, Template
from peerage.cli.shared.options import HERE, Folder, at, program, prose


def init(
    tasks: Tasks = "",
    players: Players = [],  # noqa: B006
    judge: Judges = [],  # noqa: B006
    rubric: Rubric = None,
    template: Template = None,
    folder: Folder = HERE,
    name: Annotated[str, typer.Option(help="Title on tables. Default: the folder's name.")] = "",
    seed: Annotated[
        int | None, typer.Option(help="All that is drawn follows from it; for house players alone.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an arena.yaml that is there.")] = False,
) -> None:
    """Write a commented arena.yaml to start from.

    Its players are models of the providers whose keys are found in the environment or in .env; without any,
    house players stand in. An arena.yaml that is there is kept. With a file of tasks and players it writes
    what `peerage choose` would, and plays nothing.
    """
    import os

    from peerage.cli.begin.choice import choice_text, stated_choice
    from peerage.players.keys import found_keys
    from peerage.settings import FILE_NAME, ArenaSettings, SettingsError, with_option
    from peerage.values.environment import databases, environment
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
        return
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
    write(
        path,
        arena_text(json.dumps(title, ensure_ascii=False), seed, keys, servers=servers),
        SETTINGS,
        force=force,
    )
    typer.echo(f"wrote {path}")
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
  judges: 5                # peers who judge the answers, each in both orders

pairing:
  policy: adaptive         # the matches that soonest prove who is best; `swiss`: as UNER pairs

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
    found: Mapping[str, Sequence[str]] = yaml.safe_load(text)
    return found


def arena_text(
    name: str,
    seed: int | None,
    keys: Mapping[str, str],
    servers: Mapping[str, str] = MappingProxyType({}),
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


def demo_text(
    seed: int,
    game: str = "duel",
    rules: Mapping[str, Any] = {},
    games: Mapping[str, Mapping[str, Any]] = {},
) -> str:
    """The `arena.yaml` of a demo: house players whose true order is written on them. `game` is the name of a
    game or of a file that holds one; `games` are several in its place, each with its rules."""
    from peerage.players.prices import OUTPUT, at_play_price, line

    if games:
        stated = {name: json.dumps({"rules": own} if own else {}) for name, own in games.items()}
        played = "".join(["games:\n", *[f"  {name}: {own}\n" for name, own in stated.items()]])
    else:
        played = f"game: {game}\n" + (f"rules: {json.dumps(rules)}\n" if rules else "")
    players = "\n".join(f"  - {line(at_play_price(f'house:{skill}'))}" for skill in sorted(OUTPUT)[::-1])
    return (
        "# The demo: house players, whose names tell their true skill. `peerage demo` made it. Their\n"
        "# prices, in dollars per million tokens, are play prices: nobody is paid anything.\n"
        f"name: demo\nseed: {seed}\n{played}players:\n{players}\n"
    )


def gauntlet_text(seed: int) -> tuple[str, dict[str, str]]:
    """The `arena.yaml` of a demo of every game that can be played here, and why others are left out."""
    from peerage.games import GAMES
    from peerage.playing.requirements import unplayable_here
    from peerage.settings import loads

    games = {name: game.demo.rules for name, game in GAMES.items()}
    every = loads(demo_text(seed, games=games))
    left_out = {name: why for name in games if (why := unplayable_here(every, name))}
    return demo_text(seed, games={name: games[name] for name in games if name not in left_out}), left_out
