"""`peerage verify`, `replay` and `disclose`: for those who would rather check."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from peerage.cli.shared.options import (
    HERE,
    Folder,
    ReportFormat,
    Written,
    at,
    helpers,
    ledger_in,
    published,
    say,
)
from peerage.values.clock import now_ms
from peerage.values.figures import counted
from peerage.values.texts import visible

if TYPE_CHECKING:
    from peerage.ledger.check.kept_checkpoints import Extension
    from peerage.ledger.check.verify import Report

SHOWN = 20
INCOMPLETE = 3
"""The exit code of a replay that found nothing wrong, and could not play everything again."""


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
    roots = {copy.name for copy in kept}
    kept += [copy for stated in checkpoint or () for copy in kept_of(stated, keys)]
    with _arena(folder) as arena, ledger_in(arena) as ledger, helpers(ledger.address) as helping:
        every = (*kept_in(arena), *kept)
        report = check(ledger, votes=PeopleVotes(ledger.address, arena), kept=every, helpers=helping)
    code = 0 if report.ok else 1
    if shape is ReportFormat.json:
        _leave(report, code)
    _show_report(report, roots)
    raise typer.Exit(code)


def _show_report(report: Report, roots: Collection[str]) -> None:
    """Say what verification found; `roots` are the log roots among what the ledger extends."""
    from peerage.ledger.check.verify import remedy

    show_problems(report.problems)
    say(
        f"{'whole' if report.ok else 'NOT whole'}: {counted(report.matches, 'match')}, "
        f"{counted(report.exchanges, 'reply')}, {report.bytes / 1e6:.1f} MB checked\nplay head: {report.head}"
    )
    if report.media.number:
        say(f"pictures and sounds: {report.media.number:,}, {report.media.bytes / 1e6:.1f} MB")
    if report.media.missing and report.copy:
        say(f"{counted(report.media.missing, 'picture or sound', 'pictures or sounds')} missing in this copy")
    if report.outside:
        files = [f"{count:,} of {visible(name)}" for name, count in report.outside.items()]
        say(f"outside results: {', '.join(files)}")
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
    for copy in report.checkpoints:
        if copy.extends:
            more = f"{counted(copy.matches, 'match')} and {counted(copy.entries, 'entry')}"
            say(f"extends {copy.name} by {more}{'' if copy.name in roots else f'; {_who(copy)}'}")
    if report.problems:
        say(remedy(report))


@contextmanager
def _arena(folder: Path) -> Iterator[Path]:
    """The folder of an arena; where there are published results instead, of the one they make again."""
    if not published(folder):
        yield folder
        return
    from peerage.site.export.publishing import restore

    with TemporaryDirectory() as made:
        restore(folder, Path(made))
        yield Path(made)


def _who(copy: Extension) -> str:
    """Return who signed a checkpoint."""
    if not copy.signed and not copy.cosigned:
        return "its signature was not checked: --key KEY names who must have signed it"
    by = [f"signed by {name}" for name in copy.signed] + [f"witnessed by {name}" for name in copy.cosigned]
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
    code, verdict = 0, "all follows"
    if not report.ok:
        code, verdict = 1, "replay differs"
    elif not report.complete:
        code, verdict = INCOMPLETE, "nothing differs"
    if shape is ReportFormat.json:
        _leave(report, code)
    show_problems(report.differences)
    stated = (
        f", {report.as_stated:,} that ended before the game began taken as stated" if report.as_stated else ""
    )
    say(f"{verdict}: {report.recomputed:,} of {counted(report.matches, 'match')} recomputed{stated}")
    if repaired:
        written = "the narrow table and the newest snapshot are written again"
        say(written if report.ok else "nothing was written")
    for other in report.elsewhere:
        say(
            f"not recomputable here: {counted(other.matches, 'match')} of {other.game} "
            f"version {other.version} ({other.first:,} to {other.last:,}). {_how(other.release, at(folder))}"
        )
    if report.sealed:
        say(
            f"not recomputable here: {counted(report.sealed, 'match that is', 'matches that are')} sealed "
            "in this copy. Anyone who has the whole ledger can replay them"
        )
    raise typer.Exit(code)


def _how(release: str, at_folder: str) -> str:
    """Return what replays matches that another release, or another file, played, in an environment of its
    own."""
    from peerage.games import FILE
    from peerage.values.texts import visible

    ours, *more = visible(release).split()
    if FILE in release:
        file, _, digest = [ours, *more][-1].partition(f"@{FILE}")
        return f"Another {file} played them, with SHA-256 {digest}: put it back to replay them"
    command = " ".join(["uvx --from", quote(ours), *[f"--with {quote(name)}" for name in more], "peerage"])
    return f"This replays them:\n  {command} replay{at_folder}"


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
        show_problems([f"match {number}: its key does not follow from the secret" for number in strange])
        raise typer.Exit(1)
    if done:
        say(f"the keys of matches 1 to {done} follow from it")


def _leave(report: Any, code: int) -> None:
    """Write a report with its verdict as one JSON object, and leave."""
    import msgspec

    from peerage.cli.shared.output import show_json

    show_json({"ok": report.ok, **msgspec.to_builtins(report)})
    raise typer.Exit(code)


def show_problems(problems: Any) -> None:
    for problem in problems[:SHOWN]:
        say(f"  {problem}")
    if len(problems) > SHOWN:
        say(f"  … and {len(problems) - SHOWN} more")
