"""The same seed and replies give the same ledger at any concurrency, latency and interruption."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from tests.engine.arenas import asked_again, head, house, paced, play, play_stopping_at, write_arena

from peerage.arena import open_arena
from peerage.playing.requirements import notices
from peerage.settings import SettingsError

MATCHES = 30


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    folder = write_arena(tmp_path_factory.mktemp("undisturbed"), engine={"concurrency": 1})
    play(folder, MATCHES)
    return head(folder)


@pytest.mark.parametrize(
    ("concurrency", "calls", "latency"), [(1, 64, 1), (8, 3, 2), (64, 64, 3), (64, 1, 4), (512, 512, 5)]
)
def test_concurrency_calls_and_latency_leave_no_trace(
    tmp_path: Path, undisturbed: tuple[int, str], concurrency: int, calls: int, latency: int
) -> None:
    write_arena(tmp_path, engine={"concurrency": concurrency, "calls": calls})
    report = play(tmp_path, MATCHES, clients=paced(latency))
    assert (report.reason, report.decided) == ("limit", MATCHES)
    assert head(tmp_path) == undisturbed


def test_instant_players_give_the_same_ledger_as_paced_ones(
    tmp_path: Path, undisturbed: tuple[int, str]
) -> None:
    with open_arena(write_arena(tmp_path, engine={"concurrency": 16})) as arena:
        arena.run(MATCHES)
    assert head(tmp_path) == undisturbed


@pytest.mark.parametrize("seed", range(3))
def test_interruptions_leave_no_trace(tmp_path: Path, undisturbed: tuple[int, str], seed: int) -> None:
    rng = random.Random(seed)
    given_up = 0
    for run in range(200):
        concurrency, calls = rng.choice([1, 8, 64, 512]), rng.choice([4, 64])
        write_arena(tmp_path, engine={"concurrency": concurrency, "calls": calls})
        report = play_stopping_at(tmp_path, MATCHES, rng.uniform(0, 15), paced(seed * 1000 + run))
        given_up += report.possibly_paid_twice
        if report.reason == "limit":
            break
    assert head(tmp_path) == undisturbed
    assert asked_again(tmp_path) == 0
    assert run > 2
    assert given_up > 0


def test_limits_in_steps_leave_no_trace(tmp_path: Path, undisturbed: tuple[int, str]) -> None:
    write_arena(tmp_path, engine={"concurrency": 32})
    for limit in (1, 2, 17, 18, MATCHES):
        assert play(tmp_path, limit).decided == limit
    assert head(tmp_path) == undisturbed


@pytest.mark.parametrize("policy", ["adaptive", "random", "round-robin"])
def test_every_policy_pairs_alike_at_any_concurrency_and_interruption(tmp_path: Path, policy: str) -> None:
    pairing = {"policy": policy, "window": 6} | ({"per": "dollar"} if policy == "adaptive" else {})
    players = [one | {"price": {"input": 1.0, "output": 4.0**at}} for at, one in enumerate(house(6))]
    alone, crowded, broken = tmp_path / "alone", tmp_path / "crowded", tmp_path / "broken"
    play(write_arena(alone, players, pairing=pairing, engine={"concurrency": 1}), 24)
    play(write_arena(crowded, players, pairing=pairing, engine={"concurrency": 512}), 24, clients=paced(3))
    assert head(crowded) == head(alone)
    write_arena(broken, players, pairing=pairing)
    for run in range(100):
        if play_stopping_at(broken, 24, 12.0, paced(run)).reason == "limit":
            break
    assert run > 2
    assert head(broken) == head(alone)


def test_levels_that_follow_the_players_are_alike_at_any_concurrency_and_interruption(tmp_path: Path) -> None:
    def arena(name: str, **engine: int) -> Path:
        strong = [{"name": f"p{at}", "model": f"house:{1 - 0.02 * at}"} for at in range(5)]
        return write_arena(
            tmp_path / name, strong, game="compression", rules={}, pairing={"window": 3}, engine=engine
        )

    alone, crowded, broken = arena("alone", concurrency=1), arena("crowded", concurrency=64), arena("broken")
    play(alone, 24)
    play(crowded, 24, clients=paced(3))
    for run in range(100):
        if play_stopping_at(broken, 24, 12.0, paced(run)).reason == "limit":
            break
    assert run > 0
    assert head(crowded) == head(broken) == head(alone)
    with open_arena(alone) as opened:
        levels = [msgspec.json.decode(row.body)["drawn"]["level"] for row in opened.ledger.fixtures(1)]
    assert max(levels) - min(levels) > 3


def test_another_seed_gives_another_ledger(tmp_path: Path, undisturbed: tuple[int, str]) -> None:
    play(write_arena(tmp_path, seed=2), MATCHES)
    assert head(tmp_path) != undisturbed


@pytest.mark.parametrize(("players", "concurrency", "seen_from"), [(6, 8, 13), (6, 1, 7), (12, 4, 13)])
def test_small_arenas_learn_early(tmp_path: Path, players: int, concurrency: int, seen_from: int) -> None:
    """Where no window is stated; and what the first run fixed holds at any later concurrency."""
    write_arena(tmp_path, players, pairing={}, engine={"concurrency": concurrency})
    play(tmp_path, seen_from)
    with open_arena(tmp_path) as arena:
        snapshots = [msgspec.json.decode(row.body)["snapshot"] for row in arena.ledger.fixtures(1)]
        window = arena.ledger.meta()["window"]
        assert next(at for at, snapshot in enumerate(snapshots, 1) if snapshot) == seen_from
    write_arena(tmp_path, players, pairing={}, engine={"concurrency": 100})
    play(tmp_path, seen_from + 12)
    with open_arena(tmp_path) as arena:
        assert arena.ledger.meta()["window"] == window
        assert f"was made for {window} matches under way at once" in notices(arena.settings, arena.ledger)[-1]
    write_arena(tmp_path, players, pairing={}, engine={})
    with open_arena(tmp_path) as arena:
        assert not notices(arena.settings, arena.ledger), "nobody has asked for more at once"


def test_a_longer_window_gives_another_pairing_and_is_pinned(tmp_path: Path) -> None:
    write_arena(tmp_path)
    play(tmp_path, 3)
    write_arena(tmp_path, pairing={"window": 48})
    with pytest.raises(SettingsError, match=r"pairing\.window"):
        play(tmp_path, 6)
