"""The owner of an arena may have other texts in place of every one that a game's prompts are made of."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.conformance.test_rules import HOUSE, PLAYERS, RAW
from tests.golden.transcripts import MATCHES
from tests.offline import check, fixture, house, play

from peerage.game.protocol import MATERIAL, Prompt, places
from peerage.game.texts import leaves_of, text_faults, texts
from peerage.games import GAMES
from peerage.testing.conformance import Unfair, its_texts_are_what_it_asks_by
from peerage.testing.replaced_texts import asked_by

WITH_TEXTS = [name for name, spec in GAMES.items() if spec.texts]
RULES: dict[str, list[Mapping[str, Any]]] = {game: [] for game in WITH_TEXTS}
for _game, _rules, _ in MATCHES.values():
    if _game in RULES:
        RULES[_game].append(_rules)
RULES["color-obfuscation"].append({"ally_failure": "ignore"})


def test_every_game_whose_prompts_are_its_own_has_texts() -> None:
    assert {*GAMES} - {*WITH_TEXTS} == {"tasks"}, "whose texts are the owner's anyway"


@pytest.mark.parametrize("game", WITH_TEXTS)
def test_every_text_is_asked_by_and_can_be_replaced(game: str) -> None:
    spec, used = GAMES[game], set[str]()
    for rules in RULES[game]:
        for number in range(1, 5):
            made = fixture(spec, PLAYERS, rules, number=number, seed=f"s{number}", raw=RAW)
            if spec.needs.commands(spec.rules.model_validate(rules)) and number % 2:
                made = msgspec.structs.replace(made, hands=("A", "B"))
            used |= asked_by(spec, made, house(HOUSE, f"s{number}"))
    assert {*leaves_of(spec.texts)} - used == set()


def test_a_game_that_asks_by_other_texts_than_it_declares_is_found() -> None:
    spec = GAMES["bug-hunt"]
    other = replace(spec, texts={"hunting": texts(spec.texts)["hunt"]})
    with pytest.raises(Unfair, match=r"hunting\.system, hunting\.user of its texts stay as they are"):
        its_texts_are_what_it_asks_by(other, {})
    its_texts_are_what_it_asks_by(spec, {})


@pytest.mark.parametrize("game", WITH_TEXTS)
def test_a_prompt_can_do_without_what_stands_before_it(game: str) -> None:
    """A system text that says nothing which players must know may be empty: then no such message is sent."""
    spec = GAMES[game]
    empty = [name for name in leaves_of(spec.texts) if name.endswith(".system")]
    bare = {name: "" for name in empty if not list(text_faults(spec.texts, {name: ""}))}
    for rules in RULES[game]:
        made = fixture(spec, PLAYERS, {**rules, "texts": bare}, raw=RAW)
        played = play(spec, made, house(HOUSE))
        check(spec, played)
        assert all(message.template for step in played.steps for message in step.ask.messages)


@pytest.mark.parametrize("game", WITH_TEXTS)
def test_a_text_that_leaves_out_a_place_is_refused(game: str) -> None:
    source = GAMES[game].texts
    for name, text in leaves_of(source).items():
        entry = _at(texts(source), name.removesuffix(".user"))
        whole = entry.user if isinstance(entry, Prompt) else entry
        needed = [*places(whole), *["MATERIAL"] * (MATERIAL in whole)]
        faults = list(text_faults(source, {name: "Go on."}))
        assert bool(faults) == bool(needed), name
        assert all(f"{{{place}}}" in faults[0] for place in needed), name
        assert list(text_faults(source, {name: f"Go on. {text}"})) == []


def _at(table: Any, name: str) -> Any:
    for key in name.split("."):
        table = getattr(table, key) if isinstance(table, Prompt) else table[key]
    return table
