"""A model at a provider, asked through pydantic-ai's direct request API.

Nothing here retries: the engine does.

What a model does not take: a temperature or top_p that the library knows it refuses is reported by `start`
in `warnings` and left out. When a server refuses a setting that its player states, the failure is permanent
and names it. To any other refusal that `adaptations` knows the client adapts: it is reported likewise, and
the refused request, which cost nothing, is sent again at once in its new form.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from peerage.players.client import Answer, Call, Later, NotTaken, PlayerError
from peerage.players.keys import default_url, find_key, key_names, require_key
from peerage.players.media import KINDS, held, only_users
from peerage.players.models.adaptations import (
    ADAPTATIONS,
    FORM,
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    STRUCTURED,
    SYSTEM,
    THINKING,
    is_refusal,
    refused,
    untaken,
)
from peerage.players.models.failures import is_filtered, is_out_of_capacity, is_too_long, player_error
from peerage.players.models.finish_reasons import ending
from peerage.players.models.library import Connection
from peerage.players.models.replies import ProviderReply
from peerage.players.models.thinking import room, sampling_settings, thinking_settings
from peerage.players.models.thoughts import part
from peerage.players.models.translation import LibraryRequest, read, received, structure, turns
from peerage.players.redaction import named, secrets_of
from peerage.settings import PlayerSettings
from peerage.values.clock import now_ms

_PLAIN = ModelRequestParameters()
AGAIN_S = 60.0
"""Seconds after which a tier without capacity is asked again, where the provider does not say when."""
MOST_S = 3600.0


class _Adapted(PlayerError):
    """The client has learnt what the server does not take, and would ask otherwise now."""


class ProviderClient:
    """The client of one model player. `warnings` says, after `start`, what the model does not take."""

    def __init__(self, settings: PlayerSettings, env: Mapping[str, str]) -> None:
        self.warnings: tuple[str, ...] = ()
        self._settings = settings
        self._key = find_key(settings, env)
        self._key_place = " or ".join(key_names(settings))
        base_url = settings.base_url or default_url(settings.provider, env)
        self._secrets = (self._key, *secrets_of(base_url))
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
        self._model: Model | None = None
        self._connection = Connection(settings, base_url, self._key, self._refused)

    @named
    async def start(self) -> None:
        require_key(self._settings, self._key)
        try:
            self._model = self._connection.open()
        except Exception as error:
            await self.close()
            raise player_error(error, self._key_place) from None
        wire = self._connection.wire
        if wire is not None and self._model.profile.get("openai_chat_supports_max_completion_tokens", True):
            wire.limit = MAX_COMPLETION_TOKENS
        self._usual, self._untaken = sampling_settings(
            self._settings,
            self._model.profile,
            bool(self._room) and self._settings.reasoning_effort != "none",
        )
        if self._settings.service_tier:
            self._usual["service_tier"] = self._settings.service_tier
        if (
            added := self._settings.added
        ) and self._settings.provider != "google":  # there the client adds it
            self._usual["extra_body"] = added
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
            request, wire = self._request(call), self._connection.wire
            form = wire.form if wire is not None else ()
            started = clock()
            try:
                async with asyncio.timeout(self._settings.timeout_s):
                    if wire is None:
                        takes = ("image",) if self._settings.provider == "anthropic" else tuple(KINDS)
                        reply = received(await request.sent(self._started_model, takes))
                    else:
                        reply = await wire.ask(self._started_model, request)
            except TimeoutError:
                raise
            except Exception as error:
                try:
                    return self._failed(error, call, request, form, clock() - started)
                except _Adapted:  # what is sent shrinks each time, so this ends
                    continue
            return self._answered(reply, request, clock() - started)

    @property
    def _started_model(self) -> Model:
        if self._model is None:
            raise PlayerError("asked before it was started", kind="permanent")
        return self._model

    def _request(self, call: Call) -> LibraryRequest:
        asked, parameters = self._shape(call)
        spoken = turns(call.messages, SYSTEM not in self._refused)
        only_users(spoken)
        return LibraryRequest(spoken, cast(ModelSettings, asked), parameters, call.media)

    def _failed(
        self, error: Exception, call: Call, request: LibraryRequest, form: Collection[str], latency_s: float
    ) -> Answer:
        """The answer that an exception of the model library stands for. Raises PlayerError where there is
        none. `form` are those parts of what was sent that the wire adds (see `Wire.form`)."""
        if is_filtered(error):
            return Answer("", latency_s, refused=True)
        sent = {found.kind for found in held(call.messages)}
        if kind := untaken(error, sent):
            what = f"{self._settings.model} does not take {KINDS[kind]}"
            raise NotTaken(f"{what}: {player_error(error, self._key_place)}") from None
        self._adapt(error, request, form)
        if call.more_room and is_too_long(error):
            return Answer("", latency_s, 0, 0, truncated=True)
        if self._settings.service_tier and is_out_of_capacity(error):
            wait_s = getattr(error, "retry_after", None) or AGAIN_S
            why = "no capacity in the flex tier"
            raise Later(why, now_ms() + round(min(wait_s, MOST_S) * 1000)) from None
        raise self._failure(error, call, request.settings) from None

    def _answered(self, reply: ProviderReply, request: LibraryRequest, latency_s: float) -> Answer:
        """A reply to a request as an answer."""
        if request.parameters is not _PLAIN:
            self._structured_works = True
        elif self._without_structure and self._fails_at_structure is None:
            self.leave_out([STRUCTURED])
        elif self._without_structure:
            self._without_structure, self._fails_at_structure = False, True
        limit = request.settings["max_tokens"]
        answer = self._at_its_tier(read(reply, latency_s, limit, self._begins_thinking), reply.tier)
        self._note_overrun(answer, limit)
        self._note_ending(reply, answer)
        return answer

    def _at_its_tier(self, answer: Answer, served: str) -> Answer:
        """An answer that was to be of the flex tier, at the price of the tier that served it."""
        if not self._settings.service_tier or served in ("", self._settings.service_tier):
            return answer
        note = f"was served in the tier {served[:40]!r} and not in flex; twice the flex price counts"
        self._warn_once("tier", note)
        return replace(answer, times=1 if self._settings.price else 2)

    async def close(self) -> None:
        self._model = None
        await self._connection.close()

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

    def _adapt(self, error: Exception, request: LibraryRequest, form: Collection[str]) -> None:
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
        sent += [STRUCTURED] * structured + [SYSTEM] * ("system" in dict(request.turns))
        if learnt := refused(error, sent):
            stated = [name for adaptation in learnt for name in self._stated(adaptation)]
            if stated:
                raise PlayerError(
                    f"{failure}. The server does not take {_listed(stated)} as stated for this player: "
                    "change or remove it",
                    kind="permanent",
                ) from None
            self.leave_out(learnt)
            note = "; ".join([_adapted_to(adaptation) for adaptation in learnt])
        elif structured and not self._structured_works and self._fails_at_structure:
            self.leave_out([STRUCTURED])
            note = _adapted_to(STRUCTURED)
        elif structured and not self._structured_works and not is_too_long(error):
            self._without_structure = True
            self._fails_at_structure = False if failure.maybe_paid else None
            note = "it is asked without structured output"
        else:
            self._without_structure = False
            return
        if failure.maybe_paid:
            raise PlayerError(f"{failure}; {note}", retry_after_s=0.0, maybe_paid=True) from None
        raise _Adapted(f"{failure}; {note}", retry_after_s=0.0) from None

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
        if (answer.output_tokens or 0) > limit:
            self._warn_once(
                "max_tokens",
                f"the server does not keep to max_tokens: {answer.output_tokens} tokens came where at most "
                f"{limit} were asked for; what is in flight can overrun a budget",
            )

    def _note_ending(self, reply: ProviderReply, answer: Answer) -> None:
        """Warn once of each odd way in which replies end, and note where thoughts begin unmarked."""
        self._begins_thinking = self._begins_thinking or not part(reply.text).opened
        ended = ending(reply.reason)
        if ended == "unknown":
            note = f"the server ends replies for a reason that is not known, {str(reply.reason)[:40]!r}"
            self._warn_once(f"ended {reply.reason}", f"{note}; they count as whole, and their matches say so")
        elif ended == "unstated" and not answer.refused:
            self._warn_once("ended", "the server does not say why its replies end; they count as whole")
        if answer.note.startswith("no text"):
            self._warn_once("no text", f"{answer.note}; others may follow")

    def _warn_once(self, about: str, warning: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            self.warnings += (f"{self._settings.name}: {warning}",)


def _adapted_to(name: str) -> str:
    """Return what the server does not take, and what it is sent instead, for people."""
    known = ADAPTATIONS.get(name)
    return f"{known.taken}; {known.instead}" if known is not None else f"{name}; it is left out"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([f"`{name}`" for name in dict.fromkeys(names)])
