"""Options that several commands share."""

from __future__ import annotations

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


Folder = Annotated[Path, typer.Option("--dir", help="The arena's folder.", show_default="here")]
Shape = Annotated[Format, typer.Option("--format", help="How to write the table.")]
Quiet = Annotated[bool, typer.Option("--yes", help="Ask nothing; for scripts.")]

HERE = Path(".")
