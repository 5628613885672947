"""The agents in `examples/` play as their docstrings say."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from peerage.game.protocol import Choice, Text
from peerage.players import open_client
from peerage.players.client import Answer, Call, PlayerError
from peerage.settings import PlayerSettings

AGENTS = Path(__file__).parents[3] / "examples" / "agents"
VERDICT = Choice("verdict", ("A", "B", "tie"))


async def play(**stated: Any) -> tuple[Answer, Answer]:
    client = open_client(PlayerSettings.model_validate(stated), dict(os.environ), AGENTS)
    calls = [
        Call(
            key="k",
            role="contestant",
            messages=(("user", "How are you?"),),
            expects=expects,
            max_tokens=50,
            temperature=None,
            seed="s",
        )
        for expects in (Text(), VERDICT)
    ]
    await client.start()
    try:
        return await client.answer(calls[0]), await client.answer(calls[1])
    finally:
        await client.close()


@pytest.mark.parametrize(
    "stated", [{"command": [sys.executable, "command_agent.py"]}, {"model": "python:http_agent:answer"}]
)
async def test_a_program_and_a_function(stated: dict[str, Any]) -> None:
    text, verdict = await play(**stated)
    assert text.text == "The question has 3 words."
    assert VERDICT.parse(verdict.text).choice == "A"


async def test_an_endpoint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, str(AGENTS / "http_agent.py"), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(1_000):
            try:
                text, verdict = await play(model=f"http://127.0.0.1:{port}/")
                break
            except PlayerError:
                await asyncio.sleep(0.1)
        assert text.text == "The question has 3 words."
        assert VERDICT.parse(verdict.text).choice == "A"
    finally:
        server.kill()
        server.wait()
