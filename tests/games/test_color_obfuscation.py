"""The rules of Color Obfuscation, played with scripted replies."""

import json
from collections.abc import Mapping
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import ValidationError
from tests.golden.shown import view
from tests.offline import Played, fixture, house, play, scripted

from peerage.arena import open_arena
from peerage.formats import Encoded
from peerage.game.blocks import Block, Grid, SeatReply, Sentence, State, Swatch
from peerage.game.protocol import Ask, Reply
from peerage.games import GAMES
from peerage.games.color_obfuscation import GAME as COLOR_OBFUSCATION
from peerage.games.color_obfuscation.house import hide
from peerage.games.color_obfuscation.play import draw
from peerage.games.color_obfuscation.rules import ColorObfuscationRules
from peerage.settings import Rating, SettingsError, enough_players, loads

STEPS = ["one", "two", "three", "four", "five"]


def color_of(played: Played, number: int = 1) -> str:
    return str(played.outcome.detail["rounds"][number - 1]["color"])


def encoding(text: str = "a riddle", steps: list[str] = STEPS) -> str:
    return json.dumps({"obfuscated": text, "instructions": steps})


Script = Mapping[str, Any]
"""Request key → reply; `recover` and `attack` stand for all of a kind; "right" is the color."""


def battle(script: Script = MappingProxyType({}), **rules: Any) -> Played:
    """By default every encoding is fine and every ally right, and no attacker ever is."""
    made = fixture(COLOR_OBFUSCATION, ["Ann", "Bob"], rules)
    colors = made.drawn["colors"]

    def answer(ask: Ask, player: str) -> str | Reply:
        number, what = ask.key.split("~")[0].split("/")[:2]
        default = encoding() if what == "obfuscate" else "right" if what == "recover" else "000000"
        said = script.get(ask.key.split("~")[0], script.get(f"{number}/{what}", script.get(what, default)))
        mine = colors[int(number) - 1 if len(colors) > 1 else 0]
        said = said(mine) if callable(said) else said
        return mine if said == "right" else said

    return play(COLOR_OBFUSCATION, made, scripted(answer))


def rounds(played: Played) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = played.outcome.detail["rounds"]
    return found


def test_who_recovers_more_colors_wins() -> None:
    assert battle().outcome.scores == {"A": 0.5, "B": 0.5}
    assert battle({"1/attack": "right"}).outcome.scores == {"A": 0, "B": 1}
    assert battle({"2/attack/6": "right"}).outcome.scores == {"A": 1, "B": 0}
    assert battle({"attack": "right"}).outcome.scores == {"A": 0.5, "B": 0.5}


def test_the_attacker_sees_more_at_each_attempt_and_stops_when_right() -> None:
    played = battle({"1/attack/4": "right"})
    assert [key for key in played.keys if key.startswith("1/attack")] == [
        f"1/attack/{n}" for n in range(1, 5)
    ]
    assert [guess["shown"] for guess in rounds(played)[0]["attempts"]] == [0, 1, 2, 3]
    assert rounds(played)[0]["recovered"] == 4
    for attempt, shown in ((1, 0), (2, 1), (4, 3)):
        text = str(played.step(f"1/attack/{attempt}").ask.messages)
        for place, step in enumerate(STEPS):
            assert (f"{place + 1}. {step}" in text) == (place < shown)
    assert all(
        f"{place}. {step}" in str(played.step("1/recover").ask.messages)
        for place, step in enumerate(STEPS, 1)
    )
    assert "It is not 000000." in str(played.step("1/attack/2").ask.messages)


def test_shares_are_rounded_up_and_configurable() -> None:
    played = battle({"obfuscate": encoding(steps=["all in one"])}, shares=[0, 0.01, 1])
    assert [guess["shown"] for guess in rounds(played)[0]["attempts"]] == [0, 1, 1]
    assert [guess["shown"] for guess in rounds(battle(shares=[1]))[0]["attempts"]] == [5]
    for wrong in ([0.5, 0.2], [], [1.2]):
        with pytest.raises(ValidationError):
            ColorObfuscationRules(shares=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", ["123456", "I give up", Reply("refused", "no"), Reply("ok", "")])
@pytest.mark.parametrize("part", ["1/recover", "1/obfuscate"])
def test_a_broken_encoding(part: str, said: Any) -> None:
    """An ally that is wrong, or gave no color, and an obfuscator that gave nothing to decode."""
    script = {part: said}
    assert battle(script).outcome.scores == {"A": 0, "B": 1}
    assert battle(script, ally_failure="ignore").outcome.scores == {"A": 0.5, "B": 0.5}
    assert battle(script, ally_failure="void").outcome.void == "broken_encoding"
    for policy in ("attacker", "ignore", "void"):
        played = battle(script, ally_failure=policy)
        assert rounds(played)[0]["broken"]
        assert played.outcome.detail["readings"] == {
            "attacker": {"A": 0, "B": 1},
            "ignore": {"A": 0.5, "B": 0.5},
        }


def test_ignored_a_broken_encoding_can_still_be_attacked() -> None:
    script = {"1/recover": "123456", "1/attack/2": "right"}
    assert battle(script, ally_failure="ignore").outcome.scores == {"A": 0, "B": 1}


@pytest.mark.parametrize("key", ["1/obfuscate", "2/recover", "1/attack/3", "2/attack/1"])
def test_a_failed_provider_voids_the_match(key: str) -> None:
    played = battle({key: Reply("void")})
    assert played.outcome.void == "no_answer"
    assert set(played.outcome.costs) == {"A", "B"}
    asked = {  # nothing is left to play for: no round goes on beyond the attempt in which the reply was lost
        "1/obfuscate": 0,
        "2/recover": 1,
        "1/attack/3": 3,
        "2/attack/1": 1,
    }[key]
    attempts = {f"{number}/attack/{n}" for number in (1, 2) for n in range(1, asked + 1)}
    allies = {"1/recover", "2/recover"} if asked else set()
    assert set(played.keys) == {"1/obfuscate", "2/obfuscate", *attempts, *allies}


@pytest.mark.parametrize("said", ["red", "#F00", "FF0000FF", "FF0000 or 00FF00", "", Reply("refused", "no")])
def test_an_unusable_guess_is_an_attempt_that_failed(said: Any) -> None:
    played = battle({"1/attack": said})
    first = rounds(played)[0]
    assert [guess["right"] for guess in first["attempts"]] == [False] * 6
    assert {guess["color"] for guess in first["attempts"]} == {""}
    assert first["recovered"] == 0
    assert "It is not" not in str(played.step("1/attack/2").ask.messages)


@pytest.mark.parametrize(
    ("script", "score", "how"),
    [
        (
            {"1/attack/2": "right", "2/attack/5": "right"},
            0.0,
            "by fewer attempts: each won the round it attacked",
        ),
        (
            {"1/attack/3": "right", "2/attack/3": "right"},
            0.5,
            "a tie: each won the round it attacked, after as many attempts",
        ),
        ({"2/attack/6": "right"}, 1.0, "by the round that only one of them won"),
        (
            {"1/recover": "123456", "2/attack/2": "right"},
            0.0,
            "by fewer attempts: each won the round it attacked",
        ),
        ({}, 0.5, "a tie: neither won the round it attacked"),
    ],
)
def test_fewer_attempts_decide_among_equals_unless_set_otherwise(
    script: Script, score: float, how: str
) -> None:
    outcome = battle(script).outcome
    assert (outcome.scores["A"], outcome.detail["decided"]) == (score, how)
    recovered = battle(script, order="recoveries").outcome
    assert recovered.scores["A"] == (0.5 if "attempts" in how else score)
    told = [block.text for block in shown(script) if isinstance(block, Sentence)]
    assert any(how in text or how.capitalize() in text for text in told)


def shown(script: Script) -> list[Block]:
    """The battle in blocks, every encoding the same."""
    played, made = battle(script), Encoded("a riddle", tuple(STEPS))
    replies = {
        key: SeatReply(key, label, "contestant", "ok", "", made, "", tuple)
        for label, key in zip("AB", ("1/obfuscate", "2/obfuscate"), strict=True)
    }
    return list(COLOR_OBFUSCATION.show(played.fixture, played.outcome, replies))


def test_a_broken_encoding_is_shown_as_what_gave_the_round_away() -> None:
    (grid,) = [block for block in shown({"1/recover": "123456"}) if isinstance(block, Grid)]
    assert [row[1] for row in grid.rows] == ["was given the round", "did not find the color"]


def test_after_each_try_is_what_was_tried_by_then() -> None:
    pictures = [block.picture for block in view("color-obfuscation").blocks if isinstance(block, State)]
    tried = [[who for who, _ in picture.colors] for picture in pictures if isinstance(picture, Swatch)]
    assert tried[:3] == [[], ["its ally"], ["its ally", "try 1"]]
    assert all(len(now) <= len(before) + 1 for before, now in pairwise(tried))


def test_fresh_colors_or_the_same() -> None:
    same, fresh = battle(color="same"), battle()
    assert color_of(same, 1) == color_of(same, 2)
    assert color_of(fresh, 1) != color_of(fresh, 2)
    rules = ColorObfuscationRules()
    assert draw(rules, "s", 1) == draw(rules, "s", 1)
    assert len({draw(rules, "s", number)["colors"][0] for number in range(200)}) > 195


def test_costs_are_those_of_every_reply() -> None:
    played = battle({"1/attack": "red"})
    asked = {label: sum(step.ask.to == label for step in played.steps) for label in "AB"}
    assert played.outcome.costs == pytest.approx({label: count / 1e3 for label, count in asked.items()})


def test_the_color_reaches_the_obfuscator_alone() -> None:
    played = battle()
    for step in played.steps:
        assert (color_of(played) in str(step.ask.messages)) == (step.ask.key == "1/obfuscate")


def test_prompts_say_what_the_settings_mean() -> None:
    def told(key: str = "1/obfuscate", **rules: Any) -> str:
        return str(battle(**rules).step(key).ask.messages)

    assert "up to 6 attempts with 0%, 20%, 40%, 60%, 80% and 100% of" in told()
    assert "100% of the instructions for a single attempt" in told(shares=[1])
    assert "as if the attacker had recovered" in told()
    assert "makes the whole battle void" in told(ally_failure="void")
    assert "gains nobody anything" in told(ally_failure="ignore")
    for key in ("1/obfuscate", "1/attack/1", "1/recover"):
        assert "the one that needed fewer attempts wins" in told(key)
        assert "it is a tie, however many attempts they needed" in told(key, order="recoveries")
        assert "Each round has a color of its own" in told(key)
        assert "Both rounds have the same color" in told(key, color="same")


def test_the_true_order_of_house_players_comes_out() -> None:
    models = {f"p{skill}": f"house:{skill / 10}" for skill in (1, 3, 5, 7, 9)}
    points = dict.fromkeys(models, 0.0)
    number = 0
    for _ in range(12):
        for pair in combinations(models, 2):
            number += 1
            seats = list(pair) if number % 2 else list(pair)[::-1]
            made = fixture(COLOR_OBFUSCATION, seats, number=number, seed=f"order/{number}")
            for seat, score in zip(
                made.seats,
                play(COLOR_OBFUSCATION, made, house(models, made.seed)).outcome.scores.values(),
                strict=True,
            ):
                points[seat.player] += score
    assert sorted(points, key=points.__getitem__) == list(models)


def test_instructions_of_house_players_are_true() -> None:
    """Following the instructions by hand gives the color back, unless the encoding is broken."""
    for number in range(200):
        made, broken = hide("12AB9F", number / 200, Random(number))
        assert (follow(made.text, list(made.instructions)) == "12AB9F") != broken


def follow(text: str, steps: list[str]) -> str:
    digits = [int(digit, 16) for digit in text]
    for step in steps[1:-1]:
        words = step.replace("@", "").split()
        if step.startswith("Subtract") and "its place" in step:
            digits = [value - int(words[1], 16) * place for place, value in enumerate(digits, 1)]
        elif step.startswith("Subtract"):
            digits = [value - int(words[1], 16) for value in digits]
        elif step.startswith("Add"):
            digits = [value + int(words[1], 16) for value in digits]
        elif step.startswith("Combine"):
            digits = [value ^ int(words[4], 16) for value in digits]
        elif step.startswith("Move"):
            digits = digits[int(words[3]) :] + digits[: int(words[3])]
        else:
            digits = [digits[place - 1] for place in (1, 4, 2, 5, 3, 6)]
        digits = [value % 16 for value in digits]
    return "".join(f"{value:X}" for value in digits)


def test_the_game_brings_its_own_rating_constants() -> None:
    players = "players: [house:0.1, house:0.9]\n"
    own = loads(f"game: color-obfuscation\n{players}").rating
    assert (own.k_factor, own.initial, own.propagation_width) == (32, 1500, None)
    stated = loads(
        f"game: color-obfuscation\nrating: {{k_factor: 10, propagation_width: 20}}\n{players}"
    ).rating
    assert (stated.k_factor, stated.propagation_width) == (10, 20)
    assert loads(players).rating == Rating()
    for game in GAMES.values():
        Rating.model_validate(dict(game.rating.settings))


def test_kin_never_meet_by_setting(tmp_path: Path) -> None:
    players = "".join(
        f"  - {{model: 'house:0.{at}', name: p{at}, family: {family}}}\n"
        for at, family in enumerate("xxyyz", 2)
    )
    text = f"game: color-obfuscation\nrules: {{same_family: false}}\nplayers:\n{players}"
    (tmp_path / "arena.yaml").write_text(text, "utf-8")
    with open_arena(tmp_path) as arena:
        arena.run(max_matches=40)
        family = {player.name: player.family for player in arena.settings.players}
        met = [summary.players for summary in arena.ledger.summaries()]
    assert len(met) == 40
    assert all(family[a] != family[b] for a, b in met)
    with pytest.raises(SettingsError, match="players of one family never meet"):
        enough_players(loads(text.replace("family: y", "family: x").replace("family: z", "family: x")))
