"""Whether a build would write what is there already: nothing that the last one read has changed, and nothing
that it wrote.

A file is taken for unchanged while its size and the time of its last change are. Of a ledger on a server this
cannot be said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from peerage.ledger.checkpoints import FOLDER
from peerage.outputs import files_of
from peerage.site.reading import Site


def source(site: Site, program: bytes) -> str:
    """A digest of what the pages of `site` are made from, by a program with this digest: to be asked before
    any is made. Empty where it cannot be said."""
    if not site.ledger.address.startswith("sqlite:"):
        return ""
    # To read a ledger touches its index of pages that wait to be taken over, and no page of its own.
    kept = [file for file, _ in files_of(site.folder, site.ledger.address) if not file.name.endswith("-shm")]
    # A folder of modules changes with what is installed, renewed or removed; where we are, with anything.
    folders = [
        Path(name) for name in sys.path if Path(name).resolve() not in (Path.cwd(), site.folder.resolve())
    ]
    files = [*kept, *sorted((site.folder / FOLDER).glob("*")), *folders]
    asked = (site.url, site.menu, site.number, site.chain, site.settings, sys.version, program)
    return sha256(f"{asked!r}{stamps(files)}".encode("utf-8", "surrogatepass")).hexdigest()


def stamps(files: Iterable[Path]) -> str:
    """A digest of the sizes of files and the times of their last changes; one that holds nothing is as if it
    was not there."""
    made_of = sha256()
    for file in files:
        with suppress(OSError):
            found = file.stat()
            if found.st_size:
                line = f"{file}\0{found.st_size}\0{found.st_mtime_ns}\n"
                made_of.update(line.encode("utf-8", "surrogatepass"))
    return made_of.hexdigest()


def elsewhere() -> list[str]:
    """The files of modules that were loaded from anywhere but where Python and its packages are installed: a
    game that somebody is writing, an agent."""
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    installed = (sys.prefix, sys.base_prefix, "<")
    return sorted([file for file in files if file and not file.startswith(installed)])
