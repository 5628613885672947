"""Translation between our calls and the model library's: messages, output mode, responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from peerage.game.protocol import Format, Shaped, Speaker
from peerage.players.client import Answer, PlayerError, bounded
from peerage.players.media import Sent, divided
from peerage.players.models.finish_reasons import ending
from peerage.players.models.replies import DECLINED, ProviderReply, Usage, used_of
from peerage.players.models.thoughts import part


@lru_cache(maxsize=256)
def structure(expects: Format) -> ModelRequestParameters | None:
    """The request for native structured output of a format; None for free text."""
    schema = expects.schema()
    if schema is None:
        return None
    strict = None if isinstance(expects, Shaped) else True  # a schema of the owner's stays as it is
    return ModelRequestParameters(
        output_mode="native",
        output_object=OutputObjectDefinition(json_schema=schema, name="reply", strict=strict),
        allow_text_output=False,
    )


def turns(messages: Sequence[tuple[Speaker, str]], system_role: bool = True) -> list[tuple[Speaker, str]]:
    """A call's messages as every server takes them: one system text in front, then turns that alternate.

    Strict chat templates refuse a second system message and two turns of one speaker in a row, so such
    texts are joined with a blank line. Without a `system_role` the system text begins the first user turn.
    """
    systems: list[str] = []
    joined: list[tuple[Speaker, str]] = []
    for speaker, text in messages:
        if speaker == "system":
            systems.append(text)
        elif joined and joined[-1][0] == speaker:
            joined[-1] = (speaker, f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((speaker, text))
    if systems and not system_role:
        if joined and joined[0][0] == "user":
            systems.append(joined.pop(0)[1])
        return [("user", "\n\n".join(systems)), *joined]
    return [("system", "\n\n".join(systems)), *joined] if systems else joined


def conversation(
    spoken: Sequence[tuple[Speaker, str]],
    bodies: Mapping[str, bytes] | None = None,
    takes: Sequence[str] = (),
) -> list[ModelMessage]:
    """Return turns in pydantic-ai's terms, with the pictures and sounds that they hold; without `bodies`
    their marks stay. Raises PlayerError as `divided` does."""
    out: list[ModelMessage] = []
    head: list[SystemPromptPart] = []
    for speaker, text in spoken:
        if speaker == "system":
            head = [SystemPromptPart(text)]
        elif speaker == "assistant":
            out.append(ModelResponse(parts=[TextPart(text)]))
        else:
            content = text if bodies is None else _user_content(text, bodies, takes)
            out.append(ModelRequest(parts=[*head, UserPromptPart(content)]))
            head = []
    return [ModelRequest(parts=head), *out] if head else out


def _user_content(text: str, bodies: Mapping[str, bytes], takes: Sequence[str]) -> str | list[UserContent]:
    content: list[UserContent] = [
        BinaryContent(each.body, media_type=each.media.type) if isinstance(each, Sent) else each
        for each in divided(text, bodies, takes)
    ]
    return text if content == [text] else content


class LibraryRequest(NamedTuple):
    """A call in pydantic-ai's terms: turns, settings, output mode, and the bytes of pictures and sounds."""

    turns: list[tuple[Speaker, str]]
    settings: ModelSettings
    parameters: ModelRequestParameters
    media: Mapping[str, bytes] = {}

    async def sent(self, model: Model, takes: Sequence[str] = (), *, marked: bool = False) -> ModelResponse:
        """Ask a model through pydantic-ai; what is `marked` keeps the marks of pictures and sounds."""
        return await model_request(
            model,
            conversation(self.turns, None if marked else self.media, takes),
            model_settings=self.settings,
            model_request_parameters=self.parameters,
            instrument=False,
        )


def received(response: ModelResponse) -> ProviderReply:
    """Return what is read of a response of the model library."""
    details, usage = response.provider_details or {}, response.usage
    declined = response.finish_reason == DECLINED or "refusal" in details
    counted, cost = usage.input_tokens > 0, details.get("cost")
    return ProviderReply(
        text="".join([part.content for part in response.parts if isinstance(part, TextPart)]),
        thoughts="".join([part.content for part in response.parts if isinstance(part, ThinkingPart)]),
        calls=tuple([str(part.args) for part in response.parts if isinstance(part, ToolCallPart)]),
        reason=DECLINED if declined else details.get("finish_reason", response.finish_reason),
        refusal=str(details.get("refusal") or ""),
        usage=Usage(
            usage.input_tokens if counted else None,
            usage.output_tokens if counted else None,
            reasoning_tokens(usage),
            usage.cache_read_tokens or None,
        ),
        model=response.model_name or "",
        tier=details.get("service_tier") or "",
        cost=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
        used=used_of(usage.details),
    )


def read(
    reply: ProviderReply, latency_s: float, limit: int | None = None, begins_thinking: bool = False
) -> Answer:
    """Return a provider's reply as an answer, without its thoughts.

    `limit` is the number of tokens asked for; `begins_thinking` says that this player's thoughts begin
    without a mark, so that a reply cut before they end is all thought. Raises PlayerError when the provider
    broke off.
    """
    parted, usage = part(reply.text), reply.usage
    ended = ending(reply.reason)
    counted = usage.prompt is not None
    if ended in ("unstated", "unknown") and limit is not None and (usage.output or 0) >= limit:
        ended = "cut"
    nothing = not (reply.text.strip() or reply.thoughts or reply.calls)
    if ended == "broken" or (nothing and ended in ("unstated", "unknown")):
        why = f" ({reply.reason})" if ended != "unstated" else ""
        raise PlayerError(f"the provider broke off in the middle of the reply{why}", maybe_paid=True)
    answer = parted.answer
    if begins_thinking and ended == "cut" and not parted.marked:
        answer = ""
    note = ""
    if not answer.strip() and ended in ("whole", "unstated", "unknown"):
        note = _only(len(reply.thoughts) + parted.thought, reply.thoughts or parted.marked, reply.calls)
    elif ended == "unknown":
        note = f"the server ended the reply for a reason that is not known: {str(reply.reason)[:40]!r}"
    return bounded(
        Answer(
            answer or reply.refusal,
            latency_s,
            input_tokens=usage.prompt,
            output_tokens=usage.output,
            cost_usd=reply.cost,
            snapshot=reply.model,
            refused=ended == "refused",
            truncated=ended == "cut",
            reasoning_tokens=usage.reasoning if counted else None,
            cached_tokens=usage.cached if counted else None,
            thought=bool(usage.reasoning or reply.thoughts or parted.thought),
            note=note,
            used=reply.used,
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
    counts = [details.get(name) for name in ("reasoning_tokens", "thinking_tokens", "thoughts_tokens")]
    return usage.output_reasoning_tokens or next((count for count in counts if count is not None), None)
