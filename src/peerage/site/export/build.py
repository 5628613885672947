"""The static export: every page as a file, written where its bytes differ from what is there.

Matches and their proofs are most of the work. Of a long arena as many processes as there are cores make them,
while this one makes all other pages; pages of matches of which nothing has changed are not made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache, partial
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
from peerage.site.addresses import SHARD, match_page, number_in
from peerage.site.export.made import CHUNK, Stale, made_of, note, stale
from peerage.site.pages import downloads, match_list, matches
from peerage.site.pages.router import body, document, links, paths
from peerage.site.reading import Site
from peerage.values.outputs import SITE, Folder, OutputRefused, arena_files, marked
from peerage.values.parallel import Lost, Processes
from peerage.views.match.finder import MatchLine, line_of

FILES = ".peerage-site/files.json"
"""The paths that builds wrote, so that the next one removes those that are pages no more."""

PROOFS = 50
"""Files of proofs that a process makes at a time."""

PARALLEL_FROM = 600
"""Pages of matches and proofs from which on it is worth more than one process."""


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
        listed = {*match_list.paths(site)}
        others = [path for path in pages if number_in(path, "match", ".html") is None and path not in listed]
        made = made_of(site)
        parts = [*stale(site, target, made)]
        if workers is None:
            pages_to_make = CHUNK * sum([len(part.chunks) for part in parts]) + len(others)
            workers = (os.cpu_count() or 1) if pages_to_make >= PARALLEL_FROM else 1
        if workers > 1:
            written = _in_parallel(site, folder, target, workers, parts, others)
        else:
            written = sum([_write_matches(site, target, part) for part in parts]) + _write(
                site, target, others
            )
        written += sum([downloads.update(site, path, target.place(path)) for path in copies])
        note(site, target, made)
        removed = sum([_removed(target, path) for path in before if path not in wanted])
        _list(target, wanted)
    return Built(written, len(wanted) - written, removed, site.discloses)


def build_folder(folder: Path, out: Path, *, url: str = "", force: bool = False) -> Built:
    """Build the site of the arena in `folder`; with its `url` it gets a page for addresses at which nothing
    is, and a picture for links to it. Raises SettingsError too."""
    with closing(Site.open(folder, url=url)) as site:
        return build(site, folder, out, force=force)


def _in_parallel(
    site: Site, folder: Path, target: Folder, workers: int, parts: Sequence[Stale], pages: Sequence[str]
) -> int:
    """Have processes make matches and proofs, and make the other pages; how many files were written."""
    theirs = [path for path in pages if number_in(path, "proofs", ".jsonl")]
    ours = [path for path in pages if not number_in(path, "proofs", ".jsonl")]
    arena = folder.resolve(), site.ledger.address, site.number, site.url
    make = partial(_part, *arena, tuple(site.checkpoints), target)
    with Processes(workers, access(site.ledger.address)) as helpers:
        jobs = [helpers.submit(make, part, ()) for part in parts]
        jobs += [helpers.submit(make, None, theirs[at : at + PROOFS]) for at in range(0, len(theirs), PROOFS)]
        written = _write(site, target, ours)
        try:
            return written + sum([job.result() for job in jobs])
        except Lost as lost:
            raise SiteError(f"{lost}; build again") from None


def _part(
    folder: Path,
    address: str,
    number: int,
    url: str,
    checkpoints: Sequence[KeptCheckpoint],
    target: Folder,
    part: Stale | None,
    proofs: Sequence[str],
) -> int:
    """Write pages in a process of their own; how many differed."""
    site = _opened(folder, address, number, url)
    site.checkpoints = checkpoints  # one may have been signed since
    return (_write_matches(site, target, part) if part else 0) + _write(site, target, proofs)


def _write_matches(site: Site, target: Folder, part: Stale) -> int:
    """Write the pages of some matches, and their piece of the list, where they differ from what is there; how
    many did. Each match is read once."""
    written, lines, last = 0, list[MatchLine](), min(part.first + SHARD - 1, site.number)
    rows, found = site.moment.summaries(part.first, last), site.matches(part.first, last)
    with tuned():
        for place, (match, row, plain) in enumerate(zip(found, rows, part.notable, strict=True)):
            lines.append(line_of(match, row, plain))
            if part.first + place - place % CHUNK in part.chunks:
                page = matches.page_of(site, part.first + place, match)
                path = match_page(match.number)
                written += target.write(path, document(site, path, page), durable=False)
        script = match_list.as_script(part.first, lines, links(site, match_list.MATCHES))
        return written + target.write(match_list.shard_path(part.first), script, durable=False)


@lru_cache(1)
def _opened(folder: Path, address: str, number: int, url: str) -> Site:
    settings = load(folder, reading=True)
    ledger = open_ledger(address, folder, create=False)
    return Site(settings, ledger, PeopleVotes(ledger.address, folder), number=number, folder=folder, url=url)


def _write(site: Site, target: Folder, wanted: Iterable[str]) -> int:
    """Write these pages where they differ from what is there; how many did."""
    written = 0
    with tuned():
        for path in wanted:
            made = body(site, path)
            assert made is not None, path
            written += target.write(path, made, durable=False)
    return written


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
