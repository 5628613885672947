"""Bodies are compressed by a dictionary of the ledger's own, and nobody sees anything of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard
from bench.sample import sample

from peerage.ledger import Ledger, LedgerError, open_ledger
from peerage.ledger.forms import bodies
from peerage.ledger.forms.bodies import MAGIC, Bodies, dictionary_of
from peerage.ledger.forms.schema import TABLES
from peerage.ledger.stores.contract import Insert
from peerage.standings.verify import verify

FORM = b'{"to":"%d","form":"0123456789abcdef","fill":[{"question":"How many legs has number %d?"}]}'
ALIKE = [FORM % (at, at * 7919) for at in range(400)]
DUELS = 24


def filled(folder: Path) -> Ledger:
    ledger = open_ledger("sqlite:///arena.db", folder, create=True)
    with ledger.runner():
        for batch in sample(DUELS, together=4):
            ledger.write(batch)
    return ledger


def stored(folder: Path, column: str = "body", table: str = "replies") -> list[Any]:
    with closing(sqlite3.connect(folder / "arena.db")) as db:
        return [row[0] for row in db.execute(f"SELECT {column} FROM {table} ORDER BY 1")]


@pytest.mark.parametrize("dictionary", [b"", dictionary_of(ALIKE)], ids=["without", "with"])
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"x" * 10_000, bytes(range(256)) * 9, MAGIC, MAGIC + b"abc", FORM % (1, 2)]
)
def test_a_body_comes_back_as_it_was(body: bytes, dictionary: bytes) -> None:
    packing = Bodies("here", dictionary)
    assert Bodies("here", dictionary).whole([packing.packed(body)]) == [body]
    assert len(packing.packed(body)) <= len(body) + 20


def test_a_dictionary_knows_forms_and_what_was_stored_without_one_is_still_read() -> None:
    packing = Bodies("here")
    before = packing.packed(ALIKE[0])
    packing.learn(dictionary_of(ALIKE))
    after = packing.packed(ALIKE[0])
    assert len(after) < len(before) / 2
    assert packing.whole([before, after]) == [ALIKE[0]] * 2
    assert [Bodies("here").lacks(each) for each in (before, after, b"{}", MAGIC)] == [
        False,
        True,
        False,
        False,
    ]
    assert dictionary_of([b"{}"] * 3) == b""


@pytest.mark.parametrize(
    "harm",
    [
        lambda frame: frame + b" ",
        lambda frame: frame[:-1],
        lambda frame: frame[:4],
        lambda frame: frame[:5],
        lambda frame: MAGIC + b"\xe0" + b"\xff" * 8 + frame[6:],
        lambda frame: zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 99),
    ],
)
def test_damage_is_told(harm: Callable[[bytes], bytes]) -> None:
    packing = Bodies("here.db", dictionary_of(ALIKE))
    with pytest.raises(LedgerError, match=r"here\.db is damaged: a body cannot be read"):
        packing.whole([harm(packing.packed(b"y" * 500))])


def test_digests_are_over_bodies_and_a_ledger_is_a_fraction_of_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {name: tmp_path / name for name in ("packed", "plain")}
    for folder in folders.values():
        folder.mkdir()
    packed = filled(folders["packed"])
    monkeypatch.setattr(bodies, "SHORTEST", 2**62)
    plain = filled(folders["plain"])
    with closing(packed), closing(plain):
        assert [*packed.exchanges(1)] == [*plain.exchanges(1)]
        assert [*packed.records()] == [*plain.records()]
        assert [entry.digest for entry in packed.log()] == [entry.digest for entry in plain.log()]
        reports = [verify(ledger, 1) for ledger in (packed, plain)]
    assert reports[0] == reports[1]
    assert reports[0].problems == ()
    assert len(stored(folders["packed"], table="dictionaries")) == 1
    sizes = {name: sum(map(len, stored(folder))) for name, folder in folders.items()}
    assert sizes["packed"] < sizes["plain"] / 3
    assert stored(folders["packed"], "checksum") == stored(folders["plain"], "checksum")


def test_one_who_reads_since_before_the_dictionary_reads_on(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    with closing(filled(folder)) as whole:
        expected = [*whole.exchanges(1)]
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        early = open_ledger("sqlite:///arena.db", tmp_path, create=False)
        assert [*early.exchanges(1)] == []
        with ledger.runner():
            for batch in sample(DUELS, together=4):
                ledger.write(batch)
        assert [*early.exchanges(1)] == expected
        early.close()


def test_a_dictionary_that_was_not_written_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[bool] = []
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger:
        assert isinstance(ledger, Ledger)
        with ledger.runner():
            assert ledger._writer is not None
            transaction: Any = ledger._writer.transaction
            insert = transaction._insert

            def breaks(connection: Any, inserts: list[Insert]) -> None:
                insert(connection, inserts)
                if any(each.table.name == "dictionaries" for each in inserts) and not failed:
                    failed.append(True)
                    raise sqlite3.OperationalError("the disk is full")

            transaction._insert = breaks
            for batch in sample(DUELS, together=4):
                try:
                    ledger.write(batch)
                except LedgerError:
                    assert stored(tmp_path, table="dictionaries") == []
                    ledger.write(batch)
        assert failed
        assert verify(ledger, 1).problems == ()
    assert len(stored(tmp_path, table="dictionaries")) == 1


def test_whatever_has_a_body_has_it_last() -> None:
    assert all(table.columns[-1] == "body" for table in TABLES if "body" in table.columns)
