"""The metered gateway: agents reach their player's model through it, for so much money and no more.

It speaks to an agent as the provider does, puts in key, model and limit of output, and passes replies on as
they come. Each call's worst case is reserved first, from what is left of the request under way. A call that
fits only if those in flight cost less than their worst waits for them; one that cannot fit is refused.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
from aiohttp import web

from peerage.game.work import MOST_CALLS, ModelCall
from peerage.players.agents import gateway_forms as forms
from peerage.players.agents.gateway_account import Metered, MeteredCall, RequestAccount
from peerage.players.agents.gateway_forms import ReplyReading, Unfit
from peerage.players.client import MAX_BODY, PlayerError, duration
from peerage.players.keys import default_url, find_key, require_key
from peerage.players.models.replies import Usage, billed
from peerage.players.prices import Price, nano
from peerage.players.redaction import SHORTEST_SECRET, hidden, named, secrets_of
from peerage.players.session import connection_failure, open_session, read_bounded
from peerage.settings import PlayerSettings
from peerage.values.system_errors import reason

MOST_REFUSALS = 20
"""Refusals in one request after which nothing is looked at any more, as after `MOST_CALLS`."""
AT_ONCE, MOST_CONNECTIONS, MOST_ERROR, REMEMBERED = 16, 256, 65_536, 4
LAST_S = 1.0
"""Seconds in which a provider may end a stream whose agent has gone; then the call counts at its worst."""
_NATIVE = {"anthropic": "https://api.anthropic.com", "google": "https://generativelanguage.googleapis.com"}
_NOTHING: Mapping[str, Any] = {"input_tokens": 0, "output_tokens": 0, "cost_nano": 0}
_SILENT = logging.Logger("gateway", logging.CRITICAL + 1)
"""No logger of others' settings: an agent's broken requests would fill the log."""


class GatewaySession:
    """One agent's way to its `model`, known by a `key` that is worth nothing elsewhere."""

    def __init__(self, gateway: Gateway) -> None:
        self.key = f"peerage-{secrets.token_urlsafe(24)}"
        self.model = gateway.model
        self.runner: web.ServerRunner | None = None
        self._gateway = gateway
        self._account: RequestAccount | None = None
        self._sent = deque[tuple[bytes, int]](maxlen=REMEMBERED)
        self._slots = asyncio.Semaphore(AT_ONCE)

    def url(self, form: str) -> str:
        """Return the provider's address for an agent that speaks the API `form`."""
        return f"http://127.0.0.1:{self._gateway.port}" + ("/v1" if form in ("chat", "responses") else "")

    def begin(self, budget_nano: int, tokens: int) -> None:
        """Begin a request, all calls of which may cost so much (1e-9 dollars) and take so many tokens."""
        self._account = RequestAccount(self._gateway.price, budget_nano, tokens)

    async def settled(self, seconds: float) -> None:
        """Wait until no call is in flight, such as one for a title, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._account is not None and self._account.flying:
                    await self._account.changed.wait()

    def end(self) -> Metered:
        """End the request; calls in flight are broken off, and count at their worst as possibly paid."""
        account, self._account = self._account, None
        return (account or RequestAccount(self._gateway.price, 0, 0)).metered()

    async def close(self) -> None:
        """Know the agent's key no more, and close its socket."""
        self.end()
        self._gateway.sessions.pop(self.key, None)
        if self.runner is not None:
            await self.runner.cleanup()

    async def call(self, form: str, verb: str, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a call of the agent on, and the reply back; or refuse it in words."""
        account, task, settings = self._account, asyncio.current_task(), self._gateway.settings
        assert task is not None
        if account is None:
            return _refused(form, 402, "insufficient budget: nothing is asked of this agent now")
        if account.refused >= MOST_REFUSALS or len(account.calls) >= MOST_CALLS:
            return _refused(form, 402, "insufficient budget: end here, no call is passed on any more")
        account.tasks.add(task)
        try:
            async with self._slots:
                asked = forms.request_in(form, await _received(request), settings)
                call = MeteredCall(ModelCall(form))
                size = forms.input_bound(asked.bare, self._sent) + account.price.media_tokens(asked.pictures)
                asked.limit(await account.reserve(call, size, asked.wanted))
                reply = await self._gateway.send(
                    account, call, msgspec.json.encode(asked.body), verb, request
                )
                if call.made.input_tokens:
                    self._sent.append((asked.bare, call.made.input_tokens))
                return reply
        except Exception as fault:
            failed = Unfit(f"it failed with {type(fault).__name__}", 500)
            unfit = fault if isinstance(fault, Unfit) else failed
            account.refused += 1
            account.calls.append(MeteredCall(ModelCall(form, refused=str(unfit), **_NOTHING)))
            return _refused(form, unfit.status, str(unfit))
        finally:
            account.tasks.discard(task)


def _refused(form: str, status: int, message: str) -> web.Response:
    return web.json_response(forms.refusal(form, status, message), status=status)


async def _received(request: web.BaseRequest) -> bytes:
    """Return the body of a request. Raises Unfit."""
    content = bytearray()
    async for part in request.content.iter_any():
        content += part
        if len(content) > MAX_BODY:
            raise Unfit(f"the request is longer than {MAX_BODY // 2**20} MiB", 413)
    return bytes(content)


class _Server(web.Server):
    """A server that takes so many connections at a time, so that no agent uses up this process's."""

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()


class Gateway:
    """The gateway of one player, whose agents ask the model of its `settings` at its `price`."""

    def __init__(self, settings: PlayerSettings, env: Mapping[str, str], price: Price) -> None:
        self.settings = self._settings = settings
        self.model = settings.model.partition(":")[2]
        self.price = replace(price, request_nano=None, prompt_bytes=0)  # an agent sends its own
        self.port = 0
        self.sessions: dict[str, GatewaySession] = {}
        self._key = find_key(settings, env)
        base = settings.base_url or default_url(settings.provider, env) or _NATIVE.get(settings.provider, "")
        self._base = base.rstrip("/")
        self._secrets = [each for each in (self._key, *secrets_of(base)) if len(each) >= SHORTEST_SECRET]
        self._http: aiohttp.ClientSession | None = None
        self._runner: web.ServerRunner | None = None

    @named
    async def start(self) -> None:
        """Listen on a free port of loopback. Raises PlayerError, also where the key is missing."""
        require_key(self.settings, self._key)
        self._http = open_session(self._base)
        self._runner = await self._listen(None, None)
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Release everything; safe to call twice."""
        for session in [*self.sessions.values()]:
            await session.close()
        if self._runner is not None:
            await self._runner.cleanup()
        if self._http is not None:
            await self._http.close()

    @named
    async def open(self) -> GatewaySession:
        """Open a session, reached on loopback."""
        session = GatewaySession(self)
        self.sessions[session.key] = session
        return session

    async def listen(self, session: GatewaySession, listener: socket.socket) -> None:
        """Serve a session, and no other, on a socket that listens in the agent's own network."""
        session.runner = await self._listen(session, listener)

    async def _listen(self, only: GatewaySession | None, at: socket.socket | None) -> web.ServerRunner:
        server = _Server(partial(self._handle, only), access_log=None, logger=_SILENT)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await (web.SockSite(runner, at) if at else web.TCPSite(runner, "127.0.0.1", 0)).start()
        except OSError as error:
            await runner.cleanup()
            raise PlayerError(f"its gateway cannot listen: {reason(error)}", kind="permanent") from None
        return runner

    async def _handle(self, only: GatewaySession | None, request: web.BaseRequest) -> web.StreamResponse:
        form, verb = forms.form_of(request.path)
        headers = request.headers
        stated = [headers.get("Authorization", "").rpartition(" ")[2], request.query.get("key", "")]
        stated += [headers.get(name, "") for name in ("x-api-key", "x-goog-api-key")]
        session = next((self.sessions[key] for key in stated if key in self.sessions), None)
        if session is None or only not in (None, session):
            return _refused(form, 401, "this gateway knows only the key that this agent was given")
        if request.method == "GET" and request.path in ("/models", "/v1/models", "/v1beta/models"):
            model = {"id": self.model, "object": "model", "created": 0, "owned_by": "peerage"}
            return web.json_response({"object": "list", "data": [model]})
        if not form or request.method != "POST":
            return _refused(form, 404, f"{request.method} {request.path} is not served here")
        return await session.call(form, verb, request)

    def _address(self, form: str, verb: str, request: web.BaseRequest) -> str:
        base, root = self._base, self._base.removesuffix("/v1beta").removesuffix("/v1")
        if form == "gemini":
            how = "?alt=sse" if request.query.get("alt") == "sse" else ""
            return f"{root}/v1beta/models/{quote(self.model, safe='')}:{verb}{how}"
        if self.settings.provider == "google":
            base = f"{root}/v1beta/openai"
        elif self.settings.provider == "anthropic":
            base = f"{root}/v1"
        return base + forms.PATHS[form]

    def _headers(self, form: str, request: web.BaseRequest) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= {"anthropic-version": "2023-06-01"} if form == "messages" else {}
        passed = ("Accept", *(("anthropic-version", "anthropic-beta") if form == "messages" else ()))
        headers |= {name: request.headers[name] for name in passed if name in request.headers}
        own = {"anthropic messages": "x-api-key", "google gemini": "x-goog-api-key"}
        name = own.get(f"{self.settings.provider} {form}", "Authorization")
        key = f"Bearer {self._key}" if name == "Authorization" else self._key
        return headers | ({name: key} if self._key else {})

    async def send(
        self, account: RequestAccount, call: MeteredCall, content: bytes, verb: str, request: web.BaseRequest
    ) -> web.StreamResponse:
        """Send a call, pass on what comes, and count what it has cost."""
        assert self._http is not None
        clock, failure, reply = asyncio.get_running_loop().time, None, None
        form, reading, started = call.made.form, ReplyReading(call.made.form), clock()
        call.made = msgspec.structs.replace(call.made, request=sha256(content).hexdigest())
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                address, headers = self._address(form, verb, request), self._headers(form, request)
                async with self._http.post(address, data=BytesIO(content), headers=headers) as response:
                    reply = await self._pass_on(response, request, reading)
        except (aiohttp.ClientError, OSError) as error:
            late = f"no reply within {duration(self.settings.timeout_s)}"
            ours = type(error) is TimeoutError  # aiohttp's own, for a connection, is of a class of its own
            failure = PlayerError(late, maybe_paid=True) if ours else connection_failure(error)
        except PlayerError as error:
            failure = error
        milliseconds = round((clock() - started) * 1000)
        usage, cost = self._priced(reading, failure, milliseconds)
        note = hidden(reading.note if failure is None else str(failure), self._secrets)
        made = msgspec.structs.replace(
            call.made,
            model=hidden(reading.model, self._secrets),
            status=reading.status,
            input_tokens=usage.prompt,
            output_tokens=usage.output,
            cached_tokens=usage.cached,
            cost_nano=cost,
            milliseconds=milliseconds,
            response=reading.digest.hexdigest() if reading.status else "",
            note=note,
        )
        account.end(call, made)
        return _refused(form, 502, note) if reply is None else reply

    async def _pass_on(
        self, response: aiohttp.ClientResponse, request: web.BaseRequest, reading: ReplyReading
    ) -> web.StreamResponse:
        """Pass a reply on, a stream line by line as it comes. Raises PlayerError for one without end."""
        status, stated = response.status, response.headers
        reading.status = status
        passed = ("Content-Type", "Retry-After")
        headers = {name: hidden(stated[name], self._secrets) for name in passed if name in stated}
        if status >= 400 or response.content_type != "text/event-stream":
            body = await read_bounded(response)
            reading.take(body)
            if status >= 400:
                body = hidden(body[:MOST_ERROR].decode("utf-8", "replace"), self._secrets).encode()
            return web.Response(body=self._keyless(body), status=status, headers=headers)
        reply = web.StreamResponse(status=status, headers=headers)
        await reply.prepare(request)
        size, rest, gone = 0, b"", None
        try:
            async with asyncio.timeout(None) as patience:
                async for part in response.content.iter_any():
                    if (size := size + len(part)) > MAX_BODY:
                        over = f"more than {MAX_BODY // 2**20} MiB came for one call"
                        raise PlayerError(over, maybe_paid=True)
                    lines, end, rest = (rest + part).rpartition(b"\n")
                    reading.take_lines(lines + end)
                    try:
                        await reply.write(self._keyless(lines + end))
                    except ConnectionResetError as error:  # an agent may go when it has what it wants
                        if gone is None:
                            patience.reschedule(asyncio.get_running_loop().time() + LAST_S)
                        gone = error
            reading.take_lines(rest)
            with suppress(ConnectionResetError):
                await reply.write(self._keyless(rest))
                await reply.write_eof()
        except BaseException as error:
            if request.transport is not None:
                request.transport.abort()  # nothing else says in the middle of a stream that it broke off
            if gone is not None and isinstance(error, TimeoutError):
                raise gone from None
            raise
        return reply

    def _keyless(self, content: bytes) -> bytes:
        for key in self._secrets:
            content = content.replace(key.encode(), b"[key]")
        return content

    def _priced(
        self, reading: ReplyReading, failure: PlayerError | None, milliseconds: int
    ) -> tuple[Usage, int | None]:
        """Return the tokens of a call and its cost in 1e-9 dollars, each None where it is unknown."""
        usage = reading.usage if failure is None else Usage()
        if reading.undone and usage.prompt is None if failure is None else not failure.maybe_paid:
            return Usage(0, 0), 0
        asked = None if usage.prompt is None else usage.prompt + reading.written
        cost = self.price.cost_nano(asked, usage.output, milliseconds, usage.cached or 0)
        tier = self.settings.service_tier
        if cost and tier and reading.tier not in ("", tier) and self.settings.price is None:
            cost *= 2  # the price is that of the tier that was asked for, half of the usual one
        bills = self.settings.provider == "openrouter" and not self.settings.base_url
        if bills and asked is not None and (bill := billed(reading.stated)) is not None:
            cost = max(cost or 0, nano(bill))
        return usage, cost
