"""Notices that a match is over: to agents that remember it, over ACP always, and to nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from peerage.engine.calls.player_runtime import PlayerRuntime
from peerage.engine.match.notices import Notices
from peerage.game.match import Fixture, Seat
from peerage.players.prices import Price
from peerage.settings import PlayerSettings


class Listener:
    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    async def ended(self, seed: str, seat: str) -> None:
        self.heard.append((seed, seat))


@pytest.mark.parametrize(
    ("stated", "hears"),
    [
        ({"acp": ["x"]}, True),
        ({"acp": ["x"], "model": "openai:a", "session": "none"}, True),
        ({"model": "http://h/a", "session": "own"}, True),
        ({"model": "http://h/a"}, False),
    ],
)
async def test_an_agent_over_acp_always_hears_that_its_match_is_over(
    stated: dict[str, Any], hears: bool
) -> None:
    settings, client = PlayerSettings(**stated | {"name": "a"}), Listener()
    notices = Notices({"a": PlayerRuntime(settings, client, Price())})  # type: ignore[arg-type]
    seats = (Seat("A", "a"), Seat("B", "b"))
    notices.send(Fixture(1, 1, "g", 1, "s", seats, officials={}, settings={}))
    await notices.stop(5)
    assert client.heard == ([("s", "A")] if hears else [])
