"""The doctor's findings about players."""

from pathlib import Path

import pytest
from aiohttp import web
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer

from peerage.players import checks
from peerage.players.checks import PlayerFinding, advice, check
from peerage.settings import PlayerSettings

KEY = "sk-secret-9876"


async def findings(
    model: str, env: dict[str, str], folder: Path = Path(), **stated: str
) -> dict[str, PlayerFinding]:
    settings = PlayerSettings(model=model, name="P", **stated)  # type: ignore[arg-type]
    found = await check(settings, env, folder)
    assert KEY not in repr(found)
    return {finding.subject: finding for finding in found}


async def test_a_missing_key_names_its_variable_and_asks_nobody() -> None:
    found = await findings("openai:gpt-4o", {})
    assert not found["key"].ok
    assert "OPENAI_API_KEY" in found["key"].fix
    assert "server" not in found


async def test_a_server_that_answers_denies_fails_or_is_not_there() -> None:
    async with OpenAIServer() as server:
        where = {"base_url": server.url, "key_env": "K"}
        good = await findings("openai:tiny", {"K": KEY}, **where)
        assert all(finding.ok for finding in good.values())
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
        assert "does not list other" in (await findings("openai:other", {"K": KEY}, **where))["server"].found
        server.next(behave.status(401), behave.status(503))
        denied = (await findings("openai:tiny", {"K": KEY}, **where))["server"]
        assert not denied.ok
        assert "K" in denied.fix
        assert not (await findings("openai:tiny", {"K": KEY}, **where))["server"].ok
    gone = (await findings("openai:tiny", {"K": KEY}, **where))["server"]
    assert not gone.ok
    assert "base_url" in gone.fix


async def test_a_silent_server_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "TIMEOUT_S", 0.1)
    async with OpenAIServer() as server:
        server.next(behave.hang())
        found = await findings("openai:tiny", {}, base_url=server.url)
    assert "silent" in found["server"].found


async def test_agents_and_files(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def answer(request):\n    return 'hi'\n")
    assert (await findings("python:mine:answer", {}, tmp_path))["agent"].ok
    assert not (await findings("python:mine:absent", {}, tmp_path))["agent"].ok
    assert not (await findings("command:no-such-program-here", {}, tmp_path))["agent"].ok
    assert not (await findings("gguf:absent.gguf", {}, tmp_path))["file"].ok


async def test_house_players_need_nothing() -> None:
    assert all(finding.ok for finding in (await findings("house:0.5", {})).values())


async def test_credentials_in_an_address_are_not_shown(tmp_path: Path) -> None:
    for model, more in (("http://me:pass-word@127.0.0.1:9/agent?token=tok-en", {}),
                        ("openai:m", {"base_url": "http://me:pass-word@127.0.0.1:9/v1"})):  # fmt: skip
        found = await check(PlayerSettings(model=model, **more), {}, tmp_path)
        assert any(not one.ok for one in found)
        assert not any(secret in str(found) for secret in ("pass-word", "tok-en"))


async def _serving(*paths: str) -> tuple[web.AppRunner, str]:
    """A server that lists its models at `/models` too, and takes calls at these paths alone."""

    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": "tiny"}]})

    async def refuse(request: web.Request) -> web.StreamResponse:
        assert await request.json() == {}, "nobody can be asked for a reply by this"
        return web.json_response({"error": {"message": "messages is required"}}, status=400)

    app = web.Application()
    app.router.add_get("/models", models)
    app.router.add_get("/v1/models", models)
    for path in paths:
        app.router.add_post(path, refuse)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


@pytest.mark.parametrize(
    ("model", "path", "stated", "meant"),
    [
        ("openai:tiny", "/v1/chat/completions", "", "/v1"),
        ("openai:tiny", "/v1/chat/completions", "/v1/chat/completions", "/v1"),
        ("openai:tiny", "/chat/completions", "/v1", ""),
        ("anthropic:tiny", "/v1/messages", "/v1", ""),
        ("openai:tiny", "/elsewhere", "", None),
        ("openai:tiny", "/v1/chat/completions", "/v1", "right"),
    ],
)
async def test_an_address_at_which_no_match_gets_a_reply_is_found_beforehand(
    model: str, path: str, stated: str, meant: str | None
) -> None:
    runner, url = await _serving(path)
    try:
        settings = PlayerSettings(model=model, base_url=url + stated)
        *_, found = await check(settings, {}, Path())
        what_to_do = await advice(settings, {}, "no such address (404)")
    finally:
        await runner.cleanup()
    assert found.ok == (meant == "right")
    if meant == "right":
        assert (found.fix, what_to_do) == ("", "")
    elif meant is None:
        assert found.fix == what_to_do == "fix `base_url`; most servers' end in `/v1`"
    else:
        assert "where a match asks" in found.found
        assert found.fix == what_to_do == f"write `base_url: {url}{meant}`"
