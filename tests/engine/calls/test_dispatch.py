"""Caps and rates of calls, in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from tests import virtual

from peerage.engine.calls.dispatch import Dispatcher, Lane


class Trial:
    """Calls that return after a while, and when each left: (second, player, number)."""

    def __init__(self, cap: int, lasting: Callable[[], float] = lambda: 1.0) -> None:
        self.left: list[tuple[float, str, int]] = []
        self.most: dict[str, int] = {}
        self._lasting = lasting
        self._out: dict[str, int] = {}
        self._lanes: list[Lane[tuple[str, int]]] = []
        self._loop = asyncio.get_running_loop()
        self.dispatcher: Dispatcher[tuple[str, int]] = Dispatcher(cap, self._send)

    def lane(self, player: str, *limits: float | None) -> None:
        self._lanes.append(Lane(*limits))  # type: ignore[arg-type]
        self.dispatcher.add(player, self._lanes[-1])

    def submit(self, player: str, calls: int, tokens: int = 10) -> None:
        for number in range(calls):
            self.dispatcher.submit(player, (player, number), tokens)

    def _send(self, call: tuple[str, int]) -> None:
        player = call[0]
        self.left.append((self._loop.time(), *call))
        for name in (player, "all"):
            self._out[name] = self._out.get(name, 0) + 1
            self.most[name] = max(self.most.get(name, 0), self._out[name])
        self._loop.call_later(self._lasting(), self._return, player)

    def _return(self, player: str) -> None:
        for name in (player, "all"):
            self._out[name] -= 1
        self.dispatcher.returned(player)

    async def done(self) -> None:
        while any(lane.waiting for lane in self._lanes) or self.dispatcher.in_flight:
            await asyncio.sleep(1)


def moments(trial: Trial, player: str) -> list[float]:
    return [when for when, name, _ in trial.left if name == player]


def test_calls_of_a_player_leave_in_their_order_and_caps_hold() -> None:
    async def main() -> None:
        rng = random.Random(1)
        trial = Trial(5, lambda: rng.lognormvariate(0, 1))
        trial.lane("ada", 2)
        trial.lane("bob")
        trial.submit("ada", 30)
        trial.submit("bob", 60)
        await trial.done()
        assert trial.most == {"ada": 2, "bob": trial.most["bob"], "all": 5}
        for player, calls in (("ada", 30), ("bob", 60)):
            assert [number for _, name, number in trial.left if name == player] == list(range(calls))

    virtual.run(main())


def test_the_cap_is_used_in_full() -> None:
    async def main() -> None:
        trial = Trial(10)
        for player in "abc":
            trial.lane(player)
            trial.submit(player, 100)
        await trial.done()
        assert max(when for when, _, _ in trial.left) == pytest.approx(29, abs=0.01)

    virtual.run(main())


@pytest.mark.parametrize(("rate", "window", "most"), [(6, 60, 6), (1.9, 60, 1), (0.25, 240, 1)])
def test_a_request_rate_holds_in_every_window(rate: float, window: float, most: int) -> None:
    async def main() -> None:
        rng = random.Random(2)
        trial = Trial(100, lambda: rng.uniform(0, 50))
        trial.lane("ada", None, rate)
        trial.submit("ada", 3 * most)
        await asyncio.sleep(70)
        trial.submit("ada", 3 * most)
        await trial.done()
        left = moments(trial, "ada")
        assert len(left) == 6 * most
        for start in left:
            assert sum(start <= when < start + window - 1e-6 for when in left) <= most
        assert left[-1] < (6 + 1) * window + 70, "nor does it wait for longer than it must"

    virtual.run(main())


def test_a_token_rate_holds_in_every_window_and_a_larger_call_goes_alone() -> None:
    async def main() -> None:
        rng = random.Random(3)
        trial = Trial(100)
        trial.lane("ada", None, None, 1000)
        sizes = [rng.choice([100, 300, 700, 1500]) for _ in range(25)]
        for number, tokens in enumerate(sizes):
            trial.dispatcher.submit("ada", ("ada", number), tokens)
        await trial.done()
        left = moments(trial, "ada")
        assert len(left) == len(sizes)
        for start in left:
            inside = [
                tokens for when, tokens in zip(left, sizes, strict=True) if start <= when < start + 60 - 1e-6
            ]
            assert sum(inside) <= 1000 or len(inside) == 1

    virtual.run(main())


def test_a_player_that_must_wait_holds_up_nobody_else() -> None:
    async def main() -> None:
        trial = Trial(4)
        for player, limits in (("paused", ()), ("slow", (1, 1.0)), ("free", ())):
            trial.lane(player, *limits)
        trial.dispatcher.pause("paused", 300)
        for player in ("paused", "slow", "free"):
            trial.submit(player, 8)
        await trial.done()
        assert max(moments(trial, "free")) < 3
        assert min(moments(trial, "paused")) == pytest.approx(300)
        assert max(moments(trial, "paused")) < 303
        assert max(moments(trial, "slow")) == pytest.approx(7 * 60)

    virtual.run(main())


def test_withdrawn_calls_do_not_leave_and_the_others_keep_their_order() -> None:
    async def main() -> None:
        trial = Trial(1)
        trial.lane("ada")
        trial.lane("bob")
        trial.submit("ada", 6)
        trial.submit("bob", 2)
        taken = trial.dispatcher.withdraw(lambda call: call[0] == "bob" or call[1] % 2 == 0)
        assert taken == [("ada", 0), ("ada", 2), ("ada", 4), ("bob", 0), ("bob", 1)]
        trial.submit("bob", 1)
        await trial.done()
        assert sorted(call[1:] for call in trial.left) == [("ada", 1), ("ada", 3), ("ada", 5), ("bob", 0)]

    virtual.run(main())


def test_nothing_leaves_after_stop() -> None:
    async def main() -> None:
        trial = Trial(1)
        trial.lane("ada")
        trial.submit("ada", 3)
        await asyncio.sleep(0.5)
        trial.dispatcher.stop()
        await asyncio.sleep(100)
        assert len(trial.left) == 1

    virtual.run(main())
