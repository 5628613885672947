"""A player asked in batches: what is on record before it waits, what comes back, and by which way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from tests.players.test_prices import TODAY
from tests.players.test_provider import VERDICT, call

from peerage.engine.registration import card, identity
from peerage.players import batches, open_client
from peerage.players.batches import BatchClient
from peerage.players.client import Later, PlayerError, SentBatch
from peerage.players.prices import price_of
from peerage.players.provider import ProviderClient
from peerage.settings import PlayerSettings


def settings(model: str = "openai:gpt-5-mini", **stated: Any) -> PlayerSettings:
    return PlayerSettings(**{"model": model, "batch": True, "key_env": "KEY", **stated})


async def in_memory(monkeypatch: pytest.MonkeyPatch) -> BatchClient:
    """A client whose model is the library's own batch API in memory."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart("well")])

    monkeypatch.setattr(batches, "QUIET_S", 0.0)
    monkeypatch.setattr(batches, "LOOK_S", 0.0)
    monkeypatch.setattr(ProviderClient, "_open_model", lambda _: FunctionModel(reply))
    client = open_client(settings(), {"KEY": "sk"}, Path())
    assert isinstance(client, BatchClient)
    await client.start()
    return client


async def test_a_batch_is_on_record_before_a_call_waits_and_wakes_its_matches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = await in_memory(monkeypatch)
    recorded: list[SentBatch] = []
    durable = asyncio.Event()
    woken: asyncio.Queue[str] = asyncio.Queue()

    async def record(sent: SentBatch) -> None:
        recorded.append(sent)
        await durable.wait()

    client.go_on([], record, {})
    client.listen([], woken.put_nowait)
    asked = [
        asyncio.ensure_future(client.answer(call(seed=seed, most_nano=7))) for seed in ("one", "another")
    ]
    while not recorded:
        await asyncio.sleep(0)
    assert client.away_s() == 0
    assert not any(one.done() for one in asked)
    durable.set()
    for one in asked:
        with pytest.raises(Later) as later:
            await one
        assert later.value.sent
    assert {await woken.get(), await woken.get()} == {"one", "another"}
    assert [(await client.answer(call(seed=seed))).text for seed in ("one", "another")] == ["well", "well"]
    assert len(recorded) == 1
    assert sorted(recorded[0].requests.values()) == [7, 7]
    await client.close()


async def test_a_call_given_up_while_its_batch_is_made_is_not_sent_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = await in_memory(monkeypatch)
    recorded: list[SentBatch] = []
    durable = asyncio.Event()

    async def record(sent: SentBatch) -> None:
        recorded.append(sent)
        await durable.wait()

    client.go_on([], record, {})
    first = asyncio.ensure_future(client.answer(call()))
    while not recorded:
        await asyncio.sleep(0)
    first.cancel()
    again = asyncio.ensure_future(client.answer(call()))
    for _ in range(10):
        await asyncio.sleep(0)
    durable.set()
    with pytest.raises(Later):
        await again
    assert len(recorded) == 1
    await client.close()


async def test_without_a_run_a_call_goes_at_once_at_its_whole_price(monkeypatch: pytest.MonkeyPatch) -> None:
    client = await in_memory(monkeypatch)
    answer = await client.answer(call())
    assert (answer.text, answer.times) == ("well", 2)
    await client.close()


STATED = {"system_prompt": "Be kind.", "max_tokens": 200, "reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("model", "stated"),
    [("openai:gpt-5-mini", STATED), ("openai:gpt-4o-mini", {"temperature": 0.3, "top_p": 0.9})],
)
async def test_the_same_settings_hold_on_both_of_openais_ways(model: str, stated: dict[str, Any]) -> None:
    client = open_client(settings(model, **stated), {"KEY": "sk"}, Path())
    single = open_client(settings(model, batch=False, **stated), {"KEY": "sk"}, Path())
    assert isinstance(client, BatchClient)
    assert isinstance(single, ProviderClient)
    await client.start()
    await single.start()
    provider = client._provider
    through_responses = provider.request(call(VERDICT), "id")
    through_chat = single.request(call(VERDICT), "id")
    assert isinstance(single.model, OpenAIChatModel)
    assert through_responses.model_settings == through_chat.model_settings
    assert through_responses.model_request_parameters == through_chat.model_request_parameters
    body = json.loads((await provider.model.batch_encode(through_responses)).body)
    asked = dict(through_chat.model_settings or {})
    assert body["max_output_tokens"] == asked["max_tokens"]
    assert body["text"]["format"]["schema"]
    for name in ("temperature", "top_p"):
        assert body.get(name) == asked.get(name)
    if "reasoning_effort" in stated:
        assert body["reasoning"]["effort"] == "low"
        assert "Be kind." in json.dumps(body)
    await client.close()
    await single.close()


def test_a_batch_is_the_same_version_where_the_same_settings_hold_and_is_marked() -> None:
    both = settings(), settings(batch=False)
    assert identity(both[0], "k") == identity(both[1], "k")
    shown = card(both[0], price_of(both[0], TODAY))
    assert shown["batch"] is True
    assert shown["batch_through"] == "Responses"
    assert "batch_through" not in card(both[1], price_of(both[1], TODAY))
    elsewhere = (
        settings(base_url="http://localhost:1/v1"),
        settings(base_url="http://localhost:1/v1", batch=False),
    )
    assert identity(elsewhere[0], "k") != identity(elsewhere[1], "k")


def test_a_batch_costs_half() -> None:
    for model in ("openai:gpt-5-mini", "anthropic:claude-haiku-4-5", "google:gemini-2.5-flash"):
        half, whole = (price_of(settings(model, batch=batch), TODAY) for batch in (True, False))
        assert half.cost_nano(10**6, 10**6, 0) == (whole.cost_nano(10**6, 10**6, 0) or 0) // 2
        assert "batches" in half.source
    assert not price_of(settings(base_url="http://localhost:1/v1"), TODAY).known


@pytest.mark.parametrize("other", [{"daily_budget": 1}, {"service_tier": "flex"}])
def test_what_does_not_go_with_batches_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="found both `batch: true` and"):
        settings(**other)
    with pytest.raises(ValueError, match="is sold by anthropic, google, openai, not by 'groq'"):
        settings("groq:llama")


async def test_a_model_without_batches_is_refused_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProviderClient, "_open_model", lambda _: OpenAIChatModel("x", provider="openai"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk")
    client = open_client(settings(), {"KEY": "sk"}, Path())
    with pytest.raises(PlayerError, match="cannot be asked in batches"):
        await client.start()
    await client.close()
