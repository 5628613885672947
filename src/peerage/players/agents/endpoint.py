"""An agent behind an address: `http://…` or `https://…`, POST, JSON there and back (see `exchange`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import msgspec

from peerage.formats import read_json
from peerage.players.agents.agent_protocol import ended_of, reply_from_bytes, request_of
from peerage.players.client import Answer, Call, FailureKind, PlayerError
from peerage.players.keys import find_key, require_key
from peerage.players.redaction import named, secrets_of
from peerage.players.session import connection_failure, open_session, read_bounded
from peerage.settings import PlayerSettings

_UNPAID = (408, 425, 429, 503)
_CLOSED = (401, 402, 403, 404)
"""Statuses that no other request to this endpoint will escape."""


class EndpointClient:
    """One endpoint. The key of `key_env`, when stated, goes along as a bearer token.

    408, 425, 429 and 5xx are transient (`Retry-After` in seconds or as a date is honoured), any other
    status above 299 permanent. A JSON content type with a body that is no JSON is a broken reply.
    """

    def __init__(self, settings: PlayerSettings, env: Mapping[str, str]) -> None:
        self._settings = settings
        self._key = find_key(settings, env)
        self._url = address(settings.model)
        self._secrets = (self._key, *secrets_of(self._url))
        self._session: aiohttp.ClientSession | None = None

    @named
    async def start(self) -> None:
        require_key(self._settings, self._key)
        self._session = open_session(self._url)

    @named
    async def answer(self, call: Call) -> Answer:
        clock = asyncio.get_running_loop().time
        started = clock()
        content = await self._post(request_of(call, self._settings))
        return reply_from_bytes(content, clock() - started)

    @named
    async def ended(self, seed: str, seat: str) -> None:
        await self._post(ended_of(seed, seat, self._settings))

    async def _post(self, request: Mapping[str, Any]) -> bytes:
        """Return the body of the response to a request."""
        if self._session is None:
            raise PlayerError("asked before it was started", kind="permanent")
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/plain"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            async with (
                asyncio.timeout(self._settings.timeout_s),
                self._session.post(self._url, data=msgspec.json.encode(request), headers=headers) as response,
            ):
                content = await read_bounded(response)
            if response.status >= 300:
                raise _status_failure(response, content)
            if response.content_type.endswith("json"):
                _check_json(content)
            return content
        except (aiohttp.ClientError, OSError) as error:
            if type(error) is TimeoutError:  # of the reply; that of a connection is a class of aiohttp's own
                raise
            raise connection_failure(error) from None

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def address(model: str) -> str:
    """The address in a model's text: the text itself, or what follows `http:` or `https:`."""
    rest = model.partition(":")[2]
    return rest if rest.startswith(("http://", "https://")) else model


def _check_json(content: bytes) -> None:
    try:
        read_json(content)
    except (msgspec.DecodeError, RecursionError):
        raise PlayerError("the endpoint's JSON is broken or cut off", maybe_paid=True) from None


def _status_failure(response: aiohttp.ClientResponse, content: bytes) -> PlayerError:
    code, text = response.status, content[:300].decode("utf-8", "replace")
    if code < 500 and code not in _UNPAID:
        kind: FailureKind = "permanent" if code in _CLOSED else "request"
        return PlayerError(f"the endpoint turned the request down ({code}): {text}", kind=kind)
    return PlayerError(
        f"the endpoint failed ({code}): {text}",
        retry_after_s=seconds_until(response.headers.get("Retry-After", "")),
        maybe_paid=code not in _UNPAID,
    )


def seconds_until(retry_after: str) -> float | None:
    """The seconds a `Retry-After` header asks for, given as a number or as an HTTP date; None for neither."""
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
