"""Models of the model library, opened over our transport.

OpenAI-compatible servers (OpenAI, Groq, xAI, Hugging Face, OpenRouter, Mistral, Ollama, vLLM, llama.cpp,
any `base_url`) are reached over `wire.Wire`; Anthropic and Google through their own SDKs on the same aiohttp
transport.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from pydantic_ai.models import Model

from peerage.players.keys import PROVIDERS
from peerage.players.models.failures import UNDONE
from peerage.players.models.replies import anthropic_message, google_response, reported_error
from peerage.settings import PlayerSettings

if TYPE_CHECKING:
    import aiohttp
    import httpx2

    from peerage.players.models.wire import Wire

_NATIVE_REPLIES = {"/messages": anthropic_message, ":generateContent": google_response}
"""Readers of the replies of Anthropic's and Google's APIs, by the ends of their addresses."""
_AS_ONE_TEXT = {"thinking_tags": ("\0<", "\0>")}
"""A setting of the model library's: it leaves thoughts in a text to `thoughts.part`."""


def require(provider: str) -> None:
    """Raise ImportError when the library behind a provider is not installed."""
    if PROVIDERS[provider].base_url:
        import openai  # noqa: F401
    elif provider == "anthropic":
        import anthropic  # noqa: F401
    else:
        import google.genai  # noqa: F401


class Connection:
    """A player's way to its model. `wire` is that of an OpenAI-compatible server, `http` the others'.

    `refused` are parts of a request's form that the server was found not to take, now and later.
    """

    def __init__(self, settings: PlayerSettings, base_url: str, key: str, refused: Collection[str]) -> None:
        self.wire: Wire | None = None
        self.http: httpx2.AsyncClient | None = None
        self._settings = settings
        self._base_url = base_url
        self._key = key
        self._refused = refused
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Release what was opened; it may be opened again."""
        session, self._session = self._session, None
        http, self.http = self.http, None
        if session is not None:
            await session.close()
        if http is not None:
            await http.aclose()

    def open(self) -> Model:
        """Make the model. The caller closes what was opened for it, also where this fails."""
        provider, _, name = self._settings.model.partition(":")
        if provider == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            client = AsyncAnthropic(
                api_key=self._key,
                base_url=self._base_url or None,
                http_client=self._open_http(),
                max_retries=0,
            )
            return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
        if provider == "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            # A new reason is ours to tell of, once per player.
            warnings.filterwarnings("ignore", ".* is not a valid FinishReason", UserWarning)
            google = GoogleProvider(
                api_key=self._key, base_url=self._base_url or None, http_client=self._open_http()
            )
            if added := self._settings.added:  # the model library has no setting of its own for it
                google.client._api_client._http_options.extra_body = added
            return GoogleModel(name, provider=google)
        return self._open_compatible(provider, name)

    def _open_compatible(self, provider: str, name: str) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        from peerage.players.models.wire import Wire
        from peerage.players.session import open_session

        self._session = open_session(self._base_url)
        openrouter = provider == "openrouter" and not self._settings.base_url
        self.wire = wire = Wire(self._session, self._base_url, self._key, self._refused, bills=openrouter)
        as_one_text = cast(OpenAIModelProfile, _AS_ONE_TEXT)
        if self._settings.base_url == "":
            if provider == "openai":
                from pydantic_ai.providers.openai import OpenAIProvider

                return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=wire), profile=as_one_text)
            if provider == "openrouter":
                from pydantic_ai.models.openrouter import OpenRouterModel
                from pydantic_ai.providers.openrouter import OpenRouterProvider

                return OpenRouterModel(
                    name, provider=OpenRouterProvider(openai_client=wire), profile=as_one_text
                )
        vendor = PROVIDERS[provider].vendor
        known_as = f"{vendor}/{name}" if vendor and not self._settings.base_url else name
        profile = {
            **(OpenAICompatibleProvider.model_profile(known_as) or {}),
            # Every compatible server knows `max_tokens`; the newer name only OpenAI's own.
            **OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False),
            **_AS_ONE_TEXT,
        }
        compatible = OpenAICompatibleProvider(provider, openai_client=wire)
        return OpenAIChatModel(name, provider=compatible, profile=cast(OpenAIModelProfile, profile))

    def _open_http(self) -> httpx2.AsyncClient:
        import httpx2
        from openai import DefaultAioHttpClient

        from peerage.players.session import CONNECT_S, KEEPALIVE_S, is_loopback, refuse_redirect

        async def look(response: httpx2.Response) -> None:
            if response.has_redirect_location:
                refuse_redirect(str(response.request.url), response.headers["location"])
            await response.aread()
            path = response.request.url.path
            read_part = next((part for end, part in _NATIVE_REPLIES.items() if path.endswith(end)), None)
            if read_part is None or response.status_code >= 400:
                return
            try:
                answer = response.json()
            except (ValueError, RecursionError):
                return
            if error := reported_error(answer):
                response.status_code = error.status
                response.extensions[UNDONE] = not error.begun
            elif isinstance(answer, dict):
                response._content = json.dumps(read_part(answer)).encode()

        self.http = DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=10_000, keepalive_expiry=KEEPALIVE_S),
            timeout=httpx2.Timeout(self._settings.timeout_s, connect=CONNECT_S, pool=None),
            trust_env=not is_loopback(self._base_url),
            event_hooks={"response": [look]},
        )
        return self.http
