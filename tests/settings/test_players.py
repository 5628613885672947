"""What one player or host may state, and a goal: contradictions are named with what to do about them."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from peerage.scheduling.standing import Goal
from peerage.settings import ArenaSettings, PlayerSettings, family_of
from peerage.settings.players.model_names import known_scheme, without_credentials
from peerage.settings.players.player import suggest
from peerage.settings.until import goal_of


def said(error: ValidationError) -> str:
    (one,) = error.errors()
    return str(one["msg"]).removeprefix("Value error, ")


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (
            {"model": "human:ada", "temperature": 1, "base_url": "http://h"},
            "'human:ada' is a person, to whom `base_url` says nothing; take it away. A person takes "
            "concurrency, family, name, timeout_s, version",
        ),
        (
            {"model": "groq:a", "service_tier": "flex"},
            "`service_tier: flex` is sold by openai, google, openrouter, not by 'groq'; take it away",
        ),
        *[
            (
                {"model": "openai:a", "extra_body": {"min_p": 0.1, key: 1}},
                f"`extra_body` holds `{key}`, which Peerage sets itself; {remedy}",
            )
            for key, remedy in (
                ("messages", "state `system_prompt` instead"),
                ("model", "state `model` instead"),
                ("stream", "take it away"),
                ("maxOutputTokens", "state `max_tokens` instead"),
                ("MAX_tokens", "state `max_tokens` instead"),
                ("provider", "state the player's `provider` instead"),
                ("models", "state a player of its own for each model instead"),
            )
        ],
        (
            {"model": "openai:a", "extra_body": {"since": date(2026, 1, 1)}},
            "`extra_body` holds what JSON cannot say, such as a date or NaN; put it in quotes",
        ),
        (
            {"model": "openai:a", "extra_body": {"long": "x" * 20_000}},
            "`extra_body` takes 20,012 characters; 20,000 at most are sent",
        ),
        (
            {"model": "house:1", "extra_body": {"min_p": 1}},
            "`extra_body` is for players that are asked at a provider, not for 'house:1'; take it away",
        ),
        (
            {"model": "openai:a", "provider": {"only": ["x"]}},
            "`provider` says by which upstreams OpenRouter serves an `openrouter:` player, and this is "
            "'openai:a'; take it away",
        ),
        *[
            (
                {"model": "gguf:a", "host": "gpu", key: value},
                f"found both `host` and `{key}`; a hosted player costs its host's `usd_per_hour`, so take "
                f"`{key}` away",
            )
            for key, value in (("price", {"input": 0, "output": 0}), ("gpu_hour_price", 0.0))
        ],
        (
            {"model": "openai:a", "host": "gpu"},
            "'openai:a' has a `host` and no address; state the `base_url` of the server there, or let a "
            "`gguf:` file be served here",
        ),
        (
            {"model": "openai:a", "price": {"input": 1, "output": 1}, "gpu_hour_price": 1},
            "state `price` (by token) or `gpu_hour_price` (by time), not both",
        ),
        (
            {"model": "house:1", "thinking_tokens": 5},
            "house players do not think; take `thinking_tokens` away",
        ),
        (
            {"model": "openai:a", "thinking_tokens": 5, "reasoning_effort": "none"},
            "`reasoning_effort: none` and `thinking_tokens: 5` contradict each other; remove one",
        ),
        *[
            (
                {"model": "anthropic:a", "thinking_tokens": tokens},
                f"`thinking_tokens: {tokens}`: Anthropic's models think at least 1024 tokens or not at all; "
                "write 1024 or more, or 0",
            )
            for tokens in (1, 1023)
        ],
        ({"model": "openai: "}, "'openai: ' names no model; write `provider:model`, such as "
                                "`openai:gpt-5-mini` or `house:0.5`"),
        ({"model": "house:-0.1"}, "'house:-0.1': a house player's skill is a number from 0 to 1"),
        ({"model": "house:good"}, "'house:good': a house player's skill is a number from 0 to 1"),
    ],
)  # fmt: skip
def test_contradictions_are_named_with_what_to_do(stated: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as wrong:
        PlayerSettings(**stated)
    assert said(wrong.value) == told


@pytest.mark.parametrize(
    "stated",
    [
        {"model": "groq:a", "service_tier": "flex", "base_url": "http://h/v1"},
        {"model": "anthropic:a", "thinking_tokens": 1024},
        {"model": "anthropic:a", "thinking_tokens": 0, "reasoning_effort": "none"},
        {"model": "openai:a", "thinking_tokens": 5},
        {"model": "house:0", "thinking_tokens": 0},
        {"model": "house:1", "host": "gpu"},
        {"model": "openai:a", "host": "gpu", "base_url": "http://h/v1"},
        {"model": "human:ada", "timeout_s": 60, "concurrency": 2},
        {"model": "gguf:a", "extra_body": {"min_p": 0.1, "chat_template_kwargs": {"model": 1}}},
    ],
)
def test_what_contradicts_nothing_is_taken(stated: dict[str, Any]) -> None:
    player = PlayerSettings(**stated)
    assert {key: getattr(player, key) for key in stated} == stated


def test_a_person_has_a_day_and_the_flex_tier_a_quarter_of_an_hour_unless_stated() -> None:
    ada = PlayerSettings(model="human: e\u0301va ")
    assert (ada.name, ada.timeout_s, ada.is_person, ada.family) == (
        "\u00e9va",
        86_400,
        True,
        "human: e\u0301va ",
    )
    assert PlayerSettings(model="human:ada", timeout_s=60, name="A").name == "A"
    assert PlayerSettings(model="human:ada", timeout_s=60).timeout_s == 60
    assert PlayerSettings(model="openai:a", service_tier="flex").timeout_s == 900
    assert PlayerSettings(model="openai:a", service_tier="flex", timeout_s=5).timeout_s == 5
    plain = PlayerSettings(model="openai:a")
    assert (plain.timeout_s, plain.is_person) == (120, False)


def test_a_version_is_part_of_the_name_once() -> None:
    for name in ("bot", "bot v3"):
        player = PlayerSettings(model="openai:a", name=name, version=3)
        assert (player.name, player.unversioned) == ("bot v3", "bot")
    assert PlayerSettings(model="openai:a", name="bot v1").unversioned == "bot v1"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:pass@h:8/agent?key=1#x", "https://h:8/agent"),
        ("http://h", "http://h"),
        ("http://a@b:c@h/p", "http://h/p"),
    ],
)
def test_an_address_is_shown_without_credentials(address: str, shown: str) -> None:
    assert without_credentials(address) == shown
    player = PlayerSettings(model=address)
    assert (player.public_model, player.name, player.family) == (shown, shown, shown)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("groq:Meta-Llama/Llama_3", "meta/llama"),
        ("openai:4o", "openai/4o"),
        ("gguf:dir/Qwen3.gguf", "qwen/qwen"),
        ("human:Ada", "human:Ada"),
        ("python:m:f", "python:m:f"),
        ("groq:openai/gpt-oss-20b", "openai/gpt"),
        ("openai:ft:gpt-4o-mini:mine", "openai/gpt"),
        ("openrouter:unsloth/Meta-Llama-3.1-8B", "meta/llama"),
        ("openrouter:acme/rocket-7b", "acme/rocket"),
        ("ollama:solar-wind", "upstage/solar"),
        ("ollama:my-solar", "my-solar"),
        ("gguf:B_c.gguf", "b_c"),
        ("xai:other-1", "xai/other"),
        ("ollama:Phi:mini", "microsoft/phi"),
    ],
)
def test_a_family_is_the_maker_and_the_first_word(model: str, family: str) -> None:
    assert family_of(model) == family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai:my-model", "my-model"),
        ("anthropic:my-model", "my-model"),
        ("openai:gpt-5-mini", "openai/gpt"),
        ("openai:o3-mini", "openai/o"),
        ("openai:Qwen/Qwen3-8B", "qwen/qwen"),
        ("openai:bedrock.anthropic.claude-3", "anthropic/claude"),
        ("openai:my-llama-3", "meta/llama"),
    ],
)
def test_behind_an_address_only_a_name_says_who_made_a_model(model: str, family: str) -> None:
    assert PlayerSettings(model=model, base_url="http://x/v1").family == family


@pytest.mark.parametrize(
    ("found", "known", "told"),
    [
        ("Opnai", ["openai", "google"], "; did you mean 'openai'?"),
        ("GOO", ["openai", "google"], "; did you mean 'google'?"),
        ("gle", ["openai", "google"], "; did you mean 'google'?"),
        ("le", ["openai", "google"], "; known: openai, google"),
        ("zzz", ["openai", "google"], "; known: openai, google"),
        ("", ["openai", "google"], "; known: openai, google"),
    ],
)
def test_a_near_name_is_suggested_else_all(found: str, known: list[str], told: str) -> None:
    assert suggest(found, iter(known)) == told


def test_schemes_are_ours_or_a_plugin_s() -> None:
    assert all(map(known_scheme, ("openai", "house", "human", "https")))
    assert not known_scheme("openai2")


PLAYERS = ["ada", "bob", "cyd"]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("best known", Goal("top", 1)),
        ("  top 2   known ", Goal("top", 2)),
        ("top 2 known to 12.5", Goal("top", 2, within=12.5)),
        ("order known", Goal("order")),
        ("order known to 50", Goal("order", within=50.0)),
        ("ada placed", Goal("placed", player="ada", within=50.0)),
        ("cyd placed to 20", Goal("placed", player="cyd", within=20.0)),
    ],
)
def test_goals_as_people_write_them(text: str, goal: Goal) -> None:
    assert goal_of(text, PLAYERS) == goal


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("best placed", "'best placed': no player is called 'best'; known: ada, bob, cyd"),
        ("ada known", "'ada known' is no goal"),
        ("bst known", "'bst known' is no goal; did you mean 'best known'?"),
        ("zoe placed", "'zoe placed': no player is called 'zoe'; known: ada, bob, cyd"),
        ("bo placed", "'bo placed': no player is called 'bo'; did you mean 'bob'?"),
        ("top 3 known", "'top 3 known': there are 3 players, so expected first 1 to 2"),
        ("top 0 known", "'top 0 known': there are 3 players, so expected first 1 to 2"),
    ],
)
def test_what_is_no_goal_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as wrong:
        goal_of(text, PLAYERS)
    assert str(wrong.value).startswith(told)


@pytest.mark.parametrize(
    "player",
    [
        {"model": "openai:m", "base_url": "http://h:99999/v1"},
        {"model": "openai:m", "base_url": "http://user:secret@[h/v1"},
        {"model": "http://h:port/answer"},
        {"model": "openai:m", "base_url": "http://user:secret/1@h/v1"},
        {"model": "https://user:secret@[h/answer"},
    ],
)
def test_an_address_that_is_none_is_told_without_what_it_holds(player: Any) -> None:
    with pytest.raises(ValidationError) as wrong:
        PlayerSettings.model_validate(player)
    assert said(wrong.value).startswith("its host or port is none; write an address such as")
    assert "secret" not in said(wrong.value)


HOSTED = {"model": "gguf:a.gguf", "name": "a", "host": "gpu"}


@pytest.mark.parametrize(
    ("player", "hosts", "told"),
    [
        ({}, {"gpx": {}}, "player 'a' has the host 'gpu', which `hosts` does not name; did you mean 'gpx'?"),
        ({}, {}, "player 'a' has the host 'gpu', which `hosts` does not name"),
        (
            {"model": "openai:m", "base_url": "http://h"},
            {"gpu": {}},
            "hosts.gpu does not say how it is started, which only `gguf:` models can do without, and serves "
            "'openai:m'; state its `start`",
        ),
    ],
)
def test_what_is_wrong_with_a_host_is_told(player: Any, hosts: Any, told: str) -> None:
    with pytest.raises(ValidationError) as wrong:
        ArenaSettings.model_validate({"players": [HOSTED | player], "hosts": hosts})
    assert said(wrong.value) == told


def test_a_hosted_player_costs_its_host_s_hour() -> None:
    stated = {
        "players": [HOSTED, "house:0.5"],
        "hosts": {"gpu": {"usd_per_hour": 3}},
    }
    settings = ArenaSettings.model_validate(stated)
    assert [player.gpu_hour_price for player in settings.players] == [3, None]
