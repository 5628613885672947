"""The world outside a simulated machine: providers that keep books, whatever becomes of who asks them.

What befalls an attempt follows from the simulation's seed, the request, and how often it was received before.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any, NamedTuple

import msgspec
from tests.faults.trials import Booked, luck

from peerage.players.client import Answer, Call, Client, Later, PlayerError
from peerage.players.house import HouseClient
from peerage.players.prices import price_of
from peerage.settings import PlayerSettings

IN_A_ROW = 3
"""Failures of one request in one process after which mild weather lets it through."""
LONGEST_S = 900.0
TIMEOUT_S = 1200.0
"""A player's time-out: what takes longer never answers."""


class Weather(NamedTuple):
    """How providers behave. `failing` is the share of attempts that come to nothing; in `wild` weather
    without end, with failures for good, calls put off, nonsense, and another reply each time. `median_s` is
    how long a reply takes, `dear` the share of replies as long as they may be."""

    median_s: float
    failing: float = 0.0
    wild: bool = False
    dear: float = 0.0


class Providers:
    """Every provider there is. `asked(call, player)` hears of each request as it is received, `billed(nano,
    player)` of each bill; `dead` once nobody hears them any more."""

    def __init__(self, seed: int, weather: Weather, now_ms: Callable[[], int]) -> None:
        self.weather = weather
        self.book = Booked(Counter(), Counter())
        self.players: Counter[str] = Counter()
        self.matches: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.asked: Callable[[Call, str], None] = lambda call, player: None
        self.dead = False
        self._seed = seed
        self._now_ms = now_ms

    def open(self, settings: PlayerSettings) -> Client:
        """One player, as one process reaches it."""
        return _Connection(self, settings)

    def draw(self, call: Call) -> Random:
        """What befalls this attempt, by the book."""
        at = self.book.requests[call.seed, call.key]
        return Random(f"{self._seed}/{call.seed}/{call.key}/{at}")

    def enter(self, call: Call, player: str, nano: int) -> None:
        """Book a request, and what it bills; but for the probe of a benched player, which is of no match."""
        request = call.seed, call.key
        if call.key == "probe":
            return
        self.book.requests[request] += 1
        self.book.bills[request] += nano
        self.players[player] += nano
        self.matches[call.seed] += nano
        self.asked(call, player)

    def now_ms(self) -> int:
        return self._now_ms()


class _Connection:
    """A player behind a provider; implements `Client`."""

    def __init__(self, providers: Providers, settings: PlayerSettings) -> None:
        self._providers = providers
        self._name = settings.name
        self._house = HouseClient(settings)
        self._price = price_of(settings, date(2026, 1, 1))
        self._failed: Counter[tuple[str, str]] = Counter()

    async def start(self) -> None:
        """Nothing to get ready."""

    async def close(self) -> None:
        """The book stays open."""

    async def answer(self, call: Call) -> Any:
        them, request = self._providers, (call.seed, call.key)
        if them.dead:  # whoever asks is no more: nothing is received
            await asyncio.sleep(TIMEOUT_S)
        weather, rng = them.weather, them.draw(call)
        again = them.book.requests[request]
        fickle = msgspec.structs.replace(call, seed=f"{call.seed}/{again}") if weather.wild else call
        answer = self._cut(call, self._house.answer_now(fickle))
        if luck(call, "dear") < weather.dear:
            answer = msgspec.structs.replace(answer, output_tokens=call.max_tokens)
        nano = self._price.cost_nano(answer.input_tokens, answer.output_tokens, 0) or 0
        fails = rng.random() < weather.failing and (weather.wild or self._failed[request] < IN_A_ROW)
        if not fails:
            them.enter(call, self._name, nano)
            await asyncio.sleep(min(LONGEST_S, weather.median_s * rng.lognormvariate(0, 0.8)))
            self._failed[request] = 0
            return answer
        self._failed[request] += 1
        what, billed, error = self._failure(rng)
        them.failures[what] += 1
        them.enter(call, self._name, nano if billed else 0)
        await asyncio.sleep(2 * TIMEOUT_S if what == "silent" else rng.uniform(0, weather.median_s))
        if isinstance(error, BaseException):
            raise error
        return error

    def _cut(self, call: Call, answer: Answer) -> Answer:
        """Now and then a reply is cut or empty, in every attempt alike."""
        if not call.more_room and luck(call, "cut") < 0.05:
            half = answer.text[: len(answer.text) // 2]
            return msgspec.structs.replace(answer, text=half, truncated=True, hidden=None)
        if luck(call, "empty") < 0.02:
            return msgspec.structs.replace(answer, text="", hidden=None)
        return answer

    def _failure(self, rng: Random) -> tuple[str, bool, Any]:
        """What happens, whether it is billed, and what the engine gets."""
        wild, worked = self._providers.weather.wild, rng.random() < 0.5
        kinds = ["429", "500", "reset", "silent"] + ["later", "nonsense", "raises", "permanent"] * wild
        what = rng.choices(kinds, [4, 4, 4, 1, *[0.5, 0.5, 0.5, 0.05] * wild])[0]
        if what == "429":
            wait = rng.choice((None, 1.0, 30.0, 3600.0 if wild else 60.0))
            return what, False, PlayerError("too many requests (429)", retry_after_s=wait)
        if what == "500":
            return what, worked, PlayerError("overloaded (503)", maybe_paid=worked)
        if what == "reset":
            return what, worked, PlayerError("the connection was reset", maybe_paid=True)
        if what == "later":
            until = rng.choice((None, self._providers.now_ms() + rng.randrange(3_600_000)))
            return what, False, Later("asleep", until)
        if what == "permanent":
            return what, False, PlayerError("no such model (404)", kind="permanent")
        if what == "raises":
            return what, worked, KeyError("choices")
        return what, worked, None
