"""Tiny games for the tests of the engine, as the engine takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from peerage.engine.match.driver import Driver
from peerage.game.bounds import Asks
from peerage.game.match import Fixture, GameTable, Outcome, Seat
from peerage.game.protocol import Ask, Choice, Format, Message, Prompt, Reply, Steps
from peerage.game.spec import GameSpec

VOTE = Choice("vote", ("yes", "no"))


class NoRules(BaseModel):
    """A game without settings."""


def ask(key: str, to: str = "A", expects: Format = VOTE, text: str = "?") -> Ask:
    return Ask(to, key, "contestant", (Message("user", text),), expects, 100)


def game(play: Callable[[GameTable], Steps[Outcome]]) -> GameSpec[Any]:
    return GameSpec(
        name="tiny",
        version=1,
        about="A game for tests.",
        contestants=(2, 2),
        rules=NoRules,
        play=play,
        asks=lambda rules, fixture: [Asks("contestant", Prompt("", "?"), VOTE, 99)],
        survives=True,
    )


FIXTURE = Fixture(
    number=7,
    round=1,
    game="tiny",
    version=1,
    seed="s",
    seats=(Seat("A", "ada"), Seat("B", "bob")),
    officials={},
    settings={},
)


def drive(play: Callable[[GameTable], Steps[Outcome]]) -> Driver:
    return Driver(game(play), FIXTURE, NoRules())


def yes(**more: Any) -> Reply:
    return Reply("ok", '{"vote": "yes"}', **more)
