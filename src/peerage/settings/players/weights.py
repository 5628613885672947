"""Whose weights are open and whose proprietary, as settings say. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

Weights: TypeAlias = Literal["open", "proprietary", ""]


def weights(card: Mapping[str, Any]) -> Weights:
    """Return whether anybody can download a player's weights: as its `card`, its settings as registered,
    states, or else as provider and model say; empty where they do not."""
    stated = card.get("open_weights")
    if stated is not None:
        return "open" if stated else "proprietary"
    provider, _, name = str(card.get("model", "")).lower().partition(":")
    if provider in ("gguf", "ollama", "huggingface") or any(word in name for word in _OPEN):
        return "open"
    if provider == "openrouter":
        provider, _, name = name.partition("/")
    return "proprietary" if provider in _CLOSED and not card.get("base_url") else ""


_OPEN = ("gpt-oss", "gemma")
"""Models with open weights of makers that otherwise keep theirs."""
_CLOSED = ("openai", "anthropic", "google", "xai", "x-ai")
