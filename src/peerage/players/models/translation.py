"""Translation between our calls and the model library's: messages, output mode, responses. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.usage import RequestUsage

from peerage.game.protocol import Format, Shaped, Speaker
from peerage.players.client import Answer, PlayerError, bounded
from peerage.players.models.finish_reasons import ending
from peerage.players.models.replies import CACHED
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


def conversation(messages: Sequence[tuple[Speaker, str]], system_role: bool = True) -> list[ModelMessage]:
    """A call's messages in pydantic-ai's terms: one system text in front, then turns that alternate.

    Strict chat templates refuse a second system message and two turns of one speaker in a row, so such
    texts are joined with a blank line. Without a `system_role` the system text begins the first user turn.
    """
    systems: list[str] = []
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
            cached_tokens=cached_tokens(usage) if counted else None,
            thought=bool(reasoning or thinking or said.thought),
            note=note,
        )
    )


def _only(characters: int, thought: object, calls: Sequence[str]) -> str:
    """Return what came in place of a text, for people; empty where nothing did."""
    if calls:
        return f"no text came, only a tool call of {sum(map(len, calls)):,} characters"
    return f"no text came, only {characters:,} characters of reasoning" if thought else ""


def cached_tokens(usage: RequestUsage) -> int | None:
    """Return the tokens of a prompt that the provider read from its cache; None where it counts none: whether
    it has a cache is not known then."""
    return (usage.details or {}).get(CACHED) or usage.cache_read_tokens or None


def reasoning_tokens(usage: RequestUsage) -> int | None:
    """The tokens of a reply that were thought and not said; None where the provider does not count them."""
    details = usage.details or {}
    found = [
        details.get(name)
        for name in ("thought_tokens", "reasoning_tokens", "thinking_tokens", "thoughts_tokens")
    ]
    return usage.output_reasoning_tokens or next((count for count in found if count is not None), None)
