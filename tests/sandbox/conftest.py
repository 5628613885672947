"""A pool for the whole session. Without the extra these tests are skipped; CI has it, so there they run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from peerage.sandbox import image
from peerage.sandbox.pool import SandboxPool
from peerage.sandbox.program import Limits, Program, RunResult

WITHOUT = ("test_folder.py", "test_wasm.py")
"""Tests that need no extra; those of `native` do not, either."""
QUICK = Limits(fuel=2_000_000_000, seconds=60.0)
Result = TypeVar("Result")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not image.installed():
        skip = pytest.mark.skip(reason='the extra is not installed: pip install "peerage[sandbox]"')
        for item in items:
            if item.path.parent == Path(__file__).parent and item.path.name not in WITHOUT:
                item.add_marker(skip)


class Sandboxes:
    """Pools on an event loop of their own, so that tests may be plain functions."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._pool: SandboxPool | None = None

    def pool(self) -> SandboxPool:
        async def make() -> SandboxPool:
            return SandboxPool(workers=2)

        if self._pool is None:
            self._pool = self._runner.run(make())
        return self._pool

    def run(self, source: str, stdin: str = "", limits: Limits = QUICK) -> RunResult:
        return self._runner.run(self.pool().run(Program(source, stdin, limits)))

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)

    def close(self) -> None:
        if self._pool is not None:
            self._runner.run(self._pool.close())
        self._runner.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandboxes]:
    sandboxes = Sandboxes()
    yield sandboxes
    sandboxes.close()
