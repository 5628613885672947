"""A clock that stands still while the process does."""

from __future__ import annotations

import asyncio
import time

import pytest

from peerage.engine.run.process import GAP_S, TICK_S, AwakeLoop, run


def test_the_clock_leaves_out_the_gaps() -> None:
    seconds = iter([100.0, 100.5, 100.5 + GAP_S, 200.0, 200.4, 5_000.0])
    loop = AwakeLoop(seconds.__next__)
    begun = loop.time()
    read = [loop.time() - begun for _ in range(4)]
    loop.close()
    assert read == pytest.approx([GAP_S, GAP_S, GAP_S + 0.4, GAP_S + 0.4])


def test_time_that_the_process_did_not_run_is_in_no_timeout() -> None:
    asleep = [0.0]

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[str]] = [loop.create_future() for _ in range(2)]

        async def call(answer: asyncio.Future[str]) -> str:
            try:
                async with asyncio.timeout(3 * TICK_S):
                    return await answer
            except TimeoutError:
                return "late"

        calls = [asyncio.create_task(call(answer)) for answer in answers]
        await asyncio.sleep(TICK_S / 10)
        asleep[0] = 3600.0  # a laptop's lid: one answer lies there when it opens, the other never comes
        await asyncio.sleep(TICK_S / 10)
        answers[0].set_result("in time")
        return await asyncio.gather(*calls)

    with asyncio.Runner(loop_factory=lambda: AwakeLoop(lambda: time.monotonic() + asleep[0])) as runner:
        assert runner.run(main()) == ["in time", "late"]


def test_programs_run_on_it() -> None:
    async def main() -> bytes:
        process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
        return (await process.communicate())[0]

    assert run(main()) == b"hello\n"
