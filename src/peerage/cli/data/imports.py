"""`peerage import`: what others recorded, entered into a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from peerage.cli.data.rate import Columns, Layout, Score, Strict, Winner
from peerage.cli.shared.options import HERE, Folder, at, program, say
from peerage.interchange.outside import (
    Entry,
    ImportRefused,
    entries,
    kind_of,
    read,
    refuse_repeated,
    refusing,
)
from peerage.ratings.read.forms import GivenForm, pairs
from peerage.values.clock import now_ms
from peerage.values.figures import counted
from peerage.views.ending import place

if TYPE_CHECKING:
    from peerage.arena import Arena

_OUTSIDE = """\
# Results of others, entered by `peerage import`; name players here and `peerage run` adds matches of its own.
name: outside results
players: []
"""


Reading = Literal["attacker", "void", "ignore"]


def enter(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files or folders of them.")],
    folder: Folder = HERE,
    layout: Annotated[Layout, typer.Option("--format", help="What the files hold.")] = "auto",
    ally_failure: Annotated[
        Reading, typer.Option(help="cob, of a new arena: what a broken encoding is read as.")
    ] = "attacker",
    score: Score = "",
    again: Annotated[
        bool, typer.Option("--again", help="Enter results that are in the arena already, too.")
    ] = False,
    columns: Columns = None,
    winner: Winner = None,
    strict: Strict = False,
) -> None:
    """Enter what others recorded: battles, games, whole matches.

    Battles and games (the formats of `peerage rate`) become outside results: kept with the file's name and
    digest as entries of the log, verified like matches, and counted with them; `--source` of the tables says
    whose count. Answers to
    the same challenges, such as Inspect's logs, become games: one for each challenge, of all who answered it,
    in all the files together. Battles of the Color Obfuscation Benchmark are played again from the recorded
    replies. Makes an arena in the folder when there is none. What was entered before is skipped, and results
    that are in the arena already, from another file or as matches of its own, are refused.
    `peerage rejudge FILE...` has the answers of such logs judged.
    """
    from peerage.ratings.frames import named

    if "-" in files:
        raise ImportRefused("a pipe has no name that the ledger could keep: save it as a file first")
    paths = [Path(name) for name in named(files)]
    with refusing():
        form = GivenForm.of(pairs(columns, "--columns"), pairs(winner, "--winner"), strict=strict)
    kinds = [layout if layout != "auto" else kind_of(path, score, form) for path in paths]
    if "cob" in kinds:
        if set(kinds) != {"cob"}:
            raise ImportRefused("battles of the Color Obfuscation Benchmark are entered by themselves")
        for path in paths:
            _enter_cob(path, folder, ally_failure)
    else:
        sources = [([path], kind) for path, kind in zip(paths, kinds, strict=True) if kind != "answers"]
        answers = sorted({path for path, kind in zip(paths, kinds, strict=True) if kind == "answers"})
        sources += [(answers, "answers")] * bool(answers)
        _enter_outside([read(*source, score, form) for source in sources], folder, again=again)


def _enter_outside(found: list[Entry], folder: Path, *, again: bool) -> None:
    from peerage.ledger.topics.outside import enter as write
    from peerage.reading.results.outside import Imported, in_words

    if not again:
        refuse_repeated(found, [])  # before an arena is made for them
    with _arena(folder, _OUTSIDE) as arena, arena.ledger.runner():
        there = entries(arena.ledger)
        known = {source.sha256: source for source, _ in there}
        if not again:
            refuse_repeated([one for one in found if one[0].sha256 not in known], there)
        for source, data in found:
            if not write(arena.ledger, source, data, now_ms()):
                before = "; ".join(["the same bytes", *known.get(source.sha256, source).notes])
                say(f"{source.name}: was entered before ({before}), nothing changed")
                continue
            say(
                f"{source.name}: {in_words(Imported(source, data).counts)} of "
                f"{counted(len(source.players), 'player')}, sha256 {source.sha256[:16]}…"
            )
            for note in source.notes:
                say(f"  {note}")
        say(f"ledger: {place(arena.ledger.address)}")
        if any(source.sha256 not in known for source, _ in found):
            say(f"see them: {program()} verdict{at(folder)}")


def _enter_cob(file: Path, folder: Path, ally_failure: Reading) -> None:
    from hashlib import sha256

    from msgspec.json import decode
    from yaml import safe_dump  # a name that a file brings cannot add settings of its own

    from peerage.games.color_obfuscation import GAME as COLOR_OBFUSCATION
    from peerage.games.color_obfuscation.data_json import (
        SOURCE,
        arena_settings,
        as_recorded,
        entered,
        read_battles,
        recording,
    )
    from peerage.settings import FILE_NAME, SettingsError, rules_of
    from peerage.values.inputs import read_bytes

    body = read_bytes(file)
    with refusing():
        battles = read_battles(body, str(file))
    made = safe_dump(arena_settings(battles, ally_failure), allow_unicode=True, sort_keys=False)
    with _arena(folder, f"# Battles of {SOURCE}, entered by `peerage import`.\n{made}") as arena:
        if COLOR_OBFUSCATION.name not in arena.settings.lineup:
            raise SettingsError(
                f"{folder / FILE_NAME}: this arena plays {arena.settings.game!r}, and the file holds battles "
                f"of {COLOR_OBFUSCATION.name!r}; `--dir FOLDER` makes an arena for them elsewhere"
            )
        rules = rules_of(arena.settings, COLOR_OBFUSCATION.name)
        known = entered(decode(row.body)["drawn"] for row in arena.ledger.fixtures())
        new = [one for one in battles if one.battle.battle_id not in known]
        digest = sha256(body).hexdigest()
        outcomes = arena.admit([recording(one, rules, digest) for one in new])
        pairs = list(zip(new, outcomes, strict=True))
        same = sum([as_recorded(one, outcome) for one, outcome in pairs])
        other = sum([outcome.scores != one.battle.scores for one, outcome in pairs])
        typer.echo(
            f"{counted(len(new), 'battle')} entered, {len(battles) - len(new)} were there already\n"
            f"{same} of {len(new)} come out as recorded when broken encodings are ignored; with "
            f"ally_failure: {rules.ally_failure}, {other} come out otherwise\n"
            f"ledger: {place(arena.ledger.address)}"
        )


def _arena(folder: Path, otherwise: str) -> Arena:
    """The arena in `folder`, made with these settings when there is none."""
    from peerage.arena import open_arena
    from peerage.settings import FILE_NAME, SettingsError
    from peerage.values.outputs import SETTINGS, write

    path = folder / FILE_NAME
    made = not path.exists()
    if made:
        folder.mkdir(parents=True, exist_ok=True)
        write(path, otherwise, SETTINGS)
    try:
        return open_arena(folder)
    except SettingsError:
        if made:
            path.unlink()  # a file that cannot be entered leaves nothing behind
        raise
