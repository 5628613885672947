"""Every game goes through the checks that are shipped, each in the ways its settings change it."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance.test_rules import OWN_WORK, UNTESTED_WORK
from tests.offline import check, choose, fixture, play, points, scripted

from peerage.formats import Choice, Json, Questions, Score, Scores
from peerage.game.protocol import Ask, Encoding, Reply, Text
from peerage.game.spec import GameSpec
from peerage.games import GAMES
from peerage.games.challenge_exchange.creation import Proposed
from peerage.testing import CHECKS
from peerage.testing.conformance import HOSTILE, PLAYERS, memory_wins_nothing, skill_share, skill_wins

QUIZ = [
    {
        "question": f"What is {at} in Roman numerals?",
        "answer": f"X{'I' * at}",
        "wrong": [f"V{'I' * at}"] * (at % 2),
    }
    for at in range(9)
]

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "duel": [
        {},
        {"preset": "clinical"},
        {"preset": "uner"},
        {"author": "top", "max_drafts": 2},
        {"author": "top", "order": "one", "binary": True, "exclude_family": True},
    ],
    "color-obfuscation": [
        {},
        {"shares": [1], "color": "same"},
        {"ally_failure": "void", "order": "recoveries"},
        {"ally": "other"},
    ],
    "allocation": [{"tasks": 3}, {"seats": 2, "tasks": 1, "difficulty": 5}],
    "market": [
        {"market": "first-price", "rotate": False, "rounds": 12},
        {"market": "second-price"},
        {"market": "negotiation", "rotate": "fresh"},
        {"market": "negotiation"},
        {"market": "prisoners-dilemma"},
        {"market": "voting"},
    ],
    "bug-hunt": [{"seats": 2, "tasks": 2}, {"seats": 4, "tasks": 1, "difficulty": 5}],
    "challenge-exchange": [
        {"seats": 3, "proof": "blind", "committee": 2, "write": 2},
        {"seats": 2},
        {"scoring": "difficulty", "write": 2},
        {"seats": 2, "tools": "python"},
    ],
    "last-arena": [
        {"preset": "development", "seats": 3, "questions": 2},
        {"preset": "original", "seats": 3, "questions": 1, "quality": "none"},
        {
            "preset": "development",
            "seats": 3,
            "questions": 1,
            "explain": True,
            "quality": "weight",
            "answer_budgets": [50, 100],
        },
    ],
    "logic": [{}, {"seats": 2, "puzzles": 2, "families": ["knights", "urn"], "difficulty": 1}],
    "compression": [{}, {"seats": 5, "difficulty": 3}],
    "werewolf": [{"seats": 5, "talk": 1, "days": 2}, {"seats": 9}],
    "tasks": [
        {},
        {"tasks": ["Name a river.", {"prompt": "Add {2} and 2.", "category": "sums"}]},
        {
            "tasks": [{"prompt": "Add 2 and 2.", "expected": "4", "check": "number", "rubric": "Brief."}],
            "then": "judges",
            "judging": {"order": "one", "ties": False, "controls": 5, "rubric": "Brief {so}."},
        },
        {
            "tasks": [{"prompt": "Say 4 in JSON.", "expected": {"a": 4}, "check": "json"}, "Any JSON?"],
            "answer_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        },
        {
            "tasks": [{"prompt": "Add 2 and 2.", "expected": "4", "check": "python: c.py:same"}],
            "programs": {"c.py": "def same(answer, expected):\n    return answer == expected, 'compared'\n"},
        },
    ],
    "workshop": [
        {"difficulty": 3},
        {"seats": 3, "judge": False},
        {"tasks": [OWN_WORK, UNTESTED_WORK], "turns": 3, "judging": {"order": "one", "ties": False}},
    ],
    "text-metrics": [{"seats": 4}, {"seats": 2, "metric": "f1"}],
    "transform": [{}, {"seats": 2, "tasks": 1, "difficulty": 1}],
    "vision": [{"tasks": 2}, {"seats": 2, "tasks": 1, "families": ["clock"], "difficulty": 1}],
    "code-golf": [{"seats": 2}],
    "fact-check": [
        {},
        {"seats": 3, "statements": 5, "confidence": True},
        {"seats": 2, "statements": 8, "domains": ["calendar"]},
    ],
    "trivia": [
        {},
        {"seats": 2, "questions": 3, "answers": "short", "domains": ["words", "calendar"]},
        {"seats": 3, "questions": 4, "quiz": QUIZ},
    ],
}
"""Settings that change the way of a game, by name; a game not listed is tried as it comes. Tasks that take
long to draw are fewer than usual."""

CASES = [
    pytest.param(spec, rules, id=f"{name}-{at}")
    for name, spec in GAMES.items()
    for at, rules in enumerate(VARIANTS.get(name, [{}]))
]
every_game = pytest.mark.parametrize(("spec", "rules"), CASES)


CHECKED = [
    pytest.param(
        check,
        *case.values,
        id=f"{check.__name__}-{case.id}",
        # 120 matches each: the first way of every game is always tried, the others by `make test-all`.
        marks=[pytest.mark.slow] * (check is memory_wins_nothing and not str(case.id).endswith("-0")),
    )
    for check in CHECKS
    if check is not skill_wins  # the same matches, of which more is asked below
    for case in CASES
]


@pytest.mark.parametrize(("one", "spec", "rules"), CHECKED)
def test_holds_what_every_game_must_hold(spec: GameSpec[Any], rules: dict[str, Any], one: Any) -> None:
    if one is memory_wins_nothing and spec.name == "tasks":
        pytest.skip("tasks of one's own come again, so a memory helps: its page says so")
    if one is memory_wins_nothing and spec.name == "workshop" and "tasks" in rules:
        pytest.skip("tasks of the owner come again: its page says so")
    if one is memory_wins_nothing and "quiz" in rules:
        pytest.skip("a quiz of one's own comes again when all of it has been asked: its page says so")
    if one is memory_wins_nothing and getattr(spec.rules.model_validate(rules), "color", "") == "same":
        pytest.skip("the color of the other round is known: its page says so")
    one(spec, rules)


@every_game
def test_a_master_beats_a_fool_from_either_side(spec: GameSpec[Any], rules: dict[str, Any]) -> None:
    if spec.name == "werewolf":  # sides are dealt: a fool whose side wins is above a master whose side loses
        skill_wins(spec, rules)
    else:
        assert skill_share(spec, rules) >= 0.95


REPLIES = st.one_of(
    st.sampled_from(["A", "B", "tie", "approve", "object", "verdict: A", "vote: object", "yes"]),
    st.sampled_from(sorted(HOSTILE.values())),
    st.text(max_size=60),
    st.just(None),
)


@every_game
@settings(max_examples=15 if settings().derandomize else 100)
@given(replies=st.lists(REPLIES, min_size=1, max_size=30), seed=st.integers(0, 9))
def test_bounds_and_laws_hold_for_any_replies(
    spec: GameSpec[Any], rules: dict[str, Any], replies: list[str | None], seed: int
) -> None:
    """Replies drawn at random, texts of the greatest length and cut ones among them."""
    made = fixture(spec, PLAYERS, rules, seed=str(seed))
    rng = Random(seed)

    def drawn(ask: Ask, player: str) -> str | Reply:
        reply = rng.choice(replies)
        if reply is None:
            return Reply(rng.choice(["void", "refused"]))  # type: ignore[arg-type]
        if isinstance(ask.expects, Text) and rng.random() < 0.5:
            return "\U0001f600" * (ask.expects.max_chars + 5)
        if isinstance(ask.expects, Encoding) and rng.random() < 0.7:
            kind = ask.expects
            steps = ["\U0001f600" * kind.instruction_chars] * kind.max_instructions
            return json.dumps({"obfuscated": "\U0001f600" * kind.max_chars, "instructions": steps})
        if isinstance(ask.expects, Json) and ask.expects.form is Proposed and rng.random() < 0.7:
            most = ask.expects.schema()["properties"]["description"]["maxLength"]
            return ask.expects.write(Proposed("\U0001f600" * most, 7))
        if isinstance(ask.expects, Questions) and rng.random() < 0.7:
            long = [
                chr(0x1D400 + rng.randrange(50)) * ask.expects.max_chars for _ in range(ask.expects.count)
            ]
            return json.dumps({"questions": long})
        if isinstance(ask.expects, Score | Scores) and rng.random() < 0.5:
            return points(ask, rng.randrange(11))
        if ask.role == "committee" and isinstance(ask.expects, Choice) and rng.random() < 0.5:
            return choose(ask, "object", "\U0001f600" * 999)
        return reply

    def cut_at_times(ask: Ask, player: str) -> str | Reply:
        reply = drawn(ask, player)
        if isinstance(reply, Reply) or rng.random() < 0.7:
            return reply
        return Reply("ok", reply, cost_nano=1_000_000, latency_ms=500, cut=ask.max_tokens)

    check(spec, play(spec, made, scripted(cut_at_times)))


def test_games_are_listed_by_their_names() -> None:
    assert all(name == spec.name for name, spec in GAMES.items())
