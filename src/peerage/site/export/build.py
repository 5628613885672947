"""The static export: every page as a file, written where its bytes differ from what is there.

Transcripts and their proofs are most of the work. Of a long arena as many processes as there are cores make
them, while this one makes all other pages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout

from peerage.engine.run.process import tuned
from peerage.ledger import open_ledger
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint
from peerage.ledger.stores import access
from peerage.ledger.topics.votes import PeopleVotes
from peerage.settings import load
from peerage.site.addresses import number_in
from peerage.site.pages import downloads
from peerage.site.pages.router import body, paths
from peerage.site.reading import Site
from peerage.values.outputs import SITE, Folder, OutputRefused, arena_files, marked
from peerage.values.parallel import Lost, Processes

FILES = ".peerage-site/files.json"
"""The paths that builds wrote, so that the next one removes those that are pages no more."""

CHUNK = 50
"""Pages of transcripts that a process makes at a time."""

PARALLEL_FROM = 100
"""Pages of transcripts and proofs from which on it is worth more than one process."""


class SiteError(Exception):
    """The pages cannot be written as asked; the message says why and how to fix it."""


class Built(NamedTuple):
    """Files that a build wrote, files that stayed as they were, and files that it removed; `discloses` says
    that they show tasks of the owner's."""

    written: int
    kept: int
    removed: int
    discloses: bool


def build(site: Site, folder: Path, out: Path, workers: int | None = None, *, force: bool = False) -> Built:
    """Write the pages of `site`, whose arena is in `folder`, to `out`.

    What an earlier build wrote and is no page any more is removed; other files are left alone. `workers`
    processes make transcripts, by default as many as there are cores where that is worth it. Raises
    OutputRefused when `out` holds something else, unless told to `force` it, and where a link leads out of
    it; SiteError, LedgerError and OSError.
    """
    if not force:
        _refuse_another(out)
    target = Folder(out, arena_files(folder, site.ledger.address))
    with _alone(target):
        target.tidy()
        before, pages, copies = _listed(target), list(paths(site)), downloads.paths(site)
        wanted = dict.fromkeys((*pages, *copies))
        # An interrupted build leaves a folder known to hold a site, and whose files are known.
        _list(target, {**dict.fromkeys(before), **wanted})
        transcripts = [path for path in pages if _of_matches(path)]
        others = [path for path in pages if not _of_matches(path)]
        if workers is None:
            workers = (os.cpu_count() or 1) if len(transcripts) >= PARALLEL_FROM else 1
        if workers > 1:
            written = _in_parallel(site, folder, target, workers, transcripts, (others, copies))
        else:
            written = _write(site, target, pages) + _copied(site, target, copies)
        removed = sum([_removed(target, path) for path in before if path not in wanted])
        _list(target, wanted)
    return Built(written, len(wanted) - written, removed, site.discloses)


def build_folder(folder: Path, out: Path, *, url: str = "", force: bool = False) -> Built:
    """Build the site of the arena in `folder`; with its `url` it gets a page for addresses at which nothing
    is, and a picture for links to it. Raises SettingsError too."""
    with closing(Site.open(folder, url=url)) as site:
        return build(site, folder, out, force=force)


def _of_matches(path: str) -> bool:
    """Return whether a path is that of transcripts or proofs."""
    return bool(number_in(path, "matches", ".html") or number_in(path, "proofs", ".jsonl"))


def _in_parallel(
    site: Site,
    folder: Path,
    target: Folder,
    workers: int,
    transcripts: Sequence[str],
    ours: tuple[Sequence[str], Sequence[str]],
) -> int:
    """Have processes make the transcripts, and make our pages and copies; how many files were written."""
    arena = folder.resolve(), site.ledger.address, site.number, tuple(site.checkpoints)
    with Processes(workers, access(site.ledger.address)) as helpers:
        parts = [
            helpers.submit(_transcripts, *arena, target, transcripts[at : at + CHUNK])
            for at in range(0, len(transcripts), CHUNK)
        ]
        written = _write(site, target, ours[0]) + _copied(site, target, ours[1])
        try:
            return written + sum([part.result() for part in parts])
        except Lost as lost:
            raise SiteError(f"{lost}; build again") from None


def _transcripts(
    folder: Path,
    address: str,
    number: int,
    checkpoints: Sequence[KeptCheckpoint],
    target: Folder,
    wanted: Sequence[str],
) -> int:
    """Write pages in a process of their own; how many differed."""
    site = _opened(folder, address, number)
    site.checkpoints = checkpoints  # one may have been signed since
    return _write(site, target, wanted)


@lru_cache(1)
def _opened(folder: Path, address: str, number: int) -> Site:
    settings = load(folder, reading=True)
    ledger = open_ledger(address, folder, create=False)
    return Site(settings, ledger, PeopleVotes(ledger.address, folder), number=number, folder=folder)


def _write(site: Site, target: Folder, wanted: Iterable[str]) -> int:
    """Write these pages where they differ from what is there; how many did."""
    written = 0
    with tuned():
        for path in wanted:
            made = body(site, path)
            assert made is not None, path
            written += target.write(path, made, durable=False)
    return written


def _copied(site: Site, target: Folder, copies: Iterable[str]) -> int:
    return sum([downloads.update(site, path, target.place(path)) for path in copies])


def _removed(target: Folder, path: str) -> bool:
    with suppress(OutputRefused):  # the list may be a stranger's
        return target.remove(path)
    return False


def _listed(target: Folder) -> list[str]:
    """The files of earlier builds."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((target.root / FILES).read_bytes(), type=list[str])
    return []


def _list(target: Folder, files: Iterable[str]) -> None:
    target.write(FILES, msgspec.json.encode(list(files)))


def _refuse_another(out: Path) -> None:
    """Raise OutputRefused when the folder is somebody else's."""
    if (out / FILES).parent.is_dir() or marked(out / "index.html", SITE):
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputRefused(
            f"{out} exists and holds no site that Peerage wrote; name a new or an empty folder, or write "
            "into it with --force"
        )


@contextmanager
def _alone(target: Folder) -> Iterator[None]:
    """Hold the folder: two builds at once would write over each other's files."""
    lock = target.place(f"{Path(FILES).parent}/lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise SiteError(f"another build is writing to {target.root}; wait until it has ended") from None
