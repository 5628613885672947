"""Pages as the server hands them out: made by worker processes, kept, and renewed behind the reader's back.

Making the table of a long ledger takes seconds of Python. In the server's own process every other request
would wait for it; a worker stands behind them, at a lower priority, and a page that fails takes nobody along.
A page that is kept is given at once; when the arena has moved on since it was made, a worker makes it again
for those who come next. So a table is as old as it takes to make, and nobody waits while matches pour in.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from peerage.ledger import LedgerError
from peerage.settings import SettingsError
from peerage.site.addresses import match_page
from peerage.site.api.answers import PREFIX, VOTE, answer, failure
from peerage.site.api.endpoints import ENDPOINTS
from peerage.site.api.rows import JSON
from peerage.site.http.log import bounded
from peerage.site.pages.match_list import MATCHES
from peerage.site.pages.matches import filtered
from peerage.site.pages.players import COMPARE
from peerage.site.pages.router import HTML, QUERIED, document, missing, page
from peerage.site.reading import Menu, Site
from peerage.site.rendering import PageView
from peerage.site.server.events import LedgerFile, Version
from peerage.values.parallel import Lost, Processes
from peerage.values.texts import visible
from peerage.views.match.finder import READ_FOR

BEHIND = "peerage-behind"
"""The header that says, by yes or no, whether the arena has moved on since a page was made: then it is being
made again, and is worth asking for once more."""
WORKERS = 2
"""One may renew while the other makes what nobody has asked for before."""
KEPT_BYTES = 64_000_000
OVERHEAD_BYTES = 2_000
"""What keeping any page costs beside its bytes."""
PACE = 2.0
"""A page is not made again before so many times as long has passed as making it took."""
SHORTEST_S = 0.5
MOST_WAITING = 256
"""Pages that may wait to be made; their clients may have gone."""
MOST_READINGS = 8
"""Corrections of what judges said that may wait to be made. One is made at a time: each reads the record
whole, and the pages of everybody else need a worker meanwhile."""
STALE_S = 10.0
"""A page that nobody asked for in so long is made again before it is shown."""
MOST_S = 300.0
"""No page takes so long to make: the process hangs, and is replaced."""
PACKED_FROM = 1_000
"""Bytes from which on a body is worth compressing."""

CORRECTED = f"{PREFIX}corrected"
"""Of the API's addresses the one that reads the record again."""

_log = logging.getLogger("peerage")


class Busy(Exception):
    """More is asked for than can be made in good time."""


class Job(NamedTuple):
    """What was asked for: the path as it came, without its leading slash."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def rereads(self) -> bool:
        """Return whether it reads many matches for this one answer: corrections do, and searches, also for
        what is notable that rows do not tell."""
        stated = dict(self.query)
        searches = bool(stated.get("q")) or stated.get("only") in READ_FOR
        return self.path == CORRECTED or (
            searches and (self.path == MATCHES or self.path.startswith("match/"))
        )


class Made(NamedTuple):
    """What stands there. `packed` is the body in gzip, empty where that is not worth it; `version` is the
    moment that it shows, `seconds` what it took."""

    status: int
    content_type: str
    etag: str
    body: bytes
    packed: bytes
    version: Version
    seconds: float


def menu(voting: bool) -> Menu:
    """Return what a server has beside the pages of every site."""
    return (("live.html", "Live"), *(((VOTE, "Vote"),) if voting else ()))


class _Arena:
    """The arena that a worker makes pages of, as it is at that time."""

    def __init__(self, folder: Path, voting: bool, url: str) -> None:
        self._site = Site.open(folder, menu(voting), url)
        self._file = LedgerFile(self._site.ledger.address)
        self._log = bounded()
        self._log.__enter__()  # as long as this process lives

    def now(self) -> Site:
        """Raises LedgerError."""
        self._file.check()
        self._site = self._site.refreshed()
        return self._site


_arena = lru_cache(maxsize=1)(_Arena)


def make(folder: Path, voting: bool, url: str, job: Job) -> Made:
    """The answer to a job; a fault in making it is an answer too. `url`: where people reach the server."""
    began = time.perf_counter()
    version = Version(0, 0, {})
    try:
        site = _arena(folder, voting, url).now()
        version = Version(site.number, site.votes.count(), site.amended)
        status, kind, body = _answer(site, job)
    except (LedgerError, SettingsError) as error:
        _log.error("%s could not be made: %s", job.path, error)
        status, kind, body = fault(job.path, 503, "the arena cannot be read; the log says why")
    except Exception:
        _log.exception("%s could not be made", job.path)
        status, kind, body = fault(job.path, 500, "this page could not be made; the log says why")
    packed = gzip.compress(body, 6, mtime=0) if len(body) >= PACKED_FROM else b""
    etag = sha256(body).hexdigest()[:32]
    return Made(status, kind, etag, body, packed, version, time.perf_counter() - began)


def _answer(site: Site, job: Job) -> tuple[int, str, bytes]:
    if job.path == "api":
        view = PageView("API", "", template="api.html", values={"endpoints": ENDPOINTS})
        return 200, HTML, document(site, job.path, view)
    if job.path.startswith(PREFIX):
        found = answer(site, job.path, job.query)
        return found.status, JSON, found.body
    if job.path in QUERIED and (job.query or job.path == COMPARE):
        return 200, HTML, document(site, job.path, QUERIED[job.path](site, dict(job.query)))
    if job.query and (match := filtered(site, job.path, dict(job.query))):
        return 200, HTML, document(site, job.path, match)
    made = page(site, job.path)
    if made is not None:
        return 200, made.content_type, made.body
    return 404, HTML, document(site, job.path, missing(f"/{job.path}", _match(site, job.path)))


def _match(site: Site, path: str) -> tuple[int, str] | None:
    """The match that a path such as `match/139` means, and its page."""
    found = re.fullmatch(r"match(?:es)?/([1-9][0-9]{0,11})(?:\.html)?", path, re.ASCII)
    if found is None or int(found[1]) > site.number:
        return None
    return int(found[1]), match_page(int(found[1]))


def fault(path: str, status: int, why: str) -> tuple[int, str, bytes]:
    """Status, content type and body that say what is wrong, as the one who asked can read it."""
    if path.startswith(PREFIX):
        return status, JSON, failure(status, why).body
    return status, "text/plain; charset=utf-8", f"{visible(why)}\n".encode()


@dataclass(slots=True)
class _Kept:
    """A page on the shelf, and when it was made and last asked for (monotonic seconds)."""

    made: Made
    at: float
    asked: float


class PageCache:
    """Keeps what workers made of the arena in `folder`. `version` tells the moment that the arena is at,
    `url` where people reach the server."""

    def __init__(self, folder: Path, voting: bool, version: Callable[[], Version], url: str = "") -> None:
        self._arena = folder, voting, url
        self._version = version
        self._workers = Processes(WORKERS, polite=True, longest_s=MOST_S)
        self._kept: OrderedDict[Job, _Kept] = OrderedDict()
        self._bytes = 0
        self._making: dict[Job, asyncio.Future[Made]] = {}
        self._renewing: asyncio.Task[None] | None = None
        self._rereading = asyncio.Lock()

    async def get(self, job: Job) -> Made:
        """Return what stands at a path; of this moment, or of one a little earlier. Raises Lost and Busy."""
        now = time.monotonic()
        kept = self._kept.get(job)
        if kept is None:
            return await self._fresh(job)
        idle, kept.asked = now - kept.asked, now
        self._kept.move_to_end(job)
        if kept.made.version != self._version():
            if idle > STALE_S:
                return await self._fresh(job)
            if self._renewing is None and now - kept.at > max(SHORTEST_S, PACE * kept.made.seconds):
                self._renewing = asyncio.create_task(self._renew(job))
        return kept.made

    async def _renew(self, job: Job) -> None:
        try:
            with contextlib.suppress(Lost, Busy):
                await self._fresh(job)
        finally:
            self._renewing = None
            if job in self._kept:
                # Also where it failed: what is kept is still better than trying at every request.
                self._kept[job].at = time.monotonic()

    async def _fresh(self, job: Job) -> Made:
        """Make a page, once for all who wait for it."""
        if job not in self._making:
            readings = sum(other.rereads for other in self._making) if job.rereads else 0
            if len(self._making) >= MOST_WAITING or readings >= MOST_READINGS:
                raise Busy
            self._making[job] = asyncio.ensure_future(self._make(job))
        return await asyncio.shield(self._making[job])

    async def _make(self, job: Job) -> Made:
        try:
            async with self._rereading if job.rereads else contextlib.nullcontext():
                made = await self._by_worker(job)
        finally:
            del self._making[job]
        if made.status < 500:
            self._keep(job, made)
        return made

    async def _by_worker(self, job: Job) -> Made:
        with contextlib.suppress(Lost):
            return await asyncio.wrap_future(self._workers.submit(make, *self._arena, job))
        return await asyncio.wrap_future(self._workers.submit(make, *self._arena, job))

    def _keep(self, job: Job, made: Made) -> None:
        now = time.monotonic()
        before = self._kept.pop(job, None)
        self._kept[job] = _Kept(made, now, before.asked if before else now)
        self._bytes += _size(made) - (_size(before.made) if before else 0)
        while self._bytes > KEPT_BYTES and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _size(oldest.made)

    async def close(self) -> None:
        """End the workers, and what they were making."""
        for making in self._making.values():
            making.cancel()
        await asyncio.to_thread(self._workers.shutdown)


def _size(made: Made) -> int:
    return len(made.body) + len(made.packed) + OVERHEAD_BYTES
