"""Which settings of sampling and thinking go out, by what the model library knows of a model."""

from __future__ import annotations

from typing import Any

import pytest

from peerage.players.keys import default_url
from peerage.players.models.thinking import ThinkingRoom, room, sampling_settings, thinking_settings, thinks
from peerage.settings import PlayerSettings

NEITHER = ({}, {"temperature", "top_p"})
BOTH = ({"temperature": 0.5, "top_p": 0.9}, set[str]())
REASONS: dict[str, Any] = {"openai_supports_reasoning": True}


def player(model: str, **stated: Any) -> PlayerSettings:
    return PlayerSettings(model=model, **stated)


@pytest.mark.parametrize(
    ("model", "stated", "profile", "thinking", "found"),
    [
        ("openai:m", {}, {}, True, BOTH),
        ("anthropic:m", {}, {"anthropic_disallows_sampling_settings": True}, False, NEITHER),
        ("anthropic:m", {}, {"anthropic_supports_adaptive_thinking": False}, True, NEITHER),
        ("anthropic:m", {}, {"anthropic_supports_adaptive_thinking": False}, False, BOTH),
        ("openai:m", {}, REASONS, False, NEITHER),
        ("openai:m", {"base_url": "http://h"}, REASONS, False, BOTH),
        ("openai:m", {}, REASONS | {"openai_supports_reasoning_effort_none": True}, False, BOTH),
        (
            "openai:m", {"reasoning_effort": "low"},
            REASONS | {"openai_supports_reasoning_effort_none": True}, True, NEITHER,
        ),
        (
            "openai:m", {}, REASONS | {"openai_supports_reasoning_effort_none": True,
                                       "thinking_enabled_by_default": True}, True, NEITHER,
        ),
        (
            "openai:m", {"reasoning_effort": "none"},
            REASONS | {"openai_supports_reasoning_effort_none": True, "thinking_enabled_by_default": True},
            False, BOTH,
        ),
        ("openai:m", {}, REASONS | {"openai_reasoning_efforts": ["none", "low"]}, False, BOTH),
        (
            "openai:m", {},
            REASONS | {"openai_reasoning_efforts": ["low"], "openai_supports_reasoning_effort_none": True},
            False, NEITHER,
        ),
    ],
)  # fmt: skip
def test_sampling_settings_go_where_they_are_taken(
    model: str, stated: dict[str, Any], profile: dict[str, Any], thinking: bool, found: Any
) -> None:
    settings = player(model, temperature=0.5, top_p=0.9, **stated)
    assert sampling_settings(settings, profile, thinking) == found


def test_what_is_not_stated_is_not_sent() -> None:
    assert sampling_settings(player("openai:m", top_p=0.0), {}, False) == ({"top_p": 0.0}, set())


ADAPTIVE = {"anthropic_supports_adaptive_thinking": True}


@pytest.mark.parametrize(
    ("model", "stated", "profile", "tokens", "sent"),
    [
        ("openai:m", {}, {}, 0, {"max_tokens": 100}),
        ("openai:m", {}, {}, 50, {"max_tokens": 150}),
        ("openai:m", {"thinking_tokens": 50}, {}, 0, {"max_tokens": 100}),
        (
            "openai:m", {"reasoning_effort": "low"}, {}, 0,
            {"max_tokens": 100, "openai_reasoning_effort": "low"},
        ),
        (
            "openai:m", {"reasoning_effort": "low"}, {"supports_thinking": True}, 0,
            {"max_tokens": 100, "thinking": "low"},
        ),
        (
            "openai:m", {"reasoning_effort": "none"}, {"thinking_always_enabled": True}, 0,
            {"max_tokens": 100, "thinking": False},
        ),
        ("openai:m", {"reasoning_effort": "none"}, {}, 0, {"max_tokens": 100}),
        (
            "openai:qwen3", {"reasoning_effort": "none"}, {}, 0,
            {"max_tokens": 100, "openai_reasoning_effort": "none"},
        ),
        (
            "ollama:m", {"reasoning_effort": "none"}, {"supports_thinking": True}, 0,
            {"max_tokens": 100, "openai_reasoning_effort": "none"},
        ),
        (
            "openai:m", {"reasoning_effort": "none", "base_url": "http://h"}, {}, 0,
            {"max_tokens": 100, "openai_reasoning_effort": "none"},
        ),
        ("anthropic:m", {}, {}, 50, {"max_tokens": 150}),
        ("anthropic:m", {"reasoning_effort": "none"}, {}, 0, {"max_tokens": 100, "thinking": False}),
        ("anthropic:m", {"thinking_tokens": 0}, {}, 0, {"max_tokens": 100, "thinking": False}),
        (
            "anthropic:m", {"thinking_tokens": 2000}, {}, 0,
            {"max_tokens": 1124, "anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
        (
            "anthropic:m", {"thinking_tokens": 2000}, {}, 2000,
            {"max_tokens": 2100, "anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        (
            "anthropic:m", {"thinking_tokens": 2000}, {"anthropic_max_output_tokens": 1600}, 2000,
            {"max_tokens": 2100, "anthropic_thinking": {"type": "enabled", "budget_tokens": 1500}},
        ),
        (
            "anthropic:m", {"thinking_tokens": 2000}, ADAPTIVE, 2000,
            {"max_tokens": 2100, "anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}},
        ),
        (
            "anthropic:m", {"reasoning_effort": "low"}, ADAPTIVE, 2000,
            {"max_tokens": 2100, "thinking": "low"},
        ),
        (
            "anthropic:m", {"thinking_tokens": 2000}, {"anthropic_disallows_budget_thinking": True}, 2000,
            {"max_tokens": 2100, "thinking": True},
        ),
        (
            "google:gemini-flash", {}, {}, 50_000,
            {"max_tokens": 50_100, "google_thinking_config": {"thinking_budget": 24_576}},
        ),
        (
            "google:gemini-pro", {}, {}, 50_000,
            {"max_tokens": 50_100, "google_thinking_config": {"thinking_budget": 32_768}},
        ),
        (
            "google:gemini-pro", {}, {}, 50,
            {"max_tokens": 150, "google_thinking_config": {"thinking_budget": 50}},
        ),
        ("google:gemini-pro", {}, {}, 0, {"max_tokens": 100}),
        (
            "google:gemini-pro", {"reasoning_effort": "high"}, {"google_supports_thinking_level": True}, 50,
            {"max_tokens": 150, "thinking": "high"},
        ),
        ("google:gemini-pro", {}, {"google_supports_thinking_level": True}, 50, {"max_tokens": 150}),
        (
            "openrouter:m", {"reasoning_effort": "low"}, {}, 0,
            {"max_tokens": 1124, "openrouter_reasoning": {"effort": "low", "enabled": True}},
        ),
        (
            "openrouter:m", {"thinking_tokens": 60}, {}, 60,
            {"max_tokens": 160, "openrouter_reasoning": {"max_tokens": 60}},
        ),
        ("openrouter:m", {}, {}, 0, {"max_tokens": 100}),
        (
            "openrouter:m", {"reasoning_effort": "low", "base_url": "http://h"}, {}, 7,
            {"max_tokens": 107, "openai_reasoning_effort": "low"},
        ),
    ],
)  # fmt: skip
def test_thinking_is_asked_for_in_each_provider_s_terms(
    model: str, stated: dict[str, Any], profile: dict[str, Any], tokens: int, sent: dict[str, Any]
) -> None:
    assert thinking_settings(player(model, **stated), profile, tokens, 100) == sent


@pytest.mark.parametrize(
    ("model", "habit"),
    [
        ("openai:o3", "always"),
        ("openrouter:openai/O3-mini", "always"),
        ("gguf:C:\\models\\Qwen3-8B.gguf", "usually"),
        ("openai:gpt-5-chat-latest", ""),
        ("openai:gpt-4o", ""),
    ],
)
def test_who_thinks_unasked(model: str, habit: str) -> None:
    assert thinks(model) == habit


def test_a_room_says_why_and_what_a_plan_expects() -> None:
    assert room(player("openai:m", thinking_tokens=40)) == ThinkingRoom(40, "thinking_tokens")
    assert room(player("http://h/agent", thinking_tokens=40)) == ThinkingRoom(40, "thinking_tokens")
    assert room(player("openai:m", thinking_tokens=0)) == ThinkingRoom(0, "")
    assert room(player("openai:o3")) == ThinkingRoom(8192, "a model that always thinks")
    assert room(player("openai:gpt-5.5")) == ThinkingRoom(8192, "a model that usually thinks")
    assert room(player("openai:o3", reasoning_effort="none")) == ThinkingRoom(
        1024, "a model that always thinks"
    )
    assert room(player("openai:gpt-5.5", reasoning_effort="none")) == ThinkingRoom(0)
    assert room(player("openai:m", reasoning_effort="low")) == ThinkingRoom(4096, "reasoning_effort: low")
    assert room(player("http://h/o3"), seen=True) == ThinkingRoom(0)
    assert (ThinkingRoom(8192).usual, ThinkingRoom(3).usual) == (512, 0)


def test_a_local_server_stands_where_its_own_variable_says() -> None:
    env = {"OLLAMA_BASE_URL": "http://far:1/v1"}
    assert default_url("ollama", env) == "http://far:1/v1"
    assert default_url("ollama", {"OLLAMA_BASE_URL": ""}) == "http://localhost:11434/v1"
    assert default_url("groq", env) == "https://api.groq.com/openai/v1"
