"""`peerage site` and `peerage report`: the arena as pages, to publish or to send to somebody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from peerage.cli.options import HERE, Folder

app = typer.Typer(help="Make a web site of the arena.", no_args_is_help=True, rich_markup_mode=None)


class SiteExtraMissing(Exception):
    """What draws pages is not installed; the message says how to mend it."""


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="The folder to write the pages to.")],
    folder: Folder = HERE,
) -> None:
    """Write the arena as a folder of pages.

    They work on any web host and opened as files, and are complete without scripts. Building again writes
    only what has changed.
    """
    with drawing():
        from peerage.site.build import build_folder

        built = build_folder(folder, out)
    gone = f", {built.removed} removed" if built.removed else ""
    typer.echo(f"{built.written:,} pages written, {built.kept:,} unchanged{gone}\nopen {out / 'index.html'}")


def report(
    out: Annotated[Path, typer.Argument(help="The file to write.")] = Path("report.html"),
    folder: Folder = HERE,
) -> None:
    """Write one HTML file to send to somebody.

    The verdict stands first, then the evidence. The file needs nothing beside it.
    """
    with drawing():
        from peerage.site.reading import Site
        from peerage.site.report import report as written

        with closing(Site.open(folder)) as site:
            body = written(site)
    out.write_bytes(body)
    typer.echo(f"wrote {out}, {len(body) / 1000:.0f} kB")


@contextmanager
def drawing() -> Iterator[None]:
    """Say how to install what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("peerage"):
            raise
        raise SiteExtraMissing(
            f"pages need {error.name}, which is not installed; run `pip install 'peerage[site]'`"
        ) from None
