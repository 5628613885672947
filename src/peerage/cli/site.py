"""`peerage site` and `peerage report`: the arena as pages, to publish or to send to somebody."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from peerage.cli.options import HERE, Folder, Force, drawing, group

app = group("Make a web site of the arena.")


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="The folder to write the pages to.")],
    folder: Folder = HERE,
    results: Annotated[
        Path | None,
        typer.Option(help="A repository of published results to build from.", show_default="the arena"),
    ] = None,
    force: Force = False,
) -> None:
    """Write the arena as a folder of pages.

    They work on any web host and opened as files, and are complete without scripts. Building again writes
    only what has changed. A folder that holds something else is left alone.
    """
    with drawing(), TemporaryDirectory() as restored:
        from peerage.site.build import build_folder

        if results is not None:
            from peerage.site.publishing import restore

            folder = Path(restored)
            restore(results, folder)
        built = build_folder(folder, out, force=force)
    gone = f", {built.removed} removed" if built.removed else ""
    typer.echo(f"{built.written:,} pages written, {built.kept:,} unchanged{gone}\nopen {out / 'index.html'}")


@app.command()
def publish(
    results: Annotated[Path, typer.Argument(help="The repository: a clone, or a folder to make one in.")],
    folder: Folder = HERE,
    push: Annotated[bool, typer.Option("--push", help="Push it to its upstream; never by force.")] = False,
    force: Force = False,
) -> None:
    """Commit the results to a Git repository.

    One JSON file a match, leaderboard.json, and what it takes to restore and verify the ledger: the history
    is the audit trail. What is sealed is redacted.
    """
    from peerage.outputs import arena_files

    with drawing():
        from peerage.site.publishing import publish as committed
        from peerage.site.reading import Site

        with closing(Site.open(folder)) as site:
            kept = arena_files(folder, site.ledger.address)
            done = committed(site, results, push, kept, force=force)
    if done.commit:
        typer.echo(f"{done.matches:,} matches new or changed, commit {done.commit} in {results}")
    else:
        typer.echo(f"nothing has changed in {results}")


@app.command()
def init(
    results: Annotated[Path, typer.Argument(help="The results repository.")] = HERE,
    force: Force = False,
) -> None:
    """Write the GitHub Actions workflow that builds and deploys the pages.

    It runs whenever `peerage site publish` has pushed new results.
    """
    from peerage.site.publishing import write_workflow

    file = write_workflow(results, force=force)
    typer.echo(f"wrote {file}; commit and push it, and choose GitHub Actions under Pages")


def report(
    out: Annotated[Path, typer.Argument(help="The file to write.")] = Path("report.html"),
    folder: Folder = HERE,
    force: Force = False,
) -> None:
    """Write one HTML file to send to somebody.

    The verdict stands first, then the evidence. The file needs nothing beside it. An earlier report is
    replaced; any other file only with --force.
    """
    from peerage.outputs import REPORT, arena_files, refuse, write

    with drawing():
        from peerage.site.reading import Site
        from peerage.site.report import report as written

        with closing(Site.open(folder)) as site:
            kept = arena_files(folder, site.ledger.address)
            refuse(out, REPORT, kept, force=force)
            body = written(site)
    write(out, body, REPORT, kept, force=force)
    typer.echo(f"wrote {out}, {len(body) / 1000:.0f} kB")
