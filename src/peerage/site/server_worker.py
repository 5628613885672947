"""A process that makes pages: `python -m peerage.site.server_worker FOLDER VOTING`, told by pipes which.

Making the table of a long ledger takes seconds of Python. In the server's own process every other request
would wait for it; here it stands behind them, at a lower priority, and a page that fails takes nobody along.
"""

from __future__ import annotations

import gzip
import logging
import os
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from peerage.frames import give, take
from peerage.ledger.store import LedgerError
from peerage.protocol import visible
from peerage.settings import SettingsError
from peerage.site.api import PREFIX, VOTE, answer, failure
from peerage.site.api_endpoints import ENDPOINTS
from peerage.site.api_rows import JSON
from peerage.site.events import Version
from peerage.site.ledger_file import LedgerFile
from peerage.site.pages import HTML, document, page
from peerage.site.reading import Menu, Site
from peerage.site.rendering import View
from peerage.site.server_log import bounded

LIVE = "live.html"
API = "api"

_log = logging.getLogger("peerage")

PACKED_FROM = 1_000
"""Bytes from which on a body is worth compressing."""
POLITE = 10
"""How far below the server's own priority."""


class Job(Struct, frozen=True):
    """What was asked for: the path as it came, without its leading slash."""

    path: str
    query: tuple[tuple[str, str], ...] = ()


class Made(Struct, frozen=True):
    """What stands there. `packed` is the body in gzip, empty where that is not worth it; `version` is the
    moment that it shows, `seconds` what it took."""

    status: int
    content_type: str
    etag: str
    body: bytes
    packed: bytes
    version: Version
    seconds: float


class Pages:
    """Makes one page after the other, each of the arena as it is at that time."""

    def __init__(self, folder: Path, voting: bool) -> None:
        self._folder = folder
        self._menu = menu(voting)
        self._open: tuple[Site, LedgerFile] | None = None

    def make(self, job: Job) -> Made:
        """The answer to a job; a fault in making it is an answer too."""
        began = time.perf_counter()
        version = Version(0, 0, {})
        try:
            site = self._current()
            version = Version(site.number, site.votes.count(), site.amended)
            status, kind, etag, body = self._answer(site, job)
        except (LedgerError, SettingsError) as error:
            _log.error("%s could not be made: %s", job.path, error)
            status, kind, etag, body = self._fault(job, 503, "the arena cannot be read; the log says why")
        except Exception:
            _log.exception("%s could not be made", job.path)
            status, kind, etag, body = self._fault(job, 500, "this page could not be made; the log says why")
        packed = gzip.compress(body, 6, mtime=0) if len(body) >= PACKED_FROM else b""
        return Made(status, kind, etag, body, packed, version, time.perf_counter() - began)

    def _current(self) -> Site:
        """The arena as it is now. Raises SettingsError and LedgerError."""
        if self._open is None:
            site = Site.open(self._folder, self._menu)
            self._open = site, LedgerFile(site.ledger.address)
        site, file = self._open
        file.check()
        site = site.refreshed()
        self._open = site, file
        return site

    def _answer(self, site: Site, job: Job) -> tuple[int, str, str, bytes]:
        if job.path == API:
            view = View("api.html", "API", "", {"endpoints": ENDPOINTS})
            return _document(site, job, 200, view)
        if job.path.startswith(PREFIX):
            found = answer(site, job.path, job.query)
            return found.status, JSON, found.etag, found.body
        made = page(site, job.path)
        if made is None:
            view = View("missing.html", "Nothing here", "", {"path": f"/{job.path}"})
            return _document(site, job, 404, view)
        return 200, made.content_type, made.etag, made.body

    def _fault(self, job: Job, status: int, why: str) -> tuple[int, str, str, bytes]:
        if job.path.startswith(PREFIX):
            found = failure(status, why)
            return status, JSON, found.etag, found.body
        return status, "text/plain; charset=utf-8", "", f"{visible(why)}\n".encode()


def _document(site: Site, job: Job, status: int, view: View) -> tuple[int, str, str, bytes]:
    body = document(site, job.path, view)
    return status, HTML, sha256(body).hexdigest()[:32], body


def menu(voting: bool) -> Menu:
    """What a server has beside the pages of every site."""
    return ((LIVE, "Live"), *(((VOTE, "Vote"),) if voting else ()))


def main(folder: Path, voting: bool, jobs: BinaryIO, made: BinaryIO) -> None:
    """Answer jobs until there are no more."""
    pages = Pages(folder, voting)
    while (job := take(jobs, Job)) is not None:
        give(made, pages.make(job))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(POLITE)
    # Whatever some library prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with bounded():
        main(Path(sys.argv[1]), sys.argv[2] == "voting", sys.stdin.buffer, answers)
