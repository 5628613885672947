"""Room that a model has to think, and the settings sent with a request. Pure.

A game's limit bounds the answer; what a model thinks before comes on top. A provider counts both against one
limit, so without room of its own a model can think until nothing is left to answer with: the limit sent is
their sum. Where a provider takes a bound of its own for thinking it is sent too, and is always smaller.
Families of models are data (thinking.toml).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from peerage.players.keys import PROVIDERS
from peerage.settings import PlayerSettings

LEAST = 1024
"""The smallest thinking budget that every provider takes, in tokens."""
GEMINI_MOST = {"flash": 24_576, "pro": 32_768}
"""The largest that Gemini 2.5 takes."""
USUAL_SHARE = 16
"""A plan expects a model to use one in so many of the tokens it may think: room is for the hardest question,
and 512 tokens of 8,192 are what a short one takes."""

Habit = Literal["always", "usually", ""]


class ThinkingRoom(NamedTuple):
    """`tokens` that a player may think for each reply, on top of the answer's limit; `reason` says why so
    many, empty where there are none."""

    tokens: int
    reason: str = ""

    @property
    def usual(self) -> int:
        """Tokens that a plan expects a reply's thinking to take."""
        return self.tokens // USUAL_SHARE


NO_ROOM = ThinkingRoom(0)


def room(settings: PlayerSettings, seen: bool = False) -> ThinkingRoom:
    """The room of a player: as stated, by its reasoning effort, or by its family.

    `seen` says that the model was seen to think (a probe's usage had reasoning tokens). Agents and house
    players have what is stated alone.
    """
    if settings.acp:
        return NO_ROOM
    if settings.thinking_tokens is not None:
        return ThinkingRoom(settings.thinking_tokens, "thinking_tokens" if settings.thinking_tokens else "")
    if settings.provider not in PROVIDERS and settings.provider != "gguf":
        return ThinkingRoom(0)
    sizes, effort, habit = _families()["room"], settings.reasoning_effort, thinks(settings.model)
    if effort == "none":
        return (
            ThinkingRoom(sizes["none"], "a model that always thinks")
            if habit == "always"
            else ThinkingRoom(0)
        )
    if effort is not None:
        return ThinkingRoom(sizes[effort], f"reasoning_effort: {effort}")
    if habit:
        return ThinkingRoom(sizes["default"], f"a model that {habit} thinks")
    return ThinkingRoom(sizes["default"], "it was seen to think") if seen else ThinkingRoom(0)


def thinks(model: str) -> Habit:
    """Return whether a model (`provider:name`) thinks without being asked to; empty: not that anybody
    knows."""
    name = model.partition(":")[2].replace("\\", "/").rpartition("/")[2].lower()
    known = _families()
    if _among(name, known["unless"]):
        return ""
    if _among(name, known["always"]):
        return "always"
    return "usually" if _among(name, known["usually"]) else ""


def _among(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@cache
def _families() -> dict[str, Any]:
    return tomllib.loads(files("peerage.players.models").joinpath("thinking.toml").read_text("utf-8"))


def sampling_settings(
    settings: PlayerSettings, profile: Mapping[str, Any], thinking: bool
) -> tuple[dict[str, Any], set[str]]:
    """Temperature and top_p as stated, and the names of those that this model does not take.

    `thinking` says that the requests ask it to think, or leave it to a model that does by itself.
    """
    if not _takes_sampling(settings, profile, thinking):
        return {}, {"temperature", "top_p"}
    stated = {"temperature": settings.temperature, "top_p": settings.top_p}
    return {name: value for name, value in stated.items() if value is not None}, set()


def _takes_sampling(settings: PlayerSettings, profile: Mapping[str, Any], thinking: bool) -> bool:
    effort = settings.reasoning_effort
    if profile.get("anthropic_disallows_sampling_settings", False):
        return False
    if "anthropic_supports_adaptive_thinking" in profile:
        return not thinking
    # A server of one's own takes what it is sent.
    if settings.base_url or not profile.get("openai_supports_reasoning", False):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    can_rest = (
        "none" in efforts
        if efforts is not None
        else profile.get("openai_supports_reasoning_effort_none", False)
    )
    resting = effort == "none" or (effort is None and not profile.get("thinking_enabled_by_default", False))
    return bool(can_rest and resting)


def thinking_settings(
    settings: PlayerSettings, profile: Mapping[str, Any], room: int, answer: int
) -> dict[str, Any]:
    """The limit of one request and its settings of thinking, in the model library's terms.

    `answer` and `room` are tokens: of the answer, and of what may be thought before. `max_tokens` is their
    sum; whatever else there is asks for thinking, or for none.
    """
    effort, stated = settings.reasoning_effort, settings.thinking_tokens
    own = settings.provider in ("anthropic", "google", "openrouter")
    asked_to = stated or (stated is None and effort not in (None, "none"))
    if not room and asked_to and own:
        room = LEAST  # a probe leaves none, and these take no smaller bound; what is stated must be tried
    if not own or (settings.provider == "openrouter" and settings.base_url):
        asked = _openai(settings, profile)
    elif effort == "none" or stated == 0:
        asked = {"thinking": False}
    elif settings.provider == "anthropic":
        asked = _anthropic(settings, profile, room, answer)
    elif settings.provider == "google":
        asked = _google(settings, profile, room)
    elif effort is not None and stated is None:
        asked = {"openrouter_reasoning": {"effort": effort, "enabled": True}}
    else:
        asked = {"openrouter_reasoning": {"max_tokens": room}} if room else {}
    return {"max_tokens": answer + room} | asked


def _anthropic(
    settings: PlayerSettings, profile: Mapping[str, Any], room: int, answer: int
) -> dict[str, Any]:
    effort, stated = settings.reasoning_effort, settings.thinking_tokens
    if effort is None and stated is None:
        return {}
    budgets = not profile.get("anthropic_disallows_budget_thinking", False)
    adaptive = profile.get("anthropic_supports_adaptive_thinking", False)
    if not budgets or (adaptive and stated is None):
        return {"thinking": effort or True}
    most = (profile.get("anthropic_max_output_tokens") or answer + room) - answer
    budget = max(LEAST, min(room, most))
    return {"anthropic_thinking": {"type": "enabled", "budget_tokens": budget}}


def _google(settings: PlayerSettings, profile: Mapping[str, Any], room: int) -> dict[str, Any]:
    if profile.get("google_supports_thinking_level", False):
        return {} if settings.reasoning_effort is None else {"thinking": settings.reasoning_effort}
    if not room:
        return {}
    most = GEMINI_MOST["pro" if "pro" in settings.model else "flash"]
    return {"google_thinking_config": {"thinking_budget": min(room, most)}}


def _openai(settings: PlayerSettings, profile: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI and servers like it take an effort and no bound. A stated one is sent whatever the model: only
    the server knows."""
    effort = settings.reasoning_effort
    if effort is None:
        return {}
    if settings.base_url or settings.provider == "ollama":
        return {"openai_reasoning_effort": effort}
    known = profile.get("supports_thinking", False) or profile.get("thinking_always_enabled", False)
    if known:
        return {"thinking": False if effort == "none" else effort}
    return {} if effort == "none" and not thinks(settings.model) else {"openai_reasoning_effort": effort}
