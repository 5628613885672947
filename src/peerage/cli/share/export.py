"""`peerage export` and `peerage copy`: an arena for others, in their forms or whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from peerage.cli.check.ledger import show_problems
from peerage.cli.shared.options import HERE, Folder, Force, ledger_in, say
from peerage.ledger import Ledger
from peerage.values.clock import now_ms
from peerage.values.figures import counted

Document = Literal[
    "jsonl", "json", "csv", "votes", "people", "cob", "valyrian", "outside", "eee", "eval-results"
]
FOLDERS = ("valyrian", "eee", "eval-results")


def export(
    folder: Folder = HERE,
    shape: Annotated[Document, typer.Option("--format", help="How to write it.")] = "jsonl",
    to: Annotated[
        Path | None, typer.Option(help="valyrian, eee, eval-results, outside: the folder to write.")
    ] = None,
    dataset: Annotated[
        str, typer.Option(metavar="OWNER/NAME", help="eval-results: the arena's dataset at Hugging Face.")
    ] = "",
    force: Force = False,
) -> None:
    """Write all finished matches to standard output.

    jsonl and json hold one self-contained document a match, every reply included; csv is one line per
    match and contestant; votes is one line of JSON for each judge's vote on a duel, a battle in LMArena's
    columns, and people the same for each vote of an audience or an expert, which `peerage annotate
    --from` reads. cob is the data.json of the Color Obfuscation Benchmark; valyrian writes the files of
    the Valyrian Games (games/, game_history.json, leaderboard.json with exact TrueSkill) into the folder
    --to; outside the imported results, one a line with its source, and with --to a file of each source.
    `peerage rate` and `peerage import` read them all.

    Into the folder --to, eee writes a record and all matches of each player in the form of Every Eval
    Ever, which both read too; eval-results a file for each model's repository, with its rating as a result
    of the benchmark --dataset. Nothing is sent anywhere.

    What is sealed is redacted, and nothing is written of a series that goes on, nor of what came after it.
    """
    if shape != "outside" and (shape in FOLDERS) != (to is not None):
        raise typer.BadParameter(f"--to FOLDER goes with --format {', '.join(FOLDERS)}, which need it")
    if (shape == "eval-results") != bool(dataset):
        raise typer.BadParameter("--dataset OWNER/NAME goes with --format eval-results, which needs it")
    from peerage.interchange.exports import files, pieces
    from peerage.ledger.topics.outside import sources
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.reading.moment import public
    from peerage.site.people.vote_files import written as people

    with ledger_in(folder) as opened:
        ledger = public(opened)
        if (
            shape == "outside"
            and to is None
            and len({source.layout in _VOTES for source in sources(ledger)}) > 1
        ):
            raise typer.BadParameter(
                "votes and games do not fit one file: `--to FOLDER` writes one for each source"
            )
        if to is not None:
            parts = files(ledger, shape, folder, dataset, now_ms())
            say(f"wrote {counted(_write(parts, opened, folder, to, force), 'file')} into {to}")
        else:
            written, votes = 0, PeopleVotes(opened.address, folder)
            for piece in people(ledger, votes.votes()) if shape == "people" else pieces(ledger, shape):
                sys.stdout.write(piece)
                written += len(piece.strip("[]\n "))
            if not written and shape in _NOTHING:
                say(f"nothing is written: {_NOTHING[shape]}", err=True)


_VOTES = ("battles", "cob", "fastchat")
_NO_MATCH = "no match was played here; `--format outside` writes the results of others, if there are some"
_NOTHING: Mapping[Document, str] = {
    **dict.fromkeys(("jsonl", "json"), _NO_MATCH),
    "votes": "no judge has voted on a duel here; `--format csv` writes the results",
    "people": "nobody of an audience and no expert has voted here; `peerage annotate` takes votes",
    "outside": "nothing was imported here",
    "cob": "no battle of color-obfuscation is decided here; `--format csv` writes the results",
}


def _write(files: Iterator[tuple[str, str]], ledger: Ledger, folder: Path, to: Path, force: bool) -> int:
    """Write files into a folder; how many they are."""
    from peerage.values.outputs import ExportFolder, arena_files

    with ExportFolder.into(to, arena_files(folder, ledger.address), force=force) as export:
        for name, text in files:
            export.write(name, text.encode("utf-8", "replace"))
    return len(export.digests)


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="An arena's folder, or a ledger's address.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The address of an empty place.")],
) -> None:
    """Copy a whole ledger into another store, and verify the copy.

    An address is `sqlite:///FILE`, `postgresql://HOST/DATABASE`, `mongodb://HOST/DATABASE`, or
    `'$DATABASE_URL'`, the one that stands in that variable of the environment or of .env. Votes come along.
    A run may go on in FROM meanwhile: the copy is of one moment, and has both heads of FROM as it was then.
    FROM stays as it is.
    """
    from contextlib import closing

    from peerage.ledger import open_ledger
    from peerage.ledger.out.copying import copy as copied
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.standings.verify import verify as check

    address, folder = _place(source)
    with (
        closing(open_ledger(address, folder, create=False)) as ours,
        closing(open_ledger(target, HERE, create=True)) as theirs,
    ):
        votes = PeopleVotes(ours.address, folder), PeopleVotes(theirs.address, HERE)
        pin = copied(ours, theirs, votes)
        report = check(theirs, votes=votes[1])
        show_problems(report.problems)
        say(
            f"copied {counted(report.matches, 'match')}, {pin.issued - report.matches:,} under way and "
            f"{counted(votes[1].count(), 'vote')}; the copy is {'whole' if report.ok else 'NOT whole'}\n"
            f"play head: {report.head}\nlog root: {report.log_root}"
        )
        if report.ok:
            named = target if target.startswith("$") else theirs.address
            say(f"to play on there, write into arena.yaml: `ledger: {named}`")
    raise typer.Exit(0 if report.ok else 1)


def _place(text: str) -> tuple[str, Path]:
    """The address of a ledger and the folder that it is relative to, from either."""
    from peerage.settings import FILE_NAME, SettingsError, load

    folder = Path(text)
    if "://" in text or text.startswith("$"):
        return text, HERE
    if not (folder / FILE_NAME).exists():
        raise SettingsError(f"{text!r} is neither a folder with an {FILE_NAME} nor the address of a ledger")
    return load(folder, reading=True).ledger, folder
