"""Group commit: order, callbacks after durability, and what happens when the disk is full."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from peerage.engine.record.journal import Journal
from peerage.ledger import Batch, IntentRow, Ledger, LedgerError, open_ledger


class Recording:
    """A ledger as the journal needs it: what was written, in which batches; `gate` holds writes up."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.gate = threading.Event()
        self.gate.set()
        self.full = False

    def write(self, batch: Batch) -> None:
        assert self.gate.wait(60)
        if self.full:
            raise LedgerError("the disk is full")
        self.batches.append(batch)


def intent(number: int) -> IntentRow:
    return IntentRow(number, "k", 1, "ada", b"{}", None)


@pytest.mark.parametrize("inline", [True, False])
async def test_rows_keep_their_order_and_callbacks_follow_them(inline: bool) -> None:
    ledger, errors, seen = Recording(), list[Exception](), list[tuple[int, int]]()
    journal = Journal(ledger, errors.append, inline=inline)  # type: ignore[arg-type]
    written = 0
    for number in range(1, 101):
        journal.rows.intents.append(intent(number))

        def durable(number: int = number) -> None:
            rows = [row.match for batch in ledger.batches for row in batch.intents]
            seen.append((number, len(rows)))

        journal.then(durable)
        if number % 7 == 0:
            await asyncio.sleep(0.001)
    await journal.close()
    written = [row.match for batch in ledger.batches for row in batch.intents]  # type: ignore[assignment]
    assert written == list(range(1, 101))
    assert [number for number, _ in seen] == list(range(1, 101))
    assert all(number <= rows for number, rows in seen)
    assert errors == []


async def test_what_comes_soon_after_a_write_waits_for_more() -> None:
    ledger = Recording()
    journal = Journal(ledger, lambda error: None, inline=True)  # type: ignore[arg-type]
    journal.gather_s = 0.2
    for number in range(20):
        journal.rows.intents.append(intent(number))
        journal.touch()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await journal.close()
    assert [[row.match for row in batch.intents] for batch in ledger.batches] == [[0], [*range(1, 20)]]


async def test_what_gathers_during_a_write_goes_into_one_batch() -> None:
    ledger = Recording()
    journal = Journal(ledger, lambda error: None)  # type: ignore[arg-type]
    ledger.gate.clear()
    for number in range(50):
        journal.rows.intents.append(intent(number))
        journal.touch()
        await asyncio.sleep(0)
    ledger.gate.set()
    await journal.close()
    assert len(ledger.batches) == 2
    assert journal.commits == 2


async def test_a_text_is_written_once() -> None:
    ledger = Recording()
    journal = Journal(ledger, lambda error: None)  # type: ignore[arg-type]
    for _ in range(3):
        journal.texts([(b"d1", "one"), (b"d2", "two")])
        journal.touch()
        await journal.drain()
    await journal.close()
    assert [text for batch in ledger.batches for text in batch.texts] == [(b"d1", "one"), (b"d2", "two")]


@pytest.mark.parametrize("inline", [True, False])
async def test_a_failed_write_is_told_once_and_nothing_goes_on_as_if_it_were_durable(inline: bool) -> None:
    ledger, errors, called = Recording(), list[Exception](), list[int]()
    journal = Journal(ledger, errors.append, inline=inline)  # type: ignore[arg-type]
    journal.rows.intents.append(intent(1))
    journal.then(lambda: called.append(1))
    await journal.drain()
    ledger.full = True
    journal.rows.intents.append(intent(2))
    journal.then(lambda: called.append(2))
    await journal.drain()
    ledger.full = False
    journal.rows.intents.append(intent(3))
    journal.then(lambda: called.append(3))
    await asyncio.sleep(0.01)
    await journal.close()
    assert journal.broken
    assert called == [1]
    assert [str(error) for error in errors] == ["the disk is full"]
    assert [row.match for batch in ledger.batches for row in batch.intents] == [1]


async def test_a_fault_in_a_callback_is_told_and_the_others_still_run() -> None:
    ledger, errors, called = Recording(), list[Exception](), list[int]()
    journal = Journal(ledger, errors.append)  # type: ignore[arg-type]
    journal.then(lambda: called.append(1))
    journal.then(lambda: called.append(1 // 0))
    journal.then(lambda: called.append(3))
    await journal.close()
    assert called == [1, 3]
    assert [type(error) for error in errors] == [ZeroDivisionError]
    assert ledger.batches == []
    assert not journal.broken


@pytest.mark.usefixtures("plain_bodies")
def test_a_real_ledger_that_is_full_says_so_and_takes_rows_again_later(tmp_path: Path) -> None:
    """SQLite's own limit on pages stands for the disk."""
    ledger: Ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True)

    def limit(pages: int) -> None:
        raw = ledger._writer.transaction.connection  # type: ignore[attr-defined]
        raw.execute(f"PRAGMA max_page_count={pages}")

    async def fill(first: int) -> list[Exception]:
        errors: list[Exception] = []
        journal = Journal(ledger, errors.append)
        for number in range(first, first + 40):
            journal.rows.intents.append(IntentRow(number, "k", 1, "ada", b"x" * 8000, None))
            journal.touch()
            await journal.drain()
        await journal.close()
        return errors

    try:
        with ledger.runner():
            limit(30)
            (error,) = asyncio.run(fill(1))
            assert isinstance(error, LedgerError)
            assert "full" in str(error)
            kept = [exchange.match for exchange in ledger.exchanges(1)]
            assert 0 < len(kept) < 40
            limit(1_000_000)
            assert asyncio.run(fill(len(kept) + 1)) == []
        assert len(list(ledger.exchanges(1))) == len(kept) + 40
    finally:
        ledger.close()
