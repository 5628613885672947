"""Start a program that cannot read certain files: `python -m peerage.sandbox.confined FILES -- PROGRAM ARGS`.

FILES is a JSON list of absolute paths. The program may do all else that its user may: it is not in a sandbox.
What holds it is Landlock, which only knows what is allowed: everything next to the way to those files, as it
is when the program starts. So a file that it makes in a folder on that way (the arena's own, or one above) it
can read from its next start on; what it keeps belongs into its own folder. It cannot rename from one folder
to another, but copy. Run by root, it has none of root's privileges over the files of others.

The program, and whatever it starts, can neither trace nor look into processes that are not its own, nor
mount; a name, a hard link or a symbolic link that it gives one of the files does not open it either.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Collection, Iterator

from peerage.sandbox.jail import Jail, supported

File = tuple[int, int]
"""Device and inode."""


def available() -> bool:
    """Whether this system can hold a program so."""
    return supported() and Jail().landlock_version() > 0


def readable(hidden: Collection[str]) -> Iterator[str]:
    """The files and folders that together are all but `hidden`; each folder stands for all that is in it."""
    paths = {os.path.realpath(path) for path in hidden}
    files = {found for path in paths if (found := _file(path))}
    way = {"/", "/dev"}
    for path in paths:
        while (path := os.path.dirname(path)) not in way:
            way.add(path)
    todo = ["/"]
    while todo:
        try:
            entries = list(os.scandir(todo.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.path in way and entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
                continue
            try:
                here = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            # A link would allow what it leads to; that is reached by its own path. A disk holds all files.
            secret = entry.path in paths or (here.st_dev, here.st_ino) in files
            if not (secret or stat.S_ISLNK(here.st_mode) or stat.S_ISBLK(here.st_mode)):
                yield entry.path


def _file(path: str) -> File | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def main() -> None:
    hidden, program = json.loads(sys.argv[1]), sys.argv[3:]
    jail = Jail()
    jail.no_new_privileges()
    jail.drop_capabilities()  # of root, who could look into other processes all the same
    if not jail.hide_all_but(readable(hidden)):
        sys.exit("this system has no Landlock, and the program could read the arena's ledger")
    os.execvpe(program[0], program, os.environ)


if __name__ == "__main__":
    main()
