"""Answers that the server makes itself: pages that only it has, JSON, and one line of text."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from math import ceil
from typing import TypeVar
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from peerage.ledger import Ledger
from peerage.ledger.topics.votes import PeopleVotes
from peerage.settings import ArenaSettings
from peerage.site.api.rows import JSON
from peerage.site.pages.router import HTML, document
from peerage.site.reading import Menu, Site
from peerage.site.rendering import PageView
from peerage.values.texts import visible

Found = TypeVar("Found")
NOT_KEPT = {"cache-control": "no-store"}


class Refused(HTTPException):
    """A request that is not served: an HTTP status, the reason, and seconds after which it may be."""

    def __init__(self, status: int, why: str, wait_s: float = 0.0) -> None:
        super().__init__(status, why, {"retry-after": str(ceil(wait_s))} if wait_s else None)


class PageFrame:
    """Puts a page inside the frame that all pages share."""

    def __init__(self, settings: ArenaSettings, ledger: Ledger, votes: PeopleVotes, menu: Menu) -> None:
        self._settings = settings
        self._ledger = ledger
        self._votes = votes
        self._menu = menu

    async def page(self, path: str, view: PageView, status: int = 200) -> Response:
        """The page at `path`."""

        def make() -> bytes:
            # A new one each time: it reads three rows, while a refreshed one reads all that is new.
            site = Site(self._settings, self._ledger, self._votes, menu=self._menu)
            return document(site, path, view)

        return Response(await asyncio.to_thread(make), status, NOT_KEPT, HTML)


async def body_of(request: Request, most: int, what: str) -> bytes:
    """The body of a request; Refused when it has more than `most` bytes, or never ends."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise Refused(413, f"{what} has at most {most} bytes")
    except ClientDisconnect:
        raise Refused(400, f"the connection ended before {what} was whole") from None
    return bytes(body)


async def form_of(request: Request, most: int, what: str, fields: int = 8) -> dict[str, str]:
    """The last value of each of at most so many fields of a form; Refused where the body is none, or longer
    than `most` bytes."""
    body = await body_of(request, most, what)
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=fields)
    except ValueError as error:
        raise Refused(400, f"this is not {what}: {error}") from None
    return {name: values[-1] for name, values in found.items()}


def owner(tokens: Mapping[str, Found], request: Request) -> Found | None:
    """Return what the token in a request's path opens, in a time that does not tell where tokens differ."""
    brought = request.path_params["token"].encode("utf-8", "replace")
    opened = [one for token, one in tokens.items() if hmac.compare_digest(token.encode(), brought)]
    return opened[0] if opened else None


def refuse_foreign(request: Request, why: str) -> None:
    """Refuse what the browser says comes from another site."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    # `null` is what a browser says of a page in a sandbox, of a file, and of what hides where it comes from.
    foreign = origin is not None and origin.partition("://")[2] != request.headers.get("host", "")
    if site not in (None, "same-origin", "none") or (site is None and foreign):
        raise Refused(403, why)


def as_json(answer: tuple[int, bytes]) -> Response:
    """An answer in JSON: status and body."""
    return Response(answer[1], answer[0], NOT_KEPT, JSON)


def unchanged(request: Request, etag: str) -> bool:
    """Return whether the reader has what this tag names (RFC 9110, 13.1.2)."""
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def full(wait_s: int) -> Response:
    """The answer when all places are taken: come again in so many seconds."""
    answer = line(503, "every place is taken; try again later")
    answer.headers["retry-after"] = str(wait_s)
    return answer


def line(status: int, why: str) -> Response:
    """An answer of one line of text."""
    return Response(f"{visible(why)}\n", status, NOT_KEPT, "text/plain; charset=utf-8")
