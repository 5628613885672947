"""The OpenAI wire: chat completions over one aiohttp session.

pydantic-ai knows what each model takes. It writes the form of a request once, for all that differ only in
their texts; its own path and the SDK's (parameter walk, validation, httpx objects, connection pool) cost
several times the rest of a call. `Wire` is the SDK's client with methods of its own: it fills the form with a
call's texts, posts it, reads a bounded response, and says precisely what went wrong and whether the provider
may have done the work.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NoReturn

import aiohttp
import httpx2
import msgspec
from openai import APIStatusError, AsyncOpenAI, NotGiven, Omit
from pydantic_ai.models import Model

from peerage.formats import read_json
from peerage.players.client import PlayerError
from peerage.players.media import chat_content
from peerage.players.models.adaptations import MAX_TOKENS, OTHER_LIMIT, STREAM_OPTIONS, UNSTREAMED
from peerage.players.models.failures import UNDONE
from peerage.players.models.replies import ProviderReply, chat_reply, reported_error
from peerage.players.models.streams import is_stream, read_stream
from peerage.players.models.translation import LibraryRequest, received
from peerage.players.session import connection_failure, read_bounded

MOST_FORMS = 256
_SPECIAL = {
    "|": re.compile(r"\|(?:>|(?<=[<\[].))"),
    "｜": re.compile(r"｜(?<=<.)"),
    ">": re.compile(r">(?<=_of_turn.)"),
    "]": re.compile(r"\](?:~|(?<=[A-Z]{4}.))"),
    "~": re.compile(r"~(?<=\[e.)"),
}
"""Patterns of all that may be a special token of a chat template, which pydantic-ai breaks by a joiner; by a
character of each, which is looked for a hundred times faster."""
_JOINER = re.compile("(?<=[<\\[\\]])[\u200b-\u200d\u2060\ufeff]")
_FAILURE: ContextVar[APIStatusError | None] = ContextVar("failure", default=None)


class _Written(Exception):
    """A request as pydantic-ai would send it."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body


class Wire(AsyncOpenAI):
    """The OpenAI SDK's client whose chat completions go straight over an aiohttp session.

    `refused` are parts of a request's form that the server was found not to take, now and later (see
    `adaptations`); `limit` is the name under which the model library sends the limit. `bills` says that the
    server states what a reply costs.
    """

    limit = MAX_TOKENS

    def __init__(
        self,
        session: aiohttp.ClientSession,
        base_url: str,
        key: str,
        refused: Collection[str] = (),
        *,
        bills: bool = False,
    ) -> None:
        # Nothing goes over it; the SDK's own would read all certificates of the machine.
        unused = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport(), trust_env=False)
        super().__init__(api_key=key or "none", base_url=base_url, max_retries=0, http_client=unused)
        self._session = session
        self._refused = refused
        self._bills = bills
        self._forms: dict[tuple[object, ...], tuple[object, dict[str, Any]]] = {}
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
        """Take over the request that pydantic-ai would send."""
        return SimpleNamespace(completions=SimpleNamespace(create=self._create))

    async def ask(self, model: Model, request: LibraryRequest) -> ProviderReply:
        """Ask for one chat completion. Raises pydantic-ai's ModelHTTPError for an error status, else
        PlayerError."""
        texts = [text for _, text in request.turns]
        # What is cached holds on to the parameters, so that no others are at their place.
        key = (str(request.settings), id(request.parameters), *[speaker for speaker, _ in request.turns])
        _, body = self._forms.get(key, (None, None))
        written: list[str] = texts
        if body is None or any(map(_may_be_special, texts)):
            body = await self._written(model, request)
            written = [message["content"] for message in body["messages"]]
            if len(self._forms) < MOST_FORMS and written == texts:
                self._forms[key] = request.parameters, body
        messages = [
            message | {"content": chat_content(text, request.media)}
            for message, text in zip(body["messages"], written, strict=True)
        ]
        try:
            reply = await self._post(body | {"messages": messages})
        except APIStatusError as failure:
            _FAILURE.set(failure)
            try:
                return received(await request.sent(model, marked=True))
            finally:
                _FAILURE.set(None)
        return reply if written == texts else reply._replace(text=_JOINER.sub("", reply.text))

    async def _written(self, model: Model, request: LibraryRequest) -> dict[str, Any]:
        """Return what pydantic-ai would send."""
        try:
            await request.sent(model, marked=True)
        except _Written as written:
            return written.body
        raise AssertionError("the model library sent nothing")

    async def _create(
        self,
        *,
        extra_headers: Mapping[str, str] | None = None,
        extra_body: object = None,
        timeout: object = None,
        **parameters: Any,
    ) -> NoReturn:
        """Raise the failure that pydantic-ai is to name, else what it would send."""
        if failure := _FAILURE.get():
            raise failure
        body = {name: value for name, value in parameters.items() if not isinstance(value, Omit | NotGiven)}
        if isinstance(extra_body, dict):
            body |= extra_body
        body.pop("stream", None)
        raise _Written(body)

    async def _post(self, body: dict[str, Any]) -> ProviderReply:
        """Post one chat completion; raises openai.APIStatusError for an error status, else PlayerError."""
        if self._refused:
            body = self._adapted({**body})
        try:
            async with self._session.post(
                self._address, data=msgspec.json.encode(body), headers=self._request_headers
            ) as response:
                content = await read_bounded(response)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_failure(error) from None
        try:
            answer = read_stream(content) if is_stream(content) else read_json(content)
        except (msgspec.DecodeError, RecursionError):
            answer = None
        except PlayerError:
            if response.status < 400:
                raise
            answer = None
        if response.status >= 400:
            raise _status_error(self._address, response, content, answer)
        if reported := reported_error(answer):
            failure = _status_error(self._address, response, content, reported.error, reported.status)
            failure.message = reported.message
            failure.response.extensions[UNDONE] = not reported.begun
            raise failure
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            raise PlayerError(
                f"the server answered {response.status} with something that is no chat completion "
                f"({response.content_type}, {len(content)} bytes); check `base_url`",
                maybe_paid=True,
            )
        if not answer["choices"]:
            raise PlayerError("the server answered with no choice at all", maybe_paid=True)
        return chat_reply(answer, bills=self._bills)

    def _adapted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Change a body to what the server was found to take."""
        if self.limit in self._refused and self.limit in body:
            body[OTHER_LIMIT[self.limit]] = body.pop(self.limit)
        if UNSTREAMED in self._refused:
            body["stream"] = True
            if STREAM_OPTIONS not in self._refused:
                body["stream_options"] = {"include_usage": True}
        return body


def _may_be_special(text: str) -> bool:
    return any(mark in text and pattern.search(text) for mark, pattern in _SPECIAL.items())


def _status_error(
    url: str, response: aiohttp.ClientResponse, content: bytes, stated: Any, status: int | None = None
) -> APIStatusError:
    error = stated.get("error", stated) if isinstance(stated, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str):
        message = content[:300].decode("utf-8", "replace")
    answer = httpx2.Response(
        status or response.status,
        headers=list(response.headers.items()),
        request=httpx2.Request("POST", url),
    )
    return APIStatusError(message, response=answer, body=error)
