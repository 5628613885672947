"""What tests of ledgers on servers have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from peerage.arena import Arena, open_arena
from peerage.ledger import Batch, FixtureRow, LedgerError, open_ledger
from peerage.version import __version__

NEWER = (
    "this ledger is of schema 7, written by peerage 9.1 or a later one; this is peerage "
    f"{__version__}, which reads schema 1: pip install --upgrade 'peerage>=9.1'"
)
"""What is said of a ledger whose fact `schema` is "7 9.1"."""


def arena(folder: Path, address: str = "") -> Arena:
    """A small arena, on SQLite where no address is given."""
    folder.mkdir(exist_ok=True)
    stated = f"ledger: {address}\n" if address else ""
    players = "players: [house:0.9, house:0.7, house:0.5, house:0.3]\n"
    (folder / "arena.yaml").write_text(f"name: a\nseed: 5\ngame: text-metrics\n{players}{stated}")
    return open_arena(folder)


def fixture(number: int) -> Batch:
    return Batch(fixtures=[FixtureRow(number, 1, b"{}")])


def fails(address: str, create: bool = False, folder: Path = Path()) -> str:
    """Why a ledger cannot be opened."""
    with pytest.raises(LedgerError) as caught:
        open_ledger(address, folder, create=create).close()
    return str(caught.value)
