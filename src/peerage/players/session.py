"""HTTP as the house does it: one session a client, bounded bodies, failures that tell what was paid."""

from __future__ import annotations

from urllib.parse import urlsplit

import aiohttp

from peerage.players.client import MAX_BODY, PlayerError

KEEPALIVE_S = 4.0
"""Idle connections are dropped before servers drop them (uvicorn and llama.cpp: 5 s)."""

CONNECT_S = 15.0


def is_loopback(url: str) -> bool:
    """Whether an address is this machine itself, where no proxy belongs in between."""
    return (urlsplit(url).hostname or "") in {"127.0.0.1", "localhost", "::1"}


def open_session(url: str) -> aiohttp.ClientSession:
    """A session for one server: as many connections as there are calls, no time limit of its own."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
        trust_env=not is_loopback(url),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def read_bounded(response: aiohttp.ClientResponse) -> bytes:
    """The body of a response; raises PlayerError beyond `MAX_BODY` bytes."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_BODY:
            response.close()
            raise PlayerError(
                f"the server sent more than {MAX_BODY // 2**20} MiB for one reply", maybe_paid=True
            )
        parts.append(part)
    return b"".join(parts)


def connection_failure(error: aiohttp.ClientError | OSError) -> PlayerError:
    """The failure of a connection: before the request went out nothing can have been paid."""
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return PlayerError(f"{error} is not an address; mend `base_url`", kind="permanent")
    unsent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    what = "no connection" if unsent else "the connection broke off"
    return PlayerError(f"{what}: {error or type(error).__name__}", maybe_paid=not unsent)
