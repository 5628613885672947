"""The page on which the arena's owner reviews challenges: one at a time, its verdict an entry of the log.

Only a server for this machine alone has it (`peerage serve --review`), since it shows sealed answers. A form
carries a token that was drawn when the server started, so that no other site can send one through a visitor's
browser.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import get_args
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from peerage.challenges.pool import Verdict
from peerage.engine.record.challenges import pool, review
from peerage.ledger import Ledger, LedgerError
from peerage.settings import ArenaSettings
from peerage.site.http.frame import NOT_KEPT, PageFrame, form_of, line
from peerage.site.rendering import PageView
from peerage.values.clock import now_ms
from peerage.views import challenges

REVIEW = "review.html"
_MOST_BODY = 10_000
_REASON = 2_000


class ReviewRoutes:
    """The handlers of the page."""

    def __init__(self, frame: PageFrame, ledger: Ledger, settings: ArenaSettings) -> None:
        self._frame = frame
        self._ledger = ledger
        self._settings = settings
        self._token = secrets.token_urlsafe(24)

    async def page(self, request: Request) -> Response:
        """`review.html?after=ID`: GET shows the next challenge that waits, POST takes a verdict on one."""
        if request.method == "POST":
            return await self._take(request)
        values = await asyncio.to_thread(self._next, request.query_params.get("after", ""))
        return await self._frame.page(REVIEW, PageView("Review", REVIEW, template=REVIEW, values=values))

    def _next(self, after: str) -> dict[str, object]:
        """The challenge after the one with this id, in the order in which they wait."""
        found = pool(self._ledger)
        waiting = challenges.to_review(found, answers=True)
        place = next((at for at, row in enumerate(waiting, 1) if row.challenge_id == after), 0)
        row = waiting[place % len(waiting)] if waiting else None
        tried = [] if row is None else challenges.attempts(found.entries[row.challenge_id], answers=True)
        return {"row": row, "waiting": len(waiting), "tried": tried, "token": self._token}

    async def _take(self, request: Request) -> Response:
        sent = await form_of(request, _MOST_BODY, "a review")
        if not hmac.compare_digest(sent.get("token", "").encode(), self._token.encode()):
            return line(403, f"a review is taken from the page {REVIEW} of this server alone")
        name, said = sent.get("challenge", ""), sent.get("verdict", "")
        verdict: Verdict | None = next((one for one in get_args(Verdict) if one == said), None)
        if verdict is not None:
            reason, at_ms = sent.get("reason", "")[:_REASON], now_ms()
            try:
                await asyncio.to_thread(review, self._ledger, name, verdict, reason, at_ms)
            except LedgerError as error:
                return line(409, str(error))
        where = f"{REVIEW}?after={quote(name)}" if verdict is None else REVIEW
        return Response(status_code=303, headers={"location": where, **NOT_KEPT})
