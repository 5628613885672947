"""The money of one request, shared out among calls at once: it is never exceeded, and no call is stuck."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerage.game.work import ModelCall
from peerage.players.agents.gateway_account import LEAST_OUTPUT, MeteredCall, RequestAccount
from peerage.players.agents.gateway_forms import Unfit, input_bound
from peerage.players.prices import OVERHEAD_TOKENS, Price, Rate

TIERED = Price(
    "stated",
    (Rate(0, 1_250_000_000), Rate(2000, 2_500_000_000)),
    (Rate(0, 10_000_000_000), Rate(2000, 15_000_000_000)),
)


@given(
    nano=st.integers(0, 10**9),
    tokens=st.integers(0, 200_000),
    size=st.integers(0, 50_000),
    wanted=st.integers(1, 10**7),
)
def test_the_limit_is_the_largest_that_money_and_tokens_allow(
    nano: int, tokens: int, size: int, wanted: int
) -> None:
    def fits(limit: int) -> bool:
        worst = TIERED.worst_nano(size, limit)
        assert worst is not None
        return worst <= nano and size + OVERHEAD_TOKENS + limit <= tokens

    most = RequestAccount(TIERED, nano, tokens).most(size, wanted, ())
    assert most <= wanted
    if most < 0:
        assert not fits(0)
    else:
        assert fits(most)
        assert most == wanted or not fits(most + 1)


@given(seed=st.integers(0, 10**6), count=st.integers(1, 50))
def test_calls_at_once_keep_to_the_money_and_all_of_them_end(seed: int, count: int) -> None:
    asyncio.run(_calls(Random(seed), count))


async def _calls(rng: Random, count: int) -> None:
    nano, tokens = rng.randrange(1, 10**9), rng.randrange(1, 300_000)
    account = RequestAccount(TIERED, nano, tokens)

    async def call() -> bool:
        size, wanted = rng.randrange(1, 20_000), rng.randrange(1, 40_000)
        own = MeteredCall(ModelCall("chat"))
        try:
            limit = await account.reserve(own, size, wanted)
        except Unfit:
            # Of what is left now, without those in flight, it could not be paid either.
            assert account.most(size, wanted, account.flying) < min(wanted, LEAST_OUTPUT)
            return False
        assert sum(each.nano for each in account.flying) <= account.nano
        assert sum(each.tokens for each in account.flying) <= account.tokens
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        if rng.random() < 0.3:
            account.end(own, ModelCall("chat"))
        else:
            asked, said = rng.randrange(1, size + OVERHEAD_TOKENS + 1), rng.randrange(limit + 1)
            cost = TIERED.cost_nano(asked, said, 0)
            account.end(own, ModelCall("chat", "", 200, asked, said, None, cost))
        return True

    async with asyncio.timeout(5):
        sent = await asyncio.gather(*[call() for _ in range(count)])
    metered = account.metered()
    assert len(metered.calls) == sum(sent)
    assert metered.cost_nano is not None
    assert metered.cost_nano + metered.possibly_nano == nano - account.nano <= nano
    assert 0 <= account.tokens <= tokens


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_bytes_that_differ_count_as_tokens(begin: bytes, old: bytes, new: bytes, end: bytes) -> None:
    before, now = begin + old + end, begin + new + end
    bound = input_bound(now, [(before, 16)])
    assert min(len(now), 18) <= bound <= min(len(now), 18 + len(new))
    assert input_bound(now, [(now, 16)]) == min(len(now), 18)
    assert input_bound(now) == len(now)


async def test_only_the_first_end_of_a_call_counts() -> None:
    account = RequestAccount(TIERED, 10**9, 10**6)
    call = MeteredCall(ModelCall("chat"))
    await account.reserve(call, 1000, 100)
    worst = TIERED.worst_nano(1000, 100)
    metered = account.metered()
    account.end(call, ModelCall("chat", "", 200, 10, 10, None, 5))
    assert (metered.cost_nano, metered.possibly_nano, account.nano) == (0, worst, 10**9 - (worst or 0))
    assert account.metered() == metered


@pytest.mark.parametrize("wanted", [1, LEAST_OUTPUT, 10**6])
async def test_what_never_fits_is_refused_at_once(wanted: int) -> None:
    account = RequestAccount(TIERED, 1_000_000, 10**6)
    with pytest.raises(Unfit, match="insufficient budget"):
        await account.reserve(MeteredCall(ModelCall("chat")), 1000, wanted)
