"""Options that several commands share."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How a table is written."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"


class Report(StrEnum):
    """How what is no table is written."""

    text = "text"
    json = "json"


Folder = Annotated[Path, typer.Option("--dir", help="The arena's folder.", show_default="here")]
Shape = Annotated[Format, typer.Option("--format", help="How to write the table.")]
Written = Annotated[Report, typer.Option("--format", help="How to write it.")]
Quiet = Annotated[bool, typer.Option("--yes", help="Ask nothing; for scripts.")]

Force = Annotated[
    bool, typer.Option("--force", help="Replace what is there even if Peerage did not write it.")
]

HERE = Path(".")


def program() -> str:
    """What to type to start this program again: `peerage`, or the path by which it was started."""
    import shutil

    started = Path(sys.argv[0])
    found = shutil.which("peerage")
    if started.parts[-2:] == ("peerage", "__main__.py"):
        return "peerage" if found else f"{shlex.quote(sys.executable)} -m peerage"
    if started.stem != "peerage" or (found and started.exists() and Path(found).samefile(started)):
        return "peerage"
    return shlex.quote(sys.argv[0])


def at(folder: Path) -> str:
    """The option that names `folder`, to follow a command; nothing for the folder one is in."""
    return "" if folder == HERE else f" --dir {shlex.quote(str(folder))}"
