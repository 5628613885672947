"""The static export: every page as a file, and only those anew that can have changed.

Transcripts are by far the most of it; they are made in as many processes as there are cores. A page of
transcripts that was full stays as it is: while the record up to which it was made still stands, none of its
matches can have changed.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from hashlib import sha256
from importlib import resources
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from peerage import __version__
from peerage.challenges.pool import STREAM
from peerage.site import downloads
from peerage.site.addresses import BUNDLE, number_in
from peerage.site.charts import Drawn, library_version
from peerage.site.pages import LIBRARY, body, menu, paths
from peerage.site.reading import STRETCH, Course, Site
from peerage.tables.told import Told

STATE = ".peerage-site"
PARALLEL_FROM = 2_000
"""Matches from which on it is worth more than one process."""

DRAWN_BY = (
    *[f"templates/{name}.html" for name in ("base", "match", "match_parts")],
    *[f"{name}.py" for name in ("charts", "matches", "rendering", "steps", "story")],
)
"""What pages of transcripts, and charts, are made by."""

TELLING = ("players/", "challenges.html", "judges.html")
"""How the paths begin of pages that show what all matches tell."""


class SiteError(Exception):
    """The pages cannot be written as asked; the message says why and how to mend it."""


class State(Struct, frozen=True):
    """What stands in a folder: pages up to record `number`, which is `last` (see `_last`), in the frame
    `frame`; `files` are those that are no transcripts. What was computed for them and further matches leave
    as it is, is kept: `drawn` charts, the `courses` of ratings (track, match), what full `stretches` of
    matches tell (by their first), the `library` by its version, and files to download by theirs."""

    number: int
    last: str
    frame: str
    files: tuple[str, ...]
    library: str
    drawn: dict[str, Drawn]
    courses: list[tuple[str, int, Course]]
    stretches: dict[int, Told]
    downloads: str = ""


NOWHERE = State(0, "", "", (), "", {}, [], {})


class Built(NamedTuple):
    """What a build did: files written, files that stayed as they were, files removed."""

    written: int
    kept: int
    removed: int


def build(site: Site, folder: Path, out: Path, workers: int | None = None) -> Built:
    """Write the pages of `site`, whose arena is in `folder`, to `out`.

    What an earlier build wrote and is no page any more is removed; other files are left alone. `workers`
    processes are used, by default one for each core where it is worth it. Raises SiteError when `out` holds
    something else, LedgerError and OSError.
    """
    before = _state(out)
    now = _frame(site)
    wanted = list(paths(site))
    settled = before.number if before.frame == now and _last(site, before.number) == before.last else 0
    if settled:
        known = {(track, stop): course for track, stop, course in before.courses}
        site.remember(before.drawn, known, before.stretches)
    light = [path for path in wanted if not number_in(path, "matches", ".html")]
    spans = list(_spans(site, settled, out))
    library = library_version()
    todo = light
    if before.library == library and (out / "assets" / LIBRARY).exists():
        todo = [path for path in light if path != f"assets/{LIBRARY}"]
    if workers is None:
        heavy = sum([len(pages) for _, pages in spans]) * BUNDLE
        workers = (os.cpu_count() or 1) if heavy >= PARALLEL_FROM else 1
    copies, version = downloads.paths(site), downloads.version(site)
    out.mkdir(parents=True, exist_ok=True)
    # Whoever is interrupted here begins anew, in a folder that is known to hold a site and of what files.
    there = tuple(dict.fromkeys((*before.files, *light, *copies)))
    begun = msgspec.structs.replace(NOWHERE, number=max(before.number, site.number), files=there)
    _replace(out / STATE, msgspec.msgpack.encode(begun))
    if workers > 1:
        written = _in_parallel(site, folder, out, workers, spans, todo)
    else:
        written = sum([_span(site, out, first, pages) for first, pages in spans]) + _write(site, out, todo)
    for path in copies:
        if before.downloads != version or not (out / path).exists():
            downloads.write(site, path, out / path)
            written += 1
    wanted += copies
    removed = _remove(out, before, set(wanted))
    courses = [(track, stop, course) for (track, stop), course in site.lasting().items()]
    state = State(
        site.number,
        _last(site, site.number),
        now,
        (*light, *copies),
        library,
        site.used,
        courses,
        site.whole(),
        version,
    )
    _replace(out / STATE, msgspec.msgpack.encode(state))
    return Built(written, len(wanted) - written, removed)


def _in_parallel(
    site: Site,
    folder: Path,
    out: Path,
    workers: int,
    spans: Sequence[tuple[int, list[str]]],
    todo: Sequence[str],
) -> int:
    """Write the transcripts of `spans` in so many processes, and the pages of `todo`; how many were."""
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), _open, (folder, site.number)) as pool:
            jobs = [(first, pool.submit(_in_worker, out, first, pages)) for first, pages in spans]
            # What the stretches tell is on few pages: the others are made meanwhile.
            written = _write(site, out, [path for path in todo if not path.startswith(TELLING)])
            for first, job in jobs:
                told, more = job.result()
                site.stretches[first] = msgspec.msgpack.decode(told, type=Told)
                written += more
    except BrokenProcessPool:
        raise SiteError(
            "a process that makes pages was ended from outside, or for want of memory; build again"
        ) from None
    return written + _write(site, out, [path for path in todo if path.startswith(TELLING)])


def _state(out: Path) -> State:
    """What an earlier build left. Raises SiteError when the folder is somebody else's."""
    try:
        return msgspec.msgpack.decode((out / STATE).read_bytes(), type=State)
    except (FileNotFoundError, NotADirectoryError):
        if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "assets").is_dir())):
            raise SiteError(f"{out} is there and holds no site; name a new or an empty folder") from None
    except msgspec.MsgspecError:
        pass
    return NOWHERE


def _frame(site: Site) -> str:
    """A digest of what pages of transcripts show besides their matches, of what may change in them (a
    challenge being withdrawn or retired), and of how both they and charts are made."""
    told = sha256(repr((__version__, site.settings.name, menu(site))).encode("utf-8", "surrogatepass"))
    for name in DRAWN_BY:
        told.update(resources.files("peerage.site").joinpath(name).read_bytes())
    for row in site.moment.amendments(STREAM):
        told.update(row.chain)
    return told.hexdigest()


def _last(site: Site, number: int) -> str:
    """What tells a record, and all before it, from others: its chain value, and when its match ended, which
    pages show and no chain holds."""
    return next((f"{row.chain.hex()} {row.at_ms}" for row in site.moment.records(number, number)), "")


def _spans(site: Site, settled: int, out: Path) -> Iterator[tuple[int, list[str]]]:
    """Stretches of matches, by their first, of which something is to be read, each with its pages of
    transcripts that are to be made: those that are not in `out` as they must be, full and linked to the next
    one."""
    for first in range(1, site.number + 1, STRETCH):
        pages = [
            path
            for at in range(first, min(first + STRETCH, site.number + 1), BUNDLE)
            for path in [f"matches/{at}.html"]
            if at + BUNDLE > settled or not (out / path).exists()
        ]
        if pages or first not in site.stretches:
            yield first, pages


def _span(site: Site, out: Path, first: int, pages: Sequence[str]) -> int:
    """Read a stretch of matches and write these pages of it."""
    site.reader.hold(first, min(first + STRETCH - 1, site.number))
    site.stretch(first)
    return _write(site, out, pages)


def _write(site: Site, out: Path, wanted: Iterable[str]) -> int:
    """Write these pages where they differ from what is there; how many did."""
    written = 0
    for path in wanted:
        made = body(site, path)
        assert made is not None, path
        file = out / path
        with suppress(FileNotFoundError):
            if file.stat().st_size == len(made) and file.read_bytes() == made:
                continue
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, made)
        written += 1
    return written


def _replace(file: Path, body: bytes) -> None:
    """Write a file whole or not at all."""
    part = file.with_name(f".{file.name}.part")
    part.write_bytes(body)
    part.replace(file)


def _remove(out: Path, before: State, wanted: set[str]) -> int:
    """Remove what an earlier build wrote and no page is any more; how many files that was."""
    transcripts = [f"matches/{first}.html" for first in range(1, before.number + 1, BUNDLE)]
    gone = [path for path in (*before.files, *transcripts) if path not in wanted and (out / path).is_file()]
    for path in gone:
        (out / path).unlink()
    return len(gone)


_worker: list[Site] = []


def _open(folder: Path, number: int) -> None:
    # As in `cli.main`: among the matches that are held there is hardly a cycle.
    gc.set_threshold(100_000, 50, 100)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker.append(Site.open(folder).at(number))


def _end_with_parent() -> None:
    """Leave when the build is killed: a worker would wait for work forever, and write beside the next one."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _in_worker(out: Path, first: int, pages: Sequence[str]) -> tuple[bytes, int]:
    site = _worker[0]
    written = _span(site, out, first, pages)
    return msgspec.msgpack.encode(site.stretches.pop(first)), written


def build_folder(folder: Path, out: Path) -> Built:
    """Build the site of the arena in `folder`. Raises SettingsError too."""
    with closing(Site.open(folder)) as site:
        return build(site, folder, out)
