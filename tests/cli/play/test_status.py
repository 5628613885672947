"""`peerage status`: what it says while a run goes on, after a crash, and after a run in good order."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.engine.arenas import house, play, play_stopping_at, total_spent, write_arena
from tests.engine.clients import Cast
from typer.testing import CliRunner

from peerage.arena import open_arena
from peerage.cli.main import app
from peerage.games import hides
from peerage.players.client import Call, PlayerError

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer

cli = CliRunner()
PAID = house(6, price={"input": 1, "output": 4})
US = f"process {os.getpid()} on {socket.gethostname()}"


def status(folder: Path) -> dict[str, Any]:
    done = cli.invoke(app, ["status", "--format", "json", "--dir", str(folder)])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def shown(folder: Path) -> str:
    return cli.invoke(app, ["status", "--dir", str(folder)]).output


def seen_within(folder: Path, at: int) -> dict[str, Any]:
    """Play a few matches; the status when the call with number `at` is to be answered."""
    calls, seen = [0], list[dict[str, Any]]()

    def act(call: Call, attempt: int) -> None:
        calls[0] += 1
        if calls[0] == at:
            seen.append(status(folder))
            assert f"{US} runs this arena" in shown(folder)

    play(folder, 6, clients=Cast(act))
    return seen[0]


def test_while_a_run_goes_on_it_tells_who_runs_and_how_far_matches_are(tmp_path: Path) -> None:
    write_arena(tmp_path, PAID, engine={"concurrency": 4})
    found = seen_within(tmp_path, 30)
    assert found["runner"] == US
    assert found["recorded"] < 6
    assert found["recorded"] + len(found["under_way"]) + found["issued"] >= 6
    assert sum(one["replies"] for one in found["under_way"]) > 0
    asked = {name for one in found["under_way"] for name in one["asks"]}
    assert asked
    assert asked <= {player["name"] for player in PAID}
    assert found["open_calls"] > 0
    assert 0 < found["open_usd"] < found["spent_usd"]
    after = status(tmp_path)
    assert (after["runner"], after["recorded"], after["open_calls"]) == (None, 6, 0)
    assert after["spent_usd"] == pytest.approx(total_spent(tmp_path) / 1e9)


def test_after_a_crash_it_tells_what_was_left_open_and_stops_nobody(tmp_path: Path) -> None:
    write_arena(tmp_path, PAID)

    def act(call: Call, attempt: int) -> PlayerError | None:
        return None if attempt else PlayerError("overloaded (503)")

    play_stopping_at(tmp_path, 12, 9.0, Cast(act))
    found = status(tmp_path)
    assert found["runner"] is None
    assert found["open_calls"] > 0
    told = shown(tmp_path)
    assert "Nobody runs this arena now" in told
    assert "left open by a run that was cut off" in told
    assert "the next `peerage run` counts them as billed and goes on from there" in told
    assert "for at most free" not in told
    report = play(tmp_path, 12)
    assert (report.reason, report.possibly_paid_twice) == ("limit", found["open_calls"])
    assert "left open" not in shown(tmp_path)


def test_in_a_game_that_hides_things_it_tells_of_no_replies(tmp_path: Path) -> None:
    write_arena(tmp_path, PAID, game="werewolf", rules={})
    (one, *_) = seen_within(tmp_path, 30)["under_way"]
    assert (one["replies"], one["last_ms"], one["asks"]) == (None, None, [])


def test_where_all_are_asked_alike_it_counts_the_replies_of_a_game_that_hides_things(tmp_path: Path) -> None:
    """Solutions are hidden; who has replied tells no role."""
    write_arena(tmp_path, PAID, game="logic", rules={}, engine={"concurrency": 2})
    under_way = seen_within(tmp_path, 15)["under_way"]
    assert hides("logic")
    assert sum(one["replies"] for one in under_way) > 0
    assert any(one["asks"] for one in under_way)


def test_a_ledger_on_a_server_tells_who_runs_it(tmp_path: Path, postgres: PostgresServer) -> None:
    write_arena(tmp_path, 4, ledger=postgres.address())
    with open_arena(tmp_path) as arena:
        arena.run(2)
        fence = postgres_fence(postgres, arena.ledger.address)
        assert status(tmp_path)["runner"] is None
        with arena.ledger.runner():
            assert status(tmp_path)["runner"] == US
        assert status(tmp_path)["runner"] is None
        assert postgres_fence(postgres, arena.ledger.address) == fence + 1


def postgres_fence(postgres: PostgresServer, address: str) -> int:
    """How many runners there were: who looks is none."""
    schema = address.partition("schema=")[2]
    return int(postgres.sql(f'SELECT fence FROM "{schema}".runner')[0][0])
