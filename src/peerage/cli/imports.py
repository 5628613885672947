"""`peerage import`: matches that others recorded, entered into a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from peerage.cli.options import HERE, Folder

if TYPE_CHECKING:
    from peerage.ledger.cob import Battle

_ARENA = """\
# Battles of the Color Obfuscation Benchmark, entered by `peerage import`.
name: color obfuscation
game: color-obfuscation
rules:
  shares: [1]                # one attempt with everything, as the original plays
  ally_failure: {reading}
players:
"""


class Source(StrEnum):
    """Whose records they are."""

    cob = "cob"


class Reading(StrEnum):
    """What a broken encoding is read as."""

    attacker = "attacker"
    void = "void"
    ignore = "ignore"


def enter(
    file: Annotated[Path, typer.Argument(help="The file; for cob its data.json.")],
    folder: Folder = HERE,
    source: Annotated[Source, typer.Option("--format", help="Whose records they are.")] = Source.cob,
    ally_failure: Annotated[
        Reading, typer.Option(help="Of a new arena: what a broken encoding is read as.")
    ] = Reading.attacker,
) -> None:
    """Enter matches that others recorded, reply by reply.

    They are played again from the recorded replies, marked with their source, and then verify, replay and
    rate like any match. Makes an arena in the folder when there is none; what was entered before is skipped.
    """
    from hashlib import sha256

    from peerage.arena import open_arena
    from peerage.games.color_obfuscation import COLOR_OBFUSCATION
    from peerage.ledger.cob import entered, read_battles, recording
    from peerage.settings import FILE_NAME, SettingsError, rules_of

    body = file.read_bytes()
    battles = read_battles(body, str(file))
    path = folder / FILE_NAME
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_ARENA.format(reading=ally_failure.value) + _players(battles), "utf-8")
    with open_arena(folder) as arena:
        if arena.settings.game != COLOR_OBFUSCATION.name:
            raise SettingsError(
                f"{path}: this arena plays {arena.settings.game!r}, and the file holds battles of "
                f"{COLOR_OBFUSCATION.name!r}; `--dir FOLDER` makes an arena for them elsewhere"
            )
        rules, known = rules_of(arena.settings), entered(arena.ledger)
        new = [battle for battle in battles if battle.battle_id not in known]
        digest = sha256(body).hexdigest()
        outcomes = arena.admit([recording(battle, rules, digest) for battle in new])
        pairs = list(zip(new, outcomes, strict=True))
        same = sum(outcome.detail["readings"]["ignore"] == battle.scores for battle, outcome in pairs)
        other = sum(outcome.scores != battle.scores for battle, outcome in pairs)
        typer.echo(
            f"{len(new)} battles entered, {len(battles) - len(new)} were there already\n"
            f"{same} of {len(new)} come out as recorded when broken encodings are ignored; with "
            f"ally_failure: {rules.ally_failure}, {other} come out otherwise\nledger: {arena.ledger.address}"
        )


def _players(battles: Iterable[Battle]) -> str:
    names = {name: 0 for battle in battles for name in (battle.model_A_info.name, battle.model_B_info.name)}
    return "".join(f'  - {{model: "openrouter:{name}", name: "{name}"}}\n' for name in names)
