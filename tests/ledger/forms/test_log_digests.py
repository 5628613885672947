"""What the entries of a log are digests of, by the definition that readers of a ledger have."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from typing import Any

import pytest

from peerage.ledger import Exchange, Failure, FixtureRow
from peerage.ledger.forms.log import (
    Rolling,
    digest,
    entry_leaf,
    entry_text,
    extended,
    finished,
    linked,
    of_amendment,
    of_play,
    of_record,
    record_rows,
)
from peerage.ledger.forms.rows import Attempts
from peerage.values.sealing import committed, seal

SEALED = b'{"prompt":' + json.dumps(seal("0f" * 16, "why"), separators=(",", ":")).encode() + b"}"
HELD = committed(SEALED)

ANSWERED = Exchange(4, "ask/1", 2, "ada", b"asked", b"said", 70, 60, 11, 111, 12, 112, 1_000, 250)
FAILED = Exchange(4, "ask/1", 1, "ada", SEALED, None, 70, None, 9, 109, failure=Failure(10, "down", 50, 900))
OPEN = Exchange(4, "ask/2", 1, "bob", b"asked too", None, None, None, 13, 113)
ATTEMPTS = [FAILED, ANSWERED, OPEN]
CHAIN = b"\x07" * 32


def as_json(value: Any) -> bytes:
    """JSON without blanks, bytes in it as base64."""
    return json.dumps(
        value, separators=(",", ":"), default=lambda held: base64.b64encode(held).decode()
    ).encode()


def test_the_rows_of_a_finished_match_are_its_attempts_failures_and_unanswered_requests() -> None:
    said = [
        ["ask/1", 1, "ada", 70, 109, None, None, None, None],
        ["ask/1", 2, "ada", 70, 111, 60, 1_000, 250, 112],
        ["ask/2", 1, "bob", None, 113, None, None, None, None],
    ]
    failures = [["ask/1", 1, "down", 50, 900]]
    rows = [said, failures, [HELD, b"asked too"]]
    assert record_rows(5_000, CHAIN, Attempts.of(ATTEMPTS)) == as_json([5_000, CHAIN, *rows])
    assert of_record(5_000, CHAIN, Attempts.of(ATTEMPTS)) == sha256(as_json([5_000, CHAIN, *rows])).digest()


def columns(row: Exchange) -> list[Any]:
    told = [row.id, row.key, row.attempt, row.player, row.worst_nano, row.checksum, row.reply_id]
    return [
        *told,
        row.cost_nano,
        row.at_ms,
        row.latency_ms,
        row.reply_checksum,
        row.failure and list(row.failure),
    ]


def test_what_is_in_play_is_held_in_every_column() -> None:
    fixture = FixtureRow(4, 2, b"fixture", 77)
    rows = [[4, *columns(row), row.request, row.reply] for row in ATTEMPTS]
    in_play = [[[4, 2, 77, b"fixture"]], rows]
    assert of_play(iter([fixture]), iter(ATTEMPTS)) == sha256(as_json(in_play)).digest()


def test_an_amendment_s_digest_is_over_its_time_and_its_body_with_seals_committed() -> None:
    assert of_amendment(12, SEALED) == sha256(b"12 " + HELD).digest() == of_amendment(12, HELD)


@pytest.mark.parametrize("pieces", [[], [[]], [[(1, "a")]], [[(1, "a"), (2, b"b")], [], [(3, None)]]])
def test_a_table_that_grows_is_held_row_by_row_whatever_its_pieces(pieces: list[list[Any]]) -> None:
    rolling = Rolling()
    for piece in pieces:
        rolling.add(piece)
    rows = [row for piece in pieces for row in piece]
    assert rolling.rows == len(rows)
    assert rolling.digest() == sha256(b"".join([as_json(row) + b"\n" for row in rows])).digest()


def test_rows_are_digested_as_json() -> None:
    assert digest([(1, "é"), b"x"]) == sha256('[[1,"é"],"eA=="]'.encode()).digest()


def test_a_log_goes_on_from_its_last_entry() -> None:
    first, second = sha256(b"1").digest(), sha256(b"2").digest()
    chain = sha256(b"\x04" + CHAIN + first + "récord 5".encode()).digest()
    rows = list(extended(7, CHAIN, [("récord 5", first), ("benches", second)]))
    assert rows == [
        (8, "récord 5", first, chain),
        (9, "benches", second, linked(chain, "benches", second)),
    ]
    assert entry_text(8, "récord 5", first) == f"8 {first.hex()} récord 5"
    assert (
        entry_leaf(8, "récord 5", first) == sha256(f"\0{entry_text(8, 'récord 5', first)}".encode()).digest()
    )


@pytest.mark.parametrize(
    ("about", "number"),
    [
        ("record 12", 12),
        ("match 3", 0),
        ("record", 0),
        ("records 3", 0),
        ("run 3", 0),
        ("record x", 0),
        ("record 1 2", 0),
        ("record " + "9" * 15, 10**15 - 1),
        ("record " + "9" * 16, 0),  # no number of a match; perhaps millions of digits
    ],
)
def test_which_match_an_entry_finished(about: str, number: int) -> None:
    assert finished(about) == number
