"""The page on which an expert judges recorded duels blind, at a private link like that of a person's seat.

The link `annotate/TOKEN` is all that the expert needs, and opens nothing else; anyone who has it votes under
that name. A vote needs the ticket of the duel that is shown, so going back in the browser changes none.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from peerage.ledger.topics.votes import VotedAlready
from peerage.render.html.writer import Html
from peerage.site.http.frame import NOT_KEPT, PageFrame, Refused, form_of, line, owner, refuse_foreign
from peerage.site.http.media import MediaFiles
from peerage.site.people.annotation import Annotator, CheckpointShown, Verdict
from peerage.site.rendering import PageView
from peerage.values.clock import now_ms

ANNOTATE = "annotate"
MOST_BODY = 1_000


class AnnotationRoutes:
    """The handlers of the experts' pages; `annotators` by the token of their link."""

    def __init__(self, frame: PageFrame, annotators: Mapping[str, Annotator], files: MediaFiles) -> None:
        self._files = files
        self._frame = frame
        self._annotators = annotators
        self._open: dict[str, tuple[str, CheckpointShown]] = {}
        self._lock = threading.Lock()

    async def page(self, request: Request) -> Response:
        """`annotate/TOKEN`: GET shows a duel, POST takes the vote and leads back here."""
        annotator = owner(self._annotators, request)
        if annotator is None:
            return line(404, "nobody has this address; the arena's owner has your link")
        token = request.path_params["token"]
        if request.method == "POST":
            await self._take(request, token)
            return Response(status_code=303, headers={"location": token, **NOT_KEPT})
        values = await asyncio.to_thread(self._values, token)
        view = PageView(annotator.name, "", template="annotate.html", values=values)
        return await self._frame.page(f"{ANNOTATE}/", view)

    async def media(self, request: Request) -> ASGIApp:
        """`annotate/TOKEN/media/SHA256.png`: a picture or sound of the duel that is open."""
        token = request.path_params["token"] if owner(self._annotators, request) else ""
        _, shown = self._open.get(token, ("", None))
        return await self._files.of(request, shown.ballot.challenge.values() if shown else ())

    def _values(self, token: str) -> dict[str, Any]:
        """Return what the page is made of: the duel that is open, or else the next."""
        annotator = self._annotators[token]
        with self._lock:  # two tabs are shown the same duel
            if token not in self._open and (drawn := annotator.draw()) is not None:
                self._open[token] = secrets.token_urlsafe(18), drawn
            ticket, shown = self._open.get(token, ("", None))
            given, there = annotator.progress()
        address = self._files.under(token)
        html = Html(lambda to: address(to[1]) if to[0] == "media" else None)
        return {
            "html": html,
            "name": annotator.name,
            "ticket": ticket,
            "shown": shown,
            "given": given,
            "there": there,
        }

    async def _take(self, request: Request, token: str) -> None:
        refuse_foreign(request, "a vote is taken from the page of its expert alone")
        sent = await form_of(request, MOST_BODY, "a vote")
        verdict = sent.get("verdict", "")
        known: tuple[Verdict, ...] = get_args(Verdict)
        chosen = next((one for one in known if one == verdict), None)
        if chosen is None:
            raise Refused(400, f"this is not a vote: expected one of {', '.join(known)}")
        await asyncio.to_thread(self._cast, token, sent.get("ticket", ""), chosen)

    def _cast(self, token: str, ticket: str, verdict: Verdict) -> None:
        with self._lock:
            due, shown = self._open.get(token, ("", None))
            if shown is None or not hmac.compare_digest(due.encode(), ticket.encode("utf-8", "replace")):
                return  # a page that was gone back to; the duel that is open is shown instead
            with suppress(VotedAlready):  # meanwhile in a terminal
                self._annotators[token].cast(shown, verdict, now_ms())
            del self._open[token]
