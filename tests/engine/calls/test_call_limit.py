"""The limit of calls in flight against simulated providers, in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import count, pairwise
from math import exp
from statistics import median

import pytest
from tests import virtual

from peerage.engine.calls.call_limit import FIRST, FIRST_LOCAL, REST, CallLimit, Load
from peerage.engine.calls.dispatch import Dispatcher, Lane
from peerage.players.keys import capacity
from peerage.settings import PlayerSettings


class Provider:
    """Answers after `seconds(calls in flight)`, works on `slots` at once, and turns calls beyond `capacity`
    away within 0.1 s. Callers never run out of calls; those turned away are asked again."""

    def __init__(
        self,
        seconds: Callable[[int], float],
        *,
        capacity: int = 10**9,
        slots: int = 10**9,
        limit: CallLimit | None = None,
        players: Sequence[str] = ("ada",),
    ) -> None:
        self.seconds, self.capacity = seconds, capacity
        self.limit = CallLimit(FIRST, 1000) if limit is None else limit
        self.limits: list[int] = []
        self.answered = self.refused = self.now = self.most = 0
        self._free = asyncio.Semaphore(slots)
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self.dispatcher: Dispatcher[str] = Dispatcher(10**6, self._send)
        for player in players:
            self.dispatcher.add(player, Lane(shared=self.limit))
            for _ in range(2 * self.limit.most):
                self.dispatcher.submit(player, player, 0)

    def _send(self, player: str) -> None:
        task = self._loop.create_task(self._call(player))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, player: str) -> None:
        sent = self._loop.time()
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now > self.capacity:
            await asyncio.sleep(0.1)
            self.refused += 1
            load = Load(overload="429")
        else:
            async with self._free:
                await asyncio.sleep(self.seconds(self.now))
            self.answered += 1
            load = Load(self._loop.time() - sent)
        self.now -= 1
        self.dispatcher.returned(player, sent, load)
        self.dispatcher.submit(player, player, 0)

    async def run(self, seconds: int) -> None:
        for _ in range(seconds):
            await asyncio.sleep(1)
            self.limits.append(self.limit.limit)


def simulated(seconds: int, made: Callable[[], Provider]) -> Provider:
    """The provider after so many seconds."""

    async def main() -> Provider:
        provider = made()
        await provider.run(seconds)
        return provider

    return virtual.run(main())


def lasting(mean: float, spread: float, seed: int = 1) -> Callable[[int], float]:
    """Seconds of log-normal spread, whatever is in flight."""
    rng = random.Random(seed)
    return lambda _: mean * rng.lognormvariate(0, spread)


@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_a_provider_of_seven_is_given_five_to_nine_and_turns_few_away(spread: float) -> None:
    provider = simulated(300, lambda: Provider(lasting(1, spread), capacity=7))
    settled = provider.limits[30:]
    assert 5 <= median(settled) <= 9
    assert sum(5 <= limit <= 9 for limit in settled) > 0.9 * len(settled)
    assert provider.refused <= 0.01 * provider.answered
    assert provider.most == 8, "one more than it bears is tried, by one call"


def test_a_provider_of_two_hundred_is_given_over_a_hundred_within_a_minute() -> None:
    provider = simulated(60, lambda: Provider(lambda _: 1.0, capacity=200))
    assert max(provider.limits[:10]) > 100
    assert min(provider.limits[15:]) > 90
    assert provider.refused < 0.02 * provider.answered


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("seconds", "most"), [(0.2, 64), (40.0, 64), (2.0, 8)])
def test_a_provider_whose_replies_take_as_long_at_any_load_gets_all_that_may_be_sent(
    seconds: float, most: int, spread: float
) -> None:
    limit = CallLimit(FIRST, most)
    provider = simulated(
        round(6400 / most * seconds), lambda: Provider(lasting(seconds, spread), limit=limit)
    )
    later = provider.limits[len(provider.limits) // 5 :]
    assert sum(limit == most for limit in later) > 0.95 * len(later)
    if not spread:
        assert sorted(provider.limits) == provider.limits, "the limit never falls"
        assert not limit.why


def test_replies_of_very_different_lengths_are_seldom_taken_for_slow() -> None:
    def provider_of(seed: int) -> Provider:
        return simulated(2000, lambda: Provider(lasting(2, 1.0, seed), limit=CallLimit(FIRST, 8)))

    falls = 0
    for provider in map(provider_of, range(4)):
        falls += sum(later < earlier for earlier, later in pairwise(provider.limits))
    assert falls <= 2


@pytest.mark.parametrize("first", [FIRST_LOCAL, FIRST])
@pytest.mark.parametrize("spread", [0.0, 0.4])
@pytest.mark.parametrize("slots", [1, 4, 16])
def test_a_server_that_lets_calls_wait_gets_about_as_many_as_it_works_on(
    slots: int, spread: float, first: int
) -> None:
    seconds = 800
    provider = simulated(
        seconds, lambda: Provider(lasting(1, spread, 3), slots=slots, limit=CallLimit(first, 256))
    )
    assert 0.7 * slots <= median(provider.limits[300:]) <= 2 * slots
    worked = provider.answered * exp(spread * spread / 2) / (slots * seconds)
    assert worked > 0.9, "its slots are kept busy"


def test_replies_that_slow_in_proportion_leave_few_calls_in_flight() -> None:
    provider = simulated(600, lambda: Provider(lambda now: 0.25 * now))
    assert median(provider.limits[200:]) <= 2


def test_longer_replies_at_any_load_are_no_reason_for_fewer_calls() -> None:
    async def main() -> None:
        provider = Provider(lambda _: 1.0, limit=CallLimit(FIRST, 64))
        await provider.run(60)
        provider.seconds = lambda _: 3.0
        await provider.run(240)
        assert min(provider.limits[60:]) == 32, "that is checked"
        assert sum(limit == 64 for limit in provider.limits[60:]) > 220
        assert not provider.limit.why

    virtual.run(main())


def test_a_slow_reply_now_and_then_is_no_load() -> None:
    seconds = (9.0 if number % 7 == 0 else 1.0 for number in count(1))
    provider = simulated(300, lambda: Provider(lambda _: next(seconds), limit=CallLimit(FIRST, 8)))
    assert min(provider.limits) == FIRST
    assert median(provider.limits) == 8


def test_a_provider_that_fails_for_a_while_soon_gets_as_many_as_before() -> None:
    async def main() -> None:
        provider = Provider(lambda _: 1.0, limit=CallLimit(FIRST, 64))
        await provider.run(30)
        assert provider.limit.limit == 64
        provider.capacity = 0
        await provider.run(10)
        assert provider.limit.limit == 1
        assert provider.limit.why == "halved after 429"
        provider.capacity = 10**9
        await provider.run(50)
        assert provider.limit.limit == 64
        assert not provider.limit.why

    virtual.run(main())


def test_players_of_one_capacity_share_its_limit() -> None:
    provider = simulated(100, lambda: Provider(lambda _: 1.0, capacity=7, players=("ada", "bob")))
    assert provider.most == 8


def filled(limit: CallLimit) -> None:
    while not limit.full:
        limit.left()


def test_all_failures_of_one_round_halve_the_limit_once() -> None:
    limit = CallLimit(16, 64)
    filled(limit)
    for second in range(16):
        limit.returned(1.0 + second, 0.0, Load(overload="429"))
    assert (limit.limit, limit.in_flight) == (8, 0)
    filled(limit)
    limit.returned(30.0, 29.0, Load(overload="429"))
    assert limit.limit == 4


def test_half_of_what_was_in_flight_is_kept_not_of_what_might_have_been() -> None:
    limit = CallLimit(64, 64)
    for _ in range(6):
        limit.left()
    limit.returned(1.0, 0.0, Load(overload="503"))
    assert (limit.limit, limit.why) == (3, "halved after 503")


def test_a_check_of_slower_replies_is_not_halved_again_for_calls_sent_before() -> None:
    limit = CallLimit(8, 8)
    for seconds in (1.0, 10.0):
        for number in range(8):
            filled(limit)
            limit.returned(seconds + number, 0.0 if seconds == 1.0 else 9.0, Load(seconds))
    assert (limit.limit, limit.in_flight) == (4, 7)
    limit.returned(18.0, 16.0, Load(overload="429"))
    assert limit.limit == 4
    limit.returned(19.0, 18.0, Load(overload="429"))
    assert limit.limit == 2


def test_a_limit_back_at_its_bound_or_beyond_its_ceiling_has_no_reason_any_more() -> None:
    limit = CallLimit(1, 1)
    limit.left()
    limit.returned(1.0, 0.0, Load(overload="429"))
    assert limit.why
    for second in range(1, 5):
        limit.left()
        limit.returned(second + 1.0, second, Load(1.0))
    assert (limit.limit, limit.why) == (1, "")

    async def main() -> None:
        provider = Provider(lambda _: 1.0, capacity=7)
        await provider.run(10)
        provider.capacity = 10**9
        while provider.limit.limit <= 8:
            assert provider.limit.why == "halved after 429"
            await provider.run(1)
        assert not provider.limit.why

    virtual.run(main())


def test_a_call_that_hangs_among_many_is_no_overload_and_several_are() -> None:
    for late, halved in ((3, False), (4, True)):
        limit = CallLimit(32, 32)
        filled(limit)
        for _ in range(late):
            limit.returned(120.0, 0.0, Load(overload="no reply in time", late=True))
        assert (limit.limit < 32) == halved


def test_a_limit_that_is_not_reached_does_not_grow() -> None:
    limit = CallLimit(FIRST, 64)
    for second in range(500):
        for _ in range(FIRST - 1):
            limit.left()
        for _ in range(FIRST - 1):
            limit.returned(second + 0.9, second, Load(0.9))
    assert limit.limit == FIRST


def test_a_call_that_tells_nothing_changes_nothing() -> None:
    limit = CallLimit(FIRST, 64)
    for second in range(500):
        filled(limit)
        limit.returned(second + 0.9, second, None)
    assert (limit.limit, limit.why) == (FIRST, "")


def test_attempts_to_go_beyond_a_ceiling_become_rare() -> None:
    async def main() -> None:
        provider = Provider(lambda _: 1.0, capacity=7)
        refused = []
        for _ in range(2000):
            before = provider.refused
            await provider.run(1)
            refused.append(provider.refused > before)
        at = [second for second, some in enumerate(refused) if some]
        gaps = [later - earlier for earlier, later in pairwise(at)]
        assert REST <= gaps[0] < gaps[1] < gaps[2]
        assert gaps[-1] > 3 * REST

    virtual.run(main())


def test_calls_that_wait_for_a_lowered_limit_are_told_with_the_reason() -> None:
    async def main() -> None:
        provider = Provider(lambda _: 1.0, capacity=7)
        assert provider.dispatcher.lowered() == {}
        await provider.run(20)
        told = f"at most {provider.limit.limit} in flight, halved after 429"
        assert provider.dispatcher.lowered() == {"ada": told}

    virtual.run(main())


KEYS = {"OPENAI_API_KEY": "a", "OTHER_KEY": "b", "OPENROUTER_API_KEY": "c"}


def of(**settings: object) -> tuple[str, ...]:
    return capacity(PlayerSettings.model_validate(settings), KEYS)


def test_players_share_a_limit_by_model_and_key_or_by_local_server() -> None:
    mini = of(model="openai:gpt-5-mini")
    assert mini == of(model="openai:gpt-5-mini", name="v2", system_prompt="Be brief.", max_tokens=100)
    others = [
        of(model="openai:gpt-5"),
        of(model="openai:gpt-5-mini", service_tier="flex"),
        of(model="openai:gpt-5-mini", key_env="OTHER_KEY"),
        of(model="openai:gpt-5-mini", base_url="https://example.com/v1"),
        of(model="http://example.com/agent"),
        of(model="openrouter:a/b"),
        of(model="openrouter:a/b", provider={"only": ["x"]}),
    ]
    assert len({mini, *others}) == 1 + len(others)
    assert of(model="ollama:a") == of(model="ollama:b") == ("http://localhost:11434/v1",)
    for alone in ("house:0.5", "human:ada", "gguf:m.gguf", "command:./agent", "python:a:b"):
        assert of(model=alone) == ()
