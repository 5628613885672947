"""The money and tokens of one request to an agent, shared out among the calls to its model."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from peerage.game.work import MOST_CALLS, ModelCall
from peerage.players.agents.gateway_forms import Unfit
from peerage.players.prices import OVERHEAD_TOKENS, Price
from peerage.values.figures import known_sum

SPENT = "insufficient budget: too little is left of this request's for the call"
LEAST_OUTPUT = 256
"""Output tokens below which a call is not worth its input, unless the agent wants fewer."""


class Metered(NamedTuple):
    """The calls of one request to an agent. Tokens are None where a provider did not state them all.
    `cost_nano` (1e-9 dollars) is the known part of the cost, None where a price is unknown; `possibly_nano`
    may have been paid on top. `models` are those that the provider named."""

    calls: tuple[ModelCall, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost_nano: int | None = None
    possibly_nano: int = 0
    models: tuple[str, ...] = ()

    @property
    def most_nano(self) -> int | None:
        """Return what all may have cost at most."""
        return None if self.cost_nano is None else self.cost_nano + self.possibly_nano

    @property
    def failed(self) -> bool:
        """Return whether a call of the model failed, which may be why its agent did."""
        return any(call.status != 200 or call.note for call in self.calls)

    @property
    def spent(self) -> bool:
        """Return whether a call was refused because too little was left of the request's money, tokens or
        calls."""
        return len(self.calls) >= MOST_CALLS or any(call.refused == SPENT for call in self.calls)


@dataclass(eq=False)
class MeteredCall:
    """A call, and what is reserved for it; when it has ended, `nano` is what it may have cost beyond what is
    known."""

    made: ModelCall
    nano: int = 0
    tokens: int = 0


class RequestAccount:
    """The money (1e-9 dollars) and tokens that are left of one request, next to its calls in flight."""

    def __init__(self, price: Price, nano: int, tokens: int) -> None:
        self.price, self.nano, self.tokens = price, nano, tokens
        self.calls: list[MeteredCall] = []
        self.flying: set[MeteredCall] = set()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.refused = 0
        self.changed = asyncio.Event()

    def most(self, size: int, wanted: int, others: Iterable[MeteredCall]) -> int:
        """Return the most output tokens, up to `wanted`, that a call of `size` input tokens can have next to
        `others` at their worst; negative where it cannot be made."""
        tokens, nano = self.tokens - size - OVERHEAD_TOKENS, self.nano
        for call in others:
            tokens, nano = tokens - call.tokens, nano - call.nano
        limits = range(min(wanted, tokens) + 1)
        return bisect_right(limits, nano, key=lambda limit: self.price.worst_nano(size, limit) or 0) - 1

    async def reserve(self, call: MeteredCall, size: int, wanted: int) -> int:
        """Reserve a call's worst case, and return its limit of output. Raises Unfit where none can fit."""
        least = min(wanted, LEAST_OUTPUT)
        while (limit := self.most(size, wanted, self.flying)) < least:
            if self.most(size, wanted, ()) < least:
                raise Unfit(SPENT, 402)
            await self.changed.wait()
        call.nano, call.tokens = self.price.worst_nano(size, limit) or 0, size + OVERHEAD_TOKENS + limit
        self.calls.append(call)
        self.flying.add(call)
        return limit

    def end(self, call: MeteredCall, made: ModelCall) -> None:
        """Count what a call has cost; where that is unknown, its worst. Only its first end counts."""
        if call not in self.flying:
            return
        self.flying.remove(call)
        call.made = made
        stated = made.input_tokens is not None and made.output_tokens is not None
        self.tokens -= (made.input_tokens or 0) + (made.output_tokens or 0) if stated else call.tokens
        call.nano = call.nano if made.cost_nano is None else 0
        self.nano -= call.nano + (made.cost_nano or 0)
        self.changed.set()
        self.changed = asyncio.Event()

    def metered(self) -> Metered:
        """End the request: calls in flight are broken off."""
        for task in self.tasks:
            task.cancel()
        for call in [*self.flying]:
            self.end(call, msgspec.structs.replace(call.made, note="broken off as the request ended"))
        calls = [call.made for call in self.calls]
        asked = known_sum([call.input_tokens for call in calls])
        output = known_sum([call.output_tokens for call in calls])
        cached = None if asked is None else sum([call.cached_tokens or 0 for call in calls])
        unpriced = any(call.made.cost_nano is None and not call.nano for call in self.calls)
        cost = None if unpriced else sum([call.cost_nano or 0 for call in calls])
        models = tuple(dict.fromkeys([call.model for call in calls if call.model]))
        possibly = sum([call.nano for call in self.calls])
        return Metered(tuple(calls), asked, output, cached, cost, possibly, models)
