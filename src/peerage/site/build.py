"""The static export: every page as a file.

The transcript of a finished match never changes: a full page of transcripts is written once, and what the
match tells of players and judges is read once, as are the ratings that it left (`build_cache`). Each build
makes everything else again. In a long arena matches are read and transcripts written in as many processes as
there are cores. A build that finds everything as the last one left it does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct
from msgspec.structs import replace

import peerage
from peerage.challenges.pool import STREAM
from peerage.ledger import open_ledger
from peerage.ledger.databases import access
from peerage.ledger.kept_checkpoints import KeptCheckpoint
from peerage.ledger.secret import TOPIC as ARENA
from peerage.ledger.store import MENDED
from peerage.ledger.votes import PeopleVotes
from peerage.memory import frugal
from peerage.outputs import SITE, Folder, OutputRefused, arena_files, marked
from peerage.parallel import Helpers, Lost, Processes, in_order
from peerage.settings import load
from peerage.site import build_cache, downloads, unchanged
from peerage.site.addresses import BUNDLE, number_in
from peerage.site.arena_pages import CORRECTED, corrected
from peerage.site.pages import body, menu, paths
from peerage.site.reading import Site
from peerage.tables.corrected import CorrectedRow
from peerage.tables.observations import Observations, observe, together

STATE = ".peerage-site/state.json"
PROGRAM = Path(peerage.__file__).parent

CHUNK = 1_000
"""Matches that are read at a time."""

PARALLEL_FROM = 2 * CHUNK
"""Matches from which on it is worth more than one process."""

TELLING = (
    "players/",
    "challenges.html",
    "judges.html",
    "costs.html",
    "method.html",
    "data/without-judges.csv",
)
"""How the paths begin of pages that show what all matches tell."""


class State(Struct, frozen=True):
    """What an earlier build left: pages of transcripts up to record `number`, under the `seal` that says what
    they were made from, proven by the checkpoints that were `signed` (their digests); `files` are all
    others. A build that ended also left a digest of its `source`, which `modules` it loaded, and the stamps
    of these and of its `pages` pages."""

    number: int = 0
    seal: str = ""
    files: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    source: str = ""
    modules: tuple[str, ...] = ()
    stamps: str = ""
    pages: int = 0

    @property
    def all_files(self) -> list[str]:
        """Its files, and where its transcripts and their proofs stand."""
        each = range(1, self.number + 1, BUNDLE)
        pages = [path for first in each for path in (f"matches/{first}.html", f"proofs/{first}.jsonl")]
        return [*self.files, *pages]

    def stamped(self, root: Path) -> str:
        """The stamps of what is there now."""
        return unchanged.stamps([*[root / path for path in self.all_files], *map(Path, self.modules)])


class SiteError(Exception):
    """The pages cannot be written as asked; the message says why and how to fix it."""


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
    *,
    force: bool = False,
    helpers: Helpers | None = None,
) -> Built:
    """Write the pages of `site`, whose arena is in `folder`, to `out`.

    What an earlier build wrote and is no page any more is removed; other files are left alone. Where it is
    worth it `helpers` read matches and make their pages, by default `workers` processes of this machine, one
    for each core. Raises OutputRefused when `out`
    holds something else, unless told to `force` it, and where a link leads out of it; SiteError, LedgerError
    and OSError.
    """
    if not force:
        _refuse_another(out)
    target = Folder(out, arena_files(folder, site.ledger.address))
    frugal()
    with _alone(target):
        target.tidy()
        before, program = _state(target), _program()
        source = unchanged.source(site, program)
        untouched = before.stamps != "" and before.stamps == before.stamped(target.root)
        if untouched and source == before.source:
            return Built(0, before.pages, 0)
        return _build(site, folder, target, workers, helpers, before, program, source, untouched)


def _build(
    site: Site,
    folder: Path,
    target: Folder,
    workers: int | None,
    helpers: Helpers | None,
    before: State,
    program: bytes,
    source: str,
    untouched: bool,
) -> Built:
    same = before.seal == _seal(site, before.number, program)
    settled = _settled(site, before) if same else 0
    known = build_cache.read(target, site, before.number) if same else Observations()
    wanted = list(paths(site))
    light = [path for path in wanted if not _of_matches(path)]
    copies = downloads.paths(site)
    # A build that is interrupted leaves a folder known to hold a site, and whose files are known.
    there = tuple(dict.fromkeys((*before.files, *light, *copies)))
    _store(target, State(max(before.number, site.number), files=there))
    chunks = list(_chunks(site.number, site.covered(site.signed_to), settled, known.matches, target.root))
    if workers is None:
        long = sum([last - first + 1 for first, last, *_ in chunks]) >= PARALLEL_FROM
        workers = (os.cpu_count() or 1) if long else 1
    if workers > 1:
        with ExitStack() as stack:
            if helpers is None:
                helpers = stack.enter_context(Processes(workers, access(site.ledger.address)))
            written = _in_parallel(site, folder, target, helpers, chunks, light, copies, known)
    else:
        found = [(_read(site, *span), _write(site, target, pages)) for *span, pages in chunks]
        site.observations = together([known, *[part for part, _ in found]])
        written = sum([more for _, more in found])
        del known, found  # as large as what all matches tell
        written += _lighter(site, target, light, copies, before.number if same and untouched else 0)
    removed = _remove(target, before, {*wanted, *copies})
    build_cache.write(target, site)
    if hasattr(os, "sync"):  # what the state says was written is on the disk, whatever happens next
        os.sync()
    state = State(site.number, _seal(site, site.number, program), (*light, *copies), _signed(site))
    pages = len(wanted) + len(copies)
    if site.refreshed() is site:  # what changed since it was opened may be in `source` already
        modules = tuple(unchanged.elsewhere())
        state = replace(state, source=source, modules=modules, pages=pages)
        state = replace(state, stamps=state.stamped(target.root))
    _store(target, state)
    return Built(written, pages - written, removed)


Page = tuple[str, bytes]
"""The path of a page, and the page."""

Apart = tuple[int, list[CorrectedRow]]
"""How many files to download were written, and what the page of judges shows corrected."""

Chunk = tuple[int, int, int, Sequence[str]]
"""The first and the last of some matches, the first of them that is to tell, and those of their pages of
transcripts that are to be written."""


def _chunks(number: int, proven: int, settled: int, known: int, out: Path) -> Iterator[Chunk]:
    """All matches with which anything is to be done. What the first `known` tell is known; the pages are
    those that are not in `out`, full and linked to the next one, and the proofs of the first `proven`."""
    for first in range(1, number + 1, CHUNK):
        last = min(first + CHUNK - 1, number)
        pages = [(at, f"matches/{at}.html") for at in range(first, last + 1, BUNDLE)]
        pages += [(at, f"proofs/{at}.jsonl") for at in range(first, min(last, proven) + 1, BUNDLE)]
        due = [(at, path) for at, path in pages if at + BUNDLE > settled or not (out / path).is_file()]
        tells = max(first, known + 1)
        if due or tells <= last:
            yield min([tells, *[at for at, _ in due]]), last, tells, [path for _, path in due]


def _of_matches(path: str) -> bool:
    """Whether a path is that of transcripts or proofs, which no further match changes."""
    return bool(number_in(path, "matches", ".html") or number_in(path, "proofs", ".jsonl"))


def _signed(site: Site) -> tuple[str, ...]:
    return tuple([sha256(str(one.checkpoint).encode()).hexdigest() for one in site.checkpoints])


def _settled(site: Site, before: State) -> int:
    """The matches whose pages stay: all that were there, or where more were signed since, those that had been
    signed then; none where a checkpoint itself has changed."""
    signed = _signed(site)
    if signed == before.signed:
        return before.number
    known = len(before.signed)
    if signed[:known] != before.signed:
        return 0
    return min(before.number, site.covered(site.checkpoints[known - 1].checkpoint.size)) if known else 0


def _read(site: Site, first: int, last: int, tells: int) -> Observations:
    """What some matches tell, from `tells` on; all are held for their pages."""
    site.reader.hold(first, last)
    return observe(site.reader.matches(tells, last))


def _in_parallel(
    site: Site,
    folder: Path,
    target: Folder,
    helpers: Helpers,
    chunks: Sequence[Chunk],
    light: Sequence[str],
    copies: Sequence[str],
    known: Observations,
) -> int:
    """Let helpers make the transcripts, and make everything else; how many files were written."""
    of = folder.resolve(), site.ledger.address, site.number, tuple(site.checkpoints)
    theirs = target if helpers.here else None
    written = 0

    def parts() -> Iterator[Observations]:
        nonlocal written
        yield known
        for part, pages in in_order(helpers, _by_helper, [(*of, theirs, *chunk) for chunk in chunks]):
            yield msgspec.msgpack.decode(part, type=Observations)
            written += pages if isinstance(pages, int) else _written(target, pages)

    with ThreadPoolExecutor(1) as aside:
        apart = helpers.submit(_apart_by_helper, *of, theirs, () if theirs is None else copies)
        site.telling = aside.submit(together, parts())
        try:
            ours = _lighter(site, target, light, copies if theirs is None else (), apart=apart)
            site.telling.result()
        except Lost as lost:
            raise SiteError(f"{lost}; build again") from None
        except BaseException:
            helpers.shutdown(cancel_futures=True)
            raise
    return ours + written


def _state(target: Folder) -> State:
    """What an earlier build left."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((target.root / STATE).read_bytes(), type=State)
    return State()


def _store(target: Folder, state: State) -> None:
    target.write(STATE, msgspec.json.encode(state))


def _refuse_another(out: Path) -> None:
    """Raise OutputRefused when the folder is somebody else's."""
    if (out / STATE).parent.is_dir() or marked(out / "index.html", SITE):
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputRefused(
            f"{out} exists and holds no site that Peerage wrote; name a new or an empty folder, or write "
            "into it with --force"
        )


@contextmanager
def _alone(target: Folder) -> Iterator[None]:
    """Hold the folder: two builds at once would write over each other's files."""
    lock = target.place(f"{Path(STATE).parent}/lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise SiteError(f"another build is writing to {target.root}; wait until it has ended") from None


def _seal(site: Site, number: int, program: bytes) -> str:
    """A digest of all that the transcripts up to match `number` were made from: the matches, by the chain and
    the time of the last one; the frame around them; withdrawn and retired challenges; whether the secret is
    open; and the program."""
    mended = site.moment.meta().get(MENDED, "")
    last = [(row.chain, row.at_ms) for row in site.moment.records(number, number)]
    made_of = sha256(repr((site.settings.name, menu(site), mended, last)).encode("utf-8", "surrogatepass"))
    made_of.update(program)
    for topic in (STREAM, ARENA):
        for row in site.moment.amendments(topic):
            made_of.update(row.body)
    return made_of.hexdigest()


def _program() -> bytes:
    """A digest of the program, whose every file may have a part in a page."""
    made_of = sha256()
    for file in sorted(PROGRAM.rglob("*.py")) + sorted(PROGRAM.rglob("*.html")):
        made_of.update(file.read_bytes())
    return made_of.digest()


def _made(site: Site, wanted: Iterable[str]) -> Iterator[Page]:
    for path in wanted:
        made = body(site, path)
        assert made is not None, path
        yield path, made


def _write(site: Site, target: Folder, wanted: Iterable[str]) -> int:
    """Write these pages where they differ from what is there; how many did."""
    return _written(target, _made(site, wanted))


def _lighter(
    site: Site,
    target: Folder,
    light: Sequence[str],
    copies: Sequence[str],
    known: int = 0,
    apart: Future[Apart] | None = None,
) -> int:
    """Write everything but transcripts and proofs, first what needs nothing of what all matches tell: helpers
    may be reading that, and one may be doing something `apart`."""
    waiting = [path for path in light if path.startswith(TELLING)]
    written = _write(site, target, [path for path in light if path not in waiting])
    written += _copied(site, target, copies, known)
    if apart is not None:
        more, rows = apart.result()
        written += more
        site.keep(CORRECTED, rows)
    return written + _write(site, target, waiting)


def _copied(site: Site, target: Folder, copies: Sequence[str], known: int = 0) -> int:
    return sum([downloads.update(site, path, target.place(path), known) for path in copies])


def _written(target: Folder, pages: Iterable[Page]) -> int:
    return sum([target.write(path, made, durable=False) for path, made in pages])


def _remove(target: Folder, before: State, wanted: set[str]) -> int:
    """Remove what an earlier build wrote and no page is any more; how many files that was."""
    gone = 0
    for path in before.all_files:
        if path not in wanted:
            with suppress(OutputRefused):  # the list may be a stranger's
                gone += target.remove(path)
    return gone


def _by_helper(
    folder: Path,
    address: str,
    number: int,
    checkpoints: Sequence[KeptCheckpoint],
    target: Folder | None,
    first: int,
    last: int,
    tells: int,
    wanted: Sequence[str],
) -> tuple[bytes, int | list[Page]]:
    """What some matches tell, as MessagePack, and how many of their pages were written to `target`; the pages
    themselves where it is on another machine."""
    site = _opened(folder, address, number)
    site.checkpoints = checkpoints  # this machine's may be older
    found = msgspec.msgpack.encode(_read(site, first, last, tells))
    pages = _made(site, wanted)
    return found, list(pages) if target is None else _written(target, pages)


def _apart_by_helper(
    folder: Path,
    address: str,
    number: int,
    checkpoints: Sequence[KeptCheckpoint],
    target: Folder | None,
    copies: Sequence[str],
) -> Apart:
    """Do what takes much room and shares little with other pages."""
    frugal()
    site = _opened(folder, address, number)
    site.checkpoints = checkpoints
    return 0 if target is None else _copied(site, target, copies), corrected(site)


@lru_cache(1)
def _opened(folder: Path, address: str, number: int) -> Site:
    settings = load(folder, reading=True)
    ledger = open_ledger(address, folder, create=False)
    return Site(settings, ledger, PeopleVotes(ledger.address, folder), number=number, folder=folder)


def build_folder(
    folder: Path,
    out: Path,
    *,
    url: str = "",
    force: bool = False,
    hire: Callable[[str], Helpers] | None = None,
) -> Built:
    """Build the site of the arena in `folder`; with its `url` it gets a page for addresses at which nothing
    is, and a picture for links to it. `hire` gives helpers for work on the ledger at an address. Raises
    SettingsError too."""
    with (
        closing(Site.open(folder, url=url)) as site,
        nullcontext() if hire is None else hire(site.ledger.address) as helpers,
    ):
        return build(site, folder, out, force=force, helpers=helpers)
