"""Who may ask: the door that every request of the server passes first.

On this machine alone (the default) the server answers only to names of this machine, so that a page from
elsewhere cannot reach it by pointing its own name here (DNS rebinding). Open to a network it answers to who
brings the token: once in the address, from then on in a cookie, or as `Authorization: Bearer`. Every answer
carries the headers that keep a browser from running, framing or sniffing anything in it, and goes out in
pieces, so that a reader who takes it slowly holds one piece and not the whole.

Limits count by the address of the one who asks. A proxy names its client in a header; anybody can send such a
header, so none is believed unless the operator names it, and then only the entry that the outermost of their
own proxies wrote.
"""

from __future__ import annotations

import hmac
import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from peerage.site.http.frame import line
from peerage.site.pages.router import POLICY

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PARAMETER = "token"
COOKIE = "peerage-token-"
"""And the port: browsers send cookies to every port of a machine, where other arenas may be served."""
SEATS = re.compile("/(seat|annotate)/[^/]+(/media/[^/]+)?|/seat/[^/]+/now")
SEAT_ASSETS = ("/assets/site.css", "/assets/seat.css", "/assets/seat.js", "/assets/live.css")
PIECE = 65_536
"""Bytes of an answer that are sent at once."""
MOST_ADDRESS = 4_096
"""Bytes of path and query together."""

PREFIX = 64
"""Bits of an IPv6 address that name a household; the rest is its own to choose."""

HEADERS = (
    (b"content-security-policy", f"{POLICY}; frame-ancestors 'none'".encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # without one browsers call our own forms' origin `null`
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class ClientHeader(NamedTuple):
    """The header that names the client, and how many of the operator's proxies stand one behind the other.
    `X-Forwarded-For` and its like hold a list of addresses, `Forwarded` (RFC 7239) a list of elements with
    `for=`. Each proxy appends the address that it was asked from: the one that counts is `proxies` from the
    end, and what a client wrote stands before it."""

    name: str
    proxies: int = 1

    def client(self, headers: Headers) -> str | None:
        """The client's address in the headers of a request; None when there is none that can be read."""
        entries = ",".join(headers.getlist(self.name)).split(",")
        if len(entries) < self.proxies:
            return None
        entry = entries[-self.proxies]
        if self.name.lower() == "forwarded":
            found = re.search(r'(?:^|;)\s*for\s*=\s*"?([^";]*)', entry, re.IGNORECASE)
            entry = found[1] if found else ""
        address = _address(entry.strip())
        return None if address is None else str(address)


def network(address: str) -> str:
    """By what limits count an address: itself, or its network where it is IPv6."""
    found = _address(address)
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> (128 - PREFIX) << (128 - PREFIX)))


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, with or without brackets, port and zone."""
    text = re.sub(r"^\[([^\]]*)\](?::\d*)?$|^([0-9.]+):\d*$", r"\1\2", text).partition("%")[0]
    try:
        return ip_address(text)
    except ValueError:
        return None


class Guard:
    """Lets a request through to `app`, or says why not. `token` None: this machine alone. `header` names the
    client where a proxy asks in its place."""

    def __init__(self, app: ASGIApp, token: str | None, header: ClientHeader | None = None) -> None:
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

        request = Request(scope)
        client = self._header and self._header.client(request.headers)
        if client:
            scope["client"] = (client, 0)
        await (self._refusal(request) or self._app)(scope, receive, safely)

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that comes no further."""
        scope, token = request.scope, self._token
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_ADDRESS:
            return line(414, "this address is longer than any of ours")
        if token is None:
            if re.sub(r":\d*$", "", request.headers.get("host", "").lower()) in LOOPBACK:
                return None
            return line(421, "this server answers to localhost alone; see peerage serve --network")
        if SEATS.fullmatch(scope["path"]) or scope["path"] in SEAT_ASSETS:
            return None  # a seat has a token of its own, and opens nothing else
        cookie = f"{COOKIE}{scope['server'][1]}"
        query = request.query_params.multi_items()
        if any(name == PARAMETER and same(value, token) for name, value in query):
            # Out of the address at once, before it is shared, bookmarked or logged with it.
            rest = urlencode([pair for pair in query if pair[0] != PARAMETER])
            to = scope["raw_path"].decode("latin-1").rpartition("/")[2] or "."
            moved = line(303, "this way")
            moved.headers["location"] = f"./{to}{'?' if rest else ''}{rest}"
            moved.headers["set-cookie"] = f"{cookie}={token}; Path=/; HttpOnly; SameSite=Lax"
            return moved
        brought = request.headers.get("authorization", "").removeprefix("Bearer ")
        if same(brought, token) or same(request.cookies.get(cookie, ""), token):
            return None
        why = "this arena is open to those who have its link; ask the one who runs `peerage serve` for it"
        refused = line(401, why)
        refused.headers["www-authenticate"] = 'Bearer realm="peerage"'
        return refused


def same(found: str, expected: str) -> bool:
    """Return whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(found.encode("utf-8", "replace"), expected.encode("utf-8"))
