"""Recipes of agents over ACP: the variables and files that point one at its model. Read from a file of ours,
by the program's name; what the player's settings state comes on top."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct

from peerage.settings import PlayerSettings

_NATIVE: Mapping[str, str] = {"anthropic": "messages", "google": "gemini"}
_DECORATION = re.compile(r"@[\w.-]+$|\.(?:js|mjs|exe|cmd|sh)$")


class Recipe(Struct, frozen=True, forbid_unknown_fields=True):
    """One agent: the APIs that it speaks with what fills the place {form}, its variables and files, and the
    command that installs it."""

    forms: Mapping[str, str]
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    install: str = ""
    aliases: tuple[str, ...] = ()

    def form(self, settings: PlayerSettings) -> str:
        """Return the API that it asks a player's model by: the provider's own, where it speaks that."""
        native = _NATIVE.get(settings.provider, "chat")
        return native if native in self.forms else next(iter(self.forms))


OTHER = Recipe({"chat": "", "messages": "", "gemini": "", "responses": ""})
"""An agent that is not known: all that it needs is stated."""


def recipe_of(words: Sequence[str]) -> Recipe | None:
    """Return the recipe of a program, or of the package that it runs: by its name, or any part of the path of
    its script."""
    known = _known()
    for word in [word for word in words if not word.startswith("-")]:
        parts = re.split(r"[/\\]", word)
        for part in reversed(parts if word.endswith(("js", "ts")) else parts[-1:]):
            if recipe := known.get(_DECORATION.sub("", _DECORATION.sub("", part.lower()))):
                return recipe
    return None


def filled(stated: Mapping[str, str], places: Mapping[str, str]) -> dict[str, str]:
    """Return variables or files with what belongs in their places."""
    pattern = re.compile("|".join(re.escape(f"{{{place}}}") for place in places))
    return {name: pattern.sub(lambda found: places[found[0][1:-1]], text) for name, text in stated.items()}


@cache
def _known() -> Mapping[str, Recipe]:
    text = files("peerage.players.agents").joinpath("known_agents.toml").read_text("utf-8")
    recipes = msgspec.convert(tomllib.loads(text), dict[str, Recipe])
    return {name: recipe for own, recipe in recipes.items() for name in (own, *recipe.aliases)}
