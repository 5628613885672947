"""Whose weights are open follows from settings."""

from __future__ import annotations

import pytest

from peerage.settings.players.weights import weights


@pytest.mark.parametrize(
    ("card", "kind"),
    [
        ({"model": "gguf:models/qwen.gguf"}, "open"),
        ({"model": "openai:gpt-5"}, "proprietary"),
        ({"model": "openai:gpt-oss-120b"}, "open"),
        ({"model": "openai:my-model", "base_url": "http://localhost:8000/v1"}, ""),
        ({"model": "openrouter:anthropic/claude-sonnet-4.5"}, "proprietary"),
        ({"model": "openrouter:google/gemma-3-27b-it"}, "open"),
        ({"model": "openrouter:meta-llama/llama-4"}, ""),
        ({"model": "mistral:large", "open_weights": False}, "proprietary"),
        ({"model": "house:0.5", "open_weights": True}, "open"),
        ({}, ""),
    ],
)
def test_whether_weights_are_open_follows_from_what_is_stated_or_else_from_who_made_them(
    card: dict[str, object], kind: str
) -> None:
    assert weights(card) == kind
