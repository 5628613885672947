"""The live server: pages, the JSON API, the event stream, and the audience's booth.

    server = Server(folder, voting=True, token=None, room=room())
    server.run(listening("127.0.0.1", 8000))

Its own process answers requests and looks at the ledger; pages are made by workers (`cache`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from peerage.ledger import LedgerError, open_ledger
from peerage.ledger.topics.votes import PeopleVotes
from peerage.players.people.requests import People
from peerage.reading.reading import Reading
from peerage.settings import load
from peerage.site.addresses import match_page
from peerage.site.api.answers import PREFIX
from peerage.site.http.connections import WHOLE, Capacity, ConnectionPlaces, Connections
from peerage.site.http.frame import NOT_KEPT, PageFrame, Refused, line, unchanged
from peerage.site.http.guard import ClientHeader, Guard
from peerage.site.http.log import bounded
from peerage.site.http.media import MediaFiles
from peerage.site.pages.downloads import possible
from peerage.site.pages.match_list import FILTER
from peerage.site.pages.router import QUERIED
from peerage.site.people.annotation import Annotator
from peerage.site.people.annotation_pages import ANNOTATE, AnnotationRoutes
from peerage.site.people.review import REVIEW, ReviewRoutes
from peerage.site.people.seats import SEAT, SeatLinks, SeatRoutes
from peerage.site.people.voting import Sessions, VotingService
from peerage.site.people.voting_pages import VotingRoutes
from peerage.site.server.cache import BEHIND, Busy, Job, PageCache, fault, menu
from peerage.site.server.copies import Downloads
from peerage.site.server.events import Feed
from peerage.site.server.live import LiveRoutes
from peerage.values.parallel import Lost

FIRST = "index.html"
_MATCH = re.compile(r"match/([1-9][0-9]{0,11})((?:\.html)?)", re.ASCII)
_STEP = re.compile(r"[1-9][0-9]{0,5}", re.ASCII)
GRACE_S = 3
"""How long answers under way may take when the server stops."""

_FORM = ["GET", "POST"]

THREADS = 10
"""That read the ledger for answers, each with files of its own open, or wait for a worker."""

_log = logging.getLogger("peerage")


class ArenaServer:
    """One arena, served. `experts` are given a link each at which they judge recorded duels. `token` opens
    it to a network; None: to this machine alone. `header` names the client where a proxy asks in its
    place; `url` says where people reach the server, as https://host/path/."""

    def __init__(
        self,
        folder: Path,
        *,
        voting: bool,
        reviewing: bool = False,
        experts: Sequence[str] = (),
        token: str | None,
        room: Capacity = WHOLE,
        header: ClientHeader | None = None,
        url: str = "",
    ) -> None:
        """Raises SettingsError and LedgerError."""
        self.settings = load(folder, reading=True)
        # Made where there is none: the server may be started before the first run.
        self._ledger = open_ledger(self.settings.ledger, folder, create=True)
        votes = PeopleVotes(self._ledger.address, folder)
        votes.head()  # a file that cannot be read is told now, not to the first who looks
        self.feed = Feed(self._ledger, votes)
        self.shelf = PageCache(folder, voting, lambda: self.feed.version, url)
        frame = PageFrame(self.settings, self._ledger, votes, menu(voting))
        self.connections = Connections(room.connections)
        stand = LiveRoutes(frame, self._ledger, self.feed, ConnectionPlaces(room.streams))
        self._copies = Downloads(folder, ConnectionPlaces(room.downloads))
        self._media = MediaFiles(self._ledger, ConnectionPlaces(room.streams))
        routes = [
            Route("/events", stand.events),
            Route("/live.html", stand.live),
            Route("/live/{number:int}.html", stand.match),
            *[Route(f"/{path}", self._copies.get) for path in possible()],
            Route("/media/{file}", self._media.get),
        ]
        if voting:
            sessions = Sessions.beside(votes.path)
            booth = VotingRoutes(frame, VotingService(self._ledger, votes), self._ledger, votes, sessions)
            routes += [
                Route("/vote.html", booth.vote, methods=_FORM),
                Route("/voted.html", booth.voted),
                Route("/api/ballot", booth.ballot),
                Route("/api/votes", booth.cast, methods=["POST"]),
            ]
        self.links: dict[str, str] = {}
        """Where each person plays, below the server's address."""
        self.experts: dict[str, str] = {}
        """Where each expert judges recorded duels, below the server's address."""
        routes += self._private_routes(folder, frame, votes, experts)
        if reviewing:
            review = ReviewRoutes(frame, self._ledger, self.settings)
            routes.append(Route(f"/{REVIEW}", review.page, methods=_FORM))
        routes.append(Route("/{path:path}", self._page))
        handlers = dict.fromkeys((LedgerError, Refused, 404, 405, 500), _explained)
        inner = Starlette(routes=routes, lifespan=self._living, exception_handlers=handlers)

        async def there(scope: Scope, receive: Receive, send: Send) -> None:
            if self.feed.gone and scope["type"] == "http":
                gone = line(503, "this arena's ledger is no longer there; the log says more")
                await gone(scope, receive, send)
            else:
                await inner(scope, receive, send)

        self.app: ASGIApp = Guard(there, token, header)

    def _private_routes(
        self, folder: Path, frame: PageFrame, votes: PeopleVotes, experts: Sequence[str]
    ) -> Iterator[Route]:
        """Yield where people play and experts judge, each at a link of their own, which is written down."""
        names = [player.name for player in self.settings.everyone if player.is_person]
        if not (names or experts):
            return
        links = SeatLinks.of(folder)
        if names:
            self.links.update({name: links.path(name) for name in names})
            seats = SeatRoutes(frame, People(folder), links, names, self._media)
            yield Route(f"/{SEAT}/{{token}}", seats.page, methods=_FORM)
            yield Route(f"/{SEAT}/{{token}}/now", seats.now)
            yield Route(f"/{SEAT}/{{token}}/media/{{file}}", seats.media)
        if experts:
            self.experts.update({name: links.path(name, ANNOTATE) for name in experts})
            annotators = {
                links.token(name, ANNOTATE): Annotator(self._ledger, votes, name, secrets.SystemRandom())
                for name in experts
            }
            pages = AnnotationRoutes(frame, annotators, self._media)
            yield Route(f"/{ANNOTATE}/{{token}}", pages.page, methods=_FORM)
            yield Route(f"/{ANNOTATE}/{{token}}/media/{{file}}", pages.media)

    @property
    def results(self) -> dict[str, int]:
        """Return how many results of each kind are on record."""
        return Reading(self.settings, self._ledger).results(self._ledger.heads()[1])

    def run(self, listening: socket.socket, started: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGINT or SIGTERM; `started` is called when connections are accepted."""
        config = uvicorn.Config(
            self.app,
            # The strict parser, which bounds headers and takes no second Host, whatever else is installed.
            http="h11",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            # Requests whose clients have gone count as well.
            limit_concurrency=self.connections.limit + 1,
            # It would believe `X-Forwarded-For` of any program on this machine.
            proxy_headers=False,
        )
        try:
            with bounded():
                _Uvicorn(config, self, started).run([listening])
        finally:
            self._ledger.close()

    @asynccontextmanager
    async def _living(self, _: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "peerage-answers"))
        await self.feed.look()
        watching = asyncio.create_task(self.feed.run())
        try:
            yield
        finally:
            self.feed.close()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await self.shelf.close()
            self._copies.close()

    async def _page(self, request: Request) -> Response:
        path = request.scope["raw_path"].decode("latin-1").removeprefix("/") or FIRST
        asked = request.query_params.multi_items()
        if found := _MATCH.fullmatch(path):
            path, stated = match_page(int(found[1])), dict(asked)
            asked = [(name, stated[name]) for name in FILTER if name in stated]
            if _STEP.fullmatch(step := stated.get("step", "")):
                kept = f"?{urlencode(asked)}" if asked else ""
                return RedirectResponse(f"{found[1]}{found[2]}{kept}#step-{step}", 303)
        elif path not in QUERIED and not path.startswith(PREFIX):
            # Other pages know no query: whatever else stands there is for the script in them.
            asked = []
        try:
            made = await self.shelf.get(Job(path, tuple(asked)))
        except Lost as lost:
            _log.error("%s: %s", path, lost)
            raise Refused(500, "this page could not be made; the log says why") from None
        except Busy:
            raise Refused(503, "too much is asked for at once; try again in a moment", 5) from None
        # Weak: the same page may come in gzip or not.
        etag = f'W/"{made.etag}"'
        headers = {"etag": etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        headers[BEHIND] = "no" if made.version == self.feed.version else "yes"
        if made.status == 200 and unchanged(request, etag):
            return Response(status_code=304, headers=headers)
        body = made.body
        if made.packed and "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["content-encoding"] = made.packed, "gzip"
        return Response(body, made.status, headers, made.content_type)


class _Uvicorn(uvicorn.Server):
    """Accepts connections by our rules; makes the first page before somebody asks; ends the event streams,
    which never end by themselves."""

    def __init__(self, config: uvicorn.Config, server: ArenaServer, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._ours = server
        self._announce = started
        self._tasks: list[asyncio.Task[object]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        accept, shelf = self._ours.connections.accept, self._ours.shelf
        for one in sockets or ():
            accepting = accept(one, self.config, self.server_state, self.lifespan.state)
            self._tasks.append(asyncio.create_task(accepting))
        self._tasks.append(asyncio.create_task(shelf.get(Job(FIRST))))
        self._announce()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self._ours.connections.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ours.feed.close()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=4_096)


async def _explained(request: Request, error: Exception) -> Response:
    path = re.sub(f"^/({SEAT}|{ANNOTATE})/[^/]*", r"/\1/…", request.scope["path"])  # the token is in no log
    status = getattr(error, "status_code", 500)
    why = {404: f"there is nothing at {path}", 405: f"{request.method} is not for {path}"}.get(
        status, "this could not be answered; the log says why"
    )
    if isinstance(error, Refused):
        why = error.detail
    elif isinstance(error, LedgerError):
        _log.error("%s could not be answered: %s", path, error)
        status, why = 503, "the ledger cannot be read; the log says why"
    status, kind, body = fault(path.removeprefix("/"), status, why)
    return Response(body, status, {**NOT_KEPT, **(getattr(error, "headers", None) or {})}, kind)
