"""Parts of a site that stay: pages of matches, of which nothing changes but what all pages share.

A thousand matches are a part of the list that the browser searches, and ten parts of a hundred pages. Each is
made again where what it is made of is another, or where its files are not those that were written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

import peerage
from peerage.games import installed
from peerage.site.addresses import SHARD, match_page
from peerage.site.pages.match_list import notables, shard_path
from peerage.site.pages.matches import RENDERED, framed
from peerage.site.pages.router import document
from peerage.site.reading import Site
from peerage.values.outputs import Folder

MADE = ".peerage-site/matches.json"
"""The file that says of what each part was made, with a digest of its files, by its first path."""
CHUNK = 100
"""Pages of matches that are made, or left, together; a divisor of `SHARD`."""
Made: TypeAlias = dict[str, tuple[str, str]]


class Stale(NamedTuple):
    """Matches from the one at place `first` on, `SHARD` of them, whose list or pages are to be made again:
    the pages from each place of `chunks` on. `notable` is what is so about each match by its row."""

    first: int
    chunks: tuple[int, ...]
    notable: Sequence[tuple[str, ...]]


def known(target: Folder) -> Made:
    """Return what the parts in a folder were made of."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((target.root / MADE).read_bytes(), type=Made)
    return {}


def made_of(site: Site) -> dict[str, str]:
    """Return what each part is made of, by its first path: all that is on record, by its chain, and what
    pages share. Nothing is known where a game of others, whose files may change, shows its matches."""
    specs = [installed(game) for game in sorted(site.tally.games)]
    if not all(spec is None or spec.show.__module__.startswith("peerage.") for spec in specs):
        return {}
    frame = document(site, match_page(1), framed())
    games = [(spec.name, spec.version) for spec in specs if spec]
    settings = site.settings.rating, site.amended, site.checkpoints[-1:], site.number > RENDERED
    shared = repr((_source(), frame, games, [*site.tally.players], settings))
    found = {}
    for first, size in _parts(site):
        last = min(first + size - 1, site.number)
        (row,) = site.moment.records(last, last)
        of_list = notables(site, first) if size == SHARD else [*site.moment.numbers(last + 1, last + 1)]
        told = f"{shared}{row.chain.hex()}{row.at_ms}{of_list}"
        found[_files(site, first, size)[0]] = sha256(told.encode()).hexdigest()
    return found


def stale(site: Site, target: Folder, made: dict[str, str]) -> Iterator[Stale]:
    """Yield what is to be made again."""
    before = known(target)

    def stays(first: int, size: int) -> bool:
        files = _files(site, first, size)
        return before.get(files[0]) == (made.get(files[0]), _stamp(target, files))

    for first in range(1, site.number + 1, SHARD):
        starts = range(first, min(first + SHARD, site.number + 1), CHUNK)
        chunks = tuple([at for at in starts if not stays(at, CHUNK)])
        if chunks or not stays(first, SHARD):
            yield Stale(first, chunks, notables(site, first))


def note(site: Site, target: Folder, made: dict[str, str]) -> None:
    """Write down what parts are made of now."""
    parts = [_files(site, first, size) for first, size in _parts(site)] if made else []
    target.write(
        MADE, msgspec.json.encode({files[0]: (made[files[0]], _stamp(target, files)) for files in parts})
    )


def _parts(site: Site) -> Iterator[tuple[int, int]]:
    for size in (SHARD, CHUNK):
        yield from ((first, size) for first in range(1, site.number + 1, size))


def _files(site: Site, first: int, size: int) -> list[str]:
    if size == SHARD:
        return [shard_path(first)]
    return [*map(match_page, site.moment.numbers(first, min(first + size - 1, site.number)))]


def _stamp(target: Folder, files: Sequence[str]) -> str:
    """Return a digest of the sizes and times of files; empty where one is missing."""
    try:
        found = [os.stat(f"{target.root}/{path}") for path in files]
    except OSError:
        return ""
    return sha256(repr([(one.st_size, one.st_mtime_ns) for one in found]).encode()).hexdigest()


@cache
def _source() -> list[tuple[str, int, int]]:
    """Return the files of this program, with their sizes and times."""
    root = Path(peerage.__file__).parent
    files = [path for path in sorted(root.rglob("*")) if path.suffix in (".py", ".html", ".toml")]
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
