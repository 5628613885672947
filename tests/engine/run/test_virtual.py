"""Virtual time: hours pass at once, in their order, and a deadlock is told."""

from __future__ import annotations

import asyncio
import time

import pytest
from tests import virtual


def test_sleepers_wake_in_order_and_no_real_time_passes() -> None:
    async def main() -> list[tuple[float, str]]:
        loop = asyncio.get_running_loop()
        assert loop.time() == 0
        woken: list[tuple[float, str]] = []

        async def sleeper(name: str, seconds: float) -> None:
            for _ in range(3):
                await asyncio.sleep(seconds)
                woken.append((loop.time(), name))

        await asyncio.gather(sleeper("day", 86_400), sleeper("hour", 3_600), sleeper("blink", 1e-3))
        return woken

    began = time.process_time()
    woken = virtual.run(main())
    assert time.process_time() - began < 5
    assert [name for _, name in woken] == ["blink"] * 3 + ["hour"] * 3 + ["day"] * 3
    assert woken[-1][0] == pytest.approx(3 * 86_400)
    assert woken == sorted(woken)


def test_timeouts_are_virtual_too() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(500):
                await asyncio.sleep(501)
        return asyncio.get_running_loop().time()

    assert virtual.run(main()) == pytest.approx(500)


def test_waiting_for_what_can_never_come_is_an_error_not_a_standstill() -> None:
    async def main() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RuntimeError, match="nothing is left to happen"):
        virtual.run(main())


def test_errors_come_through() -> None:
    async def main() -> None:
        await asyncio.sleep(1)
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        virtual.run(main())
