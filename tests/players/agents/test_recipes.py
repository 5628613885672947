"""Recipes of agents over ACP: whom they are found for, and that they can be read by who they are for."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence

import pytest

from peerage.players.agents import gateway_forms
from peerage.players.agents.recipes import OTHER, Recipe, _known, filled, recipe_of
from peerage.settings import PlayerSettings

PLACES = {"url": "http://127.0.0.1:5/v1", "root": "http://127.0.0.1:5", "key": "k-1", "model": "maker/m-1:x"}
PLACES |= {"home": "/h", "form": "of"}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["opencode", "acp"], "opencode"),
        (["/home/gemini/node_modules/opencode-linux-x64/bin/opencode", "acp"], "opencode"),
        (["npx", "-y", "@zed-industries/codex-acp@0.16.0"], "codex-acp"),
        (["codex-acp.exe"], "codex-acp"),
        (["node", "/x/@google/gemini-cli/bundle/gemini.js", "--acp"], "gemini"),
        (["node", "/x/qwen-code/cli.js", "--acp"], "qwen"),
        (["claude-code-acp"], "claude-agent-acp"),
        (["goose", "acp"], "goose"),
        (["./my-agent", "--opencode"], ""),
        (["/home/goose/my-agent"], ""),
        (["node", "/home/me/codex/agent"], ""),
        (["node", "--x=/opencode"], ""),
    ],
)
def test_a_recipe_is_found_by_the_programs_name_or_the_path_of_its_script(
    words: Sequence[str], name: str
) -> None:
    assert recipe_of(words) == (_known()[name] if name else None)


@pytest.mark.parametrize("recipe", _known().values(), ids=_known().keys())
def test_a_recipe_can_be_read_and_names_the_gateway_and_its_key(recipe: Recipe) -> None:
    whole = filled(recipe.env, PLACES) | filled(recipe.files, PLACES)
    texts = "".join(whole.values())
    assert "http://127.0.0.1:5" in texts
    assert "k-1" in texts
    assert "maker/m-1:x" in texts
    for path, text in filled(recipe.files, PLACES).items():
        assert (tomllib.loads if path.endswith(".toml") else json.loads)(text)
    assert not [text for text in whole.values() for place in PLACES if f"{{{place}}}" in text]
    assert recipe.forms.keys() <= {*gateway_forms.PATHS, "gemini"}


@pytest.mark.parametrize(
    ("name", "model", "form"),
    [
        ("opencode", "openai:a", "chat"),
        ("opencode", "anthropic:a", "messages"),
        ("opencode", "google:a", "gemini"),
        ("opencode", "openrouter:a/b", "chat"),
        ("goose", "google:a", "chat"),
        ("codex-acp", "openai:a", "responses"),
        ("qwen", "anthropic:a", "chat"),
    ],
)
def test_an_agent_asks_by_its_providers_own_api_where_it_can(name: str, model: str, form: str) -> None:
    assert _known()[name].form(PlayerSettings(acp=(name,), model=model)) == form


def test_places_are_filled_once_and_other_braces_stay() -> None:
    assert filled({"a": "{model} {key} {other} {{url}}"}, {"model": "{key}", "key": "k", "url": "u"}) == {
        "a": "{key} k {other} {u}"
    }
    assert OTHER.form(PlayerSettings(acp=("mine",), model="google:a")) == "gemini"
