"""Group commit: order, callbacks after durability, and what happens when the disk is full."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest

from peerage.engine.record.journal import Journal
from peerage.engine.record.shelf import Shelf
from peerage.game.match import Fixture
from peerage.game.media import Media
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

    def media(self, digests: Iterable[str]) -> dict[str, bytes]:
        return {}


def intent(number: int) -> IntentRow:
    return IntentRow(number, "k", 1, "ada", b"{}", None)


@pytest.mark.parametrize("inline", [True, False])
async def test_rows_keep_their_order_and_callbacks_follow_them(inline: bool) -> None:
    ledger, errors, seen = Recording(), list[Exception](), list[tuple[int, int]]()
    journal = Journal(ledger, errors.append, Shelf({}, ledger), inline=inline)  # type: ignore[arg-type]
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
    journal = Journal(ledger, lambda error: None, Shelf({}, ledger), inline=True)  # type: ignore[arg-type]
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
    journal = Journal(ledger, lambda error: None, Shelf({}, ledger))  # type: ignore[arg-type]
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
    journal = Journal(ledger, lambda error: None, Shelf({}, ledger))  # type: ignore[arg-type]
    for _ in range(3):
        journal.texts([(b"d1", "one"), (b"d2", "two")])
        journal.touch()
        await journal.drain()
    await journal.close()
    assert [text for batch in ledger.batches for text in batch.texts] == [(b"d1", "one"), (b"d2", "two")]


@pytest.mark.parametrize("inline", [True, False])
async def test_a_failed_write_is_told_once_and_nothing_goes_on_as_if_it_were_durable(inline: bool) -> None:
    ledger, errors, called = Recording(), list[Exception](), list[int]()
    journal = Journal(ledger, errors.append, Shelf({}, ledger), inline=inline)  # type: ignore[arg-type]
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
    journal = Journal(ledger, errors.append, Shelf({}, ledger))  # type: ignore[arg-type]
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
        journal = Journal(ledger, errors.append, Shelf({}, ledger))
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


def picture(text: str) -> tuple[Media, bytes]:
    body = text.encode() * 1000
    return Media(sha256(body).hexdigest(), "image/png", len(body), 3, 4), body


def asking(number: int, *shown: Media) -> IntentRow:
    marks = "and".join([one.mark for one in shown])
    return IntentRow(number, "k", 1, "ada", f'{{"fill":"{marks}"}}'.encode(), None)


async def test_bytes_are_in_the_first_batch_that_refers_to_them_and_in_no_other() -> None:
    (cat, cats), (dog, dogs), (cow, _) = map(picture, ("cat", "dog", "cow"))
    ledger, errors = Recording(), list[Exception]()
    shelf = Shelf({cat.sha256: cats, cow.sha256: b"not a cow"}, ledger)
    shelf.taken_in([(Fixture(1, 1, "see", 1, "s", (), {}, {}), {dog.sha256: dogs})])
    journal = Journal(ledger, errors.append, shelf)  # type: ignore[arg-type]
    for number, shown in enumerate(((cat,), (cat, dog), (dog, cow), (cat,)), 1):
        journal.rows.intents.append(asking(number, *shown))
        journal.touch()
        await journal.drain()
    await journal.close()
    assert [[body for _, body in batch.media] for batch in ledger.batches] == [[cats], [dogs], [], []]
    assert errors == []
    assert [shelf.get(one.sha256) for one in (cat, cow)] == [cats, None]
    assert shelf.get(dog.sha256) is None, "what is durable is the ledger's to keep"


async def test_a_text_brings_what_it_shows_along() -> None:
    cat, cats = picture("cat")
    ledger = Recording()
    journal = Journal(ledger, lambda error: None, Shelf({cat.sha256: cats}, ledger))  # type: ignore[arg-type]
    journal.texts([(b"d" * 32, f"Look at {cat.mark}")])
    journal.touch()
    await journal.close()
    assert [batch.media for batch in ledger.batches] == [[(bytes.fromhex(cat.sha256), cats)]]


@pytest.mark.usefixtures("plain_bodies")
async def test_what_the_ledger_holds_is_read_from_it_and_not_written_again(tmp_path: Path) -> None:
    cat, cats = picture("cat")
    ledger = open_ledger("sqlite:///arena.db", tmp_path, create=True)
    with ledger.runner():
        ledger.write(Batch(media=[(bytes.fromhex(cat.sha256), cats)]))
        shelf = Shelf({}, ledger)
        assert list(shelf.due(Batch(intents=[asking(1, cat)]))) == []
        assert shelf.get(cat.sha256) == cats
    ledger.close()


def test_the_last_used_are_held_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = list[str]()
    pictures = dict(picture(name) for name in ("cat", "dog", "cow"))

    class Beside(dict[str, bytes]):
        def get(self, digest: str, _: object = None) -> bytes | None:  # type: ignore[override]
            fetched.append(digest)
            return self[digest]

    monkeypatch.setattr("peerage.engine.record.shelf.HELD", 6_000)
    shelf = Shelf(Beside({one.sha256: body for one, body in pictures.items()}), Recording())
    cat, dog, cow = [one.sha256 for one in pictures]
    for digest in (cat, dog, cat, cow, cat, dog):
        assert shelf.get(digest) is not None
    assert fetched == [cat, dog, cow, dog]
