"""How much room a model has to think, apart from the limit of its answer. Pure; families of models are data.

A game's limit bounds the answer; what a model thinks before comes on top. A provider counts both against one
limit, so without room of its own a model can think until nothing is left to answer with.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from peerage.players.keys import PROVIDERS
from peerage.settings import PlayerSettings

USUAL_SHARE = 4
"""A plan expects a model to use one in so many of the tokens it may think."""

Habit = Literal["always", "usually", ""]


class Room(NamedTuple):
    """`tokens` that a player may think for each reply, on top of the answer's limit; `reason` says why so
    many, empty where there are none."""

    tokens: int
    reason: str = ""

    @property
    def usual(self) -> int:
        """Tokens that a plan expects a reply's thinking to take."""
        return self.tokens // USUAL_SHARE


NO_ROOM = Room(0)


def room(settings: PlayerSettings, seen: bool = False) -> Room:
    """The room of a player: as stated, by its reasoning effort, or by its family.

    `seen` says that the model was seen to think (a probe's usage had reasoning tokens). Agents and house
    players have what is stated alone.
    """
    if settings.thinking_tokens is not None:
        return Room(settings.thinking_tokens, "thinking_tokens" if settings.thinking_tokens else "")
    if settings.provider not in PROVIDERS and settings.provider != "gguf":
        return Room(0)
    sizes, effort, habit = _families()["room"], settings.reasoning_effort, thinks(settings.model)
    if effort == "none":
        return Room(sizes["none"], "a model that always thinks") if habit == "always" else Room(0)
    if effort is not None:
        return Room(sizes[effort], f"reasoning_effort: {effort}")
    if habit:
        return Room(sizes["default"], f"a model that {habit} thinks")
    return Room(sizes["default"], "it was seen to think") if seen else Room(0)


def thinks(model: str) -> Habit:
    """Whether a model (`provider:name`) thinks without being asked to; empty: not that anybody knows."""
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
    return tomllib.loads(files("peerage.players").joinpath("thinking.toml").read_text("utf-8"))
