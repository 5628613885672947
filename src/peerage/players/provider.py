"""A model at a provider, asked through pydantic-ai's direct request API.

OpenAI-compatible servers (OpenAI, Groq, xAI, Hugging Face, OpenRouter, Mistral, Ollama, vLLM, llama.cpp,
any `base_url`) are reached over `wire.Wire`; Anthropic and Google through their own SDKs on the same aiohttp
transport. Nothing here retries: the engine does.

What a model does not take: a temperature or top_p that the library knows it refuses is reported by `start`
in `warnings` and left out. When a server refuses a setting that its player states, the failure is permanent
and names it. To any other refusal that `adaptations` knows the client adapts: it is reported likewise, and
the refused request, which cost nothing, is sent again at once in its new form.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from peerage.clock import now_ms
from peerage.players.adaptations import (
    ADAPTATIONS,
    FORM,
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    STRUCTURED,
    SYSTEM,
    THINKING,
    is_refusal,
    refused,
)
from peerage.players.client import Answer, Call, Later, PlayerError, bounded
from peerage.players.failures import (
    UNDONE,
    is_filtered,
    is_out_of_capacity,
    is_too_long,
    player_error,
)
from peerage.players.finish_reasons import ending
from peerage.players.keys import PROVIDERS, find_key, key_names
from peerage.players.redaction import named, secrets_of
from peerage.players.replies import anthropic_message, google_response, reported_error
from peerage.players.thinking import room, sampling_settings, thinking_settings
from peerage.players.thoughts import part
from peerage.protocol import Format, Speaker
from peerage.settings import PlayerSettings

if TYPE_CHECKING:
    import aiohttp
    import httpx2

    from peerage.players.wire import Wire

_PLAIN = ModelRequestParameters()
_NATIVE_REPLIES = {"/messages": anthropic_message, ":generateContent": google_response}
"""Readers of the replies of Anthropic's and Google's APIs, by the ends of their addresses."""
_AS_ONE_TEXT = {"thinking_tags": ("\0<", "\0>")}
"""A setting of the model library's: it leaves thoughts in a text to `thoughts.part`."""

AGAIN_S = 60.0
"""Seconds after which a tier without capacity is asked again, where the provider does not say when."""
MOST_S = 3600.0


class _Request(NamedTuple):
    """A call in pydantic-ai's terms: messages, settings, output mode."""

    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


class _Adapted(PlayerError):
    """The client has learnt what the server does not take, and would ask otherwise now."""


class ProviderClient:
    """The client of one model player. `warnings` says, after `start`, what the model does not take."""

    def __init__(self, settings: PlayerSettings, env: Mapping[str, str]) -> None:
        self.warnings: tuple[str, ...] = ()
        self._settings = settings
        self._key = find_key(settings, env)
        self._key_place = " or ".join(key_names(settings))
        self._base_url = settings.base_url or _default_url(settings.provider, env)
        self._secrets = (self._key, *secrets_of(self._base_url))
        self._structured = settings.structured
        self._room = room(settings).tokens
        self._begins_thinking = False
        self._usual: dict[str, Any] = {}
        self._untaken: set[str] = set()
        self._warned: set[str] = set()
        self._refused: set[str] = set()
        self._structured_works = False
        self._without_structure = False
        self._fails_at_structure: bool | None = None
        self._wire: Wire | None = None
        self._model: Model | None = None
        self._session: aiohttp.ClientSession | None = None
        self._http: httpx2.AsyncClient | None = None

    @staticmethod
    def require(provider: str) -> None:
        """Raise ImportError when the library behind a provider is not installed."""
        if PROVIDERS[provider].base_url:
            import openai  # noqa: F401
        elif provider == "anthropic":
            import anthropic  # noqa: F401
        else:
            import google.genai  # noqa: F401

    @named
    async def start(self) -> None:
        if self._key_place and not self._key:
            raise PlayerError(
                f"no key; set {self._key_place} in the environment or in the arena's .env file",
                kind="permanent",
            )
        try:
            self._model = self._open_model()
        except Exception as error:
            await self.close()
            raise player_error(error, self._key_place) from None
        if self._wire is not None and self._model.profile.get(
            "openai_chat_supports_max_completion_tokens", True
        ):
            self._wire.limit = MAX_COMPLETION_TOKENS
        self._usual, self._untaken = sampling_settings(
            self._settings,
            self._model.profile,
            bool(self._room) and self._settings.reasoning_effort != "none",
        )
        if self._settings.service_tier:
            self._usual["service_tier"] = self._settings.service_tier
        if self._structured and not self._model.profile.get("supports_json_schema_output", False):
            self._structured = False
        self.warnings = tuple(
            f"{self._settings.name}: {self._settings.model} does not take {name}; it is left out"
            for name in ("temperature", "top_p")
            if name in self._untaken and getattr(self._settings, name) is not None
        )

    @named
    async def answer(self, call: Call) -> Answer:
        clock = asyncio.get_running_loop().time
        while True:
            request, form = self._request(call), self._wire.form if self._wire is not None else ()
            started = clock()
            try:
                async with asyncio.timeout(self._settings.timeout_s):
                    response = await model_request(
                        self._started_model,
                        request.messages,
                        model_settings=request.settings,
                        model_request_parameters=request.parameters,
                        instrument=False,
                    )
            except TimeoutError:
                raise
            except Exception as error:
                try:
                    return self._failed(error, call, request, form, clock() - started)
                except _Adapted:  # what is sent shrinks each time, so this ends
                    continue
            return self._answered(response, request, clock() - started)

    @property
    def _started_model(self) -> Model:
        if self._model is None:
            raise PlayerError("asked before it was started", kind="permanent")
        return self._model

    def _request(self, call: Call) -> _Request:
        asked, parameters = self._shape(call)
        return _Request(
            conversation(call.messages, self._settings.system_prompt, SYSTEM not in self._refused),
            cast(ModelSettings, asked),
            parameters,
        )

    def _failed(
        self, error: Exception, call: Call, request: _Request, form: Collection[str], latency_s: float
    ) -> Answer:
        """The answer that an exception of the model library stands for. Raises PlayerError where there is
        none. `form` are those parts of what was sent that the wire adds (see `Wire.form`)."""
        if is_filtered(error):
            return Answer("", latency_s, refused=True)
        self._adapt(error, request, form)
        if call.more_room and is_too_long(error):
            return Answer("", latency_s, 0, 0, truncated=True)
        if self._settings.service_tier and is_out_of_capacity(error):
            wait_s = getattr(error, "retry_after", None) or AGAIN_S
            why = "no capacity in the flex tier"
            raise Later(why, now_ms() + round(min(wait_s, MOST_S) * 1000)) from None
        raise self._failure(error, call, request.settings) from None

    def _answered(self, response: ModelResponse, request: _Request, latency_s: float) -> Answer:
        """A response to a request as an answer."""
        if request.parameters is not _PLAIN:
            self._structured_works = True
        elif self._without_structure and self._fails_at_structure is None:
            self.leave_out([STRUCTURED])
        elif self._without_structure:
            self._without_structure, self._fails_at_structure = False, True
        limit = request.settings["max_tokens"]
        answer = self._at_its_tier(read(response, latency_s, limit, self._begins_thinking), response)
        self._note_overrun(answer, limit)
        self._note_ending(response, answer)
        return answer

    def _at_its_tier(self, answer: Answer, response: ModelResponse) -> Answer:
        """An answer that was to be of the flex tier, at the price of the tier that served it."""
        served = (response.provider_details or {}).get("service_tier")
        if not self._settings.service_tier or served in (None, self._settings.service_tier):
            return answer
        if "tier" not in self._warned:
            self._warned.add("tier")
            told = f"was served in the tier {str(served)[:40]!r} and not in flex; twice the flex price counts"
            self.warnings += (f"{self._settings.name}: {told}",)
        return replace(answer, times=1 if self._settings.price else 2)

    async def close(self) -> None:
        session, self._session = self._session, None
        http, self._http = self._http, None
        self._model = None
        if session is not None:
            await session.close()
        if http is not None:
            await http.aclose()

    def _shape(self, call: Call) -> tuple[dict[str, Any], ModelRequestParameters]:
        """Settings and output mode for one call, without what the model does not take."""
        own = self._settings.max_tokens
        limit = call.max_tokens if own is None else min(own, call.max_tokens)
        thinking = thinking_settings(self._settings, self._started_model.profile, call.thinking_tokens, limit)
        bounded = self._refused.isdisjoint(THINKING)
        asked = self._usual | (thinking if bounded else {"max_tokens": thinking["max_tokens"]})
        if call.temperature is not None and "temperature" not in self._untaken:
            asked["temperature"] = call.temperature
        for name in self._refused - {MAX_TOKENS}:
            asked.pop(name, None)
        structured = self._structured and not self._without_structure and STRUCTURED not in self._refused
        return asked, (structure(call.expects) if structured else None) or _PLAIN

    def _adapt(self, error: Exception, request: _Request, form: Collection[str]) -> None:
        """Learn what a refusal says that the server does not take; raises PlayerError where there is
        something to learn, `_Adapted` where the request cost nothing.

        A server that has never replied in structured output and refuses, or fails, without naming a cause is
        asked without it, until it replies or fails all the same. One that failed may only have been down, so
        that it has to fail at structured output once more.
        """
        if not is_refusal(error):
            return
        failure, structured = player_error(error, self._key_place), request.parameters is not _PLAIN
        sent = [*form, *[name for name in request.settings if name != "max_tokens"]]
        sent += [STRUCTURED] * structured + [SYSTEM] * _has_system(request.messages)
        if learnt := refused(error, sent):
            stated = [name for one in learnt for name in self._stated(one)]
            if stated:
                raise PlayerError(
                    f"{failure}. The server does not take {_listed(stated)} as stated for this player: "
                    "change or remove it",
                    kind="permanent",
                ) from None
            self.leave_out(learnt)
            told = "; ".join([_adapted_to(one) for one in learnt])
        elif structured and not self._structured_works and self._fails_at_structure:
            self.leave_out([STRUCTURED])
            told = _adapted_to(STRUCTURED)
        elif structured and not self._structured_works and not is_too_long(error):
            self._without_structure = True
            self._fails_at_structure = False if failure.maybe_paid else None
            told = "it is asked without structured output"
        else:
            self._without_structure = False
            return
        if failure.maybe_paid:
            raise PlayerError(f"{failure}; {told}", retry_after_s=0.0, maybe_paid=True) from None
        raise _Adapted(f"{failure}; {told}", retry_after_s=0.0) from None

    def _failure(self, error: Exception, call: Call, asked: ModelSettings) -> PlayerError:
        """The failure of a request that went out with settings as `asked`."""
        failure = player_error(error, self._key_place)
        if call.thinking_tokens and is_too_long(error):
            return PlayerError(
                f"{failure}. Asked for were {asked['max_tokens']} tokens, {call.thinking_tokens} of them to "
                "think: lower this player's `thinking_tokens`",
                kind="request",
            )
        return failure

    def _stated(self, sent: str) -> list[str]:
        """Those of the player's own settings that are behind a setting as it was sent."""
        if sent in (*FORM, STRUCTURED):
            return []
        own = ("reasoning_effort", "thinking_tokens") if sent in THINKING else (sent,)
        return [name for name in own if getattr(self._settings, name) is not None]

    @property
    def left_out(self) -> list[str]:
        """Return what the server refused so far: settings as they were sent, or keys of `ADAPTATIONS`."""
        return sorted(self._refused)

    def leave_out(self, names: Iterable[str]) -> None:
        """Send these no more."""
        for name in names:
            if name == STRUCTURED:
                self._without_structure = False
            if name not in self._refused:
                self._refused.add(name)
                self.warnings += (f"{self._settings.name}: the server does not take {_adapted_to(name)}",)

    def _note_overrun(self, answer: Answer, limit: int) -> None:
        """Warn once of a server that writes more tokens than it was asked for."""
        if (answer.output_tokens or 0) > limit and "max_tokens" not in self._warned:
            self._warned.add("max_tokens")
            self.warnings += (
                f"{self._settings.name}: the server does not keep to max_tokens: {answer.output_tokens} "
                f"tokens came where at most {limit} were asked for; what is in flight can overrun a budget",
            )

    def _note_ending(self, response: ModelResponse, answer: Answer) -> None:
        """Warn once of each odd way in which replies end, and note where thoughts begin unmarked."""
        text = "".join([part.content for part in response.parts if isinstance(part, TextPart)])
        self._begins_thinking = self._begins_thinking or not part(text).opened
        reason = (response.provider_details or {}).get("finish_reason", response.finish_reason)
        ended = ending(reason)
        if ended == "unknown":
            told = f"the server ends replies for a reason that is not known, {str(reason)[:40]!r}"
            self._warn_once(f"ended {reason}", f"{told}; they count as whole, and their matches say so")
        elif ended == "unstated" and not answer.refused:
            self._warn_once("ended", "the server does not say why its replies end; they count as whole")
        if answer.note.startswith("no text"):
            self._warn_once("no text", f"{answer.note}; others may follow")

    def _warn_once(self, about: str, told: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            self.warnings += (f"{self._settings.name}: {told}",)

    def _open_model(self) -> Model:
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
            return GoogleModel(name, provider=google)
        return self._open_compatible(provider, name)

    def _open_compatible(self, provider: str, name: str) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        from peerage.players.session import open_session
        from peerage.players.wire import Wire

        self._session = open_session(self._base_url)
        openrouter = provider == "openrouter" and not self._settings.base_url
        self._wire = wire = Wire(
            self._session, self._base_url, self._key, self._refused, reasons=not openrouter
        )
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
                found = response.json()
            except (ValueError, RecursionError):
                return
            if error := reported_error(found):
                response.status_code = error.status
                response.extensions[UNDONE] = not error.begun
            elif isinstance(found, dict):
                response._content = json.dumps(read_part(found)).encode()

        self._http = DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=10_000, keepalive_expiry=KEEPALIVE_S),
            timeout=httpx2.Timeout(self._settings.timeout_s, connect=CONNECT_S, pool=None),
            trust_env=not is_loopback(self._base_url),
            event_hooks={"response": [look]},
        )
        return self._http


def _default_url(provider: str, env: Mapping[str, str]) -> str:
    if provider == "ollama" and env.get("OLLAMA_BASE_URL"):
        return env["OLLAMA_BASE_URL"]
    return PROVIDERS[provider].base_url


@lru_cache(maxsize=256)
def structure(expects: Format) -> ModelRequestParameters | None:
    """The request for native structured output of a format; None for free text."""
    schema = expects.schema()
    if schema is None:
        return None
    return ModelRequestParameters(
        output_mode="native",
        output_object=OutputObjectDefinition(json_schema=schema, name="reply", strict=True),
        allow_text_output=False,
    )


def conversation(
    messages: Sequence[tuple[Speaker, str]], system_prompt: str, system_role: bool = True
) -> list[ModelMessage]:
    """A call's messages in pydantic-ai's terms: one system text in front, then turns that alternate.

    Strict chat templates refuse a second system message and two turns of one speaker in a row, so such
    texts are joined with a blank line. Without a `system_role` the system text begins the first user turn.
    """
    systems = [system_prompt] if system_prompt else []
    turns: list[tuple[Speaker, str]] = []
    for speaker, text in messages:
        if speaker == "system":
            systems.append(text)
        elif turns and turns[-1][0] == speaker:
            turns[-1] = (speaker, f"{turns[-1][1]}\n\n{text}")
        else:
            turns.append((speaker, text))
    if systems and not system_role:
        if turns and turns[0][0] == "user":
            systems.append(turns.pop(0)[1])
        turns.insert(0, ("user", "\n\n".join(systems)))
        systems = []
    out: list[ModelMessage] = []
    head = [SystemPromptPart("\n\n".join(systems))] if systems else []
    for speaker, text in turns:
        if speaker == "assistant":
            out.append(ModelResponse(parts=[TextPart(text)]))
        else:
            out.append(ModelRequest(parts=[*head, UserPromptPart(text)]))
            head = []
    return [ModelRequest(parts=head), *out] if head else out


def read(
    response: ModelResponse, latency_s: float, limit: int | None = None, begins_thinking: bool = False
) -> Answer:
    """Return a model's response as an answer, without its thoughts.

    `limit` is the number of tokens asked for; `begins_thinking` says that this player's thoughts begin
    without a mark, so that a reply cut before they end is all thought. Raises PlayerError when the provider
    broke off.
    """
    details = response.provider_details or {}
    text = "".join([part.content for part in response.parts if isinstance(part, TextPart)])
    said = part(text)
    thinking = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
    calls = [str(part.args) for part in response.parts if isinstance(part, ToolCallPart)]
    reason = details.get("finish_reason", response.finish_reason)
    declined = response.finish_reason == "content_filter" or "refusal" in details
    ended = "refused" if declined else ending(reason)
    usage = response.usage
    counted = usage.input_tokens > 0
    output = usage.output_tokens if counted else None
    if ended in ("unstated", "unknown") and limit is not None and (output or 0) >= limit:
        ended = "cut"
    nothing = not (text.strip() or thinking or calls)
    if ended == "broken" or (nothing and ended in ("unstated", "unknown")):
        why = f" ({reason})" if ended != "unstated" else ""
        raise PlayerError(f"the provider broke off in the middle of the reply{why}", maybe_paid=True)
    answer = said.answer
    if begins_thinking and ended == "cut" and not said.marked:
        answer = ""
    cost = details.get("cost")
    reasoning = reasoning_tokens(usage)
    note = ""
    if not answer.strip() and ended in ("whole", "unstated", "unknown"):
        note = _only(sum(map(len, thinking)) + said.thought, thinking or said.marked, calls)
    elif ended == "unknown":
        note = f"the server ended the reply for a reason that is not known: {str(reason)[:40]!r}"
    return bounded(
        Answer(
            answer or str(details.get("refusal") or ""),
            latency_s,
            input_tokens=usage.input_tokens if counted else None,
            output_tokens=output,
            cost_usd=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
            snapshot=response.model_name or "",
            refused=ended == "refused",
            truncated=ended == "cut",
            reasoning_tokens=reasoning if counted else None,
            thought=bool(reasoning or thinking or said.thought),
            note=note,
        )
    )


def _only(characters: int, thought: object, calls: Sequence[str]) -> str:
    """Return what came in place of a text, for people; empty where nothing did."""
    if calls:
        return f"no text came, only a tool call of {sum(map(len, calls)):,} characters"
    return f"no text came, only {characters:,} characters of reasoning" if thought else ""


def reasoning_tokens(usage: RequestUsage) -> int | None:
    """The tokens of a reply that were thought and not said; None where the provider does not count them."""
    details = usage.details or {}
    found = [
        details.get(name)
        for name in ("thought_tokens", "reasoning_tokens", "thinking_tokens", "thoughts_tokens")
    ]
    return usage.output_reasoning_tokens or next((count for count in found if count is not None), None)


def _has_system(messages: Sequence[ModelMessage]) -> bool:
    return any(isinstance(part, SystemPromptPart) for message in messages for part in message.parts)


def _adapted_to(name: str) -> str:
    """Return what the server does not take, and what it is sent instead, for people."""
    known = ADAPTATIONS.get(name)
    return f"{known.taken}; {known.instead}" if known is not None else f"{name}; it is left out"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([f"`{name}`" for name in dict.fromkeys(names)])
