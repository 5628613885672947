"""Prices: exact, rounded up, unknown never free, the worst case never exceeded."""

from datetime import date
from fractions import Fraction
from importlib.metadata import version
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from peerage.engine.calls.player_runtime import Limit, PlayerRuntime, priced
from peerage.game.protocol import MORE_ROOM
from peerage.players import prices
from peerage.players.client import Answer
from peerage.players.models.provider import ProviderClient
from peerage.players.models.thinking import ThinkingRoom, room
from peerage.players.prices import NANO, Price, Rate, in_price_table, known_models, nano, price_of
from peerage.settings import PlayerSettings

TODAY = date(2026, 6, 1)


def price(model: str = "openai:gpt-4o-mini", **stated: Any) -> Price:
    return price_of(PlayerSettings(model=model, **stated), TODAY)


@pytest.mark.parametrize(
    ("model", "dollars_in", "dollars_out"),
    [
        ("openai:gpt-4o-mini", "0.15", "0.6"),
        ("groq:llama-3.3-70b-versatile", "0.59", "0.79"),
        ("xai:grok-4", "3", "15"),
        ("openrouter:openai/gpt-5-mini", "0.25", "2"),
    ],
)
def test_the_tables_prices(model: str, dollars_in: str, dollars_out: str) -> None:
    found = price(model)
    assert found.cost_nano(1_000_000, 0, 0) == Fraction(dollars_in) * NANO
    assert found.cost_nano(0, 1_000_000, 0) == Fraction(dollars_out) * NANO
    assert found.source.startswith("genai-prices ")
    assert found.source.endswith("2026-06-01")


@pytest.mark.parametrize(
    ("model", "dollars_in", "dollars_out"),
    [("deepseek-chat", "0.27", "1.1"), ("deepseek-v4-pro", "1.32", "3.96")],
    ids=["dear by day in Europe", "dear by day in China"],
)
def test_a_model_whose_price_depends_on_the_hour_costs_what_it_costs_at_its_dearest(
    model: str, dollars_in: str, dollars_out: str
) -> None:
    """Runs go on at any hour, and no budget may be exceeded at any."""
    found = price(f"openai:{model}", base_url="https://api.deepseek.com/v1", key_env="K")
    assert found.cost_nano(1_000_000, 0, 0) == Fraction(dollars_in) * NANO
    assert found.cost_nano(0, 1_000_000, 0) == Fraction(dollars_out) * NANO
    assert found.source.endswith("2026-06-01, at its most expensive hour")


def test_a_tier_prices_every_token_of_the_call() -> None:
    found = price("google:gemini-2.5-pro")
    assert found.cost_nano(200_000, 0, 0) == 250_000_000
    assert found.cost_nano(200_001, 0, 0) == 200_001 * 2_500
    assert found.cost_nano(200_001, 10, 0) == 200_001 * 2_500 + 10 * 15_000


@pytest.mark.parametrize(
    "model",
    [
        "openai:no-such-model-at-all",
        "ollama:llama3",
        "huggingface:meta-llama/Llama-3.3-70B-Instruct",
        "gguf:model.gguf",
        "command:agent",
        "http://127.0.0.1/agent",
        "python:m:f",
    ],
)
def test_an_unknown_price_is_none_and_never_zero(model: str) -> None:
    found = price(model)
    assert not found.known
    assert found.source == ""
    assert found.cost_nano(10, 10, 10) is None
    assert found.worst_nano(10, 10) is None


def test_a_known_model_on_another_server_has_no_price() -> None:
    assert not price("openai:gpt-4o-mini", base_url="http://127.0.0.1:8000/v1").known


def test_a_known_server_has_its_own_prices_with_what_it_charges_a_call() -> None:
    found = price("openai:sonar", base_url="https://api.perplexity.ai")
    assert found.cost_nano(1_000_000, 0, 0) == NANO + found.call_nano
    assert found.call_nano > 1_000_000
    assert found.worst_nano(1_000_000, 0) == NANO + 1_000_000 + found.call_nano


def test_a_model_behind_a_router_costs_what_its_host_asks() -> None:
    hosts = [price(f"huggingface:meta-llama/Llama-3.3-70B-Instruct:{host}") for host in ("groq", "together")]
    assert hosts[0].cost_nano(10**6, 0, 0) == 590_000_000
    assert hosts[1].cost_nano(10**6, 0, 0) == 880_000_000


@pytest.mark.parametrize(("day", "dollars"), [(date(2025, 6, 1), 10), (date(2025, 7, 1), 2)])
def test_a_price_is_that_of_its_day(day: date, dollars: int) -> None:
    found = price_of(PlayerSettings(model="openai:o3"), day)
    assert found.cost_nano(10**6, 0, 0) == dollars * NANO
    assert found.source.endswith(day.isoformat())


def test_a_stated_price_wins_and_keeps_its_source() -> None:
    found = price(price={"input": 0.0375, "output": 0.15}, pricing_source="the contract of May")
    assert found.source == "the contract of May"
    assert found.cost_nano(1, 0, 0) == 38
    assert found.cost_nano(2, 1, 0) == 75 + 150


def test_unreported_usage_has_unknown_cost_unless_free() -> None:
    assert price().cost_nano(None, 5, 0) is None
    assert price(price={"input": 0, "output": 0}).cost_nano(None, None, 0) == 0
    assert price("house:0.5").cost_nano(None, None, 99) == 0
    assert price("house:0.5").worst_nano(10_000, 500) == 0


def test_hardware_by_the_hour() -> None:
    found = price("gguf:m.gguf", gpu_hour_price=3.6, timeout_s=2)
    assert found.source == "stated per GPU hour"
    assert price("gguf:m.gguf", gpu_hour_price=3.6, pricing_source="the bill").source == "the bill"
    assert found.cost_nano(None, None, 1) == 1_000
    assert found.worst_nano(10**9, 10**9) == 2_000_000
    assert price("gguf:m.gguf", gpu_hour_price=1e-9).cost_nano(1, 1, 1) == 1


def test_the_players_own_limit_bounds_the_worst_case() -> None:
    free_in = {"price": {"input": 0, "output": 1}}
    assert price(**free_in).worst_nano(0, 1000) == 1_000_000
    assert price(**free_in, max_tokens=10).worst_nano(0, 1000) == 10_000


def test_the_system_prompt_counts_in_the_worst_case() -> None:
    bare, long = (price(price={"input": 1, "output": 1}, system_prompt=text) for text in ("", "é" * 100))
    assert long.worst_nano(0, 1) == (bare.worst_nano(0, 1) or 0) + 200 * 1_000


def test_hours_are_exact() -> None:
    hour = price("gguf:m.gguf", gpu_hour_price=3600, timeout_s=3600)
    assert [hour.cost_nano(None, None, ms) for ms in (-1, 0, 1, 3_600_000)] == [0, 0, 10**6, 3600 * NANO]
    assert hour.worst_nano(0, 0) == 3600 * NANO
    assert not hour.free
    assert Price(hour_nano=0).known


def test_thinking_counts_in_the_worst_case_and_grows_with_more_room() -> None:
    thinks = Price("x", (Rate(0, 0),), (Rate(0, 10**6),), thinking=ThinkingRoom(7, 3))
    assert thinks.worst_nano(10**6, 100) == 107
    assert thinks.worst_nano(10**6, 100, more_room=True) == 100 + 7 * MORE_ROOM
    settings = PlayerSettings(model="openai:some-model", price={"input": 1, "output": 1})
    for seen in (False, True):
        assert price_of(settings, TODAY, seen).thinking == room(settings, seen)
    assert room(settings, True) != room(settings, False)


def test_a_charge_for_each_call_is_due_whatever_is_read() -> None:
    free_input = Price("x", (Rate(0, 0),), (Rate(0, 10**6),), call_nano=5)
    assert free_input.cost_nano(10**9, 3, 0) == 8
    assert free_input.cost_nano(10**9, None, 0) is None
    nothing_more = Price("x", (Rate(0, 0),), (Rate(0, 0),), call_nano=5)
    assert not nothing_more.free
    assert (nothing_more.cost_nano(None, None, 0), nothing_more.worst_nano(9, 9)) == (5, 5)


def test_who_is_not_paid() -> None:
    nothing = (Rate(0, 0),)
    house = price("house:0.5", max_tokens=9, timeout_s=2, system_prompt="é")
    limits = {"limit": 9, "timeout_ms": 2000, "prompt_bytes": 2, "model": "house:0.5"}
    assert house == Price("house players are free", nothing, nothing, **limits)
    assert price("human:ann", timeout_s=2) == Price(
        "people are not paid", nothing, nothing, timeout_ms=2000, model="human:ann"
    )


def test_where_a_price_comes_from() -> None:
    table = f"genai-prices {version('genai-prices')}, 2026-06-01"
    assert price(price={"input": 1, "output": 1}).source == "stated"
    assert price().source == table
    assert price(service_tier="flex").source == f"{table}; half of it, for the flex tier"
    assert price("openai:sonar", base_url="https://api.perplexity.ai").source == table
    assert not price("openai:sonar", base_url="https://api.perplexity.ai", service_tier="flex").known
    assert price(max_tokens=9).limit == 9


def test_tiers_begin_at_nothing() -> None:
    assert [rate.above for rate in price().input] == [0]
    assert [rate.above for rate in price("google:gemini-2.5-pro").input] == [0, 200_000]


def test_the_models_that_the_table_knows() -> None:
    def settings(model: str, **stated: Any) -> PlayerSettings:
        return PlayerSettings(model=model, **stated)

    assert "gpt-4o-mini" in known_models(settings("openai:gpt"))
    assert "grok-3-mini" in known_models(settings("xai:x"))
    assert "gpt-4o-mini" not in known_models(settings("xai:x"))
    assert known_models(settings("openai:gpt-4o-mini", base_url="http://127.0.0.1:8000/v1")) == ()
    assert in_price_table(settings("openai:gpt-4o-mini"))
    assert not in_price_table(settings("openai:no-such-model-at-all"))


@pytest.mark.parametrize("provider", ["gguf", "command", "python", "http", "https"])
def test_what_is_no_provider_has_no_price_whatever_its_name(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prices, "_model_in_table", lambda settings: pytest.fail("it was looked up"))
    address = {"http": "//127.0.0.1/openai/gpt-4o-mini", "https": "//h/gpt-4o-mini", "python": "m:gpt"}
    assert not price(f"{provider}:{address.get(provider, 'gpt-4o-mini')}").known


rates = st.lists(
    st.tuples(st.integers(1, 10**6), st.integers(0, 10**12)), max_size=3, unique_by=lambda rate: rate[0]
)


@given(rates, rates, st.integers(0, 10**9), st.integers(0, 10**7), st.integers(0, 10**7), st.data())
def test_no_reply_costs_more_than_its_worst_case(
    tiers_in: list[tuple[int, int]],
    tiers_out: list[tuple[int, int]],
    base: int,
    input_bytes: int,
    max_tokens: int,
    data: st.DataObject,
) -> None:
    found = Price(
        "x",
        (Rate(0, base), *(Rate(*tier) for tier in sorted(tiers_in))),
        (Rate(0, base), *(Rate(*tier) for tier in sorted(tiers_out))),
    )
    worst = found.worst_nano(input_bytes, max_tokens)
    cost = found.cost_nano(data.draw(st.integers(0, input_bytes)), data.draw(st.integers(0, max_tokens)), 0)
    assert worst is not None
    assert cost is not None
    assert 0 <= cost <= worst


@given(st.decimals(0, 1000, places=6), st.integers(0, 10**7), st.integers(0, 10**7))
def test_costs_are_exact_and_rounded_up(rate: Any, input_tokens: int, output_tokens: int) -> None:
    found = price(price={"input": float(rate), "output": float(rate)})
    exact = Fraction(str(float(rate))) * (input_tokens + output_tokens) * 1000
    assert found.cost_nano(input_tokens, output_tokens, 0) == ceil(exact)


@given(st.floats(0, 1e6))
def test_reported_dollars_round_up(dollars: float) -> None:
    assert nano(dollars) == ceil(Fraction(str(dollars)) * NANO)


def test_the_flex_tier_costs_half_where_the_provider_says_so() -> None:
    whole, half = price(), price(service_tier="flex")
    for tokens in ((10**6, 0), (0, 10**6)):
        usual = whole.cost_nano(*tokens, 0)
        assert usual
        assert half.cost_nano(*tokens, 0) == usual // 2
    assert (half.worst_nano(1000, 500) or 0) < (whole.worst_nano(1000, 500) or 0)
    assert "flex" in half.source
    assert not price("openrouter:openai/gpt-4o-mini", service_tier="flex").known
    stated = price("openrouter:openai/gpt-4o-mini", service_tier="flex", price={"input": 1, "output": 2})
    assert stated.cost_nano(10**6, 0, 0) == NANO
    with pytest.raises(ValueError, match="`service_tier: flex` is sold by"):
        price("anthropic:claude-sonnet-4-5", service_tier="flex")


def test_a_reply_of_a_dearer_tier_costs_so_many_times_its_price() -> None:
    settings = PlayerSettings(model="openai:gpt-4o-mini", service_tier="flex")
    line = PlayerRuntime(settings, ProviderClient(settings, {}), price(service_tier="flex"))
    once, twice = [
        priced(line, Answer("well", 1.0, 1000, 1000, times=times), Limit(500, 0, False, False)).cost_nano
        for times in (1, 2)
    ]
    assert once
    assert twice == 2 * once


def test_dollars_that_a_client_states_are_taken_to_the_billionth() -> None:
    settings = PlayerSettings(model="openai:gpt-4o-mini")
    line = PlayerRuntime(settings, ProviderClient(settings, {}), price())
    stated = [61, 121, 10**9 - 1]  # in binary, a hair more than so many billionths
    costs = [priced(line, Answer("well", 1.0, cost_usd=nano / 1e9)).cost_nano for nano in stated]
    assert costs == stated


def test_tokens_from_a_cache_cost_what_the_provider_asks_for_them() -> None:
    table = price_of(PlayerSettings(model="openai:gpt-5-mini"), TODAY)
    assert table.cost_nano(2_000, 0, 0, 1_500) == 500 * 250 + 1_500 * 25
    assert table.cost_nano(2_000, 0, 0, 9_999) == 2_000 * 25  # no more than were read
    stated = {"model": "openai:gpt-5-mini", "price": {"input": 2, "output": 8, "cached": 0.5}}
    assert (
        price_of(PlayerSettings.model_validate(stated), TODAY).cost_nano(100, 0, 0, 60)
        == 40 * 2_000 + 60 * 500
    )
    undiscounted = {"model": "openai:gpt-5-mini", "price": {"input": 2, "output": 8}}
    assert price_of(PlayerSettings.model_validate(undiscounted), TODAY).cost_nano(100, 0, 0, 60) == 200_000
    flex = price_of(PlayerSettings(model="openai:gpt-5-mini", service_tier="flex"), TODAY)
    assert flex.cost_nano(2_000, 0, 0, 2_000) == 25_000


def test_a_cache_that_costs_more_than_other_input_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"`cached` is 3, more than `input` with 2"):
        PlayerSettings.model_validate({"model": "openai:x", "price": {"input": 2, "output": 8, "cached": 3}})
