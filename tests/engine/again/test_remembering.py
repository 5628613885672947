"""Conversations leave no trace of time: kills, resumes and a changed setting give the same requests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.arenas import (
    asked_again,
    head,
    house,
    ledger_of,
    paced,
    play,
    play_stopping_at,
    write_arena,
)

from peerage.arena import open_arena
from peerage.ledger.forms.codec import read_issued

MATCHES = 12
GAMES = {
    "market": {"rules": {"market": "prisoners-dilemma", "seats": 3, "rounds": 4}},
    "werewolf": {"rules": {"seats": 5, "days": 2}},
}


def arena(folder: Path, concurrency: int, session: str | int = "match") -> Path:
    players = house(6, session=session, price={"input": 1.0, "output": 4.0})
    return write_arena(folder, players, games=GAMES, rules={}, engine={"concurrency": concurrency})


def with_past(folder: Path) -> Iterator[tuple[int, bool]]:
    """Yield for each request on record its match, and whether earlier turns went with it."""
    ledger = ledger_of(folder)
    try:
        for exchange in ledger.exchanges(1):
            yield exchange.match, b'"past":[' in exchange.request
    finally:
        ledger.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    folder = arena(tmp_path_factory.mktemp("undisturbed"), 1)
    play(folder, MATCHES)
    assert any(past for _, past in with_past(folder))
    return head(folder)


@pytest.mark.parametrize("seed", range(2))
def test_kills_leave_no_trace_in_conversations(
    tmp_path: Path, undisturbed: tuple[int, str], seed: int
) -> None:
    rng = random.Random(seed)
    given_up = 0
    for run in range(200):
        arena(tmp_path, rng.choice([1, 8, 64]))
        report = play_stopping_at(tmp_path, MATCHES, rng.uniform(0, 25), paced(seed * 1000 + run))
        given_up += report.possibly_paid_twice
        if report.reason == "limit":
            break
    assert head(tmp_path) == undisturbed
    assert (asked_again(tmp_path), given_up > 0) == (0, True)
    with open_arena(tmp_path) as opened:
        assert opened.replay().ok


def test_a_match_under_way_keeps_what_its_fixture_says_when_the_setting_changes(tmp_path: Path) -> None:
    play_stopping_at(arena(tmp_path, 8), MATCHES, 6.0, paced())
    ledger = ledger_of(tmp_path)
    issued, folded = ledger.heads()
    before = {row.number: read_issued(row.body).sessions for row in ledger.fixtures(1, issued)}
    ledger.close()
    assert folded < issued
    assert all(before.values())
    play(arena(tmp_path, 8, "none"), issued + 2)
    ledger = ledger_of(tmp_path)
    after = {row.number: read_issued(row.body).sessions for row in ledger.fixtures(1, issued + 2)}
    ledger.close()
    assert {number: sessions for number, sessions in after.items() if number in before} == before
    assert not any(after[number] for number in after if number not in before)
    remembering = {match for match, past in with_past(tmp_path) if past}
    assert remembering == set(before)
    with open_arena(tmp_path) as opened:
        assert opened.replay().ok
