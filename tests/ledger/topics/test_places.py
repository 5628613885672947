"""Where pairing stood: places of matches and benches, against counting them one by one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.arenas import SMALL, house, ledger_of, paced, play, play_stopping_at, write_arena
from tests.engine.clients import Cast

from peerage.engine.again.replay import replay
from peerage.game.match import Fixture
from peerage.ledger import amend, open_ledger
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.ledger.forms.merkle import digest, link
from peerage.ledger.topics.places import TOPIC, Bench, Places, places
from peerage.players.client import Call, Client, PlayerError
from peerage.settings import PlayerSettings
from peerage.standings.verify import verify

pytestmark = pytest.mark.usefixtures("plain_bodies")

BENCHES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), max_size=6).map(sorted)


def counted(benches: list[tuple[int, int]], matches: int) -> list[tuple[str, int]]:
    """What is read, in order: each match by its number, each bench by its first round, after its match."""
    found: list[tuple[str, int]] = []
    for number in range(matches + 1):
        found += [("match", number)] if number else []
        found += [("bench", from_round) for after, from_round in benches if after == number]
    return found


def placed(benches: list[tuple[int, int]]) -> Places:
    found = Places()
    for after, from_round in benches:
        found.add(Bench("p", "benched", from_round, after, "why"))
    return found


@given(BENCHES, st.integers(0, 12), st.integers(1, 12))
def test_places_are_those_of_the_entries_one_by_one(
    benches: list[tuple[int, int]], snapshot: int, round: int
) -> None:
    entries, known = counted(benches, 13), placed(benches)
    for number in range(1, 14):
        assert entries[known.of_match(number) - 1] == ("match", number)
    taken = [
        place
        for place, (kind, what) in enumerate(entries, 1)
        if (kind, what) == ("match", snapshot) or (kind == "bench" and what <= round)
    ]
    assert known.paired_from(snapshot, round) == max(taken, default=0)


def fixtures(folder: Path) -> list[Fixture]:
    with closing(ledger_of(folder)) as ledger:
        texts = by_hex(ledger.texts())
        return [read_fixture(row.body, texts) for row in ledger.fixtures()]


def test_without_a_bench_the_place_is_that_of_the_ratings(tmp_path: Path) -> None:
    play(write_arena(tmp_path, house(4), rules=SMALL, pairing={"window": 4}), 10)
    found = fixtures(tmp_path)
    assert [fixture.paired_from for fixture in found] == [fixture.snapshot for fixture in found]
    assert found[-1].paired_from > 0


@pytest.mark.parametrize(("concurrency", "stops"), [(1, ()), (16, (3.0, 5.0))])
def test_a_bench_counts_from_the_first_round_paired_with_it(
    tmp_path: Path, concurrency: int, stops: tuple[float, ...]
) -> None:
    def failing(call: Call, attempt: int) -> PlayerError | None:
        return PlayerError("gone for good", kind="permanent")

    def clients(settings: PlayerSettings) -> Client:
        return Cast(failing)(settings) if settings.name == "p1" else paced()(settings)

    folder = write_arena(
        tmp_path, house(6), rules=SMALL, pairing={"window": 6}, engine={"concurrency": concurrency}
    )
    for seconds in stops:
        play_stopping_at(folder, 14, seconds, clients=clients)
    play(folder, 14, clients=clients)
    play(folder, 20)  # it answers again
    with closing(ledger_of(folder)) as ledger:
        gone, back, *_ = [json.loads(row.body) for row in ledger.amendments(TOPIC)]
        assert (gone["event"], back["event"]) == ("benched", "returned")
        assert verify(ledger).problems == ()
        assert replay(ledger).ok
        logged = [one.about for one in ledger.log()]
    assert logged[logged.index(TOPIC) - 1] == f"record {gone['after_match']}"
    found = fixtures(folder)
    assert {one.paired_from - one.snapshot for one in found if one.round < gone["from_round"]} == {0}
    between = [one for one in found if gone["from_round"] <= one.round < back["from_round"]]
    assert {one.paired_from - one.snapshot for one in between} == {1}
    later = [one for one in found if one.round >= back["from_round"]]
    assert later[0].paired_from == back["after_match"] + 2
    assert later[-1].paired_from == later[-1].snapshot + 2


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (lambda own: own, "paired from place 9, and its own is 9"),
        (lambda own: own - 8, "paired from place 1, and benches and ratings say"),
    ],
)
def test_a_place_that_is_none_is_told(tmp_path: Path, says: Callable[[int], int], told: str) -> None:
    """Whoever writes a ledger anew writes its digests too: places follow from what is there."""
    play(write_arena(tmp_path, house(4), rules=SMALL, pairing={"window": 4}), 9)
    last = fixtures(tmp_path)[8]
    with closing(sqlite3.connect(tmp_path / "arena.db")) as db, db:
        [(body,)] = db.execute("SELECT body FROM fixtures WHERE number = 9").fetchall()
        was = b'"paired_from":%d' % last.paired_from
        assert body.count(was) == 1
        forged = body.replace(was, b'"paired_from":%d' % says(9))
        db.execute("UPDATE fixtures SET body = ?, checksum = ? WHERE number = 9", (forged, crc32(forged)))
        [(record, before)] = db.execute(
            "SELECT body, (SELECT chain FROM records WHERE number = 8) FROM records WHERE number = 9"
        ).fetchall()
        record = record.replace(digest(body).encode(), digest(forged).encode())
        db.execute("UPDATE records SET body = ?, chain = ? WHERE number = 9", (record, link(before, record)))
    with closing(ledger_of(tmp_path)) as ledger:
        assert any(told in str(problem) for problem in verify(ledger).problems)
        found = [one for one in replay(ledger).differences if one.about == "paired_from"]
    assert [one.match for one in found] == [9]


def test_benches_that_cannot_be_read_give_no_places(tmp_path: Path) -> None:
    with closing(open_ledger("sqlite:///arena.db", tmp_path, create=True)) as ledger, ledger.runner():
        bench = {"player": "p", "event": "benched", "from_round": 2, "after_match": 1, "why": "why"}
        amend(ledger, TOPIC, [bench], 5)
        known = places(ledger)
        assert known is not None
        assert known.of_match(2) == 3
        amend(ledger, TOPIC, [{}], 5)
        assert places(ledger) is None
