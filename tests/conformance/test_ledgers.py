"""What every ledger promises, whatever stores it. A new kind of ledger adds a factory to `KINDS`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
from msgspec.structs import astuple

from peerage.ledger import (
    COPY,
    Amendment,
    Batch,
    Exchange,
    FailureRow,
    FixtureRow,
    IntentRow,
    Ledger,
    LedgerBusy,
    LedgerError,
    RecordRow,
    ReplyRow,
    Summary,
    open_ledger,
)
from peerage.ledger.forms.columns import of_summaries
from peerage.ledger.forms.rows import SCHEMA
from peerage.ledger.tables import StoredRows

Opener = Callable[..., Ledger]


def sqlite(request: pytest.FixtureRequest) -> str:
    return "sqlite:///arena.db"


def postgres(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue("postgres").address()
    return address


def mongo(request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue("mongo").address()
    return address


KINDS = {"sqlite": sqlite, "postgres": postgres, "mongo": mongo}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same ledger, as often as one likes; closes all of them afterwards."""
    opened: list[Ledger] = []
    address = request.param(request)

    def open_again(create: bool = False) -> Ledger:
        opened.append(open_ledger(address, tmp_path, create=create).as_stored())
        return opened[-1]

    yield open_again
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(again: Opener) -> Ledger:
    return again(create=True)


def intent(match: int, key: str, attempt: int = 1, player: str = "ada", worst: int | None = 50) -> IntentRow:
    return IntentRow(match, key, attempt, player, f'{{"to":"{key}"}}'.encode(), worst)


def reply(match: int, key: str, attempt: int = 1, cost: int | None = 20) -> ReplyRow:
    return ReplyRow(match, key, attempt, f'{{"status":"ok","text":"{key}"}}'.encode(), cost, 1)


def summary(number: int, players: tuple[str, ...] = ("ada", "bob"), score: float = 1.0) -> Summary:
    scores = (score, 1.0 - score)
    return Summary(
        number,
        1,
        "duel",
        "algebra",
        players,
        "done",
        scores,
        (0.1, None),
        7,
        (1500.1, 1e-17),
        (0.1 + 0.2, 2.0),
        9,
    )


def put(ledger: Ledger, **rows: object) -> None:
    with ledger.runner():
        ledger.write(Batch(**rows))  # type: ignore[arg-type]


# --------------------------------------------------------------------------------- what is written stands


def test_everything_is_there_after_reopening(ledger: Ledger, again: Opener) -> None:
    body = b'{"n":1}'
    amendment = Amendment("votes", b"{}", 5)
    put(
        ledger,
        texts=[(b"d" * 32, "long text")],
        fixtures=[FixtureRow(1, 1, b"{}")],
        intents=[intent(1, "answer/A"), intent(1, "answer/B", worst=None)],
        replies=[reply(1, "answer/A")],
        failures=[FailureRow(1, "answer/B", 1, "429", 0, 3)],
        records=[RecordRow(1, body, b"c" * 32, 4)],
        summaries=[summary(1)],
        snapshots=[(1, b"state")],
        amendments=[amendment],
        meta={"seed": "7"},
    )
    ledger.close()
    ledger.close()
    fresh = again()
    assert fresh.texts() == {b"d" * 32: "long text"}
    assert list(fresh.fixtures()) == [FixtureRow(1, 1, b"{}", crc32(b"{}"))]
    assert [astuple(row)[:8] for row in fresh.exchanges(1)] == [
        (1, "answer/A", 1, "ada", b'{"to":"answer/A"}', reply(1, "answer/A").body, 50, 20),
        (1, "answer/B", 1, "ada", b'{"to":"answer/B"}', None, None, None),
    ]
    answered, failed = fresh.exchanges(1)
    assert (answered.at_ms, answered.reply_checksum) == (1, crc32(reply(1, "answer/A").body))
    assert failed.failure is not None
    assert failed.failure[1:] == ("429", 0, 3)
    assert failed.checksum == crc32(failed.request)
    assert list(fresh.records()) == [RecordRow(1, body, b"c" * 32, 4)]
    assert list(fresh.summaries()) == [summary(1)]
    assert fresh.snapshot() == (1, b"state")
    assert [entry.about for entry in fresh.log()][2] == "votes"
    assert list(fresh.amendments("votes")) == [Amendment("votes", b"{}", 5, position=3)]
    assert list(fresh.amendments("votes")) == list(fresh.amendments())
    assert list(fresh.amendments("none")) == []
    assert fresh.topics() == {"votes": 1}
    assert fresh.meta()["seed"] == "7"
    assert fresh.meta()["schema"] == SCHEMA
    assert fresh.heads() == (1, 1)


def test_an_empty_ledger(ledger: Ledger) -> None:
    assert ledger.heads() == (0, 0)
    assert ledger.spent_by() == {}
    assert ledger.snapshot() is None
    assert ledger.topics() == {}
    assert list(ledger.exchanges(1)) == []
    put(ledger)
    assert ledger.heads() == (0, 0)


def test_a_batch_stands_or_falls_as_one(ledger: Ledger) -> None:
    put(ledger, fixtures=[FixtureRow(1, 1, b"{}")], intents=[intent(1, "a")], replies=[reply(1, "a")])
    for doomed in (
        Batch(fixtures=[FixtureRow(2, 1, b"{}")], intents=[intent(1, "a")]),
        Batch(fixtures=[FixtureRow(2, 1, b"{}")], replies=[reply(1, "a")]),
        Batch(fixtures=[FixtureRow(2, 1, b"{}")], replies=[reply(1, "never asked")]),
        Batch(fixtures=[FixtureRow(2, 1, b"{}")], failures=[FailureRow(9, "x", 1, "", 0, 0)]),
        Batch(fixtures=[FixtureRow(2, 1, b"{}")], meta={"schema": "9"}),
    ):
        with ledger.runner(), pytest.raises(LedgerError):
            ledger.write(doomed)
        assert ledger.heads() == (1, 0)
    with ledger.runner():
        with pytest.raises(LedgerError):
            ledger.write(Batch(intents=[intent(1, "a")]))
        ledger.write(Batch(fixtures=[FixtureRow(2, 1, b"{}")]))
    assert ledger.heads() == (2, 0)


def test_rows_come_back_in_order(ledger: Ledger) -> None:
    keys = ["judge/2", "answer/B", "question", "answer/A", "é", "z", "a~repair"]
    with ledger.runner():
        for match in (2, 1, 3):
            ledger.write(Batch(fixtures=[FixtureRow(match, 1, b"{}")], summaries=[summary(match)]))
            ledger.write(Batch(records=[RecordRow(match, b"{}", b"", 0)]))
            for key in keys:
                ledger.write(Batch(intents=[intent(match, key)]))
        ledger.write(Batch(replies=[reply(1, key) for key in sorted(keys)]))
        ledger.write(Batch(intents=[intent(1, "z", 2)]))
    assert [(row.match, row.key) for row in ledger.exchanges(1, 2)] == [
        *[(1, key) for key in keys],
        (1, "z"),
        *[(2, key) for key in keys],
    ]
    assert [row.number for row in ledger.fixtures()] == [1, 2, 3]
    assert [row.number for row in ledger.fixtures(2)] == [2, 3]
    assert [row.number for row in ledger.records(2, 2)] == [2]
    assert [row.number for row in ledger.summaries(1, 2)] == [1, 2]


@pytest.mark.parametrize("rows", [1, 127, 128, 129, 400])
def test_batches_of_any_size(ledger: Ledger, rows: int) -> None:
    keys = [f"k{number:04}" for number in range(rows)]
    put(ledger, intents=[intent(1, key) for key in keys], replies=[reply(1, key) for key in keys])
    assert [(row.key, row.reply) for row in ledger.exchanges(1)] == [
        (key, reply(1, key).body) for key in keys
    ]


def test_attempts_are_read_some_at_a_time(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [intent(number, f"k{at}") for number in range(1, 41) for at in range(3)]
    put(ledger, fixtures=[FixtureRow(number, 1, b"{}") for number in range(1, 41)], intents=asked)
    expected = list(ledger.exchanges(1))
    assert [(row.match, row.key) for row in expected] == [(row.match, row.key) for row in asked]
    read, sizes = StoredRows._attempts, list[int]()

    def attempts(rows: StoredRows, part: Any, *how: Any) -> Any:
        sizes.append(len(part))
        return read(rows, part, *how)

    monkeypatch.setattr("peerage.ledger.tables.ATTEMPTS", 11)
    monkeypatch.setattr(StoredRows, "_attempts", attempts)
    assert list(ledger.exchanges(1)) == expected
    assert sizes == [12] * 10, "whole matches"


EXTREMES = [
    "",
    "\ufffd",
    "🦚🇺🇳",
    "e\u0301",
    "\u2028 \x01\x7f",
    "a" * 1_000_000,
    "\U0010ffff",
    "'; DROP TABLE x; --",
]


@pytest.mark.parametrize("text", EXTREMES, ids=range(len(EXTREMES)))
def test_whatever_is_storable_is_stored(ledger: Ledger, text: str) -> None:
    body = text.encode()
    name = text[:100] or "x"
    put(
        ledger,
        texts=[(b"t" * 32, text)],
        fixtures=[FixtureRow(1, 1, body)],
        intents=[IntentRow(1, name, 1, name, body, None)],
        replies=[ReplyRow(1, name, 1, body, None, 2**40)],
        summaries=[summary(1, (name, text[:100]))],
        meta={"note": text},
    )
    assert ledger.texts([b"t" * 32, b"u" * 32]) == {b"t" * 32: text}
    assert next(ledger.fixtures()).body == body
    row = next(ledger.exchanges(1))
    assert (row.key, row.player, row.request, row.reply) == (name, name, body, body)
    assert next(ledger.summaries()).players == (name, text[:100])
    assert ledger.meta()["note"] == text


def test_a_text_is_stored_once(ledger: Ledger) -> None:
    texts = [(bytes([number]) * 32, f"text {number}") for number in range(200)]
    put(ledger, texts=texts + texts)
    put(ledger, texts=texts)
    assert ledger.texts() == dict(texts)
    assert ledger.texts(digest for digest, _ in texts[:3]) == dict(texts[:3])
    assert ledger.texts([]) == {}


# ------------------------------------------------------------------------------------------ money and sums


def test_a_picture_is_stored_once_as_it_is(ledger: Ledger, again: Opener) -> None:
    pictures = [b"\x89PNG" + bytes(5_000), b"\x28\xb5\x2f\xfd is no frame", os.urandom(9_000_000)]
    by_digest = {sha256(body).hexdigest(): body for body in pictures}
    for written in (pictures[:2], pictures[1:], pictures):
        put(ledger, media=[(sha256(body).digest(), body) for body in written])
    fresh = again()
    assert fresh.media(by_digest) == by_digest
    assert sorted(fresh.media_digests()) == sorted(by_digest)
    assert fresh.media(["00" * 32]) == {}
    assert fresh.media([*by_digest][:1]) == dict([*by_digest.items()][:1])


def test_money(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    put(
        ledger,
        intents=[
            intent(1, "paid", player="ada"),
            intent(1, "unknown", player="ada"),
            intent(1, "lost", player="bob", worst=70),
            intent(1, "lost unpriced", player="cyd", worst=None),
            intent(1, "failed", 1, player="bob"),
            intent(1, "failed", 2, player="bob"),
        ],
        replies=[reply(1, "paid", cost=20), reply(1, "unknown", cost=None), reply(1, "failed", 2, cost=5)],
        failures=[FailureRow(1, "failed", 1, "timeout", 50, 1)],
    )
    assert [
        (row.key, row.player, row.failure is not None, row.lost_nano)
        for row in ledger.exchanges(1, unanswered=True)
    ] == [
        ("lost", "bob", False, 70),
        ("lost unpriced", "cyd", False, None),
        ("failed", "bob", True, 50),
    ]
    assert list(ledger.exchanges(2, unanswered=True)) == []
    assert ledger.spent_by() == {"ada": 20, "bob": 125, "cyd": 0}
    assert ledger.spent_by(0) == {}
    assert +Counter(ledger.spent_by(1, ())) == {"bob": 120}
    assert +Counter(ledger.spent_by(1, {"ada"})) == {"ada": 20, "bob": 120}
    monkeypatch.setattr("peerage.ledger.tables.IDS", 2)  # so that the lost ones are not in the newest block
    assert ledger.spent_by() == {"ada": 20, "bob": 125, "cyd": 0}
    assert {row.key: row.cost_nano for row in ledger.exchanges(1) if row.reply} == {
        "paid": 20,
        "unknown": None,
        "failed": 5,
    }


def test_money_of_a_copy_from_which_requests_were_left_out(ledger: Ledger) -> None:
    body, whole = b"{}", crc32(b"{}")
    lost = Exchange(1, "lost", 1, "bob", body, None, 70, None, 1, whole)
    paid = Exchange(1, "paid", 1, "ada", body, body, 9, 5, 2, whole, 3, whole, 1, 250)
    put(ledger, meta={COPY: "redacted"}, attempts=[lost, paid], log=())
    assert ledger.spent_by() == {"ada": 5, "bob": 70}


def test_large_sums_stay_exact(ledger: Ledger) -> None:
    huge = 2**61
    put(
        ledger,
        intents=[intent(1, "a", worst=huge), intent(1, "b", worst=huge + 1)],
        replies=[reply(1, "a", cost=huge)],
    )
    assert ledger.spent_by() == {"ada": 2 * huge + 1}


def test_the_newest_snapshot_not_beyond(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    put(ledger, snapshots=[(10, b"ten"), (20, b"twenty"), (0, b"none")])
    put(ledger, snapshots=[(20, b"twenty again")])
    assert ledger.snapshot() == (20, b"twenty again")
    assert ledger.snapshot(20) == (20, b"twenty again")
    assert ledger.snapshot(19) == (10, b"ten")
    assert ledger.snapshot(9) == (0, b"none")
    monkeypatch.setattr("peerage.ledger.tables.NEAR", 0)  # as in a log that goes on for long after it
    assert ledger.snapshot() == (20, b"twenty again")


def test_the_narrow_table_in_columns_says_what_its_rows_say(ledger: Ledger) -> None:
    empty = ledger.columns()
    assert (len(empty.number), list(empty.tables)) == (0, [])
    void = msgspec.structs.replace(summary(601), status="author", scores=(), raw=(), topic="\n,[")
    put(ledger, summaries=[*[summary(number, score=number % 3 / 2) for number in range(1, 601)], void])
    columns, rows = ledger.columns(), list(ledger.summaries())
    assert len(rows) == 601
    read = [
        (number, columns.kinds[kind], columns.tables[table], columns.results[result])
        for number, kind, table, result in zip(*map(list, columns[:4]), strict=True)
    ]
    assert read == [(row.number, (row.game, row.topic, row.status), row.players, row.scores) for row in rows]
    again = of_summaries(rows)
    assert [list(one) for one in again] == [list(one) for one in columns]


def test_the_narrow_table_is_written_anew(ledger: Ledger) -> None:
    put(ledger, summaries=[summary(number) for number in range(1, 1100)])
    with ledger.runner():
        ledger.replace_summaries(summary(row.number, score=0.0) for row in ledger.summaries())
    assert [row.scores for row in ledger.summaries()] == [(0.0, 1.0)] * 1099
    with ledger.runner(), pytest.raises(LedgerError):
        ledger.replace_summaries([summary(1), summary(1)])
    assert len(list(ledger.summaries())) == 1099


# ----------------------------------------------------------------------------------- runners and readers


def test_writing_needs_the_runner(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="runner"):
        ledger.write(Batch(meta={"a": "b"}))
    with pytest.raises(LedgerError, match="runner"):
        ledger.replace_summaries([])


def test_a_second_runner_is_refused_and_readers_are_not(ledger: Ledger, again: Opener) -> None:
    other = again()
    with ledger.runner():
        with pytest.raises(LedgerBusy, match=f"process {os.getpid()}"), other.runner():
            pass
        ledger.write(Batch(meta={"a": "b"}))
        assert other.meta()["a"] == "b"
    with other.runner():
        other.write(Batch(meta={"a": "c"}))
    assert ledger.meta()["a"] == "c"


RUNNER = """
import sys, time
from pathlib import Path
from peerage.ledger import open_ledger
from peerage.ledger.forms.rows import Batch, FixtureRow
ledger = open_ledger(sys.argv[1], Path(), create=False)
with ledger.runner():
    number = 0
    while True:
        number += 1
        ledger.write(Batch(fixtures=[FixtureRow(number, 1, b"{}")]))
        print(number, flush=True)
"""


def test_a_killed_runner_frees_the_ledger_and_loses_nothing(ledger: Ledger, again: Opener) -> None:
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, ledger.address], stdout=subprocess.PIPE, text=True
    )
    assert runner.stdout is not None
    with runner:
        try:
            said = [int(runner.stdout.readline()) for _ in range(20)]
            with pytest.raises(LedgerBusy, match=f"process {runner.pid}"), ledger.runner():
                pass
        finally:
            runner.send_signal(signal.SIGKILL)
        said += [int(line) for line in runner.stdout if line.endswith("\n")]
    with ledger.runner():
        issued = ledger.heads()[0]
        assert issued >= said[-1]
        ledger.write(Batch(fixtures=[FixtureRow(issued + 1, 1, b"{}")]))
    assert [row.number for row in again().fixtures()] == list(range(1, issued + 2))


def test_readers_see_whole_batches_while_a_runner_writes(ledger: Ledger, again: Opener) -> None:
    reader, stop, seen = again(), threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            counts: dict[int, int] = {}
            for row in reader.exchanges(1):
                counts[row.match] = counts.get(row.match, 0) + 1
            seen.append(counts)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        with ledger.runner():
            for match in range(1, 60):
                ledger.write(Batch(intents=[intent(match, f"k{number}") for number in range(7)]))
    finally:
        stop.set()
        thread.join()
    assert len(seen) > 1
    assert all(set(counts.values()) <= {7} for counts in seen)
    assert [len(counts) for counts in seen] == sorted(len(counts) for counts in seen)


def test_a_reader_that_stops_half_way_holds_nothing(ledger: Ledger) -> None:
    put(ledger, intents=[intent(1, f"k{number}") for number in range(2000)])
    for _ in range(30):
        assert next(ledger.exchanges(1)).key == "k0"
    put(ledger, intents=[intent(2, "k")])
    assert len(list(ledger.exchanges(1))) == 2001


def test_the_address_opens_the_same_ledger_from_anywhere(ledger: Ledger) -> None:
    put(ledger, meta={"a": "b"})
    other = open_ledger(ledger.address, Path("/"), create=False)
    assert other.meta()["a"] == "b"
    other.close()


def test_creating_twice_keeps_what_is_there(ledger: Ledger, again: Opener) -> None:
    put(ledger, meta={"a": "b"})
    assert again(create=True).meta()["a"] == "b"
