"""The page on which a person plays: its own request, one at a time, and a form for the reply.

A seat has a private address, `seat/TOKEN`, which is all that its person needs and opens nothing else. The
token is the HMAC-SHA256 of the person's name under a key of the arena, `people.key` in its folder, which its
owner alone may read: links hold over a restart, and stand in no ledger, page or log. Anyone who has the
link has the seat. It is part of every request to the seat, so no other site can send one through a visitor's
browser; what the browser says comes from another site is refused besides.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from peerage.formats import FormatError
from peerage.formats.forms import MOST_FIELDS, FormProblems, fields, for_person, reply
from peerage.games.adapter import board
from peerage.players.people.requests import LONGEST, Closed, People, PeopleError, PersonTurn
from peerage.players.people.requests import Request as PersonRequest
from peerage.render.html.media import with_media
from peerage.render.html.pictures import board as drawn
from peerage.render.html.texts import shown
from peerage.site.http.frame import (
    NOT_KEPT,
    PageFrame,
    Refused,
    as_json,
    form_of,
    line,
    owner,
    refuse_foreign,
)
from peerage.site.http.media import MediaFiles
from peerage.site.people.private_key import private_key
from peerage.site.rendering import PageView
from peerage.values.clock import now_ms

SEAT = "seat"
KEY = "people.key"
MOST_BODY = 12 * LONGEST + 10_000
"""Bytes of a form: every character of the longest reply may take four, each written as three."""
BUTTONS = 6
"""Options of a choice that are buttons which send the form; of more the person picks one."""
MOST_OPTIONS = 16
"""Options of a choice that are all in sight; more are in a list to open."""
_PART = '<div class="text">{}</div>'
_WIDE = 24
"""Characters of the options of such a choice together; longer ones stand one below the other."""

_log = logging.getLogger("peerage")


class SeatLinks:
    """The tokens of the people of one arena."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def of(cls, folder: Path) -> SeatLinks:
        """Those of the arena in `folder`; the first call draws the key. Raises LedgerError."""
        return cls(private_key(folder / KEY, "the key of people's links", "people's links are then new ones"))

    def token(self, name: str, of: str = SEAT) -> str:
        digest = hmac.new(self._key, f"peerage {of} {name}".encode("utf-8", "replace"), sha256).digest()
        return urlsafe_b64encode(digest)[:32].decode()

    def path(self, name: str, of: str = SEAT) -> str:
        """Return where this person plays, or judges, below the server's address."""
        return f"{of}/{self.token(name, of)}"


class SeatRoutes:
    """The handlers of the page of a seat."""

    def __init__(
        self, frame: PageFrame, people: People, links: SeatLinks, names: Iterable[str], files: MediaFiles
    ) -> None:
        self._files = files
        self._tokens = {name: links.token(name) for name in names}
        self._frame = frame
        self._people = people
        self._seats = {token: name for name, token in self._tokens.items()}

    async def page(self, request: Request) -> Response:
        """`seat/TOKEN`: GET shows what the person is asked, POST takes a reply and leads back here."""
        name = owner(self._seats, request)
        if name is None:
            return _nobody()
        if request.method == "POST":
            return await self._take(request, name)
        return await self._show(name)

    async def now(self, request: Request) -> Response:
        """`seat/TOKEN/now`: which request it is the person's turn to reply to, "" for none."""
        name = owner(self._seats, request)
        if name is None:
            return _nobody()
        turn = await self._turn(name)
        return as_json((200, msgspec.json.encode({"request": "" if turn is None else turn.request.id})))

    async def media(self, request: Request) -> ASGIApp:
        """`seat/TOKEN/media/SHA256.png`: a picture or sound of what the person is asked now."""
        name = owner(self._seats, request)
        turn = await self._turn(name) if name else None
        texts = [text for _, text in turn.request.messages] if turn else []
        return await self._files.of(request, texts)

    def _parts(self, name: str, request: PersonRequest) -> list[tuple[str, Markup]]:
        """Return what the person is asked, message by message, with its pictures."""
        texts = [(speaker, for_person(request.expects, text)) for speaker, text in request.messages]
        address = self._files.under(self._tokens[name])
        return [
            (speaker, Markup(with_media(text, "The text", address, _with_boards))) for speaker, text in texts
        ]

    async def _turn(self, name: str) -> PersonTurn | None:
        try:
            return await asyncio.to_thread(self._people.turn, name, now_ms(), shown=True)
        except PeopleError as error:
            _log.error("%s", error)
            raise Refused(503, "requests cannot be read now; the log of the server says why") from None

    async def _take(self, request: Request, name: str) -> Response:
        refuse_foreign(request, "a reply is taken from the page of its seat alone")
        sent = await form_of(request, MOST_BODY, "a reply", MOST_FIELDS + 10)
        turn, id = await self._turn(name), sent.get("request", "")
        text: str | None = None
        if turn is None or turn.request.id != id:
            why = "it was replied to before, its time was up, or its match is over"
            return await self._show(name, 409, f"What you sent was not taken: {why}.", lost=sent)
        try:
            if "decline" not in sent:
                text = reply(turn.request.expects, sent)
            await asyncio.to_thread(self._people.reply, name, id, text, now_ms())
        except FormatError as problem:
            fields = problem.fields if isinstance(problem, FormProblems) else {}
            return await self._show(name, 422, f"That cannot be used: {problem}.", sent, problems=fields)
        except Closed as closed:
            return await self._show(name, 409, f"What you sent was not taken: {closed}.", lost=sent)
        except PeopleError as problem:
            return await self._show(name, 422, f"That cannot be used: {problem}.", sent)
        return Response(status_code=303, headers={"location": request.path_params["token"], **NOT_KEPT})

    async def _show(
        self,
        name: str,
        status: int = 200,
        problem: str = "",
        sent: Mapping[str, str] = {},
        lost: Mapping[str, str] = {},
        problems: Mapping[str, str] = {},
    ) -> Response:
        turn = await self._turn(name)
        values: dict[str, Any] = {"name": name, "turn": turn, "problem": problem, "form": (), "parts": ()}
        values["lost"] = [_own(value) for key, value in lost.items() if key != "request" and value.strip()]
        if turn is not None:
            form = fields(turn.request.expects)
            buttons = [field for field in form if _sends(field.options)]
            values |= {"form": form, "problems": problems, "most_options": MOST_OPTIONS}
            values["sends"] = buttons[0].name if len(buttons) == 1 and form[-1] == buttons[0] else ""
            values["sent"] = {field.name: _own(sent.get(field.name, "")) for field in form}
            values["parts"] = await asyncio.to_thread(self._parts, name, turn.request)
        view = PageView(name, "", template="seat.html", values=values)
        return await self._frame.page(f"{SEAT}/", view, status)


def _with_boards(text: str, _: str) -> str:
    """Return a text in parts, each with the picture of the board that it ends with, if any."""
    made, part = "", ""
    for paragraph in re.split(r"(?<=\n)\n+", text):
        part = f"{part}\n{paragraph}" if part else paragraph
        if (position := board(paragraph)).squared:
            made += f"{_PART.format(shown(part))}{drawn(position)}"
            part = ""
    return made + _PART.format(shown(part)) * bool(part)


def _sends(options: tuple[str, ...]) -> bool:
    return 0 < len(options) <= BUTTONS and sum(map(len, options)) <= BUTTONS * _WIDE


def _own(text: str) -> Markup:
    """Return what the person wrote, given back as it is: nobody else reads it here."""
    return escape(text)


def _nobody() -> Response:
    return line(404, "no seat has this address; the arena's owner has your link")
