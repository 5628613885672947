"""What holds for all who answer over a wire or in a child: what is stated arrives, and no key comes back."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from peerage.game.protocol import Choice, Text
from peerage.players import open_client
from peerage.players.client import Call, PlayerError
from peerage.settings import PlayerSettings

KEY = "sk-wired-0123456789abcdef"
KINDS = {
    "compatible": "openai:tiny",
    "anthropic": "anthropic:claude-haiku-4-5",
    "google": "google:gemini-2.5-flash",
    "endpoint": "",
    "program": "",
    "function": "",
}
each = pytest.mark.parametrize("kind", KINDS)

AGENT = """
import json, os, sys
asked = json.load(sys.stdin)
with open("asked.json", "w") as file:
    json.dump(asked, file)
if os.path.exists("fails"):
    sys.exit("the search failed with " + os.environ["K"])
print(open("reply.json").read())
"""
FUNCTION = """
import json, pathlib
HERE = pathlib.Path(__file__).parent
def answer(asked):
    (HERE / "asked.json").write_text(json.dumps(asked))
    if (HERE / "fails").exists():
        raise ConnectionError("the search failed with KEY")
    return json.loads((HERE / "reply.json").read_text())
"""


class Wired(NamedTuple):
    """A player of one kind: its settings, and where its last request and what it replies are kept."""

    stated: Mapping[str, Any]
    folder: Path

    def asked(self) -> Any:
        return json.loads((self.folder / "asked.json").read_text())

    async def answer(self, call: Call, **stated: Any) -> Any:
        settings = PlayerSettings.model_validate({**self.stated, "key_env": "K", "name": "P", **stated})
        client = open_client(settings, {**os.environ, "K": KEY}, self.folder)
        await client.start()
        try:
            return await client.answer(call)
        finally:
            await client.close()


@asynccontextmanager
async def wired(kind: str, folder: Path, text: str = "Hello.", model: str = "m-1") -> AsyncIterator[Wired]:
    (folder / "reply.json").write_text(json.dumps({"text": text, "model": model}))
    if kind == "program":
        (folder / "agent.py").write_text(AGENT)
        yield Wired({"command": [sys.executable, "agent.py"]}, folder)
        return
    if kind == "function":
        name = f"wired_{abs(hash(folder))}"
        (folder / f"{name}.py").write_text(FUNCTION.replace("KEY", KEY))
        yield Wired({"model": f"python:{name}:answer"}, folder)
        return

    async def handle(request: web.Request) -> web.StreamResponse:
        (folder / "asked.json").write_bytes(await request.read())
        if (folder / "fails").exists():
            complaint = f"the key {request.headers.get('Authorization', '')} {KEY} is not known"
            return web.json_response({"error": {"type": "x", "message": complaint}}, status=403)
        return web.json_response(_shaped(kind, text, model))

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield Wired(
            {"model": f"{url}/agent"} if kind == "endpoint" else {"model": KINDS[kind], "base_url": url},
            folder,
        )
    finally:
        await runner.cleanup()


def _shaped(kind: str, text: str, model: str) -> dict[str, Any]:
    """A reply as servers of this kind write it."""
    if kind == "endpoint":
        return {"text": text, "model": model}
    if kind == "anthropic":
        return {
            "id": "m", "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 12, "output_tokens": 4},
        }  # fmt: skip
    if kind == "google":
        return {
            "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 4, "totalTokenCount": 16},
            "modelVersion": model, "responseId": "r",
        }  # fmt: skip
    return {
        "id": "c", "object": "chat.completion", "created": 1_790_000_000, "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }  # fmt: skip


def call(temperature: float | None = None, expects: Any = None, max_tokens: int = 300) -> Call:
    messages = (("system", "Be brief."), ("user", "Why?"))
    return Call("answer/A", "contestant", messages, expects or Text(), max_tokens, temperature, "s")


@each
async def test_a_key_that_is_repeated_is_in_no_answer(kind: str, tmp_path: Path) -> None:
    async with wired(kind, tmp_path, f"I was sent {KEY}.", f"model-{KEY}") as player:
        answer = await player.answer(call())
    assert answer.text == "I was sent [key]."
    assert answer.snapshot == "model-[key]"


@each
async def test_a_key_that_is_repeated_is_in_no_failure(kind: str, tmp_path: Path) -> None:
    (tmp_path / "fails").touch()
    async with wired(kind, tmp_path) as player:
        with pytest.raises(PlayerError) as caught:
            await player.answer(call())
    assert "[key]" in str(caught.value)
    assert KEY not in repr(caught.value)
    assert str(caught.value).startswith("P: ")


def found(body: Any, *names: str) -> Any:
    """The value under one of these names, however deep; "absent" where there is none."""
    if isinstance(body, dict):
        for name in names:
            if name in body:
                return body[name]
        body = list(body.values())
    values = [found(one, *names) for one in body] if isinstance(body, list) else []
    return next((value for value in values if value != "absent"), "absent")


@each
@pytest.mark.parametrize(
    ("players", "games", "sent"),
    [
        (0.0, None, 0.0),
        (0.25, None, 0.25),
        (None, 0.0, 0.0),
        (None, 0.5, 0.5),
        (0.25, 0.0, 0.0),
        (None, None, None),
    ],
)
async def test_a_temperature_of_zero_is_a_temperature(
    kind: str, players: float | None, games: float | None, sent: float | None, tmp_path: Path
) -> None:
    async with wired(kind, tmp_path) as player:
        await player.answer(call(games), temperature=players)
        agent = kind in ("endpoint", "program", "function")
        assert found(player.asked(), "temperature") == ("absent" if sent is None and not agent else sent)


LIMIT = ("max_tokens", "maxOutputTokens", "max_completion_tokens")


@each
@pytest.mark.parametrize(("players", "sent"), [(None, 300), (200, 200), (400, 300)])
async def test_the_lower_of_two_limits_holds(
    kind: str, players: int | None, sent: int, tmp_path: Path
) -> None:
    async with wired(kind, tmp_path) as player:
        await player.answer(call(), max_tokens=players)
        assert found(player.asked(), *LIMIT) == sent


@each
async def test_a_client_adds_no_system_prompt_of_its_own(kind: str, tmp_path: Path) -> None:
    """The engine has put it in where it belongs; a probe and a judge's prompt go as they are."""
    async with wired(kind, tmp_path) as player:
        await player.answer(call(), system_prompt="You are Ada.")
        asked = json.dumps(player.asked())
    assert "You are Ada." not in asked
    assert "Be brief." in asked


@each
async def test_a_format_is_asked_for_unless_it_is_switched_off(kind: str, tmp_path: Path) -> None:
    verdict = Choice("verdict", ("A", "B", "neither of the two"))
    async with wired(kind, tmp_path) as player:
        await player.answer(call(expects=verdict))
        assert "neither of the two" in json.dumps(player.asked())
        await player.answer(call(expects=verdict), structured=False)
        agent = kind in ("endpoint", "program", "function")
        assert ("neither of the two" in json.dumps(player.asked())) == agent


@pytest.mark.parametrize("kind", ["compatible", "anthropic", "google"])
@pytest.mark.parametrize("share", [None, 0.0, 0.9])
async def test_nucleus_sampling_is_sent_as_stated(kind: str, share: float | None, tmp_path: Path) -> None:
    async with wired(kind, tmp_path) as player:
        await player.answer(call(), top_p=share)
        assert found(player.asked(), "top_p", "topP") == ("absent" if share is None else share)


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """States a proxy in the environment, as company networks do."""

    def state(url: str) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv("http_proxy", url)

    return state


OVER_HTTP = pytest.mark.parametrize("kind", ["compatible", "anthropic", "google"])


@OVER_HTTP
async def test_a_model_on_this_machine_is_asked_past_the_proxy(
    kind: str, tmp_path: Path, proxy: Callable[[str], None]
) -> None:
    proxy("http://127.0.0.1:9")
    async with wired(kind, tmp_path) as player:
        assert (await player.answer(call())).text == "Hello."


@OVER_HTTP
async def test_a_model_elsewhere_is_asked_through_the_proxy(
    kind: str, tmp_path: Path, proxy: Callable[[str], None]
) -> None:
    async with wired(kind, tmp_path) as player:
        proxy(player.stated["base_url"])
        assert (await player.answer(call(), base_url="http://models.invalid/v1")).text == "Hello."
