"""The static export: every page as a file, written where its bytes differ from what is there.

Matches and their proofs are most of the work. Of a long arena as many processes as there are cores make them,
while this one makes all other pages; pages of matches of which nothing has changed are not made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout

import peerage
from peerage.engine.run.process import tuned
from peerage.games import installed
from peerage.ledger import open_ledger
from peerage.ledger.check.kept_checkpoints import KeptCheckpoint
from peerage.ledger.stores import access
from peerage.ledger.topics.votes import PeopleVotes
from peerage.settings import load
from peerage.site.addresses import match_page, number_in
from peerage.site.pages import downloads, matches
from peerage.site.pages.matches import RENDERED, framed
from peerage.site.pages.router import body, document, paths
from peerage.site.reading import Site
from peerage.values.outputs import SITE, Folder, OutputRefused, arena_files, marked
from peerage.values.parallel import Lost, Processes

FILES = ".peerage-site/files.json"
"""The paths that builds wrote, so that the next one removes those that are pages no more."""

CHUNK = 100
"""Pages of matches that a process makes at a time."""

PARALLEL_FROM = 600
"""Pages of matches and proofs from which on it is worth more than one process."""

MADE = ".peerage-site/matches.json"
"""What pages of matches were made of, and their files, by the place of the first of so many at a time: those
of which nothing has changed are not made again."""


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
        others = [path for path in pages if number_in(path, "match", ".html") is None]
        made_of, known = _made_of(site), _known(target)
        parts = [
            first
            for first, made in made_of.items()
            if not made or known.get(first) != [made, _stamp(site, target, first)]
        ]
        proofs = [path for path in others if number_in(path, "proofs", ".jsonl")]
        if workers is None:
            pages_to_make = CHUNK * len(parts) + len(proofs)
            workers = (os.cpu_count() or 1) if pages_to_make >= PARALLEL_FROM else 1
        if workers > 1:
            others = [path for path in others if path not in {*proofs}]
            written = _in_parallel(site, folder, target, workers, (parts, proofs), (others, copies))
        else:
            written = sum([_write_matches(site, target, first) for first in parts])
            written += _write(site, target, others) + _copied(site, target, copies)
        stamps = {first: [made, _stamp(site, target, first)] for first, made in made_of.items()}
        target.write(MADE, msgspec.json.encode(stamps))
        removed = sum([_removed(target, path) for path in before if path not in wanted])
        _list(target, wanted)
    return Built(written, len(wanted) - written, removed, site.discloses)


def build_folder(folder: Path, out: Path, *, url: str = "", force: bool = False) -> Built:
    """Build the site of the arena in `folder`; with its `url` it gets a page for addresses at which nothing
    is, and a picture for links to it. Raises SettingsError too."""
    with closing(Site.open(folder, url=url)) as site:
        return build(site, folder, out, force=force)


def _at(site: Site, first: int) -> range:
    """Return the places of the matches that are made together with the one at place `first`."""
    return range(first, min(first + CHUNK, site.number + 1))


def _made_of(site: Site) -> dict[int, str]:
    """Return by the place of the first of some matches what their pages are made of: all that is on record,
    by its chain, and what pages share. Empty where a game of others, whose files may change, shows them."""
    specs = [installed(game) for game in sorted(site.tally.games)]
    ours = all(spec is None or spec.show.__module__.startswith("peerage.") for spec in specs)
    shared = repr(
        (
            _source(),
            document(site, match_page(1), framed()),
            [(spec.name, spec.version) for spec in specs if spec],
            site.tally.players,
            site.settings.rating,
            site.amended,
            site.number > RENDERED,
            site.checkpoints[-1:],
        )
    )
    made = {}
    for first in range(1, site.number + 1, CHUNK):
        places = _at(site, first)
        (row,) = site.moment.records(places[-1], places[-1])
        after = [*site.moment.numbers(places[-1] + 1, min(places[-1] + 1, site.number))]
        digest = sha256(f"{shared}{row.chain.hex()}{row.at_ms}{after}".encode()).hexdigest()
        made[first] = digest if ours else ""
    return made


@cache
def _source() -> list[tuple[str, int, int]]:
    """Return the files of this program, with their sizes and times."""
    root = Path(peerage.__file__).parent
    files = [path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".html", ".toml")]
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]


def _stamp(site: Site, target: Folder, first: int) -> str:
    """Return a digest of the sizes and times of the files of some pages; empty where one is missing."""
    numbers = site.moment.numbers(first, _at(site, first)[-1])
    try:
        found = [os.stat(target.root / match_page(number)) for number in numbers]
    except OSError:
        return ""
    return sha256(repr([(file.st_size, file.st_mtime_ns) for file in found]).encode()).hexdigest()


def _known(target: Folder) -> dict[int, list[str]]:
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((target.root / MADE).read_bytes(), type=dict[int, list[str]])
    return {}


def _in_parallel(
    site: Site,
    folder: Path,
    target: Folder,
    workers: int,
    theirs: tuple[Sequence[int], Sequence[str]],
    ours: tuple[Sequence[str], Sequence[str]],
) -> int:
    """Have processes make pages of matches and proofs, and make our pages and copies; how many files were
    written."""
    arena = folder.resolve(), site.ledger.address, site.number, site.url
    with Processes(workers, access(site.ledger.address)) as helpers:
        parts = [helpers.submit(_part, *arena, tuple(site.checkpoints), target, at, ()) for at in theirs[0]]
        parts += [
            helpers.submit(_part, *arena, tuple(site.checkpoints), target, 0, theirs[1][at : at + CHUNK])
            for at in range(0, len(theirs[1]), CHUNK)
        ]
        written = _write(site, target, ours[0]) + _copied(site, target, ours[1])
        try:
            return written + sum([part.result() for part in parts])
        except Lost as lost:
            raise SiteError(f"{lost}; build again") from None


def _part(
    folder: Path,
    address: str,
    number: int,
    url: str,
    checkpoints: Sequence[KeptCheckpoint],
    target: Folder,
    first: int,
    proofs: Sequence[str],
) -> int:
    """Write pages in a process of their own; how many differed."""
    site = _opened(folder, address, number, url)
    site.checkpoints = checkpoints  # one may have been signed since
    return (_write_matches(site, target, first) if first else 0) + _write(site, target, proofs)


def _write_matches(site: Site, target: Folder, first: int) -> int:
    """Write the pages of some matches where they differ from what is there; how many did."""
    places = _at(site, first)
    with tuned():
        made = matches.pages(site, places[0], places[-1])
        return sum([target.write(path, document(site, path, page), durable=False) for path, page in made])


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
