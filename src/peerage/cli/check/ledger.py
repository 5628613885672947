"""`peerage verify`, `peerage replay`, `peerage export`: for those who would rather check."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from peerage.cli.shared.options import HERE, Folder, Force, ReportFormat, Written, at, helpers, ledger_in, say
from peerage.values.clock import now_ms
from peerage.values.figures import counted

if TYPE_CHECKING:
    from peerage.ledger import Ledger
    from peerage.ledger.check.kept_checkpoints import Extension
    from peerage.ledger.topics.votes import PeopleVotes

SHOWN = 20
INCOMPLETE = 3
"""The exit code of a replay that found nothing wrong, and could not play everything again."""

Document = Literal[
    "jsonl", "json", "csv", "votes", "people", "cob", "valyrian", "outside", "eee", "eval-results"
]
FOLDERS = ("valyrian", "eee", "eval-results")


def verify(
    folder_: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="The arena's folder, as --dir, or published results.", show_default="here"
        ),
    ] = None,
    folder: Folder = HERE,
    since: Annotated[str, typer.Option(metavar="ROOT", help="A log root that verify printed before.")] = "",
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="A checkpoint or proof that you kept, a folder or a site of them; repeat it."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="Who must have signed them: a public key, or a file of such."),
    ] = None,
    shape: Written = ReportFormat.text,
) -> None:
    """Check that no byte of the ledger was altered.

    Recomputes every digest, reply rows included. Prints two heads: the play head says what was played, the
    log root (as 412:5f0c…) holds everything. Keep the root, or a signed checkpoint: --since and --checkpoint
    tell later whether the ledger goes on from there. Checkpoints in the arena's own folder are always held
    against it. Exits with 0 when the ledger is whole and extends them, with 1 when not, naming what differs.
    """
    from peerage.cli.check.checkpoint import kept_of, keys_of
    from peerage.ledger.check.checkpoints import kept_in
    from peerage.ledger.check.kept_checkpoints import read_head
    from peerage.ledger.check.verify import remedy
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.standings.verify import verify as check

    if folder_ is not None and folder != HERE:
        raise typer.BadParameter("FOLDER and --dir name the same thing; give one of them")
    folder = folder_ or folder
    try:
        kept = [read_head(since)] if since else []
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--since") from None
    keys = keys_of(key or ())
    roots = {one.name for one in kept}
    kept += [one for stated in checkpoint or () for one in kept_of(stated, keys)]
    with (
        _arena(folder) as arena,
        ledger_in(arena) as ledger,
        helpers(ledger.address) as helping,
    ):
        every = (*kept_in(arena), *kept)
        votes = PeopleVotes(ledger.address, arena)
        report = check(ledger, votes=votes, kept=every, helpers=helping)
    code = 0 if report.ok else 1
    if shape is ReportFormat.json:
        _leave(report, code)
    _problems(report.problems)
    say(
        f"{'whole' if report.ok else 'NOT whole'}: {counted(report.matches, 'match')}, "
        f"{counted(report.exchanges, 'reply')}, {report.bytes / 1e6:.1f} MB checked\nplay head: {report.head}"
    )
    if report.log_root:
        say(f"log root: {report.log_root}")
    for stream, chain in report.streams.items():
        say(f"head of {stream}: {chain}")
    if report.copy:
        say("a copy for others: what was in play and the audience's votes are not in it")
    if not report.ended:
        say("the run that wrote last did not come to its end, or is still under way")
    for change in report.changes:
        say(f"settings changed {change.in_words}")
    for one in report.checkpoints:
        if one.extends:
            more = f"{counted(one.matches, 'match')} and {counted(one.entries, 'entry')}"
            say(f"extends {one.name} by {more}{'' if one.name in roots else f'; {_who(one)}'}")
    if report.problems:
        say(remedy(report))
    raise typer.Exit(code)


@contextmanager
def _arena(folder: Path) -> Iterator[Path]:
    """The folder of an arena; where there are published results instead, of the one they make again."""
    if not (folder / "ledger.json").is_file() or (folder / "arena.db").exists():
        yield folder
        return
    from peerage.site.export.publishing import restore

    with TemporaryDirectory() as made:
        restore(folder, Path(made))
        yield Path(made)


def _who(one: Extension) -> str:
    """Who signed a checkpoint."""
    if not one.signed and not one.cosigned:
        return "its signature was not checked: --key KEY names who must have signed it"
    by = [f"signed by {name}" for name in one.signed] + [f"witnessed by {name}" for name in one.cosigned]
    return ", ".join(by)


def replay(
    folder: Folder = HERE,
    repaired: Annotated[
        bool, typer.Option("--repair", help="Write the narrow table and the newest snapshot again.")
    ] = False,
    shape: Written = ReportFormat.text,
) -> None:
    """Recompute every outcome and rating from the replies.

    Works offline, and compares with what is on record. Exits with 0 when all follows, with 1 when something
    differs, and with 3 when nothing differs but some matches cannot be recomputed here: of a version of their
    game that this release does not have (the command that replays them is printed), or sealed in this copy.
    What else tables read follows from the records: --repair writes it again, where the records replay.
    """
    from peerage.engine.again.replay import repair
    from peerage.engine.again.replay import replay as recompute

    with ledger_in(folder) as ledger, helpers(ledger.address) as helping:
        report = (repair if repaired else recompute)(ledger, helpers=helping, folder=folder)
    code, said = 0, "all follows"
    if not report.ok:
        code, said = 1, "replay differs"
    elif not report.complete:
        code, said = INCOMPLETE, "nothing differs"
    if shape is ReportFormat.json:
        _leave(report, code)
    _problems(report.differences)
    say(
        f"{said}: {report.recomputed:,} of {counted(report.matches, 'match')} recomputed, {report.as_stated} "
        "without a result before the game was asked and taken as stated"
    )
    if repaired:
        written = "the narrow table and the newest snapshot are written again"
        say(written if report.ok else "nothing was written")
    for one in report.elsewhere:
        say(
            f"not recomputable here: {counted(one.matches, 'match')} of {one.game} version {one.version} "
            f"({one.first:,} to {one.last:,}). {_how(one.release, at(folder))}"
        )
    if report.sealed:
        say(
            f"not recomputable here: {counted(report.sealed, 'match that is', 'matches that are')} sealed "
            "in this copy. Anyone who has the whole ledger can replay them"
        )
    raise typer.Exit(code)


def _how(release: str, at_folder: str) -> str:
    """What replays matches that another release, or another file, played, in an environment of its own."""
    from peerage.games import FILE
    from peerage.values.texts import visible

    ours, *more = visible(release).split()
    if FILE in release:
        file, _, digest = [ours, *more][-1].partition(f"@{FILE}")
        return f"Another {file} played them, with SHA-256 {digest}: put it back to replay them"
    command = " ".join(["uvx --from", quote(ours), *[f"--with {quote(one)}" for one in more], "peerage"])
    return f"This replays them:\n  {command} replay{at_folder}"


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
        _problems(report.problems)
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


def export(
    folder: Folder = HERE,
    shape: Annotated[Document, typer.Option("--format", help="How to write it.")] = "jsonl",
    to: Annotated[Path | None, typer.Option(help="valyrian, eee, eval-results: the folder to write.")] = None,
    dataset: Annotated[
        str,
        typer.Option(metavar="OWNER/NAME", help="eval-results: the arena's dataset at Hugging Face."),
    ] = "",
    force: Force = False,
) -> None:
    """Write all finished matches to standard output.

    jsonl and json hold one self-contained document a match, every reply included; csv is one line per
    match and contestant; votes is one line of JSON for each judge's vote on a duel, a battle in LMArena's
    columns, and people the same for each vote of an audience or an expert, which `peerage annotate
    --from` reads. cob is the data.json of the Color Obfuscation Benchmark; valyrian writes the files of
    the Valyrian Games (games/, game_history.json, leaderboard.json with exact TrueSkill) into the folder
    --to; outside the imported results, one a line with its source. `peerage rate` and `peerage import`
    read them all.

    Into the folder --to, eee writes a record and all matches of each player in the form of Every Eval
    Ever, which both read too; eval-results a file for each model's repository, with its rating as a result
    of the benchmark --dataset. Nothing is sent anywhere.

    What is sealed is redacted, and nothing is written of a series that goes on, nor of what came after it.
    """
    if (shape in FOLDERS) != (to is not None):
        raise typer.BadParameter(f"--to FOLDER goes with --format {', '.join(FOLDERS)}, which need it")
    if (shape == "eval-results") != bool(dataset):
        raise typer.BadParameter("--dataset OWNER/NAME goes with --format eval-results, which needs it")
    from peerage.ledger.topics.votes import PeopleVotes
    from peerage.reading.moment import public

    with ledger_in(folder) as opened:
        ledger = public(opened)
        if to is not None:
            files = _files(ledger, shape, folder, PeopleVotes(opened.address, folder), dataset)
            say(f"wrote {counted(_write(files, opened, folder, to, force), 'file')} into {to}")
        else:
            written = 0
            for piece in _pieces(ledger, shape, PeopleVotes(opened.address, folder)):
                sys.stdout.write(piece)
                written += len(piece.strip("[]\n "))
            if not written and shape in _NOTHING:
                say(f"nothing is written: {_NOTHING[shape]}", err=True)


_NOTHING: Mapping[Document, str] = {
    "votes": "no judge has voted on a duel here; `--format csv` writes the results",
    "people": "nobody of an audience and no expert has voted here; `peerage annotate` takes votes",
    "outside": "nothing was imported here",
    "cob": "no battle of color-obfuscation is decided here; `--format csv` writes the results",
}


def disclose(
    folder: Folder = HERE, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Open the arena's secret and end the arena.

    Every draw follows from the secret, to which the ledger commits before the first match. Once it is
    open, anyone can check that nobody chose what was drawn, and copies show all that was sealed. No match can
    follow.
    """
    from peerage.ledger.topics.secret import disclose as open_secret
    from peerage.ledger.topics.secret import strange_keys

    with ledger_in(folder) as ledger, ledger.runner():
        done = ledger.heads()[1]
        if not yes:
            typer.confirm(
                f"This ends the arena after {counted(done, 'match')} and opens all that is sealed. Go on?",
                abort=True,
            )
        opened = open_secret(ledger, now_ms())
        strange = list(strange_keys(ledger, done))
    say(f"secret: {opened.value}")
    if strange:
        _problems([f"match {number}: its key does not follow from the secret" for number in strange])
        raise typer.Exit(1)
    if done:
        say(f"the keys of matches 1 to {done} follow from it")


def _pieces(ledger: Ledger, shape: Document, people: PeopleVotes) -> Iterator[str]:
    """The export, piece by piece."""
    if shape == "votes":
        from peerage.interchange.battles import battles

        return battles(ledger)
    if shape == "people":
        from peerage.site.people.vote_files import written

        return written(ledger, people.votes())
    if shape == "outside":
        from peerage.ledger.topics.outside import lines

        return lines(ledger)
    from peerage.games import GAMES
    from peerage.ledger.out.export import documents
    from peerage.ledger.out.export import export as pieces

    if shape == "cob":
        originals = [game.original for game in GAMES.values() if game.original]
        return next(one.write(documents(ledger)) for one in originals if one.layout == shape)
    return pieces(ledger, shape)  # type: ignore[arg-type]


def _files(
    ledger: Ledger, shape: Document, folder: Path, people: PeopleVotes, dataset: str
) -> Iterator[tuple[str, str]]:
    """The files of an export that fills a folder, by name."""
    if shape == "valyrian":
        from peerage.games.challenge_exchange.valyrian import files
        from peerage.interchange.challenges import finished

        yield from files(finished(ledger))
        return
    from datetime import UTC, datetime

    import peerage
    from peerage.interchange.evaluations import eval_results, every_eval_ever
    from peerage.reading.reading import Reading
    from peerage.settings import FILE_NAME, ArenaSettings, load
    from peerage.views.leaderboard.board import board

    settings = load(folder, reading=True) if (folder / FILE_NAME).exists() else ArenaSettings()
    found = board(Reading(settings, ledger))
    name = settings.name or folder.resolve().name
    if shape == "eee":
        yield from every_eval_ever(ledger, name, found, peerage.__version__, now_ms())
    else:
        yield from eval_results(name, found, dataset, datetime.fromtimestamp(now_ms() / 1000, UTC))


def _write(files: Iterator[tuple[str, str]], ledger: Ledger, folder: Path, to: Path, force: bool) -> int:
    """Write files into a folder; how many they are."""
    from peerage.values.outputs import Export, arena_files

    with Export.into(to, arena_files(folder, ledger.address), force=force) as export:
        for name, text in files:
            export.write(name, text.encode("utf-8", "replace"))
    return len(export.digests)


def _leave(report: Any, code: int) -> None:
    """Write a report with its verdict as one JSON object, and leave."""
    import msgspec

    from peerage.cli.shared.output import show_json

    show_json({"ok": report.ok, **msgspec.to_builtins(report)})
    raise typer.Exit(code)


def _problems(found: Any) -> None:
    for problem in found[:SHOWN]:
        say(f"  {problem}")
    if len(found) > SHOWN:
        say(f"  … and {len(found) - SHOWN} more")
