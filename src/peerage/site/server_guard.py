"""Who may ask: the door that every request of the server passes first.

On this machine alone (the default) the server answers only to names of this machine, so that a page from
elsewhere cannot reach it by pointing its own name here (DNS rebinding). Open to a network it answers to who
brings the token: once in the address, from then on in a cookie, or as `Authorization: Bearer`. Every answer
carries the headers that keep a browser from running, framing or sniffing anything in it, and goes out in
pieces, so that a reader who takes it slowly holds one piece and not the whole.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from peerage.site.pages import POLICY
from peerage.site.server_clients import ClientHeader

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PARAMETER = "token"
COOKIE = "peerage-token-"
"""And the port: browsers send cookies to every port of a machine, where other arenas may be served."""
PIECE = 65_536
"""Bytes of an answer that are sent at once."""
MOST_ADDRESS = 4_096
"""Bytes of path and query together."""

HEADERS = (
    (b"content-security-policy", f"{POLICY}; frame-ancestors 'none'".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """Lets a request through to `app`, or says why not.

    `token` None: this machine alone. `header` names the client where a proxy asks in its place.
    """

    def __init__(self, app: App, token: str | None, header: ClientHeader | None = None) -> None:
        self._app = app
        self._token = token
        self._header = header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            body = message.get("body", b"")
            for start in range(PIECE, len(body), PIECE):
                await send({**message, "body": body[start - PIECE : start], "more_body": True})
            if len(body) > PIECE:
                message["body"] = body[-(len(body) % PIECE or PIECE) :]
            await send(message)

        client = self._header and self._header.client(scope)
        if client:
            scope["client"] = (client, 0)

        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_ADDRESS:
            await refuse(safely, 414, "this address is longer than any of ours")
        elif self._token is None:
            if _host(scope) in LOOPBACK:
                await self._app(scope, receive, safely)
            else:
                await refuse(
                    safely, 421, "this server answers to localhost alone; see peerage serve --network"
                )
        else:
            await self._with_token(self._token, scope, receive, safely)

    async def _with_token(self, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        brought = [value for name, value in query if name == PARAMETER]
        if brought and same(brought[0], token):
            # Out of the address at once, before it is shared, bookmarked or logged with it.
            rest = urlencode([pair for pair in query if pair[0] != PARAMETER])
            to = scope["raw_path"].decode("latin-1").rpartition("/")[2] or "."
            headers = [
                (b"location", f"./{to}{'?' if rest else ''}{rest}".encode("latin-1")),
                (b"set-cookie", f"{_cookie(scope)}={token}; Path=/; HttpOnly; SameSite=Lax".encode()),
                (b"cache-control", b"no-store"),
            ]
            await refuse(send, 303, "this way", headers)
        elif same(_header(scope, b"authorization").removeprefix("Bearer "), token) or same(
            cookies(scope).get(_cookie(scope), ""), token
        ):
            await self._app(scope, receive, send)
        else:
            why = "this arena is open to those who have its link; ask whoever runs `peerage serve` for it"
            await refuse(send, 401, why, [(b"www-authenticate", b'Bearer realm="peerage"')])


def same(found: str, expected: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(found.encode("utf-8", "replace"), expected.encode("utf-8"))


def cookies(scope: Scope) -> dict[str, str]:
    """The cookies of a request, by name; of two of the same name the first counts."""
    found: dict[str, str] = {}
    for part in _header(scope, b"cookie").split(";"):
        name, equals, value = part.strip().partition("=")
        if equals:
            found.setdefault(name, value)
    return found


def _cookie(scope: Scope) -> str:
    """The name of the cookie that holds the token."""
    return f"{COOKIE}{scope['server'][1]}"


def _host(scope: Scope) -> str:
    """The name by which the server was asked, without its port."""
    host = _header(scope, b"host").lower()
    name, colon, port = host.rpartition(":")
    return name if colon and (port.isdecimal() or not port) else host


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def refuse(send: Send, status: int, why: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    """Answer with one line of text."""
    body = f"{why}\n".encode()
    head = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        *(headers or ()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
