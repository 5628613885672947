"""Keys where clients handle them: no reply, failure or redirect carries one away."""

from __future__ import annotations

import base64
import shlex
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.servers.every_provider import Server, serve

from peerage.game.protocol import Text
from peerage.players import open_client
from peerage.players.checks import check
from peerage.players.client import Call, PlayerError
from peerage.settings import PlayerSettings

KEY = "sk-canary-0123456789abcdef"
ENV = {"CANARY": KEY}
FORMS = f"{KEY} {KEY[::-1]} {base64.b64encode(KEY.encode()).decode()} sk%2Dcanary%2D0123456789abcdef"

MODELS = [
    "openai:tiny",
    pytest.param(
        "anthropic:claude-haiku-4-5",
        marks=pytest.mark.skipif(find_spec("anthropic") is None, reason="needs `anthropic`"),
    ),
    pytest.param(
        "google:gemini-2.5-flash",
        marks=pytest.mark.skipif(
            not find_spec("google") or not find_spec("google.genai"), reason="needs `google-genai`"
        ),
    ),
    "http:",
]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    running = Server()
    runner = await serve(running)
    yield running
    await runner.cleanup()


@pytest.fixture
async def elsewhere() -> AsyncIterator[Server]:
    running = Server()
    runner = await serve(running)
    yield running
    await runner.cleanup()


def settings_for(model: str, server: Server) -> PlayerSettings:
    if model == "http:":
        return PlayerSettings(model=server.url + "/agent", name="P", key_env="CANARY")
    base = server.url + ("/v1" if model.startswith("openai") else "")
    return PlayerSettings(model=model, name="P", base_url=base, key_env="CANARY")


def call() -> Call:
    return Call("k", "contestant", (("user", "Why?"),), Text(), 100, None, "s")


async def ask(settings: PlayerSettings, folder: Path = Path()) -> Any:
    client = open_client(settings, ENV, folder)
    await client.start()
    try:
        return await client.answer(call())
    except PlayerError as error:
        return error
    finally:
        await client.close()


@pytest.mark.parametrize("model", MODELS)
async def test_a_reply_and_a_failure_that_repeat_the_key_are_told_without_it(
    model: str, server: Server
) -> None:
    server.text = f"You sent {FORMS}."
    answer = await ask(settings_for(model, server))
    assert answer.text.replace("=", "") == "You sent [key] [key] [key] [key]."
    assert KEY in str(server.seen[0].headers), "the test is about a key that was sent"
    server.instead = (400, {})
    failure = await ask(settings_for(model, server))
    assert isinstance(failure, PlayerError)
    assert "[key] [key]" in str(failure)
    assert KEY not in str(failure)
    assert KEY[::-1] not in str(failure)


ECHO = "import os\ndef player(request):\n    return os.environ['CANARY'] + ' ' + os.environ['CANARY'][::-1]\n"


@pytest.mark.parametrize("model", ["python:echo_of_keys:player", "command:{} run.py"])
async def test_agents_here_are_told_without_it_too(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    (tmp_path / "echo_of_keys.py").write_text(ECHO)
    (tmp_path / "run.py").write_text("import echo_of_keys\nprint(echo_of_keys.player({}), end='')\n")
    settings = PlayerSettings(model=model.format(shlex.quote(sys.executable)), name="P", key_env="CANARY")
    assert (await ask(settings, tmp_path)).text == "[key] [key]"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("model", MODELS)
async def test_no_redirect_to_another_server_is_followed(
    model: str, code: int, server: Server, elsewhere: Server
) -> None:
    server.instead = (code, {"Location": elsewhere.url + "/v1/chat/completions"})
    failure = await ask(settings_for(model, server))
    assert isinstance(failure, PlayerError)
    assert elsewhere.seen == []
    assert failure.kind == "permanent"
    assert not failure.maybe_paid
    assert f"redirects to {elsewhere.url}" in str(failure)


async def test_a_redirect_on_the_same_server_is_followed(server: Server) -> None:
    moved = settings_for("openai:tiny", server)
    whole = server.answer

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/old"):
            raise web.HTTPTemporaryRedirect("/v1/chat/completions")
        return await whole(request)

    server.answer = answer  # type: ignore[method-assign]
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/old"
    answered = await ask(moved.model_copy(update={"base_url": url}))
    await runner.cleanup()
    assert answered.text == "Hello."


@pytest.mark.parametrize("model", MODELS)
async def test_doctor_follows_none_either(model: str, server: Server, elsewhere: Server) -> None:
    server.instead = (307, {"Location": elsewhere.url + "/v1/models"})
    found = await check(settings_for(model, server), ENV, Path())
    assert elsewhere.seen == []
    assert any("redirects to" in one.found for one in found)
