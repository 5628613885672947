"""These tests lose no power: their ledgers need not wait for the disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event


def _unsynced(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")


@pytest.fixture(autouse=True, scope="module")
def unsynced_ledgers() -> Iterator[None]:
    event.listen(Engine, "connect", _unsynced)
    yield
    event.remove(Engine, "connect", _unsynced)
