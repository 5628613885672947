"""Finish reasons: what it means that a server ended a reply, by the word it gives for it. Pure.

One table for every wire. `FINISH_REASONS` is the source of the table in docs/players.md.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, TypeAlias

Ending: TypeAlias = Literal["whole", "cut", "refused", "broken", "unstated", "unknown"]
"""End of a reply. `whole`: the model was done; `cut`: at a limit of tokens; `refused`: the provider or the
model declined; `broken`: the provider broke off, so there is no reply; `unstated`: the server does not say;
`unknown`: it gives a reason that is not in the table."""


class FinishReason(NamedTuple):
    """Spellings of one reason, how a reply ended that has it, and the servers that give it."""

    spellings: tuple[str, ...]
    ending: Ending
    servers: str


FINISH_REASONS = (
    FinishReason(("stop", "STOP"), "whole", "OpenAI and every compatible server; Google"),
    FinishReason(("end_turn", "stop_sequence"), "whole", "Anthropic, Bedrock; TGI (`stop_sequence`)"),
    FinishReason(("eos", "eos_token"), "whole", "Together, TGI"),
    FinishReason(("COMPLETE", "completed"), "whole", "Cohere; OpenAI's Responses API"),
    FinishReason(("normal",), "whole", "Baidu Qianfan"),
    FinishReason(
        ("tool_calls", "tool_call", "tool_use", "function_call"),
        "whole",
        "OpenAI and compatible servers, Anthropic, Bedrock",
    ),
    FinishReason(("repetition",), "whole", "vLLM, where it stops a model that repeats itself"),
    FinishReason(("length",), "cut", "OpenAI and every compatible server"),
    FinishReason(("max_tokens", "MAX_TOKENS"), "cut", "Anthropic, Bedrock; Google, Cohere, watsonx"),
    FinishReason(("max_output_tokens", "incomplete"), "cut", "OpenAI's Responses API"),
    FinishReason(("model_context_window_exceeded",), "cut", "Anthropic, Bedrock, Zhipu"),
    FinishReason(("model_length",), "cut", "Mistral"),
    FinishReason(("max_len", "max_context"), "cut", "xAI"),
    FinishReason(("CONTINUATION",), "cut", "Google"),
    FinishReason(("ERROR_LIMIT",), "cut", "Cohere"),
    FinishReason(("limit", "max_length", "max_new_tokens"), "cut", "llama.cpp's and other servers' own APIs"),
    FinishReason(
        ("content_filter", "content_filtered"), "refused", "OpenAI, Azure, DeepSeek, Moonshot; Bedrock"
    ),
    FinishReason(("refusal",), "refused", "Anthropic"),
    FinishReason(("sensitive",), "refused", "Zhipu"),
    FinishReason(("guardrail_intervened",), "refused", "Bedrock, also through gateways"),
    FinishReason(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
        "refused",
        "Google, Vertex AI, also through their OpenAI-compatible address",
    ),
    FinishReason(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "refused", "Google"),
    FinishReason(("ERROR_TOXIC",), "refused", "Cohere"),
    FinishReason(("moderation", "content_policy", "blocked"), "refused", "gateways"),
    FinishReason(("error", "ERROR"), "broken", "OpenRouter, Mistral, Together, watsonx, vLLM; Cohere"),
    FinishReason(("abort", "aborted"), "broken", "vLLM, SGLang"),
    FinishReason(("cancelled", "USER_CANCEL", "failed"), "broken", "watsonx; Cohere; OpenAI's Responses API"),
    FinishReason(("time_limit", "timeout", "not_finished"), "broken", "watsonx; Cohere"),
    FinishReason(("network_error",), "broken", "Zhipu"),
    FinishReason(("insufficient_system_resource",), "broken", "DeepSeek, also through LiteLLM"),
    FinishReason(("engine_overloaded", "overloaded"), "broken", "Moonshot, gateways"),
    FinishReason(("rate_limit_exceeded", "server_error", "internal_error"), "broken", "gateways"),
    FinishReason(("in_progress", "queued"), "broken", "OpenAI's Responses API"),
    FinishReason(("pause_turn",), "broken", "Anthropic"),
    FinishReason(
        ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS",
         "MISSING_THOUGHT_SIGNATURE", "LANGUAGE", "OTHER", "NO_IMAGE", "IMAGE_OTHER"),
        "broken",
        "Google",
    ),
    FinishReason(("malformed_model_output", "malformed_tool_use"), "broken", "Bedrock"),
    FinishReason(
        ("", "null", "none", "unknown", "FINISH_REASON_UNSPECIFIED"),
        "unstated",
        "older servers, Ollama, Snowflake, Ai00, gateways; Google",
    ),
)  # fmt: skip
"""Every finish reason that is known, and where it is given: documented by the provider, in the source of the
server, or in a report of what it returned."""


def _plain(reason: str) -> str:
    """A reason in one spelling: `contentFilter`, `content-filter` and `CONTENT_FILTER` are the same."""
    letters = re.sub("[^a-z0-9]", "", reason.casefold())
    return letters.removeprefix("finish").removeprefix("reason")


_ENDINGS = {_plain(spelling): row.ending for row in FINISH_REASONS for spelling in row.spellings}


def ending(reason: Any) -> Ending:
    """Return how a reply ended for which a server states `reason`, whatever that is."""
    if isinstance(reason, dict):  # SGLang's own: {"type": "length", "length": 300}
        reason = reason.get("type")
    if reason is None:
        return "unstated"
    return _ENDINGS.get(_plain(reason), "unknown") if isinstance(reason, str) else "unknown"
