"""A ledger that somebody wrote to: `verify` tells of every such row, and nothing that reads it falls over."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import SMALL, house, play, write_arena

from peerage.arena import Arena, ArenaError, open_arena
from peerage.ledger import LedgerError
from peerage.ledger.forms.codec import MissingText
from peerage.ledger.out.export import export
from peerage.render.terminal import text
from peerage.views.match.match import transcript

TOLD = (LedgerError, ArenaError, MissingText, msgspec.MsgspecError)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_arena(tmp_path_factory.mktemp("hostile"), house(6), rules={**SMALL, "max_drafts": 2})
    play(folder, 6)
    return folder


READERS: dict[str, Callable[[Arena], Any]] = {
    "replay": lambda arena: arena.replay(),
    "bt": lambda arena: arena.leaderboard("bt"),
    "raw": lambda arena: arena.leaderboard("raw"),
    "stats": lambda arena: arena.stats(),
    "transcript": lambda arena: text([transcript(arena.match(2), requests=True)], StringIO()),
    "jsonl": lambda arena: list(export(arena.ledger, "jsonl")),
    "csv": lambda arena: list(export(arena.ledger, "csv")),
}


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("texts", "body", "a text where bytes belong"),
        ("texts", "body", b"{}"),
        ("fixtures", "body", b"[]"),
        ("fixtures", "body", b""),
        ("fixtures", "round", "[1e308]"),
        ("intents", "body", "[1e400]"),
        ("intents", "body", b"{}"),
        ("intents", "player", b"\xff"),
        ("replies", "body", "{}"),
        ("replies", "body", b"{}"),
        ("replies", "cost_nano", "x"),
        ("records", "body", "[]"),
        ("records", "body", b"null"),
        ("records", "chain", "[]"),
        ("summaries", "scores", "[null]"),
        ("summaries", "scores", "[1.0]"),
        ("summaries", "players", "x"),
        ("summaries", "raw", '{"a": 1}'),
        ("entries", "at_ms", "[]"),
        ("entries", "body", b'{"a": 1}'),
        ("entries", "body", "x"),
    ],
)
def test_rows_of_another_make_are_told_and_bring_nobody_down(
    whole: Path, tmp_path: Path, table: str, column: str, value: Any
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    edited(folder, f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", value)
    if isinstance(value, bytes) and table in ("fixtures", "intents", "replies"):
        edited(
            folder,
            f"UPDATE {table} SET checksum = ? WHERE rowid = (SELECT max(rowid) FROM {table})",
            zlib.crc32(value),
        )
    with open_arena(folder, create=False) as arena:
        assert not arena.verify().ok
        for reader in READERS.values():
            with suppress(*TOLD):
                reader(arena)


@pytest.mark.parametrize("table", ["records", "fixtures", "summaries", "texts", "meta", "replies"])
def test_missing_rows_bring_nobody_down(whole: Path, tmp_path: Path, table: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    edited(
        folder, f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) - 1 FROM {table}) OR ? = 'rating'", ""
    )
    with open_arena(folder, create=False) as arena:
        assert table == "meta" or not arena.verify().ok
        for reader in READERS.values():
            with suppress(*TOLD):
                reader(arena)
    with suppress(*TOLD):
        play(folder, 7)


def edited(folder: Path, statement: str, value: Any) -> None:
    database = sqlite3.connect(folder / "arena.db")
    with database:
        database.execute(statement, [value])
    database.close()
