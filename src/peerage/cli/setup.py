"""`peerage init` and `peerage doctor`: from an empty folder to an arena that can run."""

from __future__ import annotations

from typing import Annotated

import typer

from peerage.cli.options import HERE, Folder, at, program


def init(
    folder: Folder = HERE,
    name: Annotated[str, typer.Option(help="Title on tables. Default: the folder's name.")] = "",
    seed: Annotated[
        int | None, typer.Option(help="All that is drawn follows from it; for house players alone.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an arena.yaml that is there.")] = False,
) -> None:
    """Write a commented arena.yaml to start from.

    Its players are models of the providers whose keys are found in the environment or in .env; without any,
    house players stand in. An arena.yaml that is there is kept.
    """
    import json
    import os

    from peerage.cli.starter import arena_text
    from peerage.outputs import SETTINGS, write
    from peerage.players.keys import environment, found_keys
    from peerage.settings import FILE_NAME, SettingsError

    path = folder / FILE_NAME
    if path.exists() and not force:
        raise SettingsError(f"{path} exists; `--force` replaces it, `--dir FOLDER` starts an arena elsewhere")
    folder.mkdir(parents=True, exist_ok=True)
    keys = found_keys(environment(folder, os.environ))
    if keys and seed is not None:
        raise SettingsError(
            "--seed is for house players alone: other players could know what follows from it. Leave it "
            "out, and the arena draws from a secret of its own"
        )
    title = name or folder.resolve().name or "arena"
    write(path, arena_text(json.dumps(title, ensure_ascii=False), seed, keys), SETTINGS, force=force)
    typer.echo(f"wrote {path}")
    for provider, variable in keys.items():
        typer.echo(f"  {provider}: key found in {variable}")
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
    from peerage.cli import doctor as examination

    if install:
        examination.install_missing(folder)
    findings = examination.examine(folder)
    for line in examination.report(findings):
        typer.echo(line)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)
