"""The game in docs/writing-a-game.md is played, so that the page cannot go stale."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.offline import Played, agreeable, check, fixture, play, scripted

from peerage.blocks import Quoted, ScoreLine, SeatReply
from peerage.games.game import GameSpec
from peerage.protocol import Ask, Reply

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-game.md"


@pytest.fixture(scope="module")
def game() -> GameSpec[Any]:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    space: dict[str, Any] = {"__name__": "password"}
    exec(compile(code, str(PAGE), "exec"), space)
    found: GameSpec[Any] = space["GAME"]
    return found


def guessing(game: GameSpec[Any], right: str) -> Played:
    """The seat `right` always guesses right, the other never."""

    def script(ask: Ask, player: str) -> str:
        if ask.key.startswith("hint/"):
            return "You know it when you see it."
        return str(ask.oracle).upper() + "." if ask.to == right else "bread"

    return play(game, fixture(game, ["p", "q"]), scripted(script))


@pytest.mark.parametrize("right", ["A", "B"])
def test_it_can_be_played(game: GameSpec[Any], right: str) -> None:
    played = guessing(game, right)
    check(game, played)
    assert played.outcome.scores[right] == 1
    assert played.outcome.costs["A"] == pytest.approx(0.002)


@pytest.mark.parametrize(
    "reply", [Reply("void"), Reply("refused"), Reply("ok", " "), Reply("ok", "x" * 9_999)]
)
def test_it_keeps_the_rules_of_the_house(game: GameSpec[Any], reply: Reply) -> None:
    made = fixture(game, ["p", "q"])
    for key in play(game, made, scripted(agreeable)).keys:
        check(game, play(game, made, scripted(lambda ask, player, key=key: reply if key in ask.key else "x")))


def test_its_page_shows_a_match(game: GameSpec[Any]) -> None:
    space: dict[str, Any] = {}
    code = next(
        part
        for part in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
        if "def show(fixture" in part
    )
    exec(compile(code, str(PAGE), "exec"), space)
    played = guessing(game, "A")
    replies = {
        step.ask.key: SeatReply(
            step.ask.key, step.ask.to, step.ask.role, "ok", step.reply.text, step.reply.text, "", tuple
        )
        for step in played.steps
    }
    blocks = list(space["show"](played.fixture, played.outcome, replies))
    assert [block.key for block in blocks if isinstance(block, Quoted)] == played.keys
    assert [block.score for block in blocks if isinstance(block, ScoreLine)] == [1, 0]
