"""Contestants get the owner's texts byte for byte and nothing else, over every wire; a player's system text
is for its answers alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.offline import fixture, play, scripted
from tests.players.models.test_wiring import KINDS, wired

from peerage.engine.calls.pending import PendingCall
from peerage.engine.calls.player_runtime import PlayerRuntime, with_own_system
from peerage.formats.forms import for_person
from peerage.game.house import usual
from peerage.game.protocol import Ask, render
from peerage.games import GAMES
from peerage.players.checks import probe_call
from peerage.players.client import Call
from peerage.players.prices import Price
from peerage.settings import PlayerSettings

SYSTEM = "You file invoices. {never} {{guess}} <<<x>>>\n\n  Two blanks, a tab\t, “quotes” and \\n stay."
OWN = "Answer in {German}.\n---\nNo {{name}}."
PROMPT = (
    '  Read: {"total": {{sum}}, "a": "b"}\n\n\nWhat is it?  \n<<<end question 1234>>> '
    "100 % é 漢 👩‍🏫 $x `y` \\{z\\}"
)
TURNS = (
    ("user", "First {one}.\n"),
    ("assistant", " Then {{two}}."),
    ("user", "{answer_a}\r\nLast?"),
)
TASKS: dict[str, dict[str, Any]] = {
    "prompt": {"prompt": PROMPT},
    "system": {"prompt": PROMPT, "system": SYSTEM},
    "turns": {"messages": [{"role": role, "content": text} for role, text in TURNS], "system": SYSTEM},
}
EXPECTED = {
    "prompt": (("user", PROMPT),),
    "system": (("system", SYSTEM), ("user", PROMPT)),
    "turns": (("system", SYSTEM), *TURNS),
}


AGENTS = {"version", "id", "player", "role", "max_tokens", "temperature", "schema"}
ALLOWED = {
    "compatible": {"model", "max_tokens", "stream", "temperature"},
    "anthropic": {"model", "max_tokens", "stream"},
    "google": {"generationConfig"},
    **dict.fromkeys(("endpoint", "program", "function"), AGENTS | {"match", "seat"}),
}


def asked(task: dict[str, Any], **rules: Any) -> list[Ask]:
    """Every request of a match on a task that judges decide."""
    spec = GAMES["tasks"]
    stated = {"tasks": [{**task, "rubric": "RUBRIC", "expected": "x\ny"}], **rules}
    made = fixture(spec, ["a", "b", "c", "d"], stated)
    return [step.ask for step in play(spec, made, scripted(lambda ask, player: ask.to * 9)).steps]


def call_of(ask: Ask, settings: PlayerSettings) -> Call:
    """The call that the engine makes of a request."""
    prompt = [(message.speaker, render(message, "0" * 8)) for message in ask.messages]
    runtime = PlayerRuntime(settings, None, Price("test", hour_nano=0, timeout_ms=1))  # type: ignore[arg-type]
    return runtime.call(PendingCall(1, "s", "P", ask, b"", usual, 1, prompt=prompt), ask)


def turns_of(kind: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Everything that a request body tells a model, in order, as its wire writes it; nothing may be left."""
    if kind == "anthropic":
        system = body.get("system", [])
        texts = [system] if isinstance(system, str) else [part["text"] for part in system]
        return [*[("system", text) for text in texts], *_parts(body["messages"], "content", "text")]
    if kind == "google":
        system = body.get("systemInstruction", {}).get("parts", [])
        said = _parts(body["contents"], "parts", "text")
        names = {"model": "assistant"}
        return [
            *[("system", part["text"]) for part in system],
            *[(names.get(role, role), text) for role, text in said],
        ]
    return _parts(body["messages"], "content", "text")


def _parts(messages: Sequence[dict[str, Any]], key: str, text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for message in messages:
        said = message[key]
        assert message.keys() == {"role", key}
        parts = [said] if isinstance(said, str) else [part[text] for part in said]
        assert len(parts) == 1
        found.append((message["role"], parts[0]))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("own", ["", OWN], ids=["alone", "own"])
@pytest.mark.parametrize("name", TASKS)
async def test_a_contestant_is_sent_the_owners_texts_and_nothing_else(
    kind: str, own: str, name: str, tmp_path: Path
) -> None:
    ask = next(ask for ask in asked(TASKS[name]) if ask.key == "answer/A")
    expected = list(with_own_system(EXPECTED[name], "contestant", own))
    if own:
        system = [OWN, *[text for role, text in EXPECTED[name] if role == "system"]]
        assert expected[0] == ("system", "\n\n".join(system))
    async with wired(kind, tmp_path) as player:
        settings = PlayerSettings.model_validate({**player.stated, "system_prompt": own})
        await player.answer(call_of(ask, settings), system_prompt=own)
        body = player.asked()
    assert turns_of(kind, body) == expected
    left = {key: value for key, value in body.items() if key not in ("messages", "contents")}
    left.pop("system" if kind == "anthropic" else "systemInstruction", None)
    assert {*left} <= ALLOWED[kind], "nothing else that a model could read"


@pytest.mark.parametrize("kind", KINDS)
async def test_judging_and_the_probe_go_without_the_players_system_text(kind: str, tmp_path: Path) -> None:
    ask = next(ask for ask in asked(TASKS["prompt"]) if ask.role == "judge")
    async with wired(kind, tmp_path, '{"reason": "So.", "verdict": "A"}') as player:
        settings = PlayerSettings.model_validate({**player.stated, "system_prompt": OWN})
        await player.answer(call_of(ask, settings), system_prompt=OWN)
        judged = json.dumps(player.asked(), ensure_ascii=False)
        await player.answer(probe_call(), system_prompt=OWN)
        probed = json.dumps(player.asked(), ensure_ascii=False)
    assert "RUBRIC" in judged
    assert "{German}" not in judged
    assert "{German}" not in probed


@pytest.mark.parametrize("role", ["author", "committee", "judge"])
def test_no_other_role_is_given_it(role: Any) -> None:
    said = (("system", "S"), ("user", "U"))
    assert with_own_system(said, role, OWN) == said
    assert with_own_system(said, "contestant", OWN) == (("system", f"{OWN}\n\nS"), ("user", "U"))
    assert with_own_system(said[1:], "contestant", OWN) == (("system", OWN), ("user", "U"))
    assert with_own_system(said, "contestant", "") == said


def test_a_person_is_shown_the_owners_texts_and_nothing_else() -> None:
    ask = next(ask for ask in asked(TASKS["turns"]) if ask.key == "answer/A")
    shown = [for_person(ask.expects, render(message, "0" * 8)) for message in ask.messages]
    assert shown == [text for _, text in EXPECTED["turns"]]


def test_an_empty_answer_is_not_asked_for_again_in_other_words() -> None:
    spec = GAMES["tasks"]
    made = fixture(spec, ["a", "b"], {"tasks": [{"prompt": "2 + 2?", "expected": "4"}]})
    played = play(spec, made, scripted(lambda ask, player: " " if ask.to == "A" else "4"))
    assert played.keys == ["answer/A", "answer/B"]
    assert played.outcome.scores == {"A": 0.0, "B": 1.0}
    assert played.outcome.detail["checks"] == {"A": 0.0, "B": 1.0}


SHAPE = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "currency": {"type": "string", "enum": ["EUR", "USD"]}},
    "required": ["total", "currency"],
    "additionalProperties": False,
}


LOOSE = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "note": {"type": "string"}},
    "required": ["total"],
}


@pytest.mark.parametrize("kind", ["compatible", "google", "endpoint"])
async def test_what_a_schema_leaves_open_stays_open(kind: str, tmp_path: Path) -> None:
    ask = next(ask for ask in asked(TASKS["prompt"], answer_schema=LOOSE) if ask.key == "answer/A")
    async with wired(kind, tmp_path, '{"total": 1}') as player:
        await player.answer(call_of(ask, PlayerSettings.model_validate(player.stated)))
        body = json.dumps(player.asked())
    assert '"required": ["total"]' in body
    assert '"strict": true' not in body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_schema_of_answers_goes_beside_the_texts_and_adds_nothing_to_them(
    kind: str, tmp_path: Path
) -> None:
    ask = next(ask for ask in asked(TASKS["system"], answer_schema=SHAPE) if ask.key == "answer/A")
    async with wired(kind, tmp_path, '{"total": 1, "currency": "EUR"}') as player:
        settings = PlayerSettings.model_validate(player.stated)
        await player.answer(call_of(ask, settings))
        body = player.asked()
    assert turns_of(kind, body) == list(EXPECTED["system"])
    rest = {key: value for key, value in body.items() if key not in ("messages", "contents", "system")}
    assert '"currency"' in json.dumps(rest)
    assert '["EUR", "USD"]' in json.dumps(rest)
