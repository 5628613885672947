"""Prompts tell every rule that scores: a setting that changes what play is worth changes a prompt.

For each setting of each game a few matches are played with two values of it (`test_rules.OTHER`), and what
the arena itself says is compared, request by request: players' own texts are left out, so that a setting that
only changes what they happen to write does not pass. A setting without such a change is listed in `SILENT`
with the reason why no player could act on it.
"""

import re
from collections import defaultdict
from functools import cache

import msgspec
import pytest
from tests.conformance.test_rules import (
    CASES,
    HOUSE,
    OTHER,
    PLAYERS,
    RAW,
    Rules,
    laid,
)
from tests.offline import fixture, house, play

from peerage.game.protocol import Ask, Message, Quote, render
from peerage.games import GAMES

WHO = "who meets, writes, answers or judges, and how often; not what a reply is worth"
LIMIT = "a bound against runaway programs and replies, which usual ones do not meet"
PROVIDER = "a bound or a setting of the request itself, which the provider is given"
COST = "what a reply costs is no reward of the game: the cost rating alone counts it, alike for all"

EVERYWHERE = {
    "cost_unit.": COST,
    "temperature": PROVIDER,
    "max_tokens": PROVIDER,
}
"""Parts of settings' names, for all games."""

SILENT: dict[str, dict[str, str]] = {
    "duel": {
        **dict.fromkeys(("author", "committee"), WHO),
        **dict.fromkeys(
            ("judges", "players_per_challenge", "exclude_family", "early_stop", "judging.early_stop"), WHO
        ),
    },
    "color-obfuscation": {"same_family": WHO},
    "code-golf": {"seats": WHO},
    "allocation": {"seats": WHO},
    "bug-hunt": {"seats": WHO},
    "tasks": {
        **dict.fromkeys(("then", "judging.controls", "judging.checks", "judging.early_stop"), WHO),
        **dict.fromkeys(("check", "judging.order"), "contestants get the owner's texts and nothing else"),
        "templates": "only those who have one are asked otherwise",
        "samples": "an answer is asked for in the same words, however often it is compared",
        **dict.fromkeys(("answer_schema", "programs"), "contestants get the owner's texts and nothing else"),
    },
    "text-metrics": {"seats": WHO},
    "challenge-exchange": {
        **dict.fromkeys(("seats", "write", "pool", "assigned"), WHO),
        "preset": "its keys are tested one by one",
    },
    "logic": {"seats": WHO},
    "trivia": {"seats": WHO},
    "transform": {"seats": WHO},
    "vision": {"seats": WHO},
    "fact-check": {"seats": WHO},
    "workshop": dict.fromkeys(("judging.order", "judging.early_stop"), WHO),
}
"""Game → setting → why it changes no prompt."""

ALIKE: dict[str, Rules] = {"duel": {"topics": ["tides"]}}
"""Rules under which all matches of a game tell of one topic: who is asked again is asked in other matches."""


def spoken(ask: Ask) -> str:
    """What the arena says in a request, with the texts of players left out, and which format it expects."""

    def blank(message: Message) -> Message:
        fill = {
            place: Quote(value.label, "…") if isinstance(value, Quote) else value
            for place, value in message.fill.items()
        }
        return Message(message.speaker, message.template, fill)

    return "\n".join(render(blank(message), "0" * 8) for message in ask.messages)


@cache
def _told(game: str, rules: str) -> dict[str, frozenset[str]]:
    """By what is asked (role and key without labels and numbers) everything that the arena says there."""
    spec, stated = GAMES[game], msgspec.json.decode(rules)
    parsed = spec.rules.model_validate(stated)
    memory = spec.memory.make(parsed) if spec.memory and spec.remembers(parsed) else None
    found: dict[str, set[str]] = defaultdict(set)
    for number in range(1, 3 if game == "last-arena" else 7):
        drawn = memory.draw("arena", number, "secret") if memory else None
        made = fixture(spec, PLAYERS, stated, number=number, seed=f"s{number}", raw=RAW, drawn=drawn)
        played = play(spec, made, house(HOUSE, f"s{number}"))
        if memory is not None:
            memory.learn(number, played.outcome.facts)
        for step in played.steps:
            found[f"{step.ask.role} {re.sub(r'[A-H0-9]+', '#', step.ask.key)}"].add(spoken(step.ask))
    return {key: frozenset(said) for key, said in found.items()}


def told(game: str, rules: Rules) -> dict[str, frozenset[str]]:
    return _told(game, msgspec.json.encode(rules).decode())


def changes_a_prompt(game: str, path: str) -> bool:
    rules, value = OTHER[game][path]
    rules = {**ALIKE.get(game, {}), **rules}
    before, after = told(game, rules), told(game, laid(rules, path, value))
    # a repair repeats its prompt, and few of them may come to be about other texts
    both = [key for key in before.keys() & after.keys() if not key.endswith("~repair")]
    return any(not before[key] & after[key] for key in both)


def silent(game: str, path: str) -> str:
    """Why a setting may change no prompt; empty for one that must."""
    return SILENT.get(game, {}).get(path) or next(
        (why for part, why in EVERYWHERE.items() if path.split(".")[-1] == part or path.startswith(part)), ""
    )


@pytest.mark.parametrize(("game", "path"), [case for case in CASES if not silent(*case)])
def test_a_setting_that_changes_scoring_changes_a_prompt(game: str, path: str) -> None:
    assert changes_a_prompt(game, path), "say it in a prompt, or state in SILENT why nobody can act on it"


def test_what_is_silent_is_a_setting_and_says_nothing() -> None:
    """A setting that a prompt tells of by now needs no excuse."""
    there = {game for game in SILENT if not GAMES[game].needs.extra(GAMES[game].rules())}
    listed = [(game, path) for game, paths in SILENT.items() if game in there for path in paths]
    assert {*listed} <= {*CASES}
    assert [case for case in listed if changes_a_prompt(*case)] == []
