"""HTTP as the house does it: one session a client, bounded bodies, failures that state what was paid."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from types import SimpleNamespace
from urllib.parse import urljoin, urlsplit

import aiohttp

from peerage.players.client import MAX_BODY, PlayerError
from peerage.values.system_errors import SCARCE, reason

KEEPALIVE_S = 4.0
"""Idle connections are dropped before servers drop them (uvicorn and llama.cpp: 5 s)."""

CONNECT_S = 15.0
MOST_SLOTS = 4_096
SLOTS_S = 2.0


def is_loopback(url: str) -> bool:
    """Return whether an address is this machine itself, where no proxy belongs in between."""
    return (urlsplit(url).hostname or "") in {"127.0.0.1", "localhost", "::1"}


def refuse_redirect(asked: str, location: str) -> None:
    """Raise PlayerError when the redirect of `asked` leads to another server, or from https to http.

    Prompts and keys are for the server that the owner named, and for no other that it names in turn.
    """
    was, then = urlsplit(asked), urlsplit(urljoin(asked, location))
    same = (was.hostname, _port(was.scheme, was.port)) == (then.hostname, _port(then.scheme, then.port))
    upgraded = was.hostname == then.hostname and (was.scheme, then.scheme) == ("http", "https")
    if (same and was.scheme == then.scheme) or upgraded:
        return
    here, there = was.netloc.rpartition("@")[2], then.netloc.rpartition("@")[2]
    raise PlayerError(
        f"{here} redirects to {then.scheme}://{there}; nothing was sent there. "
        "If that is where the player is, state its address",
        kind="permanent",
    )


def _port(scheme: str, port: int | None) -> int | None:
    return port or {"http": 80, "https": 443}.get(scheme)


async def _redirected(
    session: aiohttp.ClientSession, context: SimpleNamespace, asked: aiohttp.TraceRequestRedirectParams
) -> None:
    headers = asked.response.headers
    refuse_redirect(str(asked.url), headers.get("Location") or headers.get("URI") or "")


def open_session(url: str) -> aiohttp.ClientSession:
    """A session for one server: as many connections as there are calls, no time limit of its own, and no
    redirect to another server."""
    redirects = aiohttp.TraceConfig()
    redirects.on_request_redirect.append(_redirected)
    return aiohttp.ClientSession(
        trace_configs=[redirects],
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
        return PlayerError(f"{error} is not an address; fix `base_url`", kind="permanent")
    unsent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    what = "no connection" if unsent else "the connection broke off"
    if isinstance(error, OSError) and error.errno in SCARCE:  # ours, not the server's
        return PlayerError(f"{what}: {reason(error)}", maybe_paid=not unsent)
    return PlayerError(f"{what}: {error or type(error).__name__}", maybe_paid=not unsent)


async def stated_slots(address: str) -> int | None:
    """Return how many replies a llama.cpp server writes at once, as it states at `/props` (`total_slots`);
    None of any other, such as Ollama, whose OLLAMA_NUM_PARALLEL no request returns. Costs nothing."""
    url, body = address.rstrip("/").removesuffix("/v1") + "/props", b""
    with suppress(aiohttp.ClientError, OSError, PlayerError, ValueError):
        async with asyncio.timeout(SLOTS_S), open_session(url) as session, session.get(url) as response:
            body = await read_bounded(response)
    with suppress(ValueError, RecursionError):
        value = json.loads(body)
        slots = value.get("total_slots") if isinstance(value, dict) else None
        if type(slots) is int and 0 < slots <= MOST_SLOTS:
            return slots
    return None
