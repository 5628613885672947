"""Every setting of every game has an effect: with another value a match asks, runs or decides something else.

A setting is a leaf of a game's `rules`, such as `limits.max_chars`. One that is not listed in `OTHER`
fails its test: a new setting comes with the value that shows what it does.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations, count, islice
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel
from tests.offline import call, check, fixture, house, play

from peerage.game.protocol import USED
from peerage.games import GAMES
from peerage.sandbox.folder import WorkFolder
from peerage.settings import Faults, PlayerSettings

PLAYERS = [f"p{at}" for at in range(12)]
FAULTY = Faults(position_bias=0.3, malformed=0.1, refusing=0.05, self_preference=0.4, failing=0.03)
HOUSE = {
    name: PlayerSettings(
        model=f"house:{0.2 + 0.06 * at:.2f}", name=name, faults=FAULTY if at > 2 else Faults()
    )
    for at, name in enumerate(PLAYERS)
}
RAW = {name: 1200.0 + 80 * at for at, name in enumerate(PLAYERS)}

Rules = dict[str, Any]
VOTES: Rules = {"committee": 4, "seats": 2}
SMALL: Rules = {"preset": "development", "seats": 3, "questions": 2}
CLOSE: Rules = {"weights": "equal", "binary": False}

WITH_VARIABLE = {"template": "Describe {{name}}.", "tasks": [{"name": "the Rhine", "prompt": ""}]}
"""A task that is a variable alone."""

UNTESTED_WORK = {
    "id": "greet",
    "statement": "Greet by name.",
    "folder": msgspec.to_builtins(WorkFolder.of({"greet.py": "print('hello')\n"})),
}
"""A task of a workshop that judges decide alone."""
OWN_WORK = UNTESTED_WORK | {
    "tests": msgspec.to_builtins(WorkFolder.of({"test.sh": "python3 greet.py Ann | grep Ann\n"})),
    "command": "sh test.sh",
}

JUDGING = {
    "rubric": "The shorter one.",
    "criteria": ["correct", {"name": "tone", "weight": 0.5}],
    "prompt": "{{prompt}} {{answer_a}} {{answer_b}} {{format}}",
    "ties": False,
    "order": "one",
    "early_stop": False,
}
"""Another value for each setting of a panel of judges."""

OTHER: dict[str, dict[str, tuple[Rules, Any]]] = {
    "duel": {
        "preset": ({}, "uner"),
        "challenge": ({"author": "top"}, "case"),
        "topics": ({}, ["one topic alone"]),
        "author": ({}, "top"),
        "players_per_challenge": ({}, 4),
        "max_drafts": ({"approval": 1}, 1),
        "committee": ({}, 4),
        "approval": ({}, 0.2),
        "judges": ({}, 4),
        "exclude_family": ({}, True),
        "order": ({}, "one"),
        "early_stop": ({}, False),
        "binary": ({}, True),
        "epsilon": (CLOSE, 0.4),
        "weights": ({}, "proportional"),
        "weight_temperature": ({"weights": "softmax"}, 50),
        "max_tokens": ({}, 777),
        **{f"judging.{key}": ({}, value) for key, value in JUDGING.items()},
    },
    "color-obfuscation": {
        "preset": ({}, "original"),
        "shares": ({}, [0.5, 1]),
        "ally_failure": ({}, "ignore"),
        "ally": ({}, "other"),
        "color": ({}, "same"),
        "order": ({}, "recoveries"),
        "same_family": ({}, False),
        "limits.max_tokens": ({}, 777),
        "limits.max_chars": ({}, 10),
        "limits.max_instructions": ({}, 3),
        "limits.instruction_chars": ({}, 20),
    },
    "compression": {
        "seats": ({}, 5),
        "difficulty": ({}, 10),
        "max_tokens": ({}, 777),
    },
    "text-metrics": {
        "seats": ({}, 2),
        "difficulty": ({}, 10),
        "metric": ({}, "f1"),
        "max_tokens": ({}, 777),
    },
    "code-golf": {
        "seats": ({}, 2),
        "tasks": ({}, 2),
        "difficulty": ({}, 10),
        "max_tokens": ({}, 777),
    },
    "allocation": {
        "seats": ({}, 2),
        "tasks": ({}, 2),
        "difficulty": ({}, 10),
        "max_tokens": ({}, 777),
    },
    "market": {
        "market": ({}, "second-price"),
        "seats": ({}, 2),
        "rounds": ({}, 2),
        "rotate": ({}, False),
        "max_tokens": ({}, 777),
    },
    "bug-hunt": {
        "seats": ({}, 2),
        "tasks": ({}, 2),
        "difficulty": ({}, 10),
        "max_tokens": ({}, 777),
    },
    "challenge-exchange": {
        "preset": ({}, "original"),
        "seats": ({}, 2),
        "write": ({}, 2),
        "proof": ({}, "solution"),
        "attempts": ({"proof": "blind"}, 1),
        "committee": ({}, 3),
        "approval": (VOTES, 0),
        "pool": ({"seats": 2, "assigned": 6}, 0),
        "assigned": ({}, 1),
        "own": ({}, False),
        "tools": ({"seats": 2}, "python"),
        "scoring": ({}, "difficulty"),
        "correct": ({}, 2),
        "incorrect": ({}, -2),
        "passed": ({}, -0.5),
        "own_failed": ({}, -2),
        "max_tokens": ({}, 777),
    },
    "logic": {
        "seats": ({}, 2),
        "puzzles": ({}, 3),
        "difficulty": ({}, 10),
        "families": ({}, ["zebra"]),
        "max_tokens": ({}, 777),
    },
    "werewolf": {
        "seats": ({}, 5),
        "wolves": ({}, 1),
        "days": ({}, 1),
        "talk": ({}, 1),
        "max_tokens": ({}, 777),
    },
    "transform": {
        "seats": ({}, 2),
        "tasks": ({}, 1),
        "difficulty": ({}, 10),
        "max_tokens": ({}, 777),
    },
    "vision": {
        "seats": ({}, 2),
        "tasks": ({}, 1),
        "difficulty": ({}, 10),
        "families": ({}, ["maze"]),
        "max_tokens": ({}, 777),
    },
    "last-arena": {
        "preset": (SMALL, "original"),
        "seats": (SMALL, 4),
        "questions": (SMALL, 3),
        "meta": (SMALL, 1),
        "tricks": (SMALL, 1),
        "categories": (SMALL, ["bread"]),
        "per_call": (SMALL, 2),
        "explain": (SMALL, True),
        "quality": (SMALL, "weight"),
        "drop": (SMALL, 0.5),
        "answer_budgets": (SMALL, [50, 100]),
        "diversity_bonus": (SMALL, 3),
        "max_tokens": (SMALL, 777),
    },
    "fact-check": {
        "seats": ({}, 2),
        "statements": ({}, 3),
        "domains": ({}, ["words"]),
        "difficulty": ({}, 10),
        "confidence": ({}, True),
        "max_tokens": ({}, 777),
    },
    "tasks": {
        "temperature": ({}, 0.3),
        "tasks": ({}, ["Name a river."]),
        "template": (WITH_VARIABLE, "{{name}}?"),
        "templates": (WITH_VARIABLE, {"p3": "{{name}}!"}),
        "answer_schema": ({}, {"type": "object"}),
        "programs": (
            {
                "tasks": [{"prompt": "A river?", "check": "python: c.py:f"}],
                "programs": {"c.py": "def f(answer): return 1"},
            },
            {"c.py": "def f(answer): return len(answer) % 2"},
        ),
        "check": ({"tasks": [{"prompt": "A river?", "expected": "Rhine"}]}, "contains"),
        "then": ({"tasks": [{"prompt": "A river?", "expected": "Rhine"}]}, "judges"),
        **{f"judging.{key}": ({"tasks": ["Name a river."]}, value) for key, value in JUDGING.items()},
        "judging.checks": ({"tasks": [{"prompt": "A river?", "expected": "Rhine"}]}, "measure"),
        "judging.controls": ({"tasks": [{"prompt": "A river?", "expected": "Rhine"}]}, 3),
        "samples": ({}, "fresh"),
        "max_tokens": ({}, 777),
    },
    "trivia": {
        "seats": ({}, 2),
        "questions": ({}, 3),
        "domains": ({}, ["words"]),
        "difficulty": ({}, 10),
        "answers": ({}, "choice"),
        "quiz": ({}, [{"question": "Which river flows through Vienna?", "answer": "the Danube"}]),
        "max_tokens": ({}, 777),
    },
    "workshop": {
        "seats": ({}, 3),
        "tasks": ({}, [OWN_WORK]),
        "turns": ({}, 3),
        "difficulty": ({}, 10),
        "command_seconds": ({}, 60),
        "judge": ({}, False),
        **{f"judging.{key}": ({"tasks": [UNTESTED_WORK]}, value) for key, value in JUDGING.items()},
        "max_tokens": ({}, 777),
    },
}
"""For each setting the rules in which it shows, and its other value."""

ANYWHERE: dict[str, Any] = {
    "cost_unit.dollars": 2,
    **dict.fromkeys((f"cost_unit.{part}" for part in ("seconds", "requests", *USED)), 1),
}


def leaves(rules: type[BaseModel], before: str = "") -> Iterator[str]:
    """The path of every setting."""
    for name, field in rules.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind, f"{before}{name}.")
        else:
            yield before + name


CASES = [(game, path) for game in OTHER for path in leaves(GAMES[game].rules) if path != "texts"]
"""All settings but the texts of prompts, of which `test_texts.py` tells."""
SAMPLED = [case for case in CASES if case[1].rpartition(".")[2] == "temperature"]


def laid(rules: Rules, path: str, value: Any) -> Rules:
    """`rules` with one setting more."""
    first, _, rest = path.partition(".")
    return {**rules, first: laid(rules.get(first, {}), rest, value) if rest else value}


def _said(game: str, rules: Rules) -> Iterator[bytes]:
    """Yield whom matches under these rules want, then everything that each asks, runs and comes to."""
    spec = GAMES[game]
    parsed = spec.rules.model_validate(rules)
    memory = spec.memory.make(parsed) if spec.memory and spec.remembers(parsed) else None
    yield msgspec.json.encode([spec.officials(parsed), spec.seats(parsed), spec.seating.same_family(parsed)])
    # Where everybody judges, those who do it badly play.
    players = PLAYERS[::-1] if game == "last-arena" else PLAYERS
    for number in range(1, 5 if game == "last-arena" else 13):
        drawn = memory.draw("arena", number, "secret") if memory else None
        made = fixture(spec, players, rules, number=number, seed=f"s{number}", raw=RAW, drawn=drawn)
        played = play(spec, made, house(HOUSE, f"s{number}"))
        check(spec, played)
        if memory is not None:
            memory.learn(number, played.outcome.facts)
        asks = [msgspec.structs.replace(step.ask, oracle=None) for step in played.steps]
        found: list[Any] = [made.drawn, [call(ask, made.seed).messages for ask in asks], played.outcome]
        found.append([[ask.key, repr(ask.expects), ask.max_tokens, ask.temperature] for ask in asks])
        found.append([repr(run) for run, _ in played.runs])
        yield msgspec.json.encode(found)


@cache
def _begun(game: str, rules: str) -> tuple[list[bytes], Iterator[bytes]]:
    return [], _said(game, msgspec.json.decode(rules))


def said(game: str, rules: Rules) -> Iterator[bytes]:
    """Yield the same, played once for all tests, and no further than any of them reads."""
    known, more = _begun(game, msgspec.json.encode(rules).decode())
    for place in count():
        if place == len(known):
            known += islice(more, 1)
        if place == len(known):
            return
        yield known[place]


def differ(game: str, rules: Rules, other: Rules) -> bool:
    """Return whether two matches or, where these are the same, a dozen show a difference between rules."""
    pairs = zip(said(game, rules), said(game, other), strict=True)
    first = [one != two for one, two in islice(pairs, 3)]
    return any(first) or any(one != two for one, two in pairs)


@pytest.mark.parametrize(("game", "path"), [case for case in CASES if case not in SAMPLED])
def test_each_setting_changes_a_match(game: str, path: str) -> None:
    value: Any
    if path in ANYWHERE:
        rules, value = SMALL if game == "last-arena" else {}, ANYWHERE[path]
    else:
        assert path in OTHER[game], "a new setting: state a value here that shows what it does"
        rules, value = OTHER[game][path]
    assert differ(game, laid(rules, path, value), rules)


@pytest.mark.parametrize(("game", "path"), SAMPLED)
def test_each_temperature_is_asked_for_zero_too(game: str, path: str) -> None:
    rules = {"last-arena": SMALL}.get(game, {})
    each = [laid(rules, path, value) for value in (None, 0.0, 0.25)]
    assert all(differ(game, one, other) for one, other in combinations(each, 2))


def test_every_game_is_covered() -> None:
    assert {*OTHER, "rejudge"} >= {*GAMES}
    assert len(CASES) > 150
