"""The audience's booth on the web: a pair is shown, a vote taken, and then who wrote what.

Forms for browsers, which work without a script, and the same as JSON for programs. A session is a random
cookie that scripts cannot read, signed by this arena (`voting`). A vote needs the ticket of a pair that was
shown to this very session, which is what keeps other sites from voting through a visitor's browser; where the
browser says that a request comes from another site, it is refused besides.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from peerage.game.media import media_in
from peerage.ledger import Ledger
from peerage.ledger.topics.votes import BOTH_BAD, PeopleVotes, VotedAlready
from peerage.reading.verdicts.people import cited, finished
from peerage.render.data import encoded
from peerage.site.api.answers import VOTE, failure
from peerage.site.api.rows import BallotRow, Cast, Revealed
from peerage.site.http.frame import PageFrame, Refused, as_json, body_of, form_of, line, refuse_foreign
from peerage.site.http.guard import network
from peerage.site.people.ballots import Verdict
from peerage.site.people.voting import PairShown, RateLimit, Sessions, TicketUnknown, VotingService, voter_of
from peerage.site.rendering import PageView
from peerage.values.clock import now_ms

YEAR_S = 365 * 86_400
MOST_BODY = 4_096
VOTES_A_MINUTE = 30
"""Of one session; four times as many from one address, where a classroom may sit."""
COMPARED = 100
"""A voter's newest votes that are compared with the peers: each is a read of the ledger."""
SESSIONS_A_MINUTE = 30
"""New ones from one address."""


class _Session(NamedTuple):
    """A voter, and the cookie to be set where the session is new."""

    voter: str
    cookie: str = ""


class VotingRoutes:
    """The handlers of the voting pages and of their JSON twins."""

    def __init__(
        self, frame: PageFrame, voting: VotingService, ledger: Ledger, votes: PeopleVotes, sessions: Sessions
    ) -> None:
        self._frame = frame
        self._signed = sessions
        self._voting = voting
        self._votes = votes
        self._ledger = ledger
        self._per_session = RateLimit(VOTES_A_MINUTE)
        self._per_address = RateLimit(4 * VOTES_A_MINUTE)
        self._sessions = RateLimit(SESSIONS_A_MINUTE)

    async def vote(self, request: Request) -> Response:
        """`vote.html`: GET shows a pair, POST takes the vote and leads to `voted.html`."""
        session = self._session(request)
        if request.method == "POST":
            try:
                pending = await self._take(request, session)
            except (TicketUnknown, VotedAlready):
                pending = None
            return _to(f"voted.html?match={pending.match}" if pending else "vote.html")
        pending = await asyncio.to_thread(self._voting.draw, session.voter)
        pair = None if pending is None else await asyncio.to_thread(self._voting.read, pending.match)
        given = len(await asyncio.to_thread(self._votes.judged_by, session.voter))
        answers = [pair.answers[label] for label in pending.shown] if pending and pair else []
        values = {"pending": pending, "pair": pair, "given": given, "answers": answers, "vote": None}
        view = PageView("Vote", VOTE, template=VOTE, values=values)
        return self._with(session, await self._frame.page(VOTE, view))

    async def voted(self, request: Request) -> Response:
        """`voted.html?match=N`: who wrote what, for those who have judged it."""
        session = self._known(request)
        number = request.query_params.get("match", "")
        values = None
        if session is not None and re.fullmatch("[0-9]{1,15}", number):
            values = await asyncio.to_thread(self._judged, session.voter, int(number))
        if not values:
            return line(404, "there is no vote of yours here; vote.html shows a pair")
        view = PageView("Your vote", VOTE, template=VOTE, values=values)
        return await self._frame.page("voted.html", view)

    async def ballot(self, request: Request) -> Response:
        """`GET /api/ballot`: the pair that this session has to judge."""
        session = self._session(request)
        pending = await asyncio.to_thread(self._voting.draw, session.voter)
        if pending is None:
            return self._with(
                session, as_json(failure(404, "there is no pair left that you have not judged"))
            )
        found = await asyncio.to_thread(self._voting.read, pending.match)
        first, second = (found.answers[label] for label in pending.shown)
        media = tuple(media_in(found.challenge.values()).values())
        shown = BallotRow(pending.ticket, found.topic, found.challenge, first, second, media)
        return self._with(session, as_json((200, encoded(shown))))

    async def cast(self, request: Request) -> Response:
        """`POST /api/votes`: take a vote, and tell who wrote what."""
        if not _is_json(request):
            raise Refused(415, "send application/json")
        session = self._session(request)
        try:
            pending = await self._take(request, session)
        except (TicketUnknown, VotedAlready) as error:
            raise Refused(409, str(error)) from None
        if pending is None:
            return as_json((200, b"null"))
        revealed = await asyncio.to_thread(self._reveal, session.voter, pending.match)
        return as_json((201, msgspec.json.encode(revealed)))

    def _judged(self, voter: str, number: int) -> dict[str, object] | None:
        """Return what the page of a pair that this voter has judged shows."""
        vote, revealed = self._votes.given(voter, number), self._reveal(voter, number)
        if vote is None or revealed is None:
            return None
        pair = self._voting.read(number)
        return {"vote": revealed, "pair": pair, "answers": [pair.answers[label] for label in vote.shown]}

    def _reveal(self, voter: str, number: int) -> Revealed | None:
        """Return who wrote what in a match that this voter has judged."""
        vote, match = self._votes.given(voter, number), finished(self._ledger, number)
        if vote is None or match is None or match.players.keys() != set(vote.shown):
            return None
        first, second = vote.shown
        verdicts: Mapping[str, Verdict] = {first: "first", second: "second", BOTH_BAD: "both bad"}
        newest = self._votes.of(voter)[-COMPARED:]
        known = cited(self._ledger, newest)
        compared = [known[each.match].agrees(each) for each in newest if each.match in known]
        return Revealed(
            match=vote.match,
            verdict=verdicts.get(vote.verdict, "tie"),
            players=(match.players[first], match.players[second]),
            peers=(match.scores.get(first, 0.5), match.scores.get(second, 0.5)),
            agreed=compared.count(True),
            compared=len(compared) - compared.count(None),
        )

    async def _take(self, request: Request, session: _Session) -> PairShown | None:
        """Record the vote in a request; None when it skips its pair."""
        refuse_foreign(request, "a vote is taken from the voting page of this server alone")
        sent = await _read(request)
        now = time.monotonic()
        wait = max(self._per_session.wait(session.voter, now), self._per_address.wait(_address(request), now))
        if wait:
            raise Refused(429, f"too many votes at once; go on in {wait:.0f} s", wait)
        if sent.verdict == "skip":
            await asyncio.to_thread(self._voting.skip, session.voter, sent.ticket)
            return None
        at_ms = now_ms()
        return await asyncio.to_thread(self._voting.cast, session.voter, sent.ticket, sent.verdict, at_ms)

    def _session(self, request: Request) -> _Session:
        known = self._known(request)
        if known is not None:
            return known
        wait = self._sessions.wait(_address(request), time.monotonic())
        if wait:
            raise Refused(429, f"too many new voters from one address; go on in {wait:.0f} s", wait)
        cookie = self._signed.new()
        return _Session(voter_of(cookie), cookie)

    def _known(self, request: Request) -> _Session | None:
        """The session that a request comes from, if this arena made it."""
        cookie = request.cookies.get(self._signed.cookie, "")
        return _Session(voter_of(cookie)) if self._signed.genuine(cookie) else None

    def _with(self, session: _Session, response: Response) -> Response:
        """The response, with the cookie of a session that is new."""
        if session.cookie:
            response.set_cookie(
                self._signed.cookie, session.cookie, max_age=YEAR_S, httponly=True, samesite="lax"
            )
        return response


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/json")


async def _read(request: Request) -> Cast:
    try:
        if _is_json(request):
            return msgspec.json.decode(await body_of(request, MOST_BODY, "a vote"), type=Cast)
        return msgspec.convert(await form_of(request, MOST_BODY, "a vote"), Cast)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Refused(400, f"this is not a vote: {error}") from None


def _address(request: Request) -> str:
    return network(request.client.host) if request.client else ""


def _to(where: str) -> Response:
    return Response(status_code=303, headers={"location": where, "cache-control": "no-store"})
