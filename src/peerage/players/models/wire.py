"""The OpenAI wire: chat completions over one aiohttp session.

pydantic-ai builds the request and reads the response; between the two stands the SDK's client, whose
own path (parameter walk, httpx objects, connection pool) costs three times the rest of a call. `Wire`
is that client with one method of its own: it posts the body as it is, reads a bounded response, hands on
what is read of it (`replies`), and tells precisely what went wrong and whether the provider may have done the
work.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx2
import msgspec
from openai import APIStatusError, AsyncOpenAI, NotGiven, Omit
from openai.types.chat import ChatCompletion
from pydantic import ValidationError

from peerage.formats import read_json
from peerage.players.client import PlayerError
from peerage.players.models.adaptations import MAX_TOKENS, OTHER_LIMIT, STREAM_OPTIONS, UNSTREAMED
from peerage.players.models.failures import UNDONE
from peerage.players.models.replies import chat_completion, reported_error
from peerage.players.models.streams import is_stream, read_stream
from peerage.players.session import connection_failure, read_bounded


class Wire(AsyncOpenAI):
    """The OpenAI SDK's client whose chat completions go straight over an aiohttp session.

    `refused` are parts of a request's form that the server was found not to take, now and later (see
    `adaptations`); `limit` is the name under which the model library sends the limit. `reasons` says that the
    library takes any finish reason.
    """

    limit = MAX_TOKENS

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        key: str,
        refused: Collection[str] = (),
        *,
        reasons: bool = True,
    ) -> None:
        super().__init__(api_key=key or "none", base_url=base_url, max_retries=0)
        self._session = session
        self._refused = refused
        self._reasons = reasons
        self._address = base_url.rstrip("/") + "/chat/completions"
        self._request_headers = {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )

    @property
    def form(self) -> tuple[str, ...]:
        """The parts of the next request's form that can be sent otherwise, should the server refuse them."""
        other = OTHER_LIMIT[self.limit]
        limit = () if {self.limit, other} & {*self._refused} else (self.limit,)
        if UNSTREAMED not in self._refused:
            return (*limit, UNSTREAMED)
        return limit if STREAM_OPTIONS in self._refused else (*limit, STREAM_OPTIONS)

    @cached_property
    def chat(self) -> Any:
        return SimpleNamespace(completions=SimpleNamespace(create=self._create))

    async def _create(
        self,
        *,
        extra_headers: Mapping[str, str] | None = None,
        extra_body: object = None,
        timeout: object = None,
        **parameters: Any,
    ) -> ChatCompletion:
        """Post one chat completion; raises openai.APIStatusError for an error status, else PlayerError."""
        body = {name: value for name, value in parameters.items() if not isinstance(value, Omit | NotGiven)}
        if isinstance(extra_body, dict):
            body |= extra_body
        body.pop("stream", None)
        if self.limit in self._refused and self.limit in body:
            body[OTHER_LIMIT[self.limit]] = body.pop(self.limit)
        if UNSTREAMED in self._refused:
            body["stream"] = True
            if STREAM_OPTIONS not in self._refused:
                body["stream_options"] = {"include_usage": True}
        try:
            async with self._session.post(
                self._address, data=msgspec.json.encode(body), headers=self._request_headers
            ) as response:
                content = await read_bounded(response)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_failure(error) from None
        try:
            found = read_stream(content) if is_stream(content) else read_json(content)
        except (msgspec.DecodeError, RecursionError):
            found = None
        except PlayerError:
            if response.status < 400:
                raise
            found = None
        if response.status >= 400:
            raise _status_error(self._address, response, content, found)
        if reported := reported_error(found):
            failure = _status_error(self._address, response, content, reported.error, reported.status)
            failure.message = reported.message
            failure.response.extensions[UNDONE] = not reported.begun
            raise failure
        if not isinstance(found, dict) or not isinstance(found.get("choices"), list):
            raise PlayerError(
                f"the server answered {response.status} with something that is no chat completion "
                f"({response.content_type}, {len(content)} bytes); check `base_url`",
                maybe_paid=True,
            )
        if not found["choices"]:
            raise PlayerError("the server answered with no choice at all", maybe_paid=True)
        reply = chat_completion(found, reasons=self._reasons)
        try:
            return ChatCompletion.model_validate(reply)
        except ValidationError:
            return ChatCompletion.construct(**reply)


def _status_error(
    url: str, response: aiohttp.ClientResponse, content: bytes, found: Any, status: int | None = None
) -> APIStatusError:
    error = found.get("error", found) if isinstance(found, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str):
        message = content[:300].decode("utf-8", "replace")
    answer = httpx2.Response(
        status or response.status,
        headers=list(response.headers.items()),
        request=httpx2.Request("POST", url),
    )
    return APIStatusError(message, response=answer, body=error)
