"""The doctor's findings about players."""

from pathlib import Path

import pytest
from tests.servers import openai_server as behave
from tests.servers.openai_server import OpenAIServer

from peerage.players import checks
from peerage.players.checks import Finding, check
from peerage.settings import PlayerSettings

KEY = "sk-secret-9876"


async def findings(
    model: str, env: dict[str, str], folder: Path = Path(), **stated: str
) -> dict[str, Finding]:
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
