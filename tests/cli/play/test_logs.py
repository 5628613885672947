"""What a command logs, as a user sees it on standard error."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.engine.arenas import write_arena
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer
from tests.servers.quirks import QUICK

from peerage.cli.play.logs import log_to_stderr
from peerage.settings import PlayerSettings

KEY = "sk-log-secret-0123456789"


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


async def logged(folder: Path, server: OpenAIServer, level: str) -> str:
    players = [
        {
            "name": f"p{place}",
            "model": "openai:tiny",
            "base_url": server.url,
            "key_env": "TINY_KEY",
            "price": {"input": 1, "output": 1},
        }
        for place in range(6)
    ]
    write_arena(folder, players, engine={"retries": 1})
    (folder / ".env").write_text(f"TINY_KEY={KEY}\n")
    words = ["run", "--yes", "--max-matches", "1", "--log-level", level, "--dir", str(folder)]
    run = await asyncio.create_subprocess_exec(
        *[sys.executable, str(QUICK), *words],
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await run.communicate()
    assert run.returncode == 0, said.decode()
    assert KEY.encode() not in said
    assert b"\x1b" not in said
    return said.decode()


@pytest.mark.parametrize("level", ["debug", "Info", "warning", "CRITICAL"])
async def test_each_level_tells_what_it_promises_and_no_key(
    tmp_path: Path, server: OpenAIServer, level: str
) -> None:
    echo = {"message": f"busy \x1b[2J with {KEY}"}
    server.next(
        behave.status(503, error=echo), behave.status(500, error=echo), behave.reply("long", finish="length")
    )
    said = await logged(tmp_path, server, level)
    level = level.lower()
    detailed = level in ("debug", "info")
    assert ("INFO peerage: match 1 question/1/1, p" in said) == detailed
    assert ("503" in said and "; try 2 of 2 in " in said) == detailed
    assert ("WARNING peerage: " in said) == (level != "critical")
    if level == "critical":
        assert said == ""


def test_what_a_library_logs_goes_through_the_same_door(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    player = PlayerSettings(model="openai:tiny", key_env="TINY_KEY")
    log_to_stderr("DEBUG", [player], {"TINY_KEY": KEY, "GROQ_API_KEY": KEY[::-1]})
    logging.getLogger("library").debug("header %s, \x1b[2J and %s", KEY, KEY[::-1])
    try:
        raise ValueError(f"with {KEY}")
    except ValueError:
        logging.getLogger("library").exception("it failed")
    said = capsys.readouterr().err
    assert "DEBUG library: header [key], \ufffd[2J and [key]" in said
    assert "ValueError: with [key]" in said
