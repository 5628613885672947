"""The static export: every page as a file, and only those anew that can have changed.

Transcripts are by far the most of it; they are made in as many processes as there are cores. A page of
transcripts that was full stays as it is: while the record up to which it was made still stands, none of its
matches can have changed.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from functools import partial
from hashlib import sha256
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct

import peerage
from peerage.challenges.pool import STREAM
from peerage.ledger.store import MENDED
from peerage.outputs import SITE, Folder, OutputRefused, arena_files, marked
from peerage.site import downloads
from peerage.site.addresses import BUNDLE, SHARD, number_in
from peerage.site.build_cache import read
from peerage.site.charts import Drawn, Spec, drawn, library_version
from peerage.site.pages import LIBRARY, body, menu, paths
from peerage.site.reading import STRETCH, Known, Site
from peerage.standings import pinned_rating
from peerage.tables.told import Told

STATE = ".peerage-site"
"""The folder of what was built: `built` is the `State`, `matches-N` what a stretch of matches tells."""

PROGRAM = Path(peerage.__file__).parent

PARALLEL_FROM = 2_000
"""Matches from which on it is worth more than one process."""

TELLING = ("players/", "challenges.html", "judges.html")
"""How the paths begin of pages that show what all matches tell."""


class State(Struct, frozen=True):
    """What stands in a folder: pages up to record `number`, which is `last` (see `_last`), in the frame
    `frame`; `files` are those that are no transcripts, `library` and `downloads` the versions of two kinds of
    them, `digests` those of each file to download. What was computed and holds while those matches stand is
    `known`, and how many matches of each stretch (by its first) are told in a file of their own."""

    number: int = 0
    last: str = ""
    frame: str = ""
    files: tuple[str, ...] = ()
    library: str = ""
    downloads: str = ""
    digests: dict[str, str] = {}
    known: Known = Known()
    stretches: dict[int, int] = {}


class SiteError(Exception):
    """The pages cannot be written as asked; the message says why and how to mend it."""


class Built(NamedTuple):
    """What a build did: files written, files that stayed as they were, files removed."""

    written: int
    kept: int
    removed: int


def build(
    site: Site,
    folder: Path,
    out: Path,
    workers: int | None = None,
    draw: Callable[[Spec, str], Drawn] = drawn,
    *,
    force: bool = False,
) -> Built:
    """Write the pages of `site`, whose arena is in `folder`, to `out`.

    What an earlier build wrote and is no page any more is removed; other files are left alone. `workers`
    processes are used, by default one for each core where it is worth it. `draw` draws charts, as
    `charts.drawn` does. Raises OutputRefused when `out` holds something else, unless told to `force` it, and
    where a link leads out of it; SiteError, LedgerError and OSError.
    """
    if not force:
        _refuse_another(out)
    target = Folder(out, arena_files(folder, site.ledger.address))
    with _alone(target):
        target.tidy()
        return _build(site, folder, target, workers, draw)


def _build(
    site: Site, folder: Path, target: Folder, workers: int | None, draw: Callable[[Spec, str], Drawn]
) -> Built:
    out = target.root
    before = _state(out)
    now = _frame(site)
    settled = before.number if before.frame == now and _last(site, before.number) == before.last else 0
    told = dict(before.stretches) if settled else {}
    if settled:
        site.remember(before.known, partial(_stretch, out, told))
    site.draw = draw
    wanted = list(paths(site))
    light = [path for path in wanted if not number_in(path, "matches", ".html")]
    spans = list(_spans(site, settled, out, told))
    library = library_version()
    kept = {f"data/matches-{first}.js" for first in range(1, settled - SHARD + 2, SHARD)}
    if before.library == library:
        kept.add(f"assets/{LIBRARY}")
    todo = [path for path in light if path not in kept or not (out / path).is_file()]
    todo.sort(key=_charted)
    if workers is None:
        heavy = sum([len(pages) for _, pages in spans]) * BUNDLE
        workers = (os.cpu_count() or 1) if heavy >= PARALLEL_FROM else 1
    copies, version = downloads.paths(site), downloads.version(site)
    # Whoever is interrupted here begins anew, in a folder known to hold a site and of what files.
    there = tuple(dict.fromkeys((*before.files, *light, *copies)))
    _store(target, "built", State(max(before.number, site.number), files=there))
    if workers > 1:
        written = _in_parallel(site, folder, target, workers, spans, told, todo)
    else:
        written = 0
        for first, pages in spans:
            told[first], more = _span(site, target, first, pages, told)
            written += more
        written += _write(site, target, todo)
    digests = {path: before.digests.get(path, "") for path in copies}
    for path in copies:
        if before.downloads != version or not downloads.whole(out / path, digests[path]):
            digests[path] = downloads.write(site, path, target.place(path), settled, digests[path])
            written += 1
    wanted += copies
    removed = _remove(target, before, set(wanted))
    files = (*light, *copies)
    last = _last(site, site.number)
    state = State(site.number, last, now, files, library, version, digests, site.known(), told)
    _store(target, "built", state)
    return Built(written, len(wanted) - written, removed)


def _in_parallel(
    site: Site,
    folder: Path,
    target: Folder,
    workers: int,
    spans: Sequence[tuple[int, list[str]]],
    told: dict[int, int],
    todo: Sequence[str],
) -> int:
    """Write the transcripts of `spans` in so many processes, and the pages of `todo`; how many were. How many
    matches of each stretch are told is put into `told`."""
    begun = _open, (folder, site.number, target.root, dict(told))
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), *begun) as pool:
            jobs = [(first, pool.submit(_in_worker, target, first, pages)) for first, pages in spans]
            # What the stretches tell is on few pages: the others are made meanwhile.
            written = _write(site, target, [path for path in todo if not path.startswith(TELLING)])
            for first, job in jobs:
                told[first], more = job.result()
                written += more
    except BrokenProcessPool:
        raise SiteError(
            "a process that makes pages was ended from outside, or for want of memory; build again"
        ) from None
    site.stored = partial(_stretch, target.root, told)
    return written + _write(site, target, [path for path in todo if path.startswith(TELLING)])


def _state(out: Path) -> State:
    """What an earlier build left."""
    body = read(out / STATE / "built")
    with suppress(msgspec.MsgspecError):  # of another version
        if body is not None:
            return msgspec.msgpack.decode(body, type=State)
    return State()


def _refuse_another(out: Path) -> None:
    """Raise OutputRefused when the folder is somebody else's."""
    if (out / STATE).is_dir() or marked(out / "index.html", SITE):
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputRefused(
            f"{out} exists and holds no site that Peerage wrote; name a new or an empty folder, or write "
            "into it with --force"
        )


def _charted(path: str) -> bool:
    """Whether a page shows charts that a further match changes; what draws them has time till then."""
    return path == "index.html" or path.startswith("leaderboard/")


@contextmanager
def _alone(target: Folder) -> Iterator[None]:
    """Hold the folder: two builds at once would each write over what the other remembers."""
    lock = target.place(f"{STATE}/lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise SiteError(f"another build is writing to {target.root}; wait until it has ended") from None


def _store(target: Folder, name: str, what: State | Told) -> None:
    """Write down what is remembered, so that damage to it is seen: see `kept.read`."""
    body = msgspec.msgpack.encode(what)
    target.write(f"{STATE}/{name}", sha256(body).digest() + body)


def _stretch(out: Path, told: Mapping[int, int], first: int) -> Told | None:
    """What a stretch of matches tells, as far as an earlier build or another process read it."""
    body = read(out / STATE / f"matches-{first}") if first in told else None
    found = None if body is None else msgspec.msgpack.decode(body, type=Told)
    return found if found is not None and found.matches == told[first] else None


def _frame(site: Site) -> str:
    """A digest of what all that is remembered rests on besides the matches: what pages of transcripts show
    around them, the constants of ratings, withdrawn and retired challenges, and the program that makes it."""
    meta = site.moment.meta()
    rating, mended = pinned_rating(meta, site.settings.rating), meta.get(MENDED, "")
    told = sha256(repr((site.settings.name, menu(site), rating, mended)).encode("utf-8", "surrogatepass"))
    for file in sorted(PROGRAM.rglob("*.py")) + sorted(PROGRAM.rglob("*.html")):
        told.update(file.read_bytes())
    for row in site.moment.amendments(STREAM):
        told.update(row.chain)
    return told.hexdigest()


def _last(site: Site, number: int) -> str:
    """What tells a record, and all before it, from others: its chain value, and when its match ended, which
    pages show and no chain holds."""
    return next((f"{row.chain.hex()} {row.at_ms}" for row in site.moment.records(number, number)), "")


def _spans(site: Site, settled: int, out: Path, told: Mapping[int, int]) -> Iterator[tuple[int, list[str]]]:
    """Stretches of matches, by their first, of which something is to be read, each with its pages of
    transcripts that are to be made: those that are not in `out` as they must be, full and linked to the next
    one."""
    for first in range(1, site.number + 1, STRETCH):
        end = min(first + STRETCH, site.number + 1)
        pages = [
            path
            for at in range(first, end, BUNDLE)
            for path in [f"matches/{at}.html"]
            if at + BUNDLE > settled or not (out / path).is_file()
        ]
        if pages or told.get(first) != end - first:
            yield first, pages


def _span(
    site: Site, target: Folder, first: int, pages: Sequence[str], told: Mapping[int, int]
) -> tuple[int, int]:
    """Read a stretch of matches and write these pages of it: how many matches it tells of, and how many files
    were written. `told` says how many matches of each stretch were told before."""
    shown = min([number_in(path, "matches", ".html") or first for path in pages], default=site.number)
    needed = min(shown, first + told.get(first, 0))
    site.reader.hold(needed, min(first + STRETCH - 1, site.number))
    found = site.stretch(first)
    if told.get(first) != found.matches:
        _store(target, f"matches-{first}", found)
    return found.matches, _write(site, target, pages)


def _write(site: Site, target: Folder, wanted: Iterable[str]) -> int:
    """Write these pages where they differ from what is there; how many did."""
    written = 0
    for path in wanted:
        made = body(site, path)
        assert made is not None, path
        written += target.write(path, made)
    return written


def _remove(target: Folder, before: State, wanted: set[str]) -> int:
    """Remove what an earlier build wrote and no page is any more; how many files that was."""
    transcripts = [f"matches/{first}.html" for first in range(1, before.number + 1, BUNDLE)]
    gone = 0
    for path in (*before.files, *transcripts):
        if path not in wanted:
            with suppress(OutputRefused):  # whoever wrote down what was built may be a stranger
                gone += target.remove(path)
    return gone


_worker: list[tuple[Site, Mapping[int, int]]] = []


def _open(folder: Path, number: int, out: Path, told: Mapping[int, int]) -> None:
    gc.set_threshold(100_000, 50, 100)  # as at the door of the command line, which no worker passes
    threading.Thread(target=_end_with_parent, daemon=True).start()
    site = Site.open(folder).at(number)
    site.stored = partial(_stretch, out, told)
    _worker.append((site, told))


def _end_with_parent() -> None:
    """Leave when the build is killed: a worker would wait for work forever, and write beside the next one."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _in_worker(target: Folder, first: int, pages: Sequence[str]) -> tuple[int, int]:
    site, told = _worker[0]
    found = _span(site, target, first, pages, told)
    site.forget(first)
    return found


def build_folder(
    folder: Path, out: Path, draw: Callable[[Spec, str], Drawn] = drawn, *, force: bool = False
) -> Built:
    """Build the site of the arena in `folder`. Raises SettingsError too."""
    with closing(Site.open(folder)) as site:
        return build(site, folder, out, draw=draw, force=force)
