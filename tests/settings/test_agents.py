"""Settings of agents over ACP: what they come to, what is refused in which words, what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from peerage.cli.begin.choice import player_stated
from peerage.engine.record.registration import identity, stated
from peerage.settings import PlayerSettings
from peerage.settings.players.programs import program_of

AGENT = {"acp": ["opencode", "acp"], "model": "openai:gpt-5-mini"}
OWN = {"acp": ["opencode", "acp"]}


def player(*parts: dict[str, Any], **more: Any) -> PlayerSettings:
    whole: dict[str, Any] = {}
    for part in (*parts, more):
        whole |= part
    return PlayerSettings(**whole)


def test_an_agent_is_its_model_to_prices_and_families_and_has_a_name_of_its_own() -> None:
    agent = player(AGENT)
    assert (agent.provider, agent.family, agent.public_model) == ("openai", "openai/gpt", "openai:gpt-5-mini")
    assert agent.name == "opencode with openai:gpt-5-mini"
    assert agent.remembers
    assert (agent.timeout_s, agent.concurrency, agent.network) == (600, 8, False)
    assert agent.allow == ("read", "edit", "run")
    assert (agent.request_budget, agent.request_tokens) == (0.50, 500_000)


def test_an_agent_without_a_model_brings_its_own() -> None:
    agent = player(OWN)
    assert (agent.model, agent.provider, agent.family, agent.name) == (
        "acp:opencode",
        "acp",
        *["acp:opencode"] * 2,
    )
    assert player(OWN, session="own", timeout_s=5, concurrency=2).timeout_s == 5


def test_an_agent_is_one_word_of_a_command_line() -> None:
    agent = player_stated("{acp: [opencode, acp], model: openai:gpt-5-mini}", "--player")
    assert agent == player(AGENT)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"model": "openai:a", "allow": ["read"]},
            "`allow` is for agents over ACP; state the agent's program, such as `acp: [opencode, acp]`, or "
            "take `allow` away",
        ),
        (
            {"model": "openai:a", "acp": []},
            "`acp` is for agents over ACP; state the agent's program, such as `acp: [opencode, acp]`, or "
            "take `acp` away",
        ),
        ({"model": "acp:x"}, "'acp:x' does not say how it is run; write `acp: [opencode, acp]`"),
        (OWN | {"command": ["x"]}, "found both `acp` and `command`; state one of them"),
        (OWN | {"model": "acp:x"}, "'acp:x' names another program than `acp`; take `model` away"),
        *[
            (
                OWN | {"model": model},
                f"'{shown}' is no model of a provider (openai, anthropic, google, groq, xai, huggingface, "
                "openrouter, mistral, ollama), which an agent needs; for a server of your own write "
                "`openai:MODEL` and its `base_url`",
            )
            for model, shown in (
                ("house:0.5", "house:0.5"),
                ("human:ada", "human:ada"),
                ("gguf:a", "gguf:a"),
                ("python:a:b", "python:a:b"),
                ("http://me:pass@h/a", "http://h/a"),
                ("command:x y", "command:x"),
            )
        ],
        (
            AGENT | {"thinking_tokens": 1},
            "with `acp`, `thinking_tokens` is the agent's own matter; take `thinking_tokens` away",
        ),
        (OWN | {"temperature": 1}, "with `acp`, `temperature` needs a `model`; take `temperature` away"),
        (OWN | {"provider": {"only": ["x"]}}, "with `acp`, `provider` needs a `model`; take `provider` away"),
        (
            OWN | {"request_budget": 1},
            "with `acp`, `request_budget` needs a `model`; take `request_budget` away",
        ),
        (OWN | {"base_url": "http://h"}, "with `acp`, `base_url` needs a `model`; take `base_url` away"),
        (AGENT | {"mcp": [{"name": "a"}]}, "'a' needs a `command` or a `url`, and only one of them"),
        (
            AGENT | {"mcp": [{"name": "a", "command": "x", "url": "http://h"}]},
            "'a' needs a `command` or a `url`, and only one of them",
        ),
        (
            AGENT | {"mcp": [{"name": "a", "command": "x", "headers": {"A": "b"}}]},
            "'a' has `headers`, which a command does not take",
        ),
        (
            AGENT | {"mcp": [{"name": "a", "url": "http://h", "env": {"A": "b"}}]},
            "'a' has `env`, which a url does not take",
        ),
        (
            AGENT | {"mcp": [{"name": "a", "url": "http://h"}]},
            "mcp: 'a' is an address, and the agent has no network; add `network: true`",
        ),
        (
            AGENT | {"mcp": [{"name": "a", "command": "x"}, {"name": "a", "command": "y"}]},
            "mcp: two servers have the same name; give each its own",
        ),
        (AGENT | {"env": {"A=B": "x"}}, "'A=B' cannot be a variable; write `NAME: value`"),
        (
            AGENT | {"files": {"../x": "y"}},
            "'../x' leads out of the folder; write a path below it, such as `src/app.py`",
        ),
    ],
)
def test_contradictions_are_named_with_what_to_do(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as found:
        PlayerSettings(**wrong)
    (one,) = found.value.errors()
    assert one["msg"] == f"Value error, {told}"


def test_unknown_uses_of_tools_and_servers_without_a_name_are_no_settings() -> None:
    for wrong, at in (
        ({"allow": ["write"]}, ("allow", 0)),
        ({"mcp": [{"command": "x"}]}, ("mcp", 0, "name")),
    ):
        with pytest.raises(ValidationError) as found:
            player(AGENT, wrong)
        assert found.value.errors()[0]["loc"] == at


def test_arguments_and_what_may_hold_a_secret_are_never_recorded() -> None:
    secret = "s3cret"
    agent = player(
        AGENT,
        acp=["opencode", f"--token={secret}"],
        env={"TOKEN": secret},
        files={"auth.json": secret},
        mcp=[
            {"name": "a", "command": "tool", "args": [secret], "env": {"KEY": secret}},
            {
                "name": "b",
                "url": f"https://me:{secret}@h/x?key={secret}",
                "headers": {"Authorization": secret},
            },
        ],
        network=True,
    )
    shown = stated(agent)
    assert secret not in json.dumps(shown)
    assert shown["acp"] == ["opencode"]
    assert (shown["env"], shown["files"], shown["network"]) == (["TOKEN"], ["auth.json"], True)
    assert shown["mcp"] == ["a: tool", "b: https://h/x"]


def test_whatever_changes_an_agents_answers_changes_its_identity_and_a_models_stays() -> None:
    agents = [
        player(AGENT),
        player(AGENT, acp=["opencode", "acp", "-x"]),
        player(AGENT, allow=["read"]),
        player(AGENT, network=True),
        player(AGENT, env={"A": "b"}),
        player(AGENT, env={"A": "c"}),
        player(AGENT, files={"A": "b"}),
        player(AGENT, mcp=[{"name": "a", "command": "x"}]),
        PlayerSettings(model=AGENT["model"]),
    ]
    assert len({identity(agent, "key") for agent in agents}) == len(agents)
    assert identity(player(AGENT, request_budget=2), "key") == identity(agents[0], "key")
    assert identity(PlayerSettings(model="house:0.5"), "key") == (
        "2f199679542e5d5411ce5169fdc8cbbefa01d79b2492d022b2803c0e7d2d2cc4"
    )


def test_two_players_with_the_same_agent_and_model_are_one_program(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print()\n")
    (tmp_path / "copy.py").write_text("print()\n")
    here = player(AGENT, acp=["./agent.py", "--fast"])
    for same in (
        player(AGENT, acp=["./copy.py"]),
        player(here.model_dump(include={"acp", "model"}), allow=["read"]),
    ):
        assert program_of(same, tmp_path) == program_of(here, tmp_path)
    for other in (
        player(AGENT, acp=["./agent.py", "serve"]),
        player(AGENT, acp=["./agent.py"], model="openai:gpt-5"),
        player(acp=["./agent.py"]),
        PlayerSettings(command=("./agent.py",)),
        PlayerSettings(model=AGENT["model"]),
    ):
        assert program_of(other, tmp_path) != program_of(here, tmp_path)
