"""Several games in one arena: whose turn it is; how a run went leaves no trace on the ledger."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.arenas import (
    SMALL,
    asked_again,
    head,
    house,
    ledger_of,
    paced,
    play,
    play_stopping_at,
    statuses,
    total_spent,
    write_arena,
)

from peerage.arena import open_arena
from peerage.engine.again.replay import replay
from peerage.game.match import Fixture
from peerage.ledger.forms.codec import by_hex, read_fixture
from peerage.standings.verify import verify

MATCHES = 36
BLIND = {"seats": 3, "proof": "blind"}
GAMES: dict[str, Any] = {
    "duel": {"rules": SMALL},
    "color-obfuscation": None,
    "challenge-exchange": {"weight": 2, "rules": BLIND},  # its matches draw on earlier ones
    "last-arena": {"rules": {"preset": "development", "seats": 4}},
}


def gauntlet(folder: Path, games: Any = GAMES, **sections: Any) -> Path:
    players = house(8, price={"input": 1.0, "output": 4.0})
    return write_arena(folder, players, rules={}, games=games, **{"pairing": {"window": 12}, **sections})


def fixtures(folder: Path) -> list[Fixture]:
    with closing(ledger_of(folder)) as ledger:
        texts = by_hex(ledger.texts())
        return [read_fixture(row.body, texts) for row in ledger.fixtures()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = gauntlet(tmp_path_factory.mktemp("gauntlet"), engine={"concurrency": 1})
    assert play(folder, MATCHES).decided == MATCHES
    return folder


def test_each_game_gets_its_part_of_the_seats(undisturbed: Path) -> None:
    issued = fixtures(undisturbed)
    by_round: dict[int, set[str]] = {}
    for one in issued:
        by_round.setdefault(one.round, set()).add(one.game)
    assert all(len(games) == 1 for games in by_round.values())
    turns = [games.pop() for _, games in sorted(by_round.items())]
    assert turns[:5] == [
        "duel",
        "color-obfuscation",
        "challenge-exchange",
        "last-arena",
        "challenge-exchange",
    ]
    counted = Counter(turns[: len(turns) // 5 * 5])
    assert counted["challenge-exchange"] == 2 * counted["duel"] == 2 * counted["last-arena"]
    seats = Counter((one.game, seat.player) for one in issued[:36] for seat in one.seats)
    for game in GAMES:
        played = [seats[game, f"p{place}"] for place in range(8)]
        assert max(played) - min(played) <= 1, game


def test_each_game_is_played_by_its_own_rules(undisturbed: Path) -> None:
    found = {one.game: one for one in fixtures(undisturbed)}
    assert found["duel"].settings["judges"] == 3
    assert len(found["last-arena"].seats) == 4
    assert len(found["challenge-exchange"].seats) in (2, 3)
    with closing(ledger_of(undisturbed)) as ledger:
        ends = {(one.game, one.status) for one in ledger.summaries()}
    without = {("last-arena", "development"), ("duel", "no_challenge")}
    assert ends <= without | {(game, "done") for game in GAMES}


@pytest.mark.parametrize(("concurrency", "latency"), [(8, 2), (64, 3)])
def test_concurrency_and_latency_leave_no_trace(
    tmp_path: Path, undisturbed: Path, concurrency: int, latency: int
) -> None:
    gauntlet(tmp_path, engine={"concurrency": concurrency})
    assert play(tmp_path, MATCHES, clients=paced(latency)).decided == MATCHES
    assert head(tmp_path) == head(undisturbed)


def test_interruptions_leave_no_trace(tmp_path: Path, undisturbed: Path) -> None:
    rng = random.Random(5)
    for run in range(200):
        gauntlet(tmp_path, engine={"concurrency": rng.choice([1, 8, 64])})
        if play_stopping_at(tmp_path, MATCHES, rng.uniform(0, 25), paced(run)).reason == "limit":
            break
    assert run > 2
    assert head(tmp_path) == head(undisturbed)
    assert asked_again(tmp_path) == 0


def test_it_replays_and_verifies(undisturbed: Path) -> None:
    with closing(ledger_of(undisturbed)) as ledger:
        assert verify(ledger).ok
        report = replay(ledger)
        assert report.recomputed == report.matches >= MATCHES
        assert report.differences == ()


def test_one_game_of_a_list_is_the_arena_of_that_game(tmp_path: Path) -> None:
    heads = []
    for name, sections in {
        "one": {"game": "color-obfuscation", "rules": {}},
        "list": {"games": ["color-obfuscation"], "rules": {}},
        "mapping": {"games": {"color-obfuscation": 3}, "rules": {}},
    }.items():
        folder = write_arena(tmp_path / name, 6, **sections)
        play(folder, 12)
        heads.append(head(folder))
    assert len(set(heads)) == 1


def test_a_game_that_is_added_catches_up_and_one_that_is_removed_ends_on_record(tmp_path: Path) -> None:
    rated = {"rating": {"k_factor": 16.0, "propagation_width": None}}
    gauntlet(tmp_path, ["color-obfuscation"], **rated)
    play(tmp_path, 16)
    gauntlet(tmp_path, {"color-obfuscation": None, "challenge-exchange": {"rules": BLIND}}, **rated)
    play(tmp_path, 36)
    issued = fixtures(tmp_path)
    before = next(place for place, one in enumerate(issued) if one.game == "challenge-exchange")
    assert {one.game for one in issued[before : before + 12]} == {"challenge-exchange"}
    gauntlet(tmp_path, {"challenge-exchange": {"rules": BLIND}, "last-arena": GAMES["last-arena"]}, **rated)
    with open_arena(tmp_path) as arena:
        (notice,) = arena.ready()
    assert "unfinished matches of color-obfuscation" in notice
    assert "list color-obfuscation under games again" in notice
    play(tmp_path, 48)
    assert any(status.startswith("not playable here: color-obfuscation") for status in statuses(tmp_path))
    with closing(ledger_of(tmp_path)) as ledger:
        assert replay(ledger).ok


def test_one_budget_covers_all_games(tmp_path: Path) -> None:
    gauntlet(tmp_path, budget=0.05)
    report = play(tmp_path, None)
    assert report.reason == "budget"
    assert total_spent(tmp_path) <= 50_000_000
    assert len({one.game for one in fixtures(tmp_path)}) == len(GAMES)


def test_the_plan_divides_matches_among_games(tmp_path: Path) -> None:
    with open_arena(gauntlet(tmp_path)) as arena:
        plan = arena.plan(40)
    found = {part.name: part for part in plan.games}
    assert list(found) == list(GAMES)
    assert sum(one.matches for one in found.values()) == 40
    assert all(one.matches >= 2 for one in found.values())
    assert sum(one.expected_usd for one in found.values()) == pytest.approx(plan.expected_usd)
    play(tmp_path, 4)  # a round of duels
    with open_arena(tmp_path) as arena:
        assert msgspec.json.decode(msgspec.json.encode(arena.plan(4).games))[0]["matches"] == 0
