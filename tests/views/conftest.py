"""Arenas that all tests of views read: duels with every kind of reply, and tasks of the arena's owner."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.engine.arenas import house, play, write_arena
from tests.views.tasks_arena import arena_of_tasks

from peerage.arena import Arena, open_arena

DECIDED = 60
FAULTS = {"refusing": 0.03, "malformed": 0.06, "failing": 0.02}


@cache  # the tests of reading have this fixture too
def played_in(folder: Path) -> Path:
    players = house(7, price={"input": 1.0, "output": 4.0}, faults=FAULTS)
    made = write_arena(folder, players)
    play(made, 35)
    assert play(made, DECIDED).settled > DECIDED, "some matches have no result"
    return made


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played_in(tmp_path_factory.getbasetemp() / "duels")


def recorded(arena: Arena) -> int:
    """Matches on record, those without a result too."""
    return arena.ledger.heads()[1]


@pytest.fixture
def arena(folder: Path) -> Iterator[Arena]:
    with open_arena(folder, create=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def tasks_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arena_of_tasks(tmp_path_factory.mktemp("tasks"))


@pytest.fixture
def tasks_arena(tasks_folder: Path) -> Iterator[Arena]:
    with open_arena(tasks_folder, create=False) as opened:
        yield opened
