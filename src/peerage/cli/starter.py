"""The first `arena.yaml` of a new arena: commented, and filled with players whose keys are at hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml

_SEVERAL = 3  # models taken of each provider when there are several
_UNPRICED = ("huggingface", "ollama")  # a budget refuses a player whose price nobody knows

_HEAD = """\
# An arena of Peerage. Every key is optional but `players`; docs/settings.md lists them all.
# `peerage doctor` checks this file, `peerage estimate` says what it may cost, `peerage run` plays.

name: {name}
{seed}game: duel

# One line adds a player: `provider:model`, or a mapping with more settings. Keys are read from the
# environment or from a file `.env` beside this one, never from here.
players:
{players}
rules:                     # the duel's own settings
  preset: general          # or `clinical`
  # topics: [cooking, contract law]     # default: the preset's own list
  # prompts: my.jsonl      # your own tasks, one {{"prompt": "…", "category": "…"}} a line; nobody drafts then
  committee: 5             # peers who approve a drafted challenge
  judges: 5                # peers who judge the answers, each in both orders

budget: {budget}
engine:
  concurrency: 8           # matches under way at once
  calls: 64                # calls in flight at once

# rating:
#   cost_mode: linear      # or `balanced`, `exponential`
#   propagation_width: 50  # null switches propagation off
"""

_HOUSE = """\
  # House players need no key and cost nothing; they are here to try things out.
  - house:0.9
  - house:0.75
  - house:0.6
  - house:0.5
  - house:0.4
  - house:0.3
  - house:0.15
  - {model: "house:0.5", name: biased, faults: {position_bias: 0.5}}
"""


def starters() -> Mapping[str, Sequence[str]]:
    """Models to propose, by provider."""
    found: Mapping[str, Sequence[str]] = yaml.safe_load(
        files("peerage.cli").joinpath("starters.yaml").read_text("utf-8")
    )
    return found


def arena_text(name: str, seed: int | None, keys: Mapping[str, str]) -> str:
    """The text of `arena.yaml`; `keys` maps each provider whose key was found to where it was found."""
    paid = [provider for provider in starters() if provider in keys and provider not in _UNPRICED]
    lines: list[str] = []
    for provider in paid:
        models = starters()[provider]
        lines.append(f"  # {provider}: key found in {keys[provider]}")
        lines += [f"  - {provider}:{model}" for model in _share(models, len(paid))]
    text = "\n".join(lines) + "\n" if lines else _HOUSE
    text += "".join(
        f"  # - {provider}:{models[0]}\n" for provider, models in starters().items() if provider not in paid
    )
    text += (
        "  # - {model: openai:my-model, base_url: http://localhost:8000/v1, name: mine}   # vLLM, llama.cpp\n"
        "  # - {command: [./my-agent, --fast], name: agent}   # a program: JSON in, JSON out\n"
    )
    budget = (
        "5.00             # dollars at most, over all runs"
        if paid
        else "null             # dollars at most, over all runs; null: no limit"
    )
    stated = "" if seed is None else f"seed: {seed}                 # for house players\n"
    return _HEAD.format(name=name, seed=stated, players=text, budget=budget)


def _share(models: Sequence[str], providers: int) -> Sequence[str]:
    return models if providers == 1 else models[:_SEVERAL]


def demo_text(seed: int, game: str = "duel", rules: Mapping[str, Any] = {}) -> str:
    """The `arena.yaml` of a demo: house players whose true order is written on them. `game` is the name of a
    game or of a file that holds one."""
    skills = ("0.95", "0.85", "0.75", "0.65", "0.55", "0.45", "0.35", "0.2")
    stated = f"rules: {json.dumps(rules)}\n" if rules else ""
    players = "\n".join(f"  - house:{skill}" for skill in skills)
    return (
        "# The demo: house players, whose names tell their true skill. `peerage demo` made it.\n"
        f"name: demo\nseed: {seed}\ngame: {game}\n{stated}players:\n{players}\n"
    )
