"""Entries about matches that wait: what is written and sealed, and what follows from them."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from peerage.ledger import Amendment
from peerage.ledger.topics.waits import Wait, Waiting, Waits, read_wait
from peerage.values.sealing import committed, salt

ASLEEP = Wait(3, "waits", 5, "ada", "asleep", 9_000)


def test_for_whom_a_match_waits_is_sealed_and_a_copy_tells_nothing_of_it() -> None:
    waits = Waits()
    row = waits.enter(ASLEEP, 1_000, "key of 3")
    assert (row.topic, row.at_ms) == ("waits", 1_000)
    assert read_wait(row.body) == ASLEEP
    stored = msgspec.json.decode(row.body)
    assert stored == {
        "match": 3,
        "event": "waits",
        "after": 5,
        "sealed": {"~salt": salt("key of 3", "wait/1"), "value": '["ada","asleep",9000]'},
    }
    assert read_wait(committed(row.body)) == Wait(3, "waits", 5)
    second = msgspec.json.decode(waits.enter(ASLEEP, 1_001, "key of 3").body)
    assert second["sealed"]["~salt"] == salt("key of 3", "wait/2"), "no two entries share a salt"


def test_an_entry_without_a_player_is_sealed_by_nothing() -> None:
    body = Waits().enter(Wait(3, "goes on", 5), 1_000, "key").body
    assert msgspec.json.decode(body) == {"match": 3, "event": "goes on", "after": 5}


def test_an_event_that_nobody_writes_is_refused() -> None:
    with pytest.raises(msgspec.MsgspecError):
        read_wait(b'{"match":3,"event":"sleeps","after":5}')


def entered(*entries: Wait) -> Waits:
    waits = Waits()
    for at_ms, entry in enumerate(entries, 1_000):
        waits.enter(entry, at_ms, "key")
    return waits


def test_a_match_waits_since_it_first_did_until_it_goes_on_or_is_dropped() -> None:
    waits = entered(ASLEEP, Wait(4, "waits", 5, "bob", "batch"), Wait(3, "goes on", 6))
    assert waits.now == {4: Waiting(4, "bob", "batch", 1_001, None)}
    waits.enter(Wait(3, "waits", 7, "cyd", "later", 20), 2_000, "key")
    assert waits.now[3] == Waiting(3, "cyd", "later", 1_000, 20)
    waits.enter(Wait(4, "dropped", 7), 2_001, "key")
    waits.enter(Wait(9, "dropped", 7), 2_002, "key")
    assert {*waits.now} == {3}
    assert waits.left == {3: (5, 1), 4: (5, 2), 9: (7, 6)}
    assert waits.entries == 6


def test_a_ledger_s_rows_and_a_run_s_entries_come_to_the_same() -> None:
    rows: list[Amendment] = []
    waits = Waits()
    for at_ms, entry in enumerate([ASLEEP, Wait(4, "waits", 5, "bob"), Wait(3, "goes on", 6)], 1_000):
        rows.append(waits.enter(entry, at_ms, "key"))
    assert Waits.of(rows) == waits


def test_a_moment_counts_the_entries_written_before_its_last_match() -> None:
    waits = entered(Wait(3, "waits", 5, "ada"), Wait(4, "waits", 6, "bob"), Wait(4, "goes on", 6))
    assert [waits.at(records) for records in (5, 6, 7, 9)] == [(5, 0), (6, 1), (7, 3), (9, 3)]


def test_what_is_unfinished_is_known_at_every_moment_by_the_player_last_waited_for() -> None:
    waits = entered(
        Wait(3, "waits", 5, "ada"),
        Wait(4, "waits", 5, "ada"),
        Wait(3, "goes on", 6),
        Wait(3, "waits", 7, "bob"),
        Wait(8, "dropped", 7),
    )
    assert waits.unfinished((5, 0)) == Counter()
    assert waits.unfinished((6, 1)) == Counter(ada=1)
    assert waits.unfinished((6, 2)) == Counter(ada=2)
    assert waits.unfinished((7, 3)) == Counter(ada=2)
    assert waits.unfinished((8, 4)) == Counter(ada=1, bob=1)
    assert waits.unfinished_now() == Counter(ada=1, bob=1)
    waits.folded(4, 10)
    assert waits.unfinished_now() == Counter(bob=1)
    assert waits.unfinished((9, 5)) == Counter(ada=1, bob=1), "not folded yet at that moment"
    assert waits.unfinished((10, 5)) == Counter(bob=1)
    waits.folded(3, 11)
    waits.folded(8, 12)
    assert waits.unfinished((12, 5)) == Counter() == waits.unfinished_now()
